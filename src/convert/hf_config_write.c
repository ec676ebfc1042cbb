/* SPDX-License-Identifier: Apache-2.0
 *
 * hf_config_write.c - write config.json and generation_config.json.
 */
#include <inttypes.h>
#include <math.h>

#include "convert/hf_arch.h"
#include "convert/hf_config.h"

static void key(mn_out *o, const char *name)
{
    mn_out_fmt(o, ",\n  \"%s\": ", name);
}

static void count(mn_out *o, const char *name, uint64_t v)
{
    key(o, name);
    mn_out_fmt(o, "%" PRIu64, v);
}

static void number(mn_out *o, const char *name, double v)
{
    if (isnan(v)) return;
    key(o, name);
    mn_out_number(o, v, true);   // GGUF has it as f32
}

static void whole(mn_out *o, const char *name, double v)
{
    if (!isnan(v)) count(o, name, (uint64_t)v);
}

static void text(mn_out *o, const char *name, const char *v)
{
    key(o, name);
    mn_out_json(o, mn_str_of(v));
}

static void truth(mn_out *o, const char *name, bool v)
{
    key(o, name);
    mn_out_text(o, v ? "true" : "false");
}

static void id(mn_out *o, const char *name, int64_t v)
{
    key(o, name);
    if (v < 0) mn_out_text(o, "null");
    else mn_out_fmt(o, "%" PRId64, v);
}

static void ends(mn_out *o, const mn_hf_config *h)
{
    if (h->n_eos <= 1) {
        id(o, "eos_token_id", h->n_eos ? h->eos[0] : -1);
        return;
    }
    key(o, "eos_token_id");
    for (unsigned i = 0; i < h->n_eos; i++) mn_out_fmt(o, "%s%" PRId64, i ? ", " : "[", h->eos[i]);
    mn_out_text(o, "]");
}

static void rope(mn_out *o, const mn_hf_config *h)
{
    const mn_hf_rope *r = &h->rope;
    number(o, "rope_theta", h->c.rope.theta);
    key(o, "rope_scaling");
    if (strcmp(r->scaling, "none") == 0) {
        mn_out_text(o, "null");
        return;
    }
    mn_out_fmt(o, "{\"rope_type\": \"%s\"", r->scaling);
    number(o, "factor", r->factor);
    if (strcmp(r->scaling, "linear") != 0) {
        count(o, "original_max_position_embeddings", (uint64_t)r->original);
    }
    if (strcmp(r->scaling, "llama3") == 0) {
        number(o, "low_freq_factor", r->low);
        number(o, "high_freq_factor", r->high);
    }
    if (strcmp(r->scaling, "yarn") == 0) {
        number(o, "beta_fast", r->fast);
        number(o, "beta_slow", r->slow);
        if (r->attention != 1.0) {
            number(o, "attention_factor", r->attention * (1.0 + 0.1 * log(r->factor)));
        }
    }
    mn_out_text(o, "}");
}

void mn_hf_config_write(mn_out *o, const mn_hf_config *h, const char *dtype, bool biases)
{
    const mn_config  *c = &h->c;
    const mn_hf_arch *a = mn_hf_arch_of(c->arch->name);
    mn_out_fmt(o, "{\n  \"architectures\": [\"%s\"]", a->class_name);
    text(o, "model_type", a->model_type);
    text(o, "torch_dtype", dtype);
    count(o, "vocab_size", c->V);
    count(o, "hidden_size", c->D);
    count(o, "intermediate_size", c->F);
    count(o, "num_hidden_layers", c->L);
    count(o, "num_attention_heads", c->H);
    count(o, "num_key_value_heads", c->K);
    count(o, "head_dim", c->P);
    count(o, "max_position_embeddings", c->n_ctx_train);
    number(o, "rms_norm_eps", (double)c->eps);
    rope(o, h);
    text(o, "hidden_act", "silu");
    truth(o, "attention_bias", biases);
    number(o, "attention_dropout", 0.0);
    truth(o, "tie_word_embeddings", h->tied);
    id(o, "bos_token_id", h->bos);
    ends(o, h);
    id(o, "pad_token_id", h->pad);
    truth(o, "use_cache", true);
    mn_out_text(o, "\n}\n");
}

void mn_hf_generation_write(mn_out *o, const mn_hf_config *h)
{
    mn_out_text(o, "{\n  \"_from_model_config\": false");
    id(o, "bos_token_id", h->bos);
    ends(o, h);
    id(o, "pad_token_id", h->pad);
    if (!isnan(h->temp) || !isnan(h->top_k) || !isnan(h->top_p)) {
        truth(o, "do_sample", isnan(h->temp) || h->temp > 0.0);
    }
    number(o, "temperature", h->temp);
    whole(o, "top_k", h->top_k);
    number(o, "top_p", h->top_p);
    number(o, "min_p", h->min_p);
    number(o, "repetition_penalty", h->repeat);
    mn_out_text(o, "\n}\n");
}
