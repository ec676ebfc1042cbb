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
 *      score     tiles of V          rmsnorm, quantise             sum of exponentials
 *
 * Work is divided among outputs, never inside a sum, and int8 scales belong to blocks of 32 values
 * of one token: so neither the number of threads nor the number of tokens changes a bit.
 */
#include "backend/cpu/backend_cpu.h"

#include "backend/cpu/phases.h"

enum {
    PANEL = 16,       // rows that a native product does at once
    MOST_SMALL = 32,  // tokens of a native product between gemv and gemm
    ROW_UNIT = 16,    // rows of a projection are divided in these
    FF_UNIT = 64,     // columns of F: whole blocks, whole lines
    HEAD_UNIT = 64,   // rows of V
};

/* What products read: the forms that were prepared are valid. */
typedef struct input {
    mn_acts  a;
    mn_xacts x;
} input;

static void native_product(const mn_step *s, float *y, size_t ldy, const mn_weight *w,
                           const mn_xacts *x, size_t begin, size_t end, size_t T)
{
    const mn_xmatmul *mm = mn_kernels_xmatmul(s->kernels, w->type->id);
    mn_xmm_fn        *fn = T == 1 ? mm->gemv : T <= MOST_SMALL ? mm->small : mm->gemm;
    const mn_xtensor  matrix = { .data = w->data, .rows = w->rows, .cols = w->cols };
    fn(y, ldy, &matrix, begin, end - begin, x, T, mn_step_tiles(s));
}

/* Rows [begin, end) of W times T tokens: y[t][r] for each of these r. */
static void product(const mn_step *s, float *y, size_t ldy, const mn_weight *w, const input *in,
                    size_t begin, size_t end, size_t T)
{
    if (begin == end) return;
    if (w->type->native) {
        native_product(s, y, ldy, w, &in->x, begin, end, T);
        return;
    }
    const mn_matmul *mm = mn_kernels_matmul(s->kernels, w->type->id);
    mn_mm_fn        *fn = T == 1 ? mm->gemv : mm->gemm;
    fn(y + begin, ldy, mn_weight_row(w, begin), &in->a, end - begin, w->cols, T);
}

void mn_cpu_quantise(const mn_step *s, const mn_acts *a, size_t begin, size_t end)
{
    float *d = a->d + begin / MN_ACT_BLOCK, *sum = a->s + begin / (MN_ACT_BLOCK / 2);
    if (a->lo)
        s->kernels->quant_q15(a->q + begin, a->lo + begin, d, sum, a->f + begin, end - begin);
    else s->kernels->quant_q8(a->q + begin, d, sum, a->f + begin, end - begin);
}

/* Who prepares which tokens of the step: a few are done by every thread for itself, into rows of its own,
 * many are divided, at the price of a barrier. */
typedef struct share {
    size_t first;         // token t goes to row first + t
    size_t begin, end;    // this thread's tokens
} share;

static bool alone(const mn_step *s)
{
    return s->T <= MN_ALONE;
}

static share share_tokens(const mn_step *s)
{
    if (alone(s)) return (share){ .first = MN_ALONE * s->team->id, .end = s->T };
    share mine = { 0 };
    mn_split(s->T, 1, s->team, &mine.begin, &mine.end);
    return mine;
}

static input input_from(const mn_step *s, const mn_act *a, size_t t, unsigned forms)
{
    input in = { .a = mn_act_from(s, a, t) };
    if (forms & MN_FORM_X) in.x = mn_act_native(s, a, t);
    return in;
}

/* Row `to` of h = rmsnorm(row t of x), and its integers in the forms that products want. */
static void normalise_row(const mn_step *s, size_t to, const mn_act *x, size_t t,
                          const mn_weight *norm, unsigned forms)
{
    const input h = input_from(s, &s->buf.h, to, forms);
    s->kernels->rmsnorm(h.a.f, mn_act_row(s, x, t), mn_weight_vector(norm), x->n, s->config->eps);
    if (forms & MN_FORM_Q8) mn_cpu_quantise(s, &h.a, 0, x->n);
    if (forms & MN_FORM_X) s->kernels->quant_x(&h.x, 0, h.a.f, x->n);
}

/* h = rmsnorm(x) for all tokens of the step. */
static input normalise(const mn_step *s, const mn_act *x, const mn_weight *norm, unsigned forms)
{
    const share mine = share_tokens(s);
    for (size_t t = mine.begin; t < mine.end; t++)
        normalise_row(s, mine.first + t, x, t, norm, forms);
    if (!alone(s)) mn_barrier(s->team);
    return input_from(s, &s->buf.h, mine.first, forms);
}

/* The output of the phase before as W wants it.  Blocks of int8 were made there; a scale for the whole token
 * needs all of it. */
static input prepare(const mn_step *s, const mn_act *a, const mn_weight *w)
{
    input in = input_from(s, a, 0, 0);
    if (!w->type->native) return in;
    const share    mine = share_tokens(s);
    const mn_xacts x = mn_act_native(s, a, mine.first);
    for (size_t t = mine.begin; t < mine.end; t++)
        s->kernels->quant_x(&x, t, mn_act_row(s, a, t), a->n);
    if (!alone(s)) mn_barrier(s->team);
    in.x = x;
    return in;
}

static void embed(const mn_step *s, const mn_act *x)
{
    const mn_config *c = s->config;
    const mn_weight *w = &s->weights->embd;
    size_t           begin, end;
    mn_split(s->T, 1, s->team, &begin, &end);
    for (size_t t = begin; t < end; t++) {
        mn_weight_expand(mn_act_row(s, x, t), w, (size_t)s->tokens[t]);
        mn_rope_angles(mn_step_angles(s, t), c->rope.freq, c->rope.n, (uint32_t)(s->pos + t),
                       c->rope.scale);
    }
    mn_barrier(s->team);
}

typedef struct span {
    size_t begin, end;
} span;

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t units(size_t heads, size_t unit)
{
    return (heads + unit - 1) / unit;
}

/* The heads, of `heads`, in what units [a, b) have in common with the n units from `first` on. */
static span heads_in(size_t a, size_t b, size_t first, size_t n, size_t unit, size_t heads)
{
    const size_t begin = a > first ? a : first, end = b < first + n ? b : first + n;
    if (begin >= end) return (span){ 0, 0 };
    return (span){ (begin - first) * unit, least((end - first) * unit, heads) };
}

/* Project some heads: y = W h + bias. */
static void project_heads(const mn_step *s, const mn_act *y, const mn_weight *w,
                          const mn_weight *bias, const input *in, span heads)
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
    const unsigned   forms = mn_weight_form(&w->wq) | mn_weight_form(&w->wk) |
                           mn_weight_form(&w->wv);
    const input in = normalise(s, x, &w->attn_norm, forms);

    size_t       a, b;   // units of heads: first those of q, then k, then v
    const size_t unit = mn_heads_per(PANEL, c->P);
    const size_t nq = units(c->H, unit), nk = units(c->K, unit);
    mn_split(nq + 2 * nk, 1, s->team, &a, &b);
    const span hq = heads_in(a, b, 0, nq, unit, c->H), hk = heads_in(a, b, nq, nk, unit, c->K),
               hv = heads_in(a, b, nq + nk, nk, unit, c->K);
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
    const input   in = prepare(s, a, w);
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
    const unsigned forms = mn_weight_form(&w->w_gate) | mn_weight_form(&w->w_up);
    const input    in = normalise(s, x, &w->ffn_norm, forms);
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
    normalise_row(s, own, x, t, &s->weights->norm, mn_weight_form(w));
    const input in = input_from(s, &s->buf.h, own, mn_weight_form(w));

    size_t begin, end;
    mn_split(w->rows, HEAD_UNIT, s->team, &begin, &end);
    product(s, mn_at(s->block, logits), w->rows, w, &in, begin, end, 1);
    mn_barrier(s->team);
}

/* The logits of one tile: their sums, and those that are asked for, which stay in logprob. */
static void score_tile(const mn_step *s, const input *in, size_t tile, size_t n,
                       const int32_t *target, float *logprob)
{
    const mn_weight *w = &s->weights->head;
    const size_t     first = tile * MN_SCORE_TILE, tiles = mn_score_tiles(w->rows);
    const size_t     end = tile + 1 == tiles ? w->rows : first + MN_SCORE_TILE;
    mn_score_part   *part = mn_at(s->block, s->buf.score_part);
    float           *y = (float *)mn_at(s->block, s->buf.score_tile) +
               s->team->id * (size_t)(MN_SCORE_TOKENS * MN_SCORE_TILE);
    product(s, y - first, MN_SCORE_TILE, w, in, first, end, n);   // row `first` goes to y
    for (size_t i = 0; i < n; i++) {
        const float *row = y + i * MN_SCORE_TILE;
        const size_t at = (size_t)target[i];
        part[i * tiles + tile] = mn_score_tile(s->kernels, row, end - first);
        if (at >= first && at < end) logprob[i] = row[at - first];
    }
}

static void score(const mn_step *s, const mn_act *x, size_t t, size_t n, const int32_t *target,
                  float *logprob)
{
    const mn_weight *w = &s->weights->head;
    const size_t     tiles = mn_score_tiles(w->rows);
    size_t           begin, end;
    mn_split(n, 1, s->team, &begin, &end);
    for (size_t i = begin; i < end; i++)
        normalise_row(s, i, x, t + i, &s->weights->norm, mn_weight_form(w));
    mn_barrier(s->team);

    const input in = input_from(s, &s->buf.h, 0, mn_weight_form(w));
    mn_split(tiles, 1, s->team, &begin, &end);
    for (size_t i = begin; i < end; i++) score_tile(s, &in, i, n, target, logprob);
    mn_barrier(s->team);

    const mn_score_part *part = mn_at(s->block, s->buf.score_part);
    mn_split(n, 1, s->team, &begin, &end);
    for (size_t i = begin; i < end; i++)
        logprob[i] = mn_score_end(part + i * tiles, tiles, logprob[i]);
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
    .score = score,
};
