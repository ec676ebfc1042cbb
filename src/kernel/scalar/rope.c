/* SPDX-License-Identifier: Apache-2.0
 *
 * rope.c - rotary position embedding, the specification.
 *
 *      (a, b) -> (a c - b s,  a s + b c)      each a fused multiply-add on a rounded product
 */
#include "kernel/scalar/math.h"
#include "kernel/scalar/scalar.h"

static void rotate(float *a, float *b, float c, float s)
{
    const float x = *a, y = *b;
    *a = fmaf(x, c, -(y * s));
    *b = fmaf(x, s, y * c);
}

void mn_rope_half__scalar(float *x, const float *cs, size_t heads, size_t P, size_t n)
{
    const size_t half = n / 2;
    for (size_t h = 0; h < heads; h++, x += P)
        for (size_t i = 0; i < half; i++) rotate(&x[i], &x[half + i], cs[i], cs[half + i]);
}

void mn_rope_pair__scalar(float *x, const float *cs, size_t heads, size_t P, size_t n)
{
    const size_t half = n / 2;
    for (size_t h = 0; h < heads; h++, x += P)
        for (size_t i = 0; i < half; i++) rotate(&x[2 * i], &x[2 * i + 1], cs[i], cs[half + i]);
}

void mn_rope_angles(float *cs, const float *freq, size_t n, uint32_t position, float scale)
{
    const size_t half = n / 2;
    for (size_t i = 0; i < half; i++) {
        double s, c;
        mn_sincos((double)position * (double)freq[i], &s, &c);
        cs[i] = (float)(c * (double)scale);
        cs[half + i] = (float)(s * (double)scale);
    }
}
