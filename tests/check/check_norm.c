/* SPDX-License-Identifier: Apache-2.0
 *
 * check_norm.c - rmsnorm of each tier against the scalar specification.
 */
#include "harness.h"

void check_rmsnorm(mn_check *c)
{
    for (size_t n = 1; n <= 70; n++)                        // every tail of every unroll up to 64
        for (int fill = 0; fill < MN_FILL_COUNT_WILD; fill++) {
            mn_check_case(c, "n=%zu fill=%d", n, fill);
            const size_t bytes = n * sizeof(float);
            const float *x = mn_check_in(c, n, (mn_fill)fill);
            const float *w = mn_check_in(c, n, MN_FILL_UNIFORM);
            float       *want = mn_check_out(c, bytes), *got = mn_check_out(c, bytes);
            c->ref->rmsnorm(want, x, w, n, 1e-5f);
            c->isa->rmsnorm(got, x, w, n, 1e-5f);
            if (!mn_check_f32(c, got, want, n)) return;

            float *both = mn_check_copy(c, x, bytes);       // the contract allows y == x
            c->isa->rmsnorm(both, both, w, n, 1e-5f);
            if (!mn_check_f32(c, both, want, n)) return;

            c->ref->rmsnorm(want, x, NULL, n, 1e-5f);
            c->isa->rmsnorm(got, x, NULL, n, 1e-5f);
            if (!mn_check_f32(c, got, want, n)) return;
        }

    enum { N = 896 };
    mn_check_case(c, "bench");
    const float *x = mn_check_in(c, N, MN_FILL_UNIFORM), *w = mn_check_in(c, N, MN_FILL_UNIFORM);
    float       *y = mn_check_out(c, N * sizeof *y);
    MN_BENCH(c, "n=896", 3 * N * sizeof(float), "B", k->rmsnorm(y, x, w, N, 1e-5f));
}
