/* SPDX-License-Identifier: Apache-2.0
 *
 * attn_avx512.c - attention of the query vectors that share a kv head.
 *
 * Scores: the keys of four positions are widened once and held for all query vectors; the sums of 16
 * positions end together in a tree of 15 additions that keeps the canonical order.  Values: up to
 * 7 x 64 outputs stay in registers while all positions pass by.
 */
#include "kernel/scalar/attn_groups.h"
#include "kernel/x86/x86.h"

#ifdef __AVX512VNNI__
#include <stdbool.h>

#include "kernel/x86/avx512.h"

#define INLINE static inline __attribute__((always_inline))

enum { MAX_P = 256, GROUP = 7 };   // query vectors handled together

/* 16 values of a row from index i, widened; lanes outside m are zero and not read. */
INLINE __m512 widen(const char *row, size_t i, __mmask16 m, bool i8)
{
    if (i8)
        return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(m, row + i)));
    return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(m, row + 2 * i));
}

INLINE __mmask16 lanes(size_t i, size_t n)
{
    return n - i < 16 ? mn_tail16(n - i) : 0xffff;
}

/* s[g][j] for j < n; -inf up to the next multiple of 16. */
INLINE void scores(float *s, size_t ld, const float *q, size_t ldq, const mn_kv_head *kv, size_t n,
                   size_t G, size_t P, float scale, bool i8)
{
    __m512 part[GROUP][4], key[4][MAX_P / 16];

    for (size_t j0 = 0; j0 < n; j0 += 16) {
        for (size_t r = 0; r < 4; r++) {
            MN_UNROLL
            for (size_t k = 0; k < 4; k++) {   // positions j0 + r, + 4, + 8, + 12: see mn_sum16_last
                const size_t place = j0 + 4 * k + r < n ? j0 + 4 * k + r : n - 1;
                const char  *row = (const char *)kv->k + place * kv->stride_k;
                MN_UNROLL
                for (size_t i = 0; i < P; i += 16) key[k][i / 16] = widen(row, i, lanes(i, P), i8);
            }
            for (size_t g = 0; g < G; g++) {
                __m512 acc[4];
                MN_UNROLL
                for (size_t k = 0; k < 4; k++) acc[k] = _mm512_setzero_ps();
                MN_UNROLL
                for (size_t i = 0; i < P; i += 16) {
                    const __mmask16 m = lanes(i, P);
                    const __m512    v = _mm512_maskz_loadu_ps(m, q + g * ldq + i);
                    MN_UNROLL
                    for (size_t k = 0; k < 4; k++)
                        acc[k] = _mm512_mask3_fmadd_ps(v, key[k][i / 16], acc[k], m);
                }
                part[g][r] = mn_sum16_first(acc[0], acc[1], acc[2], acc[3]);
            }
        }
        const __mmask16 m = lanes(j0, n);
        __m512          f = _mm512_set1_ps(scale);
        if (i8) f = _mm512_mul_ps(_mm512_maskz_loadu_ps(m, kv->ks + j0), f);
        for (size_t g = 0; g < G; g++) {
            const __m512 v = _mm512_mul_ps(mn_sum16_last(part[g]), f);
            _mm512_storeu_ps(s + g * ld + j0, _mm512_mask_mov_ps(_mm512_set1_ps(-INFINITY), m, v));
        }
    }
}

/* Scores to weights in place, times vs if there is one; returns 1 / their sum. */
static float softmax(float *s, const float *vs, size_t n)
{
    __m512 top = _mm512_set1_ps(-INFINITY), sum = _mm512_setzero_ps();
    for (size_t j = 0; j < n; j += 16) top = _mm512_max_ps(_mm512_loadu_ps(s + j), top);

    top = _mm512_set1_ps(_mm512_reduce_max_ps(top));
    for (size_t j = 0; j < n; j += 16) {
        __m512 p = mn_exp_avx512(_mm512_sub_ps(_mm512_loadu_ps(s + j), top));
        sum = _mm512_add_ps(sum, p);
        if (vs) p = _mm512_mul_ps(p, _mm512_maskz_loadu_ps(lanes(j, n), vs + j));
        _mm512_storeu_ps(s + j, p);
    }
    return 1.0f / mn_sum16_avx512(sum);
}

/* o[g][i0 ..] for G query vectors and `width` vectors of 16, the last cut to m. */
INLINE void mix(float *o, size_t ldo, const float *p, size_t ld, const float *norm,
                const mn_kv_head *kv, size_t n, size_t G, size_t i0, size_t width, __mmask16 m,
                bool i8)
{
    __m512 acc[GROUP][4];
    MN_UNROLL
    for (size_t g = 0; g < G; g++)
        MN_UNROLL
        for (size_t c = 0; c < width; c++) acc[g][c] = _mm512_setzero_ps();

    const char *row = kv->v;
    for (size_t j = 0; j < n; j++, row += kv->stride_v)
        MN_UNROLL
        for (size_t c = 0; c < width; c++) {
            const __m512 v = widen(row, i0 + 16 * c, m, i8);
            MN_UNROLL
            for (size_t g = 0; g < G; g++)
                acc[g][c] = _mm512_fmadd_ps(_mm512_set1_ps(p[g * ld + j]), v, acc[g][c]);
        }
    MN_UNROLL
    for (size_t g = 0; g < G; g++)
        MN_UNROLL
        for (size_t c = 0; c < width; c++)
            _mm512_mask_storeu_ps(o + g * ldo + i0 + 16 * c, m,
                                  _mm512_mul_ps(acc[g][c], _mm512_set1_ps(norm[g])));
}

/* A constant G keeps the sums in registers. */
INLINE void mix_any(float *o, size_t ldo, const float *p, size_t ld, const float *norm,
                    const mn_kv_head *kv, size_t n, size_t G, size_t i0, size_t width, __mmask16 m,
                    bool i8)
{
    switch (G) {
    case 1: mix(o, ldo, p, ld, norm, kv, n, 1, i0, width, m, i8); break;
    case 2: mix(o, ldo, p, ld, norm, kv, n, 2, i0, width, m, i8); break;
    case 3: mix(o, ldo, p, ld, norm, kv, n, 3, i0, width, m, i8); break;
    case 4: mix(o, ldo, p, ld, norm, kv, n, 4, i0, width, m, i8); break;
    case 5: mix(o, ldo, p, ld, norm, kv, n, 5, i0, width, m, i8); break;
    case 6: mix(o, ldo, p, ld, norm, kv, n, 6, i0, width, m, i8); break;
    case 7: mix(o, ldo, p, ld, norm, kv, n, 7, i0, width, m, i8); break;
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
    for (; i + 64 <= P; i += 64)
        mix_any(o, ldo, scratch, ld, norm, kv, n, G, i, 4, 0xffff, i8);
    for (; i < P; i += 16)
        mix_any(o, ldo, scratch, ld, norm, kv, n, G, i, 1, lanes(i, P), i8);
}

MN_ATTN_FAMILY(avx512)
#endif
