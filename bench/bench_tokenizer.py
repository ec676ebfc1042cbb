#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench_tokenizer.py - minnow and the PyPI package tokenizers on the same texts, in turns, one thread.

    bench_tokenizer.py TOKENIZER.json TEXT.jsonl.xz ... [--megabytes 20] [--rounds 5]
                       [--bench build/minnow-bench-tokenizer]

A text file is one JSON object with "text" a line; whole documents are encoded one by one.  Checksums
of all ids are compared.  The table has the median of the rounds and their range.
"""
import argparse
import json
import lzma
import os
import statistics
import subprocess
import sys
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"


def documents(path, limit):
    out, size = [], 0
    with lzma.open(path, "rt", encoding="utf-8") as f:
        for line in f:
            text = json.loads(line)["text"].replace("\0", "")
            if not text:
                continue
            out.append(text)
            size += len(text.encode())
            if size >= limit:
                break
    return out, size


def checksum(lists):
    h = 0xCBF29CE484222325
    for ids in lists:
        for i in ids:
            h = (h ^ i) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{h:016x}"


def show(name, size, times):
    speeds = sorted(size / t / 1e6 for t in times)
    print(f"  {name:<12} {statistics.median(speeds):7.2f} MB/s  ({speeds[0]:.2f} to {speeds[-1]:.2f})")


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("tokenizer")
    ap.add_argument("text", nargs="+")
    ap.add_argument("--megabytes", type=float, default=20)
    ap.add_argument("--rounds", type=int, default=5)
    ap.add_argument("--bench", default="build/minnow-bench-tokenizer")
    args = ap.parse_args()
    from tokenizers import Tokenizer
    theirs = Tokenizer.from_file(args.tokenizer)
    status = 0
    for path in args.text:
        texts, size = documents(path, args.megabytes * 1e6)
        print(f"{os.path.basename(path)}: {size / 1e6:.1f} MB, {len(texts)} documents")
        their_times, our_times = [], []
        with tempfile.NamedTemporaryFile() as f:
            f.write(b"".join(t.encode() + b"\0" for t in texts))
            f.flush()
            for _ in range(args.rounds):
                out = subprocess.run([args.bench, args.tokenizer, f.name], check=True,
                                     stdout=subprocess.PIPE).stdout
                ours = json.loads(out)
                our_times.append(ours["seconds"])
                start = time.perf_counter()
                lists = [theirs.encode(t, add_special_tokens=False).ids for t in texts]
                their_times.append(time.perf_counter() - start)
        show("minnow", size, our_times)
        show("tokenizers", size, their_times)
        same = checksum(lists) == ours["sum"]
        print(f"  ids {'agree' if same else 'DIFFER'}: {ours['ids']}, minnow's tables "
              f"{ours['tables'] / 1e6:.1f} MB, opened in {ours['open_ms']:.0f} ms")
        status |= not same
    return status


if __name__ == "__main__":
    sys.exit(main())
