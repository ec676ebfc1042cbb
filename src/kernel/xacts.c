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
    mn_buf q, zero, total, scale;
    size_t ld, planes, end;
} places;

static places lay_out(size_t T, size_t n, bool exact)
{
    mn_plan p = { 0 };
    places  at = { .ld = row_bytes(n), .planes = exact ? 2 : 1 };
    at.q = mn_plan_take(&p, T, at.planes * at.ld, 1);
    at.zero = mn_plan_take(&p, T, at.planes * (at.ld / 16), sizeof(int32_t));
    at.total = mn_plan_take(&p, T, at.planes, sizeof(int32_t));
    at.scale = mn_plan_f32(&p, T, 1);
    at.end = p.end;
    return at;
}

size_t mn_xacts_bytes(size_t T, size_t n, bool exact)
{
    return n > SIZE_MAX / 4 ? SIZE_MAX : lay_out(T, n, exact).end;
}

mn_xacts mn_xacts_at(void *block, size_t T, size_t n, bool exact)
{
    const places at = lay_out(T, n, exact);
    return (mn_xacts){
        .q = mn_at(block, at.q),
        .zero = mn_at(block, at.zero),
        .total = mn_at(block, at.total),
        .scale = mn_at(block, at.scale),
        .ld = at.ld,
        .planes = at.planes,
    };
}

mn_xacts mn_xacts_from(const mn_xacts *x, size_t t)
{
    const size_t c = t * x->planes;
    mn_xacts     y = *x;
    y.q += c * x->ld;
    y.zero += c * (x->ld / 16);
    y.total += c;
    y.scale += t;
    return y;
}

size_t mn_xmm_scratch(size_t cols)
{
    enum {
        PANELS = 3,   // that a tile multiplies at once, a byte for each weight
        WHOLE = 64,   // columns
        LEAST = 16384,
    };
    const size_t bytes = PANELS * MN_QX_ROWS * ((cols + (WHOLE - 1)) / WHOLE * WHOLE);
    return bytes < LEAST ? LEAST : bytes;
}
