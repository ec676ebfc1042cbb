/* SPDX-License-Identifier: Apache-2.0
 *
 * check.h - arithmetic on numbers that came from a file: false instead of wrapping.
 */
#ifndef MN_BASE_CHECK_H
#define MN_BASE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool mn_add_u64(uint64_t a, uint64_t b, uint64_t *out)
{
    *out = a + b;
    return *out >= a;
}

static inline bool mn_mul_u64(uint64_t a, uint64_t b, uint64_t *out)
{
    *out = a * b;
    return a == 0 || *out / a == b;
}

static inline bool mn_add_size(size_t a, size_t b, size_t *out)
{
    *out = a + b;
    return *out >= a;
}

static inline bool mn_mul_size(size_t a, size_t b, size_t *out)
{
    *out = a * b;
    return a == 0 || *out / a == b;
}

/* Round up to a multiple of `to`, a power of two. */
static inline bool mn_round_up_u64(uint64_t a, uint64_t to, uint64_t *out)
{
    if (!mn_add_u64(a, to - 1, out)) return false;
    *out &= ~(to - 1);
    return true;
}

#endif
