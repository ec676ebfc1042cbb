/* SPDX-License-Identifier: Apache-2.0
 *
 * unigram.c - the most probable split of a text into pieces.
 *
 *      best[j] = max over pieces that end at j of  best[start] + score          (Viterbi)
 *
 * A character that is no piece costs as much as the worst piece and ten more, as SentencePiece has it.
 */
#include "base/check.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

typedef struct node {
    float    score;    // of the best way here
    int32_t  id;       // its last piece, -1 = a character that is none
    uint32_t from;     // where that begins
    uint32_t next;     // where the piece of the best split that begins here ends
    bool     reached;
} node;

static void offer(node *at, float score, int32_t id, uint32_t from)
{
    if (at->reached && score <= at->score) return;
    *at = (node){ .score = score, .id = id, .from = from, .reached = true };
}

static void emit_unknown(const mnw_tokenizer *tok, mn_work *w, const char *s, size_t n)
{
    if (tok->bpe.fallback) {
        for (size_t i = 0; i < n; i++) mn_work_emit(w, tok->byte_id[(uint8_t)s[i]]);
    } else if (tok->unknown >= 0) {
        if (!w->after_unknown) mn_work_emit(w, tok->unknown);
        w->after_unknown = true;
    } else {
        w->lost++;
    }
}

mnw_status mn_unigram(const mnw_tokenizer *tok, mn_work *w, mn_str t)
{
    size_t bytes;
    if (!mn_mul_size(t.n + 1, sizeof(node), &bytes)) return MNW_E_NOMEM;
    node *best = mn_work_block(w, bytes);
    if (!best) return MNW_E_NOMEM;
    memset(best, 0, bytes);
    best[0].reached = true;

    for (size_t i = 0; i < t.n; i++) {
        if (!best[i].reached) continue;
        const size_t   size = mn_utf8_size((uint8_t)t.p[i]);
        bool           single = false;
        mn_prefix_walk walk = mn_prefix_start(&tok->pieces, t.p + i, t.n - i);
        for (uint32_t id; mn_prefix_next(&walk, &id);) {
            const size_t n = tok->vocab.piece[id].len;
            offer(&best[i + n], best[i].score + tok->score[id], (int32_t)id, (uint32_t)i);
            single |= n == size;
        }
        if (!single) offer(&best[i + size], best[i].score + tok->unknown_score, -1, (uint32_t)i);
    }
    for (uint32_t at = (uint32_t)t.n; at > 0; at = best[at].from) best[best[at].from].next = at;
    for (uint32_t at = 0; at < t.n; at = best[at].next) {
        const uint32_t stop = best[at].next;
        if (best[stop].id >= 0) {
            mn_work_emit(w, best[stop].id);
            w->after_unknown = false;
        } else {
            emit_unknown(tok, w, t.p + at, stop - at);
        }
    }
    return MNW_OK;
}
