/* SPDX-License-Identifier: Apache-2.0
 *
 * sha256.c - SHA-256 as FIPS 180-4 writes it.
 */
#include "base/sha256.h"

#include <string.h>

static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotr(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static void compress(uint32_t h[8], const uint8_t *p)
{
    uint32_t w[64];
    for (int t = 0; t < 16; t++, p += 4) {
        w[t] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    }
    for (int t = 16; t < 64; t++) {
        const uint32_t a = w[t - 15], b = w[t - 2];
        w[t] = (rotr(b, 17) ^ rotr(b, 19) ^ b >> 10) + w[t - 7] +
               (rotr(a, 7) ^ rotr(a, 18) ^ a >> 3) + w[t - 16];
    }
    uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], i = h[7];
    for (int t = 0; t < 64; t++) {
        const uint32_t t1 = i + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & f) ^ (~e & g)) +
                            K[t] + w[t];
        const uint32_t t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) +
                            ((a & b) ^ (a & c) ^ (b & c));
        i = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    const uint32_t add[8] = { a, b, c, d, e, f, g, i };
    for (int t = 0; t < 8; t++) h[t] += add[t];
}

void mn_sha256_init(mn_sha256 *s)
{
    *s = (mn_sha256){ .h = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
                             0x1f83d9ab, 0x5be0cd19 } };
}

void mn_sha256_add(mn_sha256 *s, const void *data, size_t n)
{
    const uint8_t *p = data;
    const size_t   held = (size_t)(s->bytes % 64);
    s->bytes += n;
    if (held) {
        const size_t take = n < 64 - held ? n : 64 - held;
        memcpy(s->block + held, p, take);
        if (held + take < 64) return;
        compress(s->h, s->block);
        p += take;
        n -= take;
    }
    for (; n >= 64; n -= 64, p += 64) compress(s->h, p);
    if (n) memcpy(s->block, p, n);
}

void mn_sha256_final(mn_sha256 *s, uint8_t digest[MN_SHA256_BYTES])
{
    static const uint8_t PAD[64] = { 0x80 };
    const uint64_t       bits = s->bytes * 8;
    uint8_t              length[8];
    for (int i = 0; i < 8; i++) length[i] = (uint8_t)(bits >> (56 - 8 * i));
    mn_sha256_add(s, PAD, (size_t)(1 + (119 - s->bytes % 64) % 64));   // to 56 beyond a multiple
    mn_sha256_add(s, length, sizeof length);
    for (int i = 0; i < MN_SHA256_BYTES; i++) {
        digest[i] = (uint8_t)(s->h[i / 4] >> (24 - 8 * (i % 4)));
    }
}

void mn_sha256_hex(const uint8_t digest[MN_SHA256_BYTES], char hex[MN_SHA256_HEX])
{
    for (int i = 0; i < MN_SHA256_BYTES; i++) {
        hex[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    hex[64] = '\0';
}
