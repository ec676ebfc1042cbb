/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_x_i8mm.c - five columns and more with Q4X and Q8X through SMMLA, which multiplies two rows of 8 columns
 * with two columns of 8 codes.
 *
 * A panel is multiplied out in scratch in pairs of rows.  Eight rows times eight columns at a time are
 * 16 sums; an odd column is computed twice.  Fewer columns are SDOT's.
 */
#include "kernel/arm/mm_x_arm.h"

#ifdef __ARM_FEATURE_MATMUL_INT8

enum {
    COLUMNS = 8,
    PAIRS = COLUMNS / 2,
    DOTPROD = 4,   // columns that are better left to SDOT
};

/* Codes of columns c and d: the first and the second 8 of 16. */
MN_INLINE void load_pair(int8x16_t x[2], const int8_t *c, const int8_t *d)
{
    const int64x2_t u = vreinterpretq_s64_s8(vld1q_s8(c)), v = vreinterpretq_s64_s8(vld1q_s8(d));
    x[0] = vreinterpretq_s8_s64(vzip1q_s64(u, v));
    x[1] = vreinterpretq_s8_s64(vzip2q_s64(u, v));
}

/* Half h of a panel times N columns; sum[4 c + s] as mn_xfinish__neon wants it. */
MN_INLINE void half(int32x4_t *sum, const mn_xcall *a, const int8_t *w, size_t t, int h, int N)
{
    const size_t  ld = a->x->ld;
    const int8_t *q = a->x->q + t * a->x->planes * ld;
    const int     pairs = (N + 1) / 2;
    int32x4_t     acc[4][PAIRS];   // of two rows and two columns
    MN_UNROLL
    for (int i = 0; i < 4; i++) {
        MN_UNROLL
        for (int c = 0; c < pairs; c++) acc[i][c] = vdupq_n_s32(0);
    }
    w += 64 * h;
    for (size_t k = 0; k < a->cols; k += 16, w += 256, q += 16) {
        int8x16_t x[PAIRS][2];
        MN_UNROLL
        for (int c = 0; c < pairs; c++) {
            const int other = 2 * c + 1 < N ? 2 * c + 1 : 2 * c;
            load_pair(x[c], q + (size_t)(2 * c) * ld, q + (size_t)other * ld);
        }
        MN_UNROLL
        for (int e = 0; e < 2; e++) {
            MN_UNROLL
            for (int i = 0; i < 4; i++) {
                const int8x16_t v = vld1q_s8(w + 128 * e + 16 * i);
                MN_UNROLL
                for (int c = 0; c < pairs; c++) acc[i][c] = vmmlaq_s32(acc[i][c], v, x[c][e]);
            }
        }
    }
    MN_UNROLL
    for (int c = 0; c < N; c++) {
        MN_UNROLL
        for (int i = 0; i < 2; i++) {
            const int32x4_t u = acc[2 * i][c / 2], v = acc[2 * i + 1][c / 2];
            sum[4 * c + 2 * h + i] = c % 2 ? vuzp2q_s32(u, v) : vuzp1q_s32(u, v);
        }
    }
}

#define TILE(N)                                                                                    \
    static __attribute__((noinline)) void tile_##N(const mn_xcall *a, const int8_t *w,             \
                                                   size_t panel, size_t t)                         \
    {                                                                                              \
        int32x4_t sum[4 * COLUMNS];                                                                \
        half(sum, a, w, t, 0, N);                                                                  \
        half(sum, a, w, t, 1, N);                                                                  \
        mn_xfinish__neon(a, sum, N, panel, t);                                                       \
    }
TILE(1)
TILE(2)
TILE(3)
TILE(4)
TILE(5)
TILE(6)
TILE(7)
TILE(8)
static mn_xtile_arm_fn *const tiles[COLUMNS] = { tile_1, tile_2, tile_3, tile_4,
                                                 tile_5, tile_6, tile_7, tile_8 };

#define FAMILY(kind, KIND)                                                                         \
    static void mm_##kind(float *y, size_t ldy, const mn_xtensor *w, size_t row, size_t rows,      \
                          const mn_xacts *x, size_t T, void *scratch)                              \
    {                                                                                              \
        const mn_xcall a = mn_xcall_of(y, ldy, w, row, rows, x, KIND);                             \
        if (T * x->planes <= DOTPROD) {                                                            \
            mn_xmm_##kind##__dotprod.small(y, ldy, w, row, rows, x, T, scratch);                   \
        } else {                                                                                   \
            mn_xtiled_arm(&a, row, rows, T, scratch, KIND, true, tiles, COLUMNS);                  \
        }                                                                                          \
    }                                                                                              \
    const mn_xmatmul mn_xmm_##kind##__i8mm = { mm_##kind, mm_##kind, mm_##kind };
FAMILY(q4x, MN_XKIND_Q4X)
FAMILY(q8x, MN_XKIND_Q8X)
#endif
