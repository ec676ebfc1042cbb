/* SPDX-License-Identifier: Apache-2.0
 *
 * merges.h - the merge list of byte-pair encoding: which two ids join, in what order, and into what.
 *
 * One open-addressing table of 64-bit slots, so a pair that does not merge (most do not) costs one
 * cache line:
 *
 *      | left id, 20 bits | right id, 20 bits | rank, 22 bits | 0 0 |
 *
 * and an array from rank to the id of the whole.
 */
#ifndef MN_TEXT_MERGES_H
#define MN_TEXT_MERGES_H

#include "base/pages.h"
#include "text/text_limits.h"

#define MN_NO_MERGE UINT32_MAX

typedef struct mn_merges {
    uint64_t *slot;     // all ones = empty
    uint32_t *result;   // [count]
    uint32_t  mask;
    uint32_t  count;    // added so far
    uint32_t  cap;      // room
} mn_merges;

/* Make room for `count` merges; false without memory. */
bool mn_merges_init(mn_merges *m, mn_pages *pages, uint32_t count);

/* Append the merge of the next rank.  A pair that is there already keeps its rank. */
void mn_merges_add(mn_merges *m, uint32_t left, uint32_t right, uint32_t result);

/* The pairs in the order of their ranks: left[r], right[r] for r < count; both UINT32_MAX for a rank whose
 * pair had one already. */
void mn_merges_list(const mn_merges *m, uint32_t *left, uint32_t *right);

/* The rank of a pair, MN_NO_MERGE if it does not merge.  Ids may be -1. */
static inline uint32_t mn_merges_rank(const mn_merges *m, int32_t left, int32_t right)
{
    if ((left | right) < 0) return MN_NO_MERGE;
    const uint64_t key = (uint64_t)left << 20 | (uint64_t)right;
    for (uint32_t i = (uint32_t)((key * 0x9E3779B97F4A7C15u) >> 32) & m->mask;;
         i = (i + 1) & m->mask) {
        const uint64_t slot = m->slot[i];
        if (slot == UINT64_MAX) return MN_NO_MERGE;   // first: it looks like the pair of the last ids
        if (slot >> 24 == key) return (uint32_t)(slot >> 2) & 0x3FFFFF;
    }
}

#endif
