/* SPDX-License-Identifier: Apache-2.0
 *
 * template_write.c - values as text: str(), repr() and json.dumps() of Python.
 *
 * Containers are walked with a stack.  Punctuation is the template's; strings keep their origin.
 */
#include <math.h>
#include <stdio.h>
#include <utf8proc.h>

#include "base/json.h"
#include "base/utf8.h"
#include "text/template_value.h"

static mnw_status put_int(mn_tpl_run *r, mn_tpl_buf *b, int64_t v, bool trusted)
{
    char z[32];
    snprintf(z, sizeof z, "%lld", (long long)v);
    return mn_tpl_put_z(r, b, z, trusted);
}

/* Digits of the shortest decimal that reads back as `f` (finite, > 0), and its exponent. */
static size_t shortest(double f, char digit[20], int *exponent)
{
    for (int precision = 0; precision < 17; precision++) {
        char   z[40];
        size_t n = 0;
        snprintf(z, sizeof z, "%.*e", precision, f);
        const char *e = strchr(z, 'e');
        for (const char *c = z; c < e; c++) {
            if (*c >= '0' && *c <= '9') digit[n++] = *c;
        }
        int x = 0;
        for (const char *c = e + 2; *c; c++) x = x * 10 + (*c - '0');
        *exponent = e[1] == '-' ? -x : x;

        mn_json j;   // read back without asking the locale
        char    plain[48];
        snprintf(plain, sizeof plain, "%.*se%d", (int)n, digit, *exponent - (int)n + 1);
        mn_json_init(&j, (mn_bytes){ (const uint8_t *)plain, strlen(plain) });
        if (mn_json_next(&j) == MN_JSON_NUMBER && mn_json_f64(&j) == f) return n;
        if (precision == 16) return n;
    }
    return 0;
}

static mnw_status put_float(mn_tpl_run *r, mn_tpl_buf *b, double f, bool json, bool trusted)
{
    char z[64], digit[20];
    int  e = 0;
    if (isnan(f)) return mn_tpl_put_z(r, b, json ? "NaN" : "nan", trusted);
    if (signbit(f)) {
        MN_TRY(mn_tpl_put_z(r, b, "-", trusted));
        f = -f;
    }
    if (isinf(f)) return mn_tpl_put_z(r, b, json ? "Infinity" : "inf", trusted);
    if (f == 0.0) return mn_tpl_put_z(r, b, "0.0", trusted);
    size_t n = shortest(f, digit, &e);
    while (n > 1 && digit[n - 1] == '0') n--;
    if (e < -4 || e >= 16) {
        snprintf(z, sizeof z, "%c%s%.*se%c%02d", digit[0], n > 1 ? "." : "", (int)n - 1, digit + 1,
                 e < 0 ? '-' : '+', e < 0 ? -e : e);
    } else if (e < 0) {
        snprintf(z, sizeof z, "0.%.*s%.*s", -e - 1, "0000", (int)n, digit);
    } else {
        size_t o = 0;
        for (int i = 0; i <= e; i++) z[o++] = (size_t)i < n ? digit[i] : '0';
        z[o++] = '.';
        if ((size_t)e + 1 >= n) z[o++] = '0';
        for (size_t i = (size_t)e + 1; i < n; i++) z[o++] = digit[i];
        z[o] = '\0';
    }
    return mn_tpl_put_z(r, b, z, trusted);
}

static bool origin(const mn_tpl_text *t, size_t at)
{
    return t->mask ? t->mask[at] != 0 : t->trusted;
}

static bool is_printable(uint32_t cp)
{
    switch (utf8proc_category((utf8proc_int32_t)cp)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return false;
    case UTF8PROC_CATEGORY_ZS: return cp == ' ';
    default: return true;
    }
}

/* The escape of a code point in repr() or JSON, in `z`; false if it stands for itself. */
static bool escape_of(uint32_t cp, bool json, bool ascii, char quote, char z[16])
{
    static const char FROM[] = "\n\r\t\b\f", TO[] = "nrtbf";
    const char       *simple = cp && cp < 128 ? strchr(FROM, (int)cp) : NULL;
    if (cp == (uint8_t)quote || cp == '\\') {
        snprintf(z, 16, "\\%c", (int)cp);
    } else if (simple && (json || simple - FROM < 3)) {
        snprintf(z, 16, "\\%c", TO[simple - FROM]);
    } else if (json) {
        if (cp >= 0x20 && (!ascii || cp < 0x7F)) return false;
        if (cp > 0xFFFF) {
            const uint32_t v = cp - 0x10000;
            snprintf(z, 16, "\\u%04x\\u%04x", 0xD800 + (v >> 10), 0xDC00 + (v & 0x3FF));
        } else {
            snprintf(z, 16, "\\u%04x", cp);
        }
    } else {
        if (is_printable(cp)) return false;
        snprintf(z, 16, cp < 0x100 ? "\\x%02x" : cp < 0x10000 ? "\\u%04x" : "\\U%08x", cp);
    }
    return true;
}

static mnw_status put_quoted(mn_tpl_run *r, mn_tpl_buf *b, const mn_tpl_text *t, bool json,
                             bool ascii)
{
    char quote[2] = { json ? '"' : '\'', 0 };
    if (!json && t->n && memchr(t->p, '\'', t->n) && !memchr(t->p, '"', t->n)) quote[0] = '"';
    size_t plain = 0;   // start of what stands for itself
    MN_TRY(mn_tpl_put_z(r, b, quote, true));
    MN_TRY(mn_tpl_work(r, t->n / 8));
    for (size_t i = 0; i < t->n;) {
        uint32_t     cp;
        char         z[16];
        const size_t n = mn_utf8_get(t->p + i, t->n - i, &cp);
        if (escape_of(cp, json, ascii, *quote, z)) {
            MN_TRY(mn_tpl_put(r, b, mn_tpl_part(t, plain, i - plain)));
            MN_TRY(mn_tpl_put_z(r, b, z, origin(t, i)));
            plain = i + n;
        }
        i += n;
    }
    MN_TRY(mn_tpl_put(r, b, mn_tpl_part(t, plain, t->n - plain)));
    return mn_tpl_put_z(r, b, quote, true);
}

/* A value that contains no others.  `style` NULL = repr(). */
static mnw_status put_scalar(mn_tpl_run *r, mn_tpl_buf *b, mn_tpl_value v,
                             const mn_tpl_json_style *style)
{
    switch ((mn_tpl_type)v.type) {
    case MN_TPL_NONE: return mn_tpl_put_z(r, b, style ? "null" : "None", true);
    case MN_TPL_BOOL:
        return mn_tpl_put_z(r, b, style ? (v.as.b ? "true" : "false") : v.as.b ? "True" : "False",
                            true);
    case MN_TPL_INT: return put_int(r, b, v.as.i, !v.foreign);
    case MN_TPL_FLOAT: return put_float(r, b, v.as.f, style != NULL, !v.foreign);
    case MN_TPL_STR: return put_quoted(r, b, v.as.s, style != NULL, style && style->ascii);
    case MN_TPL_UNDEFINED:
        if (!style) return mn_tpl_put_z(r, b, "Undefined", true);
        break;
    default: break;
    }
    return mn_tpl_fail(r, MNW_E_TEMPLATE, "a %s cannot be written as %s", mn_tpl_type_name(v),
                       style ? "JSON" : "text");
}

/* JSON keys are strings: "1", "true", "null". */
static mnw_status put_key(mn_tpl_run *r, mn_tpl_buf *b, mn_tpl_value v,
                          const mn_tpl_json_style *style)
{
    if (!style || v.type == MN_TPL_STR) return put_scalar(r, b, v, style);
    MN_TRY(mn_tpl_put_z(r, b, "\"", true));
    MN_TRY(put_scalar(r, b, v, style));
    return mn_tpl_put_z(r, b, "\"", true);
}

static mnw_status put_line(mn_tpl_run *r, mn_tpl_buf *b, const mn_tpl_json_style *style,
                           size_t depth)
{
    if (!style || !style->indent.p) return MNW_OK;
    MN_TRY(mn_tpl_put_z(r, b, "\n", true));
    for (size_t i = 0; i < depth; i++) MN_TRY(mn_tpl_put(r, b, style->indent));
    return MNW_OK;
}

/* The entries of a dict in the order of their keys: a small insertion sort is enough for schemas. */
static mnw_status sorted_keys(mn_tpl_run *r, mn_tpl_value *v)
{
    mn_tpl_value copy;
    MN_TRY(mn_tpl_new_dict(r, MN_TPL_DICT, &copy));
    const mn_tpl_dict *d = v->as.dict;
    mn_tpl_entry      *at = d->n ? mn_tpl_push(r, d->n, sizeof *at) : NULL;
    if (d->n && !at) return mn_tpl_status(r);
    for (size_t i = 0; i < d->n; i++) {
        size_t k = i;
        bool   less = true;
        for (; k > 0; k--) {
            MN_TRY(mn_tpl_less(r, d->at[i].key, at[k - 1].key, &less));
            MN_TRY(mn_tpl_work(r, 1));
            if (!less) break;
            at[k] = at[k - 1];
        }
        at[k] = d->at[i];
    }
    copy.as.dict->at = at;
    copy.as.dict->n = copy.as.dict->cap = d->n;
    *v = copy;
    return MNW_OK;
}

static bool is_container(mn_tpl_value v)
{
    return v.type == MN_TPL_LIST || v.type == MN_TPL_TUPLE || v.type == MN_TPL_DICT;
}

static mnw_status put_value(mn_tpl_run *r, mn_tpl_buf *b, mn_tpl_value v,
                            const mn_tpl_json_style *style)
{
    struct {
        mn_tpl_value v;
        size_t       i;
    } stack[MN_TEMPLATE_DEPTH_MAX];
    const mn_tpl_text comma = { .p = ", ", .n = 2, .trusted = true };
    const mn_tpl_text colon = { .p = ": ", .n = 2, .trusted = true };
    size_t            depth = 0;
    bool              more = true;   // v is to be written
    for (;;) {
        MN_TRY(mn_tpl_work(r, 1));
        if (more && is_container(v)) {
            if (depth == MN_TEMPLATE_DEPTH_MAX) {
                return mn_tpl_fail(r, MNW_E_LIMIT, "a value nested more than %d deep is written",
                                   MN_TEMPLATE_DEPTH_MAX);
            }
            if (style && style->sort && v.type == MN_TPL_DICT) MN_TRY(sorted_keys(r, &v));
            MN_TRY(mn_tpl_put_z(r, b,
                                v.type == MN_TPL_DICT                 ? "{"
                                : v.type == MN_TPL_TUPLE && !style ? "("
                                                                      : "[",
                                true));
            stack[depth].v = v;
            stack[depth++].i = 0;
        } else if (more) {
            MN_TRY(put_scalar(r, b, v, style));
        }
        if (!depth) return MNW_OK;

        const mn_tpl_value in = stack[depth - 1].v;
        const bool         dict = in.type == MN_TPL_DICT;
        const size_t       n = dict ? in.as.dict->n : in.as.list->n;
        const size_t       i = stack[depth - 1].i++;
        more = i < n;
        if (!more) {
            depth--;
            if (n) MN_TRY(put_line(r, b, style, depth));
            if (in.type == MN_TPL_TUPLE && !style && n == 1) MN_TRY(mn_tpl_put_z(r, b, ",", true));
            MN_TRY(mn_tpl_put_z(r, b,
                                dict                                   ? "}"
                                : in.type == MN_TPL_TUPLE && !style ? ")"
                                                                       : "]",
                                true));
            continue;
        }
        if (i) MN_TRY(mn_tpl_put(r, b, style ? style->item : comma));
        MN_TRY(put_line(r, b, style, depth));
        if (dict) {
            MN_TRY(put_key(r, b, in.as.dict->at[i].key, style));
            MN_TRY(mn_tpl_put(r, b, style ? style->key : colon));
        }
        v = dict ? in.as.dict->at[i].value : in.as.list->at[i];
    }
}

mnw_status mn_tpl_print(mn_tpl_run *r, mn_tpl_buf *b, mn_tpl_value v)
{
    if (v.type == MN_TPL_STR) return mn_tpl_put(r, b, *v.as.s);
    if (v.type == MN_TPL_UNDEFINED || v.blank) return MNW_OK;
    return put_value(r, b, v, NULL);
}

mnw_status mn_tpl_to_text(mn_tpl_run *r, mn_tpl_value v, mn_tpl_value *out)
{
    mn_tpl_buf b = { 0 };
    *out = v;
    if (v.type == MN_TPL_STR) return MNW_OK;
    MN_TRY(mn_tpl_print(r, &b, v));
    return mn_tpl_buf_value(r, &b, out);
}

mnw_status mn_tpl_to_json(mn_tpl_run *r, mn_tpl_buf *b, mn_tpl_value v,
                          const mn_tpl_json_style *style)
{
    return put_value(r, b, v, style);
}
