#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mkcorpus.py - write the first inputs of the fuzzers for gguf, safetensors and json, tests/fuzz/corpus/*.

Small files that each open another door: a fuzzer starts from them, and the ordinary tests replay
them.  Run it again after adding one; what fuzzers have found is kept beside them under other names.
"""
import pathlib
import struct

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "tests" / "fuzz" / "corpus"

U8, I8, U16, I16, U32, I32, F32, BOOL, STR, ARRAY, U64, I64, F64 = range(13)
FIXED = {U8: "<B", I8: "<b", U16: "<H", I16: "<h", U32: "<I", I32: "<i", F32: "<f", BOOL: "<B",
         U64: "<Q", I64: "<q", F64: "<d"}


def text(s):
    s = s.encode() if isinstance(s, str) else s
    return struct.pack("<Q", len(s)) + s


def value(kind, v):
    return text(v) if kind == STR else struct.pack(FIXED[kind], v)


def item(key, kind, v, elem=None):
    out = text(key) + struct.pack("<I", kind)
    if kind != ARRAY:
        return out + value(kind, v)
    return out + struct.pack("<IQ", elem, len(v)) + b"".join(value(elem, x) for x in v)


def tensor(name, dims, kind, offset):
    return text(name) + struct.pack("<I", len(dims)) + struct.pack("<%dQ" % len(dims), *dims) \
        + struct.pack("<IQ", kind, offset)


def gguf(items=(), tensors=(), data=b"", version=3, align=32):
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(items))
    head += b"".join(items) + b"".join(tensors)
    return head + bytes(-len(head) % align) + data if tensors else head


def native(shape=(4, 16, 32), names=("w",), size=64 + 64 + 4 * 64 + 64, more=()):
    items = [item("general.alignment", U32, 128), item("q4x.version", U32, 1), item("q4x.names", ARRAY, names, STR),
             item("q4x.shapes", ARRAY, shape, U64)]
    return gguf(items + list(more), [tensor("w", [size], 24, 0)], bytes(range(64)) * (size // 64), align=128)


def gguf_seeds():
    yield "native-q4x", native()
    yield "native-q8x", native((8, 16, 32), size=64 + 16 * 32 + 64)
    yield "native-short", native((4, 17, 32))
    yield "native-wraps", native((4, 1 << 63, 1 << 62))
    yield "native-nobody", native(names=("x",))
    yield "native-twice", native((4, 16, 32, 4, 16, 32), ("w", "w"))
    yield "segments", native(more=[item("minnow.padding", ARRAY, [0] * 5, U8),
                                   item("minnow.segments", ARRAY, [384, 448], U64),
                                   item("minnow.segments.sha256", ARRAY, [7] * 32, U8)])
    yield "segments-beyond", native(more=[item("minnow.segments", ARRAY, [384, 1 << 63], U64),
                                          item("minnow.segments.sha256", ARRAY, [7] * 32, U8)])
    yield "segments-odd", native(more=[item("minnow.segments", ARRAY, [384, 1, 2], U64)])
    yield "empty", gguf()
    yield "empty-v2", gguf(version=2)
    yield "empty-key", b"GGUF" + struct.pack("<IQQQIB", 3, 0, 1, 0, 0, 0)
    yield "all-types", gguf([item("k%d" % k, k, "text" if k == STR else 1) for k in FIXED]
                            + [item("s", STR, "text")])
    yield "arrays", gguf([item("a%d" % k, ARRAY, [0, 1, 1], k) for k in FIXED]
                         + [item("words", ARRAY, ["a", "", "bcd"], STR)])
    yield "tensors", gguf([item("general.architecture", STR, "llama"),
                           item("general.alignment", U32, 64)],
                          [tensor("f32", [4, 2], 0, 0), tensor("q4_0", [32, 1, 2], 2, 64),
                           tensor("q6_k", [256], 14, 128)], bytes(128 + 210), align=64)
    yield "backwards", gguf([], [tensor("b", [8], 24, 32), tensor("a", [8], 24, 0)], bytes(40))
    yield "overlap", gguf([], [tensor("a", [16], 0, 0), tensor("b", [8], 0, 32)], bytes(96))
    yield "scores-i8", gguf([item("tokenizer.ggml.tokens", ARRAY, ["a", "b"], STR),
                             item("tokenizer.ggml.scores", ARRAY, [0, 1], I8)])
    yield "dim-0", gguf([], [tensor("a", [4, 0], 0, 0)], bytes(32))
    yield "dim-wraps", gguf([], [tensor("a", [1 << 32, 1 << 32], 0, 0)], bytes(32))
    yield "unknown-type", gguf([], [tensor("a", [32], 20, 0)], bytes(32))
    yield "not-finite", gguf([], [tensor("a", [32], 2, 0)], b"\x00\x7c" + bytes(16))
    yield "nested", gguf([text("n") + struct.pack("<IIQIQ", ARRAY, ARRAY, 1, U8, 0)])
    yield "huge-array", gguf([text("n") + struct.pack("<IIQ", ARRAY, U8, 1 << 60)])
    yield "cut", gguf([item("general.architecture", STR, "llama")])[:-2]


def safetensors(head, data=b""):
    head = head.encode() if isinstance(head, str) else head
    return struct.pack("<Q", len(head)) + head + data


def safetensors_seeds():
    def entry(name, dtype, shape, a, b):
        return '"%s":{"dtype":"%s","shape":%s,"data_offsets":[%d,%d]}' % (name, dtype, shape, a, b)

    yield "empty", safetensors("{}")
    yield "padded", safetensors("{}      ")
    yield "metadata", safetensors('{"__metadata__":{"format":"pt","a\\u0062":"\\n"},%s}'
                                  % entry("w", "BF16", "[2,3]", 0, 12), bytes(12))
    yield "all-types", safetensors("{%s,%s,%s,%s,%s}" % (
        entry("a", "F32", "[1]", 0, 4), entry("b", "F16", "[1,2]", 4, 8),
        entry("c", "BF16", "[2]", 8, 12), entry("d", "I8", "[4]", 12, 16),
        entry("e", "I32", "[]", 16, 20)), bytes(20))
    yield "backwards", safetensors("{%s,%s}" % (entry("a", "I8", "[4]", 4, 8),
                                                entry("b", "I8", "[4]", 0, 4)), bytes(8))
    yield "escaped-name", safetensors("{%s}" % entry("a\\u0062\\ud83d", "I8", "[1]", 0, 1), b"x")
    yield "overlap", safetensors("{%s,%s}" % (entry("a", "I8", "[4]", 0, 4),
                                              entry("b", "I8", "[4]", 2, 6)), bytes(6))
    yield "hole", safetensors("{%s,%s}" % (entry("a", "I8", "[2]", 0, 2),
                                           entry("b", "I8", "[2]", 4, 6)), bytes(6))
    yield "rest", safetensors("{%s}" % entry("a", "I8", "[2]", 0, 2), bytes(6))
    yield "twice", safetensors("{%s,%s}" % (entry("a", "I8", "[2]", 0, 2),
                                            entry("a", "I8", "[2]", 2, 4)), bytes(4))
    yield "f64", safetensors("{%s}" % entry("a", "F64", "[1]", 0, 8), bytes(8))
    yield "wraps", safetensors("{%s}" % entry("a", "F32", "[4294967296,4294967296]", 0, 0))
    yield "dims", safetensors("{%s}" % entry("a", "I8", "[1,1,1,1,1]", 0, 1), b"x")
    yield "nul", safetensors("{%s}" % entry("a", "I8", "[0]", 0, 0))
    yield "huge-head", struct.pack("<Q", 1 << 60) + b"{}"
    yield "cut", safetensors("{%s}" % entry("a", "I8", "[2]", 0, 2))[:-3]


def json_seeds():
    yield "object", b'{"a": [1, -2.5e3, "x"], "b": {"c": null}, "d": true, "e": false}'
    yield "strings", b'["\\"\\\\\\/\\b\\f\\n\\r\\t", "\\u00e9\\ud83d\\ude0a", "\\ud83d", "\xe4\xb8\xad"]'
    yield "numbers", b"[0, -0, 1e22, 0.1, 1e400, 4.9e-324, 9223372036854775807, 123456789012345678901]"
    yield "deep", b"[" * 64 + b"]" * 64
    yield "too-deep", b"[" * 65 + b"]" * 65
    yield "tokenizer", b'{"model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": [["a", "b"]]}}'
    yield "bad-utf8", b'["\xc0\x80"]'
    yield "cut", b'{"a": [1, {"b": "\\u12'
    yield "comma", b"[1,]"
    yield "space", b" \t\r\n [ ] \n"


def main():
    for folder, seeds in (("gguf", gguf_seeds()), ("safetensors", safetensors_seeds()),
                          ("json", json_seeds())):
        (CORPUS / folder).mkdir(parents=True, exist_ok=True)
        for name, data in seeds:
            (CORPUS / folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
