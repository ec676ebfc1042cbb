/* SPDX-License-Identifier: Apache-2.0
 *
 * step.c - the buffers of a step.
 */
#include "model/step.h"

#include <string.h>

enum { LD = 64 };   // rows of activations are padded to this many values

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static mn_act plan_f32(mn_plan *p, size_t rows, size_t n)
{
    mn_act a = { .rows = rows, .n = n, .ld = round_up(n, LD) };
    a.f = mn_plan_f32(p, rows, a.ld);
    return a;
}

/* f32 and integers: the input of matrix products.  `own` rows are those that threads prepare for
 * themselves. */
static mn_act plan_input(mn_plan *p, size_t rows, size_t own, size_t n, unsigned forms, bool exact)
{
    mn_act a = plan_f32(p, rows, n);
    a.forms = forms;
    a.exact = exact;
    if (forms & MN_FORM_Q8) {
        a.q = mn_plan_take(p, rows, a.ld, 1);
        if (exact) a.lo = mn_plan_take(p, rows, a.ld, 1);
        a.d = mn_plan_f32(p, rows, a.ld / 32);
        a.s = mn_plan_f32(p, rows, a.ld / 16);
    }
    if (forms & MN_FORM_X) {
        a.x_rows = rows > own ? rows : own;
        a.x = mn_plan_take(p, mn_xacts_bytes(a.x_rows, n, exact), 1, 1);
    }
    return a;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* What the weights want of their inputs h, o and g, and the longest row of a native one. */
typedef struct wants {
    unsigned h, o, g;
    size_t   native_cols;
} wants;

static void want(unsigned *forms, const mn_weight *w, wants *all)
{
    *forms |= mn_weight_form(w);
    if (mn_weight_form(w) & MN_FORM_X) all->native_cols = larger(all->native_cols, w->cols);
}

static wants wants_of(const mn_config *c, const mn_weights *w)
{
    wants all = { 0 };
    want(&all.h, &w->head, &all);
    for (uint32_t l = 0; l < c->L; l++) {
        const mn_layer *x = &w->layer[l];
        want(&all.h, &x->wq, &all);
        want(&all.h, &x->wk, &all);
        want(&all.h, &x->wv, &all);
        want(&all.o, &x->wo, &all);
        want(&all.h, &x->w_gate, &all);
        want(&all.h, &x->w_up, &all);
        want(&all.g, &x->w_down, &all);
    }
    return all;
}

void mn_step_plan(mn_plan *p, const mn_config *c, const mn_weights *w, size_t T, size_t S,
                  size_t threads, unsigned exact, mn_scratch *buf)
{
    const size_t HP = (size_t)c->H * c->P, KP = (size_t)c->K * c->P;
    const size_t group = smaller(c->H / c->K, MN_ATTN_GROUP), own = MN_ALONE * threads;
    const wants  all = wants_of(c, w);
    buf->x = plan_f32(p, T, c->D);
    buf->h = plan_input(p, larger(T, own), own, c->D, all.h, exact & MN_EXACT_H);
    buf->q = plan_f32(p, T, HP);
    buf->k = plan_f32(p, T, KP);
    buf->v = plan_f32(p, T, KP);
    buf->o = plan_input(p, T, own, HP, all.o, exact & MN_EXACT_O);
    buf->g = plan_input(p, T, own, c->F, all.g, exact & MN_EXACT_G);
    buf->u = plan_f32(p, T, c->F);
    buf->y = plan_f32(p, T, c->D);
    buf->angles = mn_plan_f32(p, T, c->rope.n);
    buf->scores_of_thread = group * round_up(S, LD);
    buf->scores = mn_plan_f32(p, threads, buf->scores_of_thread);
    buf->row = mn_plan_f32(p, 1, larger(larger(c->D, HP), c->F));
    if (all.native_cols) {
        buf->tiles_of_thread = round_up(mn_xmm_scratch(all.native_cols), LD);
        buf->tiles = mn_plan_take(p, threads, buf->tiles_of_thread, 1);
    }
    buf->logits = mn_plan_f32(p, 1, c->V);
    buf->score_tile = mn_plan_f32(p, threads * MN_SCORE_TOKENS, MN_SCORE_TILE);
    buf->score_part = mn_plan_take(p, MN_SCORE_TOKENS, mn_score_tiles(c->V),
                                   sizeof(mn_score_part));
}

static void clear_tails(const mn_step *s, const mn_act *a)
{
    if (a->n == a->ld) return;
    for (size_t t = 0; t < a->rows; t++) {
        const mn_acts r = mn_act_from(s, a, t);
        memset(r.f + a->n, 0, (a->ld - a->n) * sizeof *r.f);
        if (!(a->forms & MN_FORM_Q8)) continue;
        memset(r.q + a->n, 0, a->ld - a->n);
        if (a->exact) memset(r.lo + a->n, 0, a->ld - a->n);
        memset(r.d + a->n / 32, 0, (a->ld / 32 - a->n / 32) * sizeof *r.d);
        memset(r.s + a->n / 16, 0, (a->ld / 16 - a->n / 16) * sizeof *r.s);
    }
}

void mn_step_clear(const mn_step *s)
{
    clear_tails(s, &s->buf.h);
    clear_tails(s, &s->buf.o);
    clear_tails(s, &s->buf.g);
}
