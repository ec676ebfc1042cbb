/* SPDX-License-Identifier: Apache-2.0
 *
 * attn_neon.c - attention of the query vectors that share a kv head: the plan of attn_avx512.c with
 * 4 positions at a time and sums for 16 outputs of up to 4 query vectors in registers.
 */
#include "kernel/scalar/attn_groups.h"
#include "kernel/arm/arm.h"

#ifdef __aarch64__
#include <stdbool.h>

#include "kernel/arm/neon.h"

#define INLINE static inline __attribute__((always_inline))

enum { MAX_P = 256, GROUP = 4 };

/* 8 values of a row from index i, widened into two vectors.  P is a multiple of 8. */
INLINE void widen(float32x4_t y[2], const char *row, size_t i, bool i8)
{
    if (i8) {
        const int16x8_t v = vmovl_s8(vld1_s8((const int8_t *)row + i));
        y[0] = vcvtq_f32_s32(vmovl_s16(vget_low_s16(v)));
        y[1] = vcvtq_f32_s32(vmovl_s16(vget_high_s16(v)));
    } else {
        const uint16x8_t v = vld1q_u16((const uint16_t *)(const void *)row + i);
        y[0] = vcvt_f32_f16(vreinterpret_f16_u16(vget_low_u16(v)));
        y[1] = vcvt_f32_f16(vreinterpret_f16_u16(vget_high_u16(v)));
    }
}

/* s[g][j] for j < n; -inf up to the next multiple of 16. */
INLINE void scores(float *s, size_t ld, const float *q, size_t ldq, const mn_kv_head *kv, size_t n,
                   size_t G, size_t P, float scale, bool i8)
{
    float32x4_t product[GROUP][4], key[MAX_P / 4];

    size_t j0 = 0;
    for (; j0 < n; j0 += 4) {
        const size_t left = n - j0 < 4 ? n - j0 : 4;
        for (size_t k = 0; k < 4; k++) {
            const size_t place = k < left ? j0 + k : n - 1;
            const char  *row = (const char *)kv->k + place * kv->stride_k;
            for (size_t i = 0; i < P; i += 8) widen(&key[i / 4], row, i, i8);
            for (size_t g = 0; g < G; g++) {
                const float *v = q + g * ldq;
                float32x4_t  acc[4] = { vdupq_n_f32(0), vdupq_n_f32(0), vdupq_n_f32(0),
                                        vdupq_n_f32(0) };
                size_t       i = 0;
                for (; i + 16 <= P; i += 16)
                    for (size_t c = 0; c < 4; c++)
                        acc[c] = vfmaq_f32(acc[c], vld1q_f32(v + i + 4 * c), key[i / 4 + c]);
                for (size_t c = 0; i < P; i += 4, c++)
                    acc[c] = vfmaq_f32(acc[c], vld1q_f32(v + i), key[i / 4]);
                product[g][k] = mn_sum16_half(acc);
            }
        }
        float32x4_t f = vdupq_n_f32(scale);
        if (i8) f = vmulq_f32(mn_load4(kv->ks + j0, left), f);
        for (size_t g = 0; g < G; g++) {
            vst1q_f32(s + g * ld + j0, vmulq_f32(mn_sum4x4(product[g]), f));
            for (size_t j = j0 + left; j < j0 + 4; j++) s[g * ld + j] = -INFINITY;
        }
    }
    for (; j0 % 16 != 0; j0 += 4)
        for (size_t g = 0; g < G; g++) vst1q_f32(s + g * ld + j0, vdupq_n_f32(-INFINITY));
}

/* Scores to weights in place, times vs if there is one; returns 1 / their sum. */
static float softmax(float *s, const float *vs, size_t n)
{
    float32x4_t top = vdupq_n_f32(-INFINITY), sum[4];
    for (size_t j = 0; j < n; j += 4) top = mn_max4(vld1q_f32(s + j), top);

    top = vdupq_n_f32(vmaxvq_f32(top));
    for (size_t c = 0; c < 4; c++) sum[c] = vdupq_n_f32(0);
    for (size_t j = 0; j < n; j += 16)
        for (size_t c = 0; c < 4; c++) {
            const size_t at = j + 4 * c;
            float32x4_t  p = mn_exp_neon(vsubq_f32(vld1q_f32(s + at), top));
            sum[c] = vaddq_f32(sum[c], p);
            if (vs && at < n) p = vmulq_f32(p, mn_load4(vs + at, n - at));
            vst1q_f32(s + at, p);
        }
    return 1.0f / mn_sum16_neon(sum);
}

/* o[g][i0 ..] for G query vectors and `width` runs of 8. */
INLINE void mix(float *o, size_t ldo, const float *p, size_t ld, const float *norm,
                const mn_kv_head *kv, size_t n, size_t G, size_t i0, size_t width, bool i8)
{
    float32x4_t acc[GROUP][4];
    MN_UNROLL
    for (size_t g = 0; g < G; g++)
        MN_UNROLL
        for (size_t c = 0; c < 2 * width; c++) acc[g][c] = vdupq_n_f32(0);

    const char *row = kv->v;
    for (size_t j = 0; j < n; j++, row += kv->stride_v) {
        float32x4_t v[4];
        MN_UNROLL
        for (size_t c = 0; c < width; c++) widen(&v[2 * c], row, i0 + 8 * c, i8);
        MN_UNROLL
        for (size_t g = 0; g < G; g++)
            MN_UNROLL
            for (size_t c = 0; c < 2 * width; c++)
                acc[g][c] = vfmaq_n_f32(acc[g][c], v[c], p[g * ld + j]);
    }
    MN_UNROLL
    for (size_t g = 0; g < G; g++)
        MN_UNROLL
        for (size_t c = 0; c < 2 * width; c++)
            vst1q_f32(o + g * ldo + i0 + 4 * c, vmulq_n_f32(acc[g][c], norm[g]));
}

/* A constant G keeps the sums in registers. */
INLINE void mix_any(float *o, size_t ldo, const float *p, size_t ld, const float *norm,
                    const mn_kv_head *kv, size_t n, size_t G, size_t i0, size_t width, bool i8)
{
    switch (G) {
    case 1: mix(o, ldo, p, ld, norm, kv, n, 1, i0, width, i8); break;
    case 2: mix(o, ldo, p, ld, norm, kv, n, 2, i0, width, i8); break;
    case 3: mix(o, ldo, p, ld, norm, kv, n, 3, i0, width, i8); break;
    case 4: mix(o, ldo, p, ld, norm, kv, n, 4, i0, width, i8); break;
    }
}

INLINE void attend(float *o, size_t ldo, const float *q, size_t ldq, const mn_kv_head *kv, size_t n,
                   size_t G, size_t P, float scale, float *scratch, bool i8)
{
    const size_t ld = (n + 63) / 64 * 64;
    float        norm[GROUP];

    MN_ATTN_SCORES(scratch, ld, q, ldq, kv, n, G, P, scale, i8);
    for (size_t g = 0; g < G; g++) norm[g] = softmax(scratch + g * ld, i8 ? kv->vs : NULL, n);

    size_t i = 0;
    for (; i + 16 <= P; i += 16) mix_any(o, ldo, scratch, ld, norm, kv, n, G, i, 2, i8);
    if (i < P) mix_any(o, ldo, scratch, ld, norm, kv, n, G, i, 1, i8);
}

MN_ATTN_FAMILY(neon)
#endif
