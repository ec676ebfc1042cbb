/* SPDX-License-Identifier: Apache-2.0
 *
 * nfc.c - canonical composition, of the few places that need it.
 *
 * Most text is normalised already.  A table bit says of each code point whether NFC might touch it; a
 * region runs from the code point before the first such one to the next one that is safe, and only
 * regions go through utf8proc's tables:
 *
 *      a b c e ◌́ d          region = e ◌́ ;  a b c and d are copied
 *
 * Marks are put in order here, by counting, since a hostile text may have a million in a row.
 */
#include <utf8proc.h>

#include "base/check.h"
#include "base/utf8.h"
#include "text/unicode.h"

bool mn_nfc_needed(mn_str t)
{
    for (size_t i = 0; i < t.n;) {
        if ((uint8_t)t.p[i] < 0x80) {
            i++;
            continue;
        }
        if (mn_unicode_info(mn_utf8_at(t.p + i)) & MN_NFC_UNSAFE) return true;
        i += mn_utf8_size((uint8_t)t.p[i]);
    }
    return false;
}

static unsigned combining(int32_t cp)
{
    return (unsigned)utf8proc_get_property(cp)->combining_class;
}

/* Sort a run of marks by combining class, keeping the order of equals; `spare` is as long as the run. */
static void sort_marks(int32_t *cp, int32_t *spare, size_t n)
{
    size_t start[257] = { 0 };
    for (size_t i = 0; i < n; i++) start[combining(cp[i]) + 1]++;
    for (size_t c = 0; c < 256; c++) start[c + 1] += start[c];
    for (size_t i = 0; i < n; i++) spare[start[combining(cp[i])]++] = cp[i];
    memcpy(cp, spare, n * sizeof *cp);
}

static void order_marks(int32_t *cp, int32_t *spare, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!combining(cp[i])) continue;
        size_t stop = i;
        bool   sorted = true;
        for (; stop < n && combining(cp[stop]); stop++) {
            if (stop > i && combining(cp[stop - 1]) > combining(cp[stop])) sorted = false;
        }
        if (!sorted) sort_marks(cp + i, spare, stop - i);
        i = stop - 1;
    }
}

enum { MOST_PARTS = 4 };   // code points in the canonical decomposition of one, and some room

typedef struct scratch {
    char    *out;
    size_t   n;
    int32_t *cp, *spare;    // each MOST_PARTS times the longest region
} scratch;

static void put_region(scratch *s, mn_str region)
{
    size_t n = 0;
    for (size_t i = 0; i < region.n; i += mn_utf8_size((uint8_t)region.p[i])) {
        int                     boundary = 0;
        const utf8proc_ssize_t got = utf8proc_decompose_char(
            (int32_t)mn_utf8_at(region.p + i), s->cp + n, MOST_PARTS, UTF8PROC_DECOMPOSE, &boundary);
        if (got > 0 && got <= MOST_PARTS) n += (size_t)got;
    }
    order_marks(s->cp, s->spare, n);
    const utf8proc_ssize_t left = utf8proc_normalize_utf32(
        s->cp, (utf8proc_ssize_t)n, UTF8PROC_COMPOSE | UTF8PROC_STABLE);
    for (utf8proc_ssize_t i = 0; i < left; i++) {
        s->n += mn_utf8_put((uint32_t)s->cp[i], s->out + s->n);
    }
}

/* Where the region that begins in front of the first unsafe code point at or after `at` begins and
 * ends; false if there is none. */
static bool next_region(mn_str t, size_t at, size_t *begin, size_t *end)
{
    size_t before = at;
    bool   found = false;
    for (size_t i = at; i < t.n; i += mn_utf8_size((uint8_t)t.p[i])) {
        const bool unsafe =
            (uint8_t)t.p[i] >= 0x80 && mn_unicode_info(mn_utf8_at(t.p + i)) & MN_NFC_UNSAFE;
        if (unsafe && !found) *begin = before;
        if (!unsafe && found) {
            *end = i;
            return true;
        }
        found |= unsafe;
        before = i;
    }
    *end = t.n;
    return found;
}

mnw_status mn_nfc(mn_mem *mem, mn_str text, mn_str *out, void **block)
{
    size_t longest = 0, begin = 0, end = 0;
    for (size_t at = 0; next_region(text, at, &begin, &end); at = end) {
        if (end - begin > longest) longest = end - begin;
    }
    /* NFC makes UTF-8 at most three times longer (Unicode Standard Annex 15, table of factors). */
    size_t text_bytes, cp_bytes, bytes;
    if (!mn_mul_size(text.n, 3, &text_bytes) ||
        !mn_mul_size(longest, 2 * MOST_PARTS * sizeof(int32_t), &cp_bytes) ||
        !mn_add_size(text_bytes, cp_bytes, &bytes)) {
        return MNW_E_NOMEM;
    }
    *block = mn_alloc(mem, bytes ? bytes : 1);
    if (!*block) return MNW_E_NOMEM;
    scratch s = { .cp = *block };
    s.spare = s.cp + longest * MOST_PARTS;
    s.out = (char *)(s.spare + longest * MOST_PARTS);

    size_t at = 0;
    for (; next_region(text, at, &begin, &end); at = end) {
        memcpy(s.out + s.n, text.p + at, begin - at);
        s.n += begin - at;
        put_region(&s, (mn_str){ text.p + begin, end - begin });
    }
    memcpy(s.out + s.n, text.p + at, text.n - at);
    *out = (mn_str){ s.out, s.n + text.n - at };
    return MNW_OK;
}
