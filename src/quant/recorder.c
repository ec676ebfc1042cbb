/* SPDX-License-Identifier: Apache-2.0
 *
 * recorder.c - a backend around another that remembers what goes into each matrix product.
 *
 * Inputs that a phase makes for itself (normalised rows) are made once more here, from what it gets.
 */
#include "quant/recorder.h"

#include "quant/quant.h"

static const mn_recorder *recorder_of(const mn_step *s)
{
    return (const mn_recorder *)s->backend;
}

/* Add T rows, this thread's share of the columns. */
static void add(const mn_step *s, const mn_input *in, const float *x, size_t ld)
{
    size_t begin, end;
    mn_split(in->n, 16, s->team, &begin, &end);
    for (size_t t = 0; t < s->T; t++) {
        for (size_t i = begin; i < end; i++) {
            const double v = (double)x[t * ld + i];
            in->square[i] += v * v;
        }
    }
    mn_barrier(s->team);
}

/* Add rmsnorm(x) of all tokens. */
static void add_normalised(const mn_step *s, const mn_input *in, const mn_act *x, const mn_weight *norm)
{
    const mn_recorder *r = recorder_of(s);
    for (size_t t = s->team->id; t < s->T; t += s->team->count)
        s->kernels->rmsnorm(r->h + t * r->ld, mn_act_row(s, x, t), mn_weight_vector(norm), x->n, s->config->eps);
    mn_barrier(s->team);
    add(s, in, r->h, r->ld);
}

static void embed(const mn_step *s, const mn_act *x)
{
    recorder_of(s)->inner->embed(s, x);
}

static void qkv(const mn_step *s, const mn_act *q, const mn_kv *kv, size_t l, const mn_act *x,
                const mn_layer *w)
{
    const mn_recorder *r = recorder_of(s);
    add_normalised(s, &r->input[l * MN_INPUTS + MN_INPUT_QKV], x, &w->attn_norm);
    r->inner->qkv(s, q, kv, l, x, w);
}

static void attend(const mn_step *s, const mn_act *o, const mn_act *q, const mn_kv *kv, size_t l)
{
    recorder_of(s)->inner->attend(s, o, q, kv, l);
}

static void project(const mn_step *s, const mn_act *x, const mn_act *a, const mn_weight *w)
{
    const mn_recorder *r = recorder_of(s);
    const size_t       L = s->config->L;
    const size_t       l = (size_t)((const char *)w - (const char *)s->weights->layer) / sizeof(mn_layer);
    const bool         down = w == &s->weights->layer[l].w_down;
    add(s, &r->input[l * MN_INPUTS + (down ? MN_INPUT_DOWN : MN_INPUT_O)], mn_act_row(s, a, 0), a->ld);
    r->inner->project(s, x, a, w);
    if (down && l + 1 == L) add_normalised(s, &r->input[L * MN_INPUTS], x, &s->weights->norm);
}

static void gate_up(const mn_step *s, const mn_act *g, const mn_act *x, const mn_layer *w)
{
    const mn_recorder *r = recorder_of(s);
    const size_t       l = (size_t)(w - s->weights->layer);
    add_normalised(s, &r->input[l * MN_INPUTS + MN_INPUT_FF], x, &w->ffn_norm);
    r->inner->gate_up(s, g, x, w);
}

static void head(const mn_step *s, mn_buf logits, const mn_act *x, size_t t)
{
    recorder_of(s)->inner->head(s, logits, x, t);
}

static size_t width(const mn_config *c, size_t input)
{
    if (input == (size_t)c->L * MN_INPUTS) return c->D;
    switch (input % MN_INPUTS) {
    case MN_INPUT_O: return (size_t)c->H * c->P;
    case MN_INPUT_DOWN: return c->F;
    default: return c->D;
    }
}

mnw_status mn_recorder_init(mn_recorder *r, const mn_backend *inner, const mn_config *c, size_t T,
                            mn_pages *mem, mn_err *err)
{
    const size_t n = (size_t)c->L * MN_INPUTS + 1;
    *r = (mn_recorder){ .base = *inner, .inner = inner, .ld = c->D };
    r->base.embed = embed;
    r->base.qkv = qkv;
    r->base.attend = attend;
    r->base.project = project;
    r->base.gate_up = gate_up;
    r->base.head = head;
    r->h = mn_pages_push(mem, T, r->ld * sizeof *r->h);
    r->input = mn_pages_push_zero(mem, n, sizeof *r->input);
    bool fits = r->h && r->input;
    for (size_t i = 0; fits && i < n; i++) {
        r->input[i].n = width(c, i);
        r->input[i].square = mn_pages_push_zero(mem, r->input[i].n, sizeof *r->input[i].square);
        fits = r->input[i].square != NULL;
    }
    MN_FAIL_IF(!fits, err, MNW_E_NOMEM, "no memory for the inputs of %zu products", n);
    return MNW_OK;
}

const mn_input *mn_recorder_input(const mn_recorder *r, const mn_config *c, mn_str tensor)
{
    static const struct {
        const char *name;
        int         input;
    } OF[] = {
        { ".attn_q.weight", MN_INPUT_QKV },    { ".attn_k.weight", MN_INPUT_QKV },
        { ".attn_v.weight", MN_INPUT_QKV },    { ".attn_output.weight", MN_INPUT_O },
        { ".ffn_gate.weight", MN_INPUT_FF },   { ".ffn_up.weight", MN_INPUT_FF },
        { ".ffn_down.weight", MN_INPUT_DOWN },
    };
    uint32_t layer;
    mn_str   rest;
    if (mn_str_is(tensor, "output.weight") || mn_str_is(tensor, "token_embd.weight"))
        return &r->input[(size_t)c->L * MN_INPUTS];
    if (!mn_layer_of(tensor, &layer, &rest) || layer >= c->L) return NULL;
    for (size_t i = 0; i < sizeof OF / sizeof *OF; i++) {
        if (mn_str_is(rest, OF[i].name)) return &r->input[layer * (size_t)MN_INPUTS + (size_t)OF[i].input];
    }
    return NULL;
}
