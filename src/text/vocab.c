/* SPDX-License-Identifier: Apache-2.0
 *
 * vocab.c - the hash table from pieces to ids.
 */
#include "text/vocab.h"

#include "base/map.h"

enum {
    ID_BITS = 20,
    TAG_MAX = 0xFFE,   // so that no slot looks empty
};

static const uint32_t id_mask = (1u << ID_BITS) - 1, empty = 0xFFFFFFFFu;

_Static_assert(MN_TOK_MAX_VOCAB <= 1 << ID_BITS, "ids fit a slot");

static uint32_t tag_of(uint32_t hash)
{
    const uint32_t tag = hash >> ID_BITS;
    return tag > TAG_MAX ? TAG_MAX : tag;
}

static uint32_t find_slot(const mn_vocab *v, mn_str text)
{
    const uint32_t hash = mn_hash(text.p, text.n), tag = tag_of(hash);
    for (uint32_t i = hash & v->mask;; i = (i + 1) & v->mask) {
        const uint32_t slot = v->slot[i];
        if (slot == empty) return i;
        if (slot >> ID_BITS == tag && mn_str_eq(mn_vocab_text(v, slot & id_mask), text)) return i;
    }
}

bool mn_vocab_index(mn_vocab *v, mn_pages *pages)
{
    uint32_t cap = 16;
    while (cap - cap / 4 < v->count) cap *= 2;   // at most three quarters full
    v->slot = mn_pages_push(pages, cap, sizeof *v->slot);
    if (!v->slot) return false;
    memset(v->slot, 0xFF, cap * sizeof *v->slot);
    v->mask = cap - 1;

    for (uint32_t id = 0; id < v->count; id++) {
        const mn_str text = mn_vocab_text(v, id);
        if (!text.n) continue;   // a hole in the numbering
        const uint32_t i = find_slot(v, text);
        if (text.n > v->longest) v->longest = (uint32_t)text.n;
        if (v->slot[i] == empty) {
            v->slot[i] = tag_of(mn_hash(text.p, text.n)) << ID_BITS | id;
        } else if (!v->n_repeated++) {
            v->repeated = id;
        }
    }
    return true;
}

int32_t mn_vocab_find(const mn_vocab *v, mn_str text)
{
    if (text.n > v->longest) return -1;
    const uint32_t slot = v->slot[find_slot(v, text)];
    return slot == empty ? -1 : (int32_t)(slot & id_mask);
}

static int hex(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int mn_byte_piece(mn_str t)
{
    if (t.n != 6 || memcmp(t.p, "<0x", 3) != 0 || t.p[5] != '>') return -1;
    const int high = hex(t.p[3]), low = hex(t.p[4]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}
