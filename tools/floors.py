#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""floors.py - a file includes only from its own folder and from lower floors.

The floors are those of docs/ARCHITECTURE.md.  Rooms on one floor do not see each other.  The program
and the examples use the public headers only.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FLOOR = {"base": 0, "format": 1, "text": 1, "kernel": 1, "model": 2, "backend": 3, "run": 4, "data": 4,
         "quant": 5, "convert": 5, "train": 5, "eval": 5, "serve": 5}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.M)

# Exceptions, each with its reason.  A file here may include the rooms named.
ALLOWED = {}


def fault(path, target, quote):
    """Why this include is wrong, or None."""
    parts = path.parts
    room = target.split("/")[0] if "/" in target else None
    if parts[0] == "src":
        own = parts[1]
        if quote == '"' and room is None:
            return "write the folder too: include \"%s/%s\"" % (own, target)
        if room in FLOOR and room != own and FLOOR[room] >= FLOOR[own] \
                and room not in ALLOWED.get(str(path), ()):
            return "%s (floor %d) must not see %s (floor %d)" % (own, FLOOR[own], room, FLOOR[room])
        if room == "cli":
            return "the library must not see the program"
    elif parts[0] in ("cli", "examples"):
        if room in FLOOR:
            return "only <minnow/...> is visible here, not %s" % room
        if quote == '"' and parts[0] == "cli" and room != "cli":
            return "write the folder too: include \"cli/%s\"" % target
    elif parts[0] == "include":
        if quote == '"':
            return "public headers include with <>"
        if room != "minnow" and target not in ("stddef.h", "stdint.h", "stdbool.h"):
            return "public headers need stddef.h, stdint.h and stdbool.h only"
    return None


def main():
    bad = seen = 0
    for top in ("src", "include", "cli", "examples"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix not in (".c", ".h", ".def"):
                continue
            text = path.read_text(encoding="utf-8")
            for m in INCLUDE.finditer(text):
                seen += 1
                rel = path.relative_to(ROOT)
                why = fault(rel, m.group(2), m.group(1))
                if why:
                    bad += 1
                    print("%s:%d: %s" % (rel, text.count("\n", 0, m.start()) + 1, why))
    print("floors: %d includes, %d out of place" % (seen, bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
