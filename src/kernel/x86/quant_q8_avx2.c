/* SPDX-License-Identifier: Apache-2.0
 *
 * quant_q8_avx2.c - activations to int8 in blocks of 32, the steps of scalar/quant_q8.c.
 *
 * The operands of VMAXPS are in the order that drops a NaN where the specification drops it.
 */
#include "kernel/kernels.h"

#ifdef __AVX2__
#include <immintrin.h>

#include "kernel/x86/mm_x86.h"

static inline float largest(const __m256 x[4])
{
    const __m256 sign = _mm256_set1_ps(-0.0f);
    __m256       max = _mm256_setzero_ps();
    for (int i = 0; i < 4; i++) max = _mm256_max_ps(_mm256_andnot_ps(sign, x[i]), max);
    __m128 m = _mm_max_ps(_mm256_castps256_ps128(max), _mm256_extractf128_ps(max, 1));
    m = _mm_max_ps(m, _mm_movehl_ps(m, m));
    return _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m)));
}

void mn_quant_q8__avx2(int8_t *q, float *d, float *s, const float *x, size_t n)
{
    const __m256  least = _mm256_set1_ps(-127.0f);
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    for (size_t b = 0; b < n / 32; b++, q += 32, x += 32) {
        __m256  v[4];
        __m256i code[4];
        for (int i = 0; i < 4; i++) v[i] = _mm256_loadu_ps(x + 8 * i);
        const float  max = largest(v);
        const bool   tiny = max < MN_Q8_TINY;
        const float  scale = tiny ? 0.0f : max / 127.0f;
        const __m256 inverse = _mm256_set1_ps(tiny ? 0.0f : 127.0f / max);
        for (int i = 0; i < 4; i++) {
            code[i] = _mm256_cvtps_epi32(_mm256_max_ps(_mm256_mul_ps(v[i], inverse), least));
        }
        const __m256i a = _mm256_packs_epi32(code[0], code[1]), c = _mm256_packs_epi32(code[2], code[3]);
        const __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(a, c), order);
        _mm256_storeu_si256((void *)q, bytes);

        // [a0 c0 a1 c1] in each part: pairs of 16 bits, then the two parts
        const __m256i one = _mm256_set1_epi16(1);
        const __m256i sum = _mm256_hadd_epi32(_mm256_madd_epi16(a, one), _mm256_madd_epi16(c, one));
        const __m128i half = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
        const __m128i pair = _mm_hadd_epi32(half, half);
        const __m128  out = _mm_mul_ps(_mm_set1_ps(scale), _mm_cvtepi32_ps(pair));
        d[b] = scale;
        _mm_storel_pi((void *)(s + 2 * b), out);
    }
}
#endif
