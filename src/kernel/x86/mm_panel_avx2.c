/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_panel_avx2.c - a panel of 8 unpacked rows times up to 4 tokens: the gemm of all block types.
 */
#include "kernel/kernels.h"

#ifdef __AVX2__
#include "kernel/x86/mm_avx2.h"

enum { TOKENS = 4 };

MN_INLINE __m256i four_codes(const int8_t *q)
{
    int32_t v;
    memcpy(&v, q, sizeof v);
    return _mm256_set1_epi32(v);
}

/* sum[u] += products of codes 4m .. 4m + 15 of a block with token u. */
MN_INLINE void add_16(__m256i sum[TOKENS], const __m256i code[8], const int8_t *q, size_t ld, int m,
                      unsigned N, mn_form form)
{
    for (unsigned u = 0; u < N; u++) {
        const int8_t *p = q + u * ld + 4 * m;
        if (form == MN_FORM_SIGNED) {
            for (int i = 0; i < 4; i++) {
                sum[u] = _mm256_add_epi32(sum[u], mn_dot_signed(code[m + i], four_codes(p + 4 * i)));
            }
            continue;
        }
        const __m256i a = _mm256_add_epi16(_mm256_maddubs_epi16(code[m], four_codes(p)),
                                           _mm256_maddubs_epi16(code[m + 1], four_codes(p + 4)));
        const __m256i b = _mm256_add_epi16(_mm256_maddubs_epi16(code[m + 2], four_codes(p + 8)),
                                           _mm256_maddubs_epi16(code[m + 3], four_codes(p + 12)));
        if (form == MN_FORM_HALVES) {
            sum[u] = _mm256_add_epi32(sum[u], _mm256_add_epi32(mn_widen(a), mn_widen(b)));
        } else {
            sum[u] = _mm256_add_epi32(sum[u], mn_widen(_mm256_add_epi16(a, b)));
        }
    }
}

/* acc[u] += the products of half h (or both halves) of block b with token u. */
MN_INLINE void add_block(__m256 acc[TOKENS], const mn_panel8 *p, size_t b, const int8_t *const q[2],
                         const float *d, const float *s, size_t ld, unsigned N, mn_form form,
                         bool exact, int h)
{
    __m256i sum[TOKENS];
    for (unsigned u = 0; u < N; u++) sum[u] = _mm256_setzero_si256();
    for (int plane = 0; plane < 1 + exact; plane++) {
        for (unsigned u = 0; u < N && plane; u++) sum[u] = _mm256_slli_epi32(sum[u], 7);
        add_16(sum, p->code[b], q[plane] + 32 * b, ld, 4 * h, N, form);
        if (form != MN_FORM_HALVES) add_16(sum, p->code[b], q[plane] + 32 * b, ld, 4, N, form);
    }
    for (unsigned u = 0; u < N; u++) {
        const __m256 scale = _mm256_mul_ps(p->scale[b][h], _mm256_set1_ps(d[u * ld / 32]));
        acc[u] = _mm256_fmadd_ps(scale, _mm256_cvtepi32_ps(sum[u]), acc[u]);
        if (form == MN_FORM_SIGNED) continue;
        const float *v = s + u * ld / 16;
        acc[u] = _mm256_fmadd_ps(p->offset[b][h],
                                 _mm256_set1_ps(form == MN_FORM_HALVES ? v[h] : v[0] + v[1]), acc[u]);
    }
}

/* N tokens from t on with n blocks from b0 on; y: of the panel's first row and token t. */
MN_INLINE void tile(float *y, size_t ldy, const mn_panel8 *p, const mn_acts *x, size_t t, size_t b0,
                    size_t n, __m256i rows, unsigned N, mn_form form, bool exact)
{
    const size_t        ld = x->ld, at = t * ld + 32 * b0;
    const int8_t *const q[2] = { x->q + at, exact ? x->lo + at : NULL };
    const float  *d = x->d + t * ld / 32 + b0, *s = x->s + t * ld / 16 + 2 * b0;
    __m256        part[3][TOKENS];

    for (size_t j = 0; j < 4; j++) {   // partial sums 0, 2, 1, 3: the order in which they are added
        __m256 acc[TOKENS];
        for (unsigned u = 0; u < N; u++) acc[u] = _mm256_setzero_ps();
        for (size_t b = j >> 1 | (j & 1) << 1; b < n; b += 4) {
            add_block(acc, p, b, q, d + b, s + 2 * b, ld, N, form, exact, 0);
            if (form == MN_FORM_HALVES) {
                add_block(acc, p, b, q, d + b, s + 2 * b, ld, N, form, exact, 1);
            }
        }
        for (unsigned u = 0; u < N; u++) {
            if (j < 3) {
                part[j][u] = j == 1 ? _mm256_add_ps(part[0][u], acc[u]) : acc[u];
                continue;
            }
            __m256 chunk = _mm256_add_ps(part[1][u], _mm256_add_ps(part[2][u], acc[u]));
            float *out = y + u * ldy;
            if (b0) chunk = _mm256_add_ps(_mm256_maskload_ps(out, rows), chunk);
            _mm256_maskstore_ps(out, rows, chunk);
        }
    }
}

MN_INLINE void all_tokens(float *y, size_t ldy, const mn_panel8 *p, const mn_acts *x, size_t T,
                          size_t b0, size_t n, __m256i rows, mn_form form, bool exact)
{
    size_t t = 0;
    for (; t + 4 <= T; t += 4) tile(y + t * ldy, ldy, p, x, t, b0, n, rows, 4, form, exact);
    for (; t + 2 <= T; t += 2) tile(y + t * ldy, ldy, p, x, t, b0, n, rows, 2, form, exact);
    if (t < T) tile(y + t * ldy, ldy, p, x, t, b0, n, rows, 1, form, exact);
}

MN_TOKENS_TABLE(mn_panel8, __m256i)

void mn_mm_panels__avx2(float *y, size_t ldy, const void *w, const mn_acts *x, size_t rows,
                        size_t cols, size_t T, mn_panel8_fn *fill, size_t stride, mn_form form)
{
    const uint8_t *base = w;
    const size_t   blocks = cols / 32;
    mn_panel8      p;
    for (size_t r = 0; r < rows; r += 8) {
        const int      count = rows - r < 8 ? (int)(rows - r) : 8;
        const __m256i  mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(count),
                                                 _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
        const uint8_t *row[8];
        for (int i = 0; i < 8; i++) row[i] = base + (r + (size_t)(i < count ? i : count - 1)) * stride;
        for (size_t b = 0; b < blocks; b += MN_MM_CHUNK) {
            const size_t n = blocks - b < MN_MM_CHUNK ? blocks - b : MN_MM_CHUNK;
            fill(&p, row, b, n);
            TOKENS_OF_FORM[form][x->lo != NULL](y + r, ldy, &p, x, T, b, n, mask);
        }
    }
}
#endif
