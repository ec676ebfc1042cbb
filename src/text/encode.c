/* SPDX-License-Identifier: Apache-2.0
 *
 * encode.c - text to ids.
 */
#include <minnow/tokenizer.h>

#include "base/map.h"
#include "base/utf8.h"
#include "text/bytelevel.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

enum {
    CACHE_MIN_TEXT = 512,      // bytes below which a cache does not pay
    CACHE_MAX_WORDS = 8192,
};

typedef struct encoder {
    const mnw_tokenizer *tok;
    mn_work              work;
    mn_str               text;      // valid UTF-8
    const mn_span       *span;
    size_t               n_spans;
    bool                 special;   // control tokens in the text become their ids
    bool                 foreign;   // the gap being encoded touches a span
} encoder;

static mnw_status word_through_cache(encoder *e, mn_str word)
{
    mn_work *w = &e->work;
    if (!w->cache || word.n > MN_CACHE_KEY || e->tok->bpe.fuse_unknown) {
        return mn_bpe_word(&e->tok->bpe, w, word);
    }
    mn_cached *c = &w->cache[mn_hash(word.p, word.n) & w->cache_mask];
    if (c->len == word.n && memcmp(c->key, word.p, word.n) == 0) {
        for (size_t i = 0; i < c->n; i++) mn_work_emit(w, c->id[i]);
        return MNW_OK;
    }
    /* Aside, so that a caller who only counts has a warm cache as well. */
    int32_t id[MN_CACHE_KEY];
    mn_work aside = *w;
    aside.ids = id;
    aside.cap = MN_CACHE_KEY;
    aside.n = 0;
    MN_TRY(mn_bpe_word(&e->tok->bpe, &aside, word));   // needs no block: the word is short
    for (size_t i = 0; i < aside.n; i++) mn_work_emit(w, id[i]);
    const bool whole = aside.lost == w->lost;
    w->lost = aside.lost;
    if (whole && aside.n <= MN_CACHE_IDS) {
        c->len = (uint8_t)word.n;
        c->n = (uint8_t)aside.n;
        memcpy(c->key, word.p, word.n);
        memcpy(c->id, id, aside.n * sizeof *id);
    }
    return MNW_OK;
}

/* A whole word that is a token, in the alphabet of the pieces. */
static int32_t whole_word(const mnw_tokenizer *tok, mn_str word)
{
    char   text[MN_TOK_MAX_PIECE + 2];
    size_t n = 0;
    if (word.n > tok->vocab.longest) return -1;
    if (tok->bpe.bytes) {
        for (size_t i = 0; i < word.n; i++) {
            if (n > MN_TOK_MAX_PIECE) return -1;
            n += mn_bytelevel_put((uint8_t)word.p[i], text + n);
        }
        word = (mn_str){ text, n };
    }
    const int32_t id = mn_vocab_find(&tok->vocab, word);
    return id >= 0 && tok->vocab.piece[id].kind == MN_PIECE_NORMAL ? id : -1;
}

static mnw_status encode_word(encoder *e, mn_str word)
{
    if (e->tok->ignore_merges) {
        const int32_t id = whole_word(e->tok, word);
        if (id >= 0) {
            mn_work_emit(&e->work, id);
            return MNW_OK;
        }
    }
    return word_through_cache(e, word);
}

static bool is_mark(const char *s, const char *end)
{
    return end - s >= 3 && memcmp(s, "\xE2\x96\x81", 3) == 0;
}

/* Words of a text whose spaces are U+2581: such marks, then what is not one. */
static mnw_status encode_marked(encoder *e, mn_str t)
{
    const char *s = t.p, *end = t.p + t.n;
    while (s < end) {
        const char *stop = s;
        if (e->tok->split_spaces) {
            if (is_mark(stop, end)) stop += 3;
        } else {
            while (is_mark(stop, end)) stop += 3;
        }
        while (stop < end && !is_mark(stop, end)) {
            const char *next = memchr(stop + 1, '\xE2', (size_t)(end - stop - 1));
            stop = next ? next : end;
        }
        MN_TRY(encode_word(e, (mn_str){ s, (size_t)(stop - s) }));
        s = stop;
    }
    return MNW_OK;
}

/* Text as the vocabulary is written. */
static mnw_status encode_plain(encoder *e, mn_str t)
{
    const mnw_tokenizer *tok = e->tok;
    if (!t.n) return MNW_OK;
    e->work.after_unknown = false;
    if (tok->kind == MN_TOK_UNIGRAM) return mn_unigram(tok, &e->work, t);
    if (tok->spaces) {
        if (tok->split_spaces || tok->words_at_spaces) return encode_marked(e, t);
        return encode_word(e, t);
    }
    mn_words words;
    mn_str   word;
    mn_words_init(&words, tok->stage, t);
    while (mn_words_next(&words, &word)) MN_TRY(encode_word(e, word));
    return MNW_OK;
}

/* Does [begin, end) touch a part that came from people? */
static bool in_span(const encoder *e, size_t begin, size_t end)
{
    size_t lo = 0, hi = e->n_spans;
    while (lo < hi) {
        const size_t mid = (lo + hi) / 2;
        if (e->span[mid].end <= begin) lo = mid + 1;
        else hi = mid;
    }
    return lo < e->n_spans && e->span[lo].begin < end;
}

/* \w: letters, marks, numbers and the underscore. */
static bool is_word(uint32_t cp)
{
    const unsigned c = mn_unicode_info(cp) & MN_CLASS_BITS;
    return c == MN_CLASS_LETTER || c == MN_CLASS_MARK || c == MN_CLASS_NUMBER || cp == '_';
}

static bool is_space(uint32_t cp)
{
    return (mn_unicode_info(cp) & MN_CLASS_BITS) == MN_CLASS_SPACE;
}

/* Start of the code point that ends at s + i > s. */
static size_t step_back(const char *s, size_t i)
{
    do i--;
    while (i && ((uint8_t)s[i] & 0xC0) == 0x80);
    return i;
}

/* An added token found in a text: [begin, end), with the white space it takes. */
typedef struct found {
    uint32_t id;
    size_t   begin, end;
} found;

/* The longest added token at `i`.  `raw`: `t` is e->text and `i` a place in it. */
static bool added_at(const encoder *e, const mn_prefix *set, mn_str t, size_t i, bool raw, found *f)
{
    const mn_vocab *v = &e->tok->vocab;
    mn_prefix_walk  walk = mn_prefix_start(set, t.p + i, t.n - i);
    bool            any = false;
    for (uint32_t id; mn_prefix_next(&walk, &id);) {
        const mn_piece p = v->piece[id];
        const size_t   end = i + p.len;
        const bool     people = raw ? in_span(e, i, end) : e->foreign;   // normalising moves text
        if (p.kind != MN_PIECE_USER && (!e->special || people)) continue;
        *f = (found){ id, i, end };
        any = true;
    }
    return any;
}

static bool stands_alone(const encoder *e, mn_str t, const found *f)
{
    if (!(e->tok->vocab.piece[f->id].added & MN_ADDED_SINGLE_WORD)) return true;
    if (f->begin && is_word(mn_utf8_at(t.p + step_back(t.p, f->begin)))) return false;
    return f->end == t.n || !is_word(mn_utf8_at(t.p + f->end));
}

/* The first added token in t[from ..). */
static bool next_added(const encoder *e, const mn_prefix *set, mn_str t, size_t from, bool raw,
                       found *f)
{
    if (!set->count) return false;
    for (size_t i = from; i < t.n; i++) {
        const uint8_t b = (uint8_t)t.p[i];
        if (set->first[b] == set->first[b + 1] || !added_at(e, set, t, i, raw, f)) continue;
        if (!stands_alone(e, t, f)) {   // nor is a shorter one looked for in there
            i = f->end - 1;
            continue;
        }
        const uint8_t added = e->tok->vocab.piece[f->id].added;
        if (added & MN_ADDED_LSTRIP) {
            for (size_t k; f->begin > from; f->begin = k) {
                k = step_back(t.p, f->begin);
                if (!is_space(mn_utf8_at(t.p + k))) break;
            }
        }
        if (added & MN_ADDED_RSTRIP) {
            while (f->end < t.n && is_space(mn_utf8_at(t.p + f->end))) {
                f->end += mn_utf8_size((uint8_t)t.p[f->end]);
            }
        }
        return true;
    }
    return false;
}

/* Composed text without added tokens. */
static mnw_status encode_part(encoder *e, mn_str part, bool first)
{
    if (!part.n) return MNW_OK;
    void      *block;
    mn_str     t;
    mnw_status st = mn_tokenizer_mark_spaces(e->tok, e->work.mem, part, first, &t, &block);
    if (st == MNW_OK) st = encode_plain(e, t);
    mn_free(e->work.mem, block);
    return st;
}

/* A part between two added tokens of the raw text: compose, then look for those that want that. */
static mnw_status encode_gap(encoder *e, mn_str gap, bool first)
{
    if (!gap.n) return MNW_OK;
    void        *block;
    mn_str       t;
    const size_t begin = (size_t)(gap.p - e->text.p);
    e->foreign = in_span(e, begin, begin + gap.n);
    mnw_status st = mn_tokenizer_compose(e->tok, e->work.mem, gap, &t, &block);
    size_t     at = 0;
    for (found f; st == MNW_OK && next_added(e, &e->tok->normal, t, at, false, &f); at = f.end) {
        st = encode_part(e, (mn_str){ t.p + at, f.begin - at }, first && at == 0);
        mn_work_emit(&e->work, (int32_t)f.id);
    }
    if (st == MNW_OK) st = encode_part(e, (mn_str){ t.p + at, t.n - at }, first && at == 0);
    mn_free(e->work.mem, block);
    return st;
}

static mnw_status encode_text(encoder *e)
{
    const mn_str t = e->text;
    size_t       at = 0;
    for (found f; next_added(e, &e->tok->raw, t, at, true, &f); at = f.end) {
        MN_TRY(encode_gap(e, (mn_str){ t.p + at, f.begin - at }, at == 0));
        mn_work_emit(&e->work, (int32_t)f.id);
    }
    return encode_gap(e, (mn_str){ t.p + at, t.n - at }, at == 0);
}

static size_t repair_part(char *out, const char *s, size_t n)
{
    size_t len = 0;
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        i += mn_utf8_get(s + i, n - i, &cp);
        len += mn_utf8_put(cp, out + len);
    }
    return len;
}

/* U+FFFD for what is not UTF-8.  The spans move with the text. */
static mnw_status repair(encoder *e, void **block)
{
    const mn_str t = e->text;
    const size_t span_bytes = e->n_spans * sizeof(mn_span);
    mn_span *const span = *block = mn_alloc(e->work.mem, span_bytes + t.n * 3);   // bad bytes triple
    if (!span) return MNW_E_NOMEM;
    char *const out = (char *)(span + e->n_spans);
    size_t      n = 0, at = 0;
    for (size_t i = 0; i < e->n_spans; i++) {
        const mn_span from = e->span[i];
        n += repair_part(out + n, t.p + at, from.begin - at);
        span[i].begin = n;
        n += repair_part(out + n, t.p + from.begin, from.end - from.begin);
        span[i].end = n;
        at = from.end;
    }
    n += repair_part(out + n, t.p + at, t.n - at);
    e->text = (mn_str){ out, n };
    e->span = span;
    return MNW_OK;
}

/* Without memory there is no cache: it is only faster with one. */
static void open_cache(encoder *e)
{
    if (e->text.n < CACHE_MIN_TEXT || e->tok->kind == MN_TOK_UNIGRAM) return;
    uint32_t words = 64;
    while (words < CACHE_MAX_WORDS && words < e->text.n / 8) words *= 2;
    e->work.cache = mn_alloc_zero(e->work.mem, words, sizeof *e->work.cache);
    e->work.cache_mask = words - 1;
}

/* The one place that adds BOS and EOS; a text that has them already keeps one. */
static mnw_status encode_whole(encoder *e, bool ends)
{
    const mnw_tokenizer *tok = e->tok;
    found                f = { 0 };
    const bool           has_bos = e->text.n && next_added(e, &tok->raw, e->text, 0, true, &f) &&
                         f.begin == 0 && (int32_t)f.id == tok->bos;
    if (ends && tok->add_bos && !has_bos) mn_work_emit(&e->work, tok->bos);
    if (e->text.n) MN_TRY(encode_text(e));
    const bool has_eos = e->work.n && e->work.last == tok->eos;
    if (ends && tok->add_eos && !has_eos) mn_work_emit(&e->work, tok->eos);
    return MNW_OK;
}

static mnw_status encode(encoder *e, bool ends)
{
    void *repaired = NULL;
    if (!mn_utf8_valid(e->text.p, e->text.n)) MN_TRY(repair(e, &repaired));
    open_cache(e);
    const mnw_status st = encode_whole(e, ends);
    mn_free(e->work.mem, e->work.cache);
    mn_free(e->work.mem, e->work.block);
    mn_free(e->work.mem, repaired);
    return st;
}

mnw_status mn_tokenizer_encode_spans(const mnw_tokenizer *tok, const char *text, size_t len,
                                     unsigned flags, const mn_span *span, size_t n_spans,
                                     int32_t *ids, size_t cap, size_t *n)
{
    *n = 0;
    if (len > MN_TOK_MAX_INPUT) return MNW_E_LIMIT;
    encoder e = {
        .tok = tok,
        .work = { .mem = &tok->ctx->mem, .ids = ids, .cap = ids ? cap : 0 },
        .text = { len ? text : "", len },
        .span = span,
        .n_spans = n_spans,
        .special = flags & MNW_ENCODE_SPECIAL,
    };
    MN_TRY(encode(&e, flags & MNW_ENCODE_BOS));
    if (e.work.lost) {
        MN_TRY(mn_warn(tok->ctx, MNW_WARNING_TRUNCATED, NULL,
                       "tokenizer: %zu bytes or characters have no token and are left out",
                       e.work.lost));
    }
    *n = e.work.n;
    return *n > e.work.cap ? MNW_E_BUFFER : MNW_OK;
}

mnw_status mn_tokenizer_count_steps(const mnw_tokenizer *tok, const char *text, size_t len,
                                    uint64_t *steps)
{
    encoder e = { .tok = tok, .work = { .mem = &tok->ctx->mem }, .text = { text, len } };
    const mnw_status st = encode(&e, false);
    *steps = e.work.steps;
    return st;
}

mnw_status mnw_tokenizer_encode(const mnw_tokenizer *tok, const char *text, size_t len,
                                unsigned flags, int32_t *ids, size_t cap, size_t *n)
{
    if (!tok || !n || (len && !text) || (cap && !ids)) return MNW_E_ARG;
    return mn_tokenizer_encode_spans(tok, text, len, flags, NULL, 0, ids, cap, n);
}
