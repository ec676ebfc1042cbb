#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Freeze ids of the PyPI package `tokenizers` into tests/golden/tokenizer/*.vec.

    tools/golden_tokenizer.py --qwen3 tokenizer.json --minimind tokenizer.json --smollm2 MODEL.gguf \\
        --date 2026-12-01 tests/golden/tokenizer

A line of a vector file is the text in hexadecimal UTF-8 ("-" if it is empty), then its ids; special
tokens written in the text are recognised, none are added.  SmolLM2's tokenizer is put together from the
GGUF file's vocabulary and merges and the published pre-tokenizer.
"""
import argparse
import pathlib
import random

import tokenizers
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

TEXTS = [
    "", " ", "Hello world! Café déjà vu — 123 😊", "<|im_start|>user\n", "  two spaces", "1234567",
    "don't DON'T", "\r\n\t", "e\u0301", "👨‍👩‍👧‍👦", "สวัสดีครับ", "مرحبا بالعالم", "你好，世界！今天天气不错。",
    "日本語とEnglishの混在テスト", "한국어 문장입니다.", "मानक हिन्दी", "I've you'RE we'Ll it'ſ 'tis",
    "x=3.14*(y+2)//7 # comment\n\n\n    return", "\n\n  \n a", "   ", "a   ", "\u3000全角\u00a0nbsp",
    "<|im_end|>\n<|im_start|>system", "<|im_start|><|im_end|><|endoftext|>", "<|im_start", "<think>ok</think>",
    "①②③ ½ ¼ Ⅷ ٣٤٥", "A" * 100, "ab" * 70, "中" * 40, "\n" * 50, " " * 70, "!?" * 40, "🦙🦙 ✅",
    "ﬁ ﬂ Å Å Ω", "q\u0307\u0323", "\u1100\u1161\u11a8", "naïve façade cafe\u0301",
    "https://example.org/a?b=c&d=%20e#f", "C:\\path\\to\\file.txt", "{\"key\": [1, 2.5e-3, null]}",
    "\u200b\ufeff\u2028\u2029\u0085", "\x00\x01\x7f",
]

POOLS = [
    "abcXYZ  '\n\r\t.,!?0123456789", "'s't're've'm'll'd'S'T'RE'VE'M'LL'D ",
    [chr(c) for c in range(0x80, 0x600)], [chr(c) for c in range(0x4E00, 0x4F00)] + list("，。！？、"),
    [chr(c) for c in range(0x300, 0x345)] + list("AEaeioun"),
    [chr(c) for c in range(0x1F600, 0x1F650)] + ["\u200d", "\ufe0f"],
    [chr(c) for c in (0x85, 0xA0, 0x1680, 0x2003, 0x2028, 0x202F, 0x3000, 0x200B, 0x20, 0x0A, 0x0D)],
    ["<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|", "|>", " "],
]


def random_texts(count):
    rnd = random.Random(20261201)
    for _ in range(count):
        yield "".join("".join(rnd.choice(pool) for _ in range(rnd.randrange(1, 6)))
                      for pool in (rnd.choice(POOLS) for _ in range(rnd.randrange(1, 9))))


def from_gguf(path):
    from gguf import GGUFReader
    fields = GGUFReader(path).fields
    get = lambda key: fields["tokenizer.ggml." + key].contents()
    vocab = {text: i for i, text in enumerate(get("tokens"))}
    merges = [tuple(text.split(" ", 1)) for text in get("merges")]
    tok = Tokenizer(models.BPE(vocab, merges))
    tok.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False)])
    tok.add_special_tokens([AddedToken(text, special=True, normalized=False)
                            for text, kind in zip(get("tokens"), get("token_type")) if kind == 3])
    return tok


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("qwen3", "minimind", "smollm2"):
        ap.add_argument("--" + name)
    ap.add_argument("--date", required=True)
    ap.add_argument("folder", type=pathlib.Path)
    args = ap.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    for name in ("qwen3", "minimind", "smollm2"):
        path = getattr(args, name)
        if not path:
            continue
        tok = from_gguf(path) if path.endswith(".gguf") else Tokenizer.from_file(path)
        with open(args.folder / f"{name}.vec", "w") as f:
            f.write(f"# ids of {name} by tokenizers {tokenizers.__version__}, {args.date}, made by "
                    "tools/golden_tokenizer.py\n")
            for text in [*TEXTS, *random_texts(300)]:
                ids = tok.encode(text, add_special_tokens=False).ids
                f.write(" ".join([text.encode().hex() or "-", *map(str, ids)]) + "\n")


if __name__ == "__main__":
    main()
