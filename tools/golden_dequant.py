#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# golden_dequant.py - write tests/golden/dequant/*.vec: blocks of random bytes with sane scales and
# what the `gguf` package (PyPI) makes of them.  Needs numpy and gguf; the tests need neither.
#
#     python tools/golden_dequant.py DATE
import pathlib
import sys
from importlib.metadata import version

import gguf
import numpy as np

# Where the f16 scales lie in a block, by type.
TYPES = {
    "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0],
    "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "F16": [0], "BF16": [],
}
SCALES = [0.0137, -0.25, 1.0, 6e-8, 0.0, 1234.0, -3e-6, 0.0625]
VALUES = 2048   # of each type: 8 superblocks or 64 blocks


def main():
    out = pathlib.Path(__file__).parent.parent / "tests" / "golden" / "dequant"
    out.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(7)
    for name, scales in TYPES.items():
        kind = getattr(gguf.GGMLQuantizationType, name)
        values, size = gguf.GGML_QUANT_SIZES[kind]
        count = min(VALUES // values, 64)
        blocks = rng.integers(0, 256, (count, size), dtype=np.uint8)
        for b in range(count):
            for i, at in enumerate(scales):
                scale = np.float16(SCALES[(b + 3 * i) % len(SCALES)] * rng.uniform(0.5, 1))
                blocks[b, at:at + 2] = np.frombuffer(scale.tobytes(), np.uint8)
            if name == "BF16":
                blocks[b, 1] &= 0xBF   # no infinities, no NaN
        want = gguf.quants.dequantize(blocks.reshape(-1), kind).astype(np.float32).reshape(count, -1)
        with open(out / f"{name.lower()}.vec", "w") as f:
            f.write(f"# {name}: bytes of a block, then its values as f32 bits, both in hex\n")
            f.write(f"# tools/golden_dequant.py, gguf {version('gguf')}, numpy {np.__version__}, "
                    f"{sys.argv[1]}\n")
            for b in range(count):
                f.write(blocks[b].tobytes().hex() + "\n")
                f.write(want[b].astype(">f4").tobytes().hex() + "\n")


main()
