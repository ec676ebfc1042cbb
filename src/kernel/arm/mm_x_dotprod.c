/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_x_dotprod.c - products with Q4X and Q8X through SDOT by element: one register of 16 activations
 * serves four steps.
 *
 * More than four columns multiply a panel out in scratch first, [cols / 4][64 bytes], and take five
 * columns at a time: 20 sums, four weights and five activations in 29 registers.
 */
#include "kernel/arm/mm_x_arm.h"

#ifdef __ARM_FEATURE_DOTPROD

enum {
    COLUMNS = 5,
    STRAIGHT = 4,   // columns that are not worth the scratch
};

MN_INLINE int32x4_t dot(int32x4_t acc, const int8x16_t v[4], int8x16_t x)
{
    acc = vdotq_laneq_s32(acc, v[0], x, 0);
    acc = vdotq_laneq_s32(acc, v[1], x, 1);
    acc = vdotq_laneq_s32(acc, v[2], x, 2);
    return vdotq_laneq_s32(acc, v[3], x, 3);
}

MN_XPARTS_ARM(q4x, MN_XKIND_Q4X)
MN_XPART_ARM(q4x, MN_XKIND_Q4X, 1, 3)
MN_XPART_ARM(q4x, MN_XKIND_Q4X, 1, 4)
static mn_xpart_arm_fn *const q4x_near[STRAIGHT] = { q4x_1_1, q4x_1_2, q4x_1_3, q4x_1_4 };

MN_XPARTS_ARM(q8x, MN_XKIND_Q8X)
MN_XPART_ARM(q8x, MN_XKIND_Q8X, 1, 3)
MN_XPART_ARM(q8x, MN_XKIND_Q8X, 1, 4)
static mn_xpart_arm_fn *const q8x_near[STRAIGHT] = { q8x_1_1, q8x_1_2, q8x_1_3, q8x_1_4 };

/* Four columns of a panel: acc[c][s] += quarter s times four codes of column c. */
#define STEP(j)                                                                                    \
    do {                                                                                           \
        int8x16_t v[MN_XARM_QUARTERS];                                                             \
        for (int s = 0; s < MN_XARM_QUARTERS; s++) v[s] = vld1q_s8(w + 64 * (j) + 16 * s);         \
        MN_UNROLL                                                                                  \
        for (int c = 0; c < N; c++) {                                                              \
            MN_UNROLL                                                                              \
            for (int s = 0; s < MN_XARM_QUARTERS; s++) {                                           \
                acc[c][s] = vdotq_laneq_s32(acc[c][s], v[s], x[c], j);                             \
            }                                                                                      \
        }                                                                                          \
    } while (0)

MN_INLINE void tile(const mn_xcall *a, const int8_t *w, size_t panel, size_t t, int N)
{
    const size_t  ld = a->x->ld;
    const int8_t *q = a->x->q + t * a->x->planes * ld;
    int32x4_t     acc[COLUMNS][MN_XARM_QUARTERS], sum[COLUMNS][MN_XARM_QUARTERS];
    MN_UNROLL
    for (int c = 0; c < N; c++) {
        MN_UNROLL
        for (int s = 0; s < MN_XARM_QUARTERS; s++) acc[c][s] = vdupq_n_s32(0);
    }
    for (size_t k = 0; k < a->cols; k += 16, w += 256, q += 16) {
        int8x16_t x[COLUMNS];
        MN_UNROLL
        for (int c = 0; c < N; c++) x[c] = vld1q_s8(q + (size_t)c * ld);
        STEP(0);
        STEP(1);
        STEP(2);
        STEP(3);
    }
    MN_UNROLL
    for (int c = 0; c < N; c++) {
        MN_UNROLL
        for (int s = 0; s < MN_XARM_QUARTERS; s++) sum[c][s] = acc[c][s];
    }
    mn_xfinish__neon(a, sum[0], (size_t)N, panel, t);
}

#define TILE(N)                                                                                    \
    static __attribute__((noinline)) void tile_##N(const mn_xcall *a, const int8_t *w,             \
                                                   size_t panel, size_t t)                         \
    {                                                                                              \
        tile(a, w, panel, t, N);                                                                   \
    }
TILE(1)
TILE(2)
TILE(3)
TILE(4)
TILE(5)
static mn_xtile_arm_fn *const tiles[COLUMNS] = { tile_1, tile_2, tile_3, tile_4, tile_5 };

#define FAMILY(kind, KIND)                                                                         \
    static void mm_##kind(float *y, size_t ldy, const mn_xtensor *w, size_t row, size_t rows,      \
                          const mn_xacts *x, size_t T, void *scratch)                              \
    {                                                                                              \
        const mn_xcall a = mn_xcall_of(y, ldy, w, row, rows, x, KIND);                             \
        if (T * x->planes <= STRAIGHT) {                                                           \
            mn_xstraight_arm(&a, row, rows, T, kind##_far, kind##_near, STRAIGHT);                 \
        } else {                                                                                   \
            mn_xtiled_arm(&a, row, rows, T, scratch, KIND, false, tiles, COLUMNS);                 \
        }                                                                                          \
    }                                                                                              \
    const mn_xmatmul mn_xmm_##kind##__dotprod = { mm_##kind, mm_##kind, mm_##kind };
FAMILY(q4x, MN_XKIND_Q4X)
FAMILY(q8x, MN_XKIND_Q8X)
#endif
