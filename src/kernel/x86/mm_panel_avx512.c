/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_panel_avx512.c - a panel of 16 unpacked rows times up to 12 tokens: the gemm of all block types.
 *
 * Twelve tokens need 12 integer and 12 float sums in registers; the four partial sums of an output
 * are therefore made one after another, each over every fourth block of the chunk.
 */
#include "kernel/kernels.h"

#ifdef __AVX512VNNI__
#include "kernel/x86/mm_avx512.h"

enum { TOKENS = 12 };

/* Of each token and block: the sum that goes with the offset, or with MN_FORM_SIGNED's added 128. */
typedef union sums {
    float   s[TOKENS][MN_MM_CHUNK];
    int32_t start[TOKENS][MN_MM_CHUNK];
} sums;

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

MN_INLINE void prepare(sums *o, const mn_acts *x, size_t t, size_t b0, size_t n, unsigned N,
                       mn_form form)
{
    for (unsigned u = 0; u < N; u++) {
        const int8_t *q = x->q + (t + u) * x->ld + 32 * b0;
        const float  *s = x->s + (t + u) * x->ld / 16 + 2 * b0;
        size_t        b = 0;
        if (form == MN_FORM_SIGNED) {
            for (; b + 8 <= n; b += 8) {
                const __m256i sum = block_sums(q + 32 * b);
                _mm256_storeu_si256((void *)(o->start[u] + b),
                                    _mm256_sub_epi32(_mm256_setzero_si256(),
                                                     _mm256_slli_epi32(sum, 7)));
            }
            for (; b < n; b++) {
                int sum = 0;
                for (size_t k = 0; k < 32; k++) sum += q[32 * b + k];
                o->start[u][b] = -128 * sum;
            }
        } else if (form == MN_FORM_PLAIN) {
            const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26,
                                                   28, 30);
            const __m512i odd = _mm512_or_si512(even, _mm512_set1_epi32(1));
            for (; b + 16 <= n; b += 16) {
                const __m512 low = _mm512_loadu_ps(s + 2 * b), high = _mm512_loadu_ps(s + 2 * b + 16);
                _mm512_storeu_ps(o->s[u] + b,
                                 _mm512_add_ps(_mm512_permutex2var_ps(low, even, high),
                                               _mm512_permutex2var_ps(low, odd, high)));
            }
            for (; b < n; b++) o->s[u][b] = s[2 * b] + s[2 * b + 1];
        }
    }
}

/* acc[u] += the products of half h (or both halves) of block b with token u. */
MN_INLINE void add_block(__m512 acc[TOKENS], const mn_panel *p, size_t b, const int8_t *q,
                         const float *d, const float *s, const sums *o, size_t ld, unsigned N,
                         mn_form form, int h)
{
    __m512i sum[TOKENS];
    for (unsigned u = 0; u < N; u++) {
        sum[u] = form == MN_FORM_SIGNED ? _mm512_set1_epi32(o->start[u][b]) : _mm512_setzero_si512();
    }
    const int from = 4 * h, to = form == MN_FORM_HALVES ? from + 4 : 8;
    for (int m = from; m < to; m++) {
        const __m512i w = p->code[b][m];
        for (unsigned u = 0; u < N; u++) {
            int32_t v;
            memcpy(&v, q + u * ld + 4 * m, sizeof v);
            sum[u] = _mm512_dpbusd_epi32(sum[u], w, _mm512_set1_epi32(v));
        }
    }
    const __m512 scale = p->scale[b][h], offset = p->offset[b][h];
    for (unsigned u = 0; u < N; u++) {
        const __m512 sd = _mm512_mul_ps(scale, _mm512_set1_ps(d[u * ld / 32]));
        acc[u] = _mm512_fmadd_ps(sd, _mm512_cvtepi32_ps(sum[u]), acc[u]);
        if (form == MN_FORM_SIGNED) continue;
        const float v = form == MN_FORM_HALVES ? s[u * ld / 16 + (unsigned)h] : o->s[u][b];
        acc[u] = _mm512_fmadd_ps(offset, _mm512_set1_ps(v), acc[u]);
    }
}

/* N tokens from t on with n blocks from b0 on; y: of the panel's first row and token t. */
MN_INLINE void tile(float *y, size_t ldy, const mn_panel *p, const mn_acts *x, size_t t, size_t b0,
                    size_t n, __mmask16 rows, unsigned N, mn_form form)
{
    const size_t  ld = x->ld;
    const int8_t *q = x->q + t * ld + 32 * b0;
    const float  *d = x->d + t * ld / 32 + b0, *s = x->s + t * ld / 16 + 2 * b0;
    sums          o;
    __m512        part[3][TOKENS];
    prepare(&o, x, t, b0, n, N, form);

    for (size_t j = 0; j < 4; j++) {   // partial sums 0, 2, 1, 3: the order in which they are added
        const size_t from = j >> 1 | (j & 1) << 1;
        __m512       acc[TOKENS];
        for (unsigned u = 0; u < N; u++) acc[u] = _mm512_setzero_ps();
        for (size_t b = from; b < n; b += 4) {
            add_block(acc, p, b, q + 32 * b, d + b, s + 2 * b, &o, ld, N, form, 0);
            if (form == MN_FORM_HALVES) {
                add_block(acc, p, b, q + 32 * b, d + b, s + 2 * b, &o, ld, N, form, 1);
            }
        }
        for (unsigned u = 0; u < N; u++) {
            if (j < 3) {
                part[j][u] = j == 1 ? _mm512_add_ps(part[0][u], acc[u]) : acc[u];
                continue;
            }
            __m512 chunk = _mm512_add_ps(part[1][u], _mm512_add_ps(part[2][u], acc[u]));
            float *out = y + u * ldy;
            if (b0) chunk = _mm512_add_ps(_mm512_maskz_loadu_ps(rows, out), chunk);
            _mm512_mask_storeu_ps(out, rows, chunk);
        }
    }
}

MN_INLINE void all_tokens(float *y, size_t ldy, const mn_panel *p, const mn_acts *x, size_t T,
                          size_t b0, size_t n, __mmask16 rows, mn_form form)
{
    size_t t = 0;
    for (; t + 12 <= T; t += 12) tile(y + t * ldy, ldy, p, x, t, b0, n, rows, 12, form);
    for (; t + 6 <= T; t += 6) tile(y + t * ldy, ldy, p, x, t, b0, n, rows, 6, form);
    for (; t + 3 <= T; t += 3) tile(y + t * ldy, ldy, p, x, t, b0, n, rows, 3, form);
    for (; t < T; t++) tile(y + t * ldy, ldy, p, x, t, b0, n, rows, 1, form);
}

void mn_mm_panels__avx512(float *y, size_t ldy, const void *w, const mn_acts *x, size_t rows,
                          size_t cols, size_t T, mn_panel_fn *fill, size_t stride, mn_form form)
{
    const uint8_t *base = w;
    const size_t   blocks = cols / 32;
    mn_panel       p;
    for (size_t r = 0; r < rows; r += 16) {
        const size_t   count = rows - r < 16 ? rows - r : 16;
        const uint8_t *row[16];
        for (size_t i = 0; i < 16; i++) row[i] = base + (r + (i < count ? i : count - 1)) * stride;
        for (size_t b = 0; b < blocks; b += MN_MM_CHUNK) {
            const size_t    n = blocks - b < MN_MM_CHUNK ? blocks - b : MN_MM_CHUNK;
            const __mmask16 mask = (__mmask16)((1u << count) - 1);
            fill(&p, row, b, n);
            switch (form) {
            case MN_FORM_PLAIN: all_tokens(y + r, ldy, &p, x, T, b, n, mask, MN_FORM_PLAIN); break;
            case MN_FORM_SIGNED: all_tokens(y + r, ldy, &p, x, T, b, n, mask, MN_FORM_SIGNED); break;
            case MN_FORM_HALVES: all_tokens(y + r, ldy, &p, x, T, b, n, mask, MN_FORM_HALVES); break;
            }
        }
    }
}
#endif
