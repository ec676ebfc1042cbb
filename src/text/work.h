/* SPDX-License-Identifier: Apache-2.0
 *
 * work.h - what one call to encode owns: where ids go, and memory that is freed on return.
 */
#ifndef MN_TEXT_WORK_H
#define MN_TEXT_WORK_H

#include "base/alloc.h"
#include "base/bytes.h"

enum { MN_CACHE_KEY = 22, MN_CACHE_IDS = 10 };

/* A word and its ids, one cache line. */
typedef struct mn_cached {
    uint8_t len;               // of key; 0 = empty
    uint8_t n;
    char    key[MN_CACHE_KEY];
    int32_t id[MN_CACHE_IDS];
} mn_cached;

typedef struct mn_work {
    mn_mem    *mem;
    int32_t   *ids;            // the caller's
    size_t     cap, n;         // n counts on past cap
    mn_cached *cache;          // [cache_mask + 1], NULL = none
    uint32_t   cache_mask;
    void      *block;          // for words of many symbols; only grows
    size_t     block_bytes;
    uint64_t   steps;          // heap operations so far: tests see that long words stay linear
    size_t     lost;           // symbols that have no id and no stand-in
    int32_t    last;           // the last id, if n
    bool       after_unknown;  // the last id is the unknown one, and they are to be fused
} mn_work;

static inline void mn_work_emit(mn_work *w, int32_t id)
{
    if (w->n < w->cap) w->ids[w->n] = id;
    w->last = id;
    w->n++;
}

/* At least `bytes` of working memory; NULL when there are none.  What was there is lost. */
static inline void *mn_work_block(mn_work *w, size_t bytes)
{
    if (bytes > w->block_bytes) {
        mn_free(w->mem, w->block);
        w->block = mn_alloc(w->mem, bytes);
        w->block_bytes = w->block ? bytes : 0;
    }
    return w->block;
}

#endif
