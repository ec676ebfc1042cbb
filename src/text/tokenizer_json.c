/* SPDX-License-Identifier: Apache-2.0
 *
 * tokenizer_json.c - a tokenizer from Hugging Face's tokenizer.json.
 *
 * The document is walked through once to see that it is well formed, then read part by part: how text
 * is prepared, vocabulary and added tokens (into one block of text of our own), merges or scores, and
 * which special tokens the template puts around a text.
 */
#include <float.h>

#include "text/json_slot.h"
#include "text/tokenizer.h"

enum { NAME = 64, MERGE = 6 * (2 * MN_TOK_MAX_PIECE + 1) };   // every character may be escaped

enum { TOP_ADDED, TOP_NORMALIZER, TOP_PRE, TOP_POST, TOP_MODEL, TOP_KEYS };
static const char *const top_name[TOP_KEYS] = { "added_tokens", "normalizer", "pre_tokenizer",
                                                "post_processor", "model" };

enum {
    MODEL_TYPE, MODEL_VOCAB, MODEL_MERGES, MODEL_UNK, MODEL_UNK_ID, MODEL_FUSE, MODEL_FALLBACK,
    MODEL_IGNORE, MODEL_PREFIX, MODEL_SUFFIX, MODEL_KEYS,
};
static const char *const model_name[MODEL_KEYS] = {
    "type", "vocab", "merges", "unk_token", "unk_id", "fuse_unk", "byte_fallback", "ignore_merges",
    "continuing_subword_prefix", "end_of_word_suffix",
};

typedef struct loader {
    mnw_tokenizer *tok;
    mn_json        top[TOP_KEYS], model[MODEL_KEYS];
    char          *text;       // pieces go here
    size_t         used, cap;
    mn_err        *err;
} loader;

/* An id that is a number in range. */
static mnw_status read_id(loader *l, const mn_json *v, const char *what, uint32_t *id)
{
    int64_t n = -1;
    *id = 0;
    MN_FAIL_IF(v->event != MN_JSON_NUMBER || !mn_json_i64(v, &n) || n < 0, l->err, MNW_E_FORMAT,
               "tokenizer.json: %s: an id is not a whole number", what);
    MN_FAIL_IF(n >= MN_TOK_MAX_VOCAB, l->err, MNW_E_LIMIT, "tokenizer.json: %s: id %lld, at most %d",
               what, (long long)n, MN_TOK_MAX_VOCAB - 1);
    *id = (uint32_t)n;
    return MNW_OK;
}

/* What is to be stored: the highest id and the bytes of text. */
static mnw_status measure_vocab(loader *l, uint32_t *count)
{
    mn_json             v, entry;
    const mn_json_event event = mn_json_value(&l->model[MODEL_VOCAB], &v);
    if (event == MN_JSON_ARRAY) {   // [[piece, score], ...]
        while (mn_json_element(&v, &entry)) {
            mn_json pair;
            MN_FAIL_IF(mn_json_value(&entry, &pair) != MN_JSON_ARRAY ||
                           mn_json_next(&pair) != MN_JSON_STRING,
                       l->err, MNW_E_FORMAT, "tokenizer.json: vocab: entry %u is no [piece, score]",
                       *count);
            MN_FAIL_IF(*count == MN_TOK_MAX_VOCAB, l->err, MNW_E_LIMIT,
                       "tokenizer.json: vocab: more than %d pieces", MN_TOK_MAX_VOCAB);
            l->cap += pair.raw.n;
            ++*count;
        }
        return MNW_OK;
    }
    MN_FAIL_IF(event != MN_JSON_OBJECT, l->err, MNW_E_FORMAT, "tokenizer.json: vocab: missing");
    while (mn_json_next(&v) == MN_JSON_KEY) {
        uint32_t id;
        l->cap += v.raw.n;
        mn_json_next(&v);
        MN_TRY(read_id(l, &v, "vocab", &id));
        if (id >= *count) *count = id + 1;
    }
    return MNW_OK;
}

static mnw_status measure_added(loader *l, uint32_t *count)
{
    mn_json v, entry, text, number;
    if (mn_json_value(&l->top[TOP_ADDED], &v) != MN_JSON_ARRAY) return MNW_OK;
    while (mn_json_element(&v, &entry)) {
        static const char *const name[2] = { "content", "id" };
        mn_json  slot[2];
        uint32_t id;
        mn_json_fields(&entry, name, slot, 2);
        mn_json_value(&slot[1], &number);
        MN_TRY(read_id(l, &number, "added_tokens", &id));
        MN_FAIL_IF(mn_json_value(&slot[0], &text) != MN_JSON_STRING, l->err, MNW_E_FORMAT,
                   "tokenizer.json: added_tokens: id %u has no content", id);
        if (id >= *count) *count = id + 1;
        l->cap += text.raw.n;
    }
    return MNW_OK;
}

static mnw_status put_piece(loader *l, uint32_t id, const mn_json *text, mn_piece_kind kind)
{
    const size_t n = mn_json_text(text, l->text + l->used, l->cap - l->used);
    MN_FAIL_IF(n > MN_TOK_MAX_PIECE, l->err, MNW_E_LIMIT,
               "tokenizer.json: the piece of id %u has %zu bytes, at most %d", id, n,
               MN_TOK_MAX_PIECE);
    l->tok->vocab.piece[id] = (mn_piece){ (uint32_t)l->used, (uint16_t)n, (uint8_t)kind, 0 };
    l->used += n;
    return MNW_OK;
}

static mnw_status read_scored(loader *l, mn_json v)
{
    mnw_tokenizer *tok = l->tok;
    mn_json        entry, pair;
    tok->score = mn_pages_push_zero(&tok->pages, tok->vocab.count, sizeof *tok->score);
    MN_FAIL_IF(!tok->score, l->err, MNW_E_NOMEM, "tokenizer: %u scores", tok->vocab.count);
    for (uint32_t id = 0; mn_json_element(&v, &entry); id++) {
        mn_json_value(&entry, &pair);
        mn_json_next(&pair);
        MN_TRY(put_piece(l, id, &pair, MN_PIECE_NORMAL));
        const bool   number = mn_json_next(&pair) == MN_JSON_NUMBER;
        const double score = number ? mn_json_f64(&pair) : 0.0;
        MN_FAIL_IF(!number || !(score >= -(double)FLT_MAX && score <= (double)FLT_MAX), l->err,
                   MNW_E_FORMAT, "tokenizer.json: vocab: the score of id %u is no number", id);
        tok->score[id] = (float)score;
    }
    return MNW_OK;
}

static mnw_status read_vocab(loader *l)
{
    mn_json v;
    if (mn_json_value(&l->model[MODEL_VOCAB], &v) == MN_JSON_ARRAY) return read_scored(l, v);
    while (mn_json_next(&v) == MN_JSON_KEY) {
        const mn_json text = v;
        uint32_t      id;
        mn_json_next(&v);
        MN_TRY(read_id(l, &v, "vocab", &id));
        MN_FAIL_IF(l->tok->vocab.piece[id].len, l->err, MNW_E_FORMAT,
                   "tokenizer.json: vocab: id %u occurs twice", id);
        MN_TRY(put_piece(l, id, &text, MN_PIECE_NORMAL));
    }
    return MNW_OK;
}

static mnw_status read_added(loader *l)
{
    static const char *const name[] = { "content", "id", "special", "single_word", "lstrip",
                                        "rstrip", "normalized" };
    mn_json v, entry, text, number, slot[7];
    if (mn_json_value(&l->top[TOP_ADDED], &v) != MN_JSON_ARRAY) return MNW_OK;
    while (mn_json_element(&v, &entry)) {
        uint32_t id;
        mn_json_fields(&entry, name, slot, 7);
        mn_json_value(&slot[1], &number);
        MN_TRY(read_id(l, &number, "added_tokens", &id));
        mn_json_value(&slot[0], &text);
        const bool special = mn_json_bool(&slot[2], false);
        MN_TRY(put_piece(l, id, &text, special ? MN_PIECE_CONTROL : MN_PIECE_USER));
        l->tok->vocab.piece[id].added =
            (uint8_t)((mn_json_bool(&slot[3], false) ? MN_ADDED_SINGLE_WORD : 0) |
                      (mn_json_bool(&slot[4], false) ? MN_ADDED_LSTRIP : 0) |
                      (mn_json_bool(&slot[5], false) ? MN_ADDED_RSTRIP : 0) |
                      (mn_json_bool(&slot[6], !special) ? MN_ADDED_NORMALIZED : 0));
    }
    return MNW_OK;
}

static mnw_status read_pieces(loader *l)
{
    mnw_tokenizer *tok = l->tok;
    uint32_t       count = 0;
    MN_TRY(measure_vocab(l, &count));
    MN_TRY(measure_added(l, &count));
    MN_FAIL_IF(count == 0, l->err, MNW_E_FORMAT, "tokenizer.json: vocab: empty");
    MN_FAIL_IF(l->cap > UINT32_MAX, l->err, MNW_E_LIMIT, "tokenizer.json: vocab of more than 4 GiB");
    l->text = mn_pages_push(&tok->pages, l->cap ? l->cap : 1, 1);
    tok->vocab.piece = mn_pages_push_zero(&tok->pages, count, sizeof(mn_piece));
    MN_FAIL_IF(!l->text || !tok->vocab.piece, l->err, MNW_E_NOMEM, "tokenizer: %u pieces", count);
    tok->vocab.base = l->text;
    tok->vocab.count = count;
    for (uint32_t id = 0; id < count; id++) tok->vocab.piece[id].kind = MN_PIECE_UNUSED;
    MN_TRY(read_vocab(l));
    return read_added(l);
}

/* "left right" or ["left", "right"]. */
static bool read_merge(const mn_json *entry, char *buf, mn_str *left, mn_str *right)
{
    mn_json             v;
    const mn_json_event event = mn_json_value(entry, &v);
    if (event == MN_JSON_STRING) {
        if (v.raw.n > MERGE) return false;
        return mn_merge_split((mn_str){ buf, mn_json_text(&v, buf, MERGE) }, left, right);
    }
    if (event != MN_JSON_ARRAY || mn_json_next(&v) != MN_JSON_STRING || v.raw.n > MERGE / 2) {
        return false;
    }
    *left = (mn_str){ buf, mn_json_text(&v, buf, MERGE / 2) };
    if (mn_json_next(&v) != MN_JSON_STRING || v.raw.n > MERGE / 2) return false;
    *right = (mn_str){ buf + MERGE / 2, mn_json_text(&v, buf + MERGE / 2, MERGE / 2) };
    return true;
}

static mnw_status read_merges(loader *l)
{
    mnw_tokenizer *tok = l->tok;
    mn_json        v, entry;
    MN_FAIL_IF(mn_json_value(&l->model[MODEL_MERGES], &v) != MN_JSON_ARRAY, l->err, MNW_E_FORMAT,
               "tokenizer.json: merges: missing");
    uint32_t count = 0, guess = 0;
    for (mn_json walk = v; mn_json_element(&walk, &entry);) {
        MN_FAIL_IF(count++ == MN_TOK_MAX_MERGES, l->err, MNW_E_LIMIT,
                   "tokenizer.json: merges: more than %d", MN_TOK_MAX_MERGES);
    }
    MN_FAIL_IF(!mn_merges_init(&tok->merges, &tok->pages, count), l->err, MNW_E_NOMEM,
               "tokenizer: table of %u merges", count);
    for (uint32_t i = 0; mn_json_element(&v, &entry); i++) {
        char   buf[MERGE];
        mn_str left, right;
        MN_FAIL_IF(!read_merge(&entry, buf, &left, &right), l->err, MNW_E_FORMAT,
                   "tokenizer.json: merges: entry %u is not two pieces", i);
        MN_FAIL_IF(!mn_tokenizer_add_merge(tok, left, right, &guess), l->err, MNW_E_FORMAT,
                   "tokenizer.json: merges: entry %u, \"%.*s\" and \"%.*s\" or what they make is not "
                   "in the vocabulary",
                   i, MN_STR(left), MN_STR(right));
    }
    return MNW_OK;
}

/* A token given as text, or as {"content": text}; -1 if it is neither or unknown. */
static int32_t token_id(const mnw_tokenizer *tok, const mn_json *slot)
{
    char    buf[MN_TOK_MAX_PIECE];
    mn_json v;
    mn_json content = *slot;
    if (mn_json_value(slot, &v) == MN_JSON_OBJECT) content = mn_json_field(slot, "content");
    if (mn_json_value(&content, &v) != MN_JSON_STRING || v.raw.n > sizeof buf) return -1;
    return mn_vocab_find(&tok->vocab, (mn_str){ buf, mn_json_text(&v, buf, sizeof buf) });
}

/* {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": ...}]} */
static void read_template(mnw_tokenizer *tok, const mn_json *part)
{
    const mn_json single = mn_json_field(part, "single");
    mn_json       v, step, inside;
    bool          behind = false;
    if (mn_json_value(&single, &v) != MN_JSON_ARRAY) return;
    while (mn_json_element(&v, &step)) {
        const mn_json sequence = mn_json_field(&step, "Sequence");
        if (mn_json_value(&sequence, &inside) == MN_JSON_OBJECT) behind = true;
        const mn_json special = mn_json_field(&step, "SpecialToken");
        const mn_json text = mn_json_field(&special, "id");
        const int32_t id = token_id(tok, &text);
        if (id < 0) continue;
        if (behind) {
            tok->eos = id;
            tok->add_eos = true;
        } else {
            tok->bos = id;
            tok->add_bos = true;
        }
    }
}

static void read_post(loader *l)
{
    const mn_json *root = &l->top[TOP_POST];
    const mn_json  type = mn_json_field(root, "type"), parts = mn_json_field(root, "processors");
    mn_json        v, part;
    if (mn_json_is(&type, "TemplateProcessing")) read_template(l->tok, root);
    if (mn_json_value(&parts, &v) != MN_JSON_ARRAY) return;
    while (mn_json_element(&v, &part)) {
        const mn_json kind = mn_json_field(&part, "type");
        if (mn_json_is(&kind, "TemplateProcessing")) read_template(l->tok, &part);
    }
}

/* tokenizer_config.json names bos and eos, and may say whether they are added. */
static mnw_status read_config(mnw_tokenizer *tok, mn_bytes config, mn_err *err)
{
    static const char *const name[] = { "bos_token", "eos_token", "add_bos_token", "add_eos_token" };
    mn_json root, slot[4];
    MN_TRY(mn_json_document(config, "tokenizer_config.json", &root, err));
    mn_json_fields(&root, name, slot, 4);
    const int32_t bos = token_id(tok, &slot[0]), eos = token_id(tok, &slot[1]);
    if (bos >= 0) tok->bos = bos;
    if (eos >= 0) tok->eos = eos;
    tok->add_bos = mn_json_bool(&slot[2], tok->add_bos);
    tok->add_eos = mn_json_bool(&slot[3], tok->add_eos);
    return MNW_OK;
}

static mnw_status read_model(loader *l)
{
    mnw_tokenizer *tok = l->tok;
    char           buf[NAME] = "?";
    mn_json        v;
    const bool     bpe = mn_json_is(&l->model[MODEL_TYPE], "BPE") ||
                     (!l->model[MODEL_TYPE].start && l->model[MODEL_MERGES].start);
    if (!bpe && !mn_json_is(&l->model[MODEL_TYPE], "Unigram")) {
        if (mn_json_value(&l->model[MODEL_TYPE], &v) == MN_JSON_STRING && v.raw.n < NAME) {
            buf[mn_json_text(&v, buf, NAME - 1)] = '\0';
        }
        MN_FAIL(l->err, MNW_E_UNSUPPORTED,
                "tokenizer.json: model of type \"%s\" is not supported (BPE and Unigram are)", buf);
    }
    tok->kind = bpe ? MN_TOK_BPE : MN_TOK_UNIGRAM;
    for (int i = MODEL_PREFIX; i <= MODEL_SUFFIX; i++) {
        MN_FAIL_IF(mn_json_value(&l->model[i], &v) == MN_JSON_STRING && v.raw.n, l->err,
                   MNW_E_UNSUPPORTED, "tokenizer.json: model: %s is not supported", model_name[i]);
    }
    tok->bpe.fallback = mn_json_bool(&l->model[MODEL_FALLBACK], false);
    tok->bpe.fuse_unknown = mn_json_bool(&l->model[MODEL_FUSE], false);
    tok->ignore_merges = mn_json_bool(&l->model[MODEL_IGNORE], false);
    MN_FAIL_IF(!bpe && tok->bpe.bytes, l->err, MNW_E_UNSUPPORTED,
               "tokenizer.json: Unigram with ByteLevel is not supported");
    return MNW_OK;
}

static mnw_status read_unknown(loader *l)
{
    mnw_tokenizer *tok = l->tok;
    mn_json        v;
    if (tok->kind == MN_TOK_BPE) {
        tok->unknown = token_id(tok, &l->model[MODEL_UNK]);
    } else if (mn_json_value(&l->model[MODEL_UNK_ID], &v) == MN_JSON_NUMBER) {
        uint32_t id;
        MN_TRY(read_id(l, &v, "unk_id", &id));
        tok->unknown = (int32_t)id;
    }
    if (tok->unknown < 0 || (uint32_t)tok->unknown >= tok->vocab.count) return MNW_OK;
    const bool ends = tok->unknown == tok->bos || tok->unknown == tok->eos;
    if (!ends && !tok->bpe.bytes) tok->vocab.piece[tok->unknown].kind = MN_PIECE_UNKNOWN;
    return MNW_OK;
}

static mnw_status load(loader *l, mn_bytes tokenizer, mn_bytes config)
{
    mnw_tokenizer *tok = l->tok;
    mn_json        root;
    MN_TRY(mn_json_document(tokenizer, "tokenizer.json", &root, l->err));
    mn_json_fields(&root, top_name, l->top, TOP_KEYS);
    mn_json_fields(&l->top[TOP_MODEL], model_name, l->model, MODEL_KEYS);
    MN_TRY(mn_tokenizer_json_pipeline(tok, &l->top[TOP_NORMALIZER], &l->top[TOP_PRE], l->err));
    MN_TRY(read_model(l));
    MN_TRY(read_pieces(l));
    MN_TRY(mn_tokenizer_index(tok, l->err));
    read_post(l);
    if (config.n) MN_TRY(read_config(tok, config, l->err));
    MN_TRY(read_unknown(l));
    MN_TRY(mn_tokenizer_special(tok, l->err));
    if (tok->kind == MN_TOK_BPE) MN_TRY(read_merges(l));
    return mn_tokenizer_finish(tok, l->err);
}

mnw_status mn_tokenizer_from_json(mnw_ctx *ctx, mn_bytes tokenizer, mn_bytes config,
                                  mnw_tokenizer **out, mn_err *err)
{
    *out = NULL;
    loader l = { .err = err };
    MN_TRY(mn_tokenizer_new(ctx, &l.tok, err));
    const mnw_status st = load(&l, tokenizer, config);
    if (st != MNW_OK) {
        mn_tokenizer_close(l.tok);
        return st;
    }
    *out = l.tok;
    return MNW_OK;
}
