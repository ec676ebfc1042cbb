/* SPDX-License-Identifier: Apache-2.0
 *
 * quant_x.c - activations to integers with one scale per token, the specification.
 *
 * In two planes the integer a of up to 16256 is split into 128 q0 + q1 with q0 = floor((a + 64) / 128).
 */
#include "kernel/scalar/math.h"
#include "kernel/scalar/mm_x.h"
#include "kernel/scalar/scalar.h"

void mn_quant_x__scalar(const mn_xacts *x, size_t t, const float *v, size_t n)
{
    const int planes = mn_x_planes(x);
    float     max = 0.0f;
    for (size_t i = 0; i < n; i++) max = fabsf(v[i]) > max ? fabsf(v[i]) : max;

    const float most = planes == 2 ? (float)MN_X_EXACT : (float)MN_X_FAST;
    const bool  tiny = max < MN_X_TINY;
    const float inverse = tiny ? 0.0f : most / max;
    x->scale[t] = tiny ? 0.0f : max / most;

    for (int i = 0; i < planes; i++) {
        memset(x->q[i] + t * x->ld, 0, x->ld);
        memset(x->sum[i] + t * (x->ld / 16), 0, x->ld / 16 * sizeof(int32_t));
        x->total[i][t] = 0;
    }
    for (size_t k = 0; k < n; k++) {
        const float   scaled = v[k] * inverse;
        const int32_t a = mn_round(scaled > -most ? scaled : -most);   // NaN becomes the least code
        const int32_t high = planes == 2 ? (a + 64) >> 7 : a;
        const int32_t part[2] = { high, a - 128 * high };
        for (int i = 0; i < planes; i++) {
            x->q[i][t * x->ld + k] = (int8_t)part[i];
            x->sum[i][t * (x->ld / 16) + k / 16] += part[i];
            x->total[i][t] += part[i];
        }
    }
}
