/* SPDX-License-Identifier: Apache-2.0
 *
 * attn.c - attention of G query vectors over one kv head's cache, the specification.
 *
 *      s[j] = sum16(q k[j]) * scale * ks[j]         16 partial sums over the head dimension
 *      p[j] = exp(s[j] - max s)                     Z = sum16(p)
 *      o[i] = (sum_j p[j] vs[j] v[j][i]) * (1 / Z)  in order of j
 */
#include "kernel/scalar/math.h"
#include "kernel/scalar/scalar.h"

enum { MAX_P = 256 };

typedef void widen_fn(float *y, const void *row, size_t P);

static void widen_f16(float *y, const void *row, size_t P)
{
    const uint16_t *h = row;
    for (size_t i = 0; i < P; i++) y[i] = mn_f16_to_f32(h[i]);
}

static void widen_i8(float *y, const void *row, size_t P)
{
    const int8_t *q = row;
    for (size_t i = 0; i < P; i++) y[i] = (float)q[i];
}

/* Scores to unnormalised weights in place; returns 1 / their sum. */
static float softmax(float *s, size_t n)
{
    float max = -INFINITY, acc[16] = { 0 };
    for (size_t j = 0; j < n; j++) max = s[j] > max ? s[j] : max;
    for (size_t j = 0; j < n; j++) {
        s[j] = mn_exp(s[j] - max);
        acc[j & 15] += s[j];
    }
    return 1.0f / mn_sum16(acc);
}

static void attend(float *o, size_t ldo, const float *q, size_t ldq, const mn_kv_head *kv,
                   size_t n, size_t G, size_t P, float scale, float *scratch, widen_fn *widen)
{
    const size_t ld = (n + 63) / 64 * 64;
    float        row[MAX_P];

    for (size_t j = 0; j < n; j++) {
        const float f = kv->ks ? kv->ks[j] * scale : scale;
        widen(row, (const char *)kv->k + j * kv->stride_k, P);
        for (size_t g = 0; g < G; g++) {
            float acc[16] = { 0 };
            for (size_t i = 0; i < P; i++) acc[i & 15] = fmaf(q[g * ldq + i], row[i], acc[i & 15]);
            scratch[g * ld + j] = mn_sum16(acc) * f;
        }
    }
    for (size_t g = 0; g < G; g++) {
        float      *p = scratch + g * ld, *og = o + g * ldo;
        const float r = softmax(p, n);
        memset(og, 0, P * sizeof *og);
        for (size_t j = 0; j < n; j++) {
            const float w = kv->vs ? p[j] * kv->vs[j] : p[j];
            widen(row, (const char *)kv->v + j * kv->stride_v, P);
            for (size_t i = 0; i < P; i++) og[i] = fmaf(w, row[i], og[i]);
        }
        for (size_t i = 0; i < P; i++) og[i] *= r;
    }
}

void mn_attn_f16__scalar(float *o, size_t ldo, const float *q, size_t ldq, const mn_kv_head *kv,
                         size_t n, size_t G, size_t P, float scale, float *scratch)
{
    mn_kv_head f16 = *kv;
    f16.ks = f16.vs = NULL;   // halves have no scales
    attend(o, ldo, q, ldq, &f16, n, G, P, scale, scratch, widen_f16);
}

void mn_attn_i8__scalar(float *o, size_t ldo, const float *q, size_t ldq, const mn_kv_head *kv,
                        size_t n, size_t G, size_t P, float scale, float *scratch)
{
    attend(o, ldo, q, ldq, kv, n, G, P, scale, scratch, widen_i8);
}
