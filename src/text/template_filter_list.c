/* SPDX-License-Identifier: Apache-2.0
 *
 * template_filter_list.c - filters over sequences: join, map, select, sort, ...
 */
#include "text/template_value.h"

static mnw_status length(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    int64_t n;
    MN_TRY(mn_tpl_length(r, c->self, &n));
    *out = mn_tpl_int(n);
    return MNW_OK;
}

static mnw_status join(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    const mn_tpl_list *items;
    mn_tpl_buf         b = { 0 };
    MN_TRY(mn_tpl_items(r, c->self, &items));
    for (size_t i = 0; i < items->n; i++) {
        mn_tpl_value v = items->at[i];
        MN_TRY(mn_tpl_work(r, 1));
        if (mn_tpl_true(c->arg[1])) MN_TRY(mn_tpl_path(r, v, c->arg[1], &v));
        if (i && c->arg[0].type != MN_TPL_ABSENT) MN_TRY(mn_tpl_print(r, &b, c->arg[0]));
        MN_TRY(mn_tpl_print(r, &b, v));
    }
    return mn_tpl_buf_value(r, &b, out);
}

static mnw_status first(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    const mn_tpl_list *items;
    MN_TRY(mn_tpl_items(r, c->self, &items));
    *out = items->n ? items->at[0] : mn_tpl_undefined(NULL);
    return MNW_OK;
}

static mnw_status last(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    const mn_tpl_list *items;
    MN_TRY(mn_tpl_items(r, c->self, &items));
    *out = items->n ? items->at[items->n - 1] : mn_tpl_undefined(NULL);
    return MNW_OK;
}

static mnw_status list(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    const mn_tpl_list *items;
    MN_TRY(mn_tpl_items(r, c->self, &items));
    MN_TRY(mn_tpl_work(r, items->n / 8));
    MN_TRY(mn_tpl_new_list(r, MN_TPL_LIST, items->n, out));
    if (items->n) memcpy(out->as.list->at, items->at, items->n * sizeof *items->at);
    out->as.list->n = items->n;
    return MNW_OK;
}

static mnw_status add_pair(mn_tpl_run *r, mn_tpl_list *to, const mn_tpl_entry *e)
{
    mn_tpl_value pair;
    MN_TRY(mn_tpl_work(r, 1));
    MN_TRY(mn_tpl_new_list(r, MN_TPL_TUPLE, 2, &pair));
    MN_TRY(mn_tpl_add(r, pair.as.list, e->key));
    MN_TRY(mn_tpl_add(r, pair.as.list, e->value));
    return mn_tpl_add(r, to, pair);
}

static mnw_status items(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    MN_TRY(mn_tpl_new_list(r, MN_TPL_LIST, 0, out));
    if (c->self.type == MN_TPL_UNDEFINED) return MNW_OK;
    if (c->self.type != MN_TPL_DICT) {
        return mn_tpl_fail(r, MNW_E_TEMPLATE, "items: expected a mapping, got a %s",
                           mn_tpl_type_name(c->self));
    }
    for (size_t i = 0; i < c->self.as.dict->n; i++) {
        MN_TRY(add_pair(r, out->as.list, &c->self.as.dict->at[i]));
    }
    return MNW_OK;
}

static mnw_status reverse(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    const mn_tpl_value all[3] = { mn_tpl_none(), mn_tpl_none(), mn_tpl_int(-1) };
    if (c->self.type == MN_TPL_STR) return mn_tpl_slice(r, c->self, all, out);
    mn_tpl_value v;
    MN_TRY(list(r, c, &v));
    return mn_tpl_slice(r, v, all, out);
}

/* What sort and its kin compare: an attribute, in lower case unless asked otherwise. */
static mnw_status sort_key(mn_tpl_run *r, mn_tpl_value v, mn_tpl_value attribute,
                           bool case_sensitive, mn_tpl_value *out)
{
    *out = v;
    if (attribute.type != MN_TPL_ABSENT && attribute.type != MN_TPL_NONE) {
        MN_TRY(mn_tpl_path(r, v, attribute, out));
    }
    if (out->type != MN_TPL_STR || case_sensitive) return MNW_OK;
    return mn_tpl_recase(r, out->as.s, MN_TPL_LOWER, out);
}

/* Sort values by their keys: bottom-up merging, equal ones keep their order. */
static mnw_status sort_by(mn_tpl_run *r, mn_tpl_entry *at, size_t n, bool reverse_order)
{
    mn_tpl_entry *other = mn_tpl_push(r, n + 1, sizeof *other);
    if (!other) return mn_tpl_status(r);
    mn_tpl_entry *from = at, *to = other;
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t low = 0; low < n; low += 2 * width) {
            const size_t mid = low + width < n ? low + width : n;
            const size_t high = low + 2 * width < n ? low + 2 * width : n;
            size_t       a = low, b = mid;
            for (size_t o = low; o < high; o++) {
                bool right = a == mid;
                if (!right && b < high) {
                    MN_TRY(mn_tpl_work(r, 1));
                    MN_TRY(reverse_order ? mn_tpl_less(r, from[a].key, from[b].key, &right)
                                         : mn_tpl_less(r, from[b].key, from[a].key, &right));
                }
                to[o] = from[right ? b++ : a++];
            }
        }
        mn_tpl_entry *swap = from;
        from = to;
        to = swap;
    }
    if (from != at && n) memcpy(at, from, n * sizeof *at);
    return MNW_OK;
}

static mnw_status keyed(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value attribute,
                        bool case_sensitive, mn_tpl_entry **at, size_t *n)
{
    const mn_tpl_list *in;
    MN_TRY(mn_tpl_items(r, c->self, &in));
    *n = in->n;
    *at = mn_tpl_push(r, in->n + 1, sizeof **at);
    if (!*at) return mn_tpl_status(r);
    for (size_t i = 0; i < in->n; i++) {
        MN_TRY(mn_tpl_work(r, 1));
        (*at)[i].value = in->at[i];
        MN_TRY(sort_key(r, in->at[i], attribute, case_sensitive, &(*at)[i].key));
    }
    return MNW_OK;
}

static mnw_status sort(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    mn_tpl_entry *at;
    size_t        n;
    MN_TRY(keyed(r, c, c->arg[2], mn_tpl_true(c->arg[1]), &at, &n));
    MN_TRY(sort_by(r, at, n, mn_tpl_true(c->arg[0])));
    MN_TRY(mn_tpl_new_list(r, MN_TPL_LIST, n, out));
    for (size_t i = 0; i < n; i++) MN_TRY(mn_tpl_add(r, out->as.list, at[i].value));
    return MNW_OK;
}

static mnw_status unique(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    mn_tpl_entry *at;
    size_t        n;
    mn_tpl_value  seen, *found;
    MN_TRY(keyed(r, c, c->arg[1], mn_tpl_true(c->arg[0]), &at, &n));
    MN_TRY(mn_tpl_new_dict(r, MN_TPL_DICT, &seen));
    MN_TRY(mn_tpl_new_list(r, MN_TPL_LIST, 0, out));
    for (size_t i = 0; i < n; i++) {
        MN_TRY(mn_tpl_find(r, seen.as.dict, at[i].key, &found));
        if (found) continue;
        MN_TRY(mn_tpl_set(r, seen.as.dict, at[i].key, mn_tpl_none()));
        MN_TRY(mn_tpl_add(r, out->as.list, at[i].value));
    }
    return MNW_OK;
}

static mnw_status extreme(mn_tpl_run *r, const mn_tpl_call *c, bool want_max, mn_tpl_value *out)
{
    mn_tpl_entry *at;
    size_t        n, best = 0;
    MN_TRY(keyed(r, c, c->arg[1], mn_tpl_true(c->arg[0]), &at, &n));
    for (size_t i = 1; i < n; i++) {
        bool better;
        MN_TRY(want_max ? mn_tpl_less(r, at[best].key, at[i].key, &better)
                        : mn_tpl_less(r, at[i].key, at[best].key, &better));
        if (better) best = i;
    }
    *out = n ? at[best].value : mn_tpl_undefined(NULL);
    return MNW_OK;
}

static mnw_status min_of(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return extreme(r, c, false, out);
}

static mnw_status max_of(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return extreme(r, c, true, out);
}

static mnw_status sum(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    const mn_tpl_list *in;
    MN_TRY(mn_tpl_items(r, c->self, &in));
    *out = c->arg[1].type == MN_TPL_ABSENT ? mn_tpl_int(0) : c->arg[1];
    for (size_t i = 0; i < in->n; i++) {
        mn_tpl_value v = in->at[i];
        MN_TRY(mn_tpl_work(r, 1));
        if (mn_tpl_true(c->arg[0])) MN_TRY(mn_tpl_path(r, v, c->arg[0], &v));
        MN_TRY(mn_tpl_binary(r, MN_TPL_OP_ADD, *out, v, out));
    }
    return MNW_OK;
}

static mnw_status dictsort(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    const bool         sensitive = mn_tpl_true(c->arg[0]), backwards = mn_tpl_true(c->arg[2]);
    bool               by_value = false;
    const mn_tpl_text *by;
    if (c->arg[1].type != MN_TPL_ABSENT) {
        MN_TRY(mn_tpl_want_text(r, c->arg[1], &by));
        by_value = mn_str_is(mn_tpl_str(by), "value");
    }
    mn_tpl_value pairs;
    if (c->self.type == MN_TPL_UNDEFINED) {
        return mn_tpl_fail(r, MNW_E_TEMPLATE, "dictsort: the mapping is undefined");
    }
    MN_TRY(items(r, c, &pairs));
    const mn_tpl_call of_pairs = { .self = pairs };
    mn_tpl_entry     *at;
    size_t            n;
    MN_TRY(keyed(r, &of_pairs, mn_tpl_int(by_value), sensitive, &at, &n));
    MN_TRY(sort_by(r, at, n, backwards));
    MN_TRY(mn_tpl_new_list(r, MN_TPL_LIST, n, out));
    for (size_t i = 0; i < n; i++) MN_TRY(mn_tpl_add(r, out->as.list, at[i].value));
    return MNW_OK;
}

/* The test named by argument `first_arg` of select and its kin, or plain truth. */
static mnw_status holds(mn_tpl_run *r, const mn_tpl_call *c, size_t name_at, mn_tpl_value v,
                        bool *out)
{
    if (c->n_pos <= name_at) {
        *out = mn_tpl_true(v);
        return MNW_OK;
    }
    const mn_tpl_text *name;
    mn_tpl_value       is = mn_tpl_bool(false);
    MN_TRY(mn_tpl_want_text(r, c->pos[name_at], &name));
    const mn_tpl_native *test = mn_tpl_test(mn_tpl_str(name));
    if (!test) {
        return mn_tpl_fail(r, MNW_E_TEMPLATE, "test '%.*s' is not supported",
                           MN_STR(mn_tpl_str(name)));
    }
    mn_tpl_call t = { .self = v, .pos = c->pos + name_at + 1, .n_pos = c->n_pos - name_at - 1 };
    MN_TRY(mn_tpl_invoke(r, test, &t, &is));
    *out = is.as.b;
    return MNW_OK;
}

static mnw_status choose(mn_tpl_run *r, const mn_tpl_call *c, bool by_attr, bool want,
                         mn_tpl_value *out)
{
    const mn_tpl_list *in;
    if (by_attr && !c->n_pos) {
        return mn_tpl_fail(r, MNW_E_TEMPLATE, "selectattr and rejectattr need an attribute");
    }
    MN_TRY(mn_tpl_new_list(r, MN_TPL_LIST, 0, out));
    if (!mn_tpl_true(c->self)) return MNW_OK;   // also what cannot be iterated over
    MN_TRY(mn_tpl_items(r, c->self, &in));
    for (size_t i = 0; i < in->n; i++) {
        mn_tpl_value v = in->at[i];
        bool         is = false;
        MN_TRY(mn_tpl_work(r, 2));
        if (by_attr) MN_TRY(mn_tpl_path(r, v, c->pos[0], &v));
        MN_TRY(holds(r, c, by_attr, v, &is));
        if (is == want) MN_TRY(mn_tpl_add(r, out->as.list, in->at[i]));
    }
    return MNW_OK;
}

static mnw_status select_items(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return choose(r, c, false, true, out);
}

static mnw_status reject(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return choose(r, c, false, false, out);
}

static mnw_status selectattr(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return choose(r, c, true, true, out);
}

static mnw_status rejectattr(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return choose(r, c, true, false, out);
}

static mn_tpl_value named_arg(const mn_tpl_call *c, const char *name)
{
    for (size_t i = 0; i < c->n_kw; i++) {
        if (mn_str_is(mn_tpl_str(c->kw_name[i]), name)) return c->kw[i];
    }
    return (mn_tpl_value){ .type = MN_TPL_ABSENT };
}

/* map(attribute="a") or map("filter", args...).  The filter may not be one that calls others. */
static mnw_status map(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    const mn_tpl_value   attribute = named_arg(c, "attribute"), fallback = named_arg(c, "default");
    const mn_tpl_native *f = NULL;
    const mn_tpl_list   *in;
    if (attribute.type == MN_TPL_ABSENT) {
        const mn_tpl_text *name;
        if (!c->n_pos) return mn_tpl_fail(r, MNW_E_TEMPLATE, "map needs a filter or attribute=");
        MN_TRY(mn_tpl_want_text(r, c->pos[0], &name));
        f = mn_tpl_filter(mn_tpl_str(name));
        if (!f || !f->params) {
            return mn_tpl_fail(r, MNW_E_TEMPLATE, "map: filter '%.*s' is not supported",
                               MN_STR(mn_tpl_str(name)));
        }
    }
    MN_TRY(mn_tpl_new_list(r, MN_TPL_LIST, 0, out));
    if (!mn_tpl_true(c->self)) return MNW_OK;
    MN_TRY(mn_tpl_items(r, c->self, &in));
    for (size_t i = 0; i < in->n; i++) {
        mn_tpl_value v;
        MN_TRY(mn_tpl_work(r, 2));
        if (f) {
            mn_tpl_call one = { .self = in->at[i], .pos = c->pos + 1, .n_pos = c->n_pos - 1,
                                .kw = c->kw, .n_kw = c->n_kw, .kw_name = c->kw_name };
            MN_TRY(mn_tpl_invoke(r, f, &one, &v));
        } else {
            MN_TRY(mn_tpl_path(r, in->at[i], attribute, &v));
            if (v.type == MN_TPL_UNDEFINED && fallback.type != MN_TPL_ABSENT) v = fallback;
        }
        MN_TRY(mn_tpl_add(r, out->as.list, v));
    }
    return MNW_OK;
}

const mn_tpl_native *mn_tpl_filter_of_lists(mn_str name)
{
    static const mn_tpl_native FILTERS[] = {
        { "length", length, 0, "", 0 },
        { "count", length, 0, "", 0 },
        { "join", join, 0, "d attribute", 0 },
        { "first", first, 0, "", 0 },
        { "last", last, 0, "", 0 },
        { "list", list, 0, "", 0 },
        { "items", items, 0, "", 0 },
        { "reverse", reverse, 0, "", 0 },
        { "sort", sort, 0, "reverse case_sensitive attribute", 0 },
        { "unique", unique, 0, "case_sensitive attribute", 0 },
        { "min", min_of, 0, "case_sensitive attribute", 0 },
        { "max", max_of, 0, "case_sensitive attribute", 0 },
        { "sum", sum, 0, "attribute start", 0 },
        { "dictsort", dictsort, 0, "case_sensitive by reverse", 0 },
        { "select", select_items, 0, NULL, 0 },
        { "reject", reject, 0, NULL, 0 },
        { "selectattr", selectattr, 0, NULL, 0 },
        { "rejectattr", rejectattr, 0, NULL, 0 },
        { "map", map, 0, NULL, 0 },
    };
    return mn_tpl_native_in(FILTERS, sizeof FILTERS / sizeof *FILTERS, name);
}
