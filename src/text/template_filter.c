/* SPDX-License-Identifier: Apache-2.0
 *
 * template_filter.c - filters that make text or numbers: trim, replace, tojson, int, ...
 */
#include <math.h>

#include "base/json.h"
#include "text/template_value.h"

static mnw_status self_text(mn_tpl_run *r, const mn_tpl_call *c, const mn_tpl_text **t)
{
    mn_tpl_value v;
    MN_TRY(mn_tpl_to_text(r, c->self, &v));
    *t = v.as.s;
    return MNW_OK;
}

static mnw_status trim(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    const mn_tpl_text *t, *chars = NULL;
    MN_TRY(self_text(r, c, &t));
    if (c->arg[0].type == MN_TPL_STR) chars = c->arg[0].as.s;
    MN_TRY(mn_tpl_scan(r, t->n));
    return mn_tpl_new_text(r, mn_tpl_strip(t, chars, 3), out);
}

static mnw_status recase(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_case how, mn_tpl_value *out)
{
    const mn_tpl_text *t;
    MN_TRY(self_text(r, c, &t));
    return mn_tpl_recase(r, t, how, out);
}

static mnw_status upper(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return recase(r, c, MN_TPL_UPPER, out);
}

static mnw_status lower(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return recase(r, c, MN_TPL_LOWER, out);
}

static mnw_status title(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return recase(r, c, MN_TPL_TITLE, out);
}

static mnw_status capitalize(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return recase(r, c, MN_TPL_CAPITAL, out);
}

static mnw_status replace(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    const mn_tpl_text *t;
    mn_tpl_value       from, to;
    int64_t            most;
    MN_TRY(self_text(r, c, &t));
    MN_TRY(mn_tpl_to_text(r, c->arg[0], &from));
    MN_TRY(mn_tpl_to_text(r, c->arg[1], &to));
    MN_TRY(mn_tpl_want_int(r, c->arg[2], -1, &most));
    return mn_tpl_replace(r, t, from.as.s, to.as.s, most, out);
}

static mnw_status string(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return mn_tpl_to_text(r, c->self, out);
}

static mnw_status same(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    *out = c->self;
    return MNW_OK;
}

static mnw_status default_to(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    const bool use = c->self.type == MN_TPL_UNDEFINED ||
                     (mn_tpl_true(c->arg[1]) && !mn_tpl_true(c->self));
    *out = c->self;
    if (!use) return MNW_OK;
    *out = c->arg[0];
    if (out->type != MN_TPL_ABSENT) return MNW_OK;
    return mn_tpl_new_text(r, (mn_tpl_text){ .p = "", .trusted = true }, out);
}

/* One piece of `s`, up to a newline, which *at passes. */
static mn_tpl_text next_line(const mn_tpl_text *s, size_t *at)
{
    const size_t from = *at;
    size_t       end = from;
    while (end < s->n && s->p[end] != '\n' && s->p[end] != '\r') end++;
    *at = end + 1 + (end + 1 < s->n && s->p[end] == '\r' && s->p[end + 1] == '\n');
    return mn_tpl_part(s, from, end - from);
}

static mnw_status indent(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    const mn_tpl_text *s;
    mn_tpl_text        by = { .p = " ", .n = 1, .trusted = true };
    int64_t            width = 1;
    mn_tpl_buf         b = { 0 };
    MN_TRY(mn_tpl_want_text(r, c->self, &s));
    if (c->arg[0].type == MN_TPL_STR) by = *c->arg[0].as.s;
    else MN_TRY(mn_tpl_want_int(r, c->arg[0], 4, &width));
    const bool first = mn_tpl_true(c->arg[1]), blank = mn_tpl_true(c->arg[2]);
    size_t     at = 0;
    for (size_t line = 0; at <= s->n; line++) {
        const mn_tpl_text text = next_line(s, &at);
        if (line) MN_TRY(mn_tpl_put_z(r, &b, "\n", true));
        const bool pad = line ? blank || text.n : first;
        for (int64_t i = 0; pad && i < width; i++) MN_TRY(mn_tpl_put(r, &b, by));
        MN_TRY(mn_tpl_put(r, &b, text));
        MN_TRY(mn_tpl_work(r, 1));
    }
    return mn_tpl_buf_value(r, &b, out);
}

static mnw_status tojson(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    mn_tpl_json_style style = { .ascii = mn_tpl_true(c->arg[0]), .sort = mn_tpl_true(c->arg[3]) };
    mn_tpl_buf        spaces = { 0 }, b = { 0 };
    style.item = (mn_tpl_text){ .p = ", ", .n = 2, .trusted = true };
    style.key = (mn_tpl_text){ .p = ": ", .n = 2, .trusted = true };
    if (c->arg[1].type == MN_TPL_STR) {
        style.indent = *c->arg[1].as.s;
    } else if (c->arg[1].type != MN_TPL_ABSENT && c->arg[1].type != MN_TPL_NONE) {
        int64_t n;
        MN_TRY(mn_tpl_want_int(r, c->arg[1], 0, &n));
        if (n > 64) return mn_tpl_fail(r, MNW_E_LIMIT, "tojson: indent of more than 64");
        for (int64_t i = 0; i < n; i++) MN_TRY(mn_tpl_put_z(r, &spaces, " ", true));
        style.indent = mn_tpl_buf_text(&spaces, 0);
    }
    if (style.indent.p) style.item.n = 1;
    if (c->arg[2].type == MN_TPL_LIST || c->arg[2].type == MN_TPL_TUPLE) {
        const mn_tpl_list *l = c->arg[2].as.list;
        if (l->n != 2 || l->at[0].type != MN_TPL_STR || l->at[1].type != MN_TPL_STR) {
            return mn_tpl_fail(r, MNW_E_TEMPLATE, "tojson: separators are two strings");
        }
        style.item = *l->at[0].as.s;
        style.key = *l->at[1].as.s;
    }
    MN_TRY(mn_tpl_to_json(r, &b, c->self, &style));
    return mn_tpl_buf_value(r, &b, out);
}

/* The number a text stands for: NONE if it stands for none. */
static mn_tpl_value number_of(const mn_tpl_text *text)
{
    const mn_tpl_text t = mn_tpl_strip(text, NULL, 3);
    const bool        minus = t.n && t.p[0] == '-', sign = minus || (t.n && t.p[0] == '+');
    size_t            at = sign;
    while (at + 1 < t.n && t.p[at] == '0' && t.p[at + 1] >= '0' && t.p[at + 1] <= '9') at++;
    mn_json j;
    mn_json_init(&j, (mn_bytes){ (const uint8_t *)t.p + at, t.n - at });
    const bool   digit = at < t.n && t.p[at] >= '0' && t.p[at] <= '9';
    int64_t      i;
    mn_tpl_value v = mn_tpl_none();
    if (digit && mn_json_next(&j) == MN_JSON_NUMBER) {
        const bool whole = mn_json_i64(&j, &i);
        v = whole ? mn_tpl_int(minus ? -i : i)
                  : mn_tpl_float(minus ? -mn_json_f64(&j) : mn_json_f64(&j));
        if (mn_json_next(&j) != MN_JSON_END) v = mn_tpl_none();
    }
    v.foreign = !text->trusted || text->mask;
    return v;
}

static mnw_status to_int(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    mn_tpl_value v = c->self;
    if (v.type == MN_TPL_STR) v = number_of(v.as.s);
    if (v.type == MN_TPL_BOOL) v = mn_tpl_int(v.as.b);
    if (v.type == MN_TPL_FLOAT && v.as.f > -9e18 && v.as.f < 9e18) {
        const bool foreign = v.foreign;
        v = mn_tpl_int((int64_t)v.as.f);
        v.foreign = foreign;
    }
    *out = v.type == MN_TPL_INT ? v : c->arg[0].type == MN_TPL_ABSENT ? mn_tpl_int(0) : c->arg[0];
    return MNW_OK;
}

static mnw_status to_float(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    mn_tpl_value v = c->self;
    if (v.type == MN_TPL_STR) v = number_of(v.as.s);
    if (mn_tpl_is_number(v)) {
        *out = mn_tpl_float(mn_tpl_number(v));
        out->foreign = v.foreign;
    } else {
        *out = c->arg[0].type == MN_TPL_ABSENT ? mn_tpl_float(0.0) : c->arg[0];
    }
    return MNW_OK;
}

static mnw_status absolute(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return mn_tpl_negate(r, c->self, mn_tpl_is_number(c->self) && mn_tpl_number(c->self) < 0.0, out);
}

static mnw_status round_to(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    int64_t      digits;
    const double f = mn_tpl_is_number(c->self) ? mn_tpl_number(c->self) : 0.0;
    MN_TRY(mn_tpl_want_int(r, c->arg[0], 0, &digits));
    if (!mn_tpl_is_number(c->self) || digits < 0 || digits > 15) {
        return mn_tpl_fail(r, MNW_E_TEMPLATE, "round: expected a number and 0 to 15 digits");
    }
    const double       scale = pow(10.0, (double)digits);
    const mn_tpl_text *how;
    if (c->arg[1].type != MN_TPL_ABSENT) {
        MN_TRY(mn_tpl_want_text(r, c->arg[1], &how));
        const bool ceil_it = mn_str_is(mn_tpl_str(how), "ceil");
        if (!ceil_it && !mn_str_is(mn_tpl_str(how), "floor")) {
            return mn_tpl_fail(r, MNW_E_TEMPLATE, "round: the method is 'ceil' or 'floor'");
        }
        *out = mn_tpl_float((ceil_it ? ceil(f * scale) : floor(f * scale)) / scale);
    } else {
        *out = mn_tpl_float(nearbyint(f * scale) / scale);
    }
    out->foreign = c->self.foreign;
    return MNW_OK;
}

const mn_tpl_native *mn_tpl_filter_of_text(mn_str name)
{
    static const mn_tpl_native FILTERS[] = {
        { "trim", trim, 0, "chars", 0 },
        { "upper", upper, 0, "", 0 },
        { "lower", lower, 0, "", 0 },
        { "title", title, 0, "", 0 },
        { "capitalize", capitalize, 0, "", 0 },
        { "replace", replace, 2, "old new count", 0 },
        { "string", string, 0, "", 0 },
        { "safe", same, 0, "", 0 },
        { "default", default_to, 0, "default_value boolean", 0 },
        { "d", default_to, 0, "default_value boolean", 0 },
        { "indent", indent, 0, "width first blank", 0 },
        { "tojson", tojson, 0, "ensure_ascii indent separators sort_keys", 0 },
        { "int", to_int, 0, "default", 0 },
        { "float", to_float, 0, "default", 0 },
        { "abs", absolute, 0, "", 0 },
        { "round", round_to, 0, "precision method", 0 },
    };
    return mn_tpl_native_in(FILTERS, sizeof FILTERS / sizeof *FILTERS, name);
}

const mn_tpl_native *mn_tpl_filter(mn_str name)
{
    const mn_tpl_native *f = mn_tpl_filter_of_text(name);
    return f ? f : mn_tpl_filter_of_lists(name);
}
