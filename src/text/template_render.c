/* SPDX-License-Identifier: Apache-2.0
 *
 * template_render.c - one rendering: variables in, text and its origin out.
 */
#include "text/template_run.h"

/* Bind a variable if the template mentions it. */
static mnw_status bind_named(mn_tpl_run *r, const char *name, mn_tpl_value v)
{
    uint32_t id;
    return mn_map_find(&r->t->name_id, mn_str_of(name), &id) ? mn_tpl_bind(r, id, v) : MNW_OK;
}

static mnw_status bind_text(mn_tpl_run *r, const char *name, mn_str s)
{
    mn_tpl_value v;
    if (!s.p) return MNW_OK;
    MN_TRY(mn_tpl_new_text(r, (mn_tpl_text){ .p = s.p, .n = s.n, .trusted = true }, &v));
    return bind_named(r, name, v);
}

/* What transformers passes to every template, under what the caller's JSON says. */
static mnw_status bind_variables(mn_tpl_run *r, const mn_template_args *a)
{
    mn_tpl_value root;
    MN_TRY(bind_named(r, "tools", mn_tpl_none()));
    MN_TRY(bind_named(r, "documents", mn_tpl_none()));
    MN_TRY(bind_named(r, "add_generation_prompt", mn_tpl_bool(true)));
    MN_TRY(mn_tpl_from_json(r, a->messages, &root));
    if (root.type == MN_TPL_LIST) {
        MN_TRY(bind_named(r, "messages", root));
    } else if (root.type == MN_TPL_DICT) {
        for (size_t i = 0; i < root.as.dict->n; i++) {
            const mn_tpl_entry *e = &root.as.dict->at[i];
            uint32_t            id;
            if (!mn_map_find(&r->t->name_id, mn_tpl_str(e->key.as.s), &id)) continue;
            MN_TRY(mn_tpl_bind(r, id, e->value));
        }
        const mn_tpl_value *list = mn_tpl_find_str(root.as.dict, mn_str_of("messages"));
        MN_FAIL_IF(!list || list->type != MN_TPL_LIST, r->err, MNW_E_FORMAT,
                   "messages: the object has no array \"messages\"");
    } else {
        MN_FAIL(r->err, MNW_E_FORMAT, "messages: expected an array or an object, got a %s",
                mn_tpl_type_name(root));
    }
    MN_TRY(bind_text(r, "bos_token", a->bos));
    MN_TRY(bind_text(r, "eos_token", a->eos));
    if (a->no_generation_prompt) {
        MN_TRY(bind_named(r, "add_generation_prompt", mn_tpl_bool(false)));
    }
    if (a->thinking) MN_TRY(bind_named(r, "enable_thinking", mn_tpl_bool(a->thinking == 2)));
    return MNW_OK;
}

static mnw_status hand_out(mn_mem *mem, const mn_tpl_buf *b, mn_template_text *out, mn_err *err)
{
    const mn_tpl_text t = mn_tpl_buf_text(b, 0);
    out->text = mn_alloc(mem, t.n + 1);
    out->trusted = mn_alloc(mem, t.n + 1);
    if (!out->text || !out->trusted) {
        mn_template_text_done(mem, out);
        MN_FAIL(err, MNW_E_NOMEM, "no memory for %zu bytes of prompt", t.n);
    }
    memcpy(out->text, t.p, t.n);
    out->text[t.n] = '\0';
    if (t.mask) memcpy(out->trusted, t.mask, t.n);
    else memset(out->trusted, t.trusted, t.n);
    out->len = t.n;
    return MNW_OK;
}

static mnw_status run_it(mn_tpl_run *r, const mn_template_args *args)
{
    r->bound_1 = mn_tpl_push(r, r->t->n_names, sizeof *r->bound_1);
    if (!r->bound_1) return mn_tpl_status(r);
    memset(r->bound_1, 0, r->t->n_names * sizeof *r->bound_1);
    MN_TRY(bind_variables(r, args));
    return mn_tpl_execute(r);
}

mnw_status mn_template_render(const mn_template *t, mn_mem *mem, const mn_template_args *args,
                              mn_template_text *out, mn_err *err)
{
    mn_err local = { 0 };
    if (!err) err = &local;
    *out = (mn_template_text){ 0 };
    mn_tpl_run *r = mn_alloc_zero(mem, 1, sizeof *r);
    MN_FAIL_IF(!r, err, MNW_E_NOMEM, "no memory to render");
    r->t = t;
    r->err = err;
    r->steps = MN_TEMPLATE_STEPS_MAX;
    r->now = args->now;
    mn_pages_init(&r->pages, mem);
    mnw_status st = run_it(r, args);
    if (st == MNW_OK) st = hand_out(mem, &r->out, out, err);
    mn_pages_done(&r->pages);
    mn_free(mem, r);
    return st;
}

void mn_template_text_done(mn_mem *mem, mn_template_text *text)
{
    mn_free(mem, text->text);
    mn_free(mem, text->trusted);
    *text = (mn_template_text){ 0 };
}
