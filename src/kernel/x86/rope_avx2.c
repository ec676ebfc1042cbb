/* SPDX-License-Identifier: Apache-2.0
 *
 * rope_avx2.c - rotary embedding, 8 pairs at a time; what is left over goes one by one.
 */
#include "kernel/x86/x86.h"

#ifdef __AVX2__
#include "kernel/x86/avx2.h"

static void rotate(float *a, float *b, float c, float s)
{
    const float x = *a, y = *b;
    *a = fmaf(x, c, -(y * s));
    *b = fmaf(x, s, y * c);
}

void mn_rope_half__avx2(float *x, const float *cs, size_t heads, size_t P, size_t n)
{
    const size_t half = n / 2;
    for (size_t h = 0; h < heads; h++, x += P) {
        size_t i = 0;
        for (; i + 8 <= half; i += 8) {
            const __m256 c = _mm256_loadu_ps(cs + i), s = _mm256_loadu_ps(cs + half + i);
            const __m256 a = _mm256_loadu_ps(x + i), b = _mm256_loadu_ps(x + half + i);
            _mm256_storeu_ps(x + i, _mm256_fmsub_ps(a, c, _mm256_mul_ps(b, s)));
            _mm256_storeu_ps(x + half + i, _mm256_fmadd_ps(a, s, _mm256_mul_ps(b, c)));
        }
        for (; i < half; i++) rotate(&x[i], &x[half + i], cs[i], cs[half + i]);
    }
}

void mn_rope_pair__avx2(float *x, const float *cs, size_t heads, size_t P, size_t n)
{
    const size_t half = n / 2;
    for (size_t h = 0; h < heads; h++, x += P) {
        size_t i = 0;
        for (; i + 8 <= half; i += 8) {
            // a0 b0 a1 b1 .. -> a0 a1 a4 a5 | a2 a3 a6 a7: the order in which cos and sin follow
            const __m256  v0 = _mm256_loadu_ps(x + 2 * i), v1 = _mm256_loadu_ps(x + 2 * i + 8);
            const __m256  a = _mm256_shuffle_ps(v0, v1, 0x88), b = _mm256_shuffle_ps(v0, v1, 0xdd);
            const __m256d c0 = _mm256_castps_pd(_mm256_loadu_ps(cs + i));
            const __m256d s0 = _mm256_castps_pd(_mm256_loadu_ps(cs + half + i));
            const __m256  c = _mm256_castpd_ps(_mm256_permute4x64_pd(c0, 0xd8));
            const __m256  s = _mm256_castpd_ps(_mm256_permute4x64_pd(s0, 0xd8));
            const __m256  p = _mm256_fmsub_ps(a, c, _mm256_mul_ps(b, s));
            const __m256  q = _mm256_fmadd_ps(a, s, _mm256_mul_ps(b, c));
            _mm256_storeu_ps(x + 2 * i, _mm256_unpacklo_ps(p, q));
            _mm256_storeu_ps(x + 2 * i + 8, _mm256_unpackhi_ps(p, q));
        }
        for (; i < half; i++) rotate(&x[2 * i], &x[2 * i + 1], cs[i], cs[half + i]);
    }
}
#endif
