/* SPDX-License-Identifier: Apache-2.0
 *
 * tokenizer_subset.c - a tokenizer with some of another's pieces, in an order of one's own.
 */
#include "text/tokenizer.h"

enum { GONE = UINT32_MAX };

/* Texts are copied: the new one outlives the old. */
static mnw_status take_pieces(mnw_tokenizer *tok, const mn_vocab *from, const uint32_t *old, mn_err *err)
{
    mn_vocab *v = &tok->vocab;
    size_t    bytes = 1;
    for (uint32_t id = 0; id < v->count; id++) bytes += from->piece[old[id]].len;
    char *text = mn_pages_push(&tok->pages, bytes, 1);
    v->piece = mn_pages_push(&tok->pages, v->count, sizeof *v->piece);
    MN_FAIL_IF(!text || !v->piece, err, MNW_E_NOMEM, "tokenizer: %u pieces", v->count);
    v->base = text;
    for (uint32_t id = 0, at = 0; id < v->count; id++) {
        const mn_str t = mn_vocab_text(from, old[id]);
        v->piece[id] = from->piece[old[id]];
        v->piece[id].at = at;
        memcpy(text + at, t.p, t.n);
        at += (uint32_t)t.n;
    }
    return MNW_OK;
}

/* The merges whose three pieces are all there, in their order. */
static mnw_status take_merges(mnw_tokenizer *tok, const mn_merges *from, const uint32_t *now, mn_err *err)
{
    mn_pages   scratch;
    mnw_status st = MNW_OK;
    mn_pages_init(&scratch, tok->pages.mem);
    uint32_t *left = mn_pages_push(&scratch, from->count, sizeof *left);
    uint32_t *right = mn_pages_push(&scratch, from->count, sizeof *right);
    if (!left || !right || !mn_merges_init(&tok->merges, &tok->pages, from->count))
        st = mn_err_set(err, MNW_E_NOMEM, "tokenizer: table of %u merges", from->count);
    if (st == MNW_OK) mn_merges_list(from, left, right);
    for (uint32_t r = 0; r < from->count && st == MNW_OK; r++) {
        if (left[r] == GONE || now[from->result[r]] == GONE) continue;
        const uint32_t l = now[left[r]], n = now[right[r]];
        if (l != GONE && n != GONE) mn_merges_add(&tok->merges, l, n, now[from->result[r]]);
    }
    mn_pages_done(&scratch);
    return st;
}

static int32_t moved(const uint32_t *now, int32_t id)
{
    return id < 0 || now[id] == GONE ? -1 : (int32_t)now[id];
}

static mnw_status fill(mnw_tokenizer *tok, const mnw_tokenizer *from, const uint32_t *old,
                       const uint32_t *now, mn_err *err)
{
    tok->kind = from->kind;
    tok->bpe.bytes = from->bpe.bytes;
    tok->bpe.fallback = from->bpe.fallback;
    tok->bpe.fuse_unknown = from->bpe.fuse_unknown;
    tok->pre_name = from->pre_name;   // it is a constant
    memcpy(tok->stage, from->stage, sizeof tok->stage);
    tok->nfc = from->nfc;
    tok->ignore_merges = from->ignore_merges;
    tok->add_bos = from->add_bos;
    tok->add_eos = from->add_eos;
    MN_TRY(take_pieces(tok, &from->vocab, old, err));
    MN_TRY(mn_tokenizer_index(tok, err));
    tok->bos = moved(now, from->bos);
    tok->eos = moved(now, from->eos);
    tok->eot = moved(now, from->eot);
    tok->eom = moved(now, from->eom);
    tok->unknown = moved(now, from->unknown);
    MN_TRY(mn_tokenizer_special(tok, err));
    MN_TRY(take_merges(tok, &from->merges, now, err));
    return mn_tokenizer_finish(tok, err);
}

mnw_status mn_tokenizer_subset(const mnw_tokenizer *from, const uint32_t *old, uint32_t count,
                               mnw_tokenizer **out, mn_err *err)
{
    *out = NULL;
    mn_mem *mem = &from->ctx->mem;
    MN_FAIL_IF(from->kind != MN_TOK_BPE || !from->bpe.bytes, err, MNW_E_UNSUPPORTED,
               "tokenizer: %s, expected byte-level BPE", mnw_tokenizer_kind(from));
    MN_FAIL_IF(count == 0 || count > from->vocab.count, err, MNW_E_ARG,
               "tokenizer: %u pieces of %u", count, from->vocab.count);
    uint32_t *now = mn_alloc(mem, from->vocab.count * sizeof *now);
    MN_FAIL_IF(!now, err, MNW_E_NOMEM, "tokenizer: %u ids", from->vocab.count);
    memset(now, 0xFF, from->vocab.count * sizeof *now);
    for (uint32_t id = 0; id < count; id++) now[old[id]] = id;

    mnw_tokenizer *tok;
    mnw_status     st = mn_tokenizer_new(from->ctx, &tok, err);
    if (st == MNW_OK) {
        tok->vocab.count = count;
        st = fill(tok, from, old, now, err);
    }
    mn_free(mem, now);
    if (st == MNW_OK) *out = tok;
    else mn_tokenizer_close(tok);
    return st;
}
