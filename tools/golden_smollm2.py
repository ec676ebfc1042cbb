#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""golden_smollm2.py - freeze llama.cpp's log-probabilities for SmolLM2-135M-Instruct (Q4_1).

Two files: logprobs.vec from the file as it is, where llama.cpp rounds activations to int8, and
logprobs-f32.vec from the same weights expanded to F32, where nothing is rounded.  Their difference is
llama.cpp's own rounding error.

    pip install llama-cpp-python gguf numpy
    tools/golden_smollm2.py SmolLM2-135M-Instruct.Q4_1.gguf tests/golden/smollm2
"""
import datetime
import hashlib
import os
import sys
import tempfile

import gguf
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


def expand(source, target):
    """The same model with every tensor in F32."""
    reader = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(target, "llama")
    for key, field in reader.fields.items():
        if key.startswith("GGUF.") or key == "general.architecture":
            continue
        if field.types[0] == gguf.GGUFValueType.ARRAY:
            writer.add_array(key, field.contents())
        else:
            writer.add_key_value(key, field.contents(), field.types[0])
    for t in reader.tensors:
        writer.add_tensor(t.name, gguf.quants.dequantize(t.data, t.tensor_type).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def freeze(model, digest, what, out):
    llm = llama_cpp.Llama(model, n_ctx=512, logits_all=True, n_threads=2, verbose=False)
    print(f"# made by tools/golden_smollm2.py, llama-cpp-python {llama_cpp.__version__}, "
          f"numpy {np.__version__}, {datetime.date.today()}", file=out)
    print(f"# model sha256 {digest}, {what}", file=out)
    print("# prompt (hex), its ids, then per position: number and the top 20 as "
          "id:log-probability", file=out)
    for prompt in PROMPTS:
        ids = llm.tokenize(prompt.encode(), add_bos=False, special=True)
        llm.reset()
        llm.eval(ids)
        print("prompt", prompt.encode().hex(), file=out)
        print("tokens", *ids, file=out)
        for i in range(len(ids)):
            x = llm.scores[i].astype(np.float64)
            x -= x.max()
            lp = x - np.log(np.exp(x).sum())
            order = np.argsort(-lp, kind="stable")[:TOP]
            print("step", i, *(f"{j}:{lp[j]:.6f}" for j in order), file=out)


def main(model, out_dir):
    with open(model, "rb") as f:
        digest = hashlib.sha256(f.read()).hexdigest()
    with open(os.path.join(out_dir, "logprobs.vec"), "w") as out:
        freeze(model, digest, "as it is", out)
    with tempfile.TemporaryDirectory() as tmp:
        whole = os.path.join(tmp, "f32.gguf")
        expand(model, whole)
        with open(os.path.join(out_dir, "logprobs-f32.vec"), "w") as out:
            freeze(whole, digest, "expanded to F32", out)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: golden_smollm2.py MODEL.gguf OUT_DIR")
    main(*sys.argv[1:])
