/* SPDX-License-Identifier: Apache-2.0
 *
 * rope_neon.c - rotary embedding, 4 pairs at a time; the two-way loads take pairs apart.
 */
#include "kernel/arm/arm.h"

#ifdef __aarch64__
#include "kernel/arm/neon.h"

static void rotate(float *a, float *b, float c, float s)
{
    const float x = *a, y = *b;
    *a = fmaf(x, c, -(y * s));
    *b = fmaf(x, s, y * c);
}

static void rotate4(float32x4_t *a, float32x4_t *b, float32x4_t c, float32x4_t s)
{
    const float32x4_t x = *a, y = *b;
    *a = vfmaq_f32(vnegq_f32(vmulq_f32(y, s)), x, c);
    *b = vfmaq_f32(vmulq_f32(y, c), x, s);
}

void mn_rope_half__neon(float *x, const float *cs, size_t heads, size_t P, size_t n)
{
    const size_t half = n / 2;
    for (size_t h = 0; h < heads; h++, x += P) {
        size_t i = 0;
        for (; i + 4 <= half; i += 4) {
            float32x4_t a = vld1q_f32(x + i), b = vld1q_f32(x + half + i);
            rotate4(&a, &b, vld1q_f32(cs + i), vld1q_f32(cs + half + i));
            vst1q_f32(x + i, a);
            vst1q_f32(x + half + i, b);
        }
        for (; i < half; i++) rotate(&x[i], &x[half + i], cs[i], cs[half + i]);
    }
}

void mn_rope_pair__neon(float *x, const float *cs, size_t heads, size_t P, size_t n)
{
    const size_t half = n / 2;
    for (size_t h = 0; h < heads; h++, x += P) {
        size_t i = 0;
        for (; i + 4 <= half; i += 4) {
            float32x4x2_t v = vld2q_f32(x + 2 * i);
            rotate4(&v.val[0], &v.val[1], vld1q_f32(cs + i), vld1q_f32(cs + half + i));
            vst2q_f32(x + 2 * i, v);
        }
        for (; i < half; i++) rotate(&x[2 * i], &x[2 * i + 1], cs[i], cs[half + i]);
    }
}
#endif
