/* SPDX-License-Identifier: Apache-2.0
 *
 * neon.h - the canonical steps of scalar/math.h on 4 lanes, and partial loads.  Static inline only.
 */
#ifndef MN_KERNEL_NEON_H
#define MN_KERNEL_NEON_H

#ifdef __aarch64__
#include <arm_neon.h>
#include <stddef.h>

#include "kernel/scalar/math.h"

/* The first n of 4 floats, zeros after them; nothing beyond is read or written. */
static inline float32x4_t mn_load4(const float *p, size_t n)
{
    float x[4] = { 0 };
    if (n >= 4) return vld1q_f32(p);
    memcpy(x, p, n * sizeof *x);
    return vld1q_f32(x);
}

static inline void mn_store4(float *p, float32x4_t v, size_t n)
{
    float x[4];
    if (n >= 4) {
        vst1q_f32(p, v);
        return;
    }
    vst1q_f32(x, v);
    memcpy(p, x, n * sizeof *x);
}

/* a > b ? a : b, so b where a is NaN: FMAX and FMAXNM treat NaN otherwise. */
static inline float32x4_t mn_max4(float32x4_t a, float32x4_t b)
{
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}

static inline float32x4_t mn_exp_neon(float32x4_t x)
{
    const float32x4_t magic = vdupq_n_f32(MN_MAGIC);
    const float32x4_t v = vminq_f32(vdupq_n_f32(MN_EXP_MAX), x);   // NaN stays NaN
    const float32x4_t z = vfmaq_f32(magic, v, vdupq_n_f32(MN_LOG2E));
    const float32x4_t n = vsubq_f32(z, magic);
    const float32x4_t r = vfmaq_f32(vfmaq_f32(v, n, vdupq_n_f32(-MN_LN2_HI)), n,
                                    vdupq_n_f32(-MN_LN2_LO));
    float32x4_t p = vfmaq_f32(vdupq_n_f32(MN_EXP_C3), vdupq_n_f32(MN_EXP_C4), r);
    p = vfmaq_f32(vdupq_n_f32(MN_EXP_C2), p, r);
    p = vfmaq_f32(vdupq_n_f32(MN_EXP_C1), p, r);
    p = vfmaq_f32(vdupq_n_f32(MN_EXP_C0), p, r);
    p = vaddq_f32(vfmaq_f32(r, vmulq_f32(r, r), p), vdupq_n_f32(1.0f));
    const int32x4_t two_n = vshlq_n_s32(
        vaddq_s32(vreinterpretq_s32_f32(z), vdupq_n_s32(127)), 23);
    p = vmulq_f32(p, vreinterpretq_f32_s32(two_n));
    const uint32x4_t low = vcltq_f32(x, vdupq_n_f32(MN_EXP_MIN));
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(p), low));
}

/* The first two steps of mn_sum16: partial sums (i, i + 8), then (i, i + 4). */
static inline float32x4_t mn_sum16_half(const float32x4_t a[4])
{
    return vaddq_f32(vaddq_f32(a[0], a[2]), vaddq_f32(a[1], a[3]));
}

/* The last two for four sums at once: (i, i + 2), then (0, 1). */
static inline float32x4_t mn_sum4x4(const float32x4_t a[4])
{
    float32x4_t b[2];
    for (int i = 0; i < 2; i++) {
        const float64x2_t lo = vreinterpretq_f64_f32(a[2 * i]);
        const float64x2_t hi = vreinterpretq_f64_f32(a[2 * i + 1]);
        b[i] = vaddq_f32(vreinterpretq_f32_f64(vzip1q_f64(lo, hi)),
                         vreinterpretq_f32_f64(vzip2q_f64(lo, hi)));
    }
    return vpaddq_f32(b[0], b[1]);
}

static inline float mn_sum16_neon(const float32x4_t a[4])
{
    const float32x4_t half = mn_sum16_half(a);
    const float32x2_t b = vadd_f32(vget_low_f32(half), vget_high_f32(half));
    return vget_lane_f32(b, 0) + vget_lane_f32(b, 1);
}
#endif

#endif
