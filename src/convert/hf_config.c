/* SPDX-License-Identifier: Apache-2.0
 *
 * hf_config.c - read config.json and generation_config.json.
 *
 * What changes the arithmetic and is not understood is refused by name: to ignore it would give a
 * fluent, wrong model.
 */
#include "convert/hf_config.h"

#include <inttypes.h>
#include <math.h>

#include "convert/hf_arch.h"
#include "text/json_slot.h"

#define FILE_NAME "config.json: "

typedef struct object {   // a JSON object, and what errors call it
    const mn_json *root;
    const char    *file;
    mn_err        *err;
} object;

static bool given(const mn_json *slot)
{
    mn_json v;
    return mn_json_value(slot, &v) != MN_JSON_NULL;
}

/* A number under `key`; null is as good as nothing. */
static mnw_status number(const object *o, const char *key, double fallback, double min, double max,
                         double *out)
{
    mn_json       v;
    const mn_json slot = mn_json_field(o->root, key);
    *out = fallback;
    if (!given(&slot)) return MNW_OK;
    MN_FAIL_IF(mn_json_value(&slot, &v) != MN_JSON_NUMBER, o->err, MNW_E_FORMAT,
               "%s: %s: not a number", o->file, key);
    *out = mn_json_f64(&v);
    MN_FAIL_IF(!(*out >= min && *out <= max), o->err, MNW_E_FORMAT, "%s: %s: %g, expected %g to %g",
               o->file, key, *out, min, max);
    return MNW_OK;
}

/* A count from 1 to `max`; fallback 0: it must be there. */
static mnw_status count(const object *o, const char *key, int64_t max, uint32_t fallback,
                        uint32_t *out)
{
    mn_json       v;
    int64_t       n;
    const mn_json slot = mn_json_field(o->root, key);
    *out = fallback;
    if (!given(&slot)) {
        MN_FAIL_IF(fallback == 0, o->err, MNW_E_FORMAT, "%s: %s: missing", o->file, key);
        return MNW_OK;
    }
    MN_FAIL_IF(mn_json_value(&slot, &v) != MN_JSON_NUMBER || !mn_json_i64(&v, &n), o->err,
               MNW_E_FORMAT, "%s: %s: not a whole number", o->file, key);
    MN_FAIL_IF(n < 1 || n > max, o->err, MNW_E_FORMAT,
               "%s: %s: %" PRId64 ", expected 1 to %" PRId64, o->file, key, n, max);
    *out = (uint32_t)n;
    return MNW_OK;
}

static bool flag(const object *o, const char *key, bool fallback)
{
    const mn_json slot = mn_json_field(o->root, key);
    return mn_json_bool(&slot, fallback);
}

static const char *show(const mn_json *slot, char buf[64])
{
    mn_json v;
    if (mn_json_value(slot, &v) != MN_JSON_STRING || v.raw.n >= 64) return "?";
    buf[mn_json_text(&v, buf, 63)] = '\0';
    return buf;
}

static mnw_status read_arch(const object *o, mn_config *c)
{
    char          buf[64];
    const mn_json type = mn_json_field(o->root, "model_type");
    const mn_hf_arch *a = mn_hf_arch_of_type(&type);
    MN_FAIL_IF(!a, o->err, MNW_E_UNSUPPORTED, "%s: model_type: \"%s\", minnow converts %s", o->file,
               show(&type, buf), mn_hf_arch_types());
    c->arch = mn_arch_find(mn_str_of(a->arch));

    mn_json       list, first;
    const mn_json classes = mn_json_field(o->root, "architectures");
    if (mn_json_value(&classes, &list) != MN_JSON_ARRAY || !mn_json_element(&list, &first)) {
        return MNW_OK;
    }
    MN_FAIL_IF(!mn_json_is(&first, a->class_name), o->err, MNW_E_UNSUPPORTED,
               "%s: architectures: \"%s\", expected \"%s\"", o->file, show(&first, buf),
               a->class_name);
    return MNW_OK;
}

static mnw_status refuse_variants(const object *o, const mn_hf_config *h)
{
    static const char *const KEYS[] = {
        "quantization_config", "num_experts", "num_local_experts", "attn_logit_softcapping",
        "final_logit_softcapping", "clip_qkv",
    };
    char    buf[64];
    mn_json v;
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
        const mn_json slot = mn_json_field(o->root, KEYS[i]);
        MN_FAIL_IF(given(&slot), o->err, MNW_E_UNSUPPORTED, "%s: %s: minnow runs %s without it",
                   o->file, KEYS[i], h->c.arch->name);
    }
    const mn_json act = mn_json_field(o->root, "hidden_act");
    MN_FAIL_IF(given(&act) && !mn_json_is(&act, "silu"), o->err, MNW_E_UNSUPPORTED,
               "%s: hidden_act: \"%s\", expected \"silu\"", o->file, show(&act, buf));

    /* Qwen's files have the size of a window that they do not use. */
    const mn_json window = mn_json_field(o->root, "sliding_window");
    const mn_json use = mn_json_field(o->root, "use_sliding_window");
    MN_FAIL_IF(mn_json_bool(&use, !given(&use) && given(&window)), o->err, MNW_E_UNSUPPORTED,
               "%s: sliding_window: minnow runs %s without it", o->file, h->c.arch->name);
    const mn_json layers = mn_json_field(o->root, "layer_types");
    if (mn_json_value(&layers, &v) == MN_JSON_ARRAY) {
        mn_json type;
        while (mn_json_element(&v, &type)) {
            MN_FAIL_IF(!mn_json_is(&type, "full_attention"), o->err, MNW_E_UNSUPPORTED,
                       "%s: layer_types: \"%s\", expected \"full_attention\"", o->file,
                       show(&type, buf));
        }
    }
    double part;
    MN_TRY(number(o, "partial_rotary_factor", 1.0, 0.0, 1.0, &part));
    MN_FAIL_IF(part != 1.0, o->err, MNW_E_UNSUPPORTED, "%s: partial_rotary_factor: %g, expected 1",
               o->file, part);
    return MNW_OK;
}

static mnw_status read_shape(const object *o, mn_config *c)
{
    double eps;
    MN_TRY(count(o, "num_hidden_layers", MN_MAX_LAYERS, 0, &c->L));
    MN_TRY(count(o, "hidden_size", MN_MAX_EMBD, 0, &c->D));
    MN_TRY(count(o, "intermediate_size", MN_MAX_FF, 0, &c->F));
    MN_TRY(count(o, "vocab_size", MN_MAX_VOCAB, 0, &c->V));
    MN_TRY(count(o, "max_position_embeddings", MN_MAX_CTX, 0, &c->n_ctx_train));
    MN_TRY(count(o, "num_attention_heads", MN_MAX_HEADS, 0, &c->H));
    MN_TRY(count(o, "num_key_value_heads", MN_MAX_HEADS, c->H, &c->K));
    MN_FAIL_IF(c->H % c->K != 0, o->err, MNW_E_FORMAT,
               "%s: num_attention_heads: %u, expected a multiple of num_key_value_heads, %u",
               o->file, c->H, c->K);
    MN_TRY(count(o, "head_dim", 65536, c->D / c->H ? c->D / c->H : 1, &c->P));
    MN_FAIL_IF(c->P > MN_MAX_HEAD_DIM || c->P % MN_HEAD_DIM_STEP != 0, o->err, MNW_E_UNSUPPORTED,
               "%s: heads of %u values, minnow runs multiples of %d up to %d", o->file, c->P,
               MN_HEAD_DIM_STEP, MN_MAX_HEAD_DIM);
    MN_TRY(number(o, "rms_norm_eps", 1e-6, 1e-12, 0.1, &eps));
    c->eps = (float)eps;
    c->rope.n = c->P;
    c->rope.scale = 1.0f;
    return MNW_OK;
}

static mnw_status read_scaling(const object *o, mn_hf_config *h)
{
    char        buf[64];
    mn_hf_rope *r = &h->rope;
    mn_json     type = mn_json_field(o->root, "rope_type");
    if (!given(&type)) type = mn_json_field(o->root, "type");
    r->scaling = "none";
    r->factor = 1.0;
    if (!given(&type) || mn_json_is(&type, "default")) return MNW_OK;
    static const char *const KNOWN[] = { "linear", "llama3", "yarn" };
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        if (mn_json_is(&type, KNOWN[i])) r->scaling = KNOWN[i];
    }
    MN_FAIL_IF(r->scaling[0] == 'n', o->err, MNW_E_UNSUPPORTED,
               "%s: type \"%s\", minnow knows default, linear, llama3, yarn", o->file,
               show(&type, buf));
    MN_TRY(number(o, "factor", 0.0, 1.0, 1e6, &r->factor));
    MN_FAIL_IF(r->factor == 0.0, o->err, MNW_E_FORMAT, "%s: factor: missing", o->file);
    MN_TRY(number(o, "original_max_position_embeddings", 0.0, 1.0, MN_MAX_CTX, &r->original));
    MN_TRY(number(o, "low_freq_factor", 1.0, 1e-3, 1e6, &r->low));
    MN_TRY(number(o, "high_freq_factor", 4.0, 1e-3, 1e6, &r->high));
    MN_FAIL_IF(r->low >= r->high, o->err, MNW_E_FORMAT,
               "%s: low_freq_factor: %g, expected less than high_freq_factor, %g", o->file, r->low,
               r->high);
    MN_TRY(number(o, "beta_fast", 32.0, 1e-3, 1e6, &r->fast));
    MN_TRY(number(o, "beta_slow", 1.0, 1e-3, 1e6, &r->slow));
    const double own = 1.0 + 0.1 * log(r->factor);
    MN_TRY(number(o, "attention_factor", own, 1e-3, 1e3, &r->attention));
    r->attention = r->attention == own ? 1.0 : r->attention / own;
    const mn_json scale = mn_json_field(o->root, "mscale");
    MN_FAIL_IF(given(&scale) || !flag(o, "truncate", true), o->err, MNW_E_UNSUPPORTED,
               "%s: mscale and truncate: minnow knows yarn without them", o->file);
    return MNW_OK;
}

/* Older files have rope_theta and rope_scaling, newer ones rope_parameters for both. */
static mnw_status read_rope(const object *o, mn_hf_config *h)
{
    mn_rope *r = &h->c.rope;
    MN_TRY(number(o, "rope_theta", 10000.0, 1.0 + 1e-6, 1e12, &r->theta));
    mn_json scaling = mn_json_field(o->root, "rope_scaling");
    object  inner = { &scaling, FILE_NAME "rope_scaling", o->err };
    if (!given(&scaling)) {
        scaling = mn_json_field(o->root, "rope_parameters");
        inner.file = FILE_NAME "rope_parameters";
    }
    MN_TRY(number(&inner, "rope_theta", r->theta, 1.0 + 1e-6, 1e12, &r->theta));
    MN_TRY(read_scaling(&inner, h));
    r->scaling = h->rope.scaling;
    r->factor = h->rope.factor;
    if (h->rope.original == 0.0) h->rope.original = h->c.n_ctx_train;
    return MNW_OK;
}

static void read_id(const object *o, const char *key, int64_t *out)
{
    mn_json       v;
    const mn_json slot = mn_json_field(o->root, key);
    if (mn_json_value(&slot, &v) == MN_JSON_NUMBER && !mn_json_i64(&v, out)) *out = -1;
}

static void add_end(mn_hf_config *h, const mn_json *v)
{
    int64_t id;
    if (!mn_json_i64(v, &id) || id < 0 || h->n_eos == MN_HF_ENDS) return;
    for (unsigned i = 0; i < h->n_eos; i++) {
        if (h->eos[i] == id) return;
    }
    h->eos[h->n_eos++] = id;
}

/* One id or a list of them. */
static void read_ends(const object *o, mn_hf_config *h)
{
    mn_json             v;
    const mn_json       slot = mn_json_field(o->root, "eos_token_id");
    const mn_json_event event = mn_json_value(&slot, &v);
    if (event == MN_JSON_NUMBER) add_end(h, &v);
    if (event != MN_JSON_ARRAY) return;
    while (mn_json_next(&v) == MN_JSON_NUMBER) add_end(h, &v);
}

static mnw_status read_generation(const object *o, mn_hf_config *h)
{
    MN_TRY(number(o, "temperature", NAN, 0.0, 1e6, &h->temp));
    MN_TRY(number(o, "top_k", NAN, 0.0, 1e9, &h->top_k));
    MN_TRY(number(o, "top_p", NAN, 0.0, 1.0, &h->top_p));
    MN_TRY(number(o, "min_p", NAN, 0.0, 1.0, &h->min_p));
    MN_TRY(number(o, "repetition_penalty", NAN, 0.0, 1e6, &h->repeat));
    read_ends(o, h);
    read_id(o, "bos_token_id", &h->bos);
    read_id(o, "pad_token_id", &h->pad);
    return MNW_OK;
}

mnw_status mn_hf_config_read(mn_bytes config, mn_bytes generation, mn_hf_config *h, mn_err *err)
{
    mn_json      root, gen;
    const object o = { &root, "config.json", err }, g = { &gen, "generation_config.json", err };
    *h = (mn_hf_config){ .bos = -1, .pad = -1, .temp = NAN, .top_k = NAN, .top_p = NAN, .min_p = NAN,
                         .repeat = NAN };
    MN_TRY(mn_json_document(config, "config.json", &root, err));
    MN_TRY(read_arch(&o, &h->c));
    MN_TRY(read_shape(&o, &h->c));
    MN_TRY(refuse_variants(&o, h));
    MN_TRY(read_rope(&o, h));
    h->tied = flag(&o, "tie_word_embeddings", false);
    read_ends(&o, h);
    read_id(&o, "bos_token_id", &h->bos);
    read_id(&o, "pad_token_id", &h->pad);
    if (generation.n == 0) return MNW_OK;
    MN_TRY(mn_json_document(generation, "generation_config.json", &gen, err));
    return read_generation(&g, h);
}
