/* SPDX-License-Identifier: Apache-2.0
 *
 * pointwise_avx2.c - swiglu, add, to_f16, argmax, sum_exp, quant_kv: 8 values at a time.
 */
#include "kernel/x86/x86.h"

#ifdef __AVX2__
#include <float.h>

#include "kernel/x86/avx2.h"

void mn_swiglu__avx2(float *y, const float *g, const float *u, size_t n)
{
    const __m256 one = _mm256_set1_ps(1.0f), sign = _mm256_set1_ps(-0.0f);
    for (size_t i = 0; i < n; i += 8) {
        const __m256 a = mn_load8(g + i, n - i), b = mn_load8(u + i, n - i);
        const __m256 e = mn_exp_avx2(_mm256_xor_ps(a, sign));
        mn_store8(y + i, _mm256_mul_ps(_mm256_div_ps(a, _mm256_add_ps(one, e)), b), n - i);
    }
}

void mn_add__avx2(float *x, const float *y, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(x + i, _mm256_add_ps(_mm256_loadu_ps(x + i), _mm256_loadu_ps(y + i)));
    for (; i < n; i++) x[i] += y[i];
}

void mn_to_f16__avx2(uint16_t *y, const float *x, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128((__m128i *)(y + i), _mm256_cvtps_ph(_mm256_loadu_ps(x + i),
                                                             _MM_FROUND_TO_NEAREST_INT));
    for (; i < n; i++) y[i] = _cvtss_sh(x[i], _MM_FROUND_TO_NEAREST_INT);
}

size_t mn_argmax__avx2(const float *x, size_t n)
{
    const size_t whole = n & ~(size_t)31;
    __m256       m0 = _mm256_set1_ps(-INFINITY), m1 = m0, m2 = m0, m3 = m0;
    for (size_t i = 0; i < whole; i += 32) {   // max returns the second operand for NaN
        m0 = _mm256_max_ps(_mm256_loadu_ps(x + i), m0);
        m1 = _mm256_max_ps(_mm256_loadu_ps(x + i + 8), m1);
        m2 = _mm256_max_ps(_mm256_loadu_ps(x + i + 16), m2);
        m3 = _mm256_max_ps(_mm256_loadu_ps(x + i + 24), m3);
    }
    float top = mn_max8_avx2(_mm256_max_ps(_mm256_max_ps(m0, m1), _mm256_max_ps(m2, m3)));
    for (size_t i = whole; i < n; i++) top = x[i] > top ? x[i] : top;

    const __m256 max = _mm256_set1_ps(top);
    size_t       i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m256 eq = _mm256_cmp_ps(_mm256_loadu_ps(x + i), max, _CMP_EQ_OQ);
        const int    hit = _mm256_movemask_ps(eq);
        if (hit) return i + (size_t)__builtin_ctz((unsigned)hit);
    }
    for (; i < n; i++)
        if (x[i] == top) return i;
    return 0;
}

float mn_sum_exp__avx2(const float *x, size_t n, float max)
{
    const __m256 top = _mm256_set1_ps(max);
    __m256       lo = _mm256_setzero_ps(), hi = lo;
    float        tail[16];
    for (size_t i = 0; i < n; i += 16) {
        const float *p = x + i;
        if (n - i < 16) {   // what is missing adds exp(-huge) = 0
            for (size_t k = 0; k < 16; k++) tail[k] = k < n - i ? p[k] : -FLT_MAX;
            p = tail;
        }
        lo = _mm256_add_ps(lo, mn_exp_avx2(_mm256_sub_ps(_mm256_loadu_ps(p), top)));
        hi = _mm256_add_ps(hi, mn_exp_avx2(_mm256_sub_ps(_mm256_loadu_ps(p + 8), top)));
    }
    return mn_sum16_avx2(lo, hi);
}

float mn_quant_kv__avx2(int8_t *q, const float *x, size_t n)
{
    const __m256 sign = _mm256_set1_ps(-0.0f);
    __m256       m = _mm256_setzero_ps();
    size_t       i = 0;
    for (; i + 8 <= n; i += 8) m = _mm256_max_ps(_mm256_andnot_ps(sign, _mm256_loadu_ps(x + i)), m);
    float top = mn_max8_avx2(m);
    for (; i < n; i++) top = fabsf(x[i]) > top ? fabsf(x[i]) : top;

    const float d = top / 127.0f;
    if (d < FLT_MIN) {
        memset(q, 0, n);
        return 0.0f;
    }
    const __m256 dd = _mm256_set1_ps(d), hi = _mm256_set1_ps(127.0f), lo = _mm256_set1_ps(-127.0f);
    for (i = 0; i + 8 <= n; i += 8) {
        __m256 v = _mm256_div_ps(_mm256_loadu_ps(x + i), dd);
        v = _mm256_min_ps(_mm256_max_ps(v, lo), hi);
        const __m256i c = _mm256_cvtps_epi32(v);
        const __m128i w = _mm_packs_epi32(_mm256_castsi256_si128(c), _mm256_extracti128_si256(c, 1));
        _mm_storel_epi64((__m128i *)(q + i), _mm_packs_epi16(w, w));
    }
    for (; i < n; i++) {
        float v = x[i] / d;
        v = v > -127.0f ? v : -127.0f;
        q[i] = (int8_t)mn_round(v < 127.0f ? v : 127.0f);
    }
    return d;
}
#endif
