/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_x_neon.c - products with Q4X and Q8X on any AArch64 processor: 8-bit products are summed in 16 bits.
 * With more than two columns at a time the registers would not suffice.
 */
#include "kernel/arm/mm_x_arm.h"

#ifdef __aarch64__

void mn_xfinish__neon(const mn_xcall *a, const int32x4_t *sum, size_t N, size_t panel, size_t t)
{
    const size_t row = panel * MN_QX_ROWS, left = a->end - row;
    const float *scale = (const float *)(const void *)a->w->data + row;
    float       *y = a->y + t * a->ldy + row;
    for (size_t c = 0; c < N; c += a->x->planes, t++, y += a->ldy) {
        for (size_t s = 0; s < MN_XARM_QUARTERS && 4 * s < left; s++) {
            float32x4_t v = vcvtq_f32_s32(sum[4 * c + s]);
            if (a->x->planes == 2) {
                v = vfmaq_f32(vcvtq_f32_s32(sum[4 * (c + 1) + s]), v, vdupq_n_f32(MN_X_PLANE));
            }
            v = vmulq_n_f32(vmulq_f32(v, vld1q_f32(scale + 4 * s)), a->x->scale[t]);
            mn_store4(y + 4 * s, v, left - 4 * s);
        }
    }
}

/* Codes of four columns to all rows. */
MN_INLINE void spread(int8x16_t four[4], int8x16_t x)
{
    const int32x4_t d = vreinterpretq_s32_s8(x);
    four[0] = vreinterpretq_s8_s32(vdupq_laneq_s32(d, 0));
    four[1] = vreinterpretq_s8_s32(vdupq_laneq_s32(d, 1));
    four[2] = vreinterpretq_s8_s32(vdupq_laneq_s32(d, 2));
    four[3] = vreinterpretq_s8_s32(vdupq_laneq_s32(d, 3));
}

/* Codes of Q4X: eight products of at most 15 * 128 fit 16 bits. */
MN_INLINE int32x4_t dot4(int32x4_t acc, const int8x16_t v[4], int8x16_t x)
{
    int8x16_t four[4];
    spread(four, x);
    int16x8_t low = vmull_s8(vget_low_s8(v[0]), vget_low_s8(four[0]));   // rows 0 and 1
    int16x8_t high = vmull_high_s8(v[0], four[0]);                       // 2 and 3
    for (int i = 1; i < 4; i++) {
        low = vmlal_s8(low, vget_low_s8(v[i]), vget_low_s8(four[i]));
        high = vmlal_high_s8(high, v[i], four[i]);
    }
    return vpadalq_s16(acc, vpaddq_s16(low, high));
}

/* Weights of Q8X: two products of at most 128 * 127 fit. */
MN_INLINE int32x4_t dot8(int32x4_t acc, const int8x16_t v[4], int8x16_t x)
{
    int8x16_t four[4];
    spread(four, x);
    for (int i = 0; i < 4; i++) {
        const int16x8_t low = vmull_s8(vget_low_s8(v[i]), vget_low_s8(four[i]));
        acc = vpadalq_s16(acc, vpaddq_s16(low, vmull_high_s8(v[i], four[i])));
    }
    return acc;
}

#define dot dot4
MN_XPARTS_ARM(q4x, MN_XKIND_Q4X)
static mn_xpart_arm_fn *const q4x_near[] = { q4x_1_1, q4x_1_2 };
#undef dot
#define dot dot8
MN_XPARTS_ARM(q8x, MN_XKIND_Q8X)
static mn_xpart_arm_fn *const q8x_near[] = { q8x_1_1, q8x_1_2 };

#define FAMILY(kind, KIND)                                                                         \
    static void mm_##kind(float *y, size_t ldy, const mn_xtensor *w, size_t row, size_t rows,      \
                          const mn_xacts *x, size_t T, void *scratch)                              \
    {                                                                                              \
        const mn_xcall a = mn_xcall_of(y, ldy, w, row, rows, x, KIND);                             \
        (void)scratch;                                                                             \
        mn_xstraight_arm(&a, row, rows, T, kind##_far, kind##_near, 2);                            \
    }                                                                                              \
    const mn_xmatmul mn_xmm_##kind##__neon = { mm_##kind, mm_##kind, mm_##kind };
FAMILY(q4x, MN_XKIND_Q4X)
FAMILY(q8x, MN_XKIND_Q8X)
#endif
