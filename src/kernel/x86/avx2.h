/* SPDX-License-Identifier: Apache-2.0
 *
 * avx2.h - the canonical steps of scalar/math.h on 8 lanes, and partial loads.  Static inline only.
 */
#ifndef MN_KERNEL_AVX2_H
#define MN_KERNEL_AVX2_H

#ifdef __AVX2__
#include <immintrin.h>
#include <stddef.h>

#include "kernel/scalar/math.h"

/* All bits set in the first n of 8 lanes. */
static inline __m256i mn_tail8(size_t n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n < 8 ? (int)n : 8),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

/* The first n of 8 floats, zeros after them; nothing beyond is read or written.  Through the stack:
 * masked moves beside a forbidden page are slow on some processors and wrong in some emulators. */
static inline __m256 mn_load8(const float *p, size_t n)
{
    float x[8] = { 0 };
    if (n >= 8) return _mm256_loadu_ps(p);
    memcpy(x, p, n * sizeof *x);
    return _mm256_loadu_ps(x);
}

static inline void mn_store8(float *p, __m256 v, size_t n)
{
    float x[8];
    if (n >= 8) {
        _mm256_storeu_ps(p, v);
        return;
    }
    _mm256_storeu_ps(x, v);
    memcpy(p, x, n * sizeof *x);
}

static inline __m256 mn_exp_avx2(__m256 x)
{
    const __m256 magic = _mm256_set1_ps(MN_MAGIC);
    const __m256 v = _mm256_min_ps(_mm256_set1_ps(MN_EXP_MAX), x);   // the second if NaN
    const __m256 z = _mm256_fmadd_ps(v, _mm256_set1_ps(MN_LOG2E), magic);
    const __m256 n = _mm256_sub_ps(z, magic);
    const __m256 r = _mm256_fmadd_ps(n, _mm256_set1_ps(-MN_LN2_LO),
                                     _mm256_fmadd_ps(n, _mm256_set1_ps(-MN_LN2_HI), v));
    __m256 p = _mm256_fmadd_ps(_mm256_set1_ps(MN_EXP_C4), r, _mm256_set1_ps(MN_EXP_C3));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(MN_EXP_C2));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(MN_EXP_C1));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(MN_EXP_C0));
    p = _mm256_add_ps(_mm256_fmadd_ps(_mm256_mul_ps(r, r), p, r), _mm256_set1_ps(1.0f));
    const __m256i two_n = _mm256_slli_epi32(
        _mm256_add_epi32(_mm256_castps_si256(z), _mm256_set1_epi32(127)), 23);
    p = _mm256_mul_ps(p, _mm256_castsi256_ps(two_n));
    return _mm256_and_ps(_mm256_cmp_ps(x, _mm256_set1_ps(MN_EXP_MIN), _CMP_NLT_UQ), p);
}

/* mn_sum16 of the partial sums [lo, hi]. */
static inline float mn_sum16_avx2(__m256 lo, __m256 hi)
{
    const __m256 b = _mm256_add_ps(lo, hi);
    const __m128 c = _mm_add_ps(_mm256_castps256_ps128(b), _mm256_extractf128_ps(b, 1));
    const __m128 d = _mm_add_ps(c, _mm_movehl_ps(c, c));
    return _mm_cvtss_f32(_mm_add_ss(d, _mm_movehdup_ps(d)));
}

/* The same for 8 pairs whose first step, lo + hi, is done: each step halves two vectors into one.
 * Lane j is the sum of b[2 (j % 4) + j / 4]. */
static inline __m256 mn_sum8x8_avx2(const __m256 b[8])
{
    __m256 c[4], d[2];
    MN_UNROLL
    for (int i = 0; i < 4; i++)
        c[i] = _mm256_add_ps(_mm256_permute2f128_ps(b[2 * i], b[2 * i + 1], 0x20),
                             _mm256_permute2f128_ps(b[2 * i], b[2 * i + 1], 0x31));
    MN_UNROLL
    for (int i = 0; i < 2; i++) {
        const __m256d lo = _mm256_castps_pd(c[2 * i]), hi = _mm256_castps_pd(c[2 * i + 1]);
        d[i] = _mm256_add_ps(_mm256_castpd_ps(_mm256_unpacklo_pd(lo, hi)),
                             _mm256_castpd_ps(_mm256_unpackhi_pd(lo, hi)));
    }
    return _mm256_add_ps(_mm256_shuffle_ps(d[0], d[1], 0x88), _mm256_shuffle_ps(d[0], d[1], 0xdd));
}

static inline float mn_max8_avx2(__m256 a)
{
    __m128 c = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    c = _mm_max_ps(c, _mm_movehl_ps(c, c));
    return _mm_cvtss_f32(_mm_max_ss(c, _mm_movehdup_ps(c)));
}
#endif

#endif
