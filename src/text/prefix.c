/* SPDX-License-Identifier: Apache-2.0
 *
 * prefix.c - sorted pieces and the walk along a text.
 */
#include "text/prefix.h"

static int compare(const mn_vocab *v, uint32_t a, uint32_t b)
{
    const mn_str x = mn_vocab_text(v, a), y = mn_vocab_text(v, b);
    const int    c = memcmp(x.p, y.p, x.n < y.n ? x.n : y.n);
    if (c) return c;
    if (x.n != y.n) return x.n < y.n ? -1 : 1;
    return a < b ? -1 : a > b;
}

static void sift(const mn_vocab *v, uint32_t *id, size_t i, size_t n)
{
    const uint32_t x = id[i];
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && compare(v, id[child + 1], id[child]) > 0) child++;
        if (compare(v, id[child], x) <= 0) break;
        id[i] = id[child];
    }
    id[i] = x;
}

/* Heap sort: in place, and no order of the input is slow. */
static void sort(const mn_vocab *v, uint32_t *id, size_t n)
{
    for (size_t i = n / 2; i-- > 0;) sift(v, id, i, n);
    while (n > 1) {
        const uint32_t top = id[0];
        id[0] = id[--n];
        id[n] = top;
        sift(v, id, 0, n);
    }
}

void mn_prefix_init(mn_prefix *p, const mn_vocab *vocab, uint32_t *id, uint32_t count)
{
    *p = (mn_prefix){ .vocab = vocab, .id = id };
    sort(vocab, id, count);
    for (uint32_t i = 0; i < count; i++) {
        const mn_str text = mn_vocab_text(vocab, id[i]);
        if (!text.n) continue;
        if (p->count && mn_str_eq(mn_vocab_text(vocab, id[p->count - 1]), text)) continue;
        p->first[(uint8_t)text.p[0] + 1]++;
        id[p->count++] = id[i];
    }
    for (int b = 0; b < 256; b++) p->first[b + 1] += p->first[b];
}

static uint8_t byte_at(const mn_prefix *p, uint32_t i, uint32_t depth)
{
    return (uint8_t)mn_vocab_text(p->vocab, p->id[i]).p[depth];
}

/* First index in [lo, hi) whose byte at `depth` is at least `b`. */
static uint32_t lower(const mn_prefix *p, uint32_t lo, uint32_t hi, uint32_t depth, unsigned b)
{
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (byte_at(p, mid, depth) < b) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

bool mn_prefix_next(mn_prefix_walk *w, uint32_t *id)
{
    while (w->lo < w->hi) {
        const uint32_t first = w->set->id[w->lo];
        const bool     whole = w->set->vocab->piece[first].len == w->depth;
        if (whole) w->lo++;              // the shortest sorts first; the rest is longer
        if (w->at + w->depth == w->end) {
            w->hi = w->lo;
        } else if (w->lo < w->hi) {
            const unsigned b = (uint8_t)w->at[w->depth];
            w->lo = lower(w->set, w->lo, w->hi, w->depth, b);
            w->hi = lower(w->set, w->lo, w->hi, w->depth, b + 1);
            w->depth++;
        }
        if (whole) {
            *id = first;
            return true;
        }
    }
    return false;
}
