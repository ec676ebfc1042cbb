#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mktiny.py - make the tiny random models of tests/golden/tiny and their expected logits.

Each model is a GGUF file of some 40 KB with a byte-level tokenizer and a chat template, written
with the `gguf` package; the logits beside it come from `transformers` in float64.  The C test needs
neither.  To make them again:

    pip install torch transformers gguf numpy
    tools/mktiny.py tests/golden/tiny
"""
import datetime
import os
import sys

import gguf
import numpy as np
import torch
import transformers
from transformers import AutoModelForCausalLM, LlamaConfig, Qwen2Config, Qwen3Config

D, LAYERS, HEADS, KV, FFN, CONTEXT = 32, 2, 4, 2, 64, 256
TOKENS = [5, 72, 101, 256, 108, 33, 260, 111, 0, 255, 256, 72, 17, 203, 90, 261, 44, 44, 45, 7]
SAMPLE_EVERY = 12   # which ids' logits are frozen: 0, 12, 24 ...

TEMPLATE = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)

# name: (config class, GGUF architecture, settings on top of the common ones)
MODELS = {
    "llama": (LlamaConfig, "llama", {}),
    "llama-untied": (LlamaConfig, "llama", {"tie_word_embeddings": False, "rope_theta": 100000.0}),
    "llama-linear": (LlamaConfig, "llama", {"rope": {"rope_type": "linear", "factor": 2.0}}),
    "llama-llama3": (LlamaConfig, "llama", {"rope": {
        "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64}}),
    "qwen2": (Qwen2Config, "qwen2", {}),
    "qwen2-yarn": (Qwen2Config, "qwen2", {"rope": {
        "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}}),
    "qwen3": (Qwen3Config, "qwen3", {"head_dim": 16}),
}


def byte_symbols():
    """GPT-2's printable stand-ins for the 256 bytes, as the byte-level tokenizers use them."""
    keep = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    table, extra = {}, 0
    for b in range(256):
        if b in keep:
            table[b] = chr(b)
        else:
            table[b] = chr(256 + extra)
            extra += 1
    return [table[b] for b in range(256)]


def vocabulary():
    symbols = byte_symbols()
    space = symbols[32]
    merges = [("h", "e"), ("l", "l"), ("he", "ll"), ("hell", "o"), (space, "w"), ("o", "r"),
              (space + "w", "or"), ("l", "d"), (space + "wor", "ld"), ("t", "he"), ("i", "n"),
              ("a", "n"), (space, "t"), ("e", "r"), ("o", "n")]
    tokens = symbols + [a + b for a, b in merges]
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    first = len(tokens)
    while (first + len(special)) % 8:
        special.append(f"<|reserved_{len(special)}|>")
    return tokens + special, merges, first


def permute(w, heads):
    """Hugging Face's half-split rows to the pairs order that llama files have."""
    return w.reshape(heads, 2, w.shape[0] // heads // 2, *w.shape[1:]).swapaxes(1, 2).reshape(w.shape)


def build(name, out_dir):
    cls, arch, extra = MODELS[name]
    tokens, merges, first_special = vocabulary()
    rope = dict(extra.get("rope", {"rope_type": "default"}))
    rope["rope_theta"] = extra.get("rope_theta", 10000.0)
    config = cls(vocab_size=len(tokens), hidden_size=D, intermediate_size=FFN,
                 num_hidden_layers=LAYERS, num_attention_heads=HEADS, num_key_value_heads=KV,
                 max_position_embeddings=CONTEXT, rms_norm_eps=1e-5, rope_parameters=rope,
                 tie_word_embeddings=extra.get("tie_word_embeddings", True),
                 **({"head_dim": extra["head_dim"]} if "head_dim" in extra else {}))
    torch.manual_seed(sum(map(ord, name)))
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager").double().eval()
    with torch.no_grad():
        for key, p in model.named_parameters():
            if "norm" in key:
                p.copy_(1.0 + 0.2 * torch.randn_like(p))
            elif key.endswith("bias"):
                p.copy_(0.3 * torch.randn_like(p))
            else:
                p.copy_(torch.randn_like(p) * (0.5 if "embed" in key else 1.6 / D ** 0.5))
            # What the file can hold is what the oracle computes with.
            p.copy_((p.half() if p.ndim == 2 else p.float()).double())
        logits = model(torch.tensor([TOKENS])).logits[0].numpy()

    path = os.path.join(out_dir, name + ".gguf")
    w = gguf.GGUFWriter(path, arch)
    w.add_name("tiny " + name)
    w.add_context_length(CONTEXT)
    w.add_embedding_length(D)
    w.add_block_count(LAYERS)
    w.add_feed_forward_length(FFN)
    w.add_head_count(HEADS)
    w.add_head_count_kv(KV)
    w.add_layer_norm_rms_eps(1e-5)
    w.add_rope_freq_base(rope["rope_theta"])
    head_dim = extra.get("head_dim", D // HEADS)
    w.add_key_length(head_dim)
    w.add_value_length(head_dim)
    w.add_rope_dimension_count(head_dim)
    if rope["rope_type"] in ("linear", "yarn"):
        w.add_rope_scaling_type(gguf.RopeScalingType(rope["rope_type"]))
        w.add_rope_scaling_factor(rope["factor"])
    if rope["rope_type"] == "yarn":
        w.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre("smollm")
    w.add_token_list(tokens)
    w.add_token_types([1 if i < first_special else 3 for i in range(len(tokens))])
    w.add_token_merges([f"{a} {b}" for a, b in merges])
    w.add_bos_token_id(first_special)
    w.add_eos_token_id(first_special + 2)
    w.add_add_bos_token(False)
    w.add_chat_template(TEMPLATE)

    sd = {k: v.detach().numpy() for k, v in model.state_dict().items()}
    half = lambda a: np.ascontiguousarray(a.astype(np.float16))
    f32 = lambda a: np.ascontiguousarray(a.astype(np.float32))
    w.add_tensor("token_embd.weight", half(sd["model.embed_tokens.weight"]))
    for i in range(LAYERS):
        p, b = f"model.layers.{i}.", f"blk.{i}."
        for hf, name_, heads in (("q", "attn_q", HEADS), ("k", "attn_k", KV), ("v", "attn_v", 0)):
            for part in ("weight", "bias"):
                a = sd.get(f"{p}self_attn.{hf}_proj.{part}")
                if a is None:
                    continue
                if arch == "llama" and heads:
                    a = permute(a, heads)
                w.add_tensor(f"{b}{name_}.{part}", half(a) if part == "weight" else f32(a))
            a = sd.get(f"{p}self_attn.{hf}_norm.weight")
            if a is not None:
                w.add_tensor(f"{b}{name_}_norm.weight", f32(a))
        w.add_tensor(b + "attn_output.weight", half(sd[p + "self_attn.o_proj.weight"]))
        # One matrix in F32, so that both float paths are walked.
        w.add_tensor(b + "ffn_gate.weight", f32(sd[p + "mlp.gate_proj.weight"]))
        w.add_tensor(b + "ffn_up.weight", half(sd[p + "mlp.up_proj.weight"]))
        w.add_tensor(b + "ffn_down.weight", half(sd[p + "mlp.down_proj.weight"]))
        w.add_tensor(b + "attn_norm.weight", f32(sd[p + "input_layernorm.weight"]))
        w.add_tensor(b + "ffn_norm.weight", f32(sd[p + "post_attention_layernorm.weight"]))
    w.add_tensor("output_norm.weight", f32(sd["model.norm.weight"]))
    if not config.tie_word_embeddings:
        w.add_tensor("output.weight", half(sd["lm_head.weight"]))
    if rope["rope_type"] == "llama3":
        # The file form of this scaling: the divisor of each frequency.
        base = 1.0 / rope["rope_theta"] ** (np.arange(0, head_dim, 2) / head_dim)
        inv = model.model.rotary_emb.inv_freq.numpy()
        w.add_tensor("rope_freqs.weight", f32(base / inv))
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()

    with open(os.path.join(out_dir, name + ".vec"), "w") as f:
        print(f"# made by tools/mktiny.py, transformers {transformers.__version__}, torch "
              f"{torch.__version__} cpu float64, {datetime.date.today()}", file=f)
        print("# tokens, then per position: its number, the largest |logit|, and id:logit", file=f)
        print("tokens", *TOKENS, file=f)
        for i, row in enumerate(logits):
            print("logits", i, f"{np.abs(row).max():.9g}",
                  *(f"{j}:{row[j]:.9g}" for j in range(0, len(row), SAMPLE_EVERY)), file=f)
    print(path, os.path.getsize(path))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: mktiny.py OUT_DIR")
    for model_name in MODELS:
        build(model_name, sys.argv[1])
