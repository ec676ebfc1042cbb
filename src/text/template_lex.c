/* SPDX-License-Identifier: Apache-2.0
 *
 * template_lex.c - cut a template into text and the tokens of its tags.
 *
 * White space follows jinja2 with trim_blocks and lstrip_blocks:
 *
 *     text   {%- ... -%}     a minus takes all white space on its side
 *     text   {%+ ... +%}     a plus keeps it
 *     text   {%  ...  %}     else the indentation before a block tag or comment, if nothing but white
 *                            space is between it and the line's start, and one newline after it
 *     text   {{  ...  }}     as it stands
 *
 * The source has had its newlines made "\n" and its last one taken away.
 */
#include "base/utf8.h"
#include "text/template_code.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name(char c)
{
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c);
}

static bool starts(const mn_tpl_lex *lex, size_t at, const char *z)
{
    const size_t n = strlen(z);
    return at <= lex->n && lex->n - at >= n && memcmp(lex->p + at, z, n) == 0;
}

static size_t skip_space(const mn_tpl_lex *lex, size_t at)
{
    while (at < lex->n) {
        uint32_t     cp;
        const size_t n = mn_utf8_get(lex->p + at, lex->n - at, &cp);
        if (!mn_tpl_is_space(cp)) break;
        at += n;
    }
    return at;
}

static void go(mn_tpl_lex *lex, size_t to)
{
    for (; lex->at < to; lex->at++) lex->line += lex->p[lex->at] == '\n';
}

static mnw_status lex_fail(const mn_tpl_lex *lex, mn_err *err, const char *what)
{
    MN_FAIL(err, MNW_E_TEMPLATE, "chat template, line %u: %s", lex->line, what);
}

/* Where a tag that ends at `end` ("%}", "#}") lets the text go on; `at` is the first of `end`, and
 * `from` the first byte that may be its sign. */
static size_t after_block(const mn_tpl_lex *lex, size_t at, size_t from)
{
    const char sign = at > from ? lex->p[at - 1] : 0;
    at += 2;
    if (sign == '-') return skip_space(lex, at);
    if (sign != '+' && at < lex->n && lex->p[at] == '\n') at++;
    return at;
}

/* The text [from, to) in front of a tag with this sign, stripped as the sign says. */
static mn_str text_before(const mn_tpl_lex *lex, size_t from, size_t to, char sign, bool variable)
{
    mn_tpl_text t = { .p = lex->p + from, .n = to - from };
    if (sign == '-') {
        t = mn_tpl_strip(&t, NULL, 2);
    } else if (sign != '+' && !variable) {
        size_t line = to;
        while (line > from && lex->p[line - 1] != '\n') line--;
        const bool line_start = line > from || from == 0 || lex->p[from - 1] == '\n';
        if (line_start && skip_space(lex, line) >= to) t.n = line - from;
    }
    return mn_tpl_str(&t);
}

/* Is a {% raw %} at `at`?  Then *body is where its content begins. */
static bool raw_begins(const mn_tpl_lex *lex, size_t at, size_t *body)
{
    if (!starts(lex, at, "{%")) return false;
    at += 2;
    if (starts(lex, at, "-") || starts(lex, at, "+")) at++;
    at = skip_space(lex, at);
    if (!starts(lex, at, "raw")) return false;
    at = skip_space(lex, at + 3);
    if (starts(lex, at, "-%}")) {
        *body = skip_space(lex, at + 3);
        return true;
    }
    *body = at + 2;
    return starts(lex, at, "%}");
}

/* Is an {% endraw %} at `at`?  Then *after is where the text goes on. */
static bool raw_ends(const mn_tpl_lex *lex, size_t at, char *sign, size_t *after)
{
    if (!starts(lex, at, "{%")) return false;
    at += 2;
    *sign = starts(lex, at, "-") ? '-' : starts(lex, at, "+") ? '+' : 0;
    at = skip_space(lex, at + (*sign != 0));
    if (!starts(lex, at, "endraw")) return false;
    at = skip_space(lex, at + 6);
    const size_t from = at;
    if (starts(lex, at, "-") || starts(lex, at, "+")) at++;
    if (!starts(lex, at, "%}")) return false;
    *after = after_block(lex, at, from);
    return true;
}

static mnw_status lex_raw(mn_tpl_lex *lex, mn_tpl_token *out, mn_err *err)
{
    for (size_t i = lex->at; i < lex->n; i++) {
        char   sign;
        size_t after;
        if (!raw_ends(lex, i, &sign, &after)) continue;
        out->type = MN_TPL_TOK_DATA;
        out->text = text_before(lex, lex->at, i, sign, false);
        lex->raw = false;
        go(lex, after);
        return MNW_OK;
    }
    return lex_fail(lex, err, "{% raw %} without {% endraw %}");
}

static mnw_status lex_text(mn_tpl_lex *lex, mn_tpl_token *out, mn_err *err)
{
    while (lex->at < lex->n) {
        size_t s = lex->at;
        while (s < lex->n && !(lex->p[s] == '{' && s + 1 < lex->n && strchr("{%#", lex->p[s + 1]))) {
            s++;
        }
        const char kind = s < lex->n ? lex->p[s + 1] : 0;
        const char sign = s + 2 < lex->n && strchr("-+", lex->p[s + 2]) ? lex->p[s + 2] : 0;
        if (!lex->pending && s > lex->at) {
            out->type = MN_TPL_TOK_DATA;
            out->line = lex->line;
            out->text = text_before(lex, lex->at, s, kind ? sign : '+', kind == '{');
            go(lex, s);
            lex->pending = true;
            if (out->text.n) return MNW_OK;
        }
        lex->pending = false;
        if (!kind) break;

        out->line = lex->line;
        size_t body;
        if (raw_begins(lex, s, &body)) {
            go(lex, body);
            lex->raw = true;
            return lex_raw(lex, out, err);
        }
        const size_t inside = s + 2 + (sign != 0);
        if (kind == '#') {
            size_t end = inside;
            while (end < lex->n && !starts(lex, end, "#}")) end++;
            if (end >= lex->n) return lex_fail(lex, err, "a comment {# has no end");
            go(lex, after_block(lex, end, inside));
            continue;
        }
        go(lex, inside);
        lex->mode = kind == '{' ? MN_TPL_MODE_VAR : MN_TPL_MODE_BLOCK;
        lex->brackets = 0;
        out->type = kind == '{' ? MN_TPL_TOK_VAR_BEGIN : MN_TPL_TOK_BLOCK_BEGIN;
        return MNW_OK;
    }
    *out = (mn_tpl_token){ .type = MN_TPL_TOK_EOF, .line = lex->line };
    return MNW_OK;
}

static bool lex_tag_end(mn_tpl_lex *lex, mn_tpl_token *out)
{
    const bool   var = lex->mode == MN_TPL_MODE_VAR;
    const size_t from = lex->at;
    size_t       at = from;
    if (starts(lex, at, "-") || (!var && starts(lex, at, "+"))) at++;
    if (!starts(lex, at, var ? "}}" : "%}")) return false;
    out->type = var ? MN_TPL_TOK_VAR_END : MN_TPL_TOK_BLOCK_END;
    size_t to = after_block(lex, at, from);
    if (var && at == from) to = at + 2;
    go(lex, to);
    lex->mode = MN_TPL_MODE_TEXT;
    return true;
}

static size_t digits(const mn_tpl_lex *lex, size_t at)
{
    while (at < lex->n && (is_digit(lex->p[at]) ||
                           (lex->p[at] == '_' && at + 1 < lex->n && is_digit(lex->p[at + 1])))) {
        at++;
    }
    return at;
}

static void lex_number(mn_tpl_lex *lex, mn_tpl_token *out)
{
    const bool after_dot = lex->at > 0 && lex->p[lex->at - 1] == '.';
    size_t     at = digits(lex, lex->at);
    out->type = MN_TPL_TOK_INT;
    if (!after_dot && at + 1 < lex->n && lex->p[at] == '.' && is_digit(lex->p[at + 1])) {
        at = digits(lex, at + 1);
        out->type = MN_TPL_TOK_FLOAT;
    }
    if (!after_dot && at < lex->n && (lex->p[at] == 'e' || lex->p[at] == 'E')) {
        size_t e = at + 1;
        if (e < lex->n && (lex->p[e] == '+' || lex->p[e] == '-')) e++;
        if (e < lex->n && is_digit(lex->p[e])) {
            at = digits(lex, e);
            out->type = MN_TPL_TOK_FLOAT;
        }
    }
    out->text = (mn_str){ lex->p + lex->at, at - lex->at };
    go(lex, at);
}

static mnw_status lex_string(mn_tpl_lex *lex, mn_tpl_token *out, mn_err *err)
{
    const char quote = lex->p[lex->at];
    size_t     at = lex->at + 1;
    while (at < lex->n && lex->p[at] != quote) at += lex->p[at] == '\\' ? 2 : 1;
    if (at >= lex->n) return lex_fail(lex, err, "a string has no closing quote");
    out->type = MN_TPL_TOK_STRING;
    out->text = (mn_str){ lex->p + lex->at + 1, at - lex->at - 1 };
    go(lex, at + 1);
    return MNW_OK;
}

static mnw_status lex_operator(mn_tpl_lex *lex, mn_tpl_token *out, mn_err *err)
{
    static const char *const OPS[] = { "==", "!=", "<=", ">=", "//", "**", "+", "-", "*",
                                       "/",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                                       "<",  ">",  "=",  ".",  ":",  "|",  ",", ";" };
    for (size_t i = 0; i < sizeof OPS / sizeof *OPS; i++) {
        if (!starts(lex, lex->at, OPS[i])) continue;
        const char c = *OPS[i];
        if (strchr("([{", c)) lex->brackets++;
        if (strchr(")]}", c)) {
            if (!lex->brackets) return lex_fail(lex, err, "a bracket closes that was not opened");
            lex->brackets--;
        }
        out->type = MN_TPL_TOK_OP;
        out->text = (mn_str){ lex->p + lex->at, strlen(OPS[i]) };
        go(lex, lex->at + out->text.n);
        return MNW_OK;
    }
    MN_FAIL(err, MNW_E_TEMPLATE, "chat template, line %u: unexpected character '%.*s' in a tag",
            lex->line, (int)mn_utf8_get(lex->p + lex->at, lex->n - lex->at, &(uint32_t){ 0 }),
            lex->p + lex->at);
}

mnw_status mn_tpl_lex_next(mn_tpl_lex *lex, mn_tpl_token *out, mn_err *err)
{
    *out = (mn_tpl_token){ .line = lex->line };
    if (lex->mode == MN_TPL_MODE_TEXT) return lex_text(lex, out, err);

    go(lex, skip_space(lex, lex->at));
    out->line = lex->line;
    if (lex->at >= lex->n) {
        return lex_fail(lex, err, lex->mode == MN_TPL_MODE_VAR ? "{{ has no closing }}"
                                                               : "{% has no closing %}");
    }
    if (!lex->brackets && lex_tag_end(lex, out)) return MNW_OK;

    const char c = lex->p[lex->at];
    if (is_digit(c)) {
        lex_number(lex, out);
        return MNW_OK;
    }
    if (is_name(c)) {
        size_t at = lex->at;
        while (at < lex->n && is_name(lex->p[at])) at++;
        out->type = MN_TPL_TOK_NAME;
        out->text = (mn_str){ lex->p + lex->at, at - lex->at };
        go(lex, at);
        return MNW_OK;
    }
    if (c == '"' || c == '\'') return lex_string(lex, out, err);
    return lex_operator(lex, out, err);
}

static int hex_digit(char c)
{
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Python's escapes; one that is none stays as it is written. */
bool mn_tpl_unescape(mn_str lit, char *out, size_t *n)
{
    size_t o = 0;
    for (size_t i = 0; i < lit.n;) {
        if (lit.p[i] != '\\' || i + 1 >= lit.n) {
            out[o++] = lit.p[i++];
            continue;
        }
        const char        c = lit.p[i + 1];
        static const char FROM[] = "abfnrtv\\'\"", TO[] = "\a\b\f\n\r\t\v\\'\"";
        const char       *simple = strchr(FROM, c);
        const size_t      width = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
        i += 2;
        if (c && simple) {
            out[o++] = TO[simple - FROM];
        } else if (c == '\n') {
            continue;
        } else if (width) {
            uint32_t cp = 0;
            for (size_t k = 0; k < width; k++, i++) {
                const int d = i < lit.n ? hex_digit(lit.p[i]) : -1;
                if (d < 0 || cp > 0x10FFFF / 16) return false;
                cp = cp << 4 | (uint32_t)d;
            }
            if (cp > 0x10FFFF) return false;
            o += mn_utf8_put(cp, out + o);   // \xff takes 4 bytes written, at most 2 here
        } else if (c >= '0' && c <= '7') {
            uint32_t cp = (uint32_t)(c - '0');
            for (int k = 0; k < 2 && i < lit.n && lit.p[i] >= '0' && lit.p[i] <= '7'; k++, i++) {
                cp = cp << 3 | (uint32_t)(lit.p[i] - '0');
            }
            o += mn_utf8_put(cp, out + o);
        } else {
            out[o++] = '\\';
            out[o++] = c;
        }
    }
    *n = o;
    return true;
}
