/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_avx2.h - matrix products of the block types with AVX2: what their readers share.
 *
 * The scheme of mm_avx512.h at half the width: one token works on four rows x two blocks, many
 * tokens on panels of 8 rows.  VPMADDUBSW adds pairs of products in 16 bits, where four pairs of
 * codes up to 31, or two of codes up to 63, or one of magnitude 128, fit.
 */
#ifndef MN_KERNEL_MM_AVX2_H
#define MN_KERNEL_MM_AVX2_H

#ifdef __AVX2__
#include <immintrin.h>

#include "kernel/x86/mm_x86.h"

/* Four rows x two blocks: the first and the second 16 codes of each block of each row, and per
 * lane [block][row] the scale and offset of both halves ([0] serves both unless MN_FORM_HALVES). */
typedef struct mn_two {
    __m256i low[4], high[4];
    __m256  scale[2], offset[2];
} mn_two;

/* Read blocks b and, if n is 2, b + 1 of four rows; b is even; the rest is zero. */
typedef void mn_two_fn(mn_two *o, const uint8_t *const row[4], size_t b, unsigned n);

/* 8 rows x up to a chunk of blocks: line [b][m] holds codes 4m .. 4m + 3 of each row. */
typedef struct mn_panel8 {
    __m256i code[MN_MM_CHUNK][8];
    __m256  scale[MN_MM_CHUNK][2], offset[MN_MM_CHUNK][2];
} mn_panel8;

/* Unpack blocks b .. b + n - 1 of 8 rows. */
typedef void mn_panel8_fn(mn_panel8 *p, const uint8_t *const row[8], size_t b, size_t n);

/* The gemm of every block type. */
void mn_mm_panels__avx2(float *y, size_t ldy, const void *w, const mn_acts *x, size_t rows,
                        size_t cols, size_t T, mn_panel8_fn *fill, size_t stride, mn_form form);

/* 16 bytes from each of two places. */
MN_INLINE __m256i mn_join2(const uint8_t *a, const uint8_t *b)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const void *)a)),
                                   _mm_loadu_si128((const void *)b), 1);
}

/* Pairs of 16-bit sums to 32 bits. */
MN_INLINE __m256i mn_widen(__m256i v)
{
    return _mm256_madd_epi16(v, _mm256_set1_epi16(1));
}

/* Sums of four products of signed codes with activations. */
MN_INLINE __m256i mn_dot_signed(__m256i w, __m256i x)
{
    return mn_widen(_mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w)));
}

/* Lane [j][i] of the sum is the sum of the four lanes of part j of z[i]. */
MN_INLINE __m256i mn_sum_parts(const __m256i z[4])
{
    const __m256i a = _mm256_add_epi32(_mm256_unpacklo_epi32(z[0], z[1]),
                                       _mm256_unpackhi_epi32(z[0], z[1]));
    const __m256i b = _mm256_add_epi32(_mm256_unpacklo_epi32(z[2], z[3]),
                                       _mm256_unpackhi_epi32(z[2], z[3]));
    return _mm256_add_epi32(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
}

/* a in the first part, b in the second. */
MN_INLINE __m256 mn_set_parts(float a, float b)
{
    return _mm256_set_m128(_mm_set1_ps(b), _mm_set1_ps(a));
}

/* sum = 128 sum + the products of two blocks with one plane of a token. */
MN_INLINE void mn_two_products(__m256i sum[2][4], const mn_two *w, const int8_t *q, unsigned n,
                               mn_form form)
{
    const __m256i q0 = _mm256_loadu_si256((const void *)q);
    const __m256i q1 = n == 2 ? _mm256_loadu_si256((const void *)(q + 32)) : _mm256_setzero_si256();
    const __m256i low = _mm256_permute2x128_si256(q0, q1, 0x20);
    const __m256i high = _mm256_permute2x128_si256(q0, q1, 0x31);
    for (int i = 0; i < 4; i++) {
        for (int h = 0; h < 2; h++) sum[h][i] = _mm256_slli_epi32(sum[h][i], 7);
        if (form == MN_FORM_SIGNED) {
            sum[0][i] = _mm256_add_epi32(sum[0][i],
                                         _mm256_add_epi32(mn_dot_signed(w->low[i], low),
                                                          mn_dot_signed(w->high[i], high)));
            continue;
        }
        const __m256i a = _mm256_maddubs_epi16(w->low[i], low);
        const __m256i c = _mm256_maddubs_epi16(w->high[i], high);
        const __m256i first = mn_widen(form == MN_FORM_HALVES ? a : _mm256_add_epi16(a, c));
        sum[0][i] = _mm256_add_epi32(sum[0][i], first);
        if (form == MN_FORM_HALVES) sum[1][i] = _mm256_add_epi32(sum[1][i], mn_widen(c));
    }
}

/* Blocks b .. b + n - 1 of four rows with one token, into 8 of the 16 partial sums. */
MN_INLINE __m256 mn_two_step(__m256 acc, const uint8_t *const row[4], const mn_acts *x, size_t b,
                             unsigned n, mn_two_fn *read, mn_form form, bool exact)
{
    mn_two w;
    read(&w, row, b, n);
    const float *s = x->s + 2 * b, *d = x->d + b;
    const __m256 scale = mn_set_parts(d[0], n == 2 ? d[1] : 0.0f);
    __m256i      sum[2][4];
    for (int i = 0; i < 8; i++) sum[i / 4][i % 4] = _mm256_setzero_si256();
    mn_two_products(sum, &w, x->q + 32 * b, n, form);
    if (exact) mn_two_products(sum, &w, x->lo + 32 * b, n, form);
    for (int h = 0; h < (form == MN_FORM_HALVES ? 2 : 1); h++) {
        acc = _mm256_fmadd_ps(_mm256_mul_ps(w.scale[h], scale),
                              _mm256_cvtepi32_ps(mn_sum_parts(sum[h])), acc);
        if (form == MN_FORM_SIGNED) return acc;
        const __m256 v = form == MN_FORM_HALVES
                             ? mn_set_parts(s[h], n == 2 ? s[2 + h] : 0.0f)
                             : mn_set_parts(s[0] + s[1], n == 2 ? s[2] + s[3] : 0.0f);
        acc = _mm256_fmadd_ps(w.offset[h], v, acc);
    }
    return acc;
}

/* Four rows with one token. */
MN_INLINE __m128 mn_four_rows(const uint8_t *const row[4], const mn_acts *x, size_t blocks,
                              size_t block_bytes, mn_two_fn *read, mn_form form, bool exact)
{
    __m128 y = _mm_setzero_ps();
    for (size_t b = 0, first = 0; b < blocks; first = b) {
        const size_t end = blocks - first < MN_MM_CHUNK ? blocks : first + MN_MM_CHUNK;
        __m256       acc[2] = { _mm256_setzero_ps(), _mm256_setzero_ps() };
        for (; b + 4 <= end; b += 4) {
            for (int i = 0; i < 4; i++) {
                const char *ahead = (const char *)row[i] + b * block_bytes + MN_PREFETCH;
                _mm_prefetch(ahead, _MM_HINT_T0);
                if (block_bytes > 16) _mm_prefetch(ahead + 64, _MM_HINT_T0);
                if (block_bytes > 32) _mm_prefetch(ahead + 128, _MM_HINT_T0);
            }
            acc[0] = mn_two_step(acc[0], row, x, b, 2, read, form, exact);
            acc[1] = mn_two_step(acc[1], row, x, b + 2, 2, read, form, exact);
        }
        for (int i = 0; b < end; b += 2, i++) {   // up to three blocks at the end of a row
            if (end - b >= 2) {
                acc[i] = mn_two_step(acc[i], row, x, b, 2, read, form, exact);
            } else {
                acc[i] = mn_two_step(acc[i], row, x, b, 1, read, form, exact);
            }
        }
        const __m256 a = _mm256_add_ps(acc[0], acc[1]);
        const __m128 chunk = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
        y = first == 0 ? chunk : _mm_add_ps(y, chunk);
    }
    return y;
}

/* The gemv of every block type. */
MN_INLINE void mn_mm_rows(float *y, const void *w, const mn_acts *x, size_t rows, size_t cols,
                          size_t stride, mn_two_fn *read, mn_form form, bool exact)
{
    const size_t blocks = cols / 32, quarter = rows / 4, rest = rows % 4;
    const size_t block_bytes = stride / (blocks ? blocks : 1);
    for (size_t r = 0; r < quarter + (rest > 0); r++) {
        const bool     last = r == quarter;   // of `rest` neighbouring rows, the last one repeated
        const uint8_t *row[4];
        float          out[4];
        for (size_t i = 0; i < 4; i++) {
            const size_t at = last ? 4 * quarter + (i < rest ? i : rest - 1) : i * quarter + r;
            row[i] = (const uint8_t *)w + at * stride;
        }
        _mm_storeu_ps(out, mn_four_rows(row, x, blocks, block_bytes, read, form, exact));
        for (size_t i = 0; i < (last ? rest : 4); i++) {
            y[last ? 4 * quarter + i : i * quarter + r] = out[i];
        }
    }
}

/* 16 bytes at `at` of each of 8 rows: out[m] has bytes 4m .. 4m + 3 of row i in dword i. */
MN_INLINE void mn_turn16(__m256i out[4], const uint8_t *const row[8], size_t at)
{
    __m256i z[4];
    for (int i = 0; i < 4; i++) z[i] = mn_join2(row[i] + at, row[4 + i] + at);
    const __m256i a = _mm256_unpacklo_epi32(z[0], z[1]), b = _mm256_unpackhi_epi32(z[0], z[1]);
    const __m256i c = _mm256_unpacklo_epi32(z[2], z[3]), d = _mm256_unpackhi_epi32(z[2], z[3]);
    out[0] = _mm256_unpacklo_epi64(a, c);
    out[1] = _mm256_unpackhi_epi64(a, c);
    out[2] = _mm256_unpacklo_epi64(b, d);
    out[3] = _mm256_unpackhi_epi64(b, d);
}

/* The dword at `at` of each of 8 rows. */
MN_INLINE __m256i mn_dwords8(const uint8_t *const row[8], size_t at)
{
    uint32_t v[8];
    for (int i = 0; i < 8; i++) v[i] = mn_load32(row[i] + at);
    return _mm256_loadu_si256((const void *)v);
}

/* The f16 at `at` of each of 8 places. */
MN_INLINE __m256 mn_halves8(const uint8_t *const p[8], size_t at)
{
    uint16_t v[8];
    for (int i = 0; i < 8; i++) v[i] = mn_load16(p[i] + at);
    return _mm256_cvtph_ps(_mm_loadu_si128((const void *)v));
}

#endif
#endif
