/* SPDX-License-Identifier: Apache-2.0
 *
 * template_test.c - the tests behind `is`.
 */
#include "text/template_value.h"

#define TEST_OF(name, condition)                                                          \
    static mnw_status name(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)        \
    {                                                                                     \
        const mn_tpl_value v = c->self;                                                   \
        *out = mn_tpl_bool(condition);                                                    \
        return MNW_OK;                                                                    \
    }

TEST_OF(is_defined, v.type != MN_TPL_UNDEFINED)
TEST_OF(is_undefined, v.type == MN_TPL_UNDEFINED)
TEST_OF(is_none, v.type == MN_TPL_NONE)
TEST_OF(is_string, v.type == MN_TPL_STR)
TEST_OF(is_number, mn_tpl_is_number(v))
TEST_OF(is_integer, v.type == MN_TPL_INT)
TEST_OF(is_float, v.type == MN_TPL_FLOAT)
TEST_OF(is_boolean, v.type == MN_TPL_BOOL)
TEST_OF(is_true, v.type == MN_TPL_BOOL && v.as.b)
TEST_OF(is_false, v.type == MN_TPL_BOOL && !v.as.b)
TEST_OF(is_mapping, v.type == MN_TPL_DICT)
TEST_OF(is_sequence, v.type == MN_TPL_STR || v.type == MN_TPL_LIST || v.type == MN_TPL_TUPLE ||
                         v.type == MN_TPL_DICT || v.type == MN_TPL_UNDEFINED)
TEST_OF(is_iterable, v.type == MN_TPL_STR || v.type == MN_TPL_LIST || v.type == MN_TPL_TUPLE ||
                         v.type == MN_TPL_DICT || v.type == MN_TPL_UNDEFINED ||
                         v.type == MN_TPL_LOOP)
TEST_OF(is_callable, v.type == MN_TPL_MACRO || v.type == MN_TPL_FUNCTION ||
                         v.type == MN_TPL_METHOD || v.type == MN_TPL_UNDEFINED)

static mnw_status compare_with(mn_tpl_run *r, mn_tpl_op op, const mn_tpl_call *c, mn_tpl_value *out)
{
    bool is;
    MN_TRY(mn_tpl_compare(r, op, c->self, c->arg[0], &is));
    *out = mn_tpl_bool(is);
    return MNW_OK;
}

#define TEST_BY(name, op)                                                                 \
    static mnw_status name(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)        \
    {                                                                                     \
        return compare_with(r, op, c, out);                                               \
    }

TEST_BY(is_eq, MN_TPL_OP_EQ)
TEST_BY(is_ne, MN_TPL_OP_NE)
TEST_BY(is_lt, MN_TPL_OP_LT)
TEST_BY(is_le, MN_TPL_OP_LE)
TEST_BY(is_gt, MN_TPL_OP_GT)
TEST_BY(is_ge, MN_TPL_OP_GE)
TEST_BY(is_in, MN_TPL_OP_IN)

static mnw_status remainder_of(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value by,
                               int64_t wanted, mn_tpl_value *out)
{
    mn_tpl_value rest;
    bool         is;
    MN_TRY(mn_tpl_binary(r, MN_TPL_OP_MOD, c->self, by, &rest));
    MN_TRY(mn_tpl_equal(r, rest, mn_tpl_int(wanted), &is));
    *out = mn_tpl_bool(is);
    return MNW_OK;
}

static mnw_status is_odd(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return remainder_of(r, c, mn_tpl_int(2), 1, out);
}

static mnw_status is_even(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return remainder_of(r, c, mn_tpl_int(2), 0, out);
}

static mnw_status is_divisible(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return remainder_of(r, c, c->arg[0], 0, out);
}

/* Is the text unchanged by making it all upper or lower case? */
static mnw_status is_case(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_case how, mn_tpl_value *out)
{
    const mn_tpl_text *t;
    mn_tpl_value       up, low, same;
    MN_TRY(mn_tpl_want_text(r, c->self, &t));
    MN_TRY(mn_tpl_recase(r, t, MN_TPL_UPPER, &up));
    MN_TRY(mn_tpl_recase(r, t, MN_TPL_LOWER, &low));
    same = how == MN_TPL_UPPER ? up : low;
    *out = mn_tpl_bool(mn_str_eq(mn_tpl_str(same.as.s), mn_tpl_str(t)) &&
                       !mn_str_eq(mn_tpl_str(up.as.s), mn_tpl_str(low.as.s)));
    return MNW_OK;
}

static mnw_status is_upper(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return is_case(r, c, MN_TPL_UPPER, out);
}

static mnw_status is_lower(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out)
{
    return is_case(r, c, MN_TPL_LOWER, out);
}

const mn_tpl_native *mn_tpl_test(mn_str name)
{
    static const mn_tpl_native TESTS[] = {
        { "defined", is_defined, 0, "", 0 },
        { "undefined", is_undefined, 0, "", 0 },
        { "none", is_none, 0, "", 0 },
        { "string", is_string, 0, "", 0 },
        { "number", is_number, 0, "", 0 },
        { "integer", is_integer, 0, "", 0 },
        { "float", is_float, 0, "", 0 },
        { "boolean", is_boolean, 0, "", 0 },
        { "true", is_true, 0, "", 0 },
        { "false", is_false, 0, "", 0 },
        { "mapping", is_mapping, 0, "", 0 },
        { "sequence", is_sequence, 0, "", 0 },
        { "iterable", is_iterable, 0, "", 0 },
        { "callable", is_callable, 0, "", 0 },
        { "equalto", is_eq, 1, "other", 0 },
        { "eq", is_eq, 1, "other", 0 },
        { "==", is_eq, 1, "other", 0 },
        { "ne", is_ne, 1, "other", 0 },
        { "!=", is_ne, 1, "other", 0 },
        { "lt", is_lt, 1, "other", 0 },
        { "lessthan", is_lt, 1, "other", 0 },
        { "<", is_lt, 1, "other", 0 },
        { "le", is_le, 1, "other", 0 },
        { "<=", is_le, 1, "other", 0 },
        { "gt", is_gt, 1, "other", 0 },
        { "greaterthan", is_gt, 1, "other", 0 },
        { ">", is_gt, 1, "other", 0 },
        { "ge", is_ge, 1, "other", 0 },
        { ">=", is_ge, 1, "other", 0 },
        { "in", is_in, 1, "seq", 0 },
        { "odd", is_odd, 0, "", 0 },
        { "even", is_even, 0, "", 0 },
        { "divisibleby", is_divisible, 1, "num", 0 },
        { "upper", is_upper, 0, "", 0 },
        { "lower", is_lower, 0, "", 0 },
    };
    return mn_tpl_native_in(TESTS, sizeof TESTS / sizeof *TESTS, name);
}
