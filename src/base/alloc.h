/* SPDX-License-Identifier: Apache-2.0
 *
 * alloc.h - memory through the application's hook, 64-byte aligned, counted.
 *
 * Each block carries a 64-byte header in front of it (size and the hook's own pointer), so that
 * freeing needs the pointer only.
 */
#ifndef MN_BASE_ALLOC_H
#define MN_BASE_ALLOC_H

#include <minnow/base.h>
#include <stdatomic.h>

enum { MN_ALIGN = 64 };

typedef struct mn_mem {
    mnw_mem_fn   *fn;
    void         *user;
    atomic_size_t live, peak;   // bytes asked of the hook
    atomic_size_t calls;        // of the hook, frees included
} mn_mem;

/* Use `fn` (NULL: malloc, realloc, free). */
void mn_mem_init(mn_mem *m, mnw_mem_fn *fn, void *user);

/* `size` uninitialised bytes, MN_ALIGN-aligned; NULL when there are none.  Size 0 gives a block. */
void *mn_alloc(mn_mem *m, size_t size);

/* The same for count * size bytes, zeroed; NULL also when the product overflows. */
void *mn_alloc_zero(mn_mem *m, size_t count, size_t size);

/* Resize a block of mn_alloc, keeping its bytes; p NULL allocates.  The old block stays valid when
 * NULL is returned. */
void *mn_realloc(mn_mem *m, void *p, size_t size);

/* Free.  NULL is allowed. */
void mn_free(mn_mem *m, void *p);

#endif
