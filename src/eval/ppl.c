/* SPDX-License-Identifier: Apache-2.0
 *
 * ppl.c - perplexity: how surprised a model is by a text, window by window.
 */
#include <math.h>
#include <minnow/eval.h>

#include "base/os.h"
#include "eval/ids.h"
#include "model/model.h"

enum { WINDOW = 512 };

typedef struct ppl {
    mnw_model      *m;
    mnw_ctx        *ctx;
    mnw_ppl_opts    o;         // resolved
    mnw_ppl_result  r;
    mn_ids          ids;
    mnw_session    *s;
    int32_t        *in, *target;   // [window]
    float          *logprob;       // [window]
    double          squares;       // of -log p
    double          half;          // sum of -log p in second halves
    uint64_t        half_n;
} ppl;

static mnw_status resolve(ppl *p, const mnw_ppl_opts *opts)
{
    mn_err *err = &p->ctx->err;
    mn_opts_copy(&p->o, sizeof p->o, opts);
    mnw_ppl_opts *o = &p->o;
    const uint32_t trained = p->m->config.n_ctx_train;
    if (o->window == 0) o->window = WINDOW < trained ? WINDOW : trained;
    if (o->stride == 0) o->stride = o->window;
    MN_FAIL_IF(o->window < 2 || o->window > trained, err, MNW_E_ARG,
               "window %u: expected 2 to %u, which the model goes up to", o->window, trained);
    MN_FAIL_IF(o->stride > o->window, err, MNW_E_ARG, "stride %u: expected 1 to the window, %u",
               o->stride, o->window);
    MN_FAIL_IF(!mnw_model_tokenizer(p->m), err, MNW_E_UNSUPPORTED, "the model has no tokenizer");
    return MNW_OK;
}

static mnw_status open_session(ppl *p, const char *text, size_t len)
{
    mn_err *err = &p->ctx->err;
    MN_TRY(mn_ids_encode(&p->ids, mnw_model_tokenizer(p->m), text, len, err));
    p->r.text_tokens = p->ids.n;
    MN_FAIL_IF(p->ids.n < 2, err, MNW_E_FORMAT, "the text has %zu tokens, expected 2 or more",
               p->ids.n);
    if (p->ids.n < p->o.window) p->o.window = p->o.stride = (uint32_t)p->ids.n;

    const size_t W = p->o.window;
    p->in = mn_alloc(&p->ctx->mem, W * sizeof *p->in);
    p->target = mn_alloc(&p->ctx->mem, W * sizeof *p->target);
    p->logprob = mn_alloc(&p->ctx->mem, W * sizeof *p->logprob);
    MN_FAIL_IF(!p->in || !p->target || !p->logprob, err, MNW_E_NOMEM, "window of %zu tokens", W);
    const mnw_session_opts so = { .size = sizeof so, .n_ctx = (uint32_t)W,
                                  .kv_type = p->o.kv_type, .precision = p->o.precision };
    return mnw_session_open(p->m, &so, &p->s);
}

/* Bytes a token stands for. */
static size_t token_bytes(const mnw_tokenizer *tok, int32_t id)
{
    size_t n = 0;
    mnw_tokenizer_decode(tok, &id, 1, MNW_DECODE_SPECIAL, NULL, 0, &n);
    return n;
}

/* Evaluate the window that begins at token `at`; its first `known` tokens have been counted. */
static mnw_status window(ppl *p, size_t at, size_t known)
{
    const mnw_tokenizer *tok = mnw_model_tokenizer(p->m);
    const size_t         W = p->o.window;
    const int32_t       *w = p->ids.at + at;
    for (size_t i = 0; i < W - 1; i++) {
        p->in[i] = w[i];
        p->target[i] = i + 1 < known ? -1 : w[i + 1];
    }
    if (tok->add_bos && tok->bos >= 0) p->in[0] = tok->bos;
    MN_TRY(mnw_session_rewind(p->s, 0));
    const mnw_status st = mnw_session_score(p->s, p->in, W - 1, p->target, p->logprob);
    if (st != MNW_OK) return mn_err_set(&p->ctx->err, st, "%s", mnw_session_error(p->s));

    for (size_t i = 0; i < W - 1; i++) {
        if (p->target[i] < 0) continue;
        const double nll = -(double)p->logprob[i];
        p->r.nll += nll;
        p->squares += nll * nll;
        p->r.tokens++;
        p->r.bytes += token_bytes(tok, p->target[i]);
        if (i < W / 2) continue;
        p->half += nll;
        p->half_n++;
    }
    return MNW_OK;
}

static bool report(const ppl *p, uint64_t done, uint64_t total)
{
    if (p->o.progress) return p->o.progress(p->o.progress_user, "perplexity", done, total);
    return mn_progress(p->ctx, NULL, "perplexity", done, total) == MNW_OK;
}

static mnw_status run(ppl *p, const char *text, size_t len)
{
    MN_TRY(open_session(p, text, len));
    const uint64_t W = p->o.window, fit = (p->ids.n - W) / p->o.stride + 1;
    const uint64_t n = p->o.limit && p->o.limit < fit ? p->o.limit : fit;
    for (uint64_t i = 0; i < n; i++) {
        if (!report(p, i, n))
            MN_FAIL(&p->ctx->err, MNW_E_CANCELLED, "cancelled after %llu of %llu windows",
                    (unsigned long long)i, (unsigned long long)n);
        MN_TRY(window(p, (size_t)(i * p->o.stride), i ? (size_t)(W - p->o.stride) : 0));
        p->r.windows++;
    }
    report(p, n, n);
    return MNW_OK;
}

static void finish(ppl *p)
{
    mnw_ppl_result *r = &p->r;
    const double    n = (double)r->tokens, mean = r->nll / n;
    const double    variance = n > 1 ? (p->squares - n * mean * mean) / (n - 1) : 0;
    r->ppl = exp(mean);
    r->ppl_stderr = r->ppl * sqrt(variance > 0 ? variance / n : 0);
    const bool halves = p->half_n && p->o.stride == p->o.window;
    r->ppl_half = halves ? exp(p->half / (double)p->half_n) : NAN;
    r->bits_per_byte = r->bytes ? r->nll / log(2.0) / (double)r->bytes : NAN;
}

mnw_status mnw_eval_ppl(mnw_model *m, const char *text, size_t len, const mnw_ppl_opts *opts,
                        mnw_ppl_result *out)
{
    if (!m || !text || !out) return MNW_E_ARG;
    mn_err_clear(&m->ctx->err);
    ppl          p = { .m = m, .ctx = m->ctx, .ids = { .mem = &m->ctx->mem } };
    const double began = mn_os_seconds();
    mnw_status   st = resolve(&p, opts);
    if (st == MNW_OK) st = run(&p, text, len);
    if (st == MNW_OK) finish(&p);
    p.r.seconds = mn_os_seconds() - began;
    mnw_session_close(p.s);
    mn_free(&m->ctx->mem, p.in);
    mn_free(&m->ctx->mem, p.target);
    mn_free(&m->ctx->mem, p.logprob);
    mn_ids_done(&p.ids);
    if (st != MNW_OK) return st;
    p.r.size = sizeof p.r;
    mn_result_copy(out, &p.r, sizeof p.r);
    return MNW_OK;
}
