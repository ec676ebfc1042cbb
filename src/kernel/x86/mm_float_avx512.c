/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_float_avx512.c - matrix products of F32, F16 and BF16 weights: 4 rows x 4 tokens of sums.
 */
#include "kernel/kernels.h"

#ifdef __AVX512F__
#include <immintrin.h>

#include "kernel/x86/mm_x86.h"

/* Up to 16 weights from p, zeros where the mask is off. */
MN_INLINE __m512 load(const uint8_t *p, __mmask16 m, mn_dtype_id type)
{
    if (type == MN_F32) return _mm512_maskz_loadu_ps(m, p);
    const __m256i v = _mm256_maskz_loadu_epi16(m, p);
    if (type == MN_F16) return _mm512_cvtph_ps(v);
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(v), 16));
}

/* mn_sum16 of four registers. */
MN_INLINE __m128 sum16x4(const __m512 a[4])
{
    __m128 v[4];
    for (int i = 0; i < 4; i++) {
        const __m256 b = _mm256_add_ps(_mm512_castps512_ps256(a[i]), _mm512_extractf32x8_ps(a[i], 1));
        v[i] = _mm_add_ps(_mm256_castps256_ps128(b), _mm256_extractf128_ps(b, 1));
    }
    _MM_TRANSPOSE4_PS(v[0], v[1], v[2], v[3]);
    return _mm_add_ps(_mm_add_ps(v[0], v[2]), _mm_add_ps(v[1], v[3]));
}

/* Four rows with N tokens; only the first `count` results of each token are stored, `apart` floats
 * from one to the next. */
MN_INLINE void tile(float *y, size_t ldy, size_t apart, size_t count, const uint8_t *const row[4],
                    const float *x, size_t ld, size_t cols, unsigned N, mn_dtype_id type)
{
    const size_t size = type == MN_F32 ? 4 : 2;
    __m512       acc[4][4];
    for (unsigned u = 0; u < N; u++) {
        for (int i = 0; i < 4; i++) acc[u][i] = _mm512_setzero_ps();
    }
    size_t k = 0;
    for (; k + 16 <= cols; k += 16) {
        __m512 w[4];
        for (int i = 0; i < 4; i++) {
            const uint8_t *p = row[i] + k * size;
            if (N == 1) _mm_prefetch((const char *)p + MN_PREFETCH, _MM_HINT_T0);
            w[i] = load(p, 0xffff, type);
        }
        for (unsigned u = 0; u < N; u++) {
            const __m512 v = _mm512_loadu_ps(x + u * ld + k);
            for (int i = 0; i < 4; i++) acc[u][i] = _mm512_fmadd_ps(w[i], v, acc[u][i]);
        }
    }
    if (k < cols) {
        const __mmask16 m = (__mmask16)((1u << (cols - k)) - 1);
        for (unsigned u = 0; u < N; u++) {
            const __m512 v = _mm512_maskz_loadu_ps(m, x + u * ld + k);
            for (int i = 0; i < 4; i++) {
                acc[u][i] = _mm512_fmadd_ps(load(row[i] + k * size, m, type), v, acc[u][i]);
            }
        }
    }
    for (unsigned u = 0; u < N; u++) {
        float out[4];
        _mm_storeu_ps(out, sum16x4(acc[u]));
        for (size_t i = 0; i < count; i++) y[u * ldy + i * apart] = out[i];
    }
}

/* Rows r, r + apart, r + 2 apart, r + 3 apart; beyond `count` the last one again. */
MN_INLINE void four_rows(float *y, size_t ldy, const uint8_t *w, const mn_acts *x, size_t r,
                         size_t apart, size_t count, size_t cols, size_t T, mn_dtype_id type)
{
    const size_t   stride = cols * (type == MN_F32 ? 4 : 2);
    const uint8_t *row[4];
    for (size_t i = 0; i < 4; i++) row[i] = w + (r + (i < count ? i : count - 1) * apart) * stride;
    size_t t = 0;
    for (; t + 4 <= T; t += 4) {
        tile(y + t * ldy + r, ldy, apart, count, row, x->f + t * x->ld, x->ld, cols, 4, type);
    }
    for (; t < T; t++) {
        tile(y + t * ldy + r, ldy, apart, count, row, x->f + t * x->ld, x->ld, cols, 1, type);
    }
}

/* One token walks four quarters of the matrix side by side, for the memory's sake; many tokens keep
 * to four neighbouring rows. */
MN_INLINE void mm(float *y, size_t ldy, const void *w, const mn_acts *x, size_t rows, size_t cols,
                  size_t T, mn_dtype_id type)
{
    const size_t quarter = rows / 4, full = 4 * quarter;
    for (size_t i = 0; i < quarter; i++) {
        four_rows(y, ldy, w, x, T == 1 ? i : 4 * i, T == 1 ? quarter : 1, 4, cols, T, type);
    }
    if (full < rows) four_rows(y, ldy, w, x, full, 1, rows - full, cols, T, type);
}

MN_MM_FLOAT(f32, MN_F32, avx512)
MN_MM_FLOAT(f16, MN_F16, avx512)
MN_MM_FLOAT(bf16, MN_BF16, avx512)
#endif
