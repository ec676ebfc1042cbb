/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_x_gemm_avx512.c - many tokens with Q4X and Q8X: three panels as bytes in scratch, times 8 columns at a time.
 *
 * The scratch, [cols / 4][panels][64 bytes], stays in the second-level cache while all tokens pass by; the
 * unpacking is paid once for all of them.  3 x 8 sums, three weights and a broadcast activation fill
 * 28 of the 32 registers, and 24 chains hide the latency of VPDPBUSD.
 */
#include "kernel/kernels.h"

#ifdef __AVX512VNNI__
#include "kernel/x86/mm_x_avx512.h"

enum { PANELS = 3, COLUMNS = 8 };

/* A panel as bytes; `step` bytes from four columns to the next four. */
MN_INLINE void unpack(uint8_t *out, size_t step, const uint8_t *panel, size_t cols, mn_xkind kind)
{
    for (size_t k = 0; k < cols; k += MN_QX_STEP, out += 8 * step) {
        const uint8_t *lines = panel + mn_xlines_at(kind, k);
        if (kind == MN_XKIND_Q8X) {
            for (int i = 0; i < 8; i++) _mm512_store_si512(out + (size_t)i * step, mn_xline_q8x(lines, i));
            continue;
        }
        const mn_xmult m = mn_xmult_load(panel + mn_q4x_mult_at(0, k), -128);
        for (int i = 0; i < 4; i++) {
            __m512i w[2];
            mn_xline_q4x(w, lines, i, &m);
            _mm512_store_si512(out + (size_t)(2 * i) * step, w[0]);
            _mm512_store_si512(out + (size_t)(2 * i + 1) * step, w[1]);
        }
    }
}

void mn_xfinish__avx512(const mn_xcall *a, const __m512i *sum, size_t n, size_t panel, size_t t)
{
    const size_t    row = panel * MN_QX_ROWS, left = a->end - row;
    const __mmask16 mask = (__mmask16)(left >= 16 ? 0xffff : (1u << left) - 1);
    const __m512    scale = _mm512_loadu_ps((const float *)(const void *)a->w->data + row);
    const __m512    plane = _mm512_set1_ps(MN_X_PLANE);
    float          *y = a->y + t * a->ldy + row;
    for (size_t c = 0; c < n; t++, y += a->ldy) {
        __m512 v = _mm512_cvtepi32_ps(sum[c++]);
        if (a->x->planes == 2) v = _mm512_fmadd_ps(v, plane, _mm512_cvtepi32_ps(sum[c++]));
        v = _mm512_mul_ps(_mm512_mul_ps(v, scale), _mm512_set1_ps(a->x->scale[t]));
        _mm512_mask_storeu_ps(y, mask, v);
    }
}

/* P panels from `panel` on with N columns, those of the tokens from t on. */
MN_INLINE void tile(const mn_xcall *a, const uint8_t *w, size_t panel, size_t t, int P, int N)
{
    const size_t   ld = a->x->ld, first = t * a->x->planes;
    const int8_t  *q = a->x->q + first * ld;
    const int32_t *total = a->x->total + first;
    __m512i        acc[PANELS][COLUMNS];
    MN_UNROLL
    for (int c = 0; c < N; c++) {
        const __m512i start = _mm512_set1_epi32((int32_t)(0u - 128u * (uint32_t)total[c]));
        MN_UNROLL
        for (int p = 0; p < P; p++) acc[p][c] = start;
    }
    for (size_t k = 0; k < a->cols; k += 4, w += 64 * P, q += 4) {
        __m512i v[PANELS];
        MN_UNROLL
        for (int p = 0; p < P; p++) v[p] = _mm512_load_si512(w + 64 * p);
        MN_UNROLL
        for (int c = 0; c < N; c++) {
            const __m512i b = mn_xbroadcast(q + (size_t)c * ld);
            MN_UNROLL
            for (int p = 0; p < P; p++) acc[p][c] = _mm512_dpbusd_epi32(acc[p][c], v[p], b);
        }
    }
    __m512i sum[PANELS][COLUMNS];
    MN_UNROLL
    for (int p = 0; p < P; p++) {
        MN_UNROLL
        for (int c = 0; c < N; c++) sum[p][c] = acc[p][c];
    }
    for (int p = 0; p < P; p++) mn_xfinish__avx512(a, sum[p], (size_t)N, panel + (size_t)p, t);
}

/* A function for each number of columns keeps the registers of one out of the others' way. */
#define TILE(P, N)                                                                                 \
    static __attribute__((noinline)) void tile_##P##_##N(const mn_xcall *a, const uint8_t *w,      \
                                                         size_t panel, size_t t)                   \
    {                                                                                              \
        tile(a, w, panel, t, P, N);                                                                \
    }
#define TILES(P) TILE(P, 1) TILE(P, 2) TILE(P, 3) TILE(P, 4) TILE(P, 5) TILE(P, 6) TILE(P, 7) TILE(P, 8)
TILES(1)
TILES(2)
TILES(3)

typedef void tile_fn(const mn_xcall *a, const uint8_t *w, size_t panel, size_t t);
#define ROW(P) { tile_##P##_1, tile_##P##_2, tile_##P##_3, tile_##P##_4, \
                 tile_##P##_5, tile_##P##_6, tile_##P##_7, tile_##P##_8 }
static tile_fn *const tiles[PANELS][COLUMNS] = { ROW(1), ROW(2), ROW(3) };

MN_INLINE void gemm(float *y, size_t ldy, const mn_xtensor *w, size_t row, size_t rows,
                    const mn_xacts *x, size_t T, void *scratch, mn_xkind kind)
{
    const mn_xcall a = mn_xcall_of(y, ldy, w, row, rows, x, kind);
    const size_t   most = COLUMNS / x->planes;   // tokens of a tile
    size_t         left = mn_qx_panels(rows), panel = row / MN_QX_ROWS;
    while (left > 0) {
        const size_t P = left == 4 ? 2 : left < PANELS ? left : PANELS;
        for (size_t p = 0; p < P; p++) {
            unpack((uint8_t *)scratch + 64 * p, 64 * P, a.panels + (panel + p) * a.panel_bytes, a.cols, kind);
        }
        for (size_t t = 0, n; t < T; t += n) {
            n = mn_xpass(T - t, most);
            tiles[P - 1][n * x->planes - 1](&a, scratch, panel, t);
        }
        panel += P;
        left -= P;
    }
}

void mn_gemm_q4x__avx512(float *y, size_t ldy, const mn_xtensor *w, size_t row, size_t rows,
                         const mn_xacts *x, size_t T, void *scratch)
{
    gemm(y, ldy, w, row, rows, x, T, scratch, MN_XKIND_Q4X);
}

void mn_gemm_q8x__avx512(float *y, size_t ldy, const mn_xtensor *w, size_t row, size_t rows,
                         const mn_xacts *x, size_t T, void *scratch)
{
    gemm(y, ldy, w, row, rows, x, T, scratch, MN_XKIND_Q8X);
}
#endif
