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
    const bool exact = x->planes == 2;
    float      max = 0.0f;
    for (size_t i = 0; i < n; i++) max = fabsf(v[i]) > max ? fabsf(v[i]) : max;

    const float most = exact ? (float)MN_X_EXACT : (float)MN_X_FAST;
    const bool  tiny = max < MN_X_TINY;
    const float inverse = tiny ? 0.0f : most / max;
    x->scale[t] = tiny ? 0.0f : max / most;

    const mn_xacts y = mn_xacts_from(x, t);
    memset(y.q, 0, x->planes * x->ld);
    memset(y.zero, 0, x->planes * (x->ld / 16) * sizeof *y.zero);
    memset(y.total, 0, x->planes * sizeof *y.total);
    for (size_t k = 0; k < n; k++) {
        const float   scaled = v[k] * inverse;
        const int32_t a = mn_round(scaled > -most ? scaled : -most);   // NaN becomes the least code
        const int32_t high = exact ? (a + 64) >> 7 : a;
        const int32_t part[2] = { high, a - 128 * high };
        for (size_t i = 0; i < x->planes; i++) {
            y.q[i * x->ld + k] = (int8_t)part[i];
            y.zero[i * (x->ld / 16) + k / 16] -= 8 * part[i];
            y.total[i] += part[i];
        }
    }
}
