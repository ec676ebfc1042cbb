/* SPDX-License-Identifier: Apache-2.0
 *
 * template_method.c - the methods of strings, mappings, lists and `loop` that templates call.
 *
 * Nothing that would change a value is here: the sandbox of transformers forbids it, too.
 */
#include "base/utf8.h"
#include "text/template_value.h"

static mnw_status strip_sides(mn_tpl_run *r, const mn_tpl_call *c, int sides, mn_tpl_value *out)
{
    const mn_tpl_text *t, *chars = NULL;
    MN_TRY(mn_tpl_want_text(r, c->self, &t));
    if (c->arg[0].type != MN_TPL_ABSENT && c->arg[0].type != MN_TPL_NONE) {
        MN_TRY(mn_tpl_want_text(r, c->arg[0], &chars));
    }
    MN_TRY(mn_tpl_scan(r, t->n));
    return mn_tpl_new_text(r, mn_tpl_strip(t, chars, sides), out);
}

static mnw_status str_strip(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return strip_sides(r, c, 3, out);
}

static mnw_status str_lstrip(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return strip_sides(r, c, 1, out);
}

static mnw_status str_rstrip(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return strip_sides(r, c, 2, out);
}

static mnw_status add_part(mn_tpl_run *r, mn_tpl_list *l, const mn_tpl_text *t, size_t from,
                           size_t to)
{
    mn_tpl_value v;
    MN_TRY(mn_tpl_work(r, 1));
    MN_TRY(mn_tpl_new_text(r, mn_tpl_part(t, from, to - from), &v));
    return mn_tpl_add(r, l, v);
}

static size_t skip_while(const mn_tpl_text *t, size_t at, bool space)
{
    while (at < t->n) {
        uint32_t     cp;
        const size_t n = mn_utf8_get(t->p + at, t->n - at, &cp);
        if (mn_tpl_is_space(cp) != space) break;
        at += n;
    }
    return at;
}

/* split() at runs of white space; the rest after `most` cuts keeps its own. */
static mnw_status split_space(mn_tpl_run *r, const mn_tpl_text *t, int64_t most, mn_tpl_list *l)
{
    for (size_t at = skip_while(t, 0, true); at < t->n;) {
        size_t end = skip_while(t, at, false);
        if (most >= 0 && (int64_t)l->n == most) end = t->n;
        MN_TRY(add_part(r, l, t, at, end));
        if (most >= 0 && (int64_t)l->n == most + 1) break;
        at = skip_while(t, end, true);
    }
    return MNW_OK;
}

static mnw_status str_split(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    const mn_tpl_text *t, *sep;
    int64_t            most;
    MN_TRY(mn_tpl_want_text(r, c->self, &t));
    MN_TRY(mn_tpl_want_int(r, c->arg[1], -1, &most));
    MN_TRY(mn_tpl_new_list(r, MN_TPL_LIST, 0, out));
    if (c->arg[0].type == MN_TPL_ABSENT || c->arg[0].type == MN_TPL_NONE) {
        MN_TRY(mn_tpl_scan(r, t->n));
        return split_space(r, t, most, out->as.list);
    }
    MN_TRY(mn_tpl_want_text(r, c->arg[0], &sep));
    if (!sep->n) return mn_tpl_fail(r, MNW_E_TEMPLATE, "split: empty separator");
    size_t at = 0;
    for (int64_t k = 0; most < 0 || k < most; k++) {
        size_t pos;
        MN_TRY(mn_tpl_search(r, mn_tpl_str(t), at, mn_tpl_str(sep), &pos));
        if (pos == t->n) break;
        MN_TRY(add_part(r, out->as.list, t, at, pos));
        at = pos + sep->n;
    }
    return add_part(r, out->as.list, t, at, t->n);
}

static mnw_status str_splitlines(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    const mn_tpl_text *t;
    MN_TRY(mn_tpl_want_text(r, c->self, &t));
    MN_TRY(mn_tpl_new_list(r, MN_TPL_LIST, 0, out));
    for (size_t at = 0; at < t->n;) {
        size_t end = at;
        while (end < t->n && t->p[end] != '\n' && t->p[end] != '\r') end++;
        MN_TRY(add_part(r, out->as.list, t, at, end));
        at = end + 1 + (end + 1 < t->n && t->p[end] == '\r' && t->p[end + 1] == '\n');
    }
    return mn_tpl_scan(r, t->n);
}

/* startswith, endswith: one text or a tuple of them. */
static mnw_status has_edge(mn_tpl_run *r, const mn_tpl_call *c, bool at_end, mn_tpl_value *out)
{
    const mn_tpl_text *t, *edge;
    const bool         many = c->arg[0].type == MN_TPL_TUPLE;
    const size_t       n = many ? c->arg[0].as.list->n : 1;
    MN_TRY(mn_tpl_want_text(r, c->self, &t));
    *out = mn_tpl_bool(false);
    for (size_t i = 0; i < n && !out->as.b; i++) {
        MN_TRY(mn_tpl_want_text(r, many ? c->arg[0].as.list->at[i] : c->arg[0], &edge));
        MN_TRY(mn_tpl_scan(r, edge->n));
        if (edge->n > t->n) continue;
        const char *p = at_end ? t->p + t->n - edge->n : t->p;
        out->as.b = !edge->n || memcmp(p, edge->p, edge->n) == 0;
    }
    return MNW_OK;
}

static mnw_status str_startswith(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return has_edge(r, c, false, out);
}

static mnw_status str_endswith(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return has_edge(r, c, true, out);
}

static mnw_status remove_edge(mn_tpl_run *r, const mn_tpl_call *c, bool at_end, mn_tpl_value *out)
{
    mn_tpl_value       has;
    const mn_tpl_text *t, *edge;
    MN_TRY(has_edge(r, c, at_end, &has));
    MN_TRY(mn_tpl_want_text(r, c->self, &t));
    MN_TRY(mn_tpl_want_text(r, c->arg[0], &edge));
    const size_t cut = has.as.b ? edge->n : 0;
    return mn_tpl_new_text(r, mn_tpl_part(t, at_end ? 0 : cut, t->n - cut), out);
}

static mnw_status str_removeprefix(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return remove_edge(r, c, false, out);
}

static mnw_status str_removesuffix(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return remove_edge(r, c, true, out);
}

static mnw_status str_replace(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    const mn_tpl_text *t, *from, *to;
    int64_t            most;
    MN_TRY(mn_tpl_want_text(r, c->self, &t));
    MN_TRY(mn_tpl_want_text(r, c->arg[0], &from));
    MN_TRY(mn_tpl_want_text(r, c->arg[1], &to));
    MN_TRY(mn_tpl_want_int(r, c->arg[2], -1, &most));
    return mn_tpl_replace(r, t, from, to, most, out);
}

static mnw_status recased(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_case how, mn_tpl_value *out)
{
    const mn_tpl_text *t;
    MN_TRY(mn_tpl_want_text(r, c->self, &t));
    return mn_tpl_recase(r, t, how, out);
}

static mnw_status str_upper(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return recased(r, c, MN_TPL_UPPER, out);
}

static mnw_status str_lower(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return recased(r, c, MN_TPL_LOWER, out);
}

static mnw_status str_title(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return recased(r, c, MN_TPL_TITLE_METHOD, out);
}

static mnw_status str_capitalize(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return recased(r, c, MN_TPL_CAPITAL, out);
}

static mnw_status str_join(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    const mn_tpl_text *sep, *piece;
    const mn_tpl_list *items;
    mn_tpl_buf         b = { 0 };
    MN_TRY(mn_tpl_want_text(r, c->self, &sep));
    MN_TRY(mn_tpl_items(r, c->arg[0], &items));
    for (size_t i = 0; i < items->n; i++) {
        MN_TRY(mn_tpl_work(r, 1));
        if (i) MN_TRY(mn_tpl_put(r, &b, *sep));
        MN_TRY(mn_tpl_want_text(r, items->at[i], &piece));
        MN_TRY(mn_tpl_put(r, &b, *piece));
    }
    return mn_tpl_buf_value(r, &b, out);
}

static mnw_status str_find(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    const mn_tpl_text *t, *what;
    size_t             pos;
    MN_TRY(mn_tpl_want_text(r, c->self, &t));
    MN_TRY(mn_tpl_want_text(r, c->arg[0], &what));
    MN_TRY(mn_tpl_search(r, mn_tpl_str(t), 0, mn_tpl_str(what), &pos));
    const mn_tpl_text before = mn_tpl_part(t, 0, pos);
    *out = mn_tpl_int(pos == t->n && what->n ? -1 : (int64_t)mn_tpl_chars(&before));
    return mn_tpl_scan(r, pos);
}

static mnw_status str_count(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    const mn_tpl_text *t, *what;
    int64_t            n = 0;
    MN_TRY(mn_tpl_want_text(r, c->self, &t));
    MN_TRY(mn_tpl_want_text(r, c->arg[0], &what));
    *out = mn_tpl_int((int64_t)mn_tpl_chars(t) + 1);
    if (!what->n) return MNW_OK;
    for (size_t at = 0;;) {
        MN_TRY(mn_tpl_search(r, mn_tpl_str(t), at, mn_tpl_str(what), &at));
        if (at == t->n) break;
        at += what->n;
        n++;
        MN_TRY(mn_tpl_work(r, 1));
    }
    *out = mn_tpl_int(n);
    return MNW_OK;
}

static mnw_status str_isdigit(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    const mn_tpl_text *t;
    MN_TRY(mn_tpl_want_text(r, c->self, &t));
    *out = mn_tpl_bool(t->n > 0);
    for (size_t i = 0; i < t->n; i++) out->as.b &= t->p[i] >= '0' && t->p[i] <= '9';
    return mn_tpl_scan(r, t->n);
}

static mnw_status str_isspace(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    const mn_tpl_text *t;
    MN_TRY(mn_tpl_want_text(r, c->self, &t));
    *out = mn_tpl_bool(t->n > 0 && skip_while(t, 0, true) == t->n);
    return mn_tpl_scan(r, t->n);
}

static mnw_status dict_get(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    mn_tpl_value *found;
    MN_TRY(mn_tpl_find(r, c->self.as.dict, c->arg[0], &found));
    *out = found ? *found : c->arg[1].type == MN_TPL_ABSENT ? mn_tpl_none() : c->arg[1];
    return MNW_OK;
}

static mnw_status dict_keys(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return mn_tpl_invoke(r, mn_tpl_filter_of_lists(mn_str_of("list")),
                         &(mn_tpl_call){ .self = c->self }, out);
}

static mnw_status dict_items(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return mn_tpl_invoke(r, mn_tpl_filter_of_lists(mn_str_of("items")),
                         &(mn_tpl_call){ .self = c->self }, out);
}

static mnw_status dict_values(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    const mn_tpl_dict *d = c->self.as.dict;
    MN_TRY(mn_tpl_work(r, d->n));
    MN_TRY(mn_tpl_new_list(r, MN_TPL_LIST, d->n, out));
    for (size_t i = 0; i < d->n; i++) MN_TRY(mn_tpl_add(r, out->as.list, d->at[i].value));
    return MNW_OK;
}

static mnw_status list_index(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    const mn_tpl_list *l = c->self.as.list;
    for (size_t i = 0; i < l->n; i++) {
        bool is;
        MN_TRY(mn_tpl_work(r, 1));
        MN_TRY(mn_tpl_equal(r, l->at[i], c->arg[0], &is));
        *out = mn_tpl_int((int64_t)i);
        if (is) return MNW_OK;
    }
    return mn_tpl_fail(r, MNW_E_TEMPLATE, "index: the value is not in the list");
}

static mnw_status list_count(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    const mn_tpl_list *l = c->self.as.list;
    int64_t            n = 0;
    for (size_t i = 0; i < l->n; i++) {
        bool is;
        MN_TRY(mn_tpl_work(r, 1));
        MN_TRY(mn_tpl_equal(r, l->at[i], c->arg[0], &is));
        n += is;
    }
    *out = mn_tpl_int(n);
    return MNW_OK;
}

static mnw_status loop_cycle(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    if (!c->n_pos) return mn_tpl_fail(r, MNW_E_TEMPLATE, "loop.cycle() without values");
    *out = c->pos[(c->self.as.loop->next - 1) % c->n_pos];
    return MNW_OK;
}

static mnw_status loop_changed(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    bool same = false;
    MN_TRY(mn_tpl_equal(r, c->self.as.loop->last, c->arg[0], &same));
    c->self.as.loop->last = c->arg[0];
    *out = mn_tpl_bool(!same);
    return MNW_OK;
}

const mn_tpl_native *mn_tpl_method(mn_tpl_value self, mn_str name)
{
    static const mn_tpl_native METHODS[] = {
        { "strip", str_strip, 0, "chars", MN_TPL_ON_STR },
        { "lstrip", str_lstrip, 0, "chars", MN_TPL_ON_STR },
        { "rstrip", str_rstrip, 0, "chars", MN_TPL_ON_STR },
        { "split", str_split, 0, "sep maxsplit", MN_TPL_ON_STR },
        { "splitlines", str_splitlines, 0, "", MN_TPL_ON_STR },
        { "startswith", str_startswith, 1, "prefix", MN_TPL_ON_STR },
        { "endswith", str_endswith, 1, "suffix", MN_TPL_ON_STR },
        { "removeprefix", str_removeprefix, 1, "prefix", MN_TPL_ON_STR },
        { "removesuffix", str_removesuffix, 1, "suffix", MN_TPL_ON_STR },
        { "replace", str_replace, 2, "old new count", MN_TPL_ON_STR },
        { "upper", str_upper, 0, "", MN_TPL_ON_STR },
        { "lower", str_lower, 0, "", MN_TPL_ON_STR },
        { "title", str_title, 0, "", MN_TPL_ON_STR },
        { "capitalize", str_capitalize, 0, "", MN_TPL_ON_STR },
        { "join", str_join, 1, "iterable", MN_TPL_ON_STR },
        { "find", str_find, 1, "sub", MN_TPL_ON_STR },
        { "count", str_count, 1, "sub", MN_TPL_ON_STR },
        { "isdigit", str_isdigit, 0, "", MN_TPL_ON_STR },
        { "isspace", str_isspace, 0, "", MN_TPL_ON_STR },
        { "get", dict_get, 1, "key default", MN_TPL_ON_DICT },
        { "keys", dict_keys, 0, "", MN_TPL_ON_DICT },
        { "values", dict_values, 0, "", MN_TPL_ON_DICT },
        { "items", dict_items, 0, "", MN_TPL_ON_DICT },
        { "index", list_index, 1, "value", MN_TPL_ON_LIST },
        { "count", list_count, 1, "value", MN_TPL_ON_LIST },
        { "cycle", loop_cycle, 0, NULL, MN_TPL_ON_LOOP },
        { "changed", loop_changed, 1, "value", MN_TPL_ON_LOOP },
    };
    const int on = self.type == MN_TPL_STR || self.blank                         ? MN_TPL_ON_STR
                   : self.type == MN_TPL_DICT                                    ? MN_TPL_ON_DICT
                   : self.type == MN_TPL_LIST || self.type == MN_TPL_TUPLE ? MN_TPL_ON_LIST
                   : self.type == MN_TPL_LOOP                                    ? MN_TPL_ON_LOOP
                                                                                 : 0;
    for (size_t i = 0; i < sizeof METHODS / sizeof *METHODS; i++) {
        if (METHODS[i].types & on && mn_str_is(name, METHODS[i].name)) return &METHODS[i];
    }
    return NULL;
}
