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

/* mn_sum16 of 16 vectors at once, in two halves.  Each step halves two vectors into one.
 *
 * The first two steps: (i, i + 8) and (i, i + 4) of four vectors, one in each quarter. */
static inline __m512 mn_sum16_first(__m512 a0, __m512 a1, __m512 a2, __m512 a3)
{
    const __m512 b0 = _mm512_add_ps(_mm512_shuffle_f32x4(a0, a1, 0x44),
                                    _mm512_shuffle_f32x4(a0, a1, 0xee));
    const __m512 b1 = _mm512_add_ps(_mm512_shuffle_f32x4(a2, a3, 0x44),
                                    _mm512_shuffle_f32x4(a2, a3, 0xee));
    return _mm512_add_ps(_mm512_shuffle_f32x4(b0, b1, 0x88), _mm512_shuffle_f32x4(b0, b1, 0xdd));
}

/* The last two: (i, i + 2) and (0, 1).  Lane 4 k + r is the sum of quarter k of c[r]. */
static inline __m512 mn_sum16_last(const __m512 c[4])
{
    const __m512d c0 = _mm512_castps_pd(c[0]), c1 = _mm512_castps_pd(c[1]);
    const __m512d c2 = _mm512_castps_pd(c[2]), c3 = _mm512_castps_pd(c[3]);
    const __m512  d0 = _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(c0, c1)),
                                     _mm512_castpd_ps(_mm512_unpackhi_pd(c0, c1)));
    const __m512  d1 = _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(c2, c3)),
                                     _mm512_castpd_ps(_mm512_unpackhi_pd(c2, c3)));
    return _mm512_add_ps(_mm512_shuffle_ps(d0, d1, 0x88), _mm512_shuffle_ps(d0, d1, 0xdd));
}
#endif

#endif
