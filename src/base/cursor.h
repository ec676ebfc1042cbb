/* SPDX-License-Identifier: Apache-2.0
 *
 * cursor.h - read little-endian numbers and slices from untrusted bytes.
 *
 * Failure is sticky: the first short read sets `bad`, every later read returns zeros, so a reader
 * takes a whole record and asks once.
 */
#ifndef MN_BASE_CURSOR_H
#define MN_BASE_CURSOR_H

#include "base/bytes.h"

typedef struct mn_cursor {
    const uint8_t *start, *at, *end;
    bool           bad;   // set by the first short read; later reads return zeros
} mn_cursor;

static inline mn_cursor mn_cursor_of(mn_bytes b)
{
    return (mn_cursor){ .start = b.p, .at = b.p, .end = b.n ? b.p + b.n : b.p };
}

static inline uint64_t mn_cursor_left(const mn_cursor *c)
{
    return (uint64_t)(c->end - c->at);
}

/* Bytes consumed so far: the place to name in an error. */
static inline uint64_t mn_cursor_offset(const mn_cursor *c)
{
    return (uint64_t)(c->at - c->start);
}

static inline const uint8_t *mn_cursor_take(mn_cursor *c, uint64_t n)
{
    if (c->bad || n > mn_cursor_left(c)) {
        c->bad = true;
        return NULL;
    }
    const uint8_t *p = c->at;
    c->at += (size_t)n;
    return p;
}

static inline uint16_t mn_load_u16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t mn_load_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t mn_load_u64(const uint8_t *p)
{
    return (uint64_t)mn_load_u32(p) | (uint64_t)mn_load_u32(p + 4) << 32;
}

static inline void mn_store_u32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)(v >> (8 * i));
}

static inline void mn_store_u64(uint8_t *p, uint64_t v)
{
    for (int i = 0; i < 8; i++) p[i] = (uint8_t)(v >> (8 * i));
}

static inline float mn_load_f32(const uint8_t *p)
{
    const uint32_t u = mn_load_u32(p);
    float          f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static inline void mn_store_f32(uint8_t *p, float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    mn_store_u32(p, u);
}

static inline uint8_t mn_cursor_u8(mn_cursor *c)
{
    const uint8_t *p = mn_cursor_take(c, 1);
    return p ? *p : 0;
}

static inline uint16_t mn_cursor_u16(mn_cursor *c)
{
    const uint8_t *p = mn_cursor_take(c, 2);
    return p ? mn_load_u16(p) : 0;
}

static inline uint32_t mn_cursor_u32(mn_cursor *c)
{
    const uint8_t *p = mn_cursor_take(c, 4);
    return p ? mn_load_u32(p) : 0;
}

static inline uint64_t mn_cursor_u64(mn_cursor *c)
{
    const uint8_t *p = mn_cursor_take(c, 8);
    return p ? mn_load_u64(p) : 0;
}

static inline float mn_cursor_f32(mn_cursor *c)
{
    const uint8_t *p = mn_cursor_take(c, 4);
    return p ? mn_load_f32(p) : 0.0f;
}

/* `n` bytes as text. */
static inline mn_str mn_cursor_text(mn_cursor *c, uint64_t n)
{
    const uint8_t *p = mn_cursor_take(c, n);
    return p ? (mn_str){ (const char *)p, (size_t)n } : (mn_str){ "", 0 };
}

#endif
