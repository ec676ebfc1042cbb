/* SPDX-License-Identifier: Apache-2.0
 *
 * pointwise_neon.c - swiglu, add, to_f16, argmax, sum_exp, quant_kv: 4 or 8 values at a time.
 */
#include "kernel/arm/arm.h"

#ifdef __aarch64__
#include <float.h>

#include "kernel/arm/neon.h"

void mn_swiglu__neon(float *y, const float *g, const float *u, size_t n)
{
    for (size_t i = 0; i < n; i += 4) {
        const float32x4_t a = mn_load4(g + i, n - i), b = mn_load4(u + i, n - i);
        const float32x4_t e = vaddq_f32(vdupq_n_f32(1.0f), mn_exp_neon(vnegq_f32(a)));
        mn_store4(y + i, vmulq_f32(vdivq_f32(a, e), b), n - i);
    }
}

void mn_add__neon(float *x, const float *y, size_t n)
{
    for (size_t i = 0; i < n; i += 4)
        mn_store4(x + i, vaddq_f32(mn_load4(x + i, n - i), mn_load4(y + i, n - i)), n - i);
}

void mn_to_f16__neon(uint16_t *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i += 4) {
        const float16x4_t h = vcvt_f16_f32(mn_load4(x + i, n - i));
        memcpy(y + i, &h, n - i < 4 ? (n - i) * sizeof *y : sizeof h);
    }
}

size_t mn_argmax__neon(const float *x, size_t n)
{
    float32x4_t m[4];
    for (int k = 0; k < 4; k++) m[k] = vdupq_n_f32(-INFINITY);
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        for (int k = 0; k < 4; k++) m[k] = mn_max4(vld1q_f32(x + i + 4 * k), m[k]);
    float top = vmaxvq_f32(mn_max4(mn_max4(m[0], m[1]), mn_max4(m[2], m[3])));
    for (; i < n; i++) top = x[i] > top ? x[i] : top;

    const float32x4_t max = vdupq_n_f32(top);
    for (i = 0; i + 4 <= n; i += 4)
        if (vmaxvq_u32(vceqq_f32(vld1q_f32(x + i), max)) != 0) break;
    for (; i < n; i++)
        if (x[i] == top) return i;
    return 0;
}

float mn_sum_exp__neon(const float *x, size_t n, float max)
{
    float32x4_t acc[4];
    float       tail[16];
    for (int k = 0; k < 4; k++) acc[k] = vdupq_n_f32(0);
    for (size_t i = 0; i < n; i += 16) {
        const float *p = x + i;
        if (n - i < 16) {   // what is missing adds exp(-huge) = 0
            for (size_t k = 0; k < 16; k++) tail[k] = k < n - i ? p[k] : -FLT_MAX;
            p = tail;
        }
        for (int k = 0; k < 4; k++) {
            const float32x4_t d = vsubq_f32(vld1q_f32(p + 4 * k), vdupq_n_f32(max));
            acc[k] = vaddq_f32(acc[k], mn_exp_neon(d));
        }
    }
    return mn_sum16_neon(acc);
}

float mn_quant_kv__neon(int8_t *q, const float *x, size_t n)
{
    float32x4_t m = vdupq_n_f32(0);
    for (size_t i = 0; i < n; i += 4) m = mn_max4(vabsq_f32(mn_load4(x + i, n - i)), m);

    const float d = vmaxvq_f32(m) / 127.0f;
    if (d < FLT_MIN) {
        memset(q, 0, n);
        return 0.0f;
    }
    const float32x4_t dd = vdupq_n_f32(d), lo = vdupq_n_f32(-127.0f), hi = vdupq_n_f32(127.0f);
    for (size_t i = 0; i < n; i += 4) {
        const float32x4_t v = mn_max4(vdivq_f32(mn_load4(x + i, n - i), dd), lo);
        const int16x4_t   w = vmovn_s32(vcvtnq_s32_f32(vminq_f32(v, hi)));
        const int8x8_t    c = vmovn_s16(vcombine_s16(w, w));
        memcpy(q + i, &c, n - i < 4 ? n - i : 4);
    }
    return d;
}
#endif
