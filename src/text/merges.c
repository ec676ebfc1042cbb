/* SPDX-License-Identifier: Apache-2.0
 *
 * merges.c - build the table of merges.
 */
#include "text/merges.h"

#include <assert.h>
#include <string.h>

_Static_assert(MN_TOK_MAX_VOCAB <= 1 << 20 && MN_TOK_MAX_MERGES <= 1 << 22, "they fit a slot");

bool mn_merges_init(mn_merges *m, mn_pages *pages, uint32_t count)
{
    uint32_t cap = 16;
    while (cap - cap / 3 < count) cap *= 2;   // at most two thirds full: misses are the common case
    *m = (mn_merges){ .mask = cap - 1, .cap = count };
    m->slot = mn_pages_push(pages, cap, sizeof *m->slot);
    m->result = mn_pages_push(pages, count ? count : 1, sizeof *m->result);
    if (!m->slot || !m->result) return false;
    memset(m->slot, 0xFF, cap * sizeof *m->slot);
    return true;
}

void mn_merges_add(mn_merges *m, uint32_t left, uint32_t right, uint32_t result)
{
    assert(m->count < m->cap);
    const uint32_t rank = m->count++;
    m->result[rank] = result;
    const uint64_t key = (uint64_t)left << 20 | right;
    uint32_t       i = (uint32_t)((key * 0x9E3779B97F4A7C15u) >> 32) & m->mask;
    while (m->slot[i] != UINT64_MAX) {
        if (m->slot[i] >> 24 == key) return;
        i = (i + 1) & m->mask;
    }
    m->slot[i] = key << 24 | (uint64_t)rank << 2;
}

void mn_merges_list(const mn_merges *m, uint32_t *left, uint32_t *right)
{
    for (uint32_t r = 0; r < m->count; r++) left[r] = right[r] = UINT32_MAX;
    for (uint64_t i = 0; m->count && i <= m->mask; i++) {
        const uint64_t slot = m->slot[i];
        if (slot == UINT64_MAX) continue;
        const uint32_t rank = (uint32_t)(slot >> 2) & 0x3FFFFF;
        left[rank] = (uint32_t)(slot >> 44);
        right[rank] = (uint32_t)(slot >> 24) & 0xFFFFF;
    }
}
