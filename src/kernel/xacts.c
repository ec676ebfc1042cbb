/* SPDX-License-Identifier: Apache-2.0
 *
 * xacts.c - where the activations for the native formats lie in a block, and how much scratch a
 * product may ask for.
 */
#include "base/plan.h"
#include "kernel/kernels.h"
#include "kernel/q4x.h"

/* An odd number of lines a row: the same columns of several tokens then lie in different cache sets. */
static size_t row_bytes(size_t n)
{
    return (n / 64 + (n % 64 != 0)) * 64 | 64;
}

/* The places of the arrays; the end is the size. */
typedef struct places {
    mn_buf q[2], sum[2], total[2], scale;
    size_t ld, end;
} places;

static places lay_out(size_t T, size_t n, bool exact)
{
    mn_plan p = { 0 };
    places  at = { .ld = row_bytes(n) };
    for (int i = 0; i < (exact ? 2 : 1); i++) {
        at.q[i] = mn_plan_take(&p, T, at.ld, 1);
        at.sum[i] = mn_plan_take(&p, T, at.ld / 16, sizeof(int32_t));
        at.total[i] = mn_plan_take(&p, T, 1, sizeof(int32_t));
    }
    at.scale = mn_plan_f32(&p, T, 1);
    at.end = p.end;
    return at;
}

size_t mn_xacts_bytes(size_t T, size_t n, bool exact)
{
    return n > SIZE_MAX - 128 ? SIZE_MAX : lay_out(T, n, exact).end;
}

mn_xacts mn_xacts_at(void *block, size_t T, size_t n, bool exact)
{
    const places at = lay_out(T, n, exact);
    mn_xacts     x = { .scale = mn_at(block, at.scale), .ld = at.ld };
    for (int i = 0; i < (exact ? 2 : 1); i++) {
        x.q[i] = mn_at(block, at.q[i]);
        x.sum[i] = mn_at(block, at.sum[i]);
        x.total[i] = mn_at(block, at.total[i]);
    }
    return x;
}

mn_xacts mn_xacts_from(const mn_xacts *x, size_t t)
{
    mn_xacts y = *x;
    y.scale += t;
    for (int i = 0; i < 2 && x->q[i]; i++) {
        y.q[i] += t * x->ld;
        y.sum[i] += t * (x->ld / 16);
        y.total[i] += t;
    }
    return y;
}

size_t mn_xmm_scratch(size_t cols)
{
    enum { PANELS = 3 };   // that a tile multiplies at once, a byte for each weight
    return PANELS * MN_QX_ROWS * mn_qx_cols(cols);
}
