/* SPDX-License-Identifier: Apache-2.0
 *
 * template_run.c - the stack machine that runs a compiled template.
 *
 * No C function calls itself here: macros have frames, loops and scopes have stacks, all of fixed
 * size.  Every instruction costs a step, and work inside it costs more.
 */
#include "text/template_run.h"

#include <stdio.h>

mnw_status mn_tpl_fail(mn_tpl_run *r, mnw_status code, const char *fmt, ...)
{
    char    text[220];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    MN_FAIL(r->err, code, "chat template, line %u: %s", r->line, text);
}

mnw_status mn_tpl_status(const mn_tpl_run *r)
{
    return r->err->code;
}

mnw_status mn_tpl_work(mn_tpl_run *r, uint64_t units)
{
    if (units > r->steps) {
        r->steps = 0;
        return mn_tpl_fail(r, MNW_E_LIMIT, "more than %d steps", MN_TEMPLATE_STEPS_MAX);
    }
    r->steps -= units;
    return MNW_OK;
}

mnw_status mn_tpl_scan(mn_tpl_run *r, uint64_t bytes)
{
    enum { BYTES_PER_STEP = 256 };
    r->scanned += bytes;
    const uint64_t units = r->scanned / BYTES_PER_STEP;
    r->scanned %= BYTES_PER_STEP;
    return units ? mn_tpl_work(r, units) : MNW_OK;
}

void *mn_tpl_push(mn_tpl_run *r, size_t count, size_t size)
{
    if (count > MN_TEMPLATE_MEMORY_MAX / size ||
        r->pages.total > MN_TEMPLATE_MEMORY_MAX - count * size) {
        mn_tpl_fail(r, MNW_E_LIMIT, "more than %d MiB of working memory",
                    MN_TEMPLATE_MEMORY_MAX >> 20);
        return NULL;
    }
    void *p = mn_pages_push(&r->pages, count, size);
    if (!p) mn_tpl_fail(r, MNW_E_NOMEM, "no memory to render");
    return p;
}

/* The binding of a name that is visible: a macro does not see its caller's loops. */
static mn_tpl_binding *find_binding(mn_tpl_run *r, uint32_t name)
{
    const size_t own = r->n_frames ? r->frame[r->n_frames - 1].bindings : 0;
    uint32_t     at = r->bound_1[name];
    while (at && at - 1 < own && at - 1 >= r->n_globals) at = r->binding[at - 1].before_1;
    return at ? &r->binding[at - 1] : NULL;
}

mnw_status mn_tpl_bind(mn_tpl_run *r, uint32_t name, mn_tpl_value v)
{
    const size_t scope = r->n_scopes ? r->scope[r->n_scopes - 1] : 0;
    if (r->bound_1[name] > scope) {
        r->binding[r->bound_1[name] - 1].value = v;
        return MNW_OK;
    }
    if (r->n_bindings == r->cap_bindings) {
        const size_t    cap = r->cap_bindings ? r->cap_bindings * 2 : 64;
        mn_tpl_binding *fresh = mn_tpl_push(r, cap, sizeof *fresh);
        if (!fresh) return mn_tpl_status(r);
        if (r->n_bindings) memcpy(fresh, r->binding, r->n_bindings * sizeof *fresh);
        r->binding = fresh;
        r->cap_bindings = cap;
    }
    r->binding[r->n_bindings++] =
        (mn_tpl_binding){ .value = v, .name = name, .before_1 = r->bound_1[name] };
    r->bound_1[name] = (uint32_t)r->n_bindings;
    if (!r->n_scopes) r->n_globals = r->n_bindings;
    return MNW_OK;
}

static mnw_status open_scope(mn_tpl_run *r)
{
    if (r->n_scopes == MN_TPL_SCOPES_MAX) {
        return mn_tpl_fail(r, MNW_E_LIMIT, "more than %d scopes are open", MN_TPL_SCOPES_MAX);
    }
    r->scope[r->n_scopes++] = r->n_bindings;
    return MNW_OK;
}

static void close_scopes(mn_tpl_run *r, size_t left)
{
    while (r->n_scopes > left) {
        const size_t to = r->scope[--r->n_scopes];
        while (r->n_bindings > to) {
            const mn_tpl_binding *b = &r->binding[--r->n_bindings];
            r->bound_1[b->name] = b->before_1;
        }
    }
}

static mnw_status push(mn_tpl_run *r, mn_tpl_value v)
{
    if (r->n_stack == MN_TPL_STACK_MAX) {
        return mn_tpl_fail(r, MNW_E_LIMIT, "more than %d values at once", MN_TPL_STACK_MAX);
    }
    r->stack[r->n_stack++] = v;
    return MNW_OK;
}

static mn_tpl_value pop(mn_tpl_run *r)
{
    return r->stack[--r->n_stack];
}

static mnw_status load_name(mn_tpl_run *r, uint32_t name)
{
    const mn_tpl_binding *b = find_binding(r, name);
    if (b) return push(r, b->value);
    const mn_tpl_name *n = &r->t->name[name];
    if (!n->function) return push(r, mn_tpl_undefined(n->text));
    return push(r, (mn_tpl_value){ .type = MN_TPL_FUNCTION, .as.function = n->function });
}

static mnw_status store_attr(mn_tpl_run *r, const mn_tpl_instr *in)
{
    const mn_tpl_binding *b = find_binding(r, (uint32_t)in->arg);
    const mn_tpl_value    v = pop(r);
    if (!b || b->value.type != MN_TPL_SPACE) {
        return mn_tpl_fail(r, MNW_E_TEMPLATE, "attributes can be set on a namespace() only");
    }
    return mn_tpl_set(r, b->value.as.dict, r->t->constant[in->sub], v);
}

static mnw_status unpack(mn_tpl_run *r, size_t n)
{
    const mn_tpl_list *items;
    MN_TRY(mn_tpl_items(r, pop(r), &items));
    if (items->n != n) {
        return mn_tpl_fail(r, MNW_E_TEMPLATE, "%zu values to unpack into %zu names", items->n, n);
    }
    for (size_t i = n; i-- > 0;) MN_TRY(push(r, items->at[i]));
    return MNW_OK;
}

static mnw_status open_loop(mn_tpl_run *r)
{
    if (r->n_loops == MN_TPL_LOOPS_MAX) {
        return mn_tpl_fail(r, MNW_E_LIMIT, "more than %d loops are open", MN_TPL_LOOPS_MAX);
    }
    mn_tpl_loop *l = mn_tpl_push(r, 1, sizeof *l);
    if (!l) return mn_tpl_status(r);
    *l = (mn_tpl_loop){ .scope = r->n_scopes };
    MN_TRY(mn_tpl_items(r, pop(r), &l->items));
    r->loop[r->n_loops++] = l;
    return MNW_OK;
}

/* Go to the next item in a fresh scope; *more is false at the end. */
static mnw_status next_item(mn_tpl_run *r, bool bind_loop, bool *more)
{
    mn_tpl_loop *l = r->loop[r->n_loops - 1];
    close_scopes(r, l->scope);
    *more = l->next < l->items->n;
    if (!*more) return MNW_OK;
    MN_TRY(open_scope(r));
    if (bind_loop) MN_TRY(mn_tpl_bind(r, 0, (mn_tpl_value){ .type = MN_TPL_LOOP, .as.loop = l }));
    return push(r, l->items->at[l->next++]);
}

static mnw_status keep_item(mn_tpl_run *r)
{
    mn_tpl_loop *l = r->loop[r->n_loops - 1];
    if (!mn_tpl_true(pop(r))) return MNW_OK;
    if (!l->kept) {
        mn_tpl_value list;
        MN_TRY(mn_tpl_new_list(r, MN_TPL_LIST, 0, &list));
        l->kept = list.as.list;
    }
    return mn_tpl_add(r, l->kept, l->items->at[l->next - 1]);
}

static mnw_status kept_items(mn_tpl_run *r)
{
    mn_tpl_loop *l = r->loop[--r->n_loops];
    mn_tpl_value list;
    MN_TRY(mn_tpl_new_list(r, MN_TPL_LIST, 0, &list));
    if (l->kept) list.as.list = l->kept;
    return push(r, list);
}

mnw_status mn_tpl_invoke(mn_tpl_run *r, const mn_tpl_native *f, mn_tpl_call *c, mn_tpl_value *out)
{
    if (!f->params) return f->fn(r, c, out);

    size_t n = 0;   // parameters seen
    for (const char *at = f->params; *at && n < MN_TPL_PARAMS_MAX; n++) {
        const size_t len = strcspn(at, " ");
        c->arg[n] = n < c->n_pos ? c->pos[n] : (mn_tpl_value){ .type = MN_TPL_ABSENT };
        for (size_t k = 0; k < c->n_kw; k++) {
            if (!mn_str_eq(mn_tpl_str(c->kw_name[k]), (mn_str){ at, len })) continue;
            if (c->arg[n].type != MN_TPL_ABSENT) break;
            c->arg[n] = c->kw[k];
        }
        if (n < f->required && c->arg[n].type == MN_TPL_ABSENT) {
            return mn_tpl_fail(r, MNW_E_TEMPLATE, "%s needs its argument '%.*s'", f->name, (int)len,
                               at);
        }
        at += len + (at[len] == ' ');
    }
    size_t given = 0;
    for (size_t i = 0; i < n; i++) given += c->arg[i].type != MN_TPL_ABSENT;
    if (given != c->n_pos + c->n_kw) {
        return mn_tpl_fail(r, MNW_E_TEMPLATE, "%s takes the arguments (%s) only", f->name,
                           f->params);
    }
    return f->fn(r, c, out);
}

static mnw_status call_native(mn_tpl_run *r, const mn_tpl_native *f, mn_tpl_value self,
                              const mn_tpl_site *s, size_t drop)
{
    const size_t n = s->n_pos + s->n_kw;
    mn_tpl_call  c = { .self = self, .n_pos = s->n_pos, .n_kw = s->n_kw, .kw_name = s->kw_name };
    mn_tpl_value out = mn_tpl_none();
    c.pos = r->stack + r->n_stack - n;
    c.kw = c.pos + s->n_pos;
    MN_TRY(mn_tpl_invoke(r, f, &c, &out));
    r->n_stack -= n + drop;
    return push(r, out);
}

static mnw_status call_macro(mn_tpl_run *r, const mn_tpl_macro *m, const mn_tpl_site *s,
                             uint32_t *pc)
{
    if (r->n_frames == MN_TEMPLATE_DEPTH_MAX) {
        return mn_tpl_fail(r, MNW_E_LIMIT, "macros call each other more than %d deep",
                           MN_TEMPLATE_DEPTH_MAX);
    }
    if (s->n_pos > m->n_params) {
        return mn_tpl_fail(r, MNW_E_TEMPLATE, "macro '%.*s' takes %u arguments, got %u",
                           MN_STR(mn_tpl_str(m->name)), m->n_params, s->n_pos);
    }
    const size_t        n = s->n_pos + s->n_kw;
    const mn_tpl_value *arg = r->stack + r->n_stack - n;
    mn_tpl_frame        f = { .back = *pc, .bindings = r->n_bindings, .scopes = r->n_scopes,
                              .loops = r->n_loops, .mark = r->out.n };
    MN_TRY(open_scope(r));
    r->frame[r->n_frames++] = f;
    size_t used = 0;
    for (uint32_t i = 0; i < m->n_params; i++) {
        mn_tpl_value v = mn_tpl_undefined(r->t->name[m->param[i]].text);
        bool         given = i < s->n_pos;
        if (given) v = arg[i];
        for (uint32_t k = 0; k < s->n_kw && !given; k++) {
            if (!mn_str_eq(mn_tpl_str(s->kw_name[k]), mn_tpl_str(r->t->name[m->param[i]].text))) {
                continue;
            }
            v = arg[s->n_pos + k];
            given = true;
        }
        used += given;
        if (given) f.given |= UINT32_C(1) << i;
        MN_TRY(mn_tpl_bind(r, m->param[i], v));
    }
    if (used != n) {
        return mn_tpl_fail(r, MNW_E_TEMPLATE, "macro '%.*s' has no parameter of that name",
                           MN_STR(mn_tpl_str(m->name)));
    }
    r->frame[r->n_frames - 1].given = f.given;
    r->n_stack -= n + 1;
    *pc = m->entry;
    return MNW_OK;
}

static mnw_status call(mn_tpl_run *r, const mn_tpl_site *s, uint32_t *pc)
{
    const mn_tpl_value f = r->stack[r->n_stack - 1 - s->n_pos - s->n_kw];
    switch ((mn_tpl_type)f.type) {
    case MN_TPL_FUNCTION: return call_native(r, f.as.function, mn_tpl_none(), s, 1);
    case MN_TPL_METHOD: return call_native(r, f.as.method->method, f.as.method->self, s, 1);
    case MN_TPL_MACRO: return call_macro(r, f.as.macro, s, pc);
    case MN_TPL_UNDEFINED:
        if (f.as.s) {
            return mn_tpl_fail(r, MNW_E_TEMPLATE, "'%.*s' is undefined, it cannot be called",
                               MN_STR(mn_tpl_str(f.as.s)));
        }
        break;
    default: break;
    }
    return mn_tpl_fail(r, MNW_E_TEMPLATE, "a %s cannot be called", mn_tpl_type_name(f));
}

/* Take the output since `mark` away, as a text of its own. */
static mnw_status take_output(mn_tpl_run *r, size_t mark)
{
    mn_tpl_buf   b = { 0 };
    mn_tpl_value v;
    MN_TRY(mn_tpl_put(r, &b, mn_tpl_buf_text(&r->out, mark)));
    MN_TRY(mn_tpl_buf_value(r, &b, &v));
    r->out.n = mark;
    return push(r, v);
}

static mnw_status return_macro(mn_tpl_run *r, uint32_t *pc)
{
    const mn_tpl_frame f = r->frame[--r->n_frames];
    close_scopes(r, f.scopes);
    r->n_loops = f.loops;
    *pc = f.back;
    return take_output(r, f.mark);
}

static mnw_status capture(mn_tpl_run *r)
{
    if (r->n_marks == MN_TPL_MARKS_MAX) {
        return mn_tpl_fail(r, MNW_E_LIMIT, "more than %d captures are open", MN_TPL_MARKS_MAX);
    }
    r->mark[r->n_marks++] = r->out.n;
    return MNW_OK;
}

static mnw_status slice(mn_tpl_run *r)
{
    mn_tpl_value out;
    r->n_stack -= 3;
    MN_TRY(mn_tpl_slice(r, r->stack[r->n_stack - 1], r->stack + r->n_stack, &out));
    r->stack[r->n_stack - 1] = out;
    return MNW_OK;
}

static mnw_status binary(mn_tpl_run *r, mn_tpl_op op)
{
    mn_tpl_value       out;
    const mn_tpl_value b = pop(r), a = pop(r);
    MN_TRY(mn_tpl_binary(r, op, a, b, &out));
    return push(r, out);
}

static mnw_status chain(mn_tpl_run *r, const mn_tpl_instr *in, uint32_t *pc)
{
    const mn_tpl_value b = pop(r), a = pop(r);
    bool               holds;
    MN_TRY(mn_tpl_compare(r, (mn_tpl_op)in->sub, a, b, &holds));
    if (holds) return push(r, b);
    *pc += (uint32_t)in->arg;
    return push(r, mn_tpl_bool(false));
}

static mnw_status entry(mn_tpl_run *r)
{
    const mn_tpl_value v = pop(r), k = pop(r);
    return mn_tpl_set(r, r->stack[r->n_stack - 1].as.dict, k, v);
}

static mnw_status step(mn_tpl_run *r, const mn_tpl_instr *in, uint32_t *pc)
{
    const mn_template *t = r->t;
    mn_tpl_value       v;
    bool               jump = false;
    switch ((mn_tpl_opcode)in->op) {
    case MN_DO_TEXT: return mn_tpl_put(r, &r->out, *t->constant[in->arg].as.s);
    case MN_DO_PRINT: return mn_tpl_print(r, &r->out, pop(r));
    case MN_DO_CONST: return push(r, t->constant[in->arg]);
    case MN_DO_NAME: return load_name(r, (uint32_t)in->arg);
    case MN_DO_STORE: return mn_tpl_bind(r, (uint32_t)in->arg, pop(r));
    case MN_DO_STORE_ATTR: return store_attr(r, in);
    case MN_DO_UNPACK: return unpack(r, (size_t)in->arg);
    case MN_DO_ATTR:
        MN_TRY(mn_tpl_attr(r, pop(r), t->constant[in->arg].as.s, &v));
        return push(r, v);
    case MN_DO_ITEM:
        r->n_stack -= 2;
        MN_TRY(mn_tpl_item(r, r->stack[r->n_stack], r->stack[r->n_stack + 1], &v));
        return push(r, v);
    case MN_DO_SLICE: return slice(r);
    case MN_DO_NEW_LIST:
        MN_TRY(mn_tpl_new_list(r, MN_TPL_LIST, 0, &v));
        return push(r, v);
    case MN_DO_ADD:
        v = pop(r);
        return mn_tpl_add(r, r->stack[r->n_stack - 1].as.list, v);
    case MN_DO_AS_TUPLE: r->stack[r->n_stack - 1].type = MN_TPL_TUPLE; return MNW_OK;
    case MN_DO_NEW_DICT:
        MN_TRY(mn_tpl_new_dict(r, MN_TPL_DICT, &v));
        return push(r, v);
    case MN_DO_ENTRY: return entry(r);
    case MN_DO_NOT: return push(r, mn_tpl_bool(!mn_tpl_true(pop(r))));
    case MN_DO_NEG:
    case MN_DO_POS:
        MN_TRY(mn_tpl_negate(r, pop(r), in->op == MN_DO_NEG, &v));
        return push(r, v);
    case MN_DO_BINARY: return binary(r, (mn_tpl_op)in->arg);
    case MN_DO_CHAIN: return chain(r, in, pc);
    case MN_DO_JUMP: jump = true; break;
    case MN_DO_JUMP_FALSE: jump = !mn_tpl_true(pop(r)); break;
    case MN_DO_AND:
    case MN_DO_OR:
        jump = mn_tpl_true(r->stack[r->n_stack - 1]) == (in->op == MN_DO_OR);
        if (!jump) r->n_stack--;
        break;
    case MN_DO_FILTER:
    case MN_DO_TEST: {
        const mn_tpl_site *s = &t->site[in->arg];
        return call_native(r, s->native, r->stack[r->n_stack - 1 - s->n_pos - s->n_kw], s, 1);
    }
    case MN_DO_CALL: return call(r, &t->site[in->arg], pc);
    case MN_DO_FOR: return open_loop(r);
    case MN_DO_NEXT:
        MN_TRY(next_item(r, in->sub != 0, &jump));
        jump = !jump;
        break;
    case MN_DO_KEEP: return keep_item(r);
    case MN_DO_KEPT: return kept_items(r);
    case MN_DO_FOR_END:
        close_scopes(r, r->loop[--r->n_loops]->scope);
        jump = r->loop[r->n_loops]->next > 0;
        break;
    case MN_DO_MACRO:
        return push(r, (mn_tpl_value){ .type = MN_TPL_MACRO, .as.macro = &t->macro[in->arg] });
    case MN_DO_PARAM: jump = r->frame[r->n_frames - 1].given >> in->sub & 1; break;
    case MN_DO_RETURN: return return_macro(r, pc);
    case MN_DO_CAPTURE: return capture(r);
    case MN_DO_CAPTURED: return take_output(r, r->mark[--r->n_marks]);
    case MN_DO_SCOPE: return open_scope(r);
    case MN_DO_SCOPE_END: close_scopes(r, r->n_scopes - 1); return MNW_OK;
    case MN_DO_END: return MNW_OK;
    }
    if (jump) *pc += (uint32_t)in->arg;
    return MNW_OK;
}

mnw_status mn_tpl_execute(mn_tpl_run *r)
{
    uint32_t pc = 0;
    for (;;) {
        const mn_tpl_instr *in = &r->t->code[pc++];
        if (in->op == MN_DO_END) return MNW_OK;
        r->line = in->line;
        MN_TRY(mn_tpl_work(r, 1));
        MN_TRY(step(r, in, &pc));
    }
}
