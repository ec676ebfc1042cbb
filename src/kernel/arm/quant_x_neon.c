/* SPDX-License-Identifier: Apache-2.0
 *
 * quant_x_neon.c - activations to integers with one scale per token, the steps of scalar/quant_x.c.
 */
#include "kernel/arm/arm.h"

#ifdef __aarch64__
#include "kernel/arm/neon.h"
#include "kernel/scalar/mm_x.h"

static float largest(const float *v, size_t n)
{
    float32x4_t max = vdupq_n_f32(0.0f);
    for (size_t i = 0; i < n; i += 4) max = mn_max4(vabsq_f32(mn_load4(v + i, n - i)), max);
    return vmaxvq_f32(max);
}

/* 16 codes of a plane as words: stored as bytes, with their sums. */
static inline void put(const mn_xacts *y, size_t plane, size_t k, const int16x8_t words[2])
{
    const int32_t sum = vaddvq_s32(vpadalq_s16(vpaddlq_s16(words[0]), words[1]));
    vst1q_s8(y->q + plane * y->ld + k, vcombine_s8(vmovn_s16(words[0]), vmovn_s16(words[1])));
    y->zero[plane * (y->ld / 16) + k / 16] = -8 * sum;
    y->total[plane] += sum;
}

void mn_quant_x__neon(const mn_xacts *x, size_t t, const float *v, size_t n)
{
    const bool        exact = x->planes == 2;
    const float       most = exact ? (float)MN_X_EXACT : (float)MN_X_FAST, max = largest(v, n);
    const bool        tiny = max < MN_X_TINY;
    const float       inverse = tiny ? 0.0f : most / max;
    const float32x4_t least = vdupq_n_f32(-most);
    const mn_xacts    y = mn_xacts_from(x, t);
    y.scale[0] = tiny ? 0.0f : max / most;
    for (size_t i = 0; i < y.planes; i++) y.total[i] = 0;

    for (size_t k = 0; k < y.ld; k += 16) {
        int16x8_t words[2], high[2], low[2];
        for (size_t h = 0; h < 2; h++) {
            int16x4_t part[2];
            for (size_t i = 0; i < 2; i++) {
                const size_t      at = k + 8 * h + 4 * i;
                const float32x4_t u = at < n ? mn_load4(v + at, n - at) : vdupq_n_f32(0.0f);
                part[i] = vmovn_s32(vcvtnq_s32_f32(mn_max4(vmulq_n_f32(u, inverse), least)));
            }
            words[h] = vcombine_s16(part[0], part[1]);
            high[h] = vshrq_n_s16(vaddq_s16(words[h], vdupq_n_s16(64)), 7);
            low[h] = vsubq_s16(words[h], vshlq_n_s16(high[h], 7));
        }
        if (exact) {
            put(&y, 0, k, high);
            put(&y, 1, k, low);
        } else {
            put(&y, 0, k, words);
        }
    }
}
#endif
