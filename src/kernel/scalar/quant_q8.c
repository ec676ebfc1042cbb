/* SPDX-License-Identifier: Apache-2.0
 *
 * quant_q8.c - activations to one or two planes of int8 in blocks of 32, the specification.
 *
 * A block whose largest value is below MN_Q8_TINY becomes zeros: its scale would otherwise meet the
 * end of the float range, where scaling by a power of two is no longer exact.  A NaN makes the block's
 * scale NaN, and with it every result.
 */
#include "kernel/scalar/math.h"
#include "kernel/scalar/mm_scalar.h"
#include "kernel/scalar/scalar.h"

/* Codes of one block, |code| <= most; returns the scale and the sums of both halves. */
static float block_codes(int32_t code[32], int32_t sum[2], const float *x, float most)
{
    float max = 0.0f;
    bool  nan = false;
    for (int i = 0; i < 32; i++) {
        max = fabsf(x[i]) > max ? fabsf(x[i]) : max;
        nan |= x[i] != x[i];
    }
    const bool  tiny = max < MN_Q8_TINY;
    const float scale = tiny ? 0.0f : max / most, inverse = tiny ? 0.0f : most / max;
    sum[0] = sum[1] = 0;
    for (int i = 0; i < 32; i++) {
        const float v = x[i] * inverse;
        code[i] = mn_round(v > -most ? v : -most);   // NaN becomes -most
        sum[i / 16] += code[i];
    }
    return nan ? NAN : scale;
}

void mn_quant_q8__scalar(int8_t *q, float *d, float *s, const float *x, size_t n)
{
    for (size_t b = 0; b < n / 32; b++, q += 32, x += 32) {
        int32_t code[32], sum[2];
        d[b] = block_codes(code, sum, x, MN_Q8_MOST);
        for (int i = 0; i < 32; i++) q[i] = (int8_t)code[i];
        for (int h = 0; h < 2; h++) s[2 * b + (size_t)h] = d[b] * (float)sum[h];
    }
}

void mn_quant_q15__scalar(int8_t *q, int8_t *lo, float *d, float *s, const float *x, size_t n)
{
    for (size_t b = 0; b < n / 32; b++, q += 32, lo += 32, x += 32) {
        int32_t code[32], sum[2];
        d[b] = block_codes(code, sum, x, MN_Q15_MOST);
        for (int i = 0; i < 32; i++) {
            q[i] = (int8_t)((code[i] + 64 + 128 * 128) / 128 - 128);   // the nearest multiple of 128
            lo[i] = (int8_t)(code[i] - 128 * q[i]);
        }
        for (int h = 0; h < 2; h++) s[2 * b + (size_t)h] = d[b] * (float)sum[h];
    }
}
