/* SPDX-License-Identifier: Apache-2.0
 *
 * decode.c - ids to the bytes they stand for.
 */
#include "base/utf8.h"
#include "text/bytelevel.h"
#include "text/tokenizer.h"

typedef struct writer {
    char  *p;
    size_t cap, n;    // n counts on past cap
} writer;

static void put(writer *w, const char *s, size_t n)
{
    if (w->n < w->cap) memcpy(w->p + w->n, s, n < w->cap - w->n ? n : w->cap - w->n);
    w->n += n;
}

static void put_bytes(writer *w, mn_str piece)
{
    size_t n;
    if (!mn_bytelevel_decode(piece, NULL, &n)) {
        put(w, piece.p, piece.n);
        return;
    }
    for (size_t i = 0; i < piece.n;) {
        uint32_t cp;
        i += mn_utf8_get(piece.p + i, piece.n - i, &cp);
        const char byte = (char)mn_bytelevel_byte(cp);
        put(w, &byte, 1);
    }
}

static void put_spaced(writer *w, mn_str piece)
{
    for (size_t i = 0; i < piece.n;) {
        if (piece.n - i >= 3 && memcmp(piece.p + i, "\xE2\x96\x81", 3) == 0) {
            put(w, " ", 1);
            i += 3;
        } else {
            put(w, piece.p + i++, 1);
        }
    }
}

static void put_piece(writer *w, const mnw_tokenizer *tok, uint32_t id, bool special)
{
    const mn_str text = mn_vocab_text(&tok->vocab, id);
    switch ((mn_piece_kind)tok->vocab.piece[id].kind) {
    case MN_PIECE_CONTROL:
        if (special) put(w, text.p, text.n);
        return;
    case MN_PIECE_UNKNOWN:
        if (special) put(w, text.p, text.n);
        else put(w, "\xEF\xBF\xBD", 3);
        return;
    case MN_PIECE_USER: put(w, text.p, text.n); return;
    case MN_PIECE_BYTE: {
        const char byte = (char)mn_byte_piece(text);
        put(w, &byte, 1);
        return;
    }
    default: break;
    }
    if (tok->bpe.bytes) put_bytes(w, text);
    else if (tok->spaces) put_spaced(w, text);
    else put(w, text.p, text.n);
}

mnw_status mnw_tokenizer_decode(const mnw_tokenizer *tok, const int32_t *ids, size_t n,
                                unsigned flags, char *text, size_t cap, size_t *len)
{
    if (!tok || !len || (n && !ids) || (cap && !text)) return MNW_E_ARG;
    *len = 0;
    const bool special = flags & MNW_DECODE_SPECIAL;
    bool       strip = flags & MNW_DECODE_START && tok->prefix != MN_PREFIX_NEVER;
    writer     w = { text, cap, 0 };
    for (size_t i = 0; i < n; i++) {
        if (ids[i] < 0 || (uint32_t)ids[i] >= tok->vocab.count) return MNW_E_ARG;
        const uint32_t id = (uint32_t)ids[i];
        const mn_str   piece = mn_vocab_text(&tok->vocab, id);
        if (tok->vocab.piece[id].kind == MN_PIECE_CONTROL) {   // the next part has its own space
            strip = flags & MNW_DECODE_START && tok->prefix == MN_PREFIX_ALWAYS;
            put_piece(&w, tok, id, special);
            continue;
        }
        const bool normal = tok->vocab.piece[id].kind == MN_PIECE_NORMAL;
        if (strip && normal && mn_str_starts(piece, mn_str_of("\xE2\x96\x81"))) {
            put_spaced(&w, (mn_str){ piece.p + 3, piece.n - 3 });
        } else {
            put_piece(&w, tok, id, special);
        }
        strip = tok->vocab.piece[id].kind == MN_PIECE_USER && flags & MNW_DECODE_START &&
                tok->prefix == MN_PREFIX_ALWAYS;
    }
    *len = w.n;
    return w.n > cap ? MNW_E_BUFFER : MNW_OK;
}
