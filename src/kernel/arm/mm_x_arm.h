/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_x_arm.h - products with Q4X and Q8X on 128-bit vectors: what NEON, SDOT and SMMLA share.  Static
 * inline but for the last step and the families; what a tier does with 16 columns it passes as a function.
 *
 * A panel is four quarters of four rows, a lane each.  One column reads panels from four places side by side,
 * two from two: a single stream leaves part of a memory's rate unused.
 */
#ifndef MN_KERNEL_MM_X_ARM_H
#define MN_KERNEL_MM_X_ARM_H

#include "kernel/kernels.h"

#ifdef __aarch64__
#include "kernel/arm/mm_arm.h"
#include "kernel/arm/neon.h"
#include "kernel/scalar/mm_x.h"
#include "kernel/xcall.h"

enum {
    MN_XARM_QUARTERS = 4,
    MN_XARM_STREAMS = 4,
    MN_XARM_COLUMNS = 4,   // of a pass, at most
    MN_XARM_AHEAD = 1024,  // bytes
};

/* acc + 16 columns of four rows times 16 codes; v[i] holds columns 4 i .. 4 i + 3. */
typedef int32x4_t mn_xdot_fn(int32x4_t acc, const int8x16_t v[4], int8x16_t x);

/* The multipliers of group g of 32 columns: of 16 rows as words, then of quarter s as the lanes of its sums. */
MN_INLINE void mn_xmult_arm(uint16x8_t m[2], const uint8_t *p, int g)
{
    const uint8x16_t both = vld1q_u8(p);
    const uint8x16_t b = g ? vshrq_n_u8(both, 4) : vandq_u8(both, vdupq_n_u8(15));
    m[0] = vmovl_u8(vget_low_u8(b));
    m[1] = vmovl_u8(vget_high_u8(b));
}

MN_INLINE int32x4_t mn_xmult_of_arm(const uint16x8_t m[2], int s)
{
    const uint16x8_t h = m[s / 2];
    return vreinterpretq_s32_u32(vmovl_u16(s % 2 ? vget_high_u16(h) : vget_low_u16(h)));
}

/* 16 columns of a quarter, from its first line on: the bare codes of Q4X, the weights of Q8X. */
MN_INLINE void mn_xload_arm(int8x16_t v[4], const uint8_t *quarter, mn_xkind kind)
{
    for (int i = 0; i < 4; i++) {
        const uint8x16_t line = vld1q_u8(quarter + 64 * (kind == MN_XKIND_Q4X ? i / 2 : i));
        v[i] = vreinterpretq_s8_u8(kind == MN_XKIND_Q8X ? line
                                   : i % 2              ? vshrq_n_u8(line, 4)
                                                        : vandq_u8(line, vdupq_n_u8(15)));
    }
}

/* The sums of N columns become rows of y, from token t on; sum[4 c + s]: quarter s of column c. */
void mn_xfinish__neon(const mn_xcall *a, const int32x4_t *sum, size_t N, size_t panel, size_t t);

/* N columns with P panels, `apart` panels from one to the next. */
MN_INLINE void mn_xdirect_arm(const mn_xcall *a, size_t panel, size_t apart, size_t t, int P, int N,
                              mn_xkind kind, mn_xdot_fn *dot)
{
    const size_t   ld = a->x->ld, stride = apart * a->panel_bytes, first = t * a->x->planes;
    const uint8_t *w = a->panels + panel * a->panel_bytes;
    const int8_t  *q = a->x->q + first * ld;
    const int32_t *zero = a->x->zero + first * (ld / 16);
    int32x4_t      acc[MN_XARM_STREAMS][4 * MN_XARM_COLUMNS];
    MN_UNROLL
    for (int p = 0; p < P; p++) {
        MN_UNROLL
        for (int i = 0; i < 4 * N; i++) acc[p][i] = vdupq_n_s32(0);
    }
    for (size_t k = 0; k < a->cols; k += MN_QX_STEP, q += MN_QX_STEP, zero += 2) {
        const size_t lines_at = mn_xlines_at(kind, k), mult_at = mn_q4x_mult_at(0, k);
        MN_UNROLL
        for (int p = 0; p < P; p++) {
            const uint8_t *lines = w + (size_t)p * stride + lines_at;
            const int8_t  *qp = q;
            const int32_t *zp = zero;
            MN_OPAQUE(qp);
            MN_OPAQUE(zp);
            MN_UNROLL
            for (int g = 0; g < 2; g++) {
                int8x16_t  x[MN_XARM_COLUMNS];
                uint16x8_t m[2];
                if (kind == MN_XKIND_Q4X) mn_xmult_arm(m, w + (size_t)p * stride + mult_at, g);
                MN_UNROLL
                for (int c = 0; c < N; c++) x[c] = vld1q_s8(qp + (size_t)c * ld + 16 * g);
                const size_t half = kind == MN_XKIND_Q4X ? 128 : 256;
                for (size_t i = 0; i < half; i += 64) {
                    __builtin_prefetch(lines + half * (size_t)g + i + MN_XARM_AHEAD);
                }
                MN_UNROLL
                for (int s = 0; s < MN_XARM_QUARTERS; s++) {
                    int8x16_t v[4];
                    mn_xload_arm(v, lines + half * (size_t)g + 16 * s, kind);
                    MN_UNROLL
                    for (int c = 0; c < N; c++) {
                        int32x4_t *sum = &acc[p][4 * c + s];
                        if (kind == MN_XKIND_Q8X) {
                            *sum = dot(*sum, v, x[c]);
                        } else {
                            const int32x4_t u = vld1q_dup_s32(zp + (size_t)c * (ld / 16) + g);
                            *sum = vmlaq_s32(*sum, dot(u, v, x[c]), mn_xmult_of_arm(m, s));
                        }
                    }
                }
            }
        }
    }
    int32x4_t sum[MN_XARM_STREAMS][4 * MN_XARM_COLUMNS];   // in memory, where acc must not be
    MN_UNROLL
    for (int p = 0; p < P; p++) {
        MN_UNROLL
        for (int i = 0; i < 4 * N; i++) sum[p][i] = acc[p][i];
    }
    for (int p = 0; p < P; p++) mn_xfinish__neon(a, sum[p], (size_t)N, panel + (size_t)p * apart, t);
}

typedef void mn_xpart_arm_fn(const mn_xcall *a, size_t panel, size_t apart, size_t t);

/* A function for each number of columns; far: panels side by side for one and two. */
#define MN_XPART_ARM(kind, KIND, P, N)                                                             \
    static __attribute__((noinline)) void kind##_##P##_##N(const mn_xcall *a, size_t panel,        \
                                                           size_t apart, size_t t)                 \
    {                                                                                              \
        mn_xdirect_arm(a, panel, apart, t, P, N, KIND, dot);                                       \
    }
#define MN_XPARTS_ARM(kind, KIND)                                                                  \
    MN_XPART_ARM(kind, KIND, 4, 1) MN_XPART_ARM(kind, KIND, 2, 2)                                  \
    MN_XPART_ARM(kind, KIND, 1, 1) MN_XPART_ARM(kind, KIND, 1, 2)                                  \
    static mn_xpart_arm_fn *const kind##_far[] = { kind##_4_1, kind##_2_2 };

/* Any number of tokens straight from the file's bytes; near: for one panel and up to `most` columns. */
MN_INLINE void mn_xstraight_arm(const mn_xcall *a, size_t row, size_t rows, size_t T,
                                mn_xpart_arm_fn *const far[2], mn_xpart_arm_fn *const *near, size_t most)
{
    const size_t planes = a->x->planes, panels = mn_qx_panels(rows), first = row / MN_QX_ROWS;
    size_t       i = 0;
    if (T * planes <= 2) {
        const size_t streams = MN_XARM_STREAMS / (T * planes), run = panels / streams;
        for (; i < run; i++) far[T * planes - 1](a, first + i, run, 0);
        i = run * streams;
    }
    for (; i < panels; i++) {   // a panel stays in the first-level cache while all tokens pass by
        for (size_t t = 0, n; t < T; t += n) {
            n = mn_xpass(T - t, most / planes);
            near[n * planes - 1](a, first + i, 0, t);
        }
    }
}

/* A panel as int8, 128 bytes for 8 columns.  `pairs`: two rows of 8 columns in 16 bytes, as SMMLA wants
 * them; else four rows of 4. */
MN_INLINE void mn_xunpack_arm(int8_t *out, const uint8_t *panel, size_t cols, mn_xkind kind, bool pairs)
{
    const uint8x16_t four = { 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3 };
    for (size_t k = 0; k < cols; k += 16, out += 256) {
        const uint8_t   *lines = panel + (kind == MN_XKIND_Q4X ? mn_q4x_code_at(0, k) : 16 * k);
        const uint8x16_t both = vld1q_u8(kind == MN_XKIND_Q4X ? panel + mn_q4x_mult_at(0, k) : lines);
        const uint8x16_t of_k = k & 16 ? vshrq_n_u8(both, 4) : vandq_u8(both, vdupq_n_u8(15));
        for (int s = 0; s < MN_XARM_QUARTERS; s++) {
            int8x16_t v[4];
            mn_xload_arm(v, lines + 16 * s, kind);
            if (kind == MN_XKIND_Q4X) {
                const uint8x16_t rows = vaddq_u8(four, vdupq_n_u8((uint8_t)(4 * s)));
                const int8x16_t  m = vreinterpretq_s8_u8(vqtbl1q_u8(of_k, rows));
                const int8x16_t  offset = vnegq_s8(vshlq_n_s8(m, 3));
                for (int i = 0; i < 4; i++) v[i] = vmlaq_s8(offset, v[i], m);
            }
            for (int i = 0; i < 2; i++) {
                const int32x4_t low = vreinterpretq_s32_s8(v[2 * i]);
                const int32x4_t high = vreinterpretq_s32_s8(v[2 * i + 1]);
                int8_t         *to = out + 128 * i;
                if (pairs) {
                    vst1q_s8(to + 32 * s, vreinterpretq_s8_s32(vzip1q_s32(low, high)));
                    vst1q_s8(to + 32 * s + 16, vreinterpretq_s8_s32(vzip2q_s32(low, high)));
                } else {
                    vst1q_s8(to + 16 * s, v[2 * i]);
                    vst1q_s8(to + 64 + 16 * s, v[2 * i + 1]);
                }
            }
        }
    }
}

/* Tiles of a panel that mn_xunpack_arm made; of[n - 1] takes n columns. */
typedef void mn_xtile_arm_fn(const mn_xcall *a, const int8_t *w, size_t panel, size_t t);

MN_INLINE void mn_xtiled_arm(const mn_xcall *a, size_t row, size_t rows, size_t T, int8_t *scratch,
                             mn_xkind kind, bool pairs, mn_xtile_arm_fn *const *of, size_t most)
{
    const size_t planes = a->x->planes, first = row / MN_QX_ROWS, panels = mn_qx_panels(rows);
    for (size_t p = first; p < first + panels; p++) {
        mn_xunpack_arm(scratch, a->panels + p * a->panel_bytes, a->cols, kind, pairs);
        for (size_t t = 0, n; t < T; t += n) {
            n = mn_xpass(T - t, most / planes);
            of[n * planes - 1](a, scratch, p, t);
        }
    }
}
#endif

extern const mn_xmatmul mn_xmm_q4x__neon, mn_xmm_q8x__neon;
extern const mn_xmatmul mn_xmm_q4x__dotprod, mn_xmm_q8x__dotprod;
extern const mn_xmatmul mn_xmm_q4x__i8mm, mn_xmm_q8x__i8mm;

#endif
