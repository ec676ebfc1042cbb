/* SPDX-License-Identifier: Apache-2.0
 *
 * pointwise.c - one value in, one value out: swiglu, add, to_f16; and sum_exp, the specification.
 */
#include "kernel/scalar/math.h"
#include "kernel/scalar/scalar.h"

void mn_swiglu__scalar(float *y, const float *g, const float *u, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] = g[i] / (1.0f + mn_exp(-g[i])) * u[i];
}

void mn_add__scalar(float *x, const float *y, size_t n)
{
    for (size_t i = 0; i < n; i++) x[i] += y[i];
}

void mn_to_f16__scalar(uint16_t *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) y[i] = mn_f32_to_f16(x[i]);
}

float mn_sum_exp__scalar(const float *x, size_t n, float max)
{
    float acc[16] = { 0 };
    for (size_t i = 0; i < n; i++) acc[i % 16] += mn_exp(x[i] - max);
    return mn_sum16(acc);
}
