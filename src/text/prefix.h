/* SPDX-License-Identifier: Apache-2.0
 *
 * prefix.h - which pieces does a text begin with?
 *
 * Ids sorted by their bytes.  Each further byte of the text narrows the range of ids that agree so far;
 * an empty range ends the search, so it rarely goes on for more than a few bytes.
 */
#ifndef MN_TEXT_PREFIX_H
#define MN_TEXT_PREFIX_H

#include "text/vocab.h"

typedef struct mn_prefix {
    const mn_vocab *vocab;
    uint32_t       *id;            // [count], sorted by bytes
    uint32_t        count;
    uint32_t        first[257];    // ids that begin with byte b: first[b] .. first[b + 1]
} mn_prefix;

typedef struct mn_prefix_walk {
    const mn_prefix *set;
    const char      *at, *end;     // the text
    uint32_t         lo, hi;
    uint32_t         depth;        // bytes that agree
} mn_prefix_walk;

/* Sort `id` (which is kept) and index it.  Empty pieces and repeats of a piece are dropped. */
void mn_prefix_init(mn_prefix *p, const mn_vocab *vocab, uint32_t *id, uint32_t count);

/* Start at a text, n > 0 bytes. */
static inline mn_prefix_walk mn_prefix_start(const mn_prefix *p, const char *s, size_t n)
{
    const uint8_t b = (uint8_t)*s;
    return (mn_prefix_walk){ p, s, s + n, p->first[b], p->first[b + 1], 1 };
}

/* The next longer piece that the text begins with; false when there is no more. */
bool mn_prefix_next(mn_prefix_walk *w, uint32_t *id);

#endif
