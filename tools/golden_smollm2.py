#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""golden_smollm2.py - freeze llama.cpp's log-probabilities for SmolLM2-135M-Instruct (Q4_1).

    pip install llama-cpp-python numpy
    tools/golden_smollm2.py SmolLM2-135M-Instruct.Q4_1.gguf > tests/golden/smollm2/logprobs.vec
"""
import datetime
import hashlib
import sys

import llama_cpp
import numpy as np

PROMPTS = [
    "The capital of France is",
    "Water boils at a temperature of 100 degrees",
    "def fibonacci(n):\n    if n < 2:\n        return",
    "Once upon a time, in a small village by the sea, there lived an old fisherman who",
    "<|im_start|>user\nWhat is the largest planet in the solar system?<|im_end|>\n"
    "<|im_start|>assistant\n",
]
TOP = 20

path = sys.argv[1]
llm = llama_cpp.Llama(path, n_ctx=512, logits_all=True, n_threads=2, verbose=False)
digest = hashlib.sha256(open(path, "rb").read()).hexdigest()
print(f"# made by tools/golden_smollm2.py, llama-cpp-python {llama_cpp.__version__}, "
      f"numpy {np.__version__}, {datetime.date.today()}")
print(f"# model sha256 {digest}")
print("# prompt (hex), its ids, then per position: number and the top 20 as id:log-probability")
for prompt in PROMPTS:
    ids = llm.tokenize(prompt.encode(), add_bos=False, special=True)
    llm.reset()
    llm.eval(ids)
    print("prompt", prompt.encode().hex())
    print("tokens", *ids)
    for i in range(len(ids)):
        x = llm.scores[i].astype(np.float64)
        x -= x.max()
        lp = x - np.log(np.exp(x).sum())
        order = np.argsort(-lp, kind="stable")[:TOP]
        print("step", i, *(f"{j}:{lp[j]:.6f}" for j in order))
