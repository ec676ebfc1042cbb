/* SPDX-License-Identifier: Apache-2.0
 *
 * backend_cpu.c - the phases on a processor, fused and threaded.
 *
 * Matrix products take most of the time, so a phase is a product with its preparation in front and
 * its epilogue behind, while the numbers are still in the cache:
 *
 *      phase     divided by          prepared by                   epilogue, by the rows' owner
 *      qkv       heads of q, k, v    rmsnorm, quantise             bias, head norm, rope, cache
 *      attend    tokens or heads     -                             quantise for wo
 *      project   rows of D           (done by the phase before)    x +=
 *      gate_up   columns of F        rmsnorm, quantise             swiglu, quantise for w_down
 *      head      rows of V           rmsnorm, quantise             -
 *
 * Work is divided among outputs, never inside a sum, and int8 scales belong to blocks of 32 values
 * of one token: so neither the number of threads nor the number of tokens changes a bit.
 */
#include "backend/cpu/backend_cpu.h"

#include "backend/cpu/phases.h"

enum {
    ROW_UNIT = 16,    // rows of a projection are divided in these
    FF_UNIT = 64,     // columns of F: whole blocks, whole lines
    HEAD_UNIT = 64,   // rows of V
};

/* Rows [begin, end) of W times T tokens: y[t][r] for each of these r. */
static void product(const mn_step *s, float *y, size_t ldy, const mn_weight *w, const mn_acts *in,
                    size_t begin, size_t end, size_t T)
{
    if (begin == end) return;
    const mn_matmul *mm = mn_kernels_matmul(s->kernels, w->type->id);
    mn_mm_fn        *fn = T == 1 ? mm->gemv : mm->gemm;
    fn(y + begin, ldy, mn_weight_row(w, begin), in, end - begin, w->cols, T);
}

void mn_cpu_quantise(const mn_step *s, const mn_acts *a, size_t begin, size_t end)
{
    float *d = a->d + begin / MN_ACT_BLOCK, *sum = a->s + begin / (MN_ACT_BLOCK / 2);
    if (a->lo)
        s->kernels->quant_q15(a->q + begin, a->lo + begin, d, sum, a->f + begin, end - begin);
    else s->kernels->quant_q8(a->q + begin, d, sum, a->f + begin, end - begin);
}

/* Row `to` of h = rmsnorm(row t of x), and its int8 twin if a product wants it. */
static void normalise_row(const mn_step *s, size_t to, const mn_act *x, size_t t,
                          const mn_weight *norm, bool q8)
{
    const mn_acts h = mn_act_from(s, &s->buf.h, to);
    s->kernels->rmsnorm(h.f, mn_act_row(s, x, t), mn_weight_vector(norm), x->n, s->config->eps);
    if (q8) mn_cpu_quantise(s, &h, 0, x->n);
}

/* h = rmsnorm(x) for all tokens of the step.  A few are done by every thread for itself, many are
 * divided, at the price of a barrier. */
static mn_acts normalise(const mn_step *s, const mn_act *x, const mn_weight *norm, bool q8)
{
    const bool alone = s->T <= MN_ALONE;
    size_t     first = alone ? MN_ALONE * s->team->id : 0, begin = 0, end = s->T;
    if (!alone) mn_split(s->T, 1, s->team, &begin, &end);
    for (size_t t = begin; t < end; t++) normalise_row(s, first + t, x, t, norm, q8);
    if (!alone) mn_barrier(s->team);
    return mn_act_from(s, &s->buf.h, first);
}

static void embed(const mn_step *s, const mn_act *x)
{
    const mn_config *c = s->config;
    const mn_weight *w = &s->weights->embd;
    size_t           begin, end;
    mn_split(s->T, 1, s->team, &begin, &end);
    for (size_t t = begin; t < end; t++) {
        mn_dequantize(mn_act_row(s, x, t), mn_weight_row(w, (size_t)s->tokens[t]), w->type->id,
                      w->cols);
        mn_rope_angles(mn_step_angles(s, t), c->rope.freq, c->rope.n, (uint32_t)(s->pos + t),
                       c->rope.scale);
    }
    mn_barrier(s->team);
}

typedef struct span {
    size_t begin, end;
} span;

/* What [a, b) has in common with the `n` heads from `first` on, counted from there. */
static span heads_in(size_t a, size_t b, size_t first, size_t n)
{
    const size_t begin = a > first ? a : first, end = b < first + n ? b : first + n;
    return begin < end ? (span){ begin - first, end - first } : (span){ 0, 0 };
}

/* Project some heads: y = W h + bias. */
static void project_heads(const mn_step *s, const mn_act *y, const mn_weight *w,
                          const mn_weight *bias, const mn_acts *in, span heads)
{
    const size_t P = s->config->P, begin = heads.begin * P, end = heads.end * P;
    product(s, mn_act_row(s, y, 0), y->ld, w, in, begin, end, s->T);
    for (size_t t = 0; t < s->T && bias->data; t++) {
        s->kernels->add(mn_act_row(s, y, t) + begin, mn_weight_vector(bias) + begin, end - begin);
    }
}

/* Norm (if the architecture has it) and rotate heads of token t. */
static void finish_heads(const mn_step *s, float *x, const mn_weight *norm, span heads, size_t t)
{
    const mn_config *c = s->config;
    for (size_t i = heads.begin; i < heads.end && norm->data; i++) {
        float *head = x + i * c->P;
        s->kernels->rmsnorm(head, head, mn_weight_vector(norm), c->P, c->eps);
    }
    mn_rope_fn *rope = c->arch->rope == MN_ROPE_PAIR ? s->kernels->rope_pair
                                                     : s->kernels->rope_half;
    rope(x + heads.begin * c->P, mn_step_angles(s, t), heads.end - heads.begin, c->P, c->rope.n);
}

static void qkv(const mn_step *s, const mn_act *q, const mn_kv *kv, size_t l, const mn_act *x,
                const mn_layer *w)
{
    const mn_config *c = s->config;
    const mn_act    *k = &s->buf.k, *v = &s->buf.v;
    const bool       q8 = mn_wants_q8(w->wq.type) || mn_wants_q8(w->wk.type) ||
                    mn_wants_q8(w->wv.type);
    const mn_acts in = normalise(s, x, &w->attn_norm, q8);

    size_t a, b;   // heads: first those of q, then k, then v
    mn_split(c->H + 2 * (size_t)c->K, 1, s->team, &a, &b);
    const span hq = heads_in(a, b, 0, c->H), hk = heads_in(a, b, c->H, c->K),
               hv = heads_in(a, b, c->H + c->K, c->K);
    project_heads(s, q, &w->wq, &w->bq, &in, hq);
    project_heads(s, k, &w->wk, &w->bk, &in, hk);
    project_heads(s, v, &w->wv, &w->bv, &in, hv);

    for (size_t t = 0; t < s->T; t++) {
        float *kt = mn_act_row(s, k, t), *vt = mn_act_row(s, v, t);
        finish_heads(s, mn_act_row(s, q, t), &w->q_norm, hq, t);
        finish_heads(s, kt, &w->k_norm, hk, t);
        for (size_t i = hk.begin; i < hk.end; i++)
            mn_kv_put_key(kv, s->block, s->kernels, l, i, s->pos + t, kt + i * c->P);
        for (size_t i = hv.begin; i < hv.end; i++)
            mn_kv_put_value(kv, s->block, s->kernels, l, i, s->pos + t, vt + i * c->P);
    }
    mn_barrier(s->team);
}

static void project(const mn_step *s, const mn_act *x, const mn_act *a, const mn_weight *w)
{
    const mn_act *y = &s->buf.y;
    const mn_acts in = mn_act_from(s, a, 0);
    size_t        begin, end;
    mn_split(w->rows, ROW_UNIT, s->team, &begin, &end);
    product(s, mn_act_row(s, y, 0), y->ld, w, &in, begin, end, s->T);
    for (size_t t = 0; t < s->T; t++)
        s->kernels->add(mn_act_row(s, x, t) + begin, mn_act_row(s, y, t) + begin, end - begin);
    mn_barrier(s->team);
}

static void gate_up(const mn_step *s, const mn_act *g, const mn_act *x, const mn_layer *w)
{
    const mn_act *u = &s->buf.u;
    const bool    q8 = mn_wants_q8(w->w_gate.type) || mn_wants_q8(w->w_up.type);
    const mn_acts in = normalise(s, x, &w->ffn_norm, q8);
    size_t        begin, end;
    mn_split(s->config->F, FF_UNIT, s->team, &begin, &end);
    product(s, mn_act_row(s, g, 0), g->ld, &w->w_gate, &in, begin, end, s->T);
    product(s, mn_act_row(s, u, 0), u->ld, &w->w_up, &in, begin, end, s->T);
    for (size_t t = 0; t < s->T && begin < end; t++) {
        const mn_acts gt = mn_act_from(s, g, t);
        s->kernels->swiglu(gt.f + begin, gt.f + begin, mn_act_row(s, u, t) + begin, end - begin);
        if (mn_wants_q8(w->w_down.type)) mn_cpu_quantise(s, &gt, begin, end);
    }
    mn_barrier(s->team);
}

static void head(const mn_step *s, mn_buf logits, const mn_act *x, size_t t)
{
    const mn_weight *w = &s->weights->head;
    const size_t     own = MN_ALONE * s->team->id;
    normalise_row(s, own, x, t, &s->weights->norm, mn_wants_q8(w->type));
    const mn_acts in = mn_act_from(s, &s->buf.h, own);

    size_t begin, end;
    mn_split(w->rows, HEAD_UNIT, s->team, &begin, &end);
    product(s, mn_at(s->block, logits), w->rows, w, &in, begin, end, 1);
    mn_barrier(s->team);
}

const mn_backend mn_backend_cpu = {
    .name = "cpu",
    .embed = embed,
    .qkv = qkv,
    .attend = mn_cpu_attend,
    .project = project,
    .gate_up = gate_up,
    .head = head,
};
