/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_avx512.h - matrix products of the block types with AVX-512 VNNI: what their readers share.
 *
 * One token (gemv): four rows, four blocks of each at a time.  VPDPBUSD leaves four sums in a 128-bit
 * lane per block; adding across the four rows' registers turns them into one register of 4 blocks x
 * 4 rows, which is also what the scales are collected into, and the accumulator: its lane is b % 4.
 * The rows are a quarter of the matrix apart, because memory answers four streams faster than one.
 *
 * Many tokens (gemm): the codes of 16 rows are unpacked once into a panel whose 64-byte lines hold
 * four consecutive codes of each row, so that a register of sums is 16 rows of one token and the
 * activations are a broadcast memory operand.
 */
#ifndef MN_KERNEL_MM_AVX512_H
#define MN_KERNEL_MM_AVX512_H

#ifdef __AVX512VNNI__
#include <immintrin.h>
#include <string.h>

#include "kernel/scalar/mm_scalar.h"
#include "kernel/x86/mm_x86.h"

/* Four rows x four blocks: the first and the second 16 codes of each block of each row, and per
 * lane [block][row] the scale and offset of both halves ([0] serves both unless MN_FORM_HALVES). */
typedef struct mn_four {
    __m512i low[4], high[4];
    __m512  scale[2], offset[2];
} mn_four;

/* Read blocks b .. b + n - 1 of four rows, n <= 4; b is a multiple of 4; the rest is zero. */
typedef void mn_four_fn(mn_four *o, const uint8_t *const row[4], size_t b, unsigned n);

/* 16 rows x up to a chunk of blocks: line [b][m] holds codes 4m .. 4m + 3 of each row. */
typedef struct mn_panel {
    __m512i code[MN_MM_CHUNK][8];
    __m512  scale[MN_MM_CHUNK][2], offset[MN_MM_CHUNK][2];
} mn_panel;

/* Unpack blocks b .. b + n - 1 of 16 rows. */
typedef void mn_panel_fn(mn_panel *p, const uint8_t *const row[16], size_t b, size_t n);

/* The gemm of every block type. */
void mn_mm_panels__avx512(float *y, size_t ldy, const void *w, const mn_acts *x, size_t rows,
                          size_t cols, size_t T, mn_panel_fn *fill, size_t stride, mn_form form);

/* 16 bytes from each of four places. */
MN_INLINE __m512i mn_join4(const uint8_t *a, const uint8_t *b, const uint8_t *c, const uint8_t *d)
{
    __m512i v = _mm512_castsi128_si512(_mm_loadu_si128((const void *)a));
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const void *)b), 1);
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const void *)c), 2);
    return _mm512_inserti32x4(v, _mm_loadu_si128((const void *)d), 3);
}

/* Lane [j][i] of the sum is the sum of the four lanes of part j of z[i]. */
MN_INLINE __m512i mn_sum_parts(const __m512i z[4])
{
    const __m512i a = _mm512_add_epi32(_mm512_unpacklo_epi32(z[0], z[1]),
                                       _mm512_unpackhi_epi32(z[0], z[1]));
    const __m512i b = _mm512_add_epi32(_mm512_unpacklo_epi32(z[2], z[3]),
                                       _mm512_unpackhi_epi32(z[2], z[3]));
    return _mm512_add_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
}

/* Four blocks of a token's activations, arranged as mn_four is; [1] of low and high: the second plane. */
typedef struct mn_four_x {
    __m512i low[2], high[2];
    __m512  d, s[2];   // s[0] of both halves together unless MN_FORM_HALVES
} mn_four_x;

MN_INLINE mn_four_x mn_four_acts(const mn_acts *x, size_t b, unsigned n, mn_form form, bool exact)
{
    const __mmask64 m0 = n >= 2 ? ~0ull : 0xffffffffull;
    const __mmask64 m1 = n == 4 ? ~0ull : n == 3 ? 0xffffffffull : 0;
    const __m256    s = _mm256_maskz_loadu_ps((__mmask8)((1u << 2 * n) - 1), x->s + 2 * b);
    const __m128    d = _mm_maskz_loadu_ps((__mmask8)((1u << n) - 1), x->d + b);
    const __m512i   block = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    const __m512i   even = _mm512_slli_epi32(block, 1);
    const __m512i   odd = _mm512_or_si512(even, _mm512_set1_epi32(1));

    mn_four_x o;
    for (int plane = 0; plane < 1 + exact; plane++) {
        const int8_t *q = (plane ? x->lo : x->q) + 32 * b;
        const __m512i q0 = _mm512_maskz_loadu_epi8(m0, q), q1 = _mm512_maskz_loadu_epi8(m1, q + 64);
        o.low[plane] = _mm512_shuffle_i64x2(q0, q1, 0x88);
        o.high[plane] = _mm512_shuffle_i64x2(q0, q1, 0xdd);
    }
    o.d = _mm512_permutexvar_ps(block, _mm512_castps128_ps512(d));
    o.s[0] = _mm512_permutexvar_ps(even, _mm512_castps256_ps512(s));
    o.s[1] = _mm512_permutexvar_ps(odd, _mm512_castps256_ps512(s));
    if (form != MN_FORM_HALVES) o.s[0] = _mm512_add_ps(o.s[0], o.s[1]);
    return o;
}

/* Blocks b .. b + n - 1 of four rows with one token, into the 16 partial sums. */
MN_INLINE __m512 mn_four_step(__m512 acc, const uint8_t *const row[4], const mn_acts *x, size_t b,
                              unsigned n, mn_four_fn *read, mn_form form, bool exact)
{
    const __m512i zero = _mm512_setzero_si512();
    mn_four       w;
    __m512i       sum[2][4];
    read(&w, row, b, n);
    const mn_four_x v = mn_four_acts(x, b, n, form, exact);

    for (int plane = 0; plane < 1 + exact; plane++) {
        const __m512i low = v.low[plane], high = v.high[plane];
        __m512i       start = zero;
        if (form == MN_FORM_SIGNED) {   // take back what the added 128 contributes
            const __m512i bias = _mm512_set1_epi8((char)0x80);
            start = _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(zero, bias, low), bias, high);
            start = _mm512_sub_epi32(zero, start);
        }
        for (int i = 0; i < 4; i++) {
            if (form == MN_FORM_HALVES) {
                const __m512i a = plane ? _mm512_slli_epi32(sum[0][i], 7) : zero;
                const __m512i c = plane ? _mm512_slli_epi32(sum[1][i], 7) : zero;
                sum[0][i] = _mm512_dpbusd_epi32(a, w.low[i], low);
                sum[1][i] = _mm512_dpbusd_epi32(c, w.high[i], high);
                continue;
            }
            const __m512i a = plane ? _mm512_add_epi32(_mm512_slli_epi32(sum[1][i], 7), start) : start;
            sum[1][i] = _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(a, w.low[i], low), w.high[i], high);
        }
    }
    if (form == MN_FORM_HALVES) {
        for (int h = 0; h < 2; h++) {
            acc = _mm512_fmadd_ps(_mm512_mul_ps(w.scale[h], v.d),
                                  _mm512_cvtepi32_ps(mn_sum_parts(sum[h])), acc);
            acc = _mm512_fmadd_ps(w.offset[h], v.s[h], acc);
        }
        return acc;
    }
    acc = _mm512_fmadd_ps(_mm512_mul_ps(w.scale[0], v.d), _mm512_cvtepi32_ps(mn_sum_parts(sum[1])),
                          acc);
    return form == MN_FORM_SIGNED ? acc : _mm512_fmadd_ps(w.offset[0], v.s[0], acc);
}

/* Four rows with one token. */
MN_INLINE __m128 mn_four_rows(const uint8_t *const row[4], const mn_acts *x, size_t blocks,
                              size_t block_bytes, mn_four_fn *read, mn_form form, bool exact)
{
    __m128 y = _mm_setzero_ps();
    for (size_t b = 0, first = 0; b < blocks; first = b) {
        const size_t end = blocks - first < MN_MM_CHUNK ? blocks : first + MN_MM_CHUNK;
        __m512       acc = _mm512_setzero_ps();
        for (; b + 4 <= end; b += 4) {
            for (int i = 0; i < 4; i++) {
                const char *ahead = (const char *)row[i] + b * block_bytes + MN_PREFETCH;
                _mm_prefetch(ahead, _MM_HINT_T0);
                if (block_bytes > 16) _mm_prefetch(ahead + 64, _MM_HINT_T0);
                if (block_bytes > 32) _mm_prefetch(ahead + 128, _MM_HINT_T0);
            }
            acc = mn_four_step(acc, row, x, b, 4, read, form, exact);
        }
        if (b < end) {
            acc = mn_four_step(acc, row, x, b, (unsigned)(end - b), read, form, exact);
            b = end;
        }
        const __m256 a = _mm256_add_ps(_mm512_castps512_ps256(acc), _mm512_extractf32x8_ps(acc, 1));
        const __m128 chunk = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
        y = first == 0 ? chunk : _mm_add_ps(y, chunk);
    }
    return y;
}

/* The gemv of every block type; block_bytes: of 32 values. */
MN_INLINE void mn_mm_rows(float *y, const void *w, const mn_acts *x, size_t rows, size_t cols,
                          size_t stride, mn_four_fn *read, mn_form form, bool exact)
{
    const uint8_t *p = w;
    const size_t   blocks = cols / 32, quarter = rows / 4;
    const size_t   block_bytes = stride / (blocks ? blocks : 1);
    float          out[4];
    for (size_t r = 0; r < quarter; r++) {
        const uint8_t *const row[4] = { p + r * stride, p + (quarter + r) * stride,
                                        p + (2 * quarter + r) * stride,
                                        p + (3 * quarter + r) * stride };
        _mm_storeu_ps(out, mn_four_rows(row, x, blocks, block_bytes, read, form, exact));
        for (size_t i = 0; i < 4; i++) y[i * quarter + r] = out[i];
    }
    const size_t rest = 4 * quarter;
    if (rest < rows) {
        const uint8_t *row[4];
        for (size_t i = 0; i < 4; i++) row[i] = p + (rest + i < rows ? rest + i : rows - 1) * stride;
        _mm_storeu_ps(out, mn_four_rows(row, x, blocks, block_bytes, read, form, exact));
        memcpy(y + rest, out, (rows - rest) * sizeof *y);
    }
}

/* Turn the 4 x 4 dwords of each part: dword [j][i] of out[m] is dword m of part j of z[i]. */
MN_INLINE void mn_transpose(__m512i out[4], const __m512i z[4])
{
    const __m512i a = _mm512_unpacklo_epi32(z[0], z[1]), b = _mm512_unpackhi_epi32(z[0], z[1]);
    const __m512i c = _mm512_unpacklo_epi32(z[2], z[3]), d = _mm512_unpackhi_epi32(z[2], z[3]);
    out[0] = _mm512_unpacklo_epi64(a, c);
    out[1] = _mm512_unpackhi_epi64(a, c);
    out[2] = _mm512_unpacklo_epi64(b, d);
    out[3] = _mm512_unpackhi_epi64(b, d);
}

/* 16 bytes at `at` of each of 16 rows: out[m] has bytes 4m .. 4m + 3 of row i in dword i. */
MN_INLINE void mn_turn16(__m512i out[4], const uint8_t *const row[16], size_t at)
{
    __m512i z[4];
    for (int i = 0; i < 4; i++) {
        z[i] = mn_join4(row[i] + at, row[4 + i] + at, row[8 + i] + at, row[12 + i] + at);
    }
    mn_transpose(out, z);
}

/* The dword at `at` of each of 16 rows. */
MN_INLINE __m512i mn_dwords16(const uint8_t *const row[16], size_t at)
{
    uint32_t v[16];
    for (int i = 0; i < 16; i++) v[i] = mn_load32(row[i] + at);
    return _mm512_loadu_si512(v);
}

/* The f16 at `at` of each of 16 rows. */
MN_INLINE __m512 mn_halves16(const uint8_t *const row[16], size_t at)
{
    uint16_t v[16];
    for (int i = 0; i < 16; i++) v[i] = mn_load16(row[i] + at);
    return _mm512_cvtph_ps(_mm256_loadu_si256((const void *)v));
}

#endif
#endif
