/* SPDX-License-Identifier: Apache-2.0
 *
 * pointwise_avx512.c - swiglu, add, to_f16, argmax, sum_exp, quant_kv: 16 values at a time, masked at the end.
 */
#include "kernel/x86/x86.h"

#ifdef __AVX512VNNI__
#include <float.h>

#include "kernel/x86/avx512.h"

/* Lanes of the vector at i of n. */
static inline __mmask16 lanes(size_t i, size_t n)
{
    return n - i < 16 ? mn_tail16(n - i) : 0xffff;
}

void mn_swiglu__avx512(float *y, const float *g, const float *u, size_t n)
{
    const __m512 one = _mm512_set1_ps(1.0f), sign = _mm512_set1_ps(-0.0f);
    for (size_t i = 0; i < n; i += 16) {
        const __mmask16 m = lanes(i, n);
        const __m512    a = _mm512_maskz_loadu_ps(m, g + i), b = _mm512_maskz_loadu_ps(m, u + i);
        const __m512    e = mn_exp_avx512(_mm512_xor_ps(a, sign));
        const __m512    v = _mm512_mul_ps(_mm512_div_ps(a, _mm512_add_ps(one, e)), b);
        _mm512_mask_storeu_ps(y + i, m, v);
    }
}

void mn_add__avx512(float *x, const float *y, size_t n)
{
    for (size_t i = 0; i < n; i += 16) {
        const __mmask16 m = lanes(i, n);
        const __m512    a = _mm512_maskz_loadu_ps(m, x + i), b = _mm512_maskz_loadu_ps(m, y + i);
        _mm512_mask_storeu_ps(x + i, m, _mm512_add_ps(a, b));
    }
}

void mn_to_f16__avx512(uint16_t *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i += 16) {
        const __mmask16 m = lanes(i, n);
        const __m512    v = _mm512_maskz_loadu_ps(m, x + i);
        _mm256_mask_storeu_epi16(y + i, m, _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
    }
}

size_t mn_argmax__avx512(const float *x, size_t n)
{
    const size_t whole = n & ~(size_t)63;
    __m512       m0 = _mm512_set1_ps(-INFINITY), m1 = m0, m2 = m0, m3 = m0;
    for (size_t i = 0; i < whole; i += 64) {   // max returns the second operand for NaN
        m0 = _mm512_max_ps(_mm512_loadu_ps(x + i), m0);
        m1 = _mm512_max_ps(_mm512_loadu_ps(x + i + 16), m1);
        m2 = _mm512_max_ps(_mm512_loadu_ps(x + i + 32), m2);
        m3 = _mm512_max_ps(_mm512_loadu_ps(x + i + 48), m3);
    }
    for (size_t i = whole; i < n; i += 16) {
        const __mmask16 m = lanes(i, n);
        m0 = _mm512_mask_max_ps(m0, m, _mm512_maskz_loadu_ps(m, x + i), m0);
    }
    m0 = _mm512_max_ps(_mm512_max_ps(m0, m1), _mm512_max_ps(m2, m3));

    const __m512 max = _mm512_set1_ps(_mm512_reduce_max_ps(m0));
    for (size_t i = 0; i < n; i += 16) {
        const __mmask16 m = lanes(i, n);
        const __m512    v = _mm512_maskz_loadu_ps(m, x + i);
        const unsigned  hit = _mm512_mask_cmp_ps_mask(m, v, max, _CMP_EQ_OQ);
        if (hit) return i + (size_t)__builtin_ctz(hit);
    }
    return 0;
}

float mn_sum_exp__avx512(const float *x, size_t n, float max)
{
    const __m512 top = _mm512_set1_ps(max);
    __m512       acc = _mm512_setzero_ps();
    for (size_t i = 0; i < n; i += 16) {
        const __mmask16 m = lanes(i, n);
        const __m512    d = _mm512_sub_ps(_mm512_maskz_loadu_ps(m, x + i), top);
        acc = _mm512_mask_add_ps(acc, m, acc, mn_exp_avx512(d));
    }
    return mn_sum16_avx512(acc);
}

float mn_quant_kv__avx512(int8_t *q, const float *x, size_t n)
{
    __m512 top = _mm512_setzero_ps();
    for (size_t i = 0; i < n; i += 16)
        top = _mm512_max_ps(_mm512_abs_ps(_mm512_maskz_loadu_ps(lanes(i, n), x + i)), top);

    const float d = _mm512_reduce_max_ps(top) / 127.0f;
    if (d < FLT_MIN) {
        memset(q, 0, n);
        return 0.0f;
    }
    const __m512 dd = _mm512_set1_ps(d), hi = _mm512_set1_ps(127.0f), lo = _mm512_set1_ps(-127.0f);
    for (size_t i = 0; i < n; i += 16) {
        const __mmask16 m = lanes(i, n);
        __m512          v = _mm512_div_ps(_mm512_maskz_loadu_ps(m, x + i), dd);
        v = _mm512_min_ps(_mm512_max_ps(v, lo), hi);
        _mm_mask_storeu_epi8(q + i, m, _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(v)));
    }
    return d;
}
#endif
