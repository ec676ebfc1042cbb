/* SPDX-License-Identifier: Apache-2.0
 *
 * arena.h - bump allocation with mark and release.
 *
 * One block and one cursor.  Nothing is freed alone: mark, push, release.  Every push is
 * 64-byte aligned, so kernels may load full vectors from it.
 *
 *      base          mark              used                 cap
 *       |--- older ---|--- released ----|------ free --------|
 *                        by release(mark)
 */
#ifndef MN_BASE_ARENA_H
#define MN_BASE_ARENA_H

#include "base/alloc.h"

typedef struct mn_arena {
    uint8_t *base;   // MN_ALIGN-aligned, not owned
    size_t   used;   // bytes handed out, a multiple of MN_ALIGN
    size_t   cap;    // bytes at base
    size_t   peak;   // highest `used` so far
} mn_arena;

/* Use `cap` bytes at `base`. */
void mn_arena_init(mn_arena *a, void *base, size_t cap);

/* `size` uninitialised bytes, or NULL if they do not fit. */
void *mn_arena_push(mn_arena *a, size_t size);

/* Everything pushed after mark() dies at release(mark). */
size_t mn_arena_mark(const mn_arena *a);
void   mn_arena_release(mn_arena *a, size_t mark);

#endif
