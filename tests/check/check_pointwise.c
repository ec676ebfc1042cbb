/* SPDX-License-Identifier: Apache-2.0
 *
 * check_pointwise.c - swiglu, add, to_f16, quant_kv, argmax and sum_exp of each tier against the scalar
 * specification.
 */
#include "harness.h"

enum { N_BENCH = 2560, N_HEAD = 64, N_VOCAB = 49152 };

void check_swiglu(mn_check *c)
{
    static const float edges[] = { 86.9f, 87.0f, 87.1f, 88.0f, 88.1f, 89.0f, 1e30f };
    for (size_t n = 1; n <= 70; n++)
        for (int fill = 0; fill < MN_FILL_COUNT_WILD; fill++) {
            mn_check_case(c, "n=%zu fill=%d", n, fill);
            float       *g = mn_check_in(c, n, (mn_fill)fill);
            const float *u = mn_check_in(c, n, MN_FILL_UNIFORM);
            const float  edge = edges[n % (sizeof edges / sizeof *edges)];
            g[n / 2] = n & 1 ? edge : -edge;                // where exp changes its mind
            if (fill == MN_FILL_UNIFORM)
                for (size_t i = 0; i < n; i++) g[i] *= 20.0f;
            const size_t bytes = n * sizeof *g;
            float       *want = mn_check_out(c, bytes), *got = mn_check_out(c, bytes);
            c->ref->swiglu(want, g, u, n);
            c->isa->swiglu(got, g, u, n);
            if (!mn_check_f32(c, got, want, n)) return;

            float *both = mn_check_copy(c, g, bytes);       // y may equal g
            c->isa->swiglu(both, both, u, n);
            if (!mn_check_f32(c, both, want, n)) return;

            both = mn_check_copy(c, u, bytes);              // or u
            c->isa->swiglu(both, g, both, n);
            if (!mn_check_f32(c, both, want, n)) return;
        }

    mn_check_case(c, "bench");
    const float *g = mn_check_in(c, N_BENCH, MN_FILL_UNIFORM);
    const float *u = mn_check_in(c, N_BENCH, MN_FILL_UNIFORM);
    float       *y = mn_check_out(c, N_BENCH * sizeof *y);
    MN_BENCH(c, "n=2560", 3 * N_BENCH * sizeof(float), "B", k->swiglu(y, g, u, N_BENCH));
}

void check_add(mn_check *c)
{
    for (size_t n = 1; n <= 70; n++)
        for (int fill = 0; fill < MN_FILL_COUNT_WILD; fill++) {
            mn_check_case(c, "n=%zu fill=%d", n, fill);
            const float *x = mn_check_in(c, n, (mn_fill)fill), *y = mn_check_in(c, n, (mn_fill)fill);
            float       *want = mn_check_copy(c, x, n * sizeof *x);
            float       *got = mn_check_copy(c, x, n * sizeof *x);
            c->ref->add(want, y, n);
            c->isa->add(got, y, n);
            if (!mn_check_f32(c, got, want, n)) return;
        }

    mn_check_case(c, "bench");
    float *x = mn_check_in(c, N_BENCH, MN_FILL_ZEROS), *y = mn_check_in(c, N_BENCH, MN_FILL_ZEROS);
    MN_BENCH(c, "n=2560", 3 * N_BENCH * sizeof(float), "B", k->add(x, y, N_BENCH));
}

void check_to_f16(mn_check *c)
{
    for (size_t n = 1; n <= 70; n++)
        for (int fill = 0; fill < MN_FILL_COUNT_WILD; fill++) {
            mn_check_case(c, "n=%zu fill=%d", n, fill);
            const float *x = mn_check_in(c, n, (mn_fill)fill);
            uint16_t    *want = mn_check_out(c, 2 * n), *got = mn_check_out(c, 2 * n);
            c->ref->to_f16(want, x, n);
            c->isa->to_f16(got, x, n);
            if (!mn_check_f16(c, got, want, n)) return;
        }
    for (int e = -30; e <= 20; e++) {                       // ties and both ends of the range
        enum { N = 64 };
        mn_check_case(c, "2^%d * m / 2048, n=64", e);
        float *x = mn_check_in(c, N, MN_FILL_ZEROS);
        for (int i = 0; i < N; i++) {
            const float f = (float)(2048 + (int)(mn_check_random(c) % 4096)) / 2048.0f;
            x[i] = (i & 1 ? f : -f) * (e < 0 ? 1.0f / (float)(1 << -e) : (float)(1 << e));
        }
        uint16_t *want = mn_check_out(c, 2 * N), *got = mn_check_out(c, 2 * N);
        c->ref->to_f16(want, x, N);
        c->isa->to_f16(got, x, N);
        if (!mn_check_f16(c, got, want, N)) return;
    }

    mn_check_case(c, "bench");
    const float *x = mn_check_in(c, N_HEAD, MN_FILL_UNIFORM);
    uint16_t    *y = mn_check_out(c, 2 * N_HEAD);
    MN_BENCH(c, "n=64", 6 * N_HEAD, "B", k->to_f16(y, x, N_HEAD));
}

void check_quant_kv(mn_check *c)
{
    for (size_t n = 1; n <= 70; n++)
        for (int fill = 0; fill < MN_FILL_COUNT_WILD; fill++) {
            mn_check_case(c, "n=%zu fill=%d", n, fill);
            const float *x = mn_check_in(c, n, (mn_fill)fill);
            int8_t      *want = mn_check_out(c, n), *got = mn_check_out(c, n);
            const float  d = c->ref->quant_kv(want, x, n), e = c->isa->quant_kv(got, x, n);
            if (!mn_check_f32(c, &e, &d, 1) || !mn_check_i8(c, got, want, n)) return;
        }

    mn_check_case(c, "bench");
    const float *x = mn_check_in(c, N_HEAD, MN_FILL_UNIFORM);
    int8_t      *q = mn_check_out(c, N_HEAD);
    MN_BENCH(c, "n=64", 5 * N_HEAD, "B", k->quant_kv(q, x, N_HEAD));
}

void check_argmax(mn_check *c)
{
    for (size_t n = 1; n <= 200; n++)
        for (int fill = 0; fill < MN_FILL_COUNT_WILD + 2; fill++) {
            mn_check_case(c, "n=%zu fill=%d", n, fill);
            float *x = mn_check_in(c, n, fill < MN_FILL_COUNT_WILD ? (mn_fill)fill : MN_FILL_ZEROS);
            if (fill == MN_FILL_COUNT_WILD)                 // few values, so many equals
                for (size_t i = 0; i < n; i++) x[i] = (float)(mn_check_random(c) % 4);
            if (fill == MN_FILL_COUNT_WILD + 1)             // nothing to choose
                for (size_t i = 0; i < n; i++) x[i] = __builtin_nanf("");
            if (!mn_check_size(c, c->isa->argmax(x, n), c->ref->argmax(x, n))) return;
        }

    mn_check_case(c, "bench");
    const float    *x = mn_check_in(c, N_VOCAB, MN_FILL_UNIFORM);
    volatile size_t at;
    MN_BENCH(c, "n=49152", N_VOCAB * sizeof *x, "B", at = k->argmax(x, N_VOCAB));
    (void)at;
}

void check_sum_exp(mn_check *c)
{
    for (size_t n = 1; n <= 70; n++)
        for (int fill = 0; fill < MN_FILL_COUNT_WILD; fill++) {
            mn_check_case(c, "n=%zu fill=%d", n, fill);
            float *x = mn_check_in(c, n, (mn_fill)fill);
            if (fill == MN_FILL_UNIFORM)
                for (size_t i = 0; i < n; i++) x[i] *= 50.0f;   // some exponentials vanish
            const float max = x[c->ref->argmax(x, n)];
            const float want = c->ref->sum_exp(x, n, max), got = c->isa->sum_exp(x, n, max);
            if (!mn_check_f32(c, &got, &want, 1)) return;
        }

    mn_check_case(c, "bench");
    const float   *x = mn_check_in(c, N_VOCAB, MN_FILL_UNIFORM);
    volatile float sum;
    MN_BENCH(c, "n=49152", N_VOCAB * sizeof *x, "B", sum = k->sum_exp(x, N_VOCAB, 1.0f));
    (void)sum;
}
