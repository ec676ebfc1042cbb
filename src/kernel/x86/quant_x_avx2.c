/* SPDX-License-Identifier: Apache-2.0
 *
 * quant_x_avx2.c - activations to integers with one scale per token, the steps of scalar/quant_x.c.
 *
 * The operands of VMAXPS are in the order that drops a NaN where the specification drops it.
 */
#include "kernel/kernels.h"

#ifdef __AVX2__
#include "kernel/scalar/mm_x.h"
#include "kernel/x86/avx2.h"
#include "kernel/x86/mm_x86.h"

static float largest(const float *v, size_t n)
{
    const __m256 sign = _mm256_set1_ps(-0.0f);
    __m256       max = _mm256_setzero_ps();
    for (size_t i = 0; i < n; i += 8) {
        max = _mm256_max_ps(_mm256_andnot_ps(sign, mn_load8(v + i, n - i)), max);
    }
    return mn_max8_avx2(max);
}

/* The sum of 16 codes as words. */
MN_INLINE int32_t total_of(__m256i words)
{
    const __m256i pair = _mm256_madd_epi16(words, _mm256_set1_epi16(1));
    __m128i       s = _mm_add_epi32(_mm256_castsi256_si128(pair), _mm256_extracti128_si256(pair, 1));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1)));
}

/* 16 codes of a plane as words: stored as bytes, with their sums. */
MN_INLINE void put(const mn_xacts *y, size_t plane, size_t k, __m256i words)
{
    const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(words),
                                          _mm256_extracti128_si256(words, 1));
    const int32_t sum = total_of(words);
    _mm_store_si128((void *)(y->q + plane * y->ld + k), bytes);
    y->zero[plane * (y->ld / 16) + k / 16] = -8 * sum;
    y->total[plane] += sum;
}

void mn_quant_x__avx2(const mn_xacts *x, size_t t, const float *v, size_t n)
{
    const bool     exact = x->planes == 2;
    const float    most = exact ? (float)MN_X_EXACT : (float)MN_X_FAST, max = largest(v, n);
    const bool     tiny = max < MN_X_TINY;
    const __m256   inverse = _mm256_set1_ps(tiny ? 0.0f : most / max), least = _mm256_set1_ps(-most);
    const mn_xacts y = mn_xacts_from(x, t);
    y.scale[0] = tiny ? 0.0f : max / most;
    for (size_t i = 0; i < y.planes; i++) y.total[i] = 0;

    for (size_t k = 0; k < y.ld; k += 16) {
        __m256i a[2];
        for (int h = 0; h < 2; h++) {
            const size_t at = k + 8 * (size_t)h;
            const __m256 u = at < n ? mn_load8(v + at, n - at) : _mm256_setzero_ps();
            a[h] = _mm256_cvtps_epi32(_mm256_max_ps(_mm256_mul_ps(u, inverse), least));
        }
        const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(a[0], a[1]), 0xd8);
        if (!exact) {
            put(&y, 0, k, words);
            continue;
        }
        const __m256i high = _mm256_srai_epi16(_mm256_add_epi16(words, _mm256_set1_epi16(64)), 7);
        put(&y, 0, k, high);
        put(&y, 1, k, _mm256_sub_epi16(words, _mm256_slli_epi16(high, 7)));
    }
}
#endif
