/* SPDX-License-Identifier: Apache-2.0
 *
 * norm_neon.c - rmsnorm: four registers hold the 16 canonical partial sums.
 */
#include "kernel/arm/arm.h"

#ifdef __aarch64__
#include "kernel/arm/neon.h"

void mn_rmsnorm__neon(float *y, const float *x, const float *w, size_t n, float eps)
{
    float32x4_t acc[4] = { vdupq_n_f32(0), vdupq_n_f32(0), vdupq_n_f32(0), vdupq_n_f32(0) };
    size_t      i = 0;
    for (; i + 16 <= n; i += 16)
        for (int k = 0; k < 4; k++) {
            const float32x4_t v = vld1q_f32(x + i + 4 * k);
            acc[k] = vfmaq_f32(acc[k], v, v);
        }
    for (int k = 0; i < n; i += 4, k++) {   // squares of zeros change nothing: no sum is -0
        const float32x4_t v = mn_load4(x + i, n - i);
        acc[k] = vfmaq_f32(acc[k], v, v);
    }

    const float       r = 1.0f / sqrtf(mn_sum16_neon(acc) / (float)n + eps);
    const float32x4_t rr = vdupq_n_f32(r);
    for (i = 0; i < n; i += 4) {
        float32x4_t v = vmulq_f32(mn_load4(x + i, n - i), rr);
        if (w) v = vmulq_f32(v, mn_load4(w + i, n - i));
        mn_store4(y + i, v, n - i);
    }
}
#endif
