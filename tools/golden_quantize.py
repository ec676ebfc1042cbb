#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""golden_quantize.py - print the error of llama.cpp's quantisers on the weights of tests/unit/test_quantize.c.

    python tools/golden_quantize.py          needs numpy, gguf and llama-cpp-python (PyPI); the test does not
"""
import ctypes
import glob
import os
from importlib.metadata import version

import gguf
import llama_cpp
import numpy as np

N = 16384


def weights():
    """The generator of the test: sums of twelve uniform numbers, in f32, every 32 of a size of their own."""
    seed, out = 1, np.zeros(N, np.float32)
    for i in range(N):
        total = np.float32(0)
        for _ in range(12):
            seed = (seed * 1664525 + 1013904223) & 0xFFFFFFFF
            total += np.float32(seed >> 8) / np.float32(1 << 23) - np.float32(1)
        out[i] = total * np.float32(0.5) * (np.float32(1) + np.float32(i // 32 % 5) * np.float32(0.25))
    return out


def main():
    folder = os.path.dirname(llama_cpp.__file__)
    lib = ctypes.CDLL(glob.glob(folder + "/**/libggml-base.so*", recursive=True)[0])
    lib.ggml_quantize_chunk.restype = ctypes.c_size_t
    lib.ggml_quantize_chunk.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64,
                                        ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p]
    w = weights()
    print("llama-cpp-python", version("llama-cpp-python"), "gguf", version("gguf"))
    for name in "Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q4_K Q5_K Q6_K".split():
        kind = getattr(gguf.GGMLQuantizationType, name)
        block, size = gguf.GGML_QUANT_SIZES[kind]
        out = np.zeros(N // block * size, np.uint8)
        lib.ggml_quantize_chunk(int(kind), w.ctypes.data, out.ctypes.data, 0, 1, N, None)
        y = gguf.quants.dequantize(out, kind).reshape(-1).astype(np.float64)
        print("    { MN_%s, %.3f }," % (name, 10 * np.log10(((w - y) ** 2).sum() / (w.astype(float) ** 2).sum())))


main()
