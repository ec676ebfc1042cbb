#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coverage.py BUILD - lines of src/ that the tests ran, per file, worst first, from gcc's counters."""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    ran, all_lines = {}, {}
    for data in sorted(build.rglob("CMakeFiles/minnow.dir/**/*.gcda")):
        out = subprocess.run(["gcov", "--json-format", "--stdout", str(data)], cwd=build, text=True, capture_output=True)
        for text in out.stdout.splitlines():
            for f in json.loads(text)["files"]:
                path = pathlib.Path(f["file"])
                path = path if path.is_absolute() else build / path
                try:
                    name = path.resolve().relative_to(ROOT).as_posix()
                except ValueError:
                    continue
                for line in f["lines"]:
                    all_lines.setdefault(name, set()).add(line["line_number"])
                    if line["count"]:
                        ran.setdefault(name, set()).add(line["line_number"])
    if not all_lines:
        sys.exit("coverage.py: no counters under %s; make cov builds and runs first" % build)
    share = {n: len(ran.get(n, ())) / len(lines) for n, lines in all_lines.items()}
    for name in sorted(share, key=share.get):
        print("%5.1f%%  %4d lines  %s" % (100 * share[name], len(all_lines[name]), name))
    total = sum(map(len, all_lines.values()))
    print("%5.1f%%  %4d lines  in all" % (100 * sum(map(len, ran.values())) / total, total))


if __name__ == "__main__":
    main()
