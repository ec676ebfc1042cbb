#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lint.py - the rules of the house that a compiler does not know.

    lint.py                 text rules: quick, part of every test run
    lint.py --headers       each header compiles alone, as C11 and (public ones) as C++17
    lint.py --build DIR     all of it, the symbols of DIR/libminnow*.a and commit subjects
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODE = (".c", ".h", ".def")
LONGEST = 1000                      # lines, unless a decision in docs/adr names the file

MEMORY = "malloc calloc realloc free"                     # base/alloc.c has these
EVERYWHERE = "strcpy strcat sprintf vsprintf strtok atoi atol atof gets alloca rand srand"
LIBRARY = ("exit _exit abort printf fprintf vprintf vfprintf puts putchar perror getenv setenv signal "
           "sigaction time localtime gmtime setlocale")
FORBIDDEN_SYMBOLS = set((LIBRARY + " " + EVERYWHERE).split()) | {
    "__printf_chk", "__fprintf_chk", "__vfprintf_chk", "quick_exit", "stdout", "stderr", "secure_getenv"}

faults = []


def complain(path, line, text):
    faults.append("%s:%d: %s" % (path.relative_to(ROOT) if path.is_absolute() else path, line, text))


def files(*tops):
    for top in tops:
        base = ROOT / top
        for p in sorted(base.rglob("*") if base.is_dir() else []):
            if p.is_file() and "__pycache__" not in p.parts:
                yield p


def blank(match):
    """Comments and literals become blanks; lines stay where they are."""
    return re.sub(r"[^\n]", " ", match.group(0))


NOISE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def check_calls(path, code, names, why):
    for m in re.finditer(r"(?<![\w.>])(%s)\s*\(" % "|".join(names.split()), code):
        complain(path, code.count("\n", 0, m.start()) + 1, "%s: %s" % (m.group(1), why))


def check_code(path, text, adrs):
    rel = path.relative_to(ROOT)
    lines = text.split("\n")
    if "SPDX-License-Identifier: Apache-2.0" not in lines[0]:
        complain(path, 1, "the first line must be the SPDX line")
    if text.count("SPDX-License" + "-Identifier") != 1:
        complain(path, 1, "one SPDX line, please")
    head = text.split("*/")[0] if text.startswith("/*") else ""
    if len(re.sub(r"[\s*/]+", " ", head.replace("SPDX-License-Identifier: Apache-2.0", "")).split()) < 3:
        complain(path, 1, "the opening comment must say what the file is for")
    if len(lines) > LONGEST and rel.name not in adrs:
        complain(path, len(lines), "over %d lines and no decision in docs/adr names it" % LONGEST)
    for i, line in enumerate(lines, 1):
        if len(line) > 120:
            complain(path, i, "%d columns, at most 120 (aim for 100)" % len(line))

    code = NOISE.sub(blank, text)
    check_calls(path, code, EVERYWHERE, "banned, there is a safer way")
    if rel.parts[0] == "src":
        check_calls(path, code, LIBRARY, "not in the library")
        if rel.as_posix() != "src/base/alloc.c":
            check_calls(path, code, MEMORY, "memory comes from base/alloc.h")
    if path.suffix == ".h" and not re.search(r"#ifndef (\w+)\n#define \1\n", text):
        complain(path, 1, "no include guard")
    if rel.parts[0] == "include":
        check_documented(path, text)


def check_documented(path, text):
    """Each MNW_API declaration follows a comment, or a declaration that does."""
    lines = text.split("\n")
    covered = False
    for i, line in enumerate(lines, 1):
        stripped = line.strip()
        if stripped.endswith("*/"):
            covered = True
        elif not stripped:
            covered = False
        elif line.startswith("MNW_API") and not covered:
            complain(path, i, "undocumented: %s" % stripped)


def check_text(path, text):
    if not text:
        return
    if not text.endswith("\n") or text.endswith("\n\n"):
        complain(path, text.count("\n"), "the file must end with one newline")
    for i, line in enumerate(text.split("\n"), 1):
        if line.rstrip(" \t\r") != line:
            complain(path, i, "trailing blank")
        if "\t" in line and path.name != "Makefile":
            complain(path, i, "tab")


def text_rules():
    adrs = " ".join(p.read_text(encoding="utf-8") for p in files("docs/adr"))
    names = {}
    count = 0
    for p in list(files("src", "include", "cli", "tests", "examples", "bench", "tools", "docs", "packaging")) + \
            [q for q in ROOT.iterdir() if q.is_file()]:
        is_script = p.suffix in (".py", ".sh", ".cmake", ".md", ".txt", ".json", ".in") or p.name == "Makefile"
        if p.suffix not in CODE and not is_script or "corpus" in p.parts:
            continue
        text = p.read_text(encoding="utf-8")
        count += 1
        if p.suffix in CODE:
            check_code(p, text, adrs)
            if "include" not in p.relative_to(ROOT).parts[0]:     # the public ones have their own folder
                other = names.setdefault(p.name, p)
                if other is not p:
                    complain(p, 1, "the name is taken by %s" % other.relative_to(ROOT))
        elif p.suffix in (".py", ".sh") and "SPDX-License-Identifier: Apache-2.0" not in text[:200]:
            complain(p, 1, "no SPDX line")
        if p.suffix in CODE + (".py", ".sh", ".cmake"):
            check_text(p, text)
    return count


def compile_alone(path, compiler, std, include):
    source = '#include "%s"\n' % path.relative_to(include).as_posix()
    language = "c++" if "++" in std else "c"
    run = subprocess.run([compiler, "-x", language, "-std=" + std, "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror",
                          "-Wno-unused-function", "-fsyntax-only", "-I", str(ROOT / "include"), "-I",
                          str(ROOT / "src"), "-"], input=source, text=True, capture_output=True)
    if run.returncode:
        complain(path, 1, "does not compile alone as %s: %s" % (std, run.stderr.strip().split("\n")[0]))


def headers():
    count = 0
    for p in files("include", "src"):
        if p.suffix != ".h":
            continue
        top = ROOT / p.relative_to(ROOT).parts[0]
        compile_alone(p, "cc", "gnu11" if top.name == "src" else "c11", top)
        if top.name == "include":
            compile_alone(p, "c++", "c++17", top)
        count += 1
    return count


def archive_symbols(archive, declared):
    """The public functions an archive defines."""
    out = subprocess.run(["nm", "-A", "-g", str(archive)], check=True, text=True, capture_output=True).stdout
    defined = set()
    for line in out.splitlines():
        where, _, rest = line.partition(".a:")
        member, _, rest = rest.partition(":")
        kind, name = rest.split()[-2:]
        place = pathlib.Path(member)
        if kind == "U":
            if name in FORBIDDEN_SYMBOLS:
                complain(place, 0, "the library must not need %s" % name)
            elif name in MEMORY.split() and not member.startswith("alloc."):
                complain(place, 0, "%s outside base/alloc.c" % name)
        elif name.startswith("mnw_"):
            defined.add(name)
            if name not in declared:
                complain(place, 0, "%s is not in include/" % name)
        elif not name.startswith("mn_"):
            complain(place, 0, "%s: global names begin with mn_ or mnw_" % name)
    # A variable in a section that can be written is state, and the library has none.
    out = subprocess.run(["objdump", "-t", str(archive)], check=True, text=True, capture_output=True).stdout
    member = ""
    for line in out.splitlines():
        if ":     file format" in line:
            member = line.split(":")[0]
        m = re.search(r"\sO\s+(\.data|\.bss|\.tdata|\.tbss|\*COM\*)(\S*)\s+\S+\s+(?:\.hidden )?(\S+)$", line)
        if m and not m.group(2).startswith(".rel.ro"):
            complain(pathlib.Path(member), 0, "%s: a variable that lives on" % m.group(3))
    return defined


def symbols(build):
    public = " ".join(p.read_text(encoding="utf-8") for p in files("include"))
    declared = set(re.findall(r"\b(mnw_\w+)\s*\(", public))
    defined = set()
    for archive in sorted(pathlib.Path(build).glob("libminnow*.a")):
        defined |= archive_symbols(archive, declared)
    for name in sorted(declared - defined):
        if re.search(r"MNW_API[^;]*\b%s\s*\(" % name, public):
            complain(pathlib.Path(build), 0, "%s is declared and nowhere defined" % name)
    return len(defined)


def subjects():
    try:
        run = subprocess.run(["git", "-C", str(ROOT), "log", "--format=%h %s"], text=True, capture_output=True)
    except FileNotFoundError:                      # a released archive, on a machine without git
        return
    for line in run.stdout.splitlines() if run.returncode == 0 else []:
        commit, _, subject = line.partition(" ")
        if not re.fullmatch(r"[a-z0-9_./, +-]+: \S.*[^.]", subject) or len(subject) > 72:      # aim for 60
            complain(pathlib.Path("commit " + commit), 0, "subject is not `area: summary` in 72 characters: " + subject)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--headers", action="store_true")
    args.add_argument("--build")
    a = args.parse_args()

    said = []
    if not a.headers:
        said.append("%d files" % text_rules())
    if a.headers or a.build:
        said.append("%d headers" % headers())
    if a.build:
        said.append("%d public functions" % symbols(a.build))
        subjects()
    for f in faults:
        print(f)
    print("lint: %s, %d faults" % (", ".join(said), len(faults)))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
