/* SPDX-License-Identifier: Apache-2.0
 *
 * template_code.c - what the two halves of the compiler share: tokens, names, constants, code.
 */
#include "text/template_code.h"

#include <stdio.h>

mnw_status mn_tpl_parse_fail(mn_tpl_parser *p, uint32_t line, const char *fmt, ...)
{
    char    text[200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    MN_FAIL(p->err, MNW_E_TEMPLATE, "chat template, line %u: %s", line, text);
}

mnw_status mn_tpl_advance(mn_tpl_parser *p)
{
    return mn_tpl_lex_next(&p->lex, &p->tok, p->err);
}

bool mn_tpl_at_name(const mn_tpl_parser *p, const char *name)
{
    return p->tok.type == MN_TPL_TOK_NAME && mn_str_is(p->tok.text, name);
}

bool mn_tpl_at_op(const mn_tpl_parser *p, const char *op)
{
    return p->tok.type == MN_TPL_TOK_OP && mn_str_is(p->tok.text, op);
}

const char *mn_tpl_describe(const mn_tpl_parser *p, char buf[64])
{
    switch (p->tok.type) {
    case MN_TPL_TOK_EOF: return "the end of the template";
    case MN_TPL_TOK_BLOCK_END:
    case MN_TPL_TOK_VAR_END: return "the end of the tag";
    default: break;
    }
    snprintf(buf, 64, "'%.*s'", (int)(p->tok.text.n < 40 ? p->tok.text.n : 40), p->tok.text.p);
    return buf;
}

mnw_status mn_tpl_expect_op(mn_tpl_parser *p, const char *op)
{
    char buf[64];
    if (!mn_tpl_at_op(p, op)) {
        return mn_tpl_parse_fail(p, p->tok.line, "expected '%s', got %s", op,
                                 mn_tpl_describe(p, buf));
    }
    return mn_tpl_advance(p);
}

mnw_status mn_tpl_grow(mn_tpl_parser *p, void *array, size_t n, size_t *cap, size_t size)
{
    if (n < *cap) return MNW_OK;
    void        *old;
    const size_t want = *cap ? *cap * 2 : 16;
    void        *fresh = mn_pages_push(&p->t->pages, want, size);
    MN_FAIL_IF(!fresh, p->err, MNW_E_NOMEM, "chat template");
    memcpy(&old, array, sizeof old);
    if (n) memcpy(fresh, old, n * size);
    memcpy(array, &fresh, sizeof fresh);
    *cap = want;
    return MNW_OK;
}

mnw_status mn_tpl_emit(mn_tpl_parser *p, mn_tpl_opcode op, int32_t arg, int32_t sub, uint32_t line)
{
    mn_template *t = p->t;
    MN_TRY(mn_tpl_grow(p, &t->code, t->n_code, &p->cap_code, sizeof *t->code));
    t->code[t->n_code++] =
        (mn_tpl_instr){ .op = (uint8_t)op, .arg = arg, .sub = sub, .line = line };
    return MNW_OK;
}

mnw_status mn_tpl_insert(mn_tpl_parser *p, size_t at, mn_tpl_opcode op, int32_t arg, uint32_t line)
{
    mn_template *t = p->t;
    MN_TRY(mn_tpl_emit(p, op, arg, 0, line));
    const mn_tpl_instr last = t->code[t->n_code - 1];
    memmove(t->code + at + 1, t->code + at, (t->n_code - 1 - at) * sizeof last);
    t->code[at] = last;
    return MNW_OK;
}

void mn_tpl_land(mn_tpl_parser *p, size_t at)
{
    p->t->code[at].arg = (int32_t)(p->t->n_code - at - 1);
}

mnw_status mn_tpl_constant(mn_tpl_parser *p, mn_tpl_value v, int32_t *id)
{
    MN_TRY(mn_tpl_grow(p, &p->t->constant, p->n_constants, &p->cap_constants, sizeof v));
    *id = (int32_t)p->n_constants;
    p->t->constant[p->n_constants++] = v;
    return MNW_OK;
}

static mnw_status new_text(mn_tpl_parser *p, mn_str s, const mn_tpl_text **out)
{
    mn_tpl_text *text = mn_pages_push(&p->t->pages, 1, sizeof *text);
    MN_FAIL_IF(!text, p->err, MNW_E_NOMEM, "chat template");
    *text = (mn_tpl_text){ .p = s.p, .n = s.n, .trusted = true };
    *out = text;
    return MNW_OK;
}

mnw_status mn_tpl_constant_text(mn_tpl_parser *p, mn_str s, int32_t *id)
{
    mn_tpl_value v = { .type = MN_TPL_STR };
    MN_TRY(new_text(p, s, &v.as.s));
    return mn_tpl_constant(p, v, id);
}

mnw_status mn_tpl_name_of(mn_tpl_parser *p, mn_str name, int32_t *id)
{
    mn_template *t = p->t;
    uint32_t     found;
    if (mn_map_find(&t->name_id, name, &found)) {
        *id = (int32_t)found;
        return MNW_OK;
    }
    const size_t cap = p->cap_names;
    mn_tpl_name  fresh = { .function = mn_tpl_function(name) };
    MN_TRY(new_text(p, name, &fresh.text));
    MN_TRY(mn_tpl_grow(p, &t->name, t->n_names, &p->cap_names, sizeof fresh));
    if (p->cap_names != cap) {   // the map does not grow: make a larger one
        MN_FAIL_IF(!mn_map_init(&t->name_id, &t->pages, p->cap_names), p->err, MNW_E_NOMEM,
                   "chat template");
        for (size_t i = 0; i < t->n_names; i++) {
            mn_map_add(&t->name_id, mn_tpl_str(t->name[i].text), (uint32_t)i);
        }
    }
    *id = (int32_t)t->n_names;
    t->name[t->n_names++] = fresh;
    mn_map_add(&t->name_id, name, (uint32_t)*id);
    return MNW_OK;
}
