/* SPDX-License-Identifier: Apache-2.0
 *
 * template_parse.c - compile the statements of a template.  Open blocks are a stack, not recursion.
 *
 *     {% if c %} A {% else %} B {% endif %}       <c> JUMP_FALSE 1   A  JUMP 2   1: B   2:
 *
 *     {% for x in y if c %} A {% else %} B {% endfor %}
 *           <y>  FOR  1: NEXT 2  STORE x  <c>  KEEP  JUMP 1    2: KEPT        (only with `if c`)
 *                FOR  3: NEXT 4  STORE x  A  JUMP 3            4: FOR_END 5  B  5:
 *
 *     {% macro m(a, b=1) %} A {% endmacro %}
 *           MACRO  STORE m  JUMP 1  entry: PARAM b 2  <1> STORE b  2: A  RETURN   1:
 *
 *     {% set x | f %} A {% endset %}
 *           CAPTURE  JUMP 2   1: <f> JUMP 3   2: A  CAPTURED  JUMP 1   3: STORE x
 */
#include "base/utf8.h"
#include "text/template_code.h"

enum { TARGETS_MAX = 8, PARAMS_MAX = 32 };

typedef struct target {      // what is assigned to: a, or a, b, or ns.a
    size_t  n;
    int32_t name[TARGETS_MAX];
    int32_t attr[TARGETS_MAX];   // constant, -1 = the name itself
} target;

typedef enum block_type { BLOCK_IF, BLOCK_FOR, BLOCK_MACRO, BLOCK_SET, BLOCK_FILTER,
                          BLOCK_SCOPE } block_type;

typedef struct block {
    block_type type;
    uint32_t   line;
    size_t     top;        // for: its NEXT; set, filter: its filters
    size_t     jump;       // to land where this part of the block ends; SIZE_MAX = none
    size_t     chain;      // jumps to the end, each pointing at the one before
    bool       has_else;
    const char *end;       // the tag that closes it
    target     to;         // set
} block;

typedef struct compiler {
    mn_tpl_parser p;
    block         open[MN_TEMPLATE_DEPTH_MAX];
    size_t        n_open;
} compiler;

static mnw_status open_block(compiler *c, block_type type, const char *end, uint32_t line,
                             block **out)
{
    MN_FAIL_IF(c->n_open == MN_TEMPLATE_DEPTH_MAX, c->p.err, MNW_E_LIMIT,
               "chat template, line %u: blocks nested more than %d deep", line,
               MN_TEMPLATE_DEPTH_MAX);
    *out = &c->open[c->n_open++];
    **out = (block){ .type = type, .end = end, .line = line, .jump = SIZE_MAX, .chain = SIZE_MAX };
    return MNW_OK;
}

/* Emit a jump that joins a chain. */
static mnw_status jump_in_chain(mn_tpl_parser *p, size_t *chain, uint32_t line)
{
    const size_t at = p->t->n_code;
    MN_TRY(mn_tpl_emit(p, MN_DO_JUMP, *chain == SIZE_MAX ? -1 : (int32_t)*chain, 0, line));
    *chain = at;
    return MNW_OK;
}

static void land_chain(mn_tpl_parser *p, size_t chain)
{
    while (chain != SIZE_MAX) {
        const int32_t before = p->t->code[chain].arg;
        mn_tpl_land(p, chain);
        chain = before < 0 ? SIZE_MAX : (size_t)before;
    }
}

static mnw_status jump_to(mn_tpl_parser *p, size_t at, uint32_t line)
{
    return mn_tpl_emit(p, MN_DO_JUMP, (int32_t)at - (int32_t)p->t->n_code - 1, 0, line);
}

static mnw_status parse_target(mn_tpl_parser *p, bool with_attr, target *to)
{
    *to = (target){ 0 };
    const bool parens = mn_tpl_at_op(p, "(");
    if (parens) MN_TRY(mn_tpl_advance(p));
    do {
        if (to->n) MN_TRY(mn_tpl_advance(p));
        if (p->tok.type != MN_TPL_TOK_NAME || to->n == TARGETS_MAX) {
            return mn_tpl_parse_fail(p, p->tok.line, "expected up to %d names to assign to",
                                     TARGETS_MAX);
        }
        MN_TRY(mn_tpl_name_of(p, p->tok.text, &to->name[to->n]));
        to->attr[to->n] = -1;
        MN_TRY(mn_tpl_advance(p));
        if (with_attr && mn_tpl_at_op(p, ".")) {
            MN_TRY(mn_tpl_advance(p));
            if (p->tok.type != MN_TPL_TOK_NAME) {
                return mn_tpl_parse_fail(p, p->tok.line, "expected a name after '.'");
            }
            MN_TRY(mn_tpl_constant_text(p, p->tok.text, &to->attr[to->n]));
            MN_TRY(mn_tpl_advance(p));
        }
        to->n++;
    } while (mn_tpl_at_op(p, ","));
    return parens ? mn_tpl_expect_op(p, ")") : MNW_OK;
}

static mnw_status emit_store(mn_tpl_parser *p, const target *to, uint32_t line)
{
    if (to->n > 1) MN_TRY(mn_tpl_emit(p, MN_DO_UNPACK, (int32_t)to->n, 0, line));
    for (size_t i = 0; i < to->n; i++) {
        const bool attr = to->attr[i] >= 0;
        MN_TRY(mn_tpl_emit(p, attr ? MN_DO_STORE_ATTR : MN_DO_STORE, to->name[i], to->attr[i],
                           line));
    }
    return MNW_OK;
}

static mnw_status parse_if(compiler *c, uint32_t line)
{
    mn_tpl_parser *p = &c->p;
    block         *b = NULL;
    MN_TRY(open_block(c, BLOCK_IF, "endif", line, &b));
    MN_TRY(mn_tpl_tuple(p, false));
    b->jump = p->t->n_code;
    return mn_tpl_emit(p, MN_DO_JUMP_FALSE, 0, 0, line);
}

static mnw_status parse_else(compiler *c, uint32_t line, bool elif)
{
    mn_tpl_parser *p = &c->p;
    block         *b = c->n_open ? &c->open[c->n_open - 1] : NULL;
    if (!b || b->has_else || (b->type != BLOCK_IF && (b->type != BLOCK_FOR || elif))) {
        return mn_tpl_parse_fail(p, line, "{%% %s %%} without an open {%% if %%}",
                                 elif ? "elif" : "else");
    }
    if (b->type == BLOCK_FOR) {
        MN_TRY(jump_to(p, b->top, line));
        mn_tpl_land(p, b->jump);
        land_chain(p, b->chain);
        b->chain = SIZE_MAX;
        b->jump = p->t->n_code;
        b->has_else = true;
        MN_TRY(mn_tpl_emit(p, MN_DO_FOR_END, 0, 0, line));
        return mn_tpl_emit(p, MN_DO_SCOPE, 0, 0, line);
    }
    MN_TRY(jump_in_chain(p, &b->chain, line));
    mn_tpl_land(p, b->jump);
    b->jump = SIZE_MAX;
    if (!elif) {
        b->has_else = true;
        return MNW_OK;
    }
    MN_TRY(mn_tpl_tuple(p, false));
    b->jump = p->t->n_code;
    return mn_tpl_emit(p, MN_DO_JUMP_FALSE, 0, 0, line);
}

static mnw_status parse_for(compiler *c, uint32_t line)
{
    mn_tpl_parser *p = &c->p;
    block         *b = NULL;
    target         to;
    MN_TRY(open_block(c, BLOCK_FOR, "endfor", line, &b));
    MN_TRY(parse_target(p, false, &to));
    if (!mn_tpl_at_name(p, "in")) {
        return mn_tpl_parse_fail(p, p->tok.line, "expected 'in' after the names of {%% for %%}");
    }
    MN_TRY(mn_tpl_advance(p));
    MN_TRY(mn_tpl_tuple(p, false));
    MN_TRY(mn_tpl_emit(p, MN_DO_FOR, 0, 0, line));
    if (mn_tpl_at_name(p, "if")) {
        MN_TRY(mn_tpl_advance(p));
        const size_t next = p->t->n_code;
        MN_TRY(mn_tpl_emit(p, MN_DO_NEXT, 0, 0, line));
        MN_TRY(emit_store(p, &to, line));
        MN_TRY(mn_tpl_expression(p, true));
        MN_TRY(mn_tpl_emit(p, MN_DO_KEEP, 0, 0, line));
        MN_TRY(jump_to(p, next, line));
        mn_tpl_land(p, next);
        MN_TRY(mn_tpl_emit(p, MN_DO_KEPT, 0, 0, line));
        MN_TRY(mn_tpl_emit(p, MN_DO_FOR, 0, 0, line));
    }
    if (mn_tpl_at_name(p, "recursive")) {
        return mn_tpl_parse_fail(p, line, "recursive loops are not supported");
    }
    b->top = b->jump = p->t->n_code;
    MN_TRY(mn_tpl_emit(p, MN_DO_NEXT, 0, 1, line));
    return emit_store(p, &to, line);
}

/* break and continue belong to the nearest loop, and cannot leave a macro or captured text. */
static mnw_status parse_leave(compiler *c, uint32_t line, bool again)
{
    for (size_t i = c->n_open; i-- > 0;) {
        block *b = &c->open[i];
        if (b->type == BLOCK_FOR && !b->has_else) {
            return again ? jump_to(&c->p, b->top, line) : jump_in_chain(&c->p, &b->chain, line);
        }
        if (b->type == BLOCK_MACRO || b->type == BLOCK_SET || b->type == BLOCK_FILTER) break;
    }
    return mn_tpl_parse_fail(&c->p, line, "{%% %s %%} outside a loop", again ? "continue" : "break");
}

static mnw_status parse_macro(compiler *c, uint32_t line)
{
    mn_tpl_parser *p = &c->p;
    block         *b = NULL;
    int32_t        name, id;
    uint32_t       param[PARAMS_MAX];
    mn_tpl_macro   m = { 0 };
    MN_TRY(open_block(c, BLOCK_MACRO, "endmacro", line, &b));
    if (p->tok.type != MN_TPL_TOK_NAME) return mn_tpl_parse_fail(p, line, "a macro needs a name");
    MN_TRY(mn_tpl_name_of(p, p->tok.text, &name));
    MN_TRY(mn_tpl_advance(p));
    MN_TRY(mn_tpl_expect_op(p, "("));

    const size_t at = p->n_macros;
    MN_TRY(mn_tpl_grow(p, &p->t->macro, p->n_macros, &p->cap_macros, sizeof m));
    p->t->macro[p->n_macros++] = m;
    MN_TRY(mn_tpl_emit(p, MN_DO_MACRO, (int32_t)at, 0, line));
    MN_TRY(mn_tpl_emit(p, MN_DO_STORE, name, 0, line));
    b->jump = p->t->n_code;
    MN_TRY(mn_tpl_emit(p, MN_DO_JUMP, 0, 0, line));
    m.entry = (uint32_t)p->t->n_code;
    m.name = p->t->name[name].text;
    while (!mn_tpl_at_op(p, ")")) {
        if (m.n_params) MN_TRY(mn_tpl_expect_op(p, ","));
        if (p->tok.type != MN_TPL_TOK_NAME || m.n_params == PARAMS_MAX) {
            return mn_tpl_parse_fail(p, line, "expected up to %d parameter names", PARAMS_MAX);
        }
        MN_TRY(mn_tpl_name_of(p, p->tok.text, &id));
        MN_TRY(mn_tpl_advance(p));
        if (mn_tpl_at_op(p, "=")) {
            MN_TRY(mn_tpl_advance(p));
            const size_t given = p->t->n_code;
            MN_TRY(mn_tpl_emit(p, MN_DO_PARAM, 0, (int32_t)m.n_params, line));
            MN_TRY(mn_tpl_expression(p, true));
            MN_TRY(mn_tpl_emit(p, MN_DO_STORE, id, 0, line));
            mn_tpl_land(p, given);
        }
        param[m.n_params++] = (uint32_t)id;
    }
    MN_TRY(mn_tpl_advance(p));
    m.param = mn_pages_push(&p->t->pages, m.n_params + 1, sizeof *m.param);
    MN_FAIL_IF(!m.param, p->err, MNW_E_NOMEM, "chat template");
    memcpy(m.param, param, m.n_params * sizeof *param);
    p->t->macro[at] = m;
    return MNW_OK;
}

/* The head of a block whose text is captured, with filters to be applied at its end. */
static mnw_status open_capture(compiler *c, block *b, bool named, uint32_t line)
{
    mn_tpl_parser *p = &c->p;
    MN_TRY(mn_tpl_emit(p, MN_DO_CAPTURE, 0, 0, line));
    if (named || mn_tpl_at_op(p, "|")) {
        const size_t over = p->t->n_code;
        MN_TRY(mn_tpl_emit(p, MN_DO_JUMP, 0, 0, line));
        b->top = p->t->n_code;
        if (named) MN_TRY(mn_tpl_filter_named(p));
        MN_TRY(mn_tpl_filters(p));
        MN_TRY(jump_in_chain(p, &b->chain, line));
        mn_tpl_land(p, over);
    }
    return mn_tpl_emit(p, MN_DO_SCOPE, 0, 0, line);
}

static mnw_status parse_set(compiler *c, uint32_t line)
{
    mn_tpl_parser *p = &c->p;
    target         to;
    MN_TRY(parse_target(p, true, &to));
    if (mn_tpl_at_op(p, "=")) {
        MN_TRY(mn_tpl_advance(p));
        MN_TRY(mn_tpl_tuple(p, true));
        return emit_store(p, &to, line);
    }
    block *b = NULL;
    MN_TRY(open_block(c, BLOCK_SET, "endset", line, &b));
    b->to = to;
    return open_capture(c, b, false, line);
}

static mnw_status parse_filter_block(compiler *c, uint32_t line)
{
    block *b = NULL;
    MN_TRY(open_block(c, BLOCK_FILTER, "endfilter", line, &b));
    return open_capture(c, b, true, line);
}

/* {% with a = 1, b = 2 %}: the values are computed outside. */
static mnw_status parse_with(compiler *c, uint32_t line)
{
    mn_tpl_parser *p = &c->p;
    block         *b = NULL;
    int32_t        name[TARGETS_MAX];
    size_t         n = 0;
    MN_TRY(open_block(c, BLOCK_SCOPE, "endwith", line, &b));
    while (p->tok.type != MN_TPL_TOK_BLOCK_END) {
        if (n) MN_TRY(mn_tpl_expect_op(p, ","));
        if (p->tok.type != MN_TPL_TOK_NAME || n == TARGETS_MAX) {
            return mn_tpl_parse_fail(p, line, "expected up to %d names in {%% with %%}",
                                     TARGETS_MAX);
        }
        MN_TRY(mn_tpl_name_of(p, p->tok.text, &name[n++]));
        MN_TRY(mn_tpl_advance(p));
        MN_TRY(mn_tpl_expect_op(p, "="));
        MN_TRY(mn_tpl_expression(p, true));
    }
    MN_TRY(mn_tpl_emit(p, MN_DO_SCOPE, 0, 0, line));
    while (n) MN_TRY(mn_tpl_emit(p, MN_DO_STORE, name[--n], 0, line));
    return MNW_OK;
}

/* transformers marks what the assistant said with {% generation %}; for a prompt it is a scope. */
static mnw_status parse_generation(compiler *c, uint32_t line)
{
    block *b = NULL;
    MN_TRY(open_block(c, BLOCK_SCOPE, "endgeneration", line, &b));
    return mn_tpl_emit(&c->p, MN_DO_SCOPE, 0, 0, line);
}

static mnw_status close_block(compiler *c, mn_str tag, uint32_t line)
{
    mn_tpl_parser *p = &c->p;
    block         *b = c->n_open ? &c->open[c->n_open - 1] : NULL;
    if (!b) return mn_tpl_parse_fail(p, line, "{%% %.*s %%} closes nothing", MN_STR(tag));
    if (!mn_str_is(tag, b->end)) {
        return mn_tpl_parse_fail(p, line, "{%% %.*s %%} where {%% %s %%} for line %u is expected",
                                 MN_STR(tag), b->end, b->line);
    }
    c->n_open--;
    switch (b->type) {
    case BLOCK_IF:
        if (b->jump != SIZE_MAX) mn_tpl_land(p, b->jump);
        land_chain(p, b->chain);
        return MNW_OK;
    case BLOCK_FOR:
        if (b->has_else) {
            MN_TRY(mn_tpl_emit(p, MN_DO_SCOPE_END, 0, 0, line));
            mn_tpl_land(p, b->jump);
            return MNW_OK;
        }
        MN_TRY(jump_to(p, b->top, line));
        mn_tpl_land(p, b->jump);
        land_chain(p, b->chain);
        return mn_tpl_emit(p, MN_DO_FOR_END, 0, 0, line);
    case BLOCK_MACRO:
        if (p->tok.type == MN_TPL_TOK_NAME) MN_TRY(mn_tpl_advance(p));
        MN_TRY(mn_tpl_emit(p, MN_DO_RETURN, 0, 0, line));
        mn_tpl_land(p, b->jump);
        return MNW_OK;
    case BLOCK_SET:
    case BLOCK_FILTER:
        MN_TRY(mn_tpl_emit(p, MN_DO_SCOPE_END, 0, 0, line));
        MN_TRY(mn_tpl_emit(p, MN_DO_CAPTURED, 0, 0, line));
        if (b->chain != SIZE_MAX) {
            MN_TRY(jump_to(p, b->top, line));
            land_chain(p, b->chain);
        }
        if (b->type == BLOCK_SET) return emit_store(p, &b->to, line);
        return mn_tpl_emit(p, MN_DO_PRINT, 0, 0, line);
    case BLOCK_SCOPE: return mn_tpl_emit(p, MN_DO_SCOPE_END, 0, 0, line);
    }
    return MNW_OK;
}

static mnw_status parse_statement(compiler *c)
{
    static const struct {
        const char *tag;
        mnw_status (*parse)(compiler *c, uint32_t line);
    } TAGS[] = {
        { "if", parse_if },     { "for", parse_for },           { "set", parse_set },
        { "macro", parse_macro }, { "filter", parse_filter_block }, { "with", parse_with },
        { "generation", parse_generation },
    };
    mn_tpl_parser     *p = &c->p;
    const mn_tpl_token tok = p->tok;
    if (tok.type != MN_TPL_TOK_NAME) return mn_tpl_parse_fail(p, tok.line, "{%% without a tag name");
    MN_TRY(mn_tpl_advance(p));
    for (size_t i = 0; i < sizeof TAGS / sizeof *TAGS; i++) {
        if (mn_str_is(tok.text, TAGS[i].tag)) return TAGS[i].parse(c, tok.line);
    }
    if (mn_str_is(tok.text, "elif")) return parse_else(c, tok.line, true);
    if (mn_str_is(tok.text, "else")) return parse_else(c, tok.line, false);
    if (mn_str_is(tok.text, "break")) return parse_leave(c, tok.line, false);
    if (mn_str_is(tok.text, "continue")) return parse_leave(c, tok.line, true);
    if (mn_str_starts(tok.text, mn_str_of("end"))) return close_block(c, tok.text, tok.line);
    return mn_tpl_parse_fail(p, tok.line, "tag '%.*s' is not supported", MN_STR(tok.text));
}

/* The end of a tag: everything in it must have been understood. */
static mnw_status expect_end(mn_tpl_parser *p, mn_tpl_token_type end)
{
    char buf[64];
    if (end == MN_TPL_TOK_BLOCK_END && mn_tpl_at_op(p, ":")) MN_TRY(mn_tpl_advance(p));
    if (p->tok.type != end) {
        return mn_tpl_parse_fail(p, p->tok.line, "expected the end of the tag, got %s",
                                 mn_tpl_describe(p, buf));
    }
    return mn_tpl_advance(p);
}

static mnw_status parse_all(compiler *c)
{
    mn_tpl_parser *p = &c->p;
    MN_TRY(mn_tpl_advance(p));
    while (p->tok.type != MN_TPL_TOK_EOF) {
        const mn_tpl_token tok = p->tok;
        int32_t            id;
        MN_TRY(mn_tpl_advance(p));
        switch (tok.type) {
        case MN_TPL_TOK_DATA:
            if (!tok.text.n) break;
            MN_TRY(mn_tpl_constant_text(p, tok.text, &id));
            MN_TRY(mn_tpl_emit(p, MN_DO_TEXT, id, 0, tok.line));
            break;
        case MN_TPL_TOK_VAR_BEGIN:
            if (p->tok.type == MN_TPL_TOK_VAR_END) {
                return mn_tpl_parse_fail(p, tok.line, "{{ }} without an expression");
            }
            MN_TRY(mn_tpl_tuple(p, true));
            MN_TRY(mn_tpl_emit(p, MN_DO_PRINT, 0, 0, tok.line));
            MN_TRY(expect_end(p, MN_TPL_TOK_VAR_END));
            break;
        default:
            MN_TRY(parse_statement(c));
            MN_TRY(expect_end(p, MN_TPL_TOK_BLOCK_END));
        }
    }
    if (c->n_open) {
        const block *b = &c->open[c->n_open - 1];
        return mn_tpl_parse_fail(p, b->line, "the block that begins here has no {%% %s %%}", b->end);
    }
    if (p->n_missing) {
        MN_FAIL(p->err, MNW_E_TEMPLATE, "chat template: not supported: %s", p->missing);
    }
    return mn_tpl_emit(p, MN_DO_END, 0, 0, p->tok.line);
}

/* The source with "\n" newlines and without the last one. */
static mnw_status copy_source(mn_template *t, mn_str source, mn_str *out, mn_err *err)
{
    char *s = mn_pages_push(&t->pages, source.n + 1, 1);
    MN_FAIL_IF(!s, err, MNW_E_NOMEM, "chat template");
    size_t n = 0;
    for (size_t i = 0; i < source.n; i++) {
        const char c = source.p[i];
        if (c == '\n' && i && source.p[i - 1] == '\r') continue;
        s[n++] = c == '\r' ? '\n' : c;
    }
    if (n && s[n - 1] == '\n') n--;
    *out = (mn_str){ s, n };
    return MNW_OK;
}

static mnw_status compile(mn_mem *mem, mn_template *t, mn_str source, mn_err *err)
{
    mn_str s = { 0 };
    MN_TRY(copy_source(t, source, &s, err));
    compiler *c = mn_alloc_zero(mem, 1, sizeof *c);
    MN_FAIL_IF(!c, err, MNW_E_NOMEM, "chat template");
    c->p.t = t;
    c->p.err = err;
    c->p.lex = (mn_tpl_lex){ .p = s.p, .n = s.n, .line = 1 };
    int32_t    loop;   // name 0, which NEXT binds
    mnw_status st = mn_tpl_name_of(&c->p, mn_str_of("loop"), &loop);
    if (st == MNW_OK) st = parse_all(c);
    mn_free(mem, c);
    return st;
}

mnw_status mn_template_compile(mn_mem *mem, mn_str source, mn_template **out, mn_err *err)
{
    mn_err local = { 0 };
    if (!err) err = &local;
    *out = NULL;
    MN_FAIL_IF(source.n > MN_TEMPLATE_SOURCE_MAX, err, MNW_E_LIMIT,
               "chat template: %zu bytes, at most %d are read", source.n, MN_TEMPLATE_SOURCE_MAX);
    MN_FAIL_IF(!mn_utf8_valid(source.p, source.n), err, MNW_E_TEMPLATE,
               "chat template: not UTF-8 text");
    mn_template *t = mn_alloc_zero(mem, 1, sizeof *t);
    MN_FAIL_IF(!t, err, MNW_E_NOMEM, "chat template");
    mn_pages_init(&t->pages, mem);
    const mnw_status st = compile(mem, t, source, err);
    if (st != MNW_OK) {
        mn_template_free(mem, t);
        return st;
    }
    *out = t;
    return MNW_OK;
}

void mn_template_free(mn_mem *mem, mn_template *t)
{
    if (!t) return;
    mn_pages_done(&t->pages);
    mn_free(mem, t);
}
