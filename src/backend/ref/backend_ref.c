/* SPDX-License-Identifier: Apache-2.0
 *
 * backend_ref.c - the forward pass as formulas, the oracle of every other backend.
 *
 * Weights are expanded to f32 a row at a time, activations stay f32, sums are double, functions
 * come from libm.  Thread 0 works, the others wait.  The only rounding shared with faster backends
 * is that of the cache, because it is the session's choice.
 */
#include "backend/ref/backend_ref.h"

#include <math.h>
#include <string.h>

/* y = W x + bias                                                          [rows] */
static void matvec(const mn_step *s, float *y, const mn_weight *w, const float *x,
                   const float *bias)
{
    float *row = mn_at(s->block, s->buf.row);
    for (size_t r = 0; r < w->rows; r++) {
        mn_weight_expand(row, w, r);
        double sum = bias ? (double)bias[r] : 0.0;
        for (size_t i = 0; i < w->cols; i++) sum += (double)row[i] * (double)x[i];
        y[r] = (float)sum;
    }
}

/* y = x w / sqrt(mean(x^2) + eps) */
static void rmsnorm(float *y, const float *x, const float *w, size_t n, float eps)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += (double)x[i] * (double)x[i];
    const double r = 1.0 / sqrt(sum / (double)n + (double)eps);
    for (size_t i = 0; i < n; i++) y[i] = (float)((double)x[i] * r * (double)w[i]);
}

/* Turn each pair of one head by its angle at `pos`. */
static void rotate(const mn_config *c, float *x, size_t pos)
{
    const size_t half = c->rope.n / 2;
    for (size_t i = 0; i < half; i++) {
        const bool   pair = c->arch->rope == MN_ROPE_PAIR;
        float       *a = pair ? &x[2 * i] : &x[i], *b = pair ? &x[2 * i + 1] : &x[i + half];
        const double angle = (double)pos * (double)c->rope.freq[i], scale = (double)c->rope.scale;
        const double cs = cos(angle) * scale, sn = sin(angle) * scale;
        const double x0 = (double)*a, x1 = (double)*b;
        *a = (float)(x0 * cs - x1 * sn);
        *b = (float)(x0 * sn + x1 * cs);
    }
}

static void embed(const mn_step *s, const mn_act *x)
{
    const mn_weight *w = &s->weights->embd;
    for (size_t t = 0; t < s->T && s->team->id == 0; t++) {
        mn_weight_expand(mn_act_row(s, x, t), w, (size_t)s->tokens[t]);
    }
    mn_barrier(s->team);
}

static void qkv(const mn_step *s, const mn_act *q, const mn_kv *kv, size_t l, const mn_act *x,
                const mn_layer *w)
{
    const mn_config *c = s->config;
    float           *h = mn_act_row(s, &s->buf.h, 0);
    for (size_t t = 0; t < s->T && s->team->id == 0; t++) {
        float       *qt = mn_act_row(s, q, t);              // [H, P]
        float       *kt = mn_act_row(s, &s->buf.k, t);      // [K, P]
        float       *vt = mn_act_row(s, &s->buf.v, t);      // [K, P]
        const size_t pos = s->pos + t;

        rmsnorm(h, mn_act_row(s, x, t), mn_weight_vector(&w->attn_norm), c->D, c->eps);
        matvec(s, qt, &w->wq, h, mn_weight_vector(&w->bq));
        matvec(s, kt, &w->wk, h, mn_weight_vector(&w->bk));
        matvec(s, vt, &w->wv, h, mn_weight_vector(&w->bv));
        for (size_t i = 0; i < c->H; i++) {
            float *head = qt + i * c->P;
            if (w->q_norm.data) rmsnorm(head, head, mn_weight_vector(&w->q_norm), c->P, c->eps);
            rotate(c, head, pos);
        }
        for (size_t i = 0; i < c->K; i++) {
            float *head = kt + i * c->P;
            if (w->k_norm.data) rmsnorm(head, head, mn_weight_vector(&w->k_norm), c->P, c->eps);
            rotate(c, head, pos);
            mn_kv_put_key(kv, s->block, s->kernels, l, i, pos, head);
            mn_kv_put_value(kv, s->block, s->kernels, l, i, pos, vt + i * c->P);
        }
    }
    mn_barrier(s->team);
}

/* One query head over the n first positions of its kv head. */
static void attend_head(const mn_step *s, float *o, const float *q, const mn_kv *kv, size_t l,
                        size_t head, size_t n)
{
    const size_t P = s->config->P;
    float       *score = mn_at(s->block, s->buf.scores), row[MN_MAX_HEAD_DIM];
    double       top = -INFINITY, total = 0.0, sum[MN_MAX_HEAD_DIM] = { 0 };
    for (size_t j = 0; j < n; j++) {
        double dot = 0.0;
        mn_kv_get_key(kv, s->block, l, head, j, row);
        for (size_t i = 0; i < P; i++) dot += (double)q[i] * (double)row[i];
        score[j] = (float)(dot / sqrt((double)P));
        top = fmax(top, (double)score[j]);
    }
    for (size_t j = 0; j < n; j++) {
        const double e = exp((double)score[j] - top);
        mn_kv_get_value(kv, s->block, l, head, j, row);
        for (size_t i = 0; i < P; i++) sum[i] += e * (double)row[i];
        total += e;
    }
    for (size_t i = 0; i < P; i++) o[i] = (float)(sum[i] / total);
}

static void attend(const mn_step *s, const mn_act *o, const mn_act *q, const mn_kv *kv, size_t l)
{
    const mn_config *c = s->config;
    for (size_t t = 0; t < s->T && s->team->id == 0; t++) {
        for (size_t i = 0; i < c->H; i++) {
            attend_head(s, mn_act_row(s, o, t) + i * c->P, mn_act_row(s, q, t) + i * c->P, kv, l,
                        i / (c->H / c->K), s->pos + t + 1);
        }
    }
    mn_barrier(s->team);
}

static void project(const mn_step *s, const mn_act *x, const mn_act *a, const mn_weight *w)
{
    float *y = mn_act_row(s, &s->buf.y, 0);
    for (size_t t = 0; t < s->T && s->team->id == 0; t++) {
        float *xt = mn_act_row(s, x, t);
        matvec(s, y, w, mn_act_row(s, a, t), NULL);
        for (size_t i = 0; i < w->rows; i++) xt[i] += y[i];
    }
    mn_barrier(s->team);
}

static void gate_up(const mn_step *s, const mn_act *g, const mn_act *x, const mn_layer *w)
{
    const mn_config *c = s->config;
    float           *h = mn_act_row(s, &s->buf.h, 0), *u = mn_act_row(s, &s->buf.u, 0);
    for (size_t t = 0; t < s->T && s->team->id == 0; t++) {
        float *gt = mn_act_row(s, g, t);
        rmsnorm(h, mn_act_row(s, x, t), mn_weight_vector(&w->ffn_norm), c->D, c->eps);
        matvec(s, gt, &w->w_gate, h, NULL);
        matvec(s, u, &w->w_up, h, NULL);
        for (size_t i = 0; i < c->F; i++) {
            gt[i] = (float)((double)gt[i] / (1.0 + exp(-(double)gt[i])) * (double)u[i]);
        }
    }
    mn_barrier(s->team);
}

static void head(const mn_step *s, mn_buf logits, const mn_act *x, size_t t)
{
    const mn_config *c = s->config;
    if (s->team->id == 0) {
        float *h = mn_act_row(s, &s->buf.h, 0);
        rmsnorm(h, mn_act_row(s, x, t), mn_weight_vector(&s->weights->norm), c->D, c->eps);
        matvec(s, mn_at(s->block, logits), &s->weights->head, h, NULL);
    }
    mn_barrier(s->team);
}

static void score(const mn_step *s, const mn_act *x, size_t t, size_t n, const int32_t *target,
                  float *logprob)
{
    for (size_t i = 0; i < n; i++) {
        head(s, s->buf.logits, x, t + i);
        if (s->team->id == 0) {
            logprob[i] = mn_score_row(s->kernels, mn_at(s->block, s->buf.logits), s->config->V,
                                      (size_t)target[i]);
        }
    }
    mn_barrier(s->team);
}

const mn_backend mn_backend_ref = {
    .name = "ref",
    .embed = embed,
    .qkv = qkv,
    .attend = attend,
    .project = project,
    .gate_up = gate_up,
    .head = head,
    .score = score,
};
