#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mkcorpus_tokenizer.py - write the first inputs of the fuzzers for tokenizers, tests/fuzz/corpus/*.

See mkcorpus.py, whose writers of GGUF it uses.
"""
import json

from mkcorpus import ARRAY, BOOL, CORPUS, F32, I8, I32, STR, U32, gguf, item

MARK = "\u2581"
BYTES = [f"<0x{b:02X}>" for b in range(256)]
QWEN2 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
         r"|\s*[\r\n]+|\s+(?!\S)|\s+")


def write(fuzzer, name, data):
    folder = CORPUS / fuzzer
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())


def added(number, content, **flags):
    return {"id": number, "content": content, "special": False, **flags}


def documents():
    bpe = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "aab": 3, "\u0120": 4},
           "merges": ["a b", ["a", "ab"]]}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False}
    yield "bpe", {"added_tokens": [added(5, "<s>", special=True), added(6, "<x>", lstrip=True)],
                  "pre_tokenizer": byte_level, "model": bpe}
    yield "nfc-flags", {"added_tokens": [added(5, "\u00e9", normalized=True, rstrip=True),
                                         added(6, "ab", single_word=True)],
                        "normalizer": {"type": "NFC"}, "pre_tokenizer": byte_level,
                        "model": {**bpe, "ignore_merges": True, "unk_token": "a"}}
    yield "qwen2", {"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}]},
                    "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
                        {"type": "Split", "pattern": {"Regex": QWEN2}, "behavior": "Isolated",
                         "invert": False}, {**byte_level, "use_regex": False}]}, "model": bpe}
    yield "digits", {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [
        {"type": "Digits", "individual_digits": True}, byte_level]}, "model": bpe}
    yield "falcon", {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [
        {"type": "Punctuation", "behavior": "Contiguous"}, byte_level,
        {"type": "Digits", "individual_digits": False},
        {"type": "Split", "pattern": {"Regex": "[0-9][0-9][0-9]"}, "behavior": "Isolated"}]},
        "model": bpe}
    spm = {"type": "BPE", "byte_fallback": True, "fuse_unk": True, "unk_token": "<unk>",
           "vocab": {t: i for i, t in enumerate(["<unk>", MARK, "a", MARK + "a", "b", *BYTES])},
           "merges": [MARK + " a"]}
    yield "llama", {"added_tokens": [added(0, "<unk>", special=True), added(300, "<s>", special=True)],
                    "normalizer": {"type": "Sequence", "normalizers": [
                        {"type": "Prepend", "prepend": MARK},
                        {"type": "Replace", "pattern": {"String": " "}, "content": MARK}]},
                    "post_processor": {"type": "TemplateProcessing", "single": [
                        {"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}]}, "model": spm}
    yield "metaspace", {"pre_tokenizer": {"type": "Metaspace", "replacement": MARK,
                                          "prepend_scheme": "first", "split": True},
                        "model": {**spm, "byte_fallback": False}}
    yield "unigram", {"pre_tokenizer": {"type": "Metaspace", "replacement": MARK, "split": False},
                      "model": {"type": "Unigram", "unk_id": 0,
                                "vocab": [["<unk>", 0.0], [MARK, -2.0], ["a", -3.5], ["ab", -4.0],
                                          [MARK + "a", -2.5]]}}
    yield "wordpiece", {"model": {"type": "WordPiece", "vocab": {"a": 0}}}


def files():
    def tokenizer(model, tokens, kinds, *more):
        return gguf([item("tokenizer.ggml.model", STR, model),
                     item("tokenizer.ggml.tokens", ARRAY, tokens, STR),
                     item("tokenizer.ggml.token_type", ARRAY, kinds, I32), *more])
    merges = item("tokenizer.ggml.merges", ARRAY, ["a b", "a ab"], STR)
    pre = item("tokenizer.ggml.pre", STR, "qwen2")
    pieces = ["<unk>", "<s>", "</s>", MARK, "a", "b", MARK + "a", "ab", *BYTES]
    kinds = [2, 3, 3, 1, 1, 1, 1, 1] + [6] * 256
    scores = [-float(i) for i in range(len(pieces))]
    yield "bpe", tokenizer("gpt2", ["a", "b", "ab", "aab", "<s>"], [1, 1, 1, 1, 3], merges, pre,
                           item("tokenizer.ggml.bos_token_id", U32, 4),
                           item("tokenizer.ggml.add_bos_token", BOOL, 1))
    yield "repeated", tokenizer("gpt2", ["a", "b", "b", "ab"], [1, 4, 1, 3], merges)
    for model in ("llama", "t5"):
        yield model, tokenizer(model, pieces, kinds, item("tokenizer.ggml.scores", ARRAY, scores, F32),
                               item("tokenizer.ggml.bos_token_id", U32, 1),
                               item("tokenizer.ggml.eos_token_id", U32, 2),
                               item("tokenizer.ggml.unknown_token_id", U32, 0))
    yield "scores-i8", tokenizer("llama", ["a", "b"], [1, 1],
                                 item("tokenizer.ggml.scores", ARRAY, [1, 2], I8))


def texts():
    yield "english", "the cat's  aaaa 1234, DON'T!\r\n\tx"
    yield "chinese", "中文，，。 中a1２\u3000"
    yield "marks", "e\u0301\u0323 \u1100\u1161\u11a8 \u0344\u212b\U0001d160"
    yield "special", "<|end|><t> <|end <t"
    yield "spaces", " \u00a0\u2003\n \n  \u2028 a  "
    yield "long", "a" * 70 + "th" * 40
    yield "bad", b"a\xff\xc3(\xe4\xb8"


def main():
    for name, document in documents():
        write("tokenizer_json", name, json.dumps(document, ensure_ascii=False))
    for name, data in files():
        write("tokenizer_gguf", name, data)
    for i, (name, text) in enumerate(texts()):
        for which in (i, i + 1, i + 5):   # the first byte chooses the pre-tokenizer
            data = text if isinstance(text, bytes) else text.encode()
            write("encode", f"{name}-{which % 8}", bytes([which % 8]) + data)


if __name__ == "__main__":
    main()
