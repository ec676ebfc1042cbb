/* SPDX-License-Identifier: Apache-2.0
 *
 * rope_read.c - the frequencies of rotary positions, and the four ways to stretch them.
 *
 *      none      f_i = theta^(-2i/n)                                          i < n/2
 *      linear    f_i / factor
 *      llama3    f_i / factor for long waves, f_i for short ones, a blend between; files usually
 *                carry the divisors ready-made in a tensor, rope_freqs.weight
 *      yarn      the same idea with the borders given in turns over the original context, and the
 *                rotated vectors scaled by 1 + ln(factor) / 10
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/cursor.h"
#include "kernel/kernels.h"
#include "model/config.h"

static const double PI = 3.14159265358979323846;

enum { KEY = 96 };   // "qwen3.rope.scaling.original_context_length" and some room

static mnw_status number(const mn_content *f, const mn_config *c, const char *name, double fallback,
                         double min, double max, double *out, mn_err *err)
{
    char key[KEY];
    snprintf(key, sizeof key, "%s.rope.%s", c->arch->name, name);
    MN_TRY(mn_meta_f64(f, key, fallback, out, err));
    MN_FAIL_IF(!(*out >= min && *out <= max), err, MNW_E_FORMAT, "%s: %g, expected %g to %g", key,
               *out, min, max);
    return MNW_OK;
}

/* 0 below `low`, 1 above `high`, a line between. */
static double ramp(double x, double low, double high)
{
    const double r = (x - low) / (high - low);
    return r < 0.0 ? 0.0 : r > 1.0 ? 1.0 : r;
}

static mnw_status scale_llama3(const mn_content *f, const mn_config *c, double factor,
                               double context, float *freq, mn_err *err)
{
    double low, high;
    MN_TRY(number(f, c, "scaling.low_freq_factor", 1.0, 1e-3, 1e6, &low, err));
    MN_TRY(number(f, c, "scaling.high_freq_factor", 4.0, 1e-3, 1e6, &high, err));
    MN_FAIL_IF(!(low < high), err, MNW_E_FORMAT,
               "%s.rope.scaling: low_freq_factor %g, expected less than high_freq_factor %g",
               c->arch->name, low, high);
    for (uint32_t i = 0; i < c->rope.n / 2; i++) {
        const double turns = context * (double)freq[i] / (2.0 * PI);   // over the original context
        const double keep = ramp(turns, low, high);
        freq[i] = (float)((double)freq[i] * (keep + (1.0 - keep) / factor));
    }
    return MNW_OK;
}

/* The (real-valued) pair that makes `turns` turns over the original context. */
static double yarn_pair(const mn_rope *r, double turns, double context)
{
    return r->n * log(context / (turns * 2.0 * PI)) / (2.0 * log(r->theta));
}

static mnw_status scale_yarn(const mn_content *f, mn_config *c, double factor, double context,
                             float *freq, mn_err *err)
{
    double   fast, slow, attention;
    mn_rope *r = &c->rope;
    MN_TRY(number(f, c, "scaling.yarn_beta_fast", 32.0, 1e-3, 1e6, &fast, err));
    MN_TRY(number(f, c, "scaling.yarn_beta_slow", 1.0, 1e-3, 1e6, &slow, err));
    MN_TRY(number(f, c, "scaling.attn_factor", 1.0, 1e-3, 1e3, &attention, err));

    const double low = fmax(floor(yarn_pair(r, fast, context)), 0.0);
    double       high = fmin(ceil(yarn_pair(r, slow, context)), r->n - 1.0);
    if (high <= low) high = low + 1e-3;
    for (uint32_t i = 0; i < r->n / 2; i++) {
        const double stretch = ramp(i, low, high);
        freq[i] = (float)((double)freq[i] * (stretch / factor + (1.0 - stretch)));
    }
    r->scale = (float)(attention * (1.0 + 0.1 * log(factor)));
    return MNW_OK;
}

/* Divide by the divisors of rope_freqs.weight; false if the file has none. */
static mnw_status divide(const mn_content *f, const mn_config *c, float *freq, bool *found,
                         mn_err *err)
{
    const char      *name = "rope_freqs.weight";
    const mn_tensor *t = mn_tensor_find(f, mn_str_of(name));
    *found = t != NULL;
    if (!t) return MNW_OK;
    MN_FAIL_IF(t->type->id != MN_F32, err, MNW_E_UNSUPPORTED, "%s: type %s, expected f32", name,
               t->type->name);
    MN_FAIL_IF(t->n_dims != 1 || t->dim[0] != c->rope.n / 2, err, MNW_E_FORMAT,
               "%s: %u dimensions, the first %" PRIu64 ", expected one of %u", name, t->n_dims,
               t->dim[0], c->rope.n / 2);
    for (uint32_t i = 0; i < c->rope.n / 2; i++) {
        const float by = mn_load_f32(t->data + 4 * (size_t)i);
        MN_FAIL_IF(!(by >= 1e-3f && by <= 1e6f), err, MNW_E_FORMAT,
                   "%s: value %u is %g, expected 0.001 to 1e6", name, i, (double)by);
        freq[i] /= by;
    }
    return MNW_OK;
}

mnw_status mn_rope_read(const mn_content *f, mn_pages *mem, mn_config *c, mn_err *err)
{
    mn_rope *r = &c->rope;
    char     key[KEY];
    uint64_t n;
    snprintf(key, sizeof key, "%s.rope.dimension_count", c->arch->name);
    MN_TRY(mn_meta_u64(f, key, c->P, c->P, &n, err));
    MN_FAIL_IF(n == 0 || n % 2 != 0, err, MNW_E_FORMAT,
               "%s: %" PRIu64 ", expected an even number from 2 to the head's %u", key, n, c->P);
    r->n = (uint32_t)n;
    r->scale = 1.0f;
    r->scaling = "none";
    r->factor = 1.0;
    MN_TRY(number(f, c, "freq_base", 10000.0, 1.0 + 1e-6, 1e12, &r->theta, err));

    float *freq = mn_pages_push(mem, r->n / 2, sizeof *freq);
    MN_FAIL_IF(!freq, err, MNW_E_NOMEM, "rotary frequencies");
    r->freq = freq;
    for (uint32_t i = 0; i < r->n / 2; i++) freq[i] = (float)pow(r->theta, -2.0 * i / r->n);

    mn_str type;
    snprintf(key, sizeof key, "%s.rope.scaling.type", c->arch->name);
    MN_TRY(mn_meta_str(f, key, mn_str_of("none"), &type, err));
    double context;
    MN_TRY(number(f, c, "scaling.factor", 1.0, 1.0, 1e6, &r->factor, err));
    MN_TRY(number(f, c, "scaling.original_context_length", c->n_ctx_train, 1.0, MN_MAX_CTX,
                  &context, err));

    bool divided;
    MN_TRY(divide(f, c, freq, &divided, err));
    if (divided) {
        MN_FAIL_IF(mn_str_is(type, "yarn") || mn_str_is(type, "linear"), err, MNW_E_UNSUPPORTED,
                   "%s: %.*s together with rope_freqs.weight, expected one of them", key,
                   MN_STR(type));
        r->scaling = "llama3";
        return MNW_OK;
    }
    if (mn_str_is(type, "none")) return MNW_OK;
    if (mn_str_is(type, "linear")) {
        r->scaling = "linear";
        for (uint32_t i = 0; i < r->n / 2; i++) freq[i] = (float)((double)freq[i] / r->factor);
        return MNW_OK;
    }
    if (mn_str_is(type, "llama3")) {
        r->scaling = "llama3";
        return scale_llama3(f, c, r->factor, context, freq, err);
    }
    if (mn_str_is(type, "yarn")) {
        r->scaling = "yarn";
        return scale_yarn(f, c, r->factor, context, freq, err);
    }
    MN_FAIL(err, MNW_E_UNSUPPORTED, "%s: \"%.*s\", minnow knows none, linear, llama3, yarn", key,
            MN_STR(type));
}
