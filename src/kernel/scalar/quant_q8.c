/* SPDX-License-Identifier: Apache-2.0
 *
 * quant_q8.c - activations to int8 in blocks of 32, the specification.
 *
 * A block whose largest value is below MN_Q8_TINY becomes zeros: its scale would otherwise meet the
 * end of the float range, where scaling by a power of two is no longer exact.
 */
#include "kernel/scalar/math.h"
#include "kernel/scalar/mm_scalar.h"
#include "kernel/scalar/scalar.h"

void mn_quant_q8__scalar(int8_t *q, float *d, float *s, const float *x, size_t n)
{
    for (size_t b = 0; b < n / 32; b++, q += 32, x += 32) {
        float max = 0.0f;
        for (int i = 0; i < 32; i++) max = fabsf(x[i]) > max ? fabsf(x[i]) : max;

        const bool  tiny = max < MN_Q8_TINY;
        const float scale = tiny ? 0.0f : max / 127.0f, inverse = tiny ? 0.0f : 127.0f / max;
        int         sum[2] = { 0, 0 };
        for (int i = 0; i < 32; i++) {
            const float v = x[i] * inverse;
            q[i] = (int8_t)mn_round(v > -127.0f ? v : -127.0f);   // NaN becomes -127
            sum[i / 16] += q[i];
        }
        d[b] = scale;
        s[2 * b] = scale * (float)sum[0];
        s[2 * b + 1] = scale * (float)sum[1];
    }
}
