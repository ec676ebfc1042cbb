/* SPDX-License-Identifier: Apache-2.0
 *
 * sha256.h - SHA-256 (FIPS 180-4), piece by piece.
 *
 *     mn_sha256 s;
 *     mn_sha256_init(&s);
 *     mn_sha256_add(&s, p, n);             // as often as there is more
 *     mn_sha256_final(&s, digest);
 */
#ifndef MN_BASE_SHA256_H
#define MN_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { MN_SHA256_BYTES = 32, MN_SHA256_HEX = 65 };

typedef struct mn_sha256 {
    uint32_t h[8];
    uint64_t bytes;       // taken so far
    uint8_t  block[64];   // the last, unfinished one
} mn_sha256;

void mn_sha256_init(mn_sha256 *s);
void mn_sha256_add(mn_sha256 *s, const void *p, size_t n);

/* The digest; `s` must be initialised again before it takes more. */
void mn_sha256_final(mn_sha256 *s, uint8_t digest[MN_SHA256_BYTES]);

/* 64 lower-case hex digits and a NUL. */
void mn_sha256_hex(const uint8_t digest[MN_SHA256_BYTES], char hex[MN_SHA256_HEX]);

#endif
