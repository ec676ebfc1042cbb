/* SPDX-License-Identifier: Apache-2.0
 *
 * quantize.c - any float row to any type of GGUF files, and what was lost, measured by the decoder itself.
 */
#include "kernel/quantize.h"

#include <math.h>
#include <string.h>

#include "kernel/kernels.h"
#include "kernel/quantize_fit.h"

enum { LONGEST = 256 };   // values of the largest block

static mn_encode_fn *encoder(mn_dtype_id type)
{
    switch (type) {
    case MN_Q4_0: return mn_encode_q4_0;
    case MN_Q4_1: return mn_encode_q4_1;
    case MN_Q5_0: return mn_encode_q5_0;
    case MN_Q5_1: return mn_encode_q5_1;
    case MN_Q8_0: return mn_encode_q8_0;
    case MN_Q4_K: return mn_encode_q4_k;
    case MN_Q5_K: return mn_encode_q5_k;
    case MN_Q6_K: return mn_encode_q6_k;
    default: return NULL;
    }
}

static bool is_float(mn_dtype_id type)
{
    return type == MN_F32 || type == MN_F16 || type == MN_BF16;
}

bool mn_can_quantize(mn_dtype_id type)
{
    return is_float(type) || encoder(type);
}

static bool all_finite(const float *w, size_t n)
{
    bool finite = true;
    for (size_t i = 0; i < n; i++) finite &= isfinite(w[i]) != 0;
    return finite;
}

static void encode_floats(uint8_t *p, mn_dtype_id type, const float *w, size_t n)
{
    if (type == MN_F32) memcpy(p, w, n * sizeof *w);
    for (size_t i = 0; i < n && type == MN_F16; i++) mn_fit_half(p + 2 * i, w[i]);
    for (size_t i = 0; i < n && type == MN_BF16; i++) {
        const uint16_t bits = mn_f32_to_bf16(w[i]);
        p[2 * i] = (uint8_t)bits;
        p[2 * i + 1] = (uint8_t)(bits >> 8);
    }
}

static void encode_block(uint8_t *p, mn_encode_fn *encode, const float *w, const float *importance, size_t n)
{
    static const float NONE[LONGEST];
    float              one[LONGEST], total = 0.0f;
    for (size_t i = 0; i < n; i++) {
        one[i] = 1.0f;
        total += importance ? importance[i] : 0.0f;
    }
    const bool weighted = total > 0.0f && isfinite(total);
    encode(p, all_finite(w, n) ? w : NONE, weighted ? importance : one);
}

static void add_error(mn_qx_error *sum, const float *w, const float *y, const float *importance, size_t n)
{
    if (!all_finite(w, n)) {
        sum->error = NAN;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const double h = importance ? (double)importance[i] : 1.0, miss = (double)w[i] - (double)y[i];
        sum->error += h * miss * miss;
        sum->power += h * (double)w[i] * (double)w[i];
    }
}

void mn_quantize(void *dst, mn_dtype_id type, const float *w, size_t n, const float *importance,
                 mn_qx_error *sum)
{
    const mn_dtype *t = mn_dtype_from_id(type);
    mn_encode_fn   *encode = encoder(type);
    const size_t    step = encode ? t->block : LONGEST;
    uint8_t        *p = dst;
    for (size_t at = 0; at < n; at += step) {
        const size_t m = n - at < step ? n - at : step;
        const float *h = importance ? importance + at : NULL;
        if (encode) encode_block(p, encode, w + at, h, m);
        else encode_floats(p, type, w + at, m);
        if (sum) {
            float y[LONGEST];
            mn_dequantize(y, p, type, m);
            add_error(sum, w + at, y, h, m);
        }
        p += m / t->block * t->block_bytes;
    }
}
