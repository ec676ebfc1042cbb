#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench_llama.py - minnow and llama.cpp on the same file, in turns, in the same minutes.

    bench_llama.py MODEL [--rounds 5] [--threads 2] [--bench build/minnow-bench] [--python VENV/bin/python]
                   [--setup VENV] [--json]

llama.cpp comes through the Python package llama-cpp-python, built from its source package for this
processor: --setup makes a virtual environment with it (about seven minutes).  Each round runs one after
the other in fresh processes; the table has the median of the rounds and their range.  Prefill is 512
tokens, decode 64 tokens, from an empty context and at depth 512.  llama.cpp runs as it is fastest here:
flash attention on for prefill is its default choice and off for decode is ours to leave alone.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

CHILD = r"""
import ctypes, json, sys, time
def memory():
    m = {}
    for line in open("/proc/self/status"):
        k, _, v = line.partition(":")
        if k in ("RssAnon", "RssFile", "VmHWM"):
            m[k] = int(v.split()[0]) / 1e3
    return m
import llama_cpp
from llama_cpp import Llama
path, threads = sys.argv[1], int(sys.argv[2])
before = memory()
t = time.perf_counter()
m = Llama(path, n_ctx=1024, n_batch=512, n_ubatch=512, n_threads=threads, n_threads_batch=threads, verbose=False,
          logits_all=False)
open_ms = (time.perf_counter() - t) * 1e3
opened = memory()
ids = [100 + i * 7 % 400 for i in range(512)]
def feed(tokens, at_once):
    t = time.perf_counter()
    for i in range(0, len(tokens), at_once):
        m.eval(tokens[i:i + at_once])
    return len(tokens) / (time.perf_counter() - t)
m.eval(ids[:8]); m.reset()                       # warm-up
feed(ids[:8], 8)
decode0 = feed(ids[:64], 1)
m.reset()
prefill = feed(ids, 512)
decode512 = feed(ids[:64], 1)
after = memory()
print(json.dumps({"open_ms": open_ms, "prefill_tok_per_s": prefill, "decode0_tok_per_s": decode0,
                  "decode512_tok_per_s": decode512, "open_anonymous_mb": opened["RssAnon"] - before["RssAnon"],
                  "anonymous_mb": after["RssAnon"] - before["RssAnon"], "file_mb": after["RssFile"] - before["RssFile"],
                  "version": llama_cpp.__version__}))
"""

ROWS = [("open", "open_ms", "ms", False), ("prefill 512", "prefill_tok_per_s", "tok/s", True),
        ("decode at 0", "decode0_tok_per_s", "tok/s", True), ("decode at 512", "decode512_tok_per_s", "tok/s", True),
        ("anonymous after opening", "open_anonymous_mb", "MB", False), ("anonymous at 576 tokens", "anonymous_mb", "MB", False),
        ("file-backed", "file_mb", "MB", False)]


def setup(venv):
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    env = dict(os.environ, CMAKE_ARGS="-DGGML_NATIVE=ON")
    subprocess.run([venv + "/bin/pip", "install", "-q", "--no-binary", "llama-cpp-python", "llama-cpp-python"], check=True,
                   env=env)
    return venv + "/bin/python"


def last_json(command, env=None):
    out = subprocess.run(command, check=True, text=True, capture_output=True, env=env).stdout
    return json.loads(out.strip().splitlines()[-1])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--bench", default="build/minnow-bench")
    p.add_argument("--python", default=sys.executable)
    p.add_argument("--setup", metavar="VENV")
    p.add_argument("--json", action="store_true")
    a = p.parse_args()
    python = setup(a.setup) if a.setup else a.python

    env = dict(os.environ, MINNOW_THREADS=str(a.threads))
    ours, theirs = [], []
    for i in range(a.rounds):
        ours.append(last_json([a.bench, a.model, "1", "json"], env))
        theirs.append(last_json([python, "-c", CHILD, a.model, str(a.threads)]))
        print("round %d of %d" % (i + 1, a.rounds), file=sys.stderr)

    def spread(rows, key):
        v = [r[key] for r in rows]
        return {"median": statistics.median(v), "min": min(v), "max": max(v)}

    result = {key: {"minnow": spread(ours, key), "llama.cpp": spread(theirs, key)} for _, key, _, _ in ROWS}
    if a.json:
        print(json.dumps({"tier": ours[0]["tier"], "threads": a.threads, "rounds": a.rounds,
                          "llama_cpp_python": theirs[0]["version"], "figures": result}))
        return
    print("%s, tier %s, %d threads, median of %d rounds (range), llama-cpp-python %s\n" % (
        os.path.basename(a.model), ours[0]["tier"], a.threads, a.rounds, theirs[0]["version"]))
    print("| what | minnow | llama.cpp | ratio |\n|---|---|---|---|")
    for name, key, unit, higher in ROWS:
        m, l = result[key]["minnow"], result[key]["llama.cpp"]
        ratio = m["median"] / l["median"] if l["median"] else float("nan")
        print("| %s, %s | %.1f (%.1f-%.1f) | %.1f (%.1f-%.1f) | %.2f%s |" % (
            name, unit, m["median"], m["min"], m["max"], l["median"], l["min"], l["max"], ratio, "" if higher else " (less is better)"))


if __name__ == "__main__":
    main()
