/* SPDX-License-Identifier: Apache-2.0
 *
 * template_value.c - make, look up and compare the values of a rendering.
 */
#include "text/template_value.h"

#include <math.h>

#include "base/map.h"
#include "base/utf8.h"

enum { SMALL_DICT = 8 };   // entries up to which a walk is quicker than a table

mnw_status mn_tpl_new_text(mn_tpl_run *r, mn_tpl_text text, mn_tpl_value *out)
{
    mn_tpl_text *t = mn_tpl_push(r, 1, sizeof *t);
    if (!t) return mn_tpl_status(r);
    *t = text;
    *out = (mn_tpl_value){ .type = MN_TPL_STR, .as.s = t };
    return MNW_OK;
}

mnw_status mn_tpl_new_list(mn_tpl_run *r, mn_tpl_type type, size_t cap, mn_tpl_value *out)
{
    mn_tpl_list *l = mn_tpl_push(r, 1, sizeof *l);
    if (!l) return mn_tpl_status(r);
    *l = (mn_tpl_list){ .cap = cap };
    if (cap && !(l->at = mn_tpl_push(r, cap, sizeof *l->at))) return mn_tpl_status(r);
    *out = (mn_tpl_value){ .type = (uint8_t)type, .as.list = l };
    return MNW_OK;
}

mnw_status mn_tpl_new_dict(mn_tpl_run *r, mn_tpl_type type, mn_tpl_value *out)
{
    mn_tpl_dict *d = mn_tpl_push(r, 1, sizeof *d);
    if (!d) return mn_tpl_status(r);
    *d = (mn_tpl_dict){ 0 };
    *out = (mn_tpl_value){ .type = (uint8_t)type, .as.dict = d };
    return MNW_OK;
}

mnw_status mn_tpl_add(mn_tpl_run *r, mn_tpl_list *list, mn_tpl_value v)
{
    if (list->n == list->cap) {
        const size_t  cap = list->cap ? list->cap * 2 : 4;
        mn_tpl_value *fresh = mn_tpl_push(r, cap, sizeof *fresh);
        if (!fresh) return mn_tpl_status(r);
        if (list->n) memcpy(fresh, list->at, list->n * sizeof *fresh);
        list->at = fresh;
        list->cap = cap;
    }
    list->at[list->n++] = v;
    return MNW_OK;
}

bool mn_tpl_is_number(mn_tpl_value v)
{
    return v.type == MN_TPL_BOOL || v.type == MN_TPL_INT || v.type == MN_TPL_FLOAT;
}

double mn_tpl_number(mn_tpl_value v)
{
    return v.type == MN_TPL_FLOAT ? v.as.f : v.type == MN_TPL_INT ? (double)v.as.i : v.as.b;
}

/* Equal keys are equal numbers, as in Python: 1, 1.0 and True are one key. */
static bool key_hash(mn_tpl_value k, uint32_t *hash)
{
    if (k.type == MN_TPL_STR) {
        *hash = mn_hash(k.as.s->p, k.as.s->n);
        return true;
    }
    if (k.type == MN_TPL_NONE) {
        *hash = 1;
        return true;
    }
    if (!mn_tpl_is_number(k)) return false;
    const double f = mn_tpl_number(k) + 0.0;   // -0 is 0
    *hash = mn_hash(&f, sizeof f);
    return true;
}

static bool same_key(mn_tpl_value a, mn_tpl_value b)
{
    if (a.type == MN_TPL_STR) {
        return b.type == MN_TPL_STR && mn_str_eq(mn_tpl_str(a.as.s), mn_tpl_str(b.as.s));
    }
    if (a.type == MN_TPL_NONE || b.type == MN_TPL_NONE || b.type == MN_TPL_STR) {
        return a.type == b.type;
    }
    if (a.type == MN_TPL_INT && b.type == MN_TPL_INT) return a.as.i == b.as.i;
    return mn_tpl_number(a) == mn_tpl_number(b);
}

static mn_tpl_entry *find_entry(const mn_tpl_dict *d, mn_tpl_value key, uint32_t hash)
{
    if (!d->slot) {
        for (size_t i = 0; i < d->n; i++) {
            if (d->at[i].hash == hash && same_key(d->at[i].key, key)) return &d->at[i];
        }
        return NULL;
    }
    for (size_t i = hash & (d->n_slots - 1); d->slot[i]; i = (i + 1) & (d->n_slots - 1)) {
        mn_tpl_entry *e = &d->at[d->slot[i] - 1];
        if (e->hash == hash && same_key(e->key, key)) return e;
    }
    return NULL;
}

mnw_status mn_tpl_find(mn_tpl_run *r, const mn_tpl_dict *d, mn_tpl_value key, mn_tpl_value **out)
{
    uint32_t hash;
    if (!key_hash(key, &hash)) {
        return mn_tpl_fail(r, MNW_E_TEMPLATE, "a %s cannot be a key", mn_tpl_type_name(key));
    }
    mn_tpl_entry *e = find_entry(d, key, hash);
    *out = e ? &e->value : NULL;
    return MNW_OK;
}

mn_tpl_value *mn_tpl_find_str(const mn_tpl_dict *d, mn_str key)
{
    const mn_tpl_text  t = { .p = key.p, .n = key.n };
    const mn_tpl_value k = { .type = MN_TPL_STR, .as.s = &t };
    mn_tpl_entry      *e = find_entry(d, k, mn_hash(key.p, key.n));
    return e ? &e->value : NULL;
}

static void put_slot(mn_tpl_dict *d, size_t entry)
{
    size_t i = d->at[entry].hash & (d->n_slots - 1);
    while (d->slot[i]) i = (i + 1) & (d->n_slots - 1);
    d->slot[i] = (uint32_t)entry + 1;
}

mnw_status mn_tpl_set(mn_tpl_run *r, mn_tpl_dict *d, mn_tpl_value key, mn_tpl_value v)
{
    mn_tpl_value *old = NULL;
    MN_TRY(mn_tpl_find(r, d, key, &old));
    if (old) {
        *old = v;
        return MNW_OK;
    }
    if (d->n == d->cap) {
        const size_t  cap = d->cap ? d->cap * 2 : SMALL_DICT;
        mn_tpl_entry *fresh = mn_tpl_push(r, cap, sizeof *fresh);
        if (!fresh) return mn_tpl_status(r);
        if (d->n) memcpy(fresh, d->at, d->n * sizeof *fresh);
        d->at = fresh;
        d->cap = cap;
        if (cap > SMALL_DICT) {
            d->slot = mn_tpl_push(r, cap * 2, sizeof *d->slot);
            if (!d->slot) return mn_tpl_status(r);
            memset(d->slot, 0, cap * 2 * sizeof *d->slot);
            d->n_slots = cap * 2;
            for (size_t i = 0; i < d->n; i++) put_slot(d, i);
        }
    }
    uint32_t hash = 0;
    key_hash(key, &hash);
    d->at[d->n++] = (mn_tpl_entry){ .key = key, .value = v, .hash = hash };
    if (d->slot) put_slot(d, d->n - 1);
    return MNW_OK;
}

const char *mn_tpl_type_name(mn_tpl_value v)
{
    static const char *const NAMES[] = {
        [MN_TPL_ABSENT] = "nothing",     [MN_TPL_UNDEFINED] = "undefined value",
        [MN_TPL_NONE] = "none",          [MN_TPL_BOOL] = "boolean",
        [MN_TPL_INT] = "integer",        [MN_TPL_FLOAT] = "float",
        [MN_TPL_STR] = "string",         [MN_TPL_LIST] = "list",
        [MN_TPL_TUPLE] = "tuple",        [MN_TPL_DICT] = "mapping",
        [MN_TPL_SPACE] = "namespace",    [MN_TPL_LOOP] = "loop",
        [MN_TPL_MACRO] = "macro",        [MN_TPL_FUNCTION] = "function",
        [MN_TPL_METHOD] = "method",
    };
    return NAMES[v.type];
}

bool mn_tpl_true(mn_tpl_value v)
{
    switch ((mn_tpl_type)v.type) {
    case MN_TPL_ABSENT:
    case MN_TPL_UNDEFINED:
    case MN_TPL_NONE: return false;
    case MN_TPL_BOOL: return v.as.b;
    case MN_TPL_INT: return v.as.i != 0;
    case MN_TPL_FLOAT: return v.as.f != 0.0;
    case MN_TPL_STR: return v.as.s->n > 0;
    case MN_TPL_LIST:
    case MN_TPL_TUPLE: return v.as.list->n > 0;
    case MN_TPL_DICT: return v.as.dict->n > 0;
    default: return true;
    }
}

/* Equal, as far as it can be said without looking into containers; those set *inside. */
static bool equal_flat(mn_tpl_value a, mn_tpl_value b, bool *inside)
{
    *inside = false;
    if (mn_tpl_is_number(a) && mn_tpl_is_number(b)) {
        if (a.type == MN_TPL_INT && b.type == MN_TPL_INT) return a.as.i == b.as.i;
        return mn_tpl_number(a) == mn_tpl_number(b);
    }
    if (a.type != b.type) return false;
    switch ((mn_tpl_type)a.type) {
    case MN_TPL_STR: return mn_str_eq(mn_tpl_str(a.as.s), mn_tpl_str(b.as.s));
    case MN_TPL_LIST:
    case MN_TPL_TUPLE: *inside = a.as.list != b.as.list; return a.as.list->n == b.as.list->n;
    case MN_TPL_DICT: *inside = a.as.dict != b.as.dict; return a.as.dict->n == b.as.dict->n;
    case MN_TPL_SPACE: return a.as.dict == b.as.dict;
    case MN_TPL_LOOP: return a.as.loop == b.as.loop;
    case MN_TPL_MACRO: return a.as.macro == b.as.macro;
    case MN_TPL_FUNCTION: return a.as.function == b.as.function;
    case MN_TPL_METHOD: return a.as.method == b.as.method;
    default: return true;
    }
}

mnw_status mn_tpl_equal(mn_tpl_run *r, mn_tpl_value a, mn_tpl_value b, bool *out)
{
    struct {
        mn_tpl_value a, b;
        size_t       i;
    } stack[MN_TEMPLATE_DEPTH_MAX];
    size_t depth = 0;
    bool   inside;
    if (a.type == MN_TPL_STR) MN_TRY(mn_tpl_scan(r, a.as.s->n));
    *out = equal_flat(a, b, &inside);
    if (!*out || !inside) return MNW_OK;
    stack[depth].a = a;
    stack[depth].b = b;
    stack[depth++].i = 0;
    while (depth) {
        const mn_tpl_value x = stack[depth - 1].a, y = stack[depth - 1].b;
        const bool         dict = x.type == MN_TPL_DICT;
        const size_t       i = stack[depth - 1].i++;
        if (i == (dict ? x.as.dict->n : x.as.list->n)) {
            depth--;
            continue;
        }
        mn_tpl_value  left = dict ? x.as.dict->at[i].value : x.as.list->at[i];
        mn_tpl_value *right = dict ? NULL : &y.as.list->at[i];
        if (dict) MN_TRY(mn_tpl_find(r, y.as.dict, x.as.dict->at[i].key, &right));
        MN_TRY(mn_tpl_work(r, 1));
        if (right && left.type == MN_TPL_STR) MN_TRY(mn_tpl_scan(r, left.as.s->n));
        *out = right && equal_flat(left, *right, &inside);
        if (!*out) return MNW_OK;
        if (!inside) continue;
        if (depth == MN_TEMPLATE_DEPTH_MAX) {
            return mn_tpl_fail(r, MNW_E_LIMIT, "values nested more than %d deep are compared",
                               MN_TEMPLATE_DEPTH_MAX);
        }
        stack[depth].a = left;
        stack[depth].b = *right;
        stack[depth++].i = 0;
    }
    return MNW_OK;
}

mnw_status mn_tpl_less(mn_tpl_run *r, mn_tpl_value a, mn_tpl_value b, bool *out)
{
    if (mn_tpl_is_number(a) && mn_tpl_is_number(b)) {
        *out = a.type == MN_TPL_INT && b.type == MN_TPL_INT ? a.as.i < b.as.i
                                                            : mn_tpl_number(a) < mn_tpl_number(b);
        return MNW_OK;
    }
    if (a.type != MN_TPL_STR || b.type != MN_TPL_STR) {
        return mn_tpl_fail(r, MNW_E_TEMPLATE, "a %s and a %s have no order", mn_tpl_type_name(a),
                           mn_tpl_type_name(b));
    }
    const mn_tpl_text *x = a.as.s, *y = b.as.s;   // the order of bytes is that of code points
    const size_t       n = x->n < y->n ? x->n : y->n;
    const int          c = n ? memcmp(x->p, y->p, n) : 0;
    *out = c < 0 || (c == 0 && x->n < y->n);
    return mn_tpl_scan(r, n);
}

mnw_status mn_tpl_length(mn_tpl_run *r, mn_tpl_value v, int64_t *out)
{
    switch ((mn_tpl_type)v.type) {
    case MN_TPL_UNDEFINED: *out = 0; return MNW_OK;
    case MN_TPL_STR:
        *out = (int64_t)mn_tpl_chars(v.as.s);
        return mn_tpl_scan(r, v.as.s->n);
    case MN_TPL_LIST:
    case MN_TPL_TUPLE: *out = (int64_t)v.as.list->n; return MNW_OK;
    case MN_TPL_DICT: *out = (int64_t)v.as.dict->n; return MNW_OK;
    case MN_TPL_LOOP: *out = (int64_t)v.as.loop->items->n; return MNW_OK;
    default: break;
    }
    if (v.blank) {
        *out = 0;
        return MNW_OK;
    }
    return mn_tpl_fail(r, MNW_E_TEMPLATE, "a %s has no length", mn_tpl_type_name(v));
}

mnw_status mn_tpl_items(mn_tpl_run *r, mn_tpl_value v, const mn_tpl_list **out)
{
    static const mn_tpl_list NOTHING = { 0 };
    mn_tpl_value             list = { 0 };
    switch ((mn_tpl_type)v.type) {
    case MN_TPL_UNDEFINED: *out = &NOTHING; return MNW_OK;
    case MN_TPL_LIST:
    case MN_TPL_TUPLE: *out = v.as.list; return MNW_OK;
    case MN_TPL_DICT:
        MN_TRY(mn_tpl_work(r, v.as.dict->n));
        MN_TRY(mn_tpl_new_list(r, MN_TPL_LIST, v.as.dict->n, &list));
        for (size_t i = 0; i < v.as.dict->n; i++) {
            MN_TRY(mn_tpl_add(r, list.as.list, v.as.dict->at[i].key));
        }
        *out = list.as.list;
        return MNW_OK;
    case MN_TPL_STR:
        MN_TRY(mn_tpl_work(r, v.as.s->n));
        MN_TRY(mn_tpl_new_list(r, MN_TPL_LIST, mn_tpl_chars(v.as.s), &list));
        for (size_t i = 0; i < v.as.s->n;) {
            uint32_t     cp;
            mn_tpl_value c;
            const size_t n = mn_utf8_get(v.as.s->p + i, v.as.s->n - i, &cp);
            MN_TRY(mn_tpl_new_text(r, mn_tpl_part(v.as.s, i, n), &c));
            MN_TRY(mn_tpl_add(r, list.as.list, c));
            i += n;
        }
        *out = list.as.list;
        return MNW_OK;
    default: break;
    }
    if (v.blank) {
        *out = &NOTHING;
        return MNW_OK;
    }
    return mn_tpl_fail(r, MNW_E_TEMPLATE, "a %s cannot be iterated over", mn_tpl_type_name(v));
}

mnw_status mn_tpl_want_int(mn_tpl_run *r, mn_tpl_value v, int64_t fallback, int64_t *out)
{
    *out = fallback;
    if (v.type == MN_TPL_ABSENT || v.type == MN_TPL_NONE) return MNW_OK;
    if (v.type != MN_TPL_INT && v.type != MN_TPL_BOOL) {
        return mn_tpl_fail(r, MNW_E_TEMPLATE, "expected an integer, got a %s", mn_tpl_type_name(v));
    }
    *out = v.type == MN_TPL_INT ? v.as.i : v.as.b;
    return MNW_OK;
}

mnw_status mn_tpl_want_text(mn_tpl_run *r, mn_tpl_value v, const mn_tpl_text **out)
{
    static const mn_tpl_text EMPTY = { .p = "", .trusted = true };
    if (v.type == MN_TPL_STR) {
        *out = v.as.s;
    } else if (v.blank) {
        *out = &EMPTY;
    } else if (v.type == MN_TPL_UNDEFINED && v.as.s) {
        return mn_tpl_fail(r, MNW_E_TEMPLATE, "'%.*s' is undefined", MN_STR(mn_tpl_str(v.as.s)));
    } else {
        return mn_tpl_fail(r, MNW_E_TEMPLATE, "expected a string, got a %s", mn_tpl_type_name(v));
    }
    return MNW_OK;
}
