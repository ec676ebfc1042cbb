/* SPDX-License-Identifier: Apache-2.0
 *
 * bytes.h - slices: a pointer and a length that travel together.  Nothing is owned here.
 */
#ifndef MN_BASE_BYTES_H
#define MN_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct mn_bytes {
    const uint8_t *p;
    size_t         n;
} mn_bytes;

typedef struct mn_str {   // text, not NUL-terminated, any bytes
    const char *p;
    size_t      n;
} mn_str;

/* For printf: "%.*s", MN_STR(s).  Long names are cut at 128 bytes. */
#define MN_STR(s) (int)((s).n < 128 ? (s).n : 128), (s).p

static inline mn_str mn_str_of(const char *z)
{
    return (mn_str){ z, strlen(z) };
}

static inline bool mn_str_eq(mn_str a, mn_str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool mn_str_is(mn_str a, const char *z)
{
    return mn_str_eq(a, mn_str_of(z));
}

static inline bool mn_str_starts(mn_str a, mn_str head)
{
    return a.n >= head.n && (head.n == 0 || memcmp(a.p, head.p, head.n) == 0);
}

#endif
