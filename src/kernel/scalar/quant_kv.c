/* SPDX-License-Identifier: Apache-2.0
 *
 * quant_kv.c - a row of keys or values to int8 with one scale, the specification.
 *
 * A row whose scale would not be a normal number becomes zeros.
 */
#include <float.h>

#include "kernel/scalar/math.h"
#include "kernel/scalar/scalar.h"

float mn_quant_kv__scalar(int8_t *q, const float *x, size_t n)
{
    float max = 0.0f;
    for (size_t i = 0; i < n; i++) max = fabsf(x[i]) > max ? fabsf(x[i]) : max;

    const float d = max / 127.0f;
    if (d < FLT_MIN) {
        memset(q, 0, n);
        return 0.0f;
    }
    for (size_t i = 0; i < n; i++) {
        float v = x[i] / d;
        v = v > -127.0f ? v : -127.0f;   // bites on inf / inf only
        q[i] = (int8_t)mn_round(v < 127.0f ? v : 127.0f);
    }
    return d;
}
