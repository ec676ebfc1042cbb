/* SPDX-License-Identifier: Apache-2.0
 *
 * pages.h - memory that only grows and is freed together: a model's metadata and tables.
 *
 * Blocks never move.  Small requests share pages of 64 KiB; large ones have their own.
 */
#ifndef MN_BASE_PAGES_H
#define MN_BASE_PAGES_H

#include "base/alloc.h"
#include "base/bytes.h"

typedef struct mn_page mn_page;

typedef struct mn_pages {
    mn_mem  *mem;
    mn_page *head;     // newest first
    uint8_t *at;       // free space in the current page
    size_t   left;
    size_t   total;    // bytes taken from mem
} mn_pages;

/* Start empty.  A zeroed struct may be given to mn_pages_done as well. */
void mn_pages_init(mn_pages *p, mn_mem *mem);

/* count * size uninitialised bytes, 64-byte aligned when they are 64 or more, else 16-byte
 * aligned; NULL when there are none or the product overflows. */
void *mn_pages_push(mn_pages *p, size_t count, size_t size);

/* The same, zeroed. */
void *mn_pages_push_zero(mn_pages *p, size_t count, size_t size);

/* A NUL-terminated copy of `s`; NULL without memory. */
char *mn_pages_text(mn_pages *p, mn_str s);

void mn_pages_done(mn_pages *p);

#endif
