/* SPDX-License-Identifier: Apache-2.0
 *
 * rope_avx512.c - rotary embedding, 16 pairs at a time, masked at the end.  Pairs that lie side by
 * side are taken apart by a two-source permute and put together by another.
 */
#include "kernel/x86/x86.h"

#ifdef __AVX512VNNI__
#include "kernel/x86/avx512.h"

void mn_rope_half__avx512(float *x, const float *cs, size_t heads, size_t P, size_t n)
{
    const size_t half = n / 2;
    for (size_t h = 0; h < heads; h++, x += P)
        for (size_t i = 0; i < half; i += 16) {
            const __mmask16 m = half - i < 16 ? mn_tail16(half - i) : 0xffff;
            const __m512    c = _mm512_maskz_loadu_ps(m, cs + i);
            const __m512    s = _mm512_maskz_loadu_ps(m, cs + half + i);
            const __m512    a = _mm512_maskz_loadu_ps(m, x + i);
            const __m512    b = _mm512_maskz_loadu_ps(m, x + half + i);
            _mm512_mask_storeu_ps(x + i, m, _mm512_fmsub_ps(a, c, _mm512_mul_ps(b, s)));
            _mm512_mask_storeu_ps(x + half + i, m, _mm512_fmadd_ps(a, s, _mm512_mul_ps(b, c)));
        }
}

void mn_rope_pair__avx512(float *x, const float *cs, size_t heads, size_t P, size_t n)
{
    const size_t  half = n / 2;
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
    const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));

    for (size_t h = 0; h < heads; h++, x += P)
        for (size_t i = 0; i < half; i += 16) {
            const size_t    left = half - i;
            const __mmask16 m = left < 16 ? mn_tail16(left) : 0xffff;
            const __mmask16 m0 = left < 8 ? mn_tail16(2 * left) : 0xffff;
            const __mmask16 m1 = left < 8 ? 0 : left < 16 ? mn_tail16(2 * left - 16) : 0xffff;
            const __m512    c = _mm512_maskz_loadu_ps(m, cs + i);
            const __m512    s = _mm512_maskz_loadu_ps(m, cs + half + i);
            const __m512    v0 = _mm512_maskz_loadu_ps(m0, x + 2 * i);
            const __m512    v1 = _mm512_maskz_loadu_ps(m1, x + 2 * i + 16);
            const __m512    a = _mm512_permutex2var_ps(v0, even, v1);
            const __m512    b = _mm512_permutex2var_ps(v0, odd, v1);
            const __m512    p = _mm512_fmsub_ps(a, c, _mm512_mul_ps(b, s));
            const __m512    q = _mm512_fmadd_ps(a, s, _mm512_mul_ps(b, c));
            _mm512_mask_storeu_ps(x + 2 * i, m0, _mm512_permutex2var_ps(p, low, q));
            _mm512_mask_storeu_ps(x + 2 * i + 16, m1, _mm512_permutex2var_ps(p, high, q));
        }
}
#endif
