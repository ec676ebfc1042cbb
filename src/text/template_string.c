/* SPDX-License-Identifier: Apache-2.0
 *
 * template_string.c - text that remembers, byte by byte, whether the template wrote it.
 *
 * Most texts are all of one origin and need no mask; one appears when two origins meet.
 */
#include <utf8proc.h>

#include "base/utf8.h"
#include "text/template_value.h"

static mnw_status buf_room(mn_tpl_run *r, mn_tpl_buf *b, size_t more, bool mask)
{
    if (more > MN_TEMPLATE_OUTPUT_MAX - b->n) {
        return mn_tpl_fail(r, MNW_E_LIMIT, "text longer than %d bytes", MN_TEMPLATE_OUTPUT_MAX);
    }
    size_t cap = b->cap;
    if (b->n + more > cap) {
        cap = cap * 2 > b->n + more ? cap * 2 : b->n + more;
        char *p = mn_tpl_push(r, cap, 1);
        if (!p) return mn_tpl_status(r);
        if (b->n) memcpy(p, b->p, b->n);
        b->p = p;
    }
    if ((mask && !b->mixed) || (b->mixed && cap != b->cap)) {
        uint8_t *m = mn_tpl_push(r, cap, 1);
        if (!m) return mn_tpl_status(r);
        if (b->n && b->mixed) memcpy(m, b->mask, b->n);
        if (b->n && !b->mixed) memset(m, b->trusted, b->n);
        b->mask = m;
        b->mixed = true;
    }
    b->cap = cap;
    return MNW_OK;
}

mnw_status mn_tpl_put(mn_tpl_run *r, mn_tpl_buf *b, mn_tpl_text t)
{
    if (!t.n) return MNW_OK;
    if (!b->n && !b->mixed) b->trusted = t.trusted;
    const bool mask = b->mixed || t.mask || t.trusted != b->trusted;
    MN_TRY(buf_room(r, b, t.n, mask));
    memcpy(b->p + b->n, t.p, t.n);
    if (b->mixed && t.mask) memcpy(b->mask + b->n, t.mask, t.n);
    if (b->mixed && !t.mask) memset(b->mask + b->n, t.trusted, t.n);
    b->n += t.n;
    return mn_tpl_scan(r, t.n);
}

mnw_status mn_tpl_put_z(mn_tpl_run *r, mn_tpl_buf *b, const char *z, bool trusted)
{
    return mn_tpl_put(r, b, (mn_tpl_text){ .p = z, .n = strlen(z), .trusted = trusted });
}

mn_tpl_text mn_tpl_buf_text(const mn_tpl_buf *b, size_t from)
{
    if (from == b->n) return (mn_tpl_text){ .p = "", .trusted = true };
    return (mn_tpl_text){ .p = b->p + from, .n = b->n - from,
                          .mask = b->mixed ? b->mask + from : NULL, .trusted = b->trusted };
}

mnw_status mn_tpl_buf_value(mn_tpl_run *r, const mn_tpl_buf *b, mn_tpl_value *out)
{
    return mn_tpl_new_text(r, mn_tpl_buf_text(b, 0), out);
}

mn_tpl_text mn_tpl_part(const mn_tpl_text *t, size_t at, size_t n)
{
    return (mn_tpl_text){ .p = t->p + at, .n = n, .mask = t->mask ? t->mask + at : NULL,
                          .trusted = t->trusted };
}

size_t mn_tpl_chars(const mn_tpl_text *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) n += ((uint8_t)t->p[i] & 0xC0) != 0x80;
    return n;
}

/* What str.isspace() says. */
bool mn_tpl_is_space(uint32_t cp)
{
    return (cp >= 9 && cp <= 13) || (cp >= 28 && cp <= 32) || cp == 0x85 || cp == 0xA0 ||
           cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200A) || cp == 0x2028 || cp == 0x2029 ||
           cp == 0x202F || cp == 0x205F || cp == 0x3000;
}

/* Is the code point [p, p+n) one of `chars` (NULL: white space)? */
static bool is_stripped(const char *p, size_t n, const mn_tpl_text *chars)
{
    uint32_t cp, other;
    mn_utf8_get(p, n, &cp);
    if (!chars) return mn_tpl_is_space(cp);
    for (size_t i = 0; i < chars->n;) {
        i += mn_utf8_get(chars->p + i, chars->n - i, &other);
        if (other == cp) return true;
    }
    return false;
}

mn_tpl_text mn_tpl_strip(const mn_tpl_text *t, const mn_tpl_text *chars, int sides)
{
    size_t from = 0, to = t->n;
    while ((sides & 1) && from < to) {
        uint32_t     cp;
        const size_t n = mn_utf8_get(t->p + from, to - from, &cp);
        if (!is_stripped(t->p + from, n, chars)) break;
        from += n;
    }
    while ((sides & 2) && from < to) {
        size_t last = to - 1;
        while (last > from && ((uint8_t)t->p[last] & 0xC0) == 0x80) last--;
        if (!is_stripped(t->p + last, to - last, chars)) break;
        to = last;
    }
    return mn_tpl_part(t, from, to - from);
}

mnw_status mn_tpl_search(mn_tpl_run *r, mn_str hay, size_t at, mn_str what, size_t *pos)
{
    uint64_t work = 0;
    *pos = hay.n;
    if (!what.n) {
        *pos = at;
        return MNW_OK;
    }
    while (at < hay.n && hay.n - at >= what.n) {
        const char *c = memchr(hay.p + at, what.p[0], hay.n - at - what.n + 1);
        if (!c) break;
        const size_t i = (size_t)(c - hay.p);
        work += i - at + what.n;
        if (memcmp(c, what.p, what.n) == 0) {
            *pos = i;
            break;
        }
        at = i + 1;
        if (work > 1 << 20) {
            MN_TRY(mn_tpl_scan(r, work));
            work = 0;
        }
    }
    return mn_tpl_scan(r, work);
}

mnw_status mn_tpl_replace(mn_tpl_run *r, const mn_tpl_text *t, const mn_tpl_text *from,
                          const mn_tpl_text *to, int64_t most, mn_tpl_value *out)
{
    mn_tpl_buf b = { 0 };
    size_t     at = 0;
    for (int64_t k = 0; most < 0 || k < most; k++) {
        size_t pos;
        if (from->n) {
            MN_TRY(mn_tpl_search(r, mn_tpl_str(t), at, mn_tpl_str(from), &pos));
            if (pos == t->n) break;
        } else {   // before each character and at the end
            uint32_t cp;
            pos = at;
            if (k && at < t->n) pos += mn_utf8_get(t->p + at, t->n - at, &cp);
            if (k && at == t->n) break;
        }
        MN_TRY(mn_tpl_put(r, &b, mn_tpl_part(t, at, pos - at)));
        MN_TRY(mn_tpl_put(r, &b, *to));
        MN_TRY(mn_tpl_work(r, 1));
        at = pos + from->n;
    }
    MN_TRY(mn_tpl_put(r, &b, mn_tpl_part(t, at, t->n - at)));
    return mn_tpl_buf_value(r, &b, out);
}

static bool is_cased(uint32_t cp)
{
    const utf8proc_int32_t c = (utf8proc_int32_t)cp;
    return utf8proc_isupper(c) || utf8proc_islower(c) ||
           utf8proc_category(c) == UTF8PROC_CATEGORY_LT;
}

/* jinja2's title filter starts a word after these. */
static bool ends_word(uint32_t cp)
{
    return mn_tpl_is_space(cp) || (cp < 128 && cp && strchr("-({[<", (int)cp));
}

mnw_status mn_tpl_recase(mn_tpl_run *r, const mn_tpl_text *t, mn_tpl_case how, mn_tpl_value *out)
{
    mn_tpl_buf b = { 0 };
    bool       start = true;   // of a word
    MN_TRY(mn_tpl_work(r, t->n / 8));
    for (size_t i = 0; i < t->n;) {
        uint32_t     cp;
        char         put[2 * MN_UTF8_MAX];
        const size_t n = mn_utf8_get(t->p + i, t->n - i, &cp);
        const bool   up = how == MN_TPL_UPPER || (how != MN_TPL_LOWER && start);
        size_t       m;
        if (up && cp == 0xDF) {   // the one common letter whose capital is two
            memcpy(put, how == MN_TPL_UPPER || how == MN_TPL_TITLE ? "SS" : "Ss", m = 2);
        } else {
            m = mn_utf8_put((uint32_t)(up ? utf8proc_toupper((utf8proc_int32_t)cp)
                                          : utf8proc_tolower((utf8proc_int32_t)cp)),
                            put);
        }
        start = how == MN_TPL_TITLE ? ends_word(cp)
                                    : how == MN_TPL_TITLE_METHOD && !is_cased(cp);
        const mn_tpl_text piece = mn_tpl_part(t, i, 1);
        MN_TRY(mn_tpl_put(r, &b, (mn_tpl_text){ .p = put, .n = m,
                                                .trusted = piece.mask ? *piece.mask != 0
                                                                      : piece.trusted }));
        i += n;
    }
    return mn_tpl_buf_value(r, &b, out);
}
