/* SPDX-License-Identifier: Apache-2.0
 *
 * choice.c - which of several continuations a model finds likeliest.
 *
 * A question is a context and some continuations of it.  The session always holds a prefix of the one
 * evaluated last, and everything in common with it stays:
 *
 *      description, examples     question                continuation
 *      |------ of the subject ---|--- of the choices ----|---- of two choices ---|
 *
 * so only what is new goes through the model.  Since results do not depend on how tokens are grouped,
 * this changes no bit of a score.
 */
#include <math.h>
#include <minnow/eval.h>
#include <stdio.h>
#include <string.h>

#include "base/os.h"
#include "base/utf8.h"
#include "eval/ids.h"
#include "eval/task.h"
#include "model/model.h"
#include "text/unicode.h"

enum { DEFAULT_CTX = 4096 };

typedef struct choice {
    mnw_model        *m;
    mnw_ctx          *ctx;
    mn_err           *err;
    mnw_choice_opts   o;          // resolved
    mn_task           task;
    mnw_choice_result r;
    mnw_session      *s;
    uint64_t          right, right_norm, total, done;
    double            began;

    /* Of the question at hand. */
    mn_ids context, whole, targets;
    mn_ids cont[MN_CHOICES_MAX];                    // continuations
    float *logprob[MN_CHOICES_MAX];                 // [cont.cap]
    size_t logprob_cap[MN_CHOICES_MAX];
    double ll[MN_CHOICES_MAX];
} choice;

static mnw_status session_failed(choice *c, mnw_status st)
{
    return mn_err_set(c->err, st, "%s", mnw_session_error(c->s));
}

/* Where the blanks at the end of a text begin. */
static size_t without_blanks(const char *text, size_t n)
{
    while (n) {
        size_t   at = n - 1;
        uint32_t cp;
        while (at && n - at < MN_UTF8_MAX && ((uint8_t)text[at] & 0xC0) == 0x80) at--;
        mn_utf8_get(text + at, n - at, &cp);
        if ((mn_unicode_info(cp) & MN_CLASS_BITS) != MN_CLASS_SPACE) break;
        n = at;
    }
    return n;
}

/* The ids of the context, with the BOS if the model wants one. */
static mnw_status encode_context(choice *c, const char *text, size_t n)
{
    const mnw_tokenizer *tok = mnw_model_tokenizer(c->m);
    MN_TRY(mn_ids_encode(&c->context, tok, text, n, c->err));
    if (!tok->add_bos || tok->bos < 0) return MNW_OK;
    MN_TRY(mn_ids_reserve(&c->context, c->context.n + 1, c->err));
    memmove(c->context.at + 1, c->context.at, c->context.n * sizeof *c->context.at);
    c->context.at[0] = tok->bos;
    c->context.n++;
    return MNW_OK;
}

/* Ids of context and continuations. */
static mnw_status encode(choice *c, const mn_question *q)
{
    const mnw_tokenizer *tok = mnw_model_tokenizer(c->m);
    const size_t         n = strlen(q->context), head = without_blanks(q->context, n);
    MN_TRY(encode_context(c, q->context, head));
    const size_t bos = tok->add_bos && tok->bos >= 0 ? 1 : 0;
    for (uint32_t i = 0; i < q->n; i++) {
        const size_t nd = strlen(c->task.delimiter), nc = strlen(q->choice[i]);
        char        *text = mn_alloc(&c->ctx->mem, n + nd + nc);
        MN_FAIL_IF(!text, c->err, MNW_E_NOMEM, "%zu bytes", n + nd + nc);
        memcpy(text, q->context, n);
        memcpy(text + n, c->task.delimiter, nd);
        memcpy(text + n + nd, q->choice[i], nc);
        const mnw_status st = mn_ids_encode(&c->whole, tok, text, n + nd + nc, c->err);
        mn_free(&c->ctx->mem, text);
        MN_TRY(st);

        const size_t skip = c->context.n - bos;   // what follows the context's ids
        mn_ids      *cont = &c->cont[i];
        cont->mem = &c->ctx->mem;
        cont->n = c->whole.n > skip ? c->whole.n - skip : 0;
        MN_TRY(mn_ids_reserve(cont, cont->n + 1, c->err));
        if (cont->n) memcpy(cont->at, c->whole.at + skip, cont->n * sizeof *cont->at);
        if (cont->cap > c->logprob_cap[i]) {
            float *grown = mn_realloc(&c->ctx->mem, c->logprob[i], cont->cap * sizeof *grown);
            MN_FAIL_IF(!grown, c->err, MNW_E_NOMEM, "%zu log-probabilities", cont->cap);
            c->logprob[i] = grown;
            c->logprob_cap[i] = cont->cap;
        }
    }
    return MNW_OK;
}

static uint64_t fingerprint(const choice *c, uint32_t n)
{
    uint64_t h = 14695981039346656037u;   // FNV-1a over ids, each run with its length
    for (uint32_t k = 0; k <= n; k++) {
        const mn_ids *ids = k ? &c->cont[k - 1] : &c->context;
        h = (h ^ ids->n) * 1099511628211u;
        for (size_t i = 0; i < ids->n; i++) h = (h ^ (uint32_t)ids->at[i]) * 1099511628211u;
    }
    return h;
}

/* Bring the session to the end of the context, with logits. */
static mnw_status feed_context(choice *c)
{
    const mn_ids *x = &c->context;
    size_t keep = mn_ids_common(mnw_session_tokens(c->s), mnw_session_count(c->s), x->at, x->n);
    if (keep == x->n) keep--;   // for the logits
    MN_TRY(mnw_session_rewind(c->s, keep));
    const mnw_status st = mnw_session_feed(c->s, x->at + keep, x->n - keep);
    if (st != MNW_OK) return session_failed(c, st);
    c->r.tokens_fed += x->n - keep;
    return MNW_OK;
}

/* Log-probabilities of continuation i, given those of i - 1; the first token's is there already. */
static mnw_status score_branch(choice *c, uint32_t i)
{
    const mn_ids *x = &c->cont[i];
    float        *lp = c->logprob[i];
    size_t        same = 0;
    if (i) same = mn_ids_common(x->at, x->n, c->cont[i - 1].at, c->cont[i - 1].n);
    if (same) memcpy(lp, c->logprob[i - 1], same * sizeof *lp);
    const size_t from = same ? same - 1 : 0;   // the token whose successor is new
    if (from + 1 >= x->n) return MNW_OK;
    const size_t n = x->n - 1 - from;
    MN_TRY(mnw_session_rewind(c->s, c->context.n + from));
    const mnw_status st = mnw_session_score(c->s, x->at + from, n, x->at + from + 1, lp + from + 1);
    if (st != MNW_OK) return session_failed(c, st);
    c->r.tokens_fed += n;
    return MNW_OK;
}

static mnw_status score_shared(choice *c, uint32_t n)
{
    MN_TRY(feed_context(c));
    for (uint32_t i = 0; i < n; i++)
        if (c->cont[i].n) c->logprob[i][0] = mnw_session_logprob(c->s, c->cont[i].at[0]);
    for (uint32_t i = 0; i < n; i++) MN_TRY(score_branch(c, i));
    return MNW_OK;
}

/* Context and continuation i in full, without the context's beginning if they do not fit. */
static mnw_status score_full(choice *c, uint32_t i)
{
    const size_t cap = mnw_session_capacity(c->s), nx = c->context.n, n = c->cont[i].n;
    if (n == 0) return MNW_OK;
    MN_FAIL_IF(n > cap, c->err, MNW_E_LIMIT, "a continuation of %zu tokens, n_ctx is %zu", n, cap);
    const size_t all = nx + n - 1, drop = all > cap ? all - cap : 0, fed = all - drop;
    MN_TRY(mn_ids_reserve(&c->whole, nx + n, c->err));
    MN_TRY(mn_ids_reserve(&c->targets, 2 * (nx + n), c->err));
    memcpy(c->whole.at, c->context.at, nx * sizeof *c->whole.at);
    memcpy(c->whole.at + nx, c->cont[i].at, n * sizeof *c->whole.at);
    for (size_t k = 0; k < fed; k++)
        c->targets.at[k] = k + n < fed ? -1 : c->whole.at[drop + k + 1];
    MN_TRY(mnw_session_rewind(c->s, 0));
    float *lp = mn_alloc(&c->ctx->mem, fed * sizeof *lp);
    MN_FAIL_IF(!lp, c->err, MNW_E_NOMEM, "%zu log-probabilities", fed);
    const mnw_status st = mnw_session_score(c->s, c->whole.at + drop, fed, c->targets.at, lp);
    if (st == MNW_OK) memcpy(c->logprob[i], lp + fed - n, n * sizeof *lp);
    mn_free(&c->ctx->mem, lp);
    if (st != MNW_OK) return session_failed(c, st);
    c->r.tokens_fed += fed;
    return MNW_OK;
}

static mnw_status score(choice *c, uint32_t n)
{
    size_t longest = 0;
    for (uint32_t i = 0; i < n; i++) {
        const size_t m = c->cont[i].n;
        longest = m > longest ? m : longest;
        c->r.tokens_scored += m;
        if (m) c->r.tokens_full += c->context.n + m - 1;
    }
    const bool cut = c->context.n + longest > mnw_session_capacity(c->s) + 1;
    c->r.truncated += cut;
    if (!cut && !c->o.no_sharing && c->context.n) MN_TRY(score_shared(c, n));
    else for (uint32_t i = 0; i < n; i++) MN_TRY(score_full(c, i));
    for (uint32_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t k = 0; k < c->cont[i].n; k++) sum += (double)c->logprob[i][k];
        c->ll[i] = sum;
    }
    return MNW_OK;
}

/* Count an item: which choice has the highest score, the first of equals? */
static void judge(choice *c, const mnw_choice_item *item)
{
    uint32_t best = 0, best_norm = 0;
    for (uint32_t i = 1; i < item->n; i++) {
        const double each = item->ll[i] / item->chars[i];
        if (item->ll[i] > item->ll[best]) best = i;
        if (each > item->ll[best_norm] / item->chars[best_norm]) best_norm = i;
    }
    c->r.n++;
    c->right += item->right >> best & 1;
    c->right_norm += item->right >> best_norm & 1;
}

static bool report(const choice *c)
{
    if (c->o.progress) return c->o.progress(c->o.progress_user, c->task.name, c->done, c->total);
    return mn_progress(c->ctx, NULL, c->task.name, c->done, c->total) == MNW_OK;
}

static mnw_status run_item(choice *c, const mn_question *q)
{
    MN_TRY(encode(c, q));
    mnw_choice_item item = { .task = c->task.name, .index = c->done, .n = q->n,
                                   .fingerprint = fingerprint(c, q->n), .right = q->right,
                                   .ll = c->ll, .chars = q->chars };
    item.known = c->o.known && c->o.known(c->o.user, &item, c->ll);
    c->r.known += item.known;
    if (!item.known) MN_TRY(score(c, q->n));
    judge(c, &item);
    MN_FAIL_IF(c->o.item && !c->o.item(c->o.user, &item), c->err, MNW_E_CANCELLED,
               "cancelled after %llu items", (unsigned long long)c->r.n);
    return MNW_OK;
}

static size_t part_items(const choice *c, size_t part)
{
    const size_t n = json_array_size(c->task.part[part].records);
    return c->o.limit && c->o.limit < n ? (size_t)c->o.limit : n;
}

static mnw_status run_part(choice *c, size_t part)
{
    char *preamble;
    MN_TRY(mn_task_preamble(&c->task, part, &preamble, c->err));
    mnw_status   st = MNW_OK;
    const size_t all = json_array_size(c->task.part[part].records), wanted = part_items(c, part);
    for (size_t i = 0, taken = 0; i < all && taken < wanted && st == MNW_OK; i++) {
        mn_question q = { 0 };
        if (!report(c))
            st = mn_err_set(c->err, MNW_E_CANCELLED, "cancelled after %llu items",
                            (unsigned long long)c->r.n);
        else st = mn_task_question(&c->task, part, i, preamble, &q, c->err);
        if (q.skip) c->total -= all - i <= wanted - taken;   // fewer are left than wanted
        else if (st == MNW_OK) st = run_item(c, &q);
        c->done += !q.skip;
        taken += !q.skip;
        mn_question_done(&c->task, &q);
    }
    mn_free(&c->ctx->mem, preamble);
    return st;
}

static mnw_status resolve(choice *c, const mnw_choice_opts *opts)
{
    mn_opts_copy(&c->o, sizeof c->o, opts);
    const uint32_t trained = c->m->config.n_ctx_train;
    if (!c->o.data) c->o.data = ".";
    if (c->o.n_ctx == 0) c->o.n_ctx = trained < DEFAULT_CTX ? trained : DEFAULT_CTX;
    MN_FAIL_IF(!mnw_model_tokenizer(c->m), c->err, MNW_E_UNSUPPORTED, "the model has no tokenizer");
    const mnw_session_opts so = { .size = sizeof so, .n_ctx = c->o.n_ctx, .kv_type = c->o.kv_type,
                                  .precision = c->o.precision };
    return mnw_session_open(c->m, &so, &c->s);
}

static double standard_error(double p, double n)
{
    return n > 1 ? sqrt(p * (1 - p) / (n - 1)) : NAN;
}

static mnw_status finish(choice *c)
{
    const double n = (double)c->r.n;
    MN_FAIL_IF(c->r.n == 0, c->err, MNW_E_FORMAT, "task %s has no items", c->task.name);
    c->r.shots = c->task.shots;
    snprintf(c->r.task, sizeof c->r.task, "%s", c->task.name);
    c->r.acc = (double)c->right / n;
    c->r.acc_norm = (double)c->right_norm / n;
    c->r.acc_stderr = standard_error(c->r.acc, n);
    c->r.acc_norm_stderr = standard_error(c->r.acc_norm, n);
    if (c->r.truncated == 0) return MNW_OK;
    return mn_warn(c->ctx, MNW_WARNING_TRUNCATED, c->err,
                   "task %s: %llu of %llu contexts are longer than n_ctx %u, their beginning is lost",
                   c->task.name, (unsigned long long)c->r.truncated, (unsigned long long)c->r.n,
                   c->o.n_ctx);
}

static mnw_status run(choice *c, const char *task, const mnw_choice_opts *opts)
{
    MN_TRY(resolve(c, opts));
    MN_TRY(mn_task_open(c->ctx, task, c->o.data, c->o.shots_1, &c->task, c->err));
    for (size_t i = 0; i < c->task.n_parts; i++) c->total += part_items(c, i);
    const double began = mn_os_seconds();
    for (size_t i = 0; i < c->task.n_parts; i++) MN_TRY(run_part(c, i));
    report(c);
    c->r.seconds = mn_os_seconds() - began;
    return finish(c);
}

mnw_status mnw_eval_choice(mnw_model *m, const char *task, const mnw_choice_opts *opts,
                           mnw_choice_result *out)
{
    if (!m || !task || !out) return MNW_E_ARG;
    mn_mem *mem = &m->ctx->mem;
    choice *c = mn_alloc_zero(mem, 1, sizeof *c);
    mn_err_clear(&m->ctx->err);
    MN_FAIL_IF(!c, &m->ctx->err, MNW_E_NOMEM, "evaluation");
    *c = (choice){ .m = m, .ctx = m->ctx, .err = &m->ctx->err, .context.mem = mem,
                   .whole.mem = mem, .targets.mem = mem };
    const mnw_status st = run(c, task, opts);
    c->r.size = sizeof c->r;
    if (st == MNW_OK) mn_result_copy(out, &c->r, sizeof c->r);

    mnw_session_close(c->s);
    mn_task_done(&c->task);
    mn_ids_done(&c->context);
    mn_ids_done(&c->whole);
    mn_ids_done(&c->targets);
    for (size_t i = 0; i < MN_CHOICES_MAX; i++) {
        mn_ids_done(&c->cont[i]);
        mn_free(mem, c->logprob[i]);
    }
    mn_free(mem, c);
    return st;
}
