/* SPDX-License-Identifier: Apache-2.0
 *
 * session.c - advance one timeline of tokens through a model.
 *
 * Tokens are fed in chunks of at most n_batch.  A chunk is one job: all threads of the context walk
 * through the layers together (walk).  Nothing counts as fed until the whole call has succeeded, so
 * a cancelled call leaves only cache rows behind that nobody will read.
 */
#include "run/session.h"

#include <math.h>
#include <string.h>

#include "backend/cpu/backend_cpu.h"
#include "backend/ref/backend_ref.h"

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Fill in defaults and judge. */
static mnw_status resolve(const mnw_model *m, const mnw_session_opts *opts, mnw_session_opts *o,
                          mn_err *err)
{
    const uint32_t trained = m->config.n_ctx_train;
    mn_opts_copy(o, sizeof *o, opts);
    o->size = sizeof *o;
    MN_FAIL_IF(o->n_ctx > trained, err, MNW_E_ARG, "n_ctx %u: the model goes up to %u", o->n_ctx,
               trained);
    MN_FAIL_IF(o->n_batch > MN_MAX_BATCH, err, MNW_E_ARG, "n_batch %u: at most %d", o->n_batch,
               MN_MAX_BATCH);
    MN_FAIL_IF((unsigned)o->kv_type > MNW_KV_F32, err, MNW_E_ARG, "kv_type %d: expected 0 to %d",
               (int)o->kv_type, MNW_KV_F32);
    MN_FAIL_IF(o->kv_type == MNW_KV_F32 && m->backend != MNW_BACKEND_REF, err, MNW_E_UNSUPPORTED,
               "kv_type f32: only the reference backend has it");
    MN_FAIL_IF((unsigned)o->precision > MNW_PRECISION_AUTO, err, MNW_E_ARG,
               "precision %d: expected 0 to %d", (int)o->precision, MNW_PRECISION_AUTO);
    if (o->n_ctx == 0) o->n_ctx = smaller(MN_DEFAULT_CTX, trained);
    if (o->n_batch == 0) o->n_batch = MN_DEFAULT_BATCH;
    if (o->kv_type == MNW_KV_DEFAULT) o->kv_type = MNW_KV_F16;
    if (o->precision == MNW_PRECISION_DEFAULT) o->precision = MNW_PRECISION_AUTO;
    o->n_batch = smaller(o->n_batch, o->n_ctx);
    return MNW_OK;
}

static unsigned exact_inputs(const mnw_model *m, const mnw_session_opts *o)
{
    switch (o->precision) {
    case MNW_PRECISION_FAST: return 0;
    case MNW_PRECISION_EXACT: return MN_EXACT_ALL;
    default: return m->config.exact;
    }
}

/* Lay out the block: how much is needed and where everything is, in the same lines. */
static mn_buf plan(mn_plan *p, const mnw_model *m, const mnw_session_opts *o, mn_step *step)
{
    const mn_buf tokens = mn_plan_take(p, o->n_ctx, 1, sizeof(int32_t));
    mn_step_plan(p, &m->config, &m->weights, o->n_batch, o->n_ctx, m->ctx->threads,
                 exact_inputs(m, o), &step->buf);
    mn_kv_plan(p, &m->config, o->kv_type, o->n_ctx, &step->kv);
    return tokens;
}

size_t mnw_session_bytes(const mnw_model *m, const mnw_session_opts *opts)
{
    mnw_session_opts o;
    mn_step          step;
    mn_plan          p = { 0 };
    if (!m || resolve(m, opts, &o, NULL) != MNW_OK) return 0;
    plan(&p, m, &o, &step);
    return p.end;
}

mnw_status mnw_session_open(mnw_model *m, const mnw_session_opts *opts, mnw_session **out)
{
    if (!m || !out) return MNW_E_ARG;
    *out = NULL;
    mnw_ctx *ctx = m->ctx;
    mn_err_clear(&ctx->err);

    mnw_session_opts o;
    MN_TRY(resolve(m, opts, &o, &ctx->err));
    mnw_session *s = mn_alloc_zero(&ctx->mem, 1, sizeof *s);
    MN_FAIL_IF(!s, &ctx->err, MNW_E_NOMEM, "session handle");
    s->model = m;
    s->opts = o;
    s->step = (mn_step){
        .config = &m->config,
        .weights = &m->weights,
        .kernels = &m->kernels,
        .backend = m->backend == MNW_BACKEND_REF ? &mn_backend_ref : &mn_backend_cpu,
    };

    mn_plan      p = { 0 };
    const mn_buf tokens = plan(&p, m, &o, &s->step);
    s->step.block = mn_alloc(&ctx->mem, p.end);
    if (!s->step.block) {
        mnw_session_close(s);
        MN_FAIL(&ctx->err, MNW_E_NOMEM, "session of %u positions: %zu bytes", o.n_ctx, p.end);
    }
    s->tokens = mn_at(s->step.block, tokens);
    mn_step_clear(&s->step);
    *out = s;
    return MNW_OK;
}

void mnw_session_close(mnw_session *s)
{
    if (!s) return;
    mn_free(&s->model->ctx->mem, s->step.block);
    mn_free(&s->model->ctx->mem, s);
}

/* Score runs of wanted targets, as many as a pass over the head takes. */
static void score_targets(const mn_step *s, const int32_t *target, float *logprob)
{
    for (size_t t = 0, n; t < s->T; t += n) {
        const bool wanted = target[t] >= 0;
        for (n = 1; n < MN_SCORE_TOKENS && t + n < s->T && (target[t + n] >= 0) == wanted;) n++;
        if (wanted) s->backend->score(s, &s->buf.x, t, n, target + t, logprob + t);
    }
}

/* The job of a chunk.  Thread 0 looks at the cancel flag while a layer runs, and what it decides
 * holds at the end of that layer: the layer's barriers have made it known to all by then. */
static void walk(void *user, mn_team *team)
{
    mnw_session *session = user;
    mn_step      s = session->step;
    s.team = team;

    s.backend->embed(&s, &s.buf.x);
    for (uint32_t l = 0; l < s.config->L; l++) {
        if (team->id == 0 && atomic_load_explicit(&session->cancel, memory_order_relaxed) &&
            atomic_load_explicit(&session->stop_after, memory_order_relaxed) > l + 1) {
            atomic_store_explicit(&session->stop_after, l + 1, memory_order_relaxed);
        }
        mn_block(&s, l);
        if (atomic_load_explicit(&session->stop_after, memory_order_relaxed) <= l + 1) return;
    }
    if (session->want_head) s.backend->head(&s, s.buf.logits, &s.buf.x, s.T - 1);
    if (session->target) score_targets(&s, session->target, session->logprob);
}

/* The job of feed_each: logits of one more token of the chunk. */
static void head_only(void *user, mn_team *team)
{
    mnw_session *session = user;
    mn_step      s = session->step;
    s.team = team;
    s.backend->head(&s, s.buf.logits, &s.buf.x, session->head_token);
}

static mnw_status cancelled(mnw_session *s, size_t done, size_t n)
{
    atomic_store(&s->cancel, false);
    MN_FAIL(&s->err, MNW_E_CANCELLED, "cancelled after %zu of %zu tokens", done, n);
}

/* Evaluate T tokens at position pos, which are in s->tokens already. */
static mnw_status run_chunk(mnw_session *s, size_t pos, size_t T, bool want_head)
{
    s->step.tokens = s->tokens + pos;
    s->step.pos = pos;
    s->step.T = T;
    s->want_head = want_head;
    atomic_store(&s->stop_after, s->model->config.L + 1);
    mn_pool_run(s->model->ctx->pool, walk, s);
    return atomic_load(&s->stop_after) <= s->model->config.L ? MNW_E_CANCELLED : MNW_OK;
}

static mnw_status hand_out(mnw_session *s, size_t pos, size_t T, mnw_logits_fn *fn, void *user)
{
    for (size_t t = 0; t < T; t++) {
        s->head_token = t;
        mn_pool_run(s->model->ctx->pool, head_only, s);
        const bool go_on = fn(user, pos + t, mn_at(s->step.block, s->step.buf.logits));
        if (!go_on || atomic_load(&s->cancel)) return MNW_E_CANCELLED;
    }
    return MNW_OK;
}

/* Ids must be in the vocabulary; negative ones may stand for none. */
static mnw_status check_ids(mnw_session *s, const char *what, const int32_t *ids, size_t n,
                            bool or_none)
{
    const uint32_t V = s->model->config.V;
    MN_FAIL_IF(!ids, &s->err, MNW_E_ARG, "%ss: NULL", what);
    for (size_t i = 0; i < n; i++) {
        const bool none = ids[i] < 0 && or_none;
        MN_FAIL_IF(!none && (ids[i] < 0 || (uint32_t)ids[i] >= V), &s->err, MNW_E_ARG,
                   "%s %zu: id %d, expected 0 to %u", what, i, (int)ids[i], V - 1);
    }
    return MNW_OK;
}

/* What a feed is for: neither = the logits of the last token. */
typedef struct wish {
    mnw_logits_fn *fn;        // of every token
    void          *user;
    const int32_t *target;    // or the log-probabilities of these
    float         *logprob;
} wish;

static mnw_status feed(mnw_session *s, const int32_t *tokens, size_t n, const wish *w)
{
    mn_err_clear(&s->err);
    if (n == 0) return MNW_OK;
    MN_TRY(check_ids(s, "token", tokens, n, false));
    MN_FAIL_IF(n > s->opts.n_ctx - s->count, &s->err, MNW_E_FULL,
               "context is full: %zu tokens and %zu more, the session holds %u", s->count, n,
               s->opts.n_ctx);
    if (w->target) MN_TRY(check_ids(s, "target", w->target, n, true));

    const bool last = !w->fn && !w->target;
    memcpy(s->tokens + s->count, tokens, n * sizeof *tokens);
    if (!last) s->has_logits = false;   // they are overwritten on the way, or are another token's
    for (size_t done = 0, T; done < n; done += T) {
        T = smaller((uint32_t)(n - done), s->opts.n_batch);
        const size_t pos = s->count + done;
        if (atomic_load(&s->cancel)) return cancelled(s, done, n);
        s->target = w->target ? w->target + done : NULL;
        s->logprob = w->target ? w->logprob + done : NULL;
        mnw_status st = run_chunk(s, pos, T, last && done + T == n);
        if (st == MNW_OK && w->fn) st = hand_out(s, pos, T, w->fn, w->user);
        if (st != MNW_OK) return cancelled(s, done, n);
    }
    s->count += n;
    s->has_logits = !w->target;
    return MNW_OK;
}

mnw_status mnw_session_feed(mnw_session *s, const int32_t *tokens, size_t n)
{
    if (!s) return MNW_E_ARG;
    return feed(s, tokens, n, &(wish){ 0 });
}

mnw_status mnw_session_feed_each(mnw_session *s, const int32_t *tokens, size_t n, mnw_logits_fn *fn,
                                 void *user)
{
    if (!s) return MNW_E_ARG;
    mn_err_clear(&s->err);
    MN_FAIL_IF(!fn, &s->err, MNW_E_ARG, "logits function: NULL");
    return feed(s, tokens, n, &(wish){ .fn = fn, .user = user });
}

mnw_status mnw_session_score(mnw_session *s, const int32_t *tokens, size_t n,
                             const int32_t *targets, float *logprobs)
{
    if (!s) return MNW_E_ARG;
    mn_err_clear(&s->err);
    MN_FAIL_IF(n && (!targets || !logprobs), &s->err, MNW_E_ARG, "%s: NULL",
               targets ? "logprobs" : "targets");
    for (size_t i = 0; i < n; i++) logprobs[i] = 0.0f;
    return feed(s, tokens, n, &(wish){ .target = targets, .logprob = logprobs });
}

float mnw_session_logprob(const mnw_session *s, int32_t token)
{
    const float   *logits = mnw_session_logits(s);
    const uint32_t V = s->model->config.V;
    if (!logits || token < 0 || (uint32_t)token >= V) return NAN;
    return mn_score_row(&s->model->kernels, logits, V, (size_t)token);
}

const float *mnw_session_logits(const mnw_session *s)
{
    return s->has_logits ? mn_at(s->step.block, s->step.buf.logits) : NULL;
}

size_t mnw_session_count(const mnw_session *s)
{
    return s->count;
}

size_t mnw_session_capacity(const mnw_session *s)
{
    return s->opts.n_ctx;
}

const int32_t *mnw_session_tokens(const mnw_session *s)
{
    return s->tokens;
}

mnw_model *mnw_session_model(const mnw_session *s)
{
    return s->model;
}

mnw_status mnw_session_rewind(mnw_session *s, size_t pos)
{
    if (!s) return MNW_E_ARG;
    mn_err_clear(&s->err);
    MN_FAIL_IF(pos > s->count, &s->err, MNW_E_ARG, "rewind to %zu: only %zu tokens were fed", pos,
               s->count);
    if (pos < s->count) s->has_logits = false;
    s->count = pos;
    return MNW_OK;
}

/* Copy the first `count` rows of every head. */
static void copy_cache(mnw_session *to, const mnw_session *from)
{
    const mn_kv *kv = &from->step.kv;
    for (size_t l = 0; l < kv->L; l++) {
        for (size_t head = 0; head < kv->K; head++) {
            mn_kv_run a[MN_KV_RUNS], b[MN_KV_RUNS];
            mn_kv_runs(kv, from->step.block, l, head, a);
            mn_kv_runs(&to->step.kv, to->step.block, l, head, b);
            for (int i = 0; i < MN_KV_RUNS; i++)
                memcpy(b[i].data, a[i].data, from->count * a[i].bytes);
        }
    }
}

mnw_status mnw_session_fork(mnw_session *s, mnw_session **out)
{
    if (!s || !out) return MNW_E_ARG;
    mn_err_clear(&s->err);
    const mnw_status st = mnw_session_open(s->model, &s->opts, out);
    if (st != MNW_OK) MN_FAIL(&s->err, st, "fork: %s", s->model->ctx->err.text);

    mnw_session *copy = *out;
    copy->count = s->count;
    copy->has_logits = s->has_logits;
    memcpy(copy->tokens, s->tokens, s->count * sizeof *s->tokens);
    copy_cache(copy, s);
    if (s->has_logits) {
        memcpy(mn_at(copy->step.block, copy->step.buf.logits), mnw_session_logits(s),
               s->model->config.V * sizeof(float));
    }
    return MNW_OK;
}

void mnw_session_cancel(mnw_session *s)
{
    atomic_store(&s->cancel, true);
}

const char *mnw_session_error(const mnw_session *s)
{
    return s ? s->err.text : "";
}
