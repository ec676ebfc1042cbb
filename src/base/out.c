/* SPDX-License-Identifier: Apache-2.0
 *
 * out.c - append text to a caller's buffer, and count what it would have needed.
 */
#include "base/out.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"

/* Saturates: a length that overflows can only be "too long". */
static void grow(mn_out *o, size_t n)
{
    o->len = n > SIZE_MAX - o->len ? SIZE_MAX : o->len + n;
}

void mn_out_bytes(mn_out *o, const void *p, size_t n)
{
    if (o->len < o->cap && n) {
        const size_t room = o->cap - o->len;
        memcpy(o->buf + o->len, p, n < room ? n : room);
    }
    grow(o, n);
}

void mn_out_text(mn_out *o, const char *z)
{
    mn_out_bytes(o, z, strlen(z));
}

void mn_out_fmt(mn_out *o, const char *fmt, ...)
{
    char    text[513];
    va_list ap;
    va_start(ap, fmt);
    const int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (n > 0) mn_out_bytes(o, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

void mn_out_number(mn_out *o, double v, bool single)
{
    enum { MOST = 17 };   // digits that tell all doubles apart
    char text[32];
    if (!isfinite(v)) {
        mn_out_text(o, "null");
        return;
    }
    for (int digits = 1; digits <= MOST; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        const double back = strtod(text, NULL);
        if (single ? (float)back == (float)v : back == v) break;
    }
    for (char *p = text; *p; p++) {
        if (!strchr("0123456789+-e", *p)) *p = '.';   // whatever the locale has there
    }
    mn_out_text(o, text);
    if (!strpbrk(text, ".e")) mn_out_text(o, ".0");   // to some readers, 1 is an integer
}

void mn_out_json(mn_out *o, mn_str s)
{
    mn_out_bytes(o, "\"", 1);
    size_t plain = 0;   // start of the run that is copied as it is
    for (size_t i = 0; i < s.n;) {
        const uint8_t c = (uint8_t)s.p[i];
        uint32_t      cp;
        bool          valid = true;
        const size_t  step = c < 0x80 ? 1 : mn_utf8_read(s.p + i, s.n - i, &cp, &valid);
        if (valid && c >= 0x20 && c != '"' && c != '\\') {
            i += step;
            continue;
        }
        mn_out_bytes(o, s.p + plain, i - plain);
        i += step;
        plain = i;
        static const char FROM[] = "\"\\\b\f\n\r\t", TO[] = "\"\\bfnrt";
        const char       *f = c ? strchr(FROM, c) : NULL;
        if (!valid) {
            mn_out_text(o, "\xEF\xBF\xBD");
        } else if (f) {
            mn_out_bytes(o, (const char[]){ '\\', TO[f - FROM] }, 2);
        } else {
            mn_out_fmt(o, "\\u%04x", c);
        }
    }
    mn_out_bytes(o, s.p + plain, s.n - plain);
    mn_out_bytes(o, "\"", 1);
}

mnw_status mn_out_end(mn_out *o, size_t *len, mn_err *err)
{
    *len = o->len;
    if (o->len < o->cap) {
        o->buf[o->len] = '\0';
        return MNW_OK;
    }
    if (o->cap) o->buf[o->cap - 1] = '\0';
    MN_FAIL(err, MNW_E_BUFFER, "the buffer has %zu bytes, the text needs %zu and a NUL", o->cap,
            o->len);
}
