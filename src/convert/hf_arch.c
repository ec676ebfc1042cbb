/* SPDX-License-Identifier: Apache-2.0
 *
 * hf_arch.c - two tables of names.
 */
#include "convert/hf_arch.h"

/* A(architecture in GGUF, model_type, class in transformers) */
#define ARCH_LIST(A)                               \
    A("llama", "llama", "LlamaForCausalLM")        \
    A("llama", "mistral", "MistralForCausalLM")    \
    A("qwen2", "qwen2", "Qwen2ForCausalLM")        \
    A("qwen3", "qwen3", "Qwen3ForCausalLM")

static const mn_hf_arch ARCH[] = {
#define A(arch, type, class_name) { arch, type, class_name },
    ARCH_LIST(A)
#undef A
};

const mn_hf_arch *mn_hf_arch_of_type(const mn_json *model_type)
{
    for (size_t i = 0; i < sizeof ARCH / sizeof *ARCH; i++) {
        if (mn_json_is(model_type, ARCH[i].model_type)) return &ARCH[i];
    }
    return NULL;
}

const mn_hf_arch *mn_hf_arch_of(const char *arch)
{
    for (size_t i = 0; i < sizeof ARCH / sizeof *ARCH; i++) {
        if (strcmp(arch, ARCH[i].arch) == 0) return &ARCH[i];
    }
    return NULL;
}

const char *mn_hf_arch_types(void)
{
#define A(arch, type, class_name) ", " type
    return &ARCH_LIST(A)[2];   // without the first comma
#undef A
}

#define LAYER "model.layers.#."

static const mn_hf_name NAMES[] = {
    { "token_embd.weight", "model.embed_tokens.weight", MN_HF_ROWS_ANY },
    { "output_norm.weight", "model.norm.weight", MN_HF_ROWS_ANY },
    { "output.weight", "lm_head.weight", MN_HF_ROWS_ANY },
    { "blk.#.attn_norm.weight", LAYER "input_layernorm.weight", MN_HF_ROWS_ANY },
    { "blk.#.attn_q.weight", LAYER "self_attn.q_proj.weight", MN_HF_ROWS_Q },
    { "blk.#.attn_k.weight", LAYER "self_attn.k_proj.weight", MN_HF_ROWS_K },
    { "blk.#.attn_v.weight", LAYER "self_attn.v_proj.weight", MN_HF_ROWS_ANY },
    { "blk.#.attn_q.bias", LAYER "self_attn.q_proj.bias", MN_HF_ROWS_Q },
    { "blk.#.attn_k.bias", LAYER "self_attn.k_proj.bias", MN_HF_ROWS_K },
    { "blk.#.attn_v.bias", LAYER "self_attn.v_proj.bias", MN_HF_ROWS_ANY },
    { "blk.#.attn_q_norm.weight", LAYER "self_attn.q_norm.weight", MN_HF_ROWS_ANY },
    { "blk.#.attn_k_norm.weight", LAYER "self_attn.k_norm.weight", MN_HF_ROWS_ANY },
    { "blk.#.attn_output.weight", LAYER "self_attn.o_proj.weight", MN_HF_ROWS_ANY },
    { "blk.#.ffn_norm.weight", LAYER "post_attention_layernorm.weight", MN_HF_ROWS_ANY },
    { "blk.#.ffn_gate.weight", LAYER "mlp.gate_proj.weight", MN_HF_ROWS_ANY },
    { "blk.#.ffn_up.weight", LAYER "mlp.up_proj.weight", MN_HF_ROWS_ANY },
    { "blk.#.ffn_down.weight", LAYER "mlp.down_proj.weight", MN_HF_ROWS_ANY },
};

const mn_hf_name *mn_hf_name_of(const char *gguf)
{
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        if (strcmp(gguf, NAMES[i].gguf) == 0) return &NAMES[i];
    }
    return NULL;
}
