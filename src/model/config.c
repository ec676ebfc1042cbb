/* SPDX-License-Identifier: Apache-2.0
 *
 * config.c - the numbers of a model, read from its metadata and bounded.
 */
#include "model/config.h"

#include <inttypes.h>
#include <stdio.h>

enum { KEY = 96 };

/* A count the file may give under "<architecture>.<name>". */
static mnw_status count(const mn_content *f, const mn_arch *arch, const char *name, uint64_t max,
                        uint64_t fallback, uint32_t *out, mn_err *err)
{
    char key[KEY];
    snprintf(key, sizeof key, "%s.%s", arch->name, name);
    const mn_meta_item *item = mn_meta_find(f, key);
    MN_FAIL_IF(item && item->type == MN_META_ARRAY, err, MNW_E_UNSUPPORTED,
               "%s: an array (layers that differ), expected one number for all layers", key);
    MN_FAIL_IF(!item && fallback == 0, err, MNW_E_FORMAT, "%s: missing", key);

    uint64_t value;
    MN_TRY(mn_meta_u64(f, key, max, fallback, &value, err));
    MN_FAIL_IF(value == 0, err, MNW_E_FORMAT, "%s: 0, expected 1 to %" PRIu64, key, max);
    *out = (uint32_t)value;
    return MNW_OK;
}

static mnw_status find_arch(const mn_content *f, const mn_arch **arch, mn_err *err)
{
    mn_str name;
    MN_FAIL_IF(!mn_meta_find(f, "general.architecture"), err, MNW_E_FORMAT,
               "general.architecture: missing");
    MN_TRY(mn_meta_str(f, "general.architecture", mn_str_of(""), &name, err));
    *arch = mn_arch_find(name);
    MN_FAIL_IF(!*arch, err, MNW_E_UNSUPPORTED, "general.architecture: \"%.*s\", minnow runs %s",
               MN_STR(name), mn_arch_names());
    return MNW_OK;
}

/* Keys that change the arithmetic.  Relatives of a known architecture use them under its name; to
 * ignore one would give a fluent, wrong model. */
static mnw_status refuse_variants(const mn_content *f, const mn_arch *arch, mn_err *err)
{
    static const char *const KEYS[] = {
        "expert_count", "attention.sliding_window", "attention.scale", "attention.clamp_kqv",
        "attn_logit_softcapping", "final_logit_softcapping", "embedding_scale", "residual_scale",
        "logit_scale",
    };
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
        char   key[KEY];
        double value;
        snprintf(key, sizeof key, "%s.%s", arch->name, KEYS[i]);
        const mn_meta_item *item = mn_meta_find(f, key);
        if (!item) continue;
        MN_TRY(mn_meta_f64(f, key, 0.0, &value, err));
        MN_FAIL_IF(value != 0.0, err, MNW_E_UNSUPPORTED, "%s: %g, minnow runs %s without it", key,
                   value, arch->name);
    }
    return MNW_OK;
}

/* The vocabulary is what the embedding has rows for. */
static mnw_status read_vocab(const mn_content *f, mn_config *c, mn_err *err)
{
    const mn_tensor *embd = mn_tensor_find(f, mn_str_of("token_embd.weight"));
    MN_FAIL_IF(!embd, err, MNW_E_FORMAT, "token_embd.weight: missing");
    MN_FAIL_IF(embd->dim[1] > MN_MAX_VOCAB, err, MNW_E_LIMIT,
               "token_embd.weight: %" PRIu64 " rows, at most %d", embd->dim[1], MN_MAX_VOCAB);
    c->V = (uint32_t)embd->dim[1];
    return MNW_OK;
}

static mnw_status read_heads(const mn_content *f, mn_config *c, mn_err *err)
{
    const char *arch = c->arch->name;
    MN_TRY(count(f, c->arch, "attention.head_count", MN_MAX_HEADS, 0, &c->H, err));
    MN_TRY(count(f, c->arch, "attention.head_count_kv", MN_MAX_HEADS, c->H, &c->K, err));
    MN_FAIL_IF(c->H % c->K != 0, err, MNW_E_FORMAT,
               "%s.attention.head_count: %u, expected a multiple of head_count_kv, %u", arch, c->H,
               c->K);

    MN_TRY(count(f, c->arch, "attention.key_length", 65536, c->D / c->H, &c->P, err));
    MN_FAIL_IF(c->P > MN_MAX_HEAD_DIM || c->P % MN_HEAD_DIM_STEP != 0, err, MNW_E_UNSUPPORTED,
               "%s: heads of %u values, minnow runs multiples of %d up to %d", arch, c->P,
               MN_HEAD_DIM_STEP, MN_MAX_HEAD_DIM);
    uint32_t value_length;
    MN_TRY(count(f, c->arch, "attention.value_length", 65536, c->P, &value_length, err));
    MN_FAIL_IF(value_length != c->P, err, MNW_E_UNSUPPORTED,
               "%s.attention.value_length: %u, expected the key_length, %u", arch, value_length,
               c->P);
    return MNW_OK;
}

static mnw_status read_eps(const mn_content *f, mn_config *c, mn_err *err)
{
    char   key[KEY];
    double eps;
    snprintf(key, sizeof key, "%s.attention.layer_norm_rms_epsilon", c->arch->name);
    MN_FAIL_IF(!mn_meta_find(f, key), err, MNW_E_FORMAT, "%s: missing", key);
    MN_TRY(mn_meta_f64(f, key, 0.0, &eps, err));
    MN_FAIL_IF(!(eps > 0.0 && eps <= 0.1), err, MNW_E_FORMAT,
               "%s: %g, expected above 0 and at most 0.1", key, eps);
    c->eps = (float)eps;
    return MNW_OK;
}

/* minnow.exact_inputs: the inputs that a model needs in 15 bits.  One that was trained with int8 activations has an
 * empty list; a file without a list knows nothing about itself, so everything is exact. */
static mnw_status read_exact(const mn_content *f, mn_config *c, mn_err *err)
{
    static const struct {
        const char *name;
        unsigned    bit;
    } INPUT[] = { { "norm", MN_EXACT_H }, { "attn_output", MN_EXACT_O }, { "ffn_down", MN_EXACT_G } };
    const mn_meta_item *list;
    MN_TRY(mn_meta_strings(f, MN_EXACT_KEY, &list, err));
    c->exact = list ? 0 : MN_EXACT_ALL;
    if (!list) return MNW_OK;
    const uint8_t *at = list->data;
    for (uint64_t i = 0; i < list->count; i++) {
        const mn_str name = mn_meta_next_str(list, &at);
        unsigned     bit = 0;
        for (size_t k = 0; k < sizeof INPUT / sizeof *INPUT; k++)
            if (mn_str_is(name, INPUT[k].name)) bit = INPUT[k].bit;
        MN_FAIL_IF(!bit, err, MNW_E_UNSUPPORTED,
                   MN_EXACT_KEY ": \"%.*s\", expected norm, attn_output or ffn_down", MN_STR(name));
        c->exact |= bit;
    }
    return MNW_OK;
}

mnw_status mn_config_read(const mn_content *f, mn_pages *mem, mn_config *c, mn_err *err)
{
    *c = (mn_config){ 0 };
    MN_TRY(find_arch(f, &c->arch, err));
    MN_TRY(refuse_variants(f, c->arch, err));
    MN_TRY(count(f, c->arch, "block_count", MN_MAX_LAYERS, 0, &c->L, err));
    MN_TRY(count(f, c->arch, "embedding_length", MN_MAX_EMBD, 0, &c->D, err));
    MN_TRY(count(f, c->arch, "feed_forward_length", MN_MAX_FF, 0, &c->F, err));
    MN_TRY(count(f, c->arch, "context_length", MN_MAX_CTX, 0, &c->n_ctx_train, err));
    MN_TRY(read_heads(f, c, err));
    MN_TRY(read_eps(f, c, err));
    MN_TRY(read_exact(f, c, err));
    MN_TRY(read_vocab(f, c, err));
    return mn_rope_read(f, mem, c, err);
}
