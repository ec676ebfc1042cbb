/* SPDX-License-Identifier: Apache-2.0
 *
 * attn_avx2.c - attention of the query vectors that share a kv head: the plan of attn_avx512.c with
 * 8 positions at a time and sums for 16 outputs of up to 4 query vectors in registers.
 */
#include "kernel/scalar/attn_groups.h"
#include "kernel/x86/x86.h"

#ifdef __AVX2__
#include <stdbool.h>

#include "kernel/x86/avx2.h"

#define INLINE static inline __attribute__((always_inline))

enum { MAX_P = 256, GROUP = 4 };

/* 8 values of a row from index i, widened.  P is a multiple of 8, so there are no tails. */
INLINE __m256 widen(const char *row, size_t i, bool i8)
{
    if (i8)
        return _mm256_cvtepi32_ps(
            _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(row + i))));
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(row + 2 * i)));
}

/* s[g][j] for j < n; -inf up to the next multiple of 16. */
INLINE void scores(float *s, size_t ld, const float *q, size_t ldq, const mn_kv_head *kv, size_t n,
                   size_t G, size_t P, float scale, bool i8)
{
    __m256 product[GROUP][8], key[MAX_P / 8];

    for (size_t j0 = 0; j0 < (n + 15) / 16 * 16; j0 += 8) {
        for (size_t k = 0; k < 8; k++) {
            const size_t place = j0 + 4 * (k & 1) + (k >> 1);   // see mn_sum8x8_avx2
            const char  *row = (const char *)kv->k + (place < n ? place : n - 1) * kv->stride_k;
            for (size_t i = 0; i < P; i += 8) key[i / 8] = widen(row, i, i8);
            for (size_t g = 0; g < G; g++) {
                __m256 lo = _mm256_setzero_ps(), hi = lo;
                for (size_t i = 0; i < P; i += 16) {
                    const float *v = q + g * ldq + i;
                    lo = _mm256_fmadd_ps(_mm256_loadu_ps(v), key[i / 8], lo);
                    if (i + 8 < P) hi = _mm256_fmadd_ps(_mm256_loadu_ps(v + 8), key[i / 8 + 1], hi);
                }
                product[g][k] = _mm256_add_ps(lo, hi);
            }
        }
        const size_t  left = j0 < n ? n - j0 : 0;
        const __m256i m = mn_tail8(left);
        __m256        f = _mm256_set1_ps(scale);
        if (i8) f = _mm256_mul_ps(mn_load8(left ? kv->ks + j0 : kv->ks, left), f);
        for (size_t g = 0; g < G; g++) {
            const __m256 v = _mm256_mul_ps(mn_sum8x8_avx2(product[g]), f);
            _mm256_storeu_ps(s + g * ld + j0, _mm256_blendv_ps(_mm256_set1_ps(-INFINITY), v,
                                                               _mm256_castsi256_ps(m)));
        }
    }
}

/* Scores to weights in place, times vs if there is one; returns 1 / their sum. */
static float softmax(float *s, const float *vs, size_t n)
{
    __m256 top = _mm256_set1_ps(-INFINITY), sum[2] = { _mm256_setzero_ps(), _mm256_setzero_ps() };
    for (size_t j = 0; j < n; j += 8) top = _mm256_max_ps(_mm256_loadu_ps(s + j), top);

    top = _mm256_set1_ps(mn_max8_avx2(top));
    for (size_t j = 0; j < n; j += 8) {
        __m256 p = mn_exp_avx2(_mm256_sub_ps(_mm256_loadu_ps(s + j), top));
        sum[j >> 3 & 1] = _mm256_add_ps(sum[j >> 3 & 1], p);
        if (vs) p = _mm256_mul_ps(p, mn_load8(vs + j, n - j));
        _mm256_storeu_ps(s + j, p);
    }
    return 1.0f / mn_sum16_avx2(sum[0], sum[1]);
}

/* o[g][i0 ..] for G query vectors and `width` vectors of 8. */
INLINE void mix(float *o, size_t ldo, const float *p, size_t ld, const float *norm,
                const mn_kv_head *kv, size_t n, size_t G, size_t i0, size_t width, bool i8)
{
    __m256 acc[GROUP][2];
    MN_UNROLL
    for (size_t g = 0; g < G; g++)
        MN_UNROLL
        for (size_t c = 0; c < width; c++) acc[g][c] = _mm256_setzero_ps();

    const char *row = kv->v;
    for (size_t j = 0; j < n; j++, row += kv->stride_v)
        MN_UNROLL
        for (size_t c = 0; c < width; c++) {
            const __m256 v = widen(row, i0 + 8 * c, i8);
            MN_UNROLL
            for (size_t g = 0; g < G; g++)
                acc[g][c] = _mm256_fmadd_ps(_mm256_set1_ps(p[g * ld + j]), v, acc[g][c]);
        }
    MN_UNROLL
    for (size_t g = 0; g < G; g++)
        MN_UNROLL
        for (size_t c = 0; c < width; c++)
            _mm256_storeu_ps(o + g * ldo + i0 + 8 * c,
                             _mm256_mul_ps(acc[g][c], _mm256_set1_ps(norm[g])));
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

MN_ATTN_FAMILY(avx2)
#endif
