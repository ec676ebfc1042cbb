/* SPDX-License-Identifier: Apache-2.0
 *
 * avx512.h - the canonical steps of scalar/math.h on 16 lanes.  Static inline only: no AVX-512 copy
 * of a shared function may reach the baseline path.
 */
#ifndef MN_KERNEL_AVX512_H
#define MN_KERNEL_AVX512_H

#ifdef __AVX512VNNI__
#include <immintrin.h>

#include "kernel/scalar/math.h"

/* The first n of 16 lanes, n < 16. */
static inline __mmask16 mn_tail16(size_t n)
{
    return (__mmask16)((1u << n) - 1);
}

static inline __m512 mn_exp_avx512(__m512 x)
{
    const __m512 magic = _mm512_set1_ps(MN_MAGIC);
    const __m512 v = _mm512_min_ps(_mm512_set1_ps(MN_EXP_MAX), x);   // the second if NaN
    const __m512 z = _mm512_fmadd_ps(v, _mm512_set1_ps(MN_LOG2E), magic);
    const __m512 n = _mm512_sub_ps(z, magic);
    const __m512 r = _mm512_fmadd_ps(n, _mm512_set1_ps(-MN_LN2_LO),
                                     _mm512_fmadd_ps(n, _mm512_set1_ps(-MN_LN2_HI), v));
    __m512 p = _mm512_fmadd_ps(_mm512_set1_ps(MN_EXP_C4), r, _mm512_set1_ps(MN_EXP_C3));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(MN_EXP_C2));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(MN_EXP_C1));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(MN_EXP_C0));
    p = _mm512_add_ps(_mm512_fmadd_ps(_mm512_mul_ps(r, r), p, r), _mm512_set1_ps(1.0f));
    const __m512i two_n = _mm512_slli_epi32(
        _mm512_add_epi32(_mm512_castps_si512(z), _mm512_set1_epi32(127)), 23);
    p = _mm512_mul_ps(p, _mm512_castsi512_ps(two_n));
    return _mm512_maskz_mov_ps(
        _mm512_cmp_ps_mask(x, _mm512_set1_ps(MN_EXP_MIN), _CMP_NLT_UQ), p);
}

/* mn_sum16: lanes (i, i + 8), (i, i + 4), (i, i + 2), (i, i + 1). */
static inline float mn_sum16_avx512(__m512 a)
{
    const __m256 b = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
    const __m128 c = _mm_add_ps(_mm256_castps256_ps128(b), _mm256_extractf128_ps(b, 1));
    const __m128 d = _mm_add_ps(c, _mm_movehl_ps(c, c));
    return _mm_cvtss_f32(_mm_add_ss(d, _mm_movehdup_ps(d)));
}

/* mn_sum16 of 16 vectors at once: each step halves two vectors into one.  Lane j is the sum of
 * a[4 (j % 4) + j / 4]: that is where the steps leave it, and the caller can store it there. */
static inline __m512 mn_sum16x16_avx512(const __m512 a[16])
{
    __m512 b[8], c[4], d[2];
    for (int i = 0; i < 8; i++)
        b[i] = _mm512_add_ps(_mm512_shuffle_f32x4(a[2 * i], a[2 * i + 1], 0x44),
                             _mm512_shuffle_f32x4(a[2 * i], a[2 * i + 1], 0xee));
    for (int i = 0; i < 4; i++)
        c[i] = _mm512_add_ps(_mm512_shuffle_f32x4(b[2 * i], b[2 * i + 1], 0x88),
                             _mm512_shuffle_f32x4(b[2 * i], b[2 * i + 1], 0xdd));
    for (int i = 0; i < 2; i++) {
        const __m512d lo = _mm512_castps_pd(c[2 * i]), hi = _mm512_castps_pd(c[2 * i + 1]);
        d[i] = _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(lo, hi)),
                             _mm512_castpd_ps(_mm512_unpackhi_pd(lo, hi)));
    }
    return _mm512_add_ps(_mm512_shuffle_ps(d[0], d[1], 0x88), _mm512_shuffle_ps(d[0], d[1], 0xdd));
}
#endif

#endif
