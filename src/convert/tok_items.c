/* SPDX-License-Identifier: Apache-2.0
 *
 * tok_items.c - a tokenizer as items of a GGUF file, tokenizer.ggml.*.
 */
#include <inttypes.h>
#include <stdio.h>

#include "convert/tok_out.h"
#include "text/merges.h"

#define KEY(name) "tokenizer.ggml." name

enum { FILLER = 24 };   // "[PAD1048575]"

static mnw_status put_pieces(const mnw_tokenizer *tok, uint32_t rows, mn_pages *mem,
                             mn_gguf_writer *w, mn_err *err)
{
    mn_str  *text = mn_pages_push(mem, rows, sizeof *text);
    int32_t *kind = mn_pages_push(mem, rows, sizeof *kind);
    MN_FAIL_IF(!text || !kind, err, MNW_E_NOMEM, "tokenizer: %u pieces", rows);
    for (uint32_t id = 0; id < rows; id++) {
        if (id < tok->vocab.count && tok->vocab.piece[id].len > 0) {
            text[id] = mn_vocab_text(&tok->vocab, id);
            kind[id] = tok->vocab.piece[id].kind;
            continue;
        }
        char *p = mn_pages_push(mem, FILLER, 1);
        MN_FAIL_IF(!p, err, MNW_E_NOMEM, "tokenizer: %u pieces", rows);
        text[id] = (mn_str){ p, (size_t)snprintf(p, FILLER, "[PAD%" PRIu32 "]", id) };
        kind[id] = MN_PIECE_UNUSED;
    }
    mn_gguf_set_array(w, KEY("tokens"), MN_META_STR, text, rows);
    mn_gguf_set_array(w, KEY("token_type"), MN_META_I32, kind, rows);
    return MNW_OK;
}

static mnw_status put_merges(const mnw_tokenizer *tok, mn_pages *mem, mn_gguf_writer *w, mn_err *err)
{
    const uint32_t n = tok->merges.count;
    uint32_t      *left = mn_pages_push(mem, n, sizeof *left), *right = mn_pages_push(mem, n, sizeof *right);
    mn_str        *text = mn_pages_push(mem, n, sizeof *text);
    MN_FAIL_IF(!left || !right || !text, err, MNW_E_NOMEM, "tokenizer: %u merges", n);
    mn_merges_list(&tok->merges, left, right);
    uint32_t kept = 0;
    for (uint32_t r = 0; r < n; r++) {
        if (left[r] == UINT32_MAX) continue;
        const mn_str a = mn_vocab_text(&tok->vocab, left[r]), b = mn_vocab_text(&tok->vocab, right[r]);
        char        *p = mn_pages_push(mem, a.n + 1 + b.n, 1);
        MN_FAIL_IF(!p, err, MNW_E_NOMEM, "tokenizer: %u merges", n);
        memcpy(p, a.p, a.n);
        p[a.n] = ' ';
        memcpy(p + a.n + 1, b.p, b.n);
        text[kept++] = (mn_str){ p, a.n + 1 + b.n };
    }
    mn_gguf_set_array(w, KEY("merges"), MN_META_STR, text, kept);
    return MNW_OK;
}

static mnw_status put_spaces(const mnw_tokenizer *tok, uint32_t rows, mn_pages *mem,
                             mn_gguf_writer *w, mn_err *err)
{
    float *score, *all = mn_pages_push_zero(mem, rows, sizeof *all);
    MN_FAIL_IF(!all, err, MNW_E_NOMEM, "tokenizer: %u scores", rows);
    MN_TRY(mn_tok_scores_of_merges(tok, mem, &score, err));
    memcpy(all, score, tok->vocab.count * sizeof *all);
    mn_gguf_set_array(w, KEY("scores"), MN_META_F32, all, rows);
    mn_gguf_set_bool(w, KEY("add_space_prefix"), tok->prefix != MN_PREFIX_NEVER);
    if (tok->prefix != MN_PREFIX_FIRST) return MNW_OK;
    return mn_warn(tok->ctx, MNW_WARNING_METADATA, err,
                   "tokenizer: a space is put in front of a text only; GGUF files cannot say that, it will "
                   "be put behind each added token too");
}

static void put_id(mn_gguf_writer *w, const char *key, int32_t id)
{
    if (id >= 0) mn_gguf_set_u32(w, key, (uint32_t)id);
}

/* GGUF has no place for how an added token is found. */
static mnw_status warn_added(const mnw_tokenizer *tok, mn_err *err)
{
    uint32_t n = 0, first = 0;
    for (uint32_t id = tok->vocab.count; id-- > 0;) {
        const uint8_t odd = MN_ADDED_SINGLE_WORD | MN_ADDED_LSTRIP | MN_ADDED_RSTRIP;
        if (!(tok->vocab.piece[id].added & odd)) continue;
        n++;
        first = id;
    }
    if (n == 0) return MNW_OK;
    return mn_warn(tok->ctx, MNW_WARNING_METADATA, err,
                   "tokenizer: %u added tokens, the first \"%.*s\", take spaces beside them or stand as "
                   "words; GGUF files cannot say that", n, MN_STR(mn_vocab_text(&tok->vocab, first)));
}

mnw_status mn_tok_to_gguf(const mnw_tokenizer *tok, uint32_t rows, mn_pages *mem, mn_gguf_writer *w,
                          mn_err *err)
{
    MN_FAIL_IF(tok->kind == MN_TOK_UNIGRAM, err, MNW_E_UNSUPPORTED,
               "tokenizer: unigram models are not converted");
    MN_FAIL_IF(tok->vocab.count > rows, err, MNW_E_FORMAT,
               "tokenizer: %u tokens, expected at most the %u rows of the embedding",
               tok->vocab.count, rows);
    MN_FAIL_IF(!tok->bpe.bytes && !tok->spaces, err, MNW_E_UNSUPPORTED,
               "tokenizer: neither bytes nor marked spaces, GGUF files cannot say that");
    MN_FAIL_IF(tok->bpe.bytes && !tok->pre_name[0], err, MNW_E_UNSUPPORTED,
               "tokenizer: GGUF files have no name for this way to cut text into words");
    mn_gguf_set_str(w, KEY("model"), mn_str_of(tok->bpe.bytes ? "gpt2" : "llama"));
    mn_gguf_set_str(w, KEY("pre"), mn_str_of(tok->bpe.bytes ? tok->pre_name : "default"));
    MN_TRY(put_pieces(tok, rows, mem, w, err));
    MN_TRY(tok->bpe.bytes ? put_merges(tok, mem, w, err) : put_spaces(tok, rows, mem, w, err));
    put_id(w, KEY("bos_token_id"), tok->bos);
    put_id(w, KEY("eos_token_id"), tok->eos);
    put_id(w, KEY("eot_token_id"), tok->eot);
    put_id(w, KEY("unknown_token_id"), tok->unknown);
    mn_gguf_set_bool(w, KEY("add_bos_token"), tok->add_bos);
    mn_gguf_set_bool(w, KEY("add_eos_token"), tok->add_eos);
    return warn_added(tok, err);
}
