/* SPDX-License-Identifier: Apache-2.0
 *
 * pretok_scan.c - the expressions that cover every text by themselves: GPT-2's, Llama 3's and Qwen's.
 *
 *   gpt2    's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
 *
 *   qwen2   (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*
 *           |\s*[\r\n]+|\s+(?!\S)|\s+
 *   llama3  the same with \p{N}{1,3}
 *   qwen35  the same as qwen2 with [\p{L}\p{M}] for \p{L}, except in the first bracket
 *
 * A function returns the bytes of the match at the front; alternatives are tried in their order.
 */
#include "text/pretok.h"
#include "text/unicode.h"

/* One code point ahead: its class and its size.  size 0 at the end. */
typedef struct look {
    unsigned class;
    size_t   size;
} look;

#define O MN_CLASS_OTHER
#define L MN_CLASS_LETTER
#define N MN_CLASS_NUMBER
#define P MN_CLASS_PUNCT
#define S MN_CLASS_SYMBOL
#define W MN_CLASS_SPACE
static const uint8_t ascii_class[128] = {
    O, O, O, O, O, O, O, O, O, W, W, W, W, W, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O,
    W, P, P, P, S, P, P, P, P, P, P, S, P, P, P, P, N, N, N, N, N, N, N, N, N, N, P, P, S, S, S, P,
    P, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, P, P, P, S, P,
    S, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, P, S, P, S, O,
};
#undef O
#undef L
#undef N
#undef P
#undef S
#undef W

static inline look look_at(const char *s, const char *end)
{
    if (s == end) return (look){ MN_CLASS_END, 0 };
    const uint8_t lead = (uint8_t)*s;
    if (lead < 0x80) return (look){ ascii_class[lead], 1 };
    return (look){ mn_unicode_info(mn_utf8_at(s)) & MN_CLASS_BITS, mn_utf8_size(lead) };
}

#define BIT(c) (1u << MN_CLASS_##c)

enum {
    NOT_SPACE_LETTER_NUMBER = BIT(OTHER) | BIT(PUNCT) | BIT(SYMBOL) | BIT(MARK),
    NOT_SPACE_LETTER_MARK_NUMBER = BIT(OTHER) | BIT(PUNCT) | BIT(SYMBOL),
    NOT_LETTER_NUMBER = NOT_SPACE_LETTER_NUMBER | BIT(SPACE),
};

/* Skip all code points whose class is in `set`. */
static const char *skip(const char *s, const char *end, unsigned set)
{
    for (;;) {
        const look a = look_at(s, end);
        if (!(set >> a.class & 1)) return s;
        s += a.size;
    }
}

/* Bytes of 's 't 're 've 'm 'll 'd at the front, 0 if there is none.  Folding the case also makes the
 * long s U+017F an s. */
static size_t contraction(const char *s, const char *end, bool fold)
{
    const size_t n = (size_t)(end - s);
    if (n < 2 || s[0] != '\'') return 0;
    if (fold && n >= 3 && memcmp(s + 1, "\xC5\xBF", 2) == 0) return 3;
    const char lower = fold ? 0x20 : 0;
    const char a = s[1] | lower, b = n >= 3 ? s[2] | lower : 0;
    if (a == 's' || a == 't' || a == 'm' || a == 'd') return 2;
    if ((a == 'r' || a == 'v') && b == 'e') return 3;
    return a == 'l' && b == 'l' ? 3 : 0;
}

/* \s+(?!\S)|\s+ : a run of white space leaves its last code point to the word after it, unless it is
 * the only one. */
static size_t space_run(const char *s, const char *end)
{
    const char *at = s, *last = s;
    for (look a; (a = look_at(at, end)).class == MN_CLASS_SPACE; at += a.size) last = at;
    return (size_t)((at == end || last == s ? at : last) - s);
}

size_t mn_stage_gpt2(const char *s, const char *end)
{
    const size_t n = contraction(s, end, false);
    if (n) return n;

    const char *word = *s == ' ' ? s + 1 : s;
    const look  a = look_at(word, end);
    switch (a.class) {
    case MN_CLASS_LETTER: return (size_t)(skip(word + a.size, end, BIT(LETTER)) - s);
    case MN_CLASS_NUMBER: return (size_t)(skip(word + a.size, end, BIT(NUMBER)) - s);
    case MN_CLASS_SPACE:
    case MN_CLASS_END: return space_run(s, end);
    default: return (size_t)(skip(word + a.size, end, NOT_SPACE_LETTER_NUMBER) - s);
    }
}

static bool is_newline(char c)
{
    return c == '\r' || c == '\n';
}

/* \s*[\r\n]+|\s+(?!\S)|\s+ : up to the last line end of the run, if it has one. */
static size_t space_lines(const char *s, const char *end)
{
    const char *at = s, *last = s, *line = s;
    for (look a; (a = look_at(at, end)).class == MN_CLASS_SPACE; at += a.size) {
        if (is_newline(*at)) line = at + 1;
        last = at;
    }
    if (line > s) return (size_t)(line - s);
    return (size_t)((at == end || last == s ? at : last) - s);
}

/* The family of qwen2: `letter` and `rest` are the sets of a word and of what is neither. */
static inline size_t scan(const char *s, const char *end, unsigned letter, unsigned rest,
                          int digits)
{
    const size_t n = contraction(s, end, true);
    if (n) return n;

    const look a = look_at(s, end);
    if (letter >> a.class & 1 && !(NOT_LETTER_NUMBER >> a.class & 1)) {
        return (size_t)(skip(s + a.size, end, letter) - s);
    }
    if (a.class == MN_CLASS_NUMBER) {
        const char *at = s + a.size;
        for (int i = 1; i < digits; i++) {
            const look d = look_at(at, end);
            if (d.class != MN_CLASS_NUMBER) break;
            at += d.size;
        }
        return (size_t)(at - s);
    }
    const look b = look_at(s + a.size, end);
    if (letter >> b.class & 1 && !is_newline(*s)) {   // anything in front of a word belongs to it
        return (size_t)(skip(s + a.size + b.size, end, letter) - s);
    }
    if (letter >> a.class & 1) return a.size;         // a lone mark
    const char *word = *s == ' ' ? s + 1 : s;
    const look  w = *s == ' ' ? b : a;
    if (rest >> w.class & 1) {
        const char *at = skip(word + w.size, end, rest);
        while (at < end && is_newline(*at)) at++;
        return (size_t)(at - s);
    }
    return space_lines(s, end);
}

size_t mn_stage_qwen2(const char *s, const char *end)
{
    return scan(s, end, BIT(LETTER), NOT_SPACE_LETTER_NUMBER, 1);
}

size_t mn_stage_llama3(const char *s, const char *end)
{
    return scan(s, end, BIT(LETTER), NOT_SPACE_LETTER_NUMBER, 3);
}

size_t mn_stage_qwen35(const char *s, const char *end)
{
    return scan(s, end, BIT(LETTER) | BIT(MARK), NOT_SPACE_LETTER_MARK_NUMBER, 1);
}
