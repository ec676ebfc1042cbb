/* SPDX-License-Identifier: Apache-2.0
 *
 * template_op.c - operators, attributes, subscripts and slices, with Python's rules.
 */
#include <math.h>

#include "base/utf8.h"
#include "text/template_value.h"

static bool is_text(mn_tpl_value v)
{
    return v.type == MN_TPL_STR || v.blank;
}

static mnw_status bad_operands(mn_tpl_run *r, const char *op, mn_tpl_value a, mn_tpl_value b)
{
    const mn_tpl_value u = a.type == MN_TPL_UNDEFINED ? a : b;
    if (u.type == MN_TPL_UNDEFINED && u.as.s) {
        return mn_tpl_fail(r, MNW_E_TEMPLATE, "'%.*s' is undefined", MN_STR(mn_tpl_str(u.as.s)));
    }
    return mn_tpl_fail(r, MNW_E_TEMPLATE, "%s does not work on a %s and a %s", op,
                       mn_tpl_type_name(a), mn_tpl_type_name(b));
}

static mnw_status concat(mn_tpl_run *r, mn_tpl_value a, mn_tpl_value b, mn_tpl_value *out)
{
    mn_tpl_buf buf = { 0 };
    MN_TRY(mn_tpl_print(r, &buf, a));
    MN_TRY(mn_tpl_print(r, &buf, b));
    return mn_tpl_buf_value(r, &buf, out);
}

static mnw_status add_lists(mn_tpl_run *r, mn_tpl_value a, mn_tpl_value b, mn_tpl_value *out)
{
    const size_t n = a.as.list->n, m = b.as.list->n;
    MN_TRY(mn_tpl_work(r, (n + m) / 8));
    MN_TRY(mn_tpl_new_list(r, (mn_tpl_type)a.type, n + m, out));
    if (n) memcpy(out->as.list->at, a.as.list->at, n * sizeof a);
    if (m) memcpy(out->as.list->at + n, b.as.list->at, m * sizeof a);
    out->as.list->n = n + m;
    return MNW_OK;
}

/* "ab" * 3, [0] * 3 */
static mnw_status repeat(mn_tpl_run *r, mn_tpl_value v, int64_t times, mn_tpl_value *out)
{
    mn_tpl_buf b = { 0 };
    if (v.type != MN_TPL_STR) MN_TRY(mn_tpl_new_list(r, (mn_tpl_type)v.type, 0, out));
    for (int64_t i = 0; i < times; i++) {
        MN_TRY(mn_tpl_work(r, 1));
        if (v.type == MN_TPL_STR) {
            MN_TRY(mn_tpl_put(r, &b, *v.as.s));
            continue;
        }
        for (size_t k = 0; k < v.as.list->n; k++) {
            MN_TRY(mn_tpl_work(r, 1));
            MN_TRY(mn_tpl_add(r, out->as.list, v.as.list->at[k]));
        }
    }
    return v.type == MN_TPL_STR ? mn_tpl_buf_value(r, &b, out) : MNW_OK;
}

static int64_t as_int(mn_tpl_value v)
{
    return v.type == MN_TPL_INT ? v.as.i : v.as.b;
}

static mnw_status integers(mn_tpl_run *r, mn_tpl_op op, int64_t a, int64_t b, mn_tpl_value *out)
{
    int64_t v = 0;
    bool    over = false;
    switch (op) {
    case MN_TPL_OP_ADD: over = __builtin_add_overflow(a, b, &v); break;
    case MN_TPL_OP_SUB: over = __builtin_sub_overflow(a, b, &v); break;
    case MN_TPL_OP_MUL: over = __builtin_mul_overflow(a, b, &v); break;
    case MN_TPL_OP_FLOORDIV:
    case MN_TPL_OP_MOD:
        if (b == 0) return mn_tpl_fail(r, MNW_E_TEMPLATE, "division by zero");
        if (b == -1) {
            over = op == MN_TPL_OP_FLOORDIV && __builtin_sub_overflow((int64_t)0, a, &v);
            break;
        }
        v = op == MN_TPL_OP_MOD ? a % b : a / b;
        if (a % b != 0 && (a % b < 0) != (b < 0)) v += op == MN_TPL_OP_MOD ? b : -1;
        break;
    default:   // power, b >= 0
        v = 1;
        for (; b > 0 && !over; b >>= 1) {
            if (b & 1) over = __builtin_mul_overflow(v, a, &v);
            if (b > 1 && !over) over = __builtin_mul_overflow(a, a, &a);
        }
    }
    if (over) return mn_tpl_fail(r, MNW_E_TEMPLATE, "an integer leaves 64 bits");
    *out = mn_tpl_int(v);
    return MNW_OK;
}

static mnw_status floats(mn_tpl_run *r, mn_tpl_op op, double a, double b, mn_tpl_value *out)
{
    double v = 0.0;
    if (b == 0.0 && (op == MN_TPL_OP_DIV || op == MN_TPL_OP_FLOORDIV || op == MN_TPL_OP_MOD)) {
        return mn_tpl_fail(r, MNW_E_TEMPLATE, "division by zero");
    }
    switch (op) {
    case MN_TPL_OP_ADD: v = a + b; break;
    case MN_TPL_OP_SUB: v = a - b; break;
    case MN_TPL_OP_MUL: v = a * b; break;
    case MN_TPL_OP_DIV: v = a / b; break;
    case MN_TPL_OP_FLOORDIV: v = floor(a / b); break;
    case MN_TPL_OP_MOD:
        v = fmod(a, b);
        if (v != 0.0 && (v < 0.0) != (b < 0.0)) v += b;
        break;
    default: v = pow(a, b); break;
    }
    *out = mn_tpl_float(v);
    return MNW_OK;
}

static mnw_status arithmetic(mn_tpl_run *r, mn_tpl_op op, mn_tpl_value a, mn_tpl_value b,
                             mn_tpl_value *out)
{
    const bool whole = a.type != MN_TPL_FLOAT && b.type != MN_TPL_FLOAT && op != MN_TPL_OP_DIV &&
                       !(op == MN_TPL_OP_POW && as_int(b) < 0);
    if (whole) MN_TRY(integers(r, op, as_int(a), as_int(b), out));
    else MN_TRY(floats(r, op, mn_tpl_number(a), mn_tpl_number(b), out));
    out->foreign = a.foreign || b.foreign;
    return MNW_OK;
}

mnw_status mn_tpl_binary(mn_tpl_run *r, mn_tpl_op op, mn_tpl_value a, mn_tpl_value b,
                         mn_tpl_value *out)
{
    static const char *const NAMES[] = { "+", "-", "*", "/", "//", "%", "**" };
    if (op == MN_TPL_OP_CONCAT) return concat(r, a, b, out);
    if (op > MN_TPL_OP_CONCAT) {
        bool is;
        MN_TRY(mn_tpl_compare(r, op, a, b, &is));
        *out = mn_tpl_bool(is);
        return MNW_OK;
    }
    if (mn_tpl_is_number(a) && mn_tpl_is_number(b)) return arithmetic(r, op, a, b, out);
    if (op == MN_TPL_OP_ADD && is_text(a) && is_text(b)) return concat(r, a, b, out);
    if (op == MN_TPL_OP_ADD && a.type == b.type &&
        (a.type == MN_TPL_LIST || a.type == MN_TPL_TUPLE)) {
        return add_lists(r, a, b, out);
    }
    if (op == MN_TPL_OP_MUL) {
        const mn_tpl_value seq = mn_tpl_is_number(a) ? b : a, times = mn_tpl_is_number(a) ? a : b;
        if ((times.type == MN_TPL_INT || times.type == MN_TPL_BOOL) &&
            (seq.type == MN_TPL_STR || seq.type == MN_TPL_LIST || seq.type == MN_TPL_TUPLE)) {
            return repeat(r, seq, as_int(times), out);
        }
    }
    return bad_operands(r, NAMES[op], a, b);
}

static mnw_status contains(mn_tpl_run *r, mn_tpl_value item, mn_tpl_value in, bool *out)
{
    *out = false;
    if (is_text(in)) {
        const mn_tpl_text *hay, *what;
        size_t             pos;
        if (!is_text(item)) return bad_operands(r, "in", item, in);
        MN_TRY(mn_tpl_want_text(r, in, &hay));
        MN_TRY(mn_tpl_want_text(r, item, &what));
        MN_TRY(mn_tpl_search(r, mn_tpl_str(hay), 0, mn_tpl_str(what), &pos));
        *out = pos < hay->n || !what->n;
        return MNW_OK;
    }
    if (in.type == MN_TPL_DICT) {
        mn_tpl_value *found;
        MN_TRY(mn_tpl_find(r, in.as.dict, item, &found));
        *out = found != NULL;
        return MNW_OK;
    }
    if (in.type == MN_TPL_LIST || in.type == MN_TPL_TUPLE) {
        for (size_t i = 0; i < in.as.list->n && !*out; i++) {
            MN_TRY(mn_tpl_work(r, 1));
            MN_TRY(mn_tpl_equal(r, in.as.list->at[i], item, out));
        }
        return MNW_OK;
    }
    return in.type == MN_TPL_UNDEFINED ? MNW_OK : bad_operands(r, "in", item, in);
}

mnw_status mn_tpl_compare(mn_tpl_run *r, mn_tpl_op op, mn_tpl_value a, mn_tpl_value b, bool *out)
{
    switch (op) {
    case MN_TPL_OP_EQ: return mn_tpl_equal(r, a, b, out);
    case MN_TPL_OP_IN: return contains(r, a, b, out);
    case MN_TPL_OP_LT: return mn_tpl_less(r, a, b, out);
    case MN_TPL_OP_GT: return mn_tpl_less(r, b, a, out);
    case MN_TPL_OP_NE: MN_TRY(mn_tpl_equal(r, a, b, out)); break;
    case MN_TPL_OP_NOT_IN: MN_TRY(contains(r, a, b, out)); break;
    case MN_TPL_OP_LE: MN_TRY(mn_tpl_less(r, b, a, out)); break;
    default: MN_TRY(mn_tpl_less(r, a, b, out)); break;
    }
    *out = !*out;
    if ((op == MN_TPL_OP_LE || op == MN_TPL_OP_GE) && mn_tpl_is_number(a)) {
        *out = *out && !isnan(mn_tpl_number(a)) && !isnan(mn_tpl_number(b));
    }
    return MNW_OK;
}

mnw_status mn_tpl_negate(mn_tpl_run *r, mn_tpl_value v, bool minus, mn_tpl_value *out)
{
    if (!mn_tpl_is_number(v)) {
        return bad_operands(r, minus ? "-" : "+", mn_tpl_int(0), v);
    }
    if (v.type == MN_TPL_FLOAT) *out = mn_tpl_float(minus ? -v.as.f : v.as.f);
    else if (minus) MN_TRY(integers(r, MN_TPL_OP_SUB, 0, as_int(v), out));
    else *out = mn_tpl_int(as_int(v));
    out->foreign = v.foreign;
    return MNW_OK;
}

static bool loop_attr(mn_tpl_run *r, const mn_tpl_loop *l, mn_str name, mn_tpl_value *out)
{
    const int64_t n = (int64_t)l->items->n, i = (int64_t)l->next - 1;
    if (mn_str_is(name, "index")) *out = mn_tpl_int(i + 1);
    else if (mn_str_is(name, "index0")) *out = mn_tpl_int(i);
    else if (mn_str_is(name, "revindex")) *out = mn_tpl_int(n - i);
    else if (mn_str_is(name, "revindex0")) *out = mn_tpl_int(n - i - 1);
    else if (mn_str_is(name, "first")) *out = mn_tpl_bool(i == 0);
    else if (mn_str_is(name, "last")) *out = mn_tpl_bool(i == n - 1);
    else if (mn_str_is(name, "length")) *out = mn_tpl_int(n);
    else if (mn_str_is(name, "depth")) *out = mn_tpl_int(1);
    else if (mn_str_is(name, "depth0")) *out = mn_tpl_int(0);
    else if (mn_str_is(name, "previtem")) *out = i > 0 ? l->items->at[i - 1] : mn_tpl_undefined(NULL);
    else if (mn_str_is(name, "nextitem")) *out = i + 1 < n ? l->items->at[i + 1] : mn_tpl_undefined(NULL);
    else return false;
    return true;
}

static mnw_status bind_method(mn_tpl_run *r, mn_tpl_value self, const mn_tpl_native *m,
                              mn_tpl_value *out)
{
    mn_tpl_bound *b = mn_tpl_push(r, 1, sizeof *b);
    if (!b) return mn_tpl_status(r);
    *b = (mn_tpl_bound){ .self = self, .method = m };
    *out = (mn_tpl_value){ .type = MN_TPL_METHOD, .as.method = b };
    return MNW_OK;
}

mnw_status mn_tpl_attr(mn_tpl_run *r, mn_tpl_value v, const mn_tpl_text *name, mn_tpl_value *out)
{
    const mn_str key = mn_tpl_str(name);
    if (v.type == MN_TPL_UNDEFINED) {
        if (v.as.s) {
            return mn_tpl_fail(r, MNW_E_TEMPLATE, "'%.*s' is undefined, so it has no '%.*s'",
                               MN_STR(mn_tpl_str(v.as.s)), MN_STR(key));
        }
        return mn_tpl_fail(r, MNW_E_TEMPLATE, "an undefined value has no '%.*s'", MN_STR(key));
    }
    const mn_tpl_native *m = mn_tpl_method(v, key);
    if (m) return bind_method(r, v, m, out);
    if (v.type == MN_TPL_DICT || v.type == MN_TPL_SPACE) {
        const mn_tpl_value *found = mn_tpl_find_str(v.as.dict, key);
        if (found) {
            *out = *found;
            return MNW_OK;
        }
    }
    if (v.type == MN_TPL_LOOP && loop_attr(r, v.as.loop, key, out)) return MNW_OK;
    if (mn_str_starts(key, mn_str_of("__"))) {
        return mn_tpl_fail(r, MNW_E_TEMPLATE, "attribute not found: a %s has no '%.*s'",
                           mn_tpl_type_name(v), MN_STR(key));
    }
    *out = mn_tpl_undefined(name);
    return MNW_OK;
}

/* Byte offset of character i (0 <= i <= count). */
static size_t char_at(const mn_tpl_text *t, int64_t i)
{
    size_t at = 0;
    for (; i > 0 && at < t->n; i--) {
        uint32_t cp;
        at += mn_utf8_get(t->p + at, t->n - at, &cp);
    }
    return at;
}

mnw_status mn_tpl_item(mn_tpl_run *r, mn_tpl_value v, mn_tpl_value key, mn_tpl_value *out)
{
    if (v.type == MN_TPL_UNDEFINED) {
        return bad_operands(r, "a subscript", v, key);
    }
    *out = mn_tpl_undefined(key.type == MN_TPL_STR ? key.as.s : NULL);
    if (v.type == MN_TPL_DICT) {
        mn_tpl_value *found;
        MN_TRY(mn_tpl_find(r, v.as.dict, key, &found));
        if (found) {
            *out = *found;
            return MNW_OK;
        }
    }
    if (key.type == MN_TPL_STR) return mn_tpl_attr(r, v, key.as.s, out);
    if (key.type != MN_TPL_INT && key.type != MN_TPL_BOOL) return MNW_OK;

    int64_t i = as_int(key), n;
    if (v.type != MN_TPL_STR && v.type != MN_TPL_LIST && v.type != MN_TPL_TUPLE) return MNW_OK;
    MN_TRY(mn_tpl_length(r, v, &n));
    if (i < 0) i += n;
    if (i < 0 || i >= n) return MNW_OK;
    if (v.type != MN_TPL_STR) {
        *out = v.as.list->at[i];
        return MNW_OK;
    }
    const size_t at = char_at(v.as.s, i);
    uint32_t     cp;
    return mn_tpl_new_text(r, mn_tpl_part(v.as.s, at, mn_utf8_get(v.as.s->p + at, v.as.s->n - at,
                                                                  &cp)), out);
}

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

mnw_status mn_tpl_slice(mn_tpl_run *r, mn_tpl_value v, const mn_tpl_value part[3],
                        mn_tpl_value *out)
{
    int64_t n, step, from, to;
    MN_TRY(mn_tpl_want_int(r, part[2], 1, &step));
    if (step == 0 || step == INT64_MIN) return mn_tpl_fail(r, MNW_E_TEMPLATE, "bad slice step");
    const bool back = step < 0;
    if (v.blank) return mn_tpl_new_text(r, (mn_tpl_text){ .p = "", .trusted = true }, out);
    if (v.type != MN_TPL_STR && v.type != MN_TPL_LIST && v.type != MN_TPL_TUPLE) {
        return bad_operands(r, "a slice", v, part[0]);
    }
    MN_TRY(mn_tpl_length(r, v, &n));
    MN_TRY(mn_tpl_want_int(r, part[0], back ? n - 1 : 0, &from));
    MN_TRY(mn_tpl_want_int(r, part[1], back ? -n - 1 : n, &to));
    if (from < 0) from += n;
    if (to < 0) to += n;
    from = clamp(from, back ? -1 : 0, back ? n - 1 : n);
    to = clamp(to, back ? -1 : 0, back ? n - 1 : n);

    if (v.type == MN_TPL_STR && step == 1) {
        const size_t a = char_at(v.as.s, from), b = from < to ? char_at(v.as.s, to) : a;
        return mn_tpl_new_text(r, mn_tpl_part(v.as.s, a, b - a), out);
    }
    const mn_tpl_list *items;
    mn_tpl_value       list;
    mn_tpl_buf         buf = { 0 };
    MN_TRY(mn_tpl_items(r, v, &items));
    MN_TRY(mn_tpl_new_list(r, v.type == MN_TPL_TUPLE ? MN_TPL_TUPLE : MN_TPL_LIST, 0, &list));
    for (int64_t i = from; back ? i > to : i < to; ) {
        MN_TRY(mn_tpl_work(r, 1));
        if (v.type == MN_TPL_STR) MN_TRY(mn_tpl_put(r, &buf, *items->at[i].as.s));
        else MN_TRY(mn_tpl_add(r, list.as.list, items->at[i]));
        if (back ? step < to - i : step > to - i) break;   // i + step may leave 64 bits
        i += step;
    }
    if (v.type == MN_TPL_STR) return mn_tpl_buf_value(r, &buf, out);
    *out = list;
    return MNW_OK;
}

mnw_status mn_tpl_path(mn_tpl_run *r, mn_tpl_value v, mn_tpl_value path, mn_tpl_value *out)
{
    *out = v;
    if (path.type == MN_TPL_INT) return mn_tpl_item(r, v, path, out);
    const mn_tpl_text *t;
    MN_TRY(mn_tpl_want_text(r, path, &t));
    for (size_t at = 0; at <= t->n;) {
        size_t end = at;
        while (end < t->n && t->p[end] != '.') end++;
        mn_tpl_value key;
        int64_t      number = 0;
        bool         digits = end > at && end - at < 10;
        for (size_t i = at; i < end && digits; i++) {
            digits = t->p[i] >= '0' && t->p[i] <= '9';
            number = number * 10 + (t->p[i] - '0');
        }
        if (digits) key = mn_tpl_int(number);
        else MN_TRY(mn_tpl_new_text(r, mn_tpl_part(t, at, end - at), &key));
        MN_TRY(mn_tpl_item(r, *out, key, out));
        at = end + 1;
    }
    return MNW_OK;
}
