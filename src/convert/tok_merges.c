/* SPDX-License-Identifier: Apache-2.0
 *
 * tok_merges.c - two ways to say which pieces join first: a score for each piece (SentencePiece), or a list of
 * pairs (byte-pair encoding).
 *
 * From scores: every cut of a piece into two pieces is a pair; better scores come first, and pairs that make
 * the same piece follow one another.  From pairs in such an order the scores come back as minus the
 * rank.
 */
#include <stdlib.h>

#include "convert/tok_out.h"
#include "text/merges.h"

typedef struct pair {
    uint32_t order, left, right;
} pair;

static int by_order(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    if (x->order != y->order) return x->order < y->order ? -1 : 1;
    if (x->left != y->left) return x->left < y->left ? -1 : 1;
    return x->right < y->right ? -1 : x->right > y->right;
}

/* The cuts of a piece; written from `out` on unless it is NULL. */
static uint32_t cuts(const mnw_tokenizer *tok, uint32_t id, pair *out)
{
    const mn_str text = mn_vocab_text(&tok->vocab, id);
    uint32_t     n = 0;
    if (tok->vocab.piece[id].kind != MN_PIECE_NORMAL) return 0;
    for (size_t i = 1; i < text.n; i++) {
        if (((uint8_t)text.p[i] & 0xC0) == 0x80) continue;   // inside a character
        const int32_t l = mn_vocab_find(&tok->vocab, (mn_str){ text.p, i });
        const int32_t r = mn_vocab_find(&tok->vocab, (mn_str){ text.p + i, text.n - i });
        if (l < 0 || r < 0) continue;
        if (out) out[n] = (pair){ tok->order[id], (uint32_t)l, (uint32_t)r };
        n++;
    }
    return n;
}

mnw_status mn_tok_merges_of_scores(const mnw_tokenizer *tok, mn_pages *mem, mn_tok_json *j,
                                   mn_err *err)
{
    uint64_t n = 0;
    for (uint32_t id = 0; id < tok->vocab.count; id++) n += cuts(tok, id, NULL);
    MN_FAIL_IF(n > MN_TOK_MAX_MERGES, err, MNW_E_LIMIT, "tokenizer: %llu merges, at most %d",
               (unsigned long long)n, MN_TOK_MAX_MERGES);
    pair *list = mn_pages_push(mem, (size_t)n, sizeof *list);
    j->left = mn_pages_push(mem, (size_t)n, sizeof *j->left);
    j->right = mn_pages_push(mem, (size_t)n, sizeof *j->right);
    MN_FAIL_IF(!list || !j->left || !j->right, err, MNW_E_NOMEM, "tokenizer: %llu merges",
               (unsigned long long)n);
    uint32_t at = 0;
    for (uint32_t id = 0; id < tok->vocab.count; id++) at += cuts(tok, id, list + at);
    qsort(list, at, sizeof *list, by_order);
    for (uint32_t i = 0; i < at; i++) {
        j->left[i] = list[i].left;
        j->right[i] = list[i].right;
    }
    j->n_merges = at;
    return MNW_OK;
}

mnw_status mn_tok_scores_of_merges(const mnw_tokenizer *tok, mn_pages *mem, float **out, mn_err *err)
{
    const mn_merges *m = &tok->merges;
    float           *score = *out = mn_pages_push_zero(mem, tok->vocab.count, sizeof *score);
    MN_FAIL_IF(!score, err, MNW_E_NOMEM, "tokenizer: %u scores", tok->vocab.count);
    uint32_t group = 0;
    for (uint32_t r = 0; r < m->count; r++) {
        const uint32_t id = m->result[r];
        if (r > 0 && id == m->result[r - 1]) continue;
        MN_FAIL_IF(score[id] != 0.0f, err, MNW_E_UNSUPPORTED,
                   "tokenizer: the pairs that make \"%.*s\" have others between them, which scores of "
                   "pieces cannot say", MN_STR(mn_vocab_text(&tok->vocab, id)));
        score[id] = -(float)++group;
    }
    /* Pieces that nothing makes, single characters most of all, never compete. */
    for (uint32_t id = 0; id < tok->vocab.count; id++) {
        if (tok->vocab.piece[id].kind == MN_PIECE_NORMAL && score[id] == 0.0f) {
            score[id] = -(float)(group + 1);
        }
    }
    return MNW_OK;
}
