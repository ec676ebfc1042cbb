/* SPDX-License-Identifier: Apache-2.0
 *
 * argmax.c - the largest value, then its first place: two passes, so that lanes need no indices.
 */
#include "kernel/scalar/math.h"
#include "kernel/scalar/scalar.h"

size_t mn_argmax__scalar(const float *x, size_t n)
{
    float max = -INFINITY;
    for (size_t i = 0; i < n; i++) max = x[i] > max ? x[i] : max;   // NaN > max is false
    for (size_t i = 0; i < n; i++)
        if (x[i] == max) return i;
    return 0;
}
