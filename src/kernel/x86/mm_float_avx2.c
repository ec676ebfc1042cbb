/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_float_avx2.c - matrix products of F32, F16 and BF16 weights: four rows of one token, or two rows
 * of three tokens, so that the pairs of sums fit the sixteen registers.
 */
#include "kernel/kernels.h"

#ifdef __AVX2__
#include <immintrin.h>

#include "kernel/x86/mm_x86.h"

/* 8 weights. */
MN_INLINE __m256 load8(const uint8_t *p, mn_dtype_id type)
{
    if (type == MN_F32) return _mm256_loadu_ps((const void *)p);
    const __m128i v = _mm_loadu_si128((const void *)p);
    if (type == MN_F16) return _mm256_cvtph_ps(v);
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(v), 16));
}

/* mn_sum16 of the partial sums 0-7 and 8-15. */
MN_INLINE float sum16(const __m256 acc[2])
{
    const __m256 a = _mm256_add_ps(acc[0], acc[1]);
    const __m128 b = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    const __m128 v = _mm_add_ps(b, _mm_movehl_ps(b, b));
    return _mm_cvtss_f32(_mm_add_ss(v, _mm_movehdup_ps(v)));
}

/* R rows, `apart` rows from one to the next, with N tokens. */
MN_INLINE void tile(float *y, size_t ldy, const uint8_t *w, size_t apart, const float *x, size_t ld,
                    size_t cols, unsigned R, unsigned N, mn_dtype_id type)
{
    const size_t size = type == MN_F32 ? 4 : 2, step = apart * cols * size;
    __m256       acc[3][4][2];
    for (unsigned u = 0; u < N; u++) {
        for (unsigned i = 0; i < R; i++) acc[u][i][0] = acc[u][i][1] = _mm256_setzero_ps();
    }
    size_t k = 0;
    for (; k + 16 <= cols; k += 16) {
        for (unsigned i = 0; i < R; i++) {
            const uint8_t *p = w + i * step + k * size;
            if (N == 1) _mm_prefetch((const char *)p + MN_PREFETCH, _MM_HINT_T0);
            for (unsigned h = 0; h < 2; h++) {
                const __m256 v = load8(p + 8 * h * size, type);
                for (unsigned u = 0; u < N; u++) {
                    acc[u][i][h] = _mm256_fmadd_ps(v, _mm256_loadu_ps(x + u * ld + k + 8 * h),
                                                   acc[u][i][h]);
                }
            }
        }
    }
    for (; k < cols; k = cols) {   // once: the rest, with zeros
        float v[3][16] = { { 0 } };
        for (unsigned u = 0; u < N; u++) memcpy(v[u], x + u * ld + k, (cols - k) * sizeof *x);
        for (unsigned i = 0; i < R; i++) {
            uint8_t rest[64] = { 0 };
            memcpy(rest, w + i * step + k * size, (cols - k) * size);
            for (unsigned h = 0; h < 2; h++) {
                for (unsigned u = 0; u < N; u++) {
                    acc[u][i][h] = _mm256_fmadd_ps(load8(rest + 8 * h * size, type),
                                                   _mm256_loadu_ps(v[u] + 8 * h), acc[u][i][h]);
                }
            }
        }
    }
    for (unsigned u = 0; u < N; u++) {
        for (unsigned i = 0; i < R; i++) y[u * ldy + i * apart] = sum16(acc[u][i]);
    }
}

/* R neighbouring rows with all tokens. */
MN_INLINE void all_tokens(float *y, size_t ldy, const uint8_t *w, const mn_acts *x, size_t cols,
                          size_t T, unsigned R, mn_dtype_id type)
{
    size_t t = 0;
    for (; t + 3 <= T; t += 3) {
        tile(y + t * ldy, ldy, w, 1, x->f + t * x->ld, x->ld, cols, R, 3, type);
    }
    for (; t < T; t++) tile(y + t * ldy, ldy, w, 1, x->f + t * x->ld, x->ld, cols, R, 1, type);
}

MN_INLINE void mm(float *y, size_t ldy, const uint8_t *w, const mn_acts *x, size_t rows, size_t cols,
                  size_t T, mn_dtype_id type)
{
    const size_t stride = cols * (type == MN_F32 ? 4 : 2), quarter = rows / 4;
    size_t       r = 0;
    if (T == 1) {   // four streams, a quarter of the matrix apart
        for (; r < quarter; r++) {
            tile(y + r, ldy, w + r * stride, quarter, x->f, x->ld, cols, 4, 1, type);
        }
        r = 4 * quarter;
    }
    for (; r + 2 <= rows; r += 2) all_tokens(y + r, ldy, w + r * stride, x, cols, T, 2, type);
    if (r < rows) all_tokens(y + r, ldy, w + r * stride, x, cols, T, 1, type);
}

MN_MM_FLOAT(f32, MN_F32, avx2)
MN_MM_FLOAT(f16, MN_F16, avx2)
MN_MM_FLOAT(bf16, MN_BF16, avx2)
#endif
