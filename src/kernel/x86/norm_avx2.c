/* SPDX-License-Identifier: Apache-2.0
 *
 * norm_avx2.c - rmsnorm: two vectors hold the 16 canonical partial sums.
 */
#include "kernel/x86/x86.h"

#ifdef __AVX2__
#include "kernel/x86/avx2.h"

void mn_rmsnorm__avx2(float *y, const float *x, const float *w, size_t n, float eps)
{
    const size_t whole = n & ~(size_t)15, rest = n & 15;

    __m256 lo = _mm256_setzero_ps(), hi = lo;
    for (size_t i = 0; i < whole; i += 16) {
        const __m256 a = _mm256_loadu_ps(x + i), b = _mm256_loadu_ps(x + i + 8);
        lo = _mm256_fmadd_ps(a, a, lo);
        hi = _mm256_fmadd_ps(b, b, hi);
    }
    if (rest > 0) {   // squares of the zeros beyond the end change no partial sum: none is -0
        const __m256 a = mn_load8(x + whole, rest);
        lo = _mm256_fmadd_ps(a, a, lo);
    }
    if (rest > 8) {
        const __m256 b = mn_load8(x + whole + 8, rest - 8);
        hi = _mm256_fmadd_ps(b, b, hi);
    }

    const float  r = 1.0f / sqrtf(mn_sum16_avx2(lo, hi) / (float)n + eps);
    const __m256 rr = _mm256_set1_ps(r);
    size_t       i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256 v = _mm256_mul_ps(_mm256_loadu_ps(x + i), rr);
        if (w) v = _mm256_mul_ps(v, _mm256_loadu_ps(w + i));
        _mm256_storeu_ps(y + i, v);
    }
    for (; i < n; i++) y[i] = w ? x[i] * r * w[i] : x[i] * r;
}
#endif
