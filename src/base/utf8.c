/* SPDX-License-Identifier: Apache-2.0
 *
 * utf8.c - decode, encode and repair UTF-8.
 */
#include "base/utf8.h"

/* How many bytes the sequence wants and which second bytes are legal (Unicode, table 3-7). */
static size_t lead(uint8_t b, uint8_t *lo, uint8_t *hi)
{
    *lo = 0x80;
    *hi = 0xBF;
    if (b < 0x80) return 1;
    if (b < 0xC2) return 0;
    if (b < 0xE0) return 2;
    if (b < 0xF0) {
        if (b == 0xE0) *lo = 0xA0;
        if (b == 0xED) *hi = 0x9F;
        return 3;
    }
    if (b > 0xF4) return 0;
    if (b == 0xF0) *lo = 0x90;
    if (b == 0xF4) *hi = 0x8F;
    return 4;
}

/* Bytes of the longest valid prefix of one sequence; *want is its full length, 0 for a bad lead. */
static size_t prefix(const uint8_t *s, size_t n, size_t *want)
{
    uint8_t lo, hi;
    *want = lead(s[0], &lo, &hi);
    size_t i = 1;
    while (i < *want && i < n && s[i] >= lo && s[i] <= hi) {
        lo = 0x80;
        hi = 0xBF;
        i++;
    }
    return i;
}

size_t mn_utf8_read(const char *text, size_t n, uint32_t *cp, bool *valid)
{
    const uint8_t *s = (const uint8_t *)text;
    size_t         want;
    const size_t   got = prefix(s, n, &want);
    *valid = got == want;
    if (!*valid) {
        *cp = MN_UTF8_BAD;
        return got;
    }
    static const uint8_t MASK[5] = { 0, 0x7F, 0x1F, 0x0F, 0x07 };
    uint32_t             c = s[0] & MASK[got];
    for (size_t i = 1; i < got; i++) c = c << 6 | (s[i] & 0x3F);
    *cp = c;
    return got;
}

size_t mn_utf8_get(const char *s, size_t n, uint32_t *cp)
{
    bool valid;
    return mn_utf8_read(s, n, cp, &valid);
}

size_t mn_utf8_put(uint32_t cp, char out[MN_UTF8_MAX])
{
    if (cp > 0x10FFFF || (cp >= 0xD800 && cp <= 0xDFFF)) cp = MN_UTF8_BAD;
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    if (cp < 0x800) {
        out[0] = (char)(0xC0 | cp >> 6);
        out[1] = (char)(0x80 | (cp & 0x3F));
        return 2;
    }
    if (cp < 0x10000) {
        out[0] = (char)(0xE0 | cp >> 12);
        out[1] = (char)(0x80 | (cp >> 6 & 0x3F));
        out[2] = (char)(0x80 | (cp & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | cp >> 18);
    out[1] = (char)(0x80 | (cp >> 12 & 0x3F));
    out[2] = (char)(0x80 | (cp >> 6 & 0x3F));
    out[3] = (char)(0x80 | (cp & 0x3F));
    return 4;
}

size_t mn_utf8_whole(const char *text, size_t n)
{
    const uint8_t *s = (const uint8_t *)text;
    for (size_t back = 1; back <= 3 && back <= n; back++) {
        const uint8_t b = s[n - back];
        if ((b & 0xC0) == 0x80) continue;                 // a continuation: look further back
        size_t       want;
        const size_t got = prefix(s + n - back, back, &want);
        return got == back && got < want ? n - back : n;
    }
    return n;
}

bool mn_utf8_valid(const char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        bool     valid;
        i += mn_utf8_read(s + i, n - i, &cp, &valid);
        if (!valid) return false;
    }
    return true;
}

void mn_utf8_clean(char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        uint32_t     cp;
        bool         valid;
        const size_t step = mn_utf8_read(s + i, n - i, &cp, &valid);
        if (!valid || cp < 0x20 || cp == 0x7F || (cp >= 0x80 && cp < 0xA0)) {
            for (size_t j = 0; j < step; j++) s[i + j] = '?';
        }
        i += step;
    }
}
