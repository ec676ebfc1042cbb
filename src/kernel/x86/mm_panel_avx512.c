/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_panel_avx512.c - two panels of 16 unpacked rows times up to 6 tokens: the gemm of all block types.
 *
 * 2 x 6 integer and as many float sums fill the registers; a broadcast activation serves two
 * VPDPBUSD, because one each would keep the load ports busier than the multipliers.  The four partial
 * sums of an output are made one after another, each over every fourth block of the chunk.
 */
#include "kernel/kernels.h"

#ifdef __AVX512VNNI__
#include "kernel/x86/mm_avx512.h"

enum { TOKENS = 6, PANELS = 2 };

/* What a block of a token contributes besides its codes.  s[0]: of both halves together unless
 * MN_FORM_HALVES; start: -128 times the sum of a plane's codes, in MN_FORM_SIGNED. */
typedef struct factors {
    float   d[TOKENS][MN_MM_CHUNK], s[2][TOKENS][MN_MM_CHUNK];
    int32_t start[2][TOKENS][MN_MM_CHUNK];   // of each plane
} factors;

/* Lane i: the sum of the eight dwords of block i of eight. */
MN_INLINE __m256i block_sums(const int8_t *q)
{
    const __m256i one = _mm256_set1_epi8(1), zero = _mm256_setzero_si256();
    __m256i       v[8];
    for (int i = 0; i < 8; i++) {
        v[i] = _mm256_dpbusd_epi32(zero, one, _mm256_loadu_si256((const void *)(q + 32 * i)));
    }
    for (int i = 0; i < 4; i++) v[i] = _mm256_hadd_epi32(v[2 * i], v[2 * i + 1]);
    const __m256i a = _mm256_hadd_epi32(v[0], v[1]), b = _mm256_hadd_epi32(v[2], v[3]);
    return _mm256_add_epi32(_mm256_permute2x128_si256(a, b, 0x20),
                            _mm256_permute2x128_si256(a, b, 0x31));
}

/* -128 times the sum of the codes of each of n blocks. */
MN_INLINE void prepare_start(int32_t *start, const int8_t *q, size_t n)
{
    size_t b = 0;
    for (; b + 8 <= n; b += 8) {
        const __m256i sum = _mm256_slli_epi32(block_sums(q + 32 * b), 7);
        _mm256_storeu_si256((void *)(start + b), _mm256_sub_epi32(_mm256_setzero_si256(), sum));
    }
    for (; b < n; b++) {
        int sum = 0;
        for (size_t k = 0; k < 32; k++) sum += q[32 * b + k];
        start[b] = -128 * sum;
    }
}

/* The factors of n blocks of one token. */
MN_INLINE void prepare_token(factors *o, unsigned u, const int8_t *const q[2], const float *d,
                             const float *s, size_t n, mn_form form, bool exact)
{
    memcpy(o->d[u], d, n * sizeof *d);
    if (form == MN_FORM_SIGNED) {
        for (int plane = 0; plane < 1 + exact; plane++) prepare_start(o->start[plane][u], q[plane], n);
        return;
    }
    const __m512i   even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i   odd = _mm512_or_si512(even, _mm512_set1_epi32(1));
    const __mmask16 first = (__mmask16)(n >= 8 ? 0xffff : (1u << 2 * n) - 1);
    const __mmask16 second = (__mmask16)(n > 8 ? (1u << 2 * (n - 8)) - 1 : 0);
    const __m512    a = _mm512_maskz_loadu_ps(first, s), b = _mm512_maskz_loadu_ps(second, s + 16);
    const __m512    low = _mm512_permutex2var_ps(a, even, b), high = _mm512_permutex2var_ps(a, odd, b);
    _mm512_storeu_ps(o->s[0][u], form == MN_FORM_HALVES ? low : _mm512_add_ps(low, high));
    if (form == MN_FORM_HALVES) _mm512_storeu_ps(o->s[1][u], high);
}

/* acc[p][u] += the products of half h (or both halves) of block b of panel p with token u. */
MN_INLINE void add_block(__m512 acc[PANELS][TOKENS], const mn_panel *panel, size_t b,
                         const int8_t *const q[2], const factors *o, size_t ld, unsigned N,
                         mn_form form, bool exact, int h)
{
    __m512i sum[PANELS][TOKENS];
    for (int plane = 0; plane < 1 + exact; plane++) {
        for (unsigned u = 0; u < N; u++) {
            const __m512i start = form == MN_FORM_SIGNED ? _mm512_set1_epi32(o->start[plane][u][b])
                                                         : _mm512_setzero_si512();
            for (int p = 0; p < PANELS; p++) {
                sum[p][u] = plane ? _mm512_add_epi32(_mm512_slli_epi32(sum[p][u], 7), start) : start;
            }
        }
        const int from = 4 * h, to = form == MN_FORM_HALVES ? from + 4 : 8;
        for (int m = from; m < to; m++) {
            const __m512i w0 = panel[0].code[b][m], w1 = panel[1].code[b][m];
            for (unsigned u = 0; u < N; u++) {
                int32_t v;
                memcpy(&v, q[plane] + u * ld + 32 * b + 4 * (size_t)m, sizeof v);
                const __m512i x = _mm512_set1_epi32(v);
                sum[0][u] = _mm512_dpbusd_epi32(sum[0][u], w0, x);
                sum[1][u] = _mm512_dpbusd_epi32(sum[1][u], w1, x);
            }
        }
    }
    for (unsigned u = 0; u < N; u++) {
        const __m512 d = _mm512_set1_ps(o->d[u][b]);
        for (int p = 0; p < PANELS; p++) {
            acc[p][u] = _mm512_fmadd_ps(_mm512_mul_ps(panel[p].scale[b][h], d),
                                        _mm512_cvtepi32_ps(sum[p][u]), acc[p][u]);
            if (form == MN_FORM_SIGNED) continue;
            acc[p][u] = _mm512_fmadd_ps(panel[p].offset[b][h], _mm512_set1_ps(o->s[h][u][b]), acc[p][u]);
        }
    }
}

/* N tokens from t on with n blocks from b0 on; y: of the panels' first row and token t; rows: a bit
 * for each row that exists. */
MN_INLINE void tile(float *y, size_t ldy, const mn_panel *panel, const mn_acts *x, size_t t, size_t b0,
                    size_t n, uint32_t rows, unsigned N, mn_form form, bool exact)
{
    const size_t        ld = x->ld, at = t * ld + 32 * b0;
    const int8_t *const q[2] = { x->q + at, exact ? x->lo + at : NULL };
    factors             o;
    __m512              part[3][PANELS][TOKENS];
    for (unsigned u = 0; u < N; u++) {
        const int8_t *const mine[2] = { q[0] + u * ld, exact ? q[1] + u * ld : NULL };
        prepare_token(&o, u, mine, x->d + (t + u) * ld / 32 + b0, x->s + (t + u) * ld / 16 + 2 * b0, n,
                      form, exact);
    }
    for (size_t j = 0; j < 4; j++) {   // partial sums 0, 2, 1, 3: the order in which they are added
        __m512 acc[PANELS][TOKENS];
        for (unsigned u = 0; u < N; u++) acc[0][u] = acc[1][u] = _mm512_setzero_ps();
        for (size_t b = j >> 1 | (j & 1) << 1; b < n; b += 4) {
            add_block(acc, panel, b, q, &o, ld, N, form, exact, 0);
            if (form == MN_FORM_HALVES) add_block(acc, panel, b, q, &o, ld, N, form, exact, 1);
        }
        for (unsigned u = 0; u < N; u++) {
            for (int p = 0; p < PANELS; p++) {
                if (j < 3) {
                    part[j][p][u] = j == 1 ? _mm512_add_ps(part[0][p][u], acc[p][u]) : acc[p][u];
                    continue;
                }
                const __mmask16 mask = (__mmask16)(rows >> 16 * p);
                float          *out = y + u * ldy + 16 * p;
                __m512          v = _mm512_add_ps(part[1][p][u], _mm512_add_ps(part[2][p][u], acc[p][u]));
                if (b0) v = _mm512_add_ps(_mm512_maskz_loadu_ps(mask, out), v);
                _mm512_mask_storeu_ps(out, mask, v);
            }
        }
    }
}

/* All tokens, in tiles as equal as they can be: 7 are 4 and 3, not 6 and 1. */
MN_INLINE void all_tokens(float *y, size_t ldy, const mn_panel *panel, const mn_acts *x, size_t T,
                          size_t b0, size_t n, uint32_t rows, mn_form form, bool exact)
{
    size_t tiles = (T + TOKENS - 1) / TOKENS;
    for (size_t t = 0; t < T; tiles--) {
        const size_t N = (T - t + tiles - 1) / tiles;
        float       *out = y + t * ldy;
        switch (N) {
        case 6: tile(out, ldy, panel, x, t, b0, n, rows, 6, form, exact); break;
        case 5: tile(out, ldy, panel, x, t, b0, n, rows, 5, form, exact); break;
        case 4: tile(out, ldy, panel, x, t, b0, n, rows, 4, form, exact); break;
        case 3: tile(out, ldy, panel, x, t, b0, n, rows, 3, form, exact); break;
        case 2: tile(out, ldy, panel, x, t, b0, n, rows, 2, form, exact); break;
        default: tile(out, ldy, panel, x, t, b0, n, rows, 1, form, exact); break;
        }
        t += N;
    }
}

MN_TOKENS_TABLE(mn_panel, uint32_t)

void mn_mm_panels__avx512(float *y, size_t ldy, const void *w, const mn_acts *x, size_t rows,
                          size_t cols, size_t T, mn_panel_fn *fill, size_t stride, mn_form form)
{
    enum { ROWS = 16 * PANELS };
    const uint8_t *base = w;
    const size_t   blocks = cols / 32;
    mn_panel       panel[PANELS];
    for (size_t r = 0; r < rows; r += ROWS, y += ROWS) {
        const size_t   count = rows - r < ROWS ? rows - r : ROWS;
        const uint32_t mask = 0xffffffff >> (ROWS - count);
        const uint8_t *row[ROWS];
        for (size_t i = 0; i < ROWS; i++) row[i] = base + (r + (i < count ? i : count - 1)) * stride;
        for (size_t b = 0; b < blocks; b += MN_MM_CHUNK) {
            const size_t n = blocks - b < MN_MM_CHUNK ? blocks - b : MN_MM_CHUNK;
            for (int p = 0; p < PANELS; p++) fill(&panel[p], row + 16 * p, b, n);
            TOKENS_OF_FORM[form][x->lo != NULL](y, ldy, panel, x, T, b, n, mask);
        }
    }
}
#endif
