/* SPDX-License-Identifier: Apache-2.0
 *
 * template_expr.c - compile expressions: recursive descent, at most MN_TEMPLATE_DEPTH_MAX deep.
 *
 * From loose to tight: a if b else c; or; and; not; comparisons and in; + -; ~; * / // %; **;
 * signs; names, literals and what follows them: .attr [item] (call), then |filter and `is test`.
 */
#include <stdio.h>

#include "base/json.h"
#include "text/template_code.h"

static mnw_status parse_unary(mn_tpl_parser *p, bool with_filters);
static mnw_status parse_postfix(mn_tpl_parser *p);

static mnw_status enter(mn_tpl_parser *p)
{
    MN_FAIL_IF(p->depth >= MN_TEMPLATE_DEPTH_MAX, p->err, MNW_E_LIMIT,
               "chat template, line %u: expression nested more than %d deep", p->tok.line,
               MN_TEMPLATE_DEPTH_MAX);
    p->depth++;
    return MNW_OK;
}

static bool peek_is_op(const mn_tpl_parser *p, const char *op)
{
    mn_tpl_lex   lex = p->lex;
    mn_tpl_token next;
    return mn_tpl_lex_next(&lex, &next, NULL) == MNW_OK && next.type == MN_TPL_TOK_OP &&
           mn_str_is(next.text, op);
}

static bool peek_is_name(const mn_tpl_parser *p, const char *name)
{
    mn_tpl_lex   lex = p->lex;
    mn_tpl_token next;
    return mn_tpl_lex_next(&lex, &next, NULL) == MNW_OK && next.type == MN_TPL_TOK_NAME &&
           mn_str_is(next.text, name);
}

/* Compile "(a, b, k=c)" and describe it as a call site. */
static mnw_status parse_args(mn_tpl_parser *p, const mn_tpl_native *native, int32_t *site)
{
    enum { MOST = 32 };
    const mn_tpl_text *kw[MOST];
    mn_tpl_site        s = { .native = native };
    if (mn_tpl_at_op(p, "(")) {
        MN_TRY(mn_tpl_advance(p));
        while (!mn_tpl_at_op(p, ")")) {
            if (s.n_pos + s.n_kw) {
                MN_TRY(mn_tpl_expect_op(p, ","));
                if (mn_tpl_at_op(p, ")")) break;
            }
            if (s.n_pos + s.n_kw == MOST) {
                MN_FAIL(p->err, MNW_E_LIMIT, "chat template, line %u: more than %d arguments",
                        p->tok.line, MOST);
            }
            if (mn_tpl_at_op(p, "*") || mn_tpl_at_op(p, "**")) {
                return mn_tpl_parse_fail(p, p->tok.line, "*args and **kwargs are not supported");
            }
            if (p->tok.type == MN_TPL_TOK_NAME && peek_is_op(p, "=")) {
                int32_t id;
                MN_TRY(mn_tpl_name_of(p, p->tok.text, &id));
                MN_TRY(mn_tpl_advance(p));
                MN_TRY(mn_tpl_advance(p));
                MN_TRY(mn_tpl_expression(p, true));
                kw[s.n_kw++] = p->t->name[id].text;
                continue;
            }
            if (s.n_kw) {
                return mn_tpl_parse_fail(p, p->tok.line, "argument without a name after named ones");
            }
            MN_TRY(mn_tpl_expression(p, true));
            s.n_pos++;
        }
        MN_TRY(mn_tpl_advance(p));
    }
    if (s.n_kw) {
        const mn_tpl_text **names = mn_pages_push(&p->t->pages, s.n_kw, sizeof *names);
        MN_FAIL_IF(!names, p->err, MNW_E_NOMEM, "chat template");
        memcpy(names, kw, s.n_kw * sizeof *names);
        s.kw_name = names;
    }
    MN_TRY(mn_tpl_grow(p, &p->t->site, p->n_sites, &p->cap_sites, sizeof s));
    *site = (int32_t)p->n_sites;
    p->t->site[p->n_sites++] = s;
    return MNW_OK;
}

static mnw_status parse_call(mn_tpl_parser *p)
{
    const uint32_t line = p->tok.line;
    int32_t        site;
    MN_TRY(parse_args(p, NULL, &site));
    return mn_tpl_emit(p, MN_DO_CALL, site, 0, line);
}

static mnw_status push_const(mn_tpl_parser *p, mn_tpl_value v, uint32_t line)
{
    int32_t id;
    MN_TRY(mn_tpl_constant(p, v, &id));
    return mn_tpl_emit(p, MN_DO_CONST, id, 0, line);
}

static mnw_status parse_name(mn_tpl_parser *p)
{
    const mn_tpl_token tok = p->tok;
    MN_TRY(mn_tpl_advance(p));
    if (mn_str_is(tok.text, "true") || mn_str_is(tok.text, "True")) {
        return push_const(p, mn_tpl_bool(true), tok.line);
    }
    if (mn_str_is(tok.text, "false") || mn_str_is(tok.text, "False")) {
        return push_const(p, mn_tpl_bool(false), tok.line);
    }
    if (mn_str_is(tok.text, "none") || mn_str_is(tok.text, "None")) {
        return push_const(p, mn_tpl_none(), tok.line);
    }
    int32_t id;
    MN_TRY(mn_tpl_name_of(p, tok.text, &id));
    return mn_tpl_emit(p, MN_DO_NAME, id, 0, tok.line);
}

/* Literals side by side are one. */
static mnw_status parse_string(mn_tpl_parser *p)
{
    const uint32_t line = p->tok.line;
    mn_tpl_lex     lex = p->lex;
    mn_tpl_token   tok = p->tok;
    size_t         room = 0, n = 0;
    while (tok.type == MN_TPL_TOK_STRING) {
        room += tok.text.n;
        MN_TRY(mn_tpl_lex_next(&lex, &tok, p->err));
    }
    char *text = mn_pages_push(&p->t->pages, room + 1, 1);
    MN_FAIL_IF(!text, p->err, MNW_E_NOMEM, "chat template");
    while (p->tok.type == MN_TPL_TOK_STRING) {
        size_t m;
        if (!mn_tpl_unescape(p->tok.text, text + n, &m)) {
            return mn_tpl_parse_fail(p, p->tok.line, "bad escape in a string");
        }
        n += m;
        MN_TRY(mn_tpl_advance(p));
    }
    int32_t id;
    MN_TRY(mn_tpl_constant_text(p, (mn_str){ text, n }, &id));
    return mn_tpl_emit(p, MN_DO_CONST, id, 0, line);
}

static mnw_status parse_number(mn_tpl_parser *p)
{
    const mn_tpl_token tok = p->tok;
    char               z[64];
    size_t             n = 0;
    for (size_t i = 0; i < tok.text.n && n < sizeof z - 1; i++) {
        if (tok.text.p[i] != '_') z[n++] = tok.text.p[i];
    }
    z[n] = '\0';
    if (tok.text.n >= sizeof z) return mn_tpl_parse_fail(p, tok.line, "number too long");
    MN_TRY(mn_tpl_advance(p));
    if (tok.type == MN_TPL_TOK_FLOAT) {   // as JSON reads it: strtod would ask the locale
        mn_json j;
        mn_json_init(&j, (mn_bytes){ (const uint8_t *)z, n });
        if (mn_json_next(&j) != MN_JSON_NUMBER) {
            return mn_tpl_parse_fail(p, tok.line, "bad number %s", z);
        }
        return push_const(p, mn_tpl_float(mn_json_f64(&j)), tok.line);
    }

    int64_t v = 0;
    if (n > 1 && z[0] == '0' && strspn(z, "0") != n) {
        return mn_tpl_parse_fail(p, tok.line, "number with a leading zero");
    }
    for (const char *c = z; *c; c++) {
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *c - '0', &v)) {
            return mn_tpl_parse_fail(p, tok.line, "number %s does not fit 64 bits", z);
        }
    }
    return push_const(p, mn_tpl_int(v), tok.line);
}

static mnw_status parse_list(mn_tpl_parser *p)
{
    const uint32_t line = p->tok.line;
    bool           any = false;
    MN_TRY(mn_tpl_advance(p));
    MN_TRY(mn_tpl_emit(p, MN_DO_NEW_LIST, 0, 0, line));
    while (!mn_tpl_at_op(p, "]")) {
        if (any) {
            MN_TRY(mn_tpl_expect_op(p, ","));
            if (mn_tpl_at_op(p, "]")) break;
        }
        MN_TRY(mn_tpl_expression(p, true));
        MN_TRY(mn_tpl_emit(p, MN_DO_ADD, 0, 0, line));
        any = true;
    }
    return mn_tpl_advance(p);
}

static mnw_status parse_dict(mn_tpl_parser *p)
{
    const uint32_t line = p->tok.line;
    bool           any = false;
    MN_TRY(mn_tpl_advance(p));
    MN_TRY(mn_tpl_emit(p, MN_DO_NEW_DICT, 0, 0, line));
    while (!mn_tpl_at_op(p, "}")) {
        if (any) {
            MN_TRY(mn_tpl_expect_op(p, ","));
            if (mn_tpl_at_op(p, "}")) break;
        }
        MN_TRY(mn_tpl_expression(p, true));
        MN_TRY(mn_tpl_expect_op(p, ":"));
        MN_TRY(mn_tpl_expression(p, true));
        MN_TRY(mn_tpl_emit(p, MN_DO_ENTRY, 0, 0, line));
        any = true;
    }
    return mn_tpl_advance(p);
}

static mnw_status parse_primary(mn_tpl_parser *p)
{
    char buf[64];
    switch (p->tok.type) {
    case MN_TPL_TOK_NAME: return parse_name(p);
    case MN_TPL_TOK_STRING: return parse_string(p);
    case MN_TPL_TOK_INT:
    case MN_TPL_TOK_FLOAT: return parse_number(p);
    default: break;
    }
    if (mn_tpl_at_op(p, "[")) return parse_list(p);
    if (mn_tpl_at_op(p, "{")) return parse_dict(p);
    if (!mn_tpl_at_op(p, "(")) {
        return mn_tpl_parse_fail(p, p->tok.line, "expected an expression, got %s",
                                 mn_tpl_describe(p, buf));
    }
    const uint32_t line = p->tok.line;
    MN_TRY(mn_tpl_advance(p));
    if (mn_tpl_at_op(p, ")")) {
        MN_TRY(mn_tpl_emit(p, MN_DO_NEW_LIST, 0, 0, line));
        MN_TRY(mn_tpl_emit(p, MN_DO_AS_TUPLE, 0, 0, line));
    } else {
        MN_TRY(mn_tpl_tuple(p, true));
    }
    return mn_tpl_expect_op(p, ")");
}

static bool slice_part_missing(const mn_tpl_parser *p)
{
    return mn_tpl_at_op(p, ":") || mn_tpl_at_op(p, "]");
}

/* [item], [from:to] or [from:to:step], after the "[". */
static mnw_status parse_subscript(mn_tpl_parser *p, uint32_t line)
{
    if (!mn_tpl_at_op(p, ":")) {
        MN_TRY(mn_tpl_expression(p, true));
        if (mn_tpl_at_op(p, "]")) {
            MN_TRY(mn_tpl_emit(p, MN_DO_ITEM, 0, 0, line));
            return mn_tpl_advance(p);
        }
    } else {
        MN_TRY(push_const(p, mn_tpl_none(), line));
    }
    MN_TRY(mn_tpl_expect_op(p, ":"));
    for (int part = 1; part < 3; part++) {
        if (slice_part_missing(p)) {
            MN_TRY(push_const(p, mn_tpl_none(), line));
        } else {
            MN_TRY(mn_tpl_expression(p, true));
        }
        if (part == 1 && mn_tpl_at_op(p, ":")) MN_TRY(mn_tpl_advance(p));
    }
    MN_TRY(mn_tpl_emit(p, MN_DO_SLICE, 0, 0, line));
    return mn_tpl_expect_op(p, "]");
}

static mnw_status parse_postfix(mn_tpl_parser *p)
{
    for (;;) {
        const uint32_t line = p->tok.line;
        if (mn_tpl_at_op(p, "(")) {
            MN_TRY(parse_call(p));
        } else if (mn_tpl_at_op(p, "[")) {
            MN_TRY(mn_tpl_advance(p));
            MN_TRY(parse_subscript(p, line));
        } else if (mn_tpl_at_op(p, ".")) {
            MN_TRY(mn_tpl_advance(p));
            if (p->tok.type == MN_TPL_TOK_INT) {
                MN_TRY(parse_number(p));
                MN_TRY(mn_tpl_emit(p, MN_DO_ITEM, 0, 0, line));
                continue;
            }
            if (p->tok.type != MN_TPL_TOK_NAME) {
                return mn_tpl_parse_fail(p, line, "expected a name or a number after '.'");
            }
            int32_t id;
            MN_TRY(mn_tpl_constant_text(p, p->tok.text, &id));
            MN_TRY(mn_tpl_advance(p));
            MN_TRY(mn_tpl_emit(p, MN_DO_ATTR, id, 0, line));
        } else {
            return MNW_OK;
        }
    }
}

/* Remember what is missing and go on: the error lists all of it. */
static void note_missing(mn_tpl_parser *p, const char *what, mn_str name, uint32_t line)
{
    char buf[80];
    snprintf(buf, sizeof buf, "%s%s '%.*s' (line %u)", p->n_missing ? ", " : "", what,
             (int)(name.n < 32 ? name.n : 32), name.p, line);
    const size_t n = strlen(buf);
    if (n >= sizeof p->missing - p->n_missing) return;
    memcpy(p->missing + p->n_missing, buf, n + 1);
    p->n_missing += n;
}

mnw_status mn_tpl_filter_named(mn_tpl_parser *p)
{
    const mn_tpl_token tok = p->tok;
    if (tok.type != MN_TPL_TOK_NAME) {
        return mn_tpl_parse_fail(p, tok.line, "expected the name of a filter");
    }
    const mn_tpl_native *f = mn_tpl_filter(tok.text);
    if (!f) note_missing(p, "filter", tok.text, tok.line);
    int32_t site;
    MN_TRY(mn_tpl_advance(p));
    MN_TRY(parse_args(p, f, &site));
    return mn_tpl_emit(p, MN_DO_FILTER, site, 0, tok.line);
}

static mnw_status parse_test(mn_tpl_parser *p)
{
    bool negate = false;
    MN_TRY(mn_tpl_advance(p));   // is
    if (mn_tpl_at_name(p, "not")) {
        negate = true;
        MN_TRY(mn_tpl_advance(p));
    }
    const mn_tpl_token tok = p->tok;
    if (tok.type != MN_TPL_TOK_NAME) {
        return mn_tpl_parse_fail(p, tok.line, "expected the name of a test after 'is'");
    }
    const mn_tpl_native *f = mn_tpl_test(tok.text);
    if (!f) note_missing(p, "test", tok.text, tok.line);
    MN_TRY(mn_tpl_advance(p));

    int32_t    site;
    const bool word = p->tok.type == MN_TPL_TOK_NAME && !mn_tpl_at_name(p, "else") &&
                      !mn_tpl_at_name(p, "or") && !mn_tpl_at_name(p, "and");
    if (word && mn_tpl_at_name(p, "is")) {
        return mn_tpl_parse_fail(p, p->tok.line, "tests cannot be chained with 'is'");
    }
    if (word || p->tok.type == MN_TPL_TOK_STRING || p->tok.type == MN_TPL_TOK_INT ||
        p->tok.type == MN_TPL_TOK_FLOAT || mn_tpl_at_op(p, "[") || mn_tpl_at_op(p, "{")) {
        MN_TRY(parse_primary(p));
        MN_TRY(parse_postfix(p));
        MN_TRY(mn_tpl_grow(p, &p->t->site, p->n_sites, &p->cap_sites, sizeof *p->t->site));
        site = (int32_t)p->n_sites;
        p->t->site[p->n_sites++] = (mn_tpl_site){ .native = f, .n_pos = 1 };
    } else {
        MN_TRY(parse_args(p, f, &site));
    }
    MN_TRY(mn_tpl_emit(p, MN_DO_TEST, site, 0, tok.line));
    return negate ? mn_tpl_emit(p, MN_DO_NOT, 0, 0, tok.line) : MNW_OK;
}

mnw_status mn_tpl_filters(mn_tpl_parser *p)
{
    while (mn_tpl_at_op(p, "|")) {
        MN_TRY(mn_tpl_advance(p));
        MN_TRY(mn_tpl_filter_named(p));
    }
    return MNW_OK;
}

static mnw_status parse_unary(mn_tpl_parser *p, bool with_filters)
{
    const uint32_t line = p->tok.line;
    const bool     minus = mn_tpl_at_op(p, "-"), plus = mn_tpl_at_op(p, "+");
    if (minus || plus) {
        MN_TRY(enter(p));
        MN_TRY(mn_tpl_advance(p));
        MN_TRY(parse_unary(p, false));
        p->depth--;
        MN_TRY(mn_tpl_emit(p, minus ? MN_DO_NEG : MN_DO_POS, 0, 0, line));
    } else {
        MN_TRY(parse_primary(p));
    }
    MN_TRY(parse_postfix(p));
    while (with_filters) {
        if (mn_tpl_at_op(p, "|")) {
            MN_TRY(mn_tpl_filters(p));
        } else if (mn_tpl_at_name(p, "is")) {
            MN_TRY(parse_test(p));
        } else if (mn_tpl_at_op(p, "(")) {
            MN_TRY(parse_call(p));
        } else {
            break;
        }
    }
    return MNW_OK;
}

typedef struct op_name {
    const char *text;
    int         level;
    mn_tpl_op   op;
} op_name;

static const op_name ARITHMETIC[] = {
    { "+", 0, MN_TPL_OP_ADD },  { "-", 0, MN_TPL_OP_SUB },      { "~", 1, MN_TPL_OP_CONCAT },
    { "*", 2, MN_TPL_OP_MUL },  { "/", 2, MN_TPL_OP_DIV },      { "//", 2, MN_TPL_OP_FLOORDIV },
    { "%", 2, MN_TPL_OP_MOD },  { "**", 3, MN_TPL_OP_POW },
};
static const op_name COMPARISON[] = {
    { "==", 0, MN_TPL_OP_EQ }, { "!=", 0, MN_TPL_OP_NE }, { "<", 0, MN_TPL_OP_LT },
    { "<=", 0, MN_TPL_OP_LE }, { ">", 0, MN_TPL_OP_GT },  { ">=", 0, MN_TPL_OP_GE },
};

static const op_name *find_op(const mn_tpl_parser *p, const op_name *list, size_t n, int level)
{
    for (size_t i = 0; i < n; i++) {
        if (list[i].level == level && mn_tpl_at_op(p, list[i].text)) return &list[i];
    }
    return NULL;
}

/* Four levels of operators that group to the left. */
static mnw_status parse_arithmetic(mn_tpl_parser *p, int level)
{
    if (level == 4) return parse_unary(p, true);
    MN_TRY(parse_arithmetic(p, level + 1));
    const op_name *op;
    while ((op = find_op(p, ARITHMETIC, sizeof ARITHMETIC / sizeof *ARITHMETIC, level))) {
        const uint32_t line = p->tok.line;
        MN_TRY(mn_tpl_advance(p));
        MN_TRY(parse_arithmetic(p, level + 1));
        MN_TRY(mn_tpl_emit(p, MN_DO_BINARY, (int32_t)op->op, 0, line));
    }
    return MNW_OK;
}

/* Is the next operator a comparison?  Takes it. */
static mnw_status take_comparison(mn_tpl_parser *p, bool *is, mn_tpl_op *op)
{
    const op_name *c = find_op(p, COMPARISON, sizeof COMPARISON / sizeof *COMPARISON, 0);
    *is = true;
    if (c) {
        *op = c->op;
        return mn_tpl_advance(p);
    }
    if (mn_tpl_at_name(p, "in")) {
        *op = MN_TPL_OP_IN;
        return mn_tpl_advance(p);
    }
    if (mn_tpl_at_name(p, "not") && peek_is_name(p, "in")) {
        *op = MN_TPL_OP_NOT_IN;
        MN_TRY(mn_tpl_advance(p));
        return mn_tpl_advance(p);
    }
    *is = false;
    return MNW_OK;
}

/* a < b <= c: each link but the last jumps to the end when it fails. */
static mnw_status parse_comparison(mn_tpl_parser *p)
{
    bool      is;
    mn_tpl_op op, next;
    uint32_t  line = p->tok.line;
    size_t    chain = SIZE_MAX;   // links that want to jump, each pointing at the one before
    MN_TRY(parse_arithmetic(p, 0));
    MN_TRY(take_comparison(p, &is, &op));
    while (is) {
        MN_TRY(parse_arithmetic(p, 0));
        MN_TRY(take_comparison(p, &is, &next));
        if (is) {
            const size_t at = p->t->n_code;
            MN_TRY(mn_tpl_emit(p, MN_DO_CHAIN, (int32_t)chain, (int32_t)op, line));
            chain = at;
        } else {
            MN_TRY(mn_tpl_emit(p, MN_DO_BINARY, (int32_t)op, 0, line));
        }
        op = next;
    }
    while (chain != SIZE_MAX) {
        const int32_t before = p->t->code[chain].arg;
        mn_tpl_land(p, chain);
        chain = before < 0 ? SIZE_MAX : (size_t)before;
    }
    return MNW_OK;
}

static mnw_status parse_not(mn_tpl_parser *p)
{
    const uint32_t line = p->tok.line;
    bool           negate = false, any = false;
    while (mn_tpl_at_name(p, "not")) {
        any = true;
        negate = !negate;
        MN_TRY(mn_tpl_advance(p));
    }
    MN_TRY(parse_comparison(p));
    if (any && !negate) MN_TRY(mn_tpl_emit(p, MN_DO_NOT, 0, 0, line));
    if (any) MN_TRY(mn_tpl_emit(p, MN_DO_NOT, 0, 0, line));
    return MNW_OK;
}

/* a and b and c: each jumps over the next one only; where it lands, the same test is made again. */
static mnw_status parse_and(mn_tpl_parser *p)
{
    MN_TRY(parse_not(p));
    while (mn_tpl_at_name(p, "and")) {
        const size_t at = p->t->n_code;
        MN_TRY(mn_tpl_emit(p, MN_DO_AND, 0, 0, p->tok.line));
        MN_TRY(mn_tpl_advance(p));
        MN_TRY(parse_not(p));
        mn_tpl_land(p, at);
    }
    return MNW_OK;
}

static mnw_status parse_or(mn_tpl_parser *p)
{
    MN_TRY(parse_and(p));
    while (mn_tpl_at_name(p, "or")) {
        const size_t at = p->t->n_code;
        MN_TRY(mn_tpl_emit(p, MN_DO_OR, 0, 0, p->tok.line));
        MN_TRY(mn_tpl_advance(p));
        MN_TRY(parse_and(p));
        mn_tpl_land(p, at);
    }
    return MNW_OK;
}

/*  a if b else c        JUMP 1   2: <a>  JUMP 3   1: <b>  JUMP_FALSE 4  JUMP 2   4: <c>   3:  */
static mnw_status parse_ternary(mn_tpl_parser *p, size_t a)
{
    const uint32_t line = p->tok.line;
    MN_TRY(mn_tpl_advance(p));
    MN_TRY(mn_tpl_insert(p, a, MN_DO_JUMP, 0, line));
    const size_t over_a = a;
    const size_t to_end = p->t->n_code;
    MN_TRY(mn_tpl_emit(p, MN_DO_JUMP, 0, 0, line));
    mn_tpl_land(p, over_a);
    MN_TRY(parse_or(p));
    const size_t to_c = p->t->n_code;
    MN_TRY(mn_tpl_emit(p, MN_DO_JUMP_FALSE, 0, 0, line));
    MN_TRY(mn_tpl_emit(p, MN_DO_JUMP, (int32_t)a - (int32_t)to_c - 1, 0, line));
    mn_tpl_land(p, to_c);
    if (mn_tpl_at_name(p, "else")) {
        MN_TRY(mn_tpl_advance(p));
        MN_TRY(mn_tpl_expression(p, true));
    } else {
        MN_TRY(push_const(p, mn_tpl_undefined(NULL), line));
    }
    mn_tpl_land(p, to_end);
    return MNW_OK;
}

mnw_status mn_tpl_expression(mn_tpl_parser *p, bool ternary)
{
    MN_TRY(enter(p));
    const size_t at = p->t->n_code;
    MN_TRY(parse_or(p));
    while (ternary && mn_tpl_at_name(p, "if")) MN_TRY(parse_ternary(p, at));
    p->depth--;
    return MNW_OK;
}

static bool at_tuple_end(const mn_tpl_parser *p)
{
    return p->tok.type == MN_TPL_TOK_VAR_END || p->tok.type == MN_TPL_TOK_BLOCK_END ||
           mn_tpl_at_op(p, ")");
}

mnw_status mn_tpl_tuple(mn_tpl_parser *p, bool ternary)
{
    const size_t   at = p->t->n_code;
    const uint32_t line = p->tok.line;
    MN_TRY(mn_tpl_expression(p, ternary));
    if (!mn_tpl_at_op(p, ",")) return MNW_OK;

    MN_TRY(mn_tpl_insert(p, at, MN_DO_NEW_LIST, 0, line));
    MN_TRY(mn_tpl_emit(p, MN_DO_ADD, 0, 0, line));
    while (mn_tpl_at_op(p, ",")) {
        MN_TRY(mn_tpl_advance(p));
        if (at_tuple_end(p)) break;
        MN_TRY(mn_tpl_expression(p, ternary));
        MN_TRY(mn_tpl_emit(p, MN_DO_ADD, 0, 0, line));
    }
    return mn_tpl_emit(p, MN_DO_AS_TUPLE, 0, 0, line);
}
