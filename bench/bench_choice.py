#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench_choice.py - HellaSwag by minnow and by llama.cpp: questions per second, and the same answers?

    bench_choice.py MODEL DATA [--limit 40] [--rounds 3] [--threads 2] [--minnow build/minnow]
                    [--python VENV/bin/python] [--theirs-only] [--json]

DATA is the folder with reasoning/hellaswag_val_full.txt.bz2.  llama.cpp is used through llama-cpp-python
(bench_llama.py --setup): context and ending in full for each of the four endings, sequences packed into
batches of up to 512 tokens, logits asked for where an ending's token is predicted.  Only the time inside
llama_decode counts for it; the softmax here is free.  minnow runs its own command, all included, with
shared prefixes and without (--no-sharing): the ratio between the two is the share of the prefixes, that
between the latter and llama.cpp the share of the kernels.
"""
import argparse
import json
import statistics
import subprocess
import sys

CHILD = r"""
import bz2, ctypes, json, sys, time
import numpy as np
import llama_cpp as L
path, data, limit, threads, say = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5] == "1"
BATCH = 512
lines = bz2.open(data + "/reasoning/hellaswag_val_full.txt.bz2", "rt", encoding="utf-8").read().split("\n")
items = [lines[i * 6:i * 6 + 6] for i in range(limit)]
m = L.Llama(path, n_ctx=BATCH * 4, n_batch=BATCH, n_ubatch=BATCH, n_threads=threads, n_threads_batch=threads, verbose=False,
            logits_all=True)
# The object above only loads; a context of our own has room for several sequences.
p = L.llama_context_default_params()
p.n_ctx, p.n_batch, p.n_ubatch, p.n_seq_max = BATCH * 4, BATCH, BATCH, 32
p.n_threads = p.n_threads_batch = threads
p.kv_unified = True
ctx = L.llama_init_from_model(m.model, p)
V = m.n_vocab()
encode = lambda s: m.tokenize(s.encode(), add_bos=False, special=False)
requests = []
for k, x in enumerate(items):
    head = encode(x[0])
    for e in range(4):
        whole = encode(x[0] + " " + x[2 + e])
        requests.append((k, e, head + whole[len(head):], len(whole) - len(head)))
ll = np.zeros((limit, 4))
spent, tokens = 0.0, 0
batch = L.llama_batch_init(BATCH, 0, 1)
def flush(group):
    global spent, tokens
    n, wanted = 0, []
    for seq, (k, e, ids, m_) in enumerate(group):
        for pos, t in enumerate(ids[:-1]):
            batch.token[n], batch.pos[n], batch.n_seq_id[n] = t, pos, 1
            batch.seq_id[n][0] = seq
            batch.logits[n] = pos + 1 >= len(ids) - m_
            if batch.logits[n]:
                wanted.append((n, k, e, ids[pos + 1]))
            n += 1
    batch.n_tokens = n
    tokens += n
    t0 = time.perf_counter()
    L.llama_memory_clear(L.llama_get_memory(ctx), True)
    if L.llama_decode(ctx, batch) != 0:
        raise SystemExit("llama_decode failed")
    L.llama_synchronize(ctx)
    spent += time.perf_counter() - t0
    for at, k, e, target in wanted:
        x = np.ctypeslib.as_array(L.llama_get_logits_ith(ctx, at), shape=(V,)).astype(np.float64)
        top = x.max()
        ll[k, e] += x[target] - top - np.log(np.exp(x - top).sum())
group, size = [], 0
for i, r in enumerate(requests):
    n = len(r[2]) - 1
    if size + n > BATCH:
        flush(group)
        group, size = [], 0
        if say and r[0] % 10 == 0:
            print(r[0], "of", limit, file=sys.stderr)
    group.append(r)
    size += n
flush(group)
right = np.array([int(x[1]) for x in items])
chars = np.array([[len(e) for e in x[2:]] for x in items])
print(json.dumps({"n": limit, "acc": float((ll.argmax(1) == right).mean()),
                  "acc_norm": float(((ll / chars).argmax(1) == right).mean()), "seconds": spent, "tokens": tokens,
                  "version": L.__version__, "picks": [int(i) for i in ll.argmax(1)]}))
"""


def last_json(command):
    return json.loads(subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout.strip().splitlines()[-1])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model")
    p.add_argument("data")
    p.add_argument("--limit", type=int, default=40)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--minnow", default="build/minnow")
    p.add_argument("--python", default=sys.executable)
    p.add_argument("--theirs-only", action="store_true")
    p.add_argument("--json", action="store_true")
    a = p.parse_args()

    def theirs():
        return last_json([a.python, "-c", CHILD, a.model, a.data, str(a.limit), str(a.threads), "1" if a.theirs_only else "0"])

    def ours(*more):
        return last_json([a.minnow, "eval", "choice", a.model, "--task", "hellaswag", "--data", a.data, "--limit", str(a.limit),
                          "--threads", str(a.threads), "--quiet", "--json", *more])["tasks"][0]

    if a.theirs_only:
        print(json.dumps(theirs()))
        return
    rows = {"llama.cpp": [], "minnow": [], "minnow, no sharing": [], "minnow, fast": []}
    for i in range(a.rounds):
        rows["llama.cpp"].append(theirs())
        rows["minnow"].append(ours())
        rows["minnow, no sharing"].append(ours("--no-sharing"))
        rows["minnow, fast"].append(ours("--precision", "fast"))
        print("round %d of %d" % (i + 1, a.rounds), file=sys.stderr)
    rate = {k: [a.limit / r["seconds"] for r in v] for k, v in rows.items()}
    result = {k: {"per_second": statistics.median(v), "min": min(v), "max": max(v), "acc": rows[k][0]["acc"],
                  "acc_norm": rows[k][0]["acc_norm"],
                  "ratio": statistics.median(x / y for x, y in zip(v, rate["llama.cpp"]))} for k, v in rate.items()}
    if a.json:
        print(json.dumps(result))
        return
    print("HellaSwag, first %d, %d threads, median of %d rounds (range)\n" % (a.limit, a.threads, a.rounds))
    print("| | questions/s | x llama.cpp | acc | acc_norm |\n|---|---|---|---|---|")
    for k, r in result.items():
        print("| %s | %.2f (%.2f-%.2f) | %.2f | %.1f | %.1f |" % (k, r["per_second"], r["min"], r["max"], r["ratio"],
                                                                 100 * r["acc"], 100 * r["acc_norm"]))


if __name__ == "__main__":
    main()
