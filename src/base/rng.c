/* SPDX-License-Identifier: Apache-2.0
 *
 * rng.c - Philox-4x32-10: ten rounds of multiply, swap and xor over (counter, key).
 */
#include "base/rng.h"

enum { ROUNDS = 10 };

void mn_rng_block(uint64_t seed, uint64_t stream, uint64_t counter, uint32_t out[4])
{
    uint32_t c0 = (uint32_t)counter, c1 = (uint32_t)(counter >> 32);
    uint32_t c2 = (uint32_t)stream, c3 = (uint32_t)(stream >> 32);
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);

    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t a = (uint64_t)0xD2511F53u * c0, b = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)b;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

uint64_t mn_rng_u64(uint64_t seed, uint64_t stream, uint64_t counter)
{
    uint32_t w[4];
    mn_rng_block(seed, stream, counter, w);
    return (uint64_t)w[0] | (uint64_t)w[1] << 32;
}

static double unit(uint32_t lo, uint32_t hi)
{
    return (double)(((uint64_t)hi << 32 | lo) >> 11) * 0x1p-53;
}

double mn_rng_uniform(uint64_t seed, uint64_t stream, uint64_t counter)
{
    uint32_t w[4];
    mn_rng_block(seed, stream, counter, w);
    return unit(w[0], w[1]);
}
