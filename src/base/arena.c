/* SPDX-License-Identifier: Apache-2.0
 *
 * arena.c - bump allocation with mark and release.
 */
#include "base/arena.h"

#include <assert.h>

#include "base/asan.h"

void mn_arena_init(mn_arena *a, void *base, size_t cap)
{
    assert((uintptr_t)base % MN_ALIGN == 0);
    *a = (mn_arena){ .base = base, .cap = cap };
    mn_asan_poison(base, cap);
}

void *mn_arena_push(mn_arena *a, size_t size)
{
    const size_t need = (size + (MN_ALIGN - 1)) & ~(size_t)(MN_ALIGN - 1);
    if (need < size || need > a->cap - a->used) return NULL;   // first test: size wrapped

    uint8_t *p = a->base + a->used;
    a->used += need;
    if (a->used > a->peak) a->peak = a->used;
    mn_asan_unpoison(p, size);
    return p;
}

size_t mn_arena_mark(const mn_arena *a)
{
    return a->used;
}

void mn_arena_release(mn_arena *a, size_t mark)
{
    assert(mark <= a->used);
    mn_asan_poison(a->base + mark, a->used - mark);
    a->used = mark;
}
