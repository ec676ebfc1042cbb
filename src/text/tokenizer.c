/* SPDX-License-Identifier: Apache-2.0
 *
 * tokenizer.c - what all tokenizers have in common: tables made from pieces, questions, the end.
 */
#include "text/tokenizer.h"

#include "base/utf8.h"
#include "text/bytelevel.h"

mnw_status mn_tokenizer_new(mnw_ctx *ctx, mnw_tokenizer **out, mn_err *err)
{
    mnw_tokenizer *tok = *out = mn_alloc_zero(&ctx->mem, 1, sizeof *tok);
    if (!tok) MN_FAIL(err, MNW_E_NOMEM, "tokenizer handle");
    tok->ctx = ctx;
    mn_pages_init(&tok->pages, &ctx->mem);
    tok->bos = tok->eos = tok->eot = tok->eom = tok->unknown = -1;
    tok->pre_name = "";
    return MNW_OK;
}

void mn_tokenizer_close(mnw_tokenizer *tok)
{
    if (!tok) return;
    mn_pages_done(&tok->pages);
    mn_os_unmap(&tok->file);
    mn_free(&tok->ctx->mem, tok);
}

void mnw_tokenizer_close(mnw_tokenizer *tok)
{
    mn_tokenizer_close(tok);
}

static void add_end(mnw_tokenizer *tok, int32_t id)
{
    if (id < 0 || tok->n_ends == MN_TOK_ENDS || mnw_tokenizer_is_end(tok, id)) return;
    tok->end[tok->n_ends++] = id;
}

/* What ends a reply in published models, besides what their files name as the end. */
static const char *const end_pieces[] = {
    "<|im_end|>",      "<|endoftext|>", "<|eot_id|>",     "<|eom_id|>",
    "<|end|>",         "<|end_of_text|>", "<end_of_turn>", "<|end_of_turn|>",
    "<end_of_utterance>", "<|return|>", "<EOT>", "<｜end▁of▁sentence｜>",
};

/* Files mark some of these as ordinary or user tokens; taken so, a user's text could end the turn. */
static void find_ends(mnw_tokenizer *tok)
{
    add_end(tok, tok->eos);
    add_end(tok, tok->eot);
    add_end(tok, tok->eom);
    for (size_t i = 0; i < sizeof end_pieces / sizeof *end_pieces; i++) {
        const int32_t id = mn_vocab_find(&tok->vocab, mn_str_of(end_pieces[i]));
        if (id < 0) continue;
        tok->vocab.piece[id].kind = MN_PIECE_CONTROL;
        add_end(tok, id);
    }
}

mnw_status mn_tokenizer_index(mnw_tokenizer *tok, mn_err *err)
{
    mn_vocab *v = &tok->vocab;
    MN_FAIL_IF(!mn_vocab_index(v, &tok->pages), err, MNW_E_NOMEM, "tokenizer: table of %u pieces",
               v->count);
    if (!v->n_repeated) return MNW_OK;
    return mn_warn(tok->ctx, MNW_WARNING_TOKEN_DUPLICATE, err,
                   "tokenizer: %u pieces repeat an earlier one, the first is id %u \"%.*s\"; the "
                   "lower id is used",
                   v->n_repeated, v->repeated, MN_STR(mn_vocab_text(v, v->repeated)));
}

/* Ids of the 256 bytes: in GPT-2's alphabet, or as <0xXX>. */
static void find_bytes(mnw_tokenizer *tok)
{
    unsigned missing = 0;
    for (int b = 0; b < 256; b++) {
        char   text[8];
        mn_str piece = { text, 0 };
        if (tok->bpe.bytes) {
            piece.n = mn_bytelevel_put((uint8_t)b, text);
        } else {
            static const char hex[] = "0123456789ABCDEF";
            memcpy(text, "<0xXX>", 6);
            text[3] = hex[b >> 4];
            text[4] = hex[b & 15];
            piece.n = 6;
        }
        int32_t id = mn_vocab_find(&tok->vocab, piece);
        if (id >= 0 && tok->vocab.piece[id].kind == MN_PIECE_CONTROL) id = -1;
        tok->byte_id[b] = id;
        missing += id < 0;
        if (id >= 0 && !tok->bpe.bytes && tok->bpe.fallback) tok->vocab.piece[id].kind = MN_PIECE_BYTE;
    }
    tok->bpe.fallback = tok->bpe.fallback && !missing;
}

/* Is it looked for as it is written?  Text is valid UTF-8 by then, and cutting out a piece that is not
 * would leave halves of code points. */
static bool is_added(mn_vocab *v, uint32_t id)
{
    const uint8_t kind = v->piece[id].kind;
    const mn_str  text = mn_vocab_text(v, id);
    return (kind == MN_PIECE_USER || kind == MN_PIECE_CONTROL || kind == MN_PIECE_UNKNOWN) &&
           mn_utf8_valid(text.p, text.n);
}

/* Lists of added tokens to look for in raw and in normalised text. */
static mnw_status list_added(mnw_tokenizer *tok, mn_err *err)
{
    mn_vocab *v = &tok->vocab;
    uint32_t  count = 0;
    for (uint32_t id = 0; id < v->count; id++) count += is_added(v, id);
    MN_FAIL_IF(count > MN_TOK_MAX_ADDED, err, MNW_E_LIMIT,
               "tokenizer: %u control and user tokens, at most %d", count, MN_TOK_MAX_ADDED);
    uint32_t *id_list = mn_pages_push(&tok->pages, count + 1, sizeof *id_list);
    MN_FAIL_IF(!id_list, err, MNW_E_NOMEM, "tokenizer: list of added tokens");
    uint32_t raw = 0, normal = count;      // from both ends
    for (uint32_t id = 0; id < v->count; id++) {
        if (!is_added(v, id)) continue;
        if (v->piece[id].added & MN_ADDED_NORMALIZED) id_list[--normal] = id;
        else id_list[raw++] = id;
    }
    mn_prefix_init(&tok->raw, v, id_list, raw);
    mn_prefix_init(&tok->normal, v, id_list + normal, count - normal);
    return MNW_OK;
}

static bool is_mark(const char *s, size_t n)
{
    return n >= 3 && memcmp(s, "\xE2\x96\x81", 3) == 0;
}

/* Does a piece go on after a word has ended: text, then U+2581? */
static bool spans_words(mn_str t)
{
    size_t i = 0;
    while (is_mark(t.p + i, t.n - i)) i += 3;
    for (; i < t.n; i++) {
        if (is_mark(t.p + i, t.n - i)) return true;
    }
    return false;
}

static void look_for_spanning(mnw_tokenizer *tok)
{
    tok->words_at_spaces = tok->spaces;
    for (uint32_t id = 0; id < tok->vocab.count && tok->words_at_spaces; id++) {
        if (tok->vocab.piece[id].kind != MN_PIECE_NORMAL) continue;
        tok->words_at_spaces = !spans_words(mn_vocab_text(&tok->vocab, id));
    }
}

static mnw_status list_pieces(mnw_tokenizer *tok, mn_err *err)
{
    mn_vocab *v = &tok->vocab;
    MN_FAIL_IF(!tok->score, err, MNW_E_FORMAT,
               "tokenizer: a unigram vocabulary without scores, expected [piece, score] pairs");
    uint32_t *id_list = mn_pages_push(&tok->pages, v->count + 1, sizeof *id_list);
    MN_FAIL_IF(!id_list, err, MNW_E_NOMEM, "tokenizer: list of %u pieces", v->count);
    uint32_t n = 0;
    float    worst = 0.0f;
    for (uint32_t id = 0; id < v->count; id++) {
        const mn_str text = mn_vocab_text(v, id);
        if (v->piece[id].kind != MN_PIECE_NORMAL || !text.n) continue;
        if (!mn_utf8_valid(text.p, text.n)) continue;   // it would cut a code point in two
        id_list[n++] = id;
        if (n == 1 || tok->score[id] < worst) worst = tok->score[id];
    }
    tok->unknown_score = worst - 10.0f;
    mn_prefix_init(&tok->pieces, v, id_list, n);
    return MNW_OK;
}

static mnw_status check_id(const mnw_tokenizer *tok, const char *what, int32_t id, mn_err *err)
{
    MN_FAIL_IF(id >= 0 && (uint32_t)id >= tok->vocab.count, err, MNW_E_FORMAT,
               "tokenizer: %s id is %d, but there are %u tokens", what, id, tok->vocab.count);
    return MNW_OK;
}

/* A named special id is a control token, whatever its type says, unless it is plain text. */
static void mark_control(mnw_tokenizer *tok, int32_t id)
{
    if (id < 0) return;
    mn_piece *p = &tok->vocab.piece[id];
    if (p->kind == MN_PIECE_USER || p->kind == MN_PIECE_UNUSED) p->kind = MN_PIECE_CONTROL;
}

mnw_status mn_tokenizer_special(mnw_tokenizer *tok, mn_err *err)
{
    const struct {
        const char *name;
        int32_t     id;
    } special[] = { { "bos", tok->bos }, { "eos", tok->eos }, { "eot", tok->eot },
                    { "eom", tok->eom }, { "unknown", tok->unknown } };
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        MN_TRY(check_id(tok, special[i].name, special[i].id, err));
        if (special[i].id != tok->unknown) mark_control(tok, special[i].id);
    }
    MN_FAIL_IF(tok->add_bos && tok->bos < 0, err, MNW_E_FORMAT,
               "tokenizer: BOS is to be added, but there is no bos id");
    MN_FAIL_IF(tok->add_eos && tok->eos < 0, err, MNW_E_FORMAT,
               "tokenizer: EOS is to be added, but there is no eos id");
    find_ends(tok);
    if (tok->unknown >= 0 && tok->vocab.piece[tok->unknown].kind == MN_PIECE_CONTROL) {
        tok->unknown = -1;   // no control token may come out of a text
    }
    return MNW_OK;
}

bool mn_merge_split(mn_str merge, mn_str *left, mn_str *right)
{
    const char *space = merge.n > 2 ? memchr(merge.p + 1, ' ', merge.n - 2) : NULL;
    if (!space) return false;
    *left = (mn_str){ merge.p, (size_t)(space - merge.p) };
    *right = (mn_str){ space + 1, merge.n - left->n - 1 };
    return true;
}

bool mn_tokenizer_add_merge(mnw_tokenizer *tok, mn_str left, mn_str right, uint32_t *guess)
{
    const mn_vocab *v = &tok->vocab;
    char            whole[2 * MN_TOK_MAX_PIECE];
    const int32_t   l = mn_vocab_find(v, left), r = mn_vocab_find(v, right);
    if (l < 0 || r < 0) return false;   // so neither is longer than a piece may be
    memcpy(whole, left.p, left.n);
    memcpy(whole + left.n, right.p, right.n);
    /* Trainers number results in the order of the merges: the next id is nearly always it. */
    const mn_str text = { whole, left.n + right.n };
    int32_t      id = (int32_t)*guess;
    if (*guess >= v->count || !mn_str_eq(mn_vocab_text(v, *guess), text)) id = mn_vocab_find(v, text);
    if (id < 0) return false;
    *guess = (uint32_t)id + 1;
    if (v->piece[id].kind != MN_PIECE_CONTROL) {   // such must not come out of plain text
        mn_merges_add(&tok->merges, (uint32_t)l, (uint32_t)r, (uint32_t)id);
    }
    return true;
}

mnw_status mn_tokenizer_finish(mnw_tokenizer *tok, mn_err *err)
{
    find_bytes(tok);
    MN_TRY(list_added(tok, err));
    look_for_spanning(tok);
    if (tok->kind == MN_TOK_UNIGRAM) MN_TRY(list_pieces(tok, err));
    tok->bpe.vocab = &tok->vocab;
    tok->bpe.merges = tok->kind == MN_TOK_BPE ? &tok->merges : NULL;
    tok->bpe.order = tok->order;
    tok->bpe.byte_id = tok->byte_id;
    tok->bpe.unknown = tok->unknown;
    return MNW_OK;
}

/* Floats order like their bits once the sign is dealt with. */
uint32_t mn_spm_order(float score)
{
    uint32_t u;
    score += 0.0f;   // -0 is 0
    memcpy(&u, &score, sizeof u);
    return ~(u >> 31 ? ~u : u | 0x80000000u);
}

uint32_t mnw_tokenizer_count(const mnw_tokenizer *tok)
{
    return tok->vocab.count;
}

int32_t mnw_tokenizer_bos(const mnw_tokenizer *tok)
{
    return tok->bos;
}

int32_t mnw_tokenizer_eos(const mnw_tokenizer *tok)
{
    return tok->eos;
}

bool mnw_tokenizer_is_end(const mnw_tokenizer *tok, int32_t id)
{
    for (unsigned i = 0; i < tok->n_ends; i++) {
        if (tok->end[i] == id) return true;
    }
    return false;
}

bool mnw_tokenizer_is_special(const mnw_tokenizer *tok, int32_t id)
{
    return id >= 0 && (uint32_t)id < tok->vocab.count &&
           tok->vocab.piece[id].kind == MN_PIECE_CONTROL;
}

int32_t mnw_tokenizer_find(const mnw_tokenizer *tok, const char *text, size_t len)
{
    return mn_vocab_find(&tok->vocab, (mn_str){ text, len });
}

const char *mnw_tokenizer_kind(const mnw_tokenizer *tok)
{
    return tok->kind == MN_TOK_BPE ? "bpe" : tok->kind == MN_TOK_SPM ? "spm" : "unigram";
}

const char *mnw_tokenizer_pre(const mnw_tokenizer *tok)
{
    return tok->pre_name;
}
