/* SPDX-License-Identifier: Apache-2.0
 *
 * pretok_split.c - stages that cut out what matches a small expression and leave the rest alone.
 *
 * The piece at the front is either a match or the text up to the next one.  The stages that have an
 * optional \s in front of a class all have one form: "\s?[class]+".
 */
#include "text/pretok.h"
#include "text/unicode.h"

typedef bool class_fn(uint32_t cp);

static inline bool is_space(uint32_t cp)
{
    return (mn_unicode_info(cp) & MN_CLASS_BITS) == MN_CLASS_SPACE;
}

/* First place in [s, end) whose code point is (`in`) or is not in the class. */
static inline const char *seek(const char *s, const char *end, class_fn *fn, bool in)
{
    while (s < end && fn(mn_utf8_at(s)) != in) s += mn_utf8_size((uint8_t)*s);
    return s;
}

/* [class]+ */
static inline size_t cut_run(const char *s, const char *end, class_fn *fn)
{
    const bool in = fn(mn_utf8_at(s));
    return (size_t)(seek(s, end, fn, !in) - s);
}

/* \s?[class]+ ; no white space may be in the class but U+3000, which `fullwidth` has. */
static inline size_t cut_word(const char *s, const char *end, class_fn *fn)
{
    const char *before = NULL;   // white space right in front of `at`
    const char *at = s;
    for (; at < end; at += mn_utf8_size((uint8_t)*at)) {
        const uint32_t cp = mn_utf8_at(at);
        if (fn(cp)) break;
        before = is_space(cp) ? at : NULL;
    }
    if (at == end) return (size_t)(end - s);
    const char *match = before ? before : at;
    return (size_t)((match == s ? seek(at, end, fn, false) : match) - s);
}

static bool number(uint32_t cp)
{
    return (mn_unicode_info(cp) & MN_CLASS_BITS) == MN_CLASS_NUMBER;
}

/* \p{N} */
size_t mn_stage_digit(const char *s, const char *end)
{
    return number(mn_utf8_at(s)) ? mn_utf8_size((uint8_t)*s) : cut_run(s, end, number);
}

/* \p{N}+ */
size_t mn_stage_digits(const char *s, const char *end)
{
    return cut_run(s, end, number);
}

/* The same on text in GPT-2's alphabet for bytes, where some bytes look like superscripts and
 * fractions.  Cuts inside code points. */
size_t mn_stage_byte_digits(const char *s, const char *end)
{
    static const char digits[] = "0123456789\xB2\xB3\xB9\xBC\xBD\xBE";
    const bool        in = memchr(digits, *s, sizeof digits - 1) != NULL;
    const char       *at = s + 1;
    while (at < end && (memchr(digits, *at, sizeof digits - 1) != NULL) == in) at++;
    return (size_t)(at - s);
}

static bool three_digits(const char *s, const char *end)
{
    if (end - s < 3) return false;
    for (int i = 0; i < 3; i++) {
        if (s[i] < '0' || s[i] > '9') return false;
    }
    return true;
}

/* [0-9][0-9][0-9] ; also on bytes. */
size_t mn_stage_3digits(const char *s, const char *end)
{
    if (three_digits(s, end)) return 3;
    const char *at = s + 1;
    while (at < end && !three_digits(at, end)) at++;
    return (size_t)(at - s);
}

static bool punct_or_ascii(uint32_t cp)
{
    const unsigned c = mn_unicode_info(cp) & MN_CLASS_BITS;
    return c == MN_CLASS_PUNCT || (cp < 0x80 && c == MN_CLASS_SYMBOL);
}

/* [\p{P}$+<=>^~|`]+ */
size_t mn_stage_punct(const char *s, const char *end)
{
    return cut_run(s, end, punct_or_ascii);
}

static bool newline(uint32_t cp)
{
    return cp == '\r' || cp == '\n';
}

/* [\r\n] */
size_t mn_stage_newline(const char *s, const char *end)
{
    return newline((uint8_t)*s) ? 1 : cut_run(s, end, newline);
}

static bool letter(uint32_t cp)
{
    return (mn_unicode_info(cp) & MN_CLASS_BITS) == MN_CLASS_LETTER;
}

/* \s?\p{L}+ */
size_t mn_stage_letters(const char *s, const char *end)
{
    return cut_word(s, end, letter);
}

static bool punct(uint32_t cp)
{
    return (mn_unicode_info(cp) & MN_CLASS_BITS) == MN_CLASS_PUNCT;
}

/* \s?\p{P}+ */
size_t mn_stage_puncts(const char *s, const char *end)
{
    return cut_word(s, end, punct);
}

static bool fullwidth(uint32_t cp)
{
    return (cp >= '!' && cp <= '/') || (cp >= ':' && cp <= '~') || (cp >= 0xFF01 && cp <= 0xFF0F) ||
           (cp >= 0xFF1A && cp <= 0xFF5E) || (cp >= 0x2018 && cp <= 0x201F) ||
           (cp >= 0x3000 && cp <= 0x3002);
}

/* \s?[!-/:-~\uFF01-\uFF0F\uFF1A-\uFF5E\u2018-\u201F\u3000-\u3002]+ */
size_t mn_stage_fullwidth(const char *s, const char *end)
{
    return cut_word(s, end, fullwidth);
}

/* \s+$ ; the line ends are cut off before. */
size_t mn_stage_tail_space(const char *s, const char *end)
{
    const char *tail = NULL;   // start of the white space that goes on to `at`
    for (const char *at = s; at < end; at += mn_utf8_size((uint8_t)*at)) {
        if (!is_space(mn_utf8_at(at))) tail = NULL;
        else if (!tail) tail = at;
    }
    return (size_t)((tail && tail > s ? tail : end) - s);
}

static bool cjk(uint32_t cp)
{
    return (cp >= 0x0800 && cp <= 0x9FA5) || (cp >= 0xAC00 && cp <= 0xD7FF);
}

/* [\u4E00-\u9FA5\u0800-\u4E00\uAC00-\uD7FF]+ */
size_t mn_stage_cjk(const char *s, const char *end)
{
    return cut_run(s, end, cjk);
}

/* Letters with case, as Unicode had them when the expression was written. */
static const uint32_t cased[][2] = {
    { 0x0041, 0x005A }, { 0x0061, 0x007A }, { 0x00B5, 0x00B5 }, { 0x00C0, 0x00D6 },
    { 0x00D8, 0x00F6 }, { 0x00F8, 0x01BA }, { 0x01BC, 0x01BF }, { 0x01C4, 0x0293 },
    { 0x0295, 0x02AF }, { 0x0370, 0x0373 }, { 0x0376, 0x0376 }, { 0x0377, 0x0377 },
    { 0x037B, 0x037D }, { 0x037F, 0x037F }, { 0x0386, 0x0386 }, { 0x0388, 0x038A },
    { 0x038C, 0x038C }, { 0x038E, 0x03A1 }, { 0x03A3, 0x03F5 }, { 0x03F7, 0x0481 },
    { 0x048A, 0x052F }, { 0x0531, 0x0556 }, { 0x10A0, 0x10C5 }, { 0x13A0, 0x13F5 },
    { 0x13F8, 0x13FD }, { 0x1C90, 0x1CBA }, { 0x1CBD, 0x1CBF }, { 0x1D00, 0x1D2B },
    { 0x1D6B, 0x1D77 }, { 0x1D79, 0x1D9A }, { 0x1E00, 0x1F15 }, { 0x1F18, 0x1F1D },
    { 0x1F20, 0x1F45 }, { 0x1F48, 0x1F4D }, { 0x1F50, 0x1F57 }, { 0x1F59, 0x1F59 },
    { 0x1F5B, 0x1F5B }, { 0x1F5D, 0x1F5D }, { 0x1F5F, 0x1F7D }, { 0x1F80, 0x1FB4 },
    { 0x1FB6, 0x1FBC }, { 0x1FBE, 0x1FBE }, { 0x1FC2, 0x1FC4 }, { 0x1FC6, 0x1FCC },
    { 0x1FD0, 0x1FD3 }, { 0x1FD6, 0x1FDB }, { 0x1FE0, 0x1FEC }, { 0x1FF2, 0x1FF4 },
    { 0x1FF6, 0x1FFC }, { 0x2102, 0x2102 }, { 0x2107, 0x2107 }, { 0x210A, 0x2113 },
    { 0x2115, 0x2115 }, { 0x2119, 0x211D }, { 0x2124, 0x2124 }, { 0x2126, 0x2126 },
    { 0x2128, 0x2128 }, { 0x212A, 0x212D }, { 0x212F, 0x2134 }, { 0x2139, 0x2139 },
    { 0x213C, 0x213F }, { 0x2145, 0x2149 }, { 0x214E, 0x214E }, { 0x2183, 0x2183 },
    { 0x2184, 0x2184 }, { 0x2C00, 0x2C7B }, { 0x2C7E, 0x2CE4 }, { 0x2CEB, 0x2CEE },
    { 0x2CF2, 0x2CF2 }, { 0x2CF3, 0x2CF3 }, { 0xA640, 0xA66D }, { 0xA680, 0xA69B },
    { 0xA722, 0xA76F }, { 0xA771, 0xA787 }, { 0xA78B, 0xA78E }, { 0xAB70, 0xABBF },
    { 0xFB00, 0xFB06 }, { 0xFB13, 0xFB17 }, { 0xFF21, 0xFF3A }, { 0xFF41, 0xFF5A },
    { 0x10400, 0x1044F }, { 0x104B0, 0x104D3 }, { 0x104D8, 0x104FB }, { 0x10C80, 0x10CB2 },
    { 0x10CC0, 0x10CF2 }, { 0x118A0, 0x118DF }, { 0x1E900, 0x1E943 },
};

static bool latin(uint32_t cp)
{
    size_t lo = 0, hi = sizeof cased / sizeof *cased;
    while (lo < hi) {
        const size_t mid = (lo + hi) / 2;
        if (cp > cased[mid][1]) lo = mid + 1;
        else hi = mid;
    }
    return lo < sizeof cased / sizeof *cased && cp >= cased[lo][0];
}

/* \s?[A-Za-z...]+ */
size_t mn_stage_latin(const char *s, const char *end)
{
    return cut_word(s, end, latin);
}
