/* SPDX-License-Identifier: Apache-2.0
 *
 * hf_gguf.c - a model's configuration as items of a GGUF file, and back.
 *
 * llama3's way to stretch positions has no type in GGUF: files carry the divisors of the frequencies
 * in rope_freqs.weight.  We add the numbers they come from, so that they can be told again; where they are
 * missing, the usual ones are tried.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/cursor.h"
#include "convert/hf_config.h"

static const double PI = 3.14159265358979323846;

enum { KEY = 96 };

typedef struct keys {   // "<architecture>.<name>"
    const char *arch;
    char        text[KEY];
} keys;

static const char *key(keys *k, const char *name)
{
    snprintf(k->text, sizeof k->text, "%s.%s", k->arch, name);
    return k->text;
}

/* Sampling defaults: X(field, key) */
#define SAMPLING_LIST(X)                          \
    X(temp, "general.sampling.temp")              \
    X(top_p, "general.sampling.top_p")            \
    X(min_p, "general.sampling.min_p")            \
    X(repeat, "general.sampling.penalty_repeat")

static void put_rope(const mn_hf_config *h, keys *k, mn_gguf_writer *w)
{
    const mn_hf_rope *r = &h->rope;
    const bool        llama3 = strcmp(r->scaling, "llama3") == 0, yarn = strcmp(r->scaling, "yarn") == 0;
    mn_gguf_set_u32(w, key(k, "rope.dimension_count"), h->c.rope.n);
    mn_gguf_set_f32(w, key(k, "rope.freq_base"), (float)h->c.rope.theta);
    if (strcmp(r->scaling, "none") == 0) return;
    if (!llama3) {   // readers that see a factor without a type take it for linear
        mn_gguf_set_str(w, key(k, "rope.scaling.type"), mn_str_of(r->scaling));
        mn_gguf_set_f32(w, key(k, "rope.scaling.factor"), (float)r->factor);
    }
    if (llama3 || yarn) {
        mn_gguf_set_u32(w, key(k, "rope.scaling.original_context_length"), (uint32_t)r->original);
    }
    if (llama3) {
        mn_gguf_set_f32(w, key(k, "rope.scaling.low_freq_factor"), (float)r->low);
        mn_gguf_set_f32(w, key(k, "rope.scaling.high_freq_factor"), (float)r->high);
    }
    if (!yarn) return;
    mn_gguf_set_f32(w, key(k, "rope.scaling.yarn_beta_fast"), (float)r->fast);
    mn_gguf_set_f32(w, key(k, "rope.scaling.yarn_beta_slow"), (float)r->slow);
    if (r->attention != 1.0) {
        mn_gguf_set_f32(w, key(k, "rope.scaling.attn_factor"), (float)r->attention);
    }
}

void mn_hf_config_to_gguf(const mn_hf_config *h, mn_gguf_writer *w)
{
    const mn_config *c = &h->c;
    keys             k = { .arch = c->arch->name };
    mn_gguf_set_u32(w, key(&k, "context_length"), c->n_ctx_train);
    mn_gguf_set_u32(w, key(&k, "embedding_length"), c->D);
    mn_gguf_set_u32(w, key(&k, "block_count"), c->L);
    mn_gguf_set_u32(w, key(&k, "feed_forward_length"), c->F);
    mn_gguf_set_u32(w, key(&k, "attention.head_count"), c->H);
    mn_gguf_set_u32(w, key(&k, "attention.head_count_kv"), c->K);
    mn_gguf_set_u32(w, key(&k, "attention.key_length"), c->P);
    mn_gguf_set_u32(w, key(&k, "attention.value_length"), c->P);
    mn_gguf_set_f32(w, key(&k, "attention.layer_norm_rms_epsilon"), c->eps);
    mn_gguf_set_u32(w, key(&k, "vocab_size"), c->V);
    put_rope(h, &k, w);
#define X(field, name) \
    if (!isnan(h->field)) mn_gguf_set_f32(w, name, (float)h->field);
    SAMPLING_LIST(X)
#undef X
    if (!isnan(h->top_k)) {
        mn_gguf_set(w, "general.sampling.top_k", MN_META_I32, &(const int32_t){ (int32_t)h->top_k });
    }
}

static double divisor(const mn_hf_rope *r, double freq)
{
    const double turns = r->original * freq / (2.0 * PI);   // over the original context
    const double keep = fmin(fmax((turns - r->low) / (r->high - r->low), 0.0), 1.0);
    return 1.0 / (keep + (1.0 - keep) / r->factor);
}

void mn_hf_rope_divisors(const mn_hf_config *h, float *out)
{
    const mn_rope *r = &h->c.rope;
    for (uint32_t i = 0; i < r->n / 2; i++) {
        out[i] = (float)divisor(&h->rope, pow(r->theta, -2.0 * i / r->n));
    }
}

/* Do our numbers give the divisors of the file? */
static mnw_status check_divisors(const mn_content *f, const mn_hf_config *h, mn_err *err)
{
    const mn_tensor *t = mn_tensor_find(f, mn_str_of("rope_freqs.weight"));   // mn_rope_read saw it
    for (uint32_t i = 0; i < h->c.rope.n / 2; i++) {
        const double want = divisor(&h->rope, pow(h->c.rope.theta, -2.0 * i / h->c.rope.n));
        const double got = (double)mn_load_f32(t->data + 4 * (size_t)i);
        MN_FAIL_IF(!(fabs(got - want) <= 1e-4 * want), err, MNW_E_UNSUPPORTED,
                   "rope_freqs.weight: value %u is %g, which no numbers of llama3's scaling that "
                   "minnow knows give (%g)", i, got, want);
    }
    return MNW_OK;
}

static mnw_status get(const mn_content *f, keys *k, const char *name, double fallback, double *out,
                      mn_err *err)
{
    return mn_meta_f64(f, key(k, name), fallback, out, err);
}

/* mn_config_read has judged what it uses of these. */
static mnw_status get_rope(const mn_content *f, mn_hf_config *h, keys *k, mn_err *err)
{
    mn_hf_rope *r = &h->rope;
    r->scaling = h->c.rope.scaling;
    r->factor = h->c.rope.factor;
    const mn_tensor *freqs = mn_tensor_find(f, mn_str_of("rope_freqs.weight"));
    const double     usual = freqs ? 8192.0 : h->c.n_ctx_train;
    MN_TRY(get(f, k, "rope.scaling.original_context_length", usual, &r->original, err));
    MN_TRY(get(f, k, "rope.scaling.low_freq_factor", 1.0, &r->low, err));
    MN_TRY(get(f, k, "rope.scaling.high_freq_factor", 4.0, &r->high, err));
    MN_TRY(get(f, k, "rope.scaling.yarn_beta_fast", 32.0, &r->fast, err));
    MN_TRY(get(f, k, "rope.scaling.yarn_beta_slow", 1.0, &r->slow, err));
    MN_TRY(get(f, k, "rope.scaling.attn_factor", 1.0, &r->attention, err));
    MN_FAIL_IF(!(r->low < r->high && r->original > 0.0), err, MNW_E_FORMAT,
               "%s.rope.scaling: low_freq_factor %g, high_freq_factor %g, original_context_length %g",
               k->arch, r->low, r->high, r->original);
    if (!freqs) return MNW_OK;
    r->factor = 1.0;
    for (uint32_t i = 0; i < h->c.rope.n / 2; i++) {
        r->factor = fmax(r->factor, (double)mn_load_f32(freqs->data + 4 * (size_t)i));
    }
    return check_divisors(f, h, err);
}

static mnw_status get_id(const mn_content *f, const char *name, int64_t *out, mn_err *err)
{
    uint64_t v;
    MN_TRY(mn_meta_u64(f, name, INT32_MAX, UINT64_MAX, &v, err));
    *out = v == UINT64_MAX ? -1 : (int64_t)v;
    return MNW_OK;
}

mnw_status mn_hf_config_from_gguf(const mn_content *content, mn_pages *mem, mn_hf_config *h,
                                  mn_err *err)
{
    *h = (mn_hf_config){ .bos = -1, .pad = -1 };
    MN_TRY(mn_config_read(content, mem, &h->c, err));
    MN_FAIL_IF(h->c.rope.n != h->c.P, err, MNW_E_UNSUPPORTED,
               "%s.rope.dimension_count: %u of a head's %u, which config.json cannot say",
               h->c.arch->name, h->c.rope.n, h->c.P);
    keys k = { .arch = h->c.arch->name };
    MN_TRY(get_rope(content, h, &k, err));
    h->tied = !mn_tensor_find(content, mn_str_of("output.weight"));
    MN_TRY(get_id(content, "tokenizer.ggml.bos_token_id", &h->bos, err));
    MN_TRY(get_id(content, "tokenizer.ggml.padding_token_id", &h->pad, err));
    static const char *const ENDS[] = { "tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id" };
    for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++) {
        int64_t id;
        MN_TRY(get_id(content, ENDS[i], &id, err));
        if (id >= 0 && !(h->n_eos && h->eos[0] == id)) h->eos[h->n_eos++] = id;
    }
#define X(field, name) MN_TRY(mn_meta_f64(content, name, NAN, &h->field, err));
    SAMPLING_LIST(X)
#undef X
    MN_TRY(mn_meta_f64(content, "general.sampling.top_k", NAN, &h->top_k, err));
    if (!(h->top_k >= 0.0)) h->top_k = NAN;
    return MNW_OK;
}
