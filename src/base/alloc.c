/* SPDX-License-Identifier: Apache-2.0
 *
 * alloc.c - the only file that calls malloc.
 *
 *      raw                    p - 64          p (64-byte aligned)
 *       |---- slack ----------| raw, total    |---- size bytes ----|
 */
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

typedef struct header {
    void  *raw;     // what the hook returned
    size_t total;   // what the hook was asked for
    size_t size;    // what our caller asked for
} header;

_Static_assert(sizeof(header) <= MN_ALIGN, "the header fits in front of the block");

static void *default_mem(void *user, void *ptr, size_t old_size, size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size) return realloc(ptr, new_size);
    free(ptr);
    return NULL;
}

void mn_mem_init(mn_mem *m, mnw_mem_fn *fn, void *user)
{
    m->fn = fn ? fn : default_mem;
    m->user = user;
    atomic_init(&m->live, 0);
    atomic_init(&m->peak, 0);
    atomic_init(&m->calls, 0);
}

static header *header_of(void *p)
{
    return (header *)((uint8_t *)p - MN_ALIGN);
}

void *mn_alloc(mn_mem *m, size_t size)
{
    size_t total;
    if (!mn_add_size(size, 2 * MN_ALIGN, &total)) return NULL;

    atomic_fetch_add_explicit(&m->calls, 1, memory_order_relaxed);
    uint8_t *raw = m->fn(m->user, NULL, 0, total);
    if (!raw) return NULL;

    const size_t live = atomic_fetch_add_explicit(&m->live, total, memory_order_relaxed) + total;
    size_t       peak = atomic_load_explicit(&m->peak, memory_order_relaxed);
    while (live > peak && !atomic_compare_exchange_weak(&m->peak, &peak, live)) {}

    uint8_t *p = (uint8_t *)(((uintptr_t)raw + MN_ALIGN + MN_ALIGN - 1) & ~(uintptr_t)(MN_ALIGN - 1));
    *header_of(p) = (header){ .raw = raw, .total = total, .size = size };
    return p;
}

void *mn_alloc_zero(mn_mem *m, size_t count, size_t size)
{
    size_t bytes;
    if (!mn_mul_size(count, size, &bytes)) return NULL;
    void *p = mn_alloc(m, bytes);
    if (p) memset(p, 0, bytes);
    return p;
}

void *mn_realloc(mn_mem *m, void *p, size_t size)
{
    if (!p) return mn_alloc(m, size);
    void *q = mn_alloc(m, size);
    if (!q) return NULL;
    const size_t old = header_of(p)->size;
    memcpy(q, p, old < size ? old : size);
    mn_free(m, p);
    return q;
}

void mn_free(mn_mem *m, void *p)
{
    if (!p) return;
    const header h = *header_of(p);
    atomic_fetch_add_explicit(&m->calls, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&m->live, h.total, memory_order_relaxed);
    m->fn(m->user, h.raw, h.total, 0);
}
