/* SPDX-License-Identifier: Apache-2.0
 *
 * tokenizer_gguf.c - a tokenizer from tokenizer.ggml.* of a GGUF file.  Pieces stay in the file.
 */
#include <float.h>

#include "text/tokenizer.h"

#define KEY(name) "tokenizer.ggml." name

/* An array that must have an element for each token; *out NULL if it is absent. */
static mnw_status same_length(const mnw_tokenizer *tok, const mn_meta_item *item, mn_err *err)
{
    MN_FAIL_IF(item && item->count != tok->vocab.count, err, MNW_E_FORMAT,
               "%.*s: %llu elements, but there are %u tokens", MN_STR(item->key),
               (unsigned long long)item->count, tok->vocab.count);
    return MNW_OK;
}

static mnw_status read_kinds(mnw_tokenizer *tok, const mn_content *c, mn_err *err)
{
    const mn_meta_item *item;
    MN_TRY(mn_meta_ints(c, KEY("token_type"), &item, err));
    MN_FAIL_IF(item && item->elem != MN_META_I32 && item->elem != MN_META_U32, err, MNW_E_FORMAT,
               KEY("token_type") ": array of %s, expected array of i32",
               mn_meta_type_name(item->elem));
    MN_TRY(same_length(tok, item, err));
    for (uint32_t id = 0; id < tok->vocab.count; id++) {
        const int64_t kind = item ? mn_meta_int_at(item, id) : MN_PIECE_NORMAL;
        MN_FAIL_IF(kind < 0 || kind > MN_PIECE_BYTE, err, MNW_E_FORMAT,
                   KEY("token_type") ": token %u is of type %lld, expected 0 to %d", id,
                   (long long)kind, MN_PIECE_BYTE);
        tok->vocab.piece[id].kind = (uint8_t)(kind ? kind : MN_PIECE_UNUSED);
        const mn_str text = mn_vocab_text(&tok->vocab, id);
        if (kind == MN_PIECE_BYTE && mn_byte_piece(text) < 0) {
            MN_FAIL(err, MNW_E_FORMAT, KEY("tokens") ": token %u is a byte, but \"%.*s\" is not <0xXX>",
                    id, MN_STR(text));
        }
    }
    return MNW_OK;
}

static mnw_status read_pieces(mnw_tokenizer *tok, const mn_content *c, mn_err *err)
{
    const mn_meta_item *item;
    MN_TRY(mn_meta_strings(c, KEY("tokens"), &item, err));
    MN_FAIL_IF(!item, err, MNW_E_FORMAT, KEY("tokens") ": missing");
    MN_FAIL_IF(item->count == 0 || item->count > MN_TOK_MAX_VOCAB, err, MNW_E_LIMIT,
               KEY("tokens") ": %llu tokens, expected 1 to %d", (unsigned long long)item->count,
               MN_TOK_MAX_VOCAB);
    MN_FAIL_IF(item->bytes > UINT32_MAX, err, MNW_E_LIMIT, KEY("tokens") ": more than 4 GiB");
    mn_vocab *v = &tok->vocab;
    v->count = (uint32_t)item->count;
    v->base = (const char *)item->data;
    v->piece = mn_pages_push_zero(&tok->pages, v->count, sizeof *v->piece);
    MN_FAIL_IF(!v->piece, err, MNW_E_NOMEM, "tokenizer: %u pieces", v->count);

    const uint8_t *at = item->data;
    for (uint32_t id = 0; id < v->count; id++) {
        const mn_str text = mn_meta_next_str(item, &at);
        MN_FAIL_IF(text.n > MN_TOK_MAX_PIECE, err, MNW_E_LIMIT,
                   KEY("tokens") ": token %u has %zu bytes, at most %d", id, text.n,
                   MN_TOK_MAX_PIECE);
        v->piece[id].at = (uint32_t)(text.p - v->base);
        v->piece[id].len = (uint16_t)text.n;
    }
    return read_kinds(tok, c, err);
}

static mnw_status read_id(const mn_content *c, const char *key, int32_t *out, mn_err *err)
{
    uint64_t id;
    MN_TRY(mn_meta_u64(c, key, INT32_MAX, UINT64_MAX, &id, err));
    *out = id == UINT64_MAX ? -1 : (int32_t)id;
    return MNW_OK;
}

static mnw_status read_ids(mnw_tokenizer *tok, const mn_content *c, mn_err *err)
{
    MN_TRY(read_id(c, KEY("bos_token_id"), &tok->bos, err));
    MN_TRY(read_id(c, KEY("eos_token_id"), &tok->eos, err));
    MN_TRY(read_id(c, KEY("eot_token_id"), &tok->eot, err));
    MN_TRY(read_id(c, KEY("eom_token_id"), &tok->eom, err));
    MN_TRY(read_id(c, KEY("unknown_token_id"), &tok->unknown, err));
    /* What files leave out follows their kind, as everybody reads them. */
    const bool bos = tok->kind == MN_TOK_SPM || tok->ignore_merges;
    MN_TRY(mn_meta_bool(c, KEY("add_bos_token"), bos && tok->bos >= 0, &tok->add_bos, err));
    const bool eos = tok->kind == MN_TOK_UNIGRAM;
    return mn_meta_bool(c, KEY("add_eos_token"), eos && tok->eos >= 0, &tok->add_eos, err);
}

static mnw_status read_pre(mnw_tokenizer *tok, const mn_content *c, mn_err *err)
{
    mn_str name;
    MN_TRY(mn_meta_str(c, KEY("pre"), (mn_str){ "", 0 }, &name, err));
    if (!name.n || mn_str_is(name, "default")) {
        MN_TRY(mn_warn(tok->ctx, MNW_WARNING_PRE_TOKENIZER, err,
                       KEY("pre") ": %s; gpt-2 is used, which may be wrong for this model",
                       name.n ? "\"default\"" : "missing"));
        name = mn_str_of("gpt-2");
    }
    const mn_pretok *pre = mn_pretok_find(name);
    MN_FAIL_IF(!pre, err, MNW_E_UNSUPPORTED, KEY("pre") ": pre-tokenizer \"%.*s\" is not known",
               MN_STR(name));
    tok->pre_name = pre->name;
    memcpy(tok->stage, pre->stage, sizeof tok->stage);
    tok->nfc = pre->nfc;
    tok->ignore_merges = pre->ignore_merges;
    return MNW_OK;
}

static mnw_status read_merges(mnw_tokenizer *tok, const mn_content *c, mn_err *err)
{
    const mn_meta_item *item;
    MN_TRY(mn_meta_strings(c, KEY("merges"), &item, err));
    MN_FAIL_IF(!item, err, MNW_E_FORMAT, KEY("merges") ": missing");
    MN_FAIL_IF(item->count > MN_TOK_MAX_MERGES, err, MNW_E_LIMIT,
               KEY("merges") ": %llu merges, at most %d", (unsigned long long)item->count,
               MN_TOK_MAX_MERGES);
    MN_FAIL_IF(!mn_merges_init(&tok->merges, &tok->pages, (uint32_t)item->count), err, MNW_E_NOMEM,
               "tokenizer: table of %u merges", (uint32_t)item->count);
    uint32_t       missing = 0, guess = 0;
    mn_str         first = { "", 0 };
    const uint8_t *at = item->data;
    for (uint32_t i = 0; i < item->count; i++) {
        const mn_str text = mn_meta_next_str(item, &at);
        mn_str       left, right;
        if ((!mn_merge_split(text, &left, &right) ||
             !mn_tokenizer_add_merge(tok, left, right, &guess)) &&
            !missing++) {
            first = text;
        }
    }
    if (!missing) return MNW_OK;
    return mn_warn(tok->ctx, MNW_WARNING_METADATA, err,
                   KEY("merges") ": %u merges, the first \"%.*s\", have no piece and are left out",
                   missing, MN_STR(first));
}

static mnw_status read_scores(mnw_tokenizer *tok, const mn_content *c, mn_err *err)
{
    const uint32_t      count = tok->vocab.count;
    const mn_meta_item *item;
    MN_TRY(mn_meta_floats(c, KEY("scores"), &item, err));
    MN_FAIL_IF(!item, err, MNW_E_FORMAT, KEY("scores") ": missing");
    MN_TRY(same_length(tok, item, err));
    if (tok->kind == MN_TOK_SPM) tok->order = mn_pages_push(&tok->pages, count, sizeof *tok->order);
    else tok->score = mn_pages_push(&tok->pages, count, sizeof *tok->score);
    MN_FAIL_IF(!tok->order && !tok->score, err, MNW_E_NOMEM, "tokenizer: %u scores", count);
    for (uint32_t id = 0; id < count; id++) {
        const double  score = mn_meta_float_at(item, id);
        const uint8_t kind = tok->vocab.piece[id].kind;
        MN_FAIL_IF(!(score >= -(double)FLT_MAX && score <= (double)FLT_MAX), err, MNW_E_FORMAT,
                   KEY("scores") ": token %u has the score %g", id, score);
        if (tok->score) tok->score[id] = (float)score;
        else tok->order[id] = kind == MN_PIECE_NORMAL ? mn_spm_order((float)score) : MN_NO_MERGE;
    }
    return MNW_OK;
}

static mnw_status read_spaces(mnw_tokenizer *tok, const mn_content *c, mn_err *err)
{
    bool prefix;
    tok->spaces = true;
    MN_TRY(mn_meta_bool(c, KEY("add_space_prefix"), true, &prefix, err));
    tok->prefix = prefix ? MN_PREFIX_ALWAYS : MN_PREFIX_NEVER;
    MN_TRY(mn_meta_bool(c, KEY("remove_extra_whitespaces"), false, &tok->squeeze, err));
    const mn_meta_item *map = mn_meta_find(c, KEY("precompiled_charsmap"));
    MN_FAIL_IF(map && map->count > 0, err, MNW_E_UNSUPPORTED,
               KEY("precompiled_charsmap") ": this normaliser is not supported");
    tok->bpe.fallback = true;   // if all bytes are there
    tok->bpe.fuse_unknown = true;
    return MNW_OK;
}

static mnw_status load(mnw_tokenizer *tok, const mn_content *c, mn_str model, mn_err *err)
{
    if (mn_str_is(model, "gpt2")) {
        tok->kind = MN_TOK_BPE;
        tok->bpe.bytes = true;
        MN_TRY(read_pre(tok, c, err));
    } else if (mn_str_is(model, "llama") || mn_str_is(model, "t5")) {
        tok->kind = mn_str_is(model, "llama") ? MN_TOK_SPM : MN_TOK_UNIGRAM;
        MN_TRY(read_spaces(tok, c, err));
    } else {
        MN_FAIL(err, MNW_E_UNSUPPORTED,
                KEY("model") ": \"%.*s\" is not supported (gpt2, llama and t5 are)", MN_STR(model));
    }
    MN_TRY(read_pieces(tok, c, err));
    MN_TRY(mn_tokenizer_index(tok, err));
    MN_TRY(read_ids(tok, c, err));
    MN_TRY(mn_tokenizer_special(tok, err));
    MN_TRY(tok->kind == MN_TOK_BPE ? read_merges(tok, c, err) : read_scores(tok, c, err));
    return mn_tokenizer_finish(tok, err);
}

mnw_status mn_tokenizer_from_content(mnw_ctx *ctx, const mn_content *c, mnw_tokenizer **out,
                                     mn_err *err)
{
    *out = NULL;
    mn_str model;
    MN_TRY(mn_meta_str(c, KEY("model"), (mn_str){ "", 0 }, &model, err));
    if (!model.n || mn_str_is(model, "none") || mn_str_is(model, "no_vocab")) return MNW_OK;
    mnw_tokenizer *tok;
    MN_TRY(mn_tokenizer_new(ctx, &tok, err));
    const mnw_status st = load(tok, c, model, err);
    if (st != MNW_OK) {
        mn_tokenizer_close(tok);
        return st;
    }
    *out = tok;
    return MNW_OK;
}
