/* SPDX-License-Identifier: Apache-2.0
 *
 * rmsnorm.c - root-mean-square normalisation, the specification.
 *
 *      y[i] = x[i] * r * w[i]      r = 1 / sqrt(sum16(x * x) / n + eps)
 */
#include "kernel/scalar/math.h"
#include "kernel/scalar/scalar.h"

void mn_rmsnorm__scalar(float *y, const float *x, const float *w, size_t n, float eps)
{
    float acc[16] = { 0 };
    for (size_t i = 0; i < n; i++) acc[i & 15] = fmaf(x[i], x[i], acc[i & 15]);

    const float r = 1.0f / sqrtf(mn_sum16(acc) / (float)n + eps);
    if (w)
        for (size_t i = 0; i < n; i++) y[i] = x[i] * r * w[i];
    else
        for (size_t i = 0; i < n; i++) y[i] = x[i] * r;
}
