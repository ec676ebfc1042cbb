/* SPDX-License-Identifier: Apache-2.0
 *
 * check_rope.c - both rotary embeddings of each tier against the scalar specification.
 */
#include <string.h>

#include "harness.h"

enum { HALF, PAIR };

static mn_rope_fn *pick(const mn_kernels *k, int style)
{
    return style == HALF ? k->rope_half : k->rope_pair;
}

static void check_rope(mn_check *c, int style)
{
    for (size_t n = 2; n <= 140; n += 2)
        for (size_t rest = 0; rest <= 6; rest += 6)         // dimensions that are not rotated
            for (int fill = 0; fill < MN_FILL_COUNT_WILD; fill++) {
                enum { HEADS = 3 };
                const size_t P = n + rest, count = HEADS * P;
                mn_check_case(c, "n=%zu P=%zu fill=%d", n, P, fill);
                const float *freq = mn_check_in(c, n / 2, MN_FILL_UNIFORM);
                float       *cs = mn_check_out(c, n * sizeof *cs);
                mn_rope_angles(cs, freq, n, (uint32_t)mn_check_random(c), 1.0f);
                const float *x = mn_check_in(c, count, (mn_fill)fill);
                float       *want = mn_check_copy(c, x, count * sizeof *x);
                float       *got = mn_check_copy(c, x, count * sizeof *x);
                pick(c->ref, style)(want, cs, HEADS, P, n);
                pick(c->isa, style)(got, cs, HEADS, P, n);
                if (!mn_check_f32(c, got, want, count)) return;
            }

    enum { H = 14, N = 64 };
    mn_check_case(c, "bench");
    float *x = mn_check_in(c, H * N, MN_FILL_UNIFORM), *cs = mn_check_in(c, N, MN_FILL_ZEROS);
    for (size_t i = 0; i < N / 2; i++) cs[i] = 1.0f;        // by no angle: x stays as it is
    MN_BENCH(c, "heads=14 n=64", 2 * H * N * sizeof(float), "B", pick(k, style)(x, cs, H, N, N));
}

void check_rope_half(mn_check *c)
{
    check_rope(c, HALF);
}

void check_rope_pair(mn_check *c)
{
    check_rope(c, PAIR);
}
