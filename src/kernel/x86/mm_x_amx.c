/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_x_amx.c - three columns and more with Q4X and Q8X on the matrix unit.
 *
 * A tile of weights is 64 columns of a panel, 16 rows of 64 bytes: what the lines of the file are once
 * multiplied out, so Q8X is loaded from where it is mapped.  A tile of activations is 64 values of up to 16 columns.
 * Tiles 0 to 3 hold sums, 4 and 5 activations, 6 and 7 weights:
 *
 *     up to 16 columns     four panels side by side, one stream of memory each
 *     up to 32             two panels times two tiles of activations
 *     more                 the same, 32 columns at a time; the first time leaves the weights in scratch
 *
 * The vector unit multiplies out the next 64 columns while the matrix unit works on these.  A last
 * step with fewer columns than the others begins earlier instead, and computes some of them again: so one
 * configuration serves a call.  It is gone when the call returns, and with it the tiles' state.
 */
#include "kernel/kernels.h"

#if defined(__AMX_INT8__) || defined(MN_TILES_EMULATED)
#include "kernel/x86/mm_x_amx.h"
#include "kernel/x86/mm_x_avx512.h"

enum {
    COLUMNS = 16,   // rows of a tile of activations
    BLOCK = 64,     // bytes of a row of it
    TILE = 1024,    // bytes
    SLOTS = 4,      // of the ring that holds weights nobody wants again
    AHEAD = 2048,   // bytes
    VECTORS = 2,    // columns that are better left to VPDPBUSD
};

/* What LDTILECFG reads. */
typedef struct tile_config {
    uint8_t  palette, start, reserved[14];
    uint16_t row_bytes[16];
    uint8_t  rows[16];
} tile_config;

/* n <= 32 columns: tiles 0 and 2, 1 and 3 are the sums of the first and second 16 when there are two,
 * each of another panel when there is one. */
static void configure(size_t n)
{
    const uint8_t first = (uint8_t)(n < COLUMNS ? n : COLUMNS);
    const uint8_t second = (uint8_t)(n > COLUMNS ? n - COLUMNS : first);
    tile_config   c = {
          .palette = 1,
          .row_bytes = { BLOCK, BLOCK, BLOCK, BLOCK, BLOCK, BLOCK, BLOCK, BLOCK },
          .rows = { first, second, first, second, first, second, TILE / BLOCK, TILE / BLOCK },
    };
    MN_OPAQUE_MEMORY(&c);   // gcc 12 takes the instruction to read one byte
    _tile_loadconfig(&c);
}

/* A step's panels and columns. */
typedef struct step {
    uint8_t *scratch;
    size_t   mask;           // of the slot of a block in scratch
    size_t   panel, apart;   // the first, and how far it is to the next
    size_t   column;
    bool     unpacked;       // the weights are in scratch already
} step;

MN_INLINE uint8_t *slot(const step *s, size_t k, int p, int P)
{
    return s->scratch + ((k / BLOCK & s->mask) * (size_t)P + (size_t)p) * TILE;
}

MN_INLINE bool in_place(mn_xkind kind, size_t k, size_t cols)
{
    return kind == MN_XKIND_Q8X && cols - k >= BLOCK;
}

/* 64 columns of a panel from k on, as a tile; zeros for what lies beyond the matrix. */
MN_INLINE void unpack(uint8_t *out, const uint8_t *panel, size_t k, size_t cols, mn_xkind kind)
{
    MN_UNROLL
    for (int half = 0; half < 2; half++, out += TILE / 2, k += MN_QX_STEP) {
        if (half == 1 && k == cols) {
            memset(out, 0, TILE / 2);
            return;
        }
        const uint8_t *lines = panel + mn_xlines_at(kind, k);
        if (kind == MN_XKIND_Q8X) {
            memcpy(out, lines, TILE / 2);
            continue;
        }
        const mn_xmult m = mn_xmult_load(panel + mn_q4x_mult_at(0, k), 0);
        MN_UNROLL
        for (int i = 0; i < 4; i++) {
            __m512i w[2];
            _mm_prefetch((const char *)lines + AHEAD + 64 * i, _MM_HINT_T0);
            mn_xline_q4x(w, lines, i, &m);
            _mm512_store_si512(out + 128 * i, w[0]);
            _mm512_store_si512(out + 128 * i + 64, w[1]);
        }
    }
}

/* The block of columns k of P panels: made ready for multiply. */
MN_INLINE void prepare(const mn_xcall *a, const step *s, size_t k, int P, mn_xkind kind)
{
    MN_UNROLL
    for (int p = 0; p < P; p++) {
        const uint8_t *panel = a->panels + (s->panel + (size_t)p * s->apart) * a->panel_bytes;
        if (in_place(kind, k, a->cols)) {
            const char *lines = (const char *)panel + 16 * k + AHEAD;
            for (int i = 0; i < TILE; i += 64) _mm_prefetch(lines + i, _MM_HINT_T0);
        } else {
            unpack(slot(s, k, p, P), panel, k, a->cols, kind);
        }
    }
}

/* Sums += the block of columns k of P panels times N tiles of activations. */
MN_INLINE void multiply(const mn_xcall *a, const step *s, size_t k, int P, int N, mn_xkind kind)
{
    const size_t  ld = a->x->ld;
    const int8_t *q = a->x->q + s->column * ld + k;
    MN_OPAQUE_MEMORY(s->scratch);   // gcc 12 does not know that loads of tiles read memory
    _tile_loadd(4, q, ld);
    if (N == 2) _tile_loadd(5, q + COLUMNS * ld, ld);
    MN_UNROLL
    for (int p = 0; p < P; p++) {
        const uint8_t *panel = a->panels + (s->panel + (size_t)p * s->apart) * a->panel_bytes;
        const uint8_t *w = in_place(kind, k, a->cols) ? panel + 16 * k : slot(s, k, p, P);
        if (p % 2 == 0) _tile_loadd(6, w, BLOCK);
        else _tile_loadd(7, w, BLOCK);
        switch (2 * p + N) {
        case 1: _tile_dpbssd(0, 4, 6); break;
        case 3: _tile_dpbssd(1, 4, 7); break;
        case 5: _tile_dpbssd(2, 4, 6); break;
        case 7: _tile_dpbssd(3, 4, 7); break;
        case 2:
            _tile_dpbssd(0, 4, 6);
            _tile_dpbssd(1, 5, 6);
            break;
        case 4:
            _tile_dpbssd(2, 4, 7);
            _tile_dpbssd(3, 5, 7);
            break;
        }
    }
}

/* P panels times `n` columns in N tiles, from the first k to the floats; n is what was configured. */
MN_INLINE void run(const mn_xcall *a, const step *s, size_t n, int P, int N, mn_xkind kind)
{
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    if (!s->unpacked) prepare(a, s, 0, P, kind);
    for (size_t k = 0; k < a->cols; k += BLOCK) {
        if (!s->unpacked && a->cols - k > BLOCK) prepare(a, s, k + BLOCK, P, kind);
        multiply(a, s, k, P, N, kind);
    }
    __m512i sum[4][COLUMNS];   // of tile 0 to 3
    _tile_stored(0, sum[0], BLOCK);
    if (P * N > 1) _tile_stored(1, sum[1], BLOCK);
    if (P * N > 2) {
        _tile_stored(2, sum[2], BLOCK);
        _tile_stored(3, sum[3], BLOCK);
    }
    for (int i = 0; i < P * N; i++) {
        const size_t from = i % N ? COLUMNS : 0, left = n - from;
        mn_xfinish__avx512(a, sum[i], left < COLUMNS ? left : COLUMNS,
                           s->panel + (size_t)(i / N) * s->apart, (s->column + from) / a->x->planes);
    }
}

typedef void run_fn(const mn_xcall *a, const step *s, size_t n);

#define RUN(kind, KIND, P, N)                                                                      \
    static __attribute__((noinline)) void kind##_##P##_##N(const mn_xcall *a, const step *s,       \
                                                           size_t n)                               \
    {                                                                                              \
        run(a, s, n, P, N, KIND);                                                                  \
    }
#define RUNS(kind, KIND)                                                                           \
    RUN(kind, KIND, 1, 1) RUN(kind, KIND, 1, 2) RUN(kind, KIND, 2, 1) RUN(kind, KIND, 2, 2)         \
    RUN(kind, KIND, 4, 1)                                                                          \
    static const runs kind##_runs = { kind##_4_1, { { kind##_1_1, kind##_1_2 },                    \
                                                    { kind##_2_1, kind##_2_2 } } };

/* Of one type: four panels with up to 16 columns; one and two panels with one and two tiles. */
typedef struct runs {
    run_fn *four, *of[2][2];
} runs;
RUNS(q4x, MN_XKIND_Q4X)
RUNS(q8x, MN_XKIND_Q8X)

/* Up to 32 columns: panels far apart. */
MN_INLINE void narrow(const mn_xcall *a, size_t panel, size_t panels, size_t n, uint8_t *scratch,
                      const runs *r)
{
    const size_t  N = n > COLUMNS ? 2 : 1, P = N == 2 ? 2 : 4, apart = panels / P;
    run_fn *const many = N == 2 ? r->of[1][1] : r->four;
    step          s = { .scratch = scratch, .mask = SLOTS - 1, .panel = panel, .apart = apart };
    for (size_t i = 0; i < apart; i++, s.panel++) many(a, &s, n);
    s.panel = panel + P * apart;
    for (; s.panel < panel + panels; s.panel++) r->of[0][N - 1](a, &s, n);
}

/* More: all columns pass by two panels. */
MN_INLINE void wide(const mn_xcall *a, size_t panel, size_t panels, size_t n, uint8_t *scratch,
                    const runs *r)
{
    for (size_t P; panels > 0; panel += P, panels -= P) {
        P = panels > 1 ? 2 : 1;
        step s = { .scratch = scratch, .mask = SIZE_MAX, .panel = panel, .apart = 1 };
        for (size_t c = 0; c < n; c += 2 * COLUMNS) {
            const size_t N = n - c > COLUMNS ? 2 : 1, end = n - N * COLUMNS;
            s.column = c < end ? c : end;
            r->of[P - 1][N - 1](a, &s, N * COLUMNS);
            s.unpacked = true;
        }
    }
}

MN_INLINE void mm(float *y, size_t ldy, const mn_xtensor *w, size_t row, size_t rows,
                  const mn_xacts *x, size_t T, void *scratch, mn_xkind kind, const runs *r)
{
    const mn_xcall a = mn_xcall_of(y, ldy, w, row, rows, x, kind);
    const size_t   n = T * x->planes, first = row / MN_QX_ROWS, panels = mn_qx_panels(rows);
    configure(n < 2 * COLUMNS ? n : 2 * COLUMNS);
    if (n <= 2 * COLUMNS) narrow(&a, first, panels, n, scratch, r);
    else wide(&a, first, panels, n, scratch, r);
    _tile_release();
}

#define FAMILY(kind, KIND)                                                                         \
    static void mm_##kind(float *y, size_t ldy, const mn_xtensor *w, size_t row, size_t rows,      \
                          const mn_xacts *x, size_t T, void *scratch)                              \
    {                                                                                              \
        if (T * x->planes <= VECTORS) {                                                            \
            mn_xmm_##kind##__avx512.gemv(y, ldy, w, row, rows, x, T, scratch);                     \
        } else {                                                                                   \
            mm(y, ldy, w, row, rows, x, T, scratch, KIND, &kind##_runs);                           \
        }                                                                                          \
    }                                                                                              \
    const mn_xmatmul mn_xmm_##kind##__amx = { mm_##kind, mm_##kind, mm_##kind };
FAMILY(q4x, MN_XKIND_Q4X)
FAMILY(q8x, MN_XKIND_Q8X)
#endif
