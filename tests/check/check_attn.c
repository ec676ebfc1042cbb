/* SPDX-License-Identifier: Apache-2.0
 *
 * check_attn.c - attention of each tier against the scalar specification, both cache types.
 */
#include <math.h>
#include <string.h>

#include "harness.h"

enum { F16, I8 };

static mn_attn_fn *pick(const mn_kernels *k, int type)
{
    return type == F16 ? k->attn_f16 : k->attn_i8;
}

/* A cache of n positions; `stride` bytes lie between rows, the last row ends at the forbidden page. */
static mn_kv_head cache(mn_check *c, int type, size_t n, size_t P, size_t stride, bool wild)
{
    mn_kv_head kv = { .stride_k = stride, .stride_v = stride };
    const size_t row = type == F16 ? 2 * P : P, bytes = (n - 1) * stride + row;
    void *side[2];
    for (int s = 0; s < 2; s++) {
        uint16_t *h = side[s] = mn_check_bytes(c, bytes);
        if (type == F16 && !wild)           // sign, exponent 2^-15 to 2^0, any fraction
            for (size_t i = 0; i < bytes / 2; i++) h[i] = (uint16_t)(h[i] & 0xbfff);
    }
    kv.k = side[0];
    kv.v = side[1];
    if (type == I8) {
        float *ks = mn_check_in(c, n, MN_FILL_UNIFORM), *vs = mn_check_in(c, n, MN_FILL_UNIFORM);
        for (size_t j = 0; j < n; j++) ks[j] = fabsf(ks[j]) * 0.02f, vs[j] = fabsf(vs[j]) * 0.02f;
        kv.ks = ks;
        kv.vs = vs;
    }
    return kv;
}

static bool one(mn_check *c, int type, size_t n, size_t G, size_t P, int fill)
{
    mn_check_case(c, "n=%zu G=%zu P=%zu fill=%d", n, G, P, fill);
    const bool       wild = fill == MN_FILL_WILD;
    const size_t     row = type == F16 ? 2 * P : P, ldq = P + 8, ldo = P + 3, ld = (n + 63) / 64 * 64;
    const float      scale = 1.0f / sqrtf((float)P);
    const mn_kv_head kv = cache(c, type, n, P, mn_check_random(c) & 1 ? row : 3 * row, wild);
    const float     *q = mn_check_in(c, (G - 1) * ldq + P, (mn_fill)fill);
    const size_t     count = (G - 1) * ldo + P, bytes = count * sizeof(float);
    float           *want = mn_check_out(c, bytes), *got = mn_check_out(c, bytes);
    float           *scratch = mn_check_out(c, G * ld * sizeof(float));
    pick(c->ref, type)(want, ldo, q, ldq, &kv, n, G, P, scale, scratch);
    memset(scratch, 0xff, G * ld * sizeof(float));          // what is left in it must not matter
    pick(c->isa, type)(got, ldo, q, ldq, &kv, n, G, P, scale, scratch);
    return mn_check_f32(c, got, want, count);
}

static void bench(mn_check *c, int type, const char *label, size_t n, size_t G, size_t P)
{
    mn_check_case(c, "bench");
    const size_t     row = type == F16 ? 2 * P : P;
    const mn_kv_head kv = cache(c, type, n, P, row, false);
    const float     *q = mn_check_in(c, G * P, MN_FILL_UNIFORM);
    float           *o = mn_check_out(c, G * P * sizeof *o);
    float           *scratch = mn_check_out(c, G * ((n + 63) / 64 * 64) * sizeof *scratch);
    MN_BENCH(c, label, 4 * n * G * P, "op",
             pick(k, type)(o, P, q, P, &kv, n, G, P, 0.125f, scratch));
}

static void check_attn(mn_check *c, int type)
{
    for (size_t n = 1; n <= 70; n++)
        for (int fill = 0; fill < MN_FILL_COUNT_WILD; fill++)
            if (!one(c, type, n, 1 + n % 16, 64, fill)) return;
    for (size_t P = 8; P <= 256; P += 8)
        for (size_t G = 1; G <= 16; G++)
            if (!one(c, type, 1 + (P + 7 * G) % 41, G, P, (int)(G % MN_FILL_COUNT_WILD))) return;
    if (!one(c, type, 777, 7, 64, MN_FILL_UNIFORM)) return;

    bench(c, type, "n=512 G=3 P=64", 512, 3, 64);
    bench(c, type, "n=512 G=7 P=64", 512, 7, 64);
    bench(c, type, "n=512 G=2 P=128", 512, 2, 128);
    bench(c, type, "n=8192 G=7 P=64", 8192, 7, 64);
}

void check_attn_f16(mn_check *c)
{
    check_attn(c, F16);
}

void check_attn_i8(mn_check *c)
{
    check_attn(c, I8);
}
