#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mkhf.py - make the tiny Hugging Face folders of tests/golden/hf and what transformers says of them.

Each folder is a random model as `save_pretrained` writes it, with the byte-level tokenizer of mktiny.py; the
.vec beside it has ids of a text, a rendered chat, and logits in float64.  The C test converts the
folder and needs none of this.  To make them again:

    pip install torch transformers tokenizers gguf numpy
    tools/mkhf.py tests/golden/hf
"""
import datetime
import json
import os
import shutil
import sys

import torch
import transformers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import AutoModelForCausalLM, LlamaConfig, PreTrainedTokenizerFast, Qwen2Config, Qwen3Config

import mktiny

TEXT = "hello world, the hint\n an 1234 order \u00e9\u4e2d ok<|im_end|>"
CHAT = [{"role": "user", "content": "hello <|im_end|> world"}]
QWEN2 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
         r"|\s*[\r\n]+|\s+(?!\S)|\s+")
LLAMA3 = QWEN2.replace(r"|\p{N}|", r"|\p{N}{1,3}|")

# name: class, settings on top of the common ones
FOLDERS = {
    "llama": (LlamaConfig, {"rope": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                                     "high_freq_factor": 4.0, "original_max_position_embeddings": 64},
                            "tie_word_embeddings": False, "shards": "8KB", "eos": [273, 271]}),
    "qwen2": (Qwen2Config, {"rope": {"rope_type": "yarn", "factor": 4.0,
                                     "original_max_position_embeddings": 64}}),
    "qwen3": (Qwen3Config, {"head_dim": 16, "rope_theta": 1e6, "rows": 288}),
}


def tokenizer(name):
    tokens, merges, first = mktiny.vocabulary()
    t = Tokenizer(models.BPE(vocab={k: i for i, k in enumerate(tokens[:first])}, merges=merges,
                             ignore_merges=name == "llama"))
    if name != "llama":
        t.normalizer = normalizers.NFC()
    t.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(LLAMA3 if name == "llama" else QWEN2), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    t.decoder = decoders.ByteLevel()
    t.add_tokens([AddedToken(x, special=not x.startswith("<|reserved"), normalized=False)
                  for x in tokens[first:]])
    if name == "llama":
        t.post_processor = processors.TemplateProcessing(
            single="<|endoftext|> $A", special_tokens=[("<|endoftext|>", first)])
    f = PreTrainedTokenizerFast(tokenizer_object=t, bos_token="<|endoftext|>" if name == "llama" else None,
                                eos_token="<|im_end|>", pad_token="<|endoftext|>")
    f.chat_template = mktiny.TEMPLATE
    return f, first


def build(name, out_dir):
    cls, s = FOLDERS[name]
    tok, first = tokenizer(name)
    rope = dict(s.get("rope", {"rope_type": "default"}), rope_theta=s.get("rope_theta", 10000.0))
    d = 16
    config = cls(vocab_size=s.get("rows", len(tok)), hidden_size=d, intermediate_size=2 * d,
                 num_hidden_layers=2 if name == "llama" else 1, num_attention_heads=d // 8,
                 num_key_value_heads=1, max_position_embeddings=256, rms_norm_eps=1e-5,
                 rope_parameters=rope, tie_word_embeddings=s.get("tie_word_embeddings", True),
                 bos_token_id=first, eos_token_id=s.get("eos", first + 2),
                 **({"head_dim": s["head_dim"]} if "head_dim" in s else {}))
    torch.manual_seed(sum(map(ord, name)))
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager").bfloat16()
    with torch.no_grad():
        for key, p in model.named_parameters():
            noise = torch.randn(p.shape)
            p.copy_(1.0 + 0.2 * noise if "norm" in key else 0.3 * noise if key.endswith("bias")
                    else noise * (0.5 if "embed" in key else 1.6 / d ** 0.5))
    path = os.path.join(out_dir, name)
    shutil.rmtree(path, ignore_errors=True)
    model.generation_config.temperature = 0.7
    model.generation_config.top_k = 20
    model.generation_config.top_p = 0.95
    model.generation_config.do_sample = True
    model.save_pretrained(path, max_shard_size=s.get("shards", "5GB"))
    tok.save_pretrained(path)
    if name == "qwen2":   # the older way to keep a template
        with open(os.path.join(path, "tokenizer_config.json")) as f:
            tc = json.load(f)
        tc["chat_template"] = tok.chat_template
        with open(os.path.join(path, "tokenizer_config.json"), "w") as f:
            json.dump(tc, f, indent=2)
        os.unlink(os.path.join(path, "chat_template.jinja"))

    exact = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float64, attn_implementation="eager").eval()
    tokens = mktiny.TOKENS
    with torch.no_grad():
        logits = exact(torch.tensor([tokens])).logits[0].numpy()
    with open(path + ".vec", "w") as f:
        print(f"# made by tools/mkhf.py, transformers {transformers.__version__}, torch "
              f"{torch.__version__} cpu float64, {datetime.date.today()}", file=f)
        print("# ids of the test's text, its chat rendered (JSON), tokens, then per position: its number, the "
              "largest |logit|, and id:logit", file=f)
        print("ids", *tok(TEXT)["input_ids"], file=f)
        print("chat", json.dumps(tok.apply_chat_template(CHAT, tokenize=False, add_generation_prompt=True)),
              file=f)
        print("tokens", *tokens, file=f)
        for i, row in enumerate(logits):
            print("logits", i, f"{abs(row).max():.9g}",
                  *(f"{j}:{row[j]:.9g}" for j in range(0, len(row), 40)), file=f)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: mkhf.py OUT_DIR")
    for folder in FOLDERS:
        build(folder, sys.argv[1])
