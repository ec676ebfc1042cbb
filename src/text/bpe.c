/* SPDX-License-Identifier: Apache-2.0
 *
 * bpe.c - byte-pair merging of one word.
 *
 * Words of a few dozen symbols, nearly all there are, live in arrays on the stack: find the best pair,
 * close the gap, look again.  Longer ones use a linked list and a heap of pairs, which stays near-linear
 * whatever the text.  Both join the leftmost of equally good pairs, so they agree.
 */
#include "text/bpe.h"

#include "base/check.h"
#include "text/unicode.h"

enum { FEW = 64 };   // symbols

/* The id of what the pair of neighbours [start, mid) and [mid, stop) becomes, and its rank. */
static inline uint32_t pair_rank(const mn_bpe *b, const char *word, uint32_t start, uint32_t stop,
                                 int32_t left, int32_t right)
{
    if (b->merges) return mn_merges_rank(b->merges, left, right);
    const int32_t id = mn_vocab_find(b->vocab, (mn_str){ word + start, stop - start });
    return id < 0 ? MN_NO_MERGE : b->order[id];
}

static inline int32_t joined_id(const mn_bpe *b, const char *word, uint32_t start, uint32_t stop,
                                uint32_t rank)
{
    if (b->merges) return (int32_t)b->merges->result[rank];
    return mn_vocab_find(b->vocab, (mn_str){ word + start, stop - start });
}

static void emit(const mn_bpe *b, mn_work *w, const char *s, size_t n, int32_t id)
{
    if (id >= 0) {
        mn_work_emit(w, id);
        w->after_unknown = false;
        return;
    }
    if (b->fallback) {
        for (size_t i = 0; i < n; i++) mn_work_emit(w, b->byte_id[(uint8_t)s[i]]);
    } else if (b->unknown >= 0) {
        if (b->fuse_unknown && w->after_unknown) return;
        mn_work_emit(w, b->unknown);
        w->after_unknown = true;
    } else {
        w->lost++;
    }
}

/* The size and id of the symbol at the front. */
static inline size_t first_symbol(const mn_bpe *b, const char *s, int32_t *id)
{
    if (b->bytes) {
        *id = b->byte_id[(uint8_t)*s];
        return 1;
    }
    const size_t n = mn_utf8_size((uint8_t)*s);
    *id = mn_vocab_find(b->vocab, (mn_str){ s, n });
    if (*id >= 0) {   // "<" may be a control token somewhere, but not for text
        const uint8_t kind = b->vocab->piece[*id].kind;
        if (kind != MN_PIECE_NORMAL && kind != MN_PIECE_USER) *id = -1;
    }
    return n;
}

static void few_symbols(const mn_bpe *b, mn_work *w, mn_str word)
{
    int32_t  id[FEW];
    uint32_t at[FEW + 1], rank[FEW];
    size_t   n = 0;
    for (size_t i = 0; i < word.n; n++) {
        at[n] = (uint32_t)i;
        i += first_symbol(b, word.p + i, &id[n]);
    }
    at[n] = (uint32_t)word.n;
    for (size_t i = 0; i + 1 < n; i++) {
        rank[i] = pair_rank(b, word.p, at[i], at[i + 2], id[i], id[i + 1]);
    }
    for (;;) {
        uint32_t best = MN_NO_MERGE;
        size_t   k = 0;
        for (size_t i = 0; i + 1 < n; i++) {
            if (rank[i] < best) {
                best = rank[i];
                k = i;
            }
        }
        if (best == MN_NO_MERGE) break;
        id[k] = joined_id(b, word.p, at[k], at[k + 2], best);
        n--;
        memmove(id + k + 1, id + k + 2, (n - k - 1) * sizeof *id);
        memmove(at + k + 1, at + k + 2, (n - k) * sizeof *at);
        memmove(rank + k, rank + k + 1, (n - k - 1) * sizeof *rank);
        if (k + 1 < n) rank[k] = pair_rank(b, word.p, at[k], at[k + 2], id[k], id[k + 1]);
        if (k) rank[k - 1] = pair_rank(b, word.p, at[k - 1], at[k + 1], id[k - 1], id[k]);
    }
    for (size_t i = 0; i < n; i++) emit(b, w, word.p + at[i], at[i + 1] - at[i], id[i]);
}

/* A symbol of a long word: a link of the list, and the rank of its pair with the next one. */
typedef struct link {
    uint32_t at;      // in the word
    uint32_t prev, next;
    int32_t  id;
    uint32_t rank;
} link;

typedef struct heap {
    uint64_t *key;    // rank << 32 | symbol: the least is the best, leftmost first
    size_t    n;
    uint64_t  steps;
} heap;

static void heap_push(heap *h, uint64_t key)
{
    size_t i = h->n++;
    for (; i && h->key[(i - 1) / 2] > key; i = (i - 1) / 2, h->steps++) h->key[i] = h->key[(i - 1) / 2];
    h->key[i] = key;
}

static uint64_t heap_pop(heap *h)
{
    const uint64_t top = h->key[0], last = h->key[--h->n];
    size_t         i = 0;
    for (size_t child; (child = 2 * i + 1) < h->n; i = child, h->steps++) {
        if (child + 1 < h->n && h->key[child + 1] < h->key[child]) child++;
        if (h->key[child] >= last) break;
        h->key[i] = h->key[child];
    }
    h->key[i] = last;
    return top;
}

static uint32_t rank_of(const mn_bpe *b, mn_str word, const link *s, uint32_t i)
{
    const uint32_t j = s[i].next;   // s[n] is the end: its id is -1 and its place the word's length
    if (s[j].next == j) return MN_NO_MERGE;
    return pair_rank(b, word.p, s[i].at, s[s[j].next].at, s[i].id, s[j].id);
}

/* Every merge removes a symbol and adds at most two pairs, so 3n pairs are enough. */
static mnw_status many_symbols(const mn_bpe *b, mn_work *w, mn_str word, size_t n)
{
    size_t list_bytes, heap_bytes, bytes;
    if (!mn_mul_size(n + 1, sizeof(link), &list_bytes) ||
        !mn_mul_size(n, 3 * sizeof(uint64_t), &heap_bytes) ||
        !mn_add_size(list_bytes, heap_bytes + 8, &bytes)) {
        return MNW_E_NOMEM;
    }
    uint64_t *block = mn_work_block(w, bytes);
    if (!block) return MNW_E_NOMEM;
    heap  h = { .key = block };
    link *s = (link *)(block + 3 * n);

    uint32_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        s[i] = (link){ .at = at, .prev = i - 1, .next = i + 1 };
        at += (uint32_t)first_symbol(b, word.p + at, &s[i].id);
    }
    s[n] = (link){ .at = at, .prev = (uint32_t)n - 1, .next = (uint32_t)n, .id = -1 };
    for (uint32_t i = 0; i < n; i++) {
        s[i].rank = rank_of(b, word, s, i);
        if (s[i].rank != MN_NO_MERGE) heap_push(&h, (uint64_t)s[i].rank << 32 | i);
    }
    while (h.n) {
        const uint64_t top = heap_pop(&h);
        const uint32_t i = (uint32_t)top, rank = (uint32_t)(top >> 32);
        if (s[i].rank != rank) continue;   // the pair is gone: one of the two was joined meanwhile

        const uint32_t j = s[i].next, k = s[j].next;
        s[i].id = joined_id(b, word.p, s[i].at, s[k].at, rank);
        s[i].next = k;
        s[j].rank = MN_NO_MERGE;
        s[k].prev = i;
        const uint32_t touched[2] = { i, i ? s[i].prev : i };
        for (int t = 0; t < (i ? 2 : 1); t++) {
            link *x = &s[touched[t]];
            x->rank = rank_of(b, word, s, touched[t]);
            if (x->rank != MN_NO_MERGE) heap_push(&h, (uint64_t)x->rank << 32 | touched[t]);
        }
    }
    w->steps += h.steps;
    for (uint32_t i = 0; i < n; i = s[i].next) {
        emit(b, w, word.p + s[i].at, s[s[i].next].at - s[i].at, s[i].id);
    }
    return MNW_OK;
}

static size_t count_symbols(const mn_bpe *b, mn_str word)
{
    if (b->bytes) return word.n;
    size_t n = 0;
    for (size_t i = 0; i < word.n; i++) n += ((uint8_t)word.p[i] & 0xC0) != 0x80;
    return n;
}

mnw_status mn_bpe_word(const mn_bpe *b, mn_work *w, mn_str word)
{
    const size_t n = count_symbols(b, word);
    if (n > FEW) return many_symbols(b, w, word, n);
    few_symbols(b, w, word);
    return MNW_OK;
}
