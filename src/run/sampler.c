/* SPDX-License-Identifier: Apache-2.0
 *
 * sampler.c - choose the next token from logits.
 *
 * Nothing is sorted that need not be: greedy is one pass; a plain draw walks the ids in order; top-k
 * and top-p take candidates from a heap, best first, until they have enough.
 */
#include <math.h>
#include <minnow/sampler.h>
#include <string.h>

#include "base/context.h"
#include "base/rng.h"
#include "run/session.h"

enum { STREAM = 1, DEFAULT_LAST_N = 64, MAX_LAST_N = 1 << 20 };
static const uint64_t DEFAULT_SEED = 0x6D696E6E6F77;   // "minnow"

typedef struct candidate {
    float   logit;   // later: probability, up to a factor
    int32_t id;
} candidate;

struct mnw_sampler {
    mnw_ctx         *ctx;
    mnw_sampler_opts opts;    // resolved
    mnw_logit_bias  *bias;    // [n_bias], ours
    candidate       *work;    // [n_vocab]
    uint32_t        *count;   // [n_vocab] occurrences in the window; zero between calls
    size_t           n_vocab;
};

static mnw_status check(const mnw_sampler_opts *o, mn_err *err)
{
    MN_FAIL_IF(!(o->temperature >= 0 && o->temperature <= 100), err, MNW_E_ARG,
               "temperature %g: expected 0 to 100", (double)o->temperature);   // NaN fails too
    MN_FAIL_IF(!(o->top_p >= 0 && o->top_p <= 1), err, MNW_E_ARG, "top_p %g: expected 0 to 1",
               (double)o->top_p);
    MN_FAIL_IF(!(o->min_p >= 0 && o->min_p <= 1), err, MNW_E_ARG, "min_p %g: expected 0 to 1",
               (double)o->min_p);
    MN_FAIL_IF(!(o->repeat_penalty >= 0 && o->repeat_penalty <= 100), err, MNW_E_ARG,
               "repeat_penalty %g: expected 0 to 100", (double)o->repeat_penalty);
    MN_FAIL_IF(!(o->frequency_penalty >= -10 && o->frequency_penalty <= 10), err, MNW_E_ARG,
               "frequency_penalty %g: expected -10 to 10", (double)o->frequency_penalty);
    MN_FAIL_IF(!(o->presence_penalty >= -10 && o->presence_penalty <= 10), err, MNW_E_ARG,
               "presence_penalty %g: expected -10 to 10", (double)o->presence_penalty);
    MN_FAIL_IF(o->penalty_last_n > MAX_LAST_N, err, MNW_E_ARG, "penalty_last_n %u: at most %d",
               o->penalty_last_n, MAX_LAST_N);
    MN_FAIL_IF(o->n_bias && !o->bias, err, MNW_E_ARG, "bias: NULL, but n_bias is %zu", o->n_bias);
    for (size_t i = 0; i < o->n_bias; i++) {
        MN_FAIL_IF(isnan(o->bias[i].bias) || o->bias[i].bias == INFINITY || o->bias[i].token < 0,
                   err, MNW_E_ARG, "bias %zu: token %d, value %g", i, o->bias[i].token,
                   (double)o->bias[i].bias);
    }
    return MNW_OK;
}

mnw_status mnw_sampler_open(mnw_ctx *ctx, const mnw_sampler_opts *opts, mnw_sampler **out)
{
    if (!ctx || !out) return MNW_E_ARG;
    *out = NULL;
    mn_err_clear(&ctx->err);
    mnw_sampler_opts o;
    mn_opts_copy(&o, sizeof o, opts);
    MN_TRY(check(&o, &ctx->err));
    if (o.repeat_penalty == 0) o.repeat_penalty = 1;
    if (o.penalty_last_n == 0) o.penalty_last_n = DEFAULT_LAST_N;
    if (o.seed == 0) o.seed = DEFAULT_SEED;
    if (o.temperature == 0 && (o.top_k || o.top_p > 0 || o.min_p > 0)) {
        MN_TRY(mn_warn(ctx, MNW_WARNING_SAMPLER, &ctx->err,
                       "top_k, top_p and min_p have no effect at temperature 0"));
    }

    mnw_sampler *sp = mn_alloc_zero(&ctx->mem, 1, sizeof *sp);
    MN_FAIL_IF(!sp, &ctx->err, MNW_E_NOMEM, "sampler");
    sp->ctx = ctx;
    sp->opts = o;
    if (o.n_bias) {
        sp->bias = mn_alloc_zero(&ctx->mem, o.n_bias, sizeof *sp->bias);
        if (!sp->bias) {
            mnw_sampler_close(sp);
            MN_FAIL(&ctx->err, MNW_E_NOMEM, "sampler: %zu biases", o.n_bias);
        }
        memcpy(sp->bias, o.bias, o.n_bias * sizeof *sp->bias);
    }
    *out = sp;
    return MNW_OK;
}

/* Room for this vocabulary; once, unless a larger one comes. */
static bool reserve(mnw_sampler *sp, size_t n_vocab)
{
    if (n_vocab <= sp->n_vocab) return true;
    mn_mem *mem = &sp->ctx->mem;
    mn_free(mem, sp->work);
    mn_free(mem, sp->count);
    sp->n_vocab = 0;
    sp->work = mn_alloc_zero(mem, n_vocab, sizeof *sp->work);
    sp->count = mn_alloc_zero(mem, n_vocab, sizeof *sp->count);
    if (!sp->work || !sp->count) return false;
    sp->n_vocab = n_vocab;
    return true;
}

static bool wants_penalties(const mnw_sampler_opts *o)
{
    return o->repeat_penalty != 1 || o->frequency_penalty != 0 || o->presence_penalty != 0;
}

static void penalise(const mnw_sampler *sp, size_t n_vocab, const int32_t *tokens, size_t n)
{
    const mnw_sampler_opts *o = &sp->opts;
    const size_t            first = n > o->penalty_last_n ? n - o->penalty_last_n : 0;
    for (size_t i = first; i < n; i++) {
        if (tokens[i] >= 0 && (size_t)tokens[i] < n_vocab) sp->count[tokens[i]]++;
    }
    for (size_t i = first; i < n; i++) {
        if (tokens[i] < 0 || (size_t)tokens[i] >= n_vocab || !sp->count[tokens[i]]) continue;
        float *x = &sp->work[tokens[i]].logit;
        *x = *x > 0 ? *x / o->repeat_penalty : *x * o->repeat_penalty;
        *x -= (float)sp->count[tokens[i]] * o->frequency_penalty + o->presence_penalty;
        sp->count[tokens[i]] = 0;
    }
}

/* Higher logit first; of equals the lower id. */
static bool before(candidate a, candidate b)
{
    return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}

static void sift_down(candidate *heap, size_t n, size_t i)
{
    const candidate x = heap[i];
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && before(heap[child + 1], heap[child])) child++;
        if (!before(heap[child], x)) break;
        heap[i] = heap[child];
    }
    heap[i] = x;
}

/* Take the best of n to position n - 1. */
static void pop(candidate *heap, size_t n)
{
    const candidate best = heap[0];
    heap[0] = heap[n - 1];
    heap[n - 1] = best;
    sift_down(heap, n - 1, 0);
}

static int32_t greedy(const candidate *c, size_t n)
{
    candidate best = c[0];
    for (size_t i = 1; i < n; i++)
        if (before(c[i], best)) best = c[i];
    return best.id;
}

/* The first of kept[0], kept[step], ... where the running sum passes u times their total. */
static int32_t draw(const candidate *kept, ptrdiff_t step, size_t n, double total, double u)
{
    const double goal = u * total;
    double       sum = 0;
    int32_t      last = kept->id;
    for (size_t i = 0; i < n; i++, kept += step) {
        if (kept->logit <= 0) continue;
        sum += (double)kept->logit;
        last = kept->id;
        if (sum > goal) break;
    }
    return last;
}

/* e^x for x <= 0, to float precision: plain multiplications and additions in f64, so the same on
 * every machine and, unlike fused ones, never a call. */
static float likelihood(double x)
{
    if (!(x > -87)) return 0;
    const double magic = 6755399441055744.0;   // 1.5 * 2^52: adding it rounds to an integer
    const double t = x * 1.4426950408889634;
    const double z = t + magic;
    const double r = (t - (z - magic)) * 0.69314718055994531;   // |r| <= ln2 / 2
    double       p = 1.0 / 5040;   // Taylor: the next term is below 6e-9
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    uint64_t bits;
    double   scale;
    memcpy(&bits, &z, sizeof bits);
    bits = (bits + 1023) << 52;   // the low bits of z are the integer
    memcpy(&scale, &bits, sizeof scale);
    return (float)(p * scale);
}

/* Turn logits into probabilities, up to a factor: that of `top` is 1.  Returns their sum. */
static double weigh(candidate *c, size_t n, float top, float temperature)
{
    double total = 0;
    for (size_t i = 0; i < n; i++) {
        c[i].logit = likelihood((double)(c[i].logit - top) / (double)temperature);
        total += (double)c[i].logit;
    }
    return total;
}

static int32_t sample(mnw_sampler *sp, size_t n, double u)
{
    const mnw_sampler_opts *o = &sp->opts;
    candidate              *c = sp->work;
    float                   top = c[0].logit;
    for (size_t i = 1; i < n; i++)
        if (c[i].logit > top) top = c[i].logit;
    if (isinf(top)) return greedy(c, n);   // everything is forbidden, or one is beyond compare

    const bool some = o->top_k && o->top_k < n, part = o->top_p > 0 && o->top_p < 1;
    double     total = some ? 0 : weigh(c, n, top, o->temperature);
    if (!some && !part) {
        if (o->min_p > 0) {
            total = 0;
            for (size_t i = 0; i < n; i++) {
                if (c[i].logit < o->min_p) c[i].logit = 0;
                total += (double)c[i].logit;
            }
        }
        return draw(c, 1, n, total, u);
    }

    /* Best first: they gather at the end of c. */
    for (size_t i = n / 2; i-- > 0;) sift_down(c, n, i);
    const size_t most = some ? o->top_k : n;
    size_t       popped = 0;
    if (some) {   // logits so far; top-p then is a share of what is left
        for (; popped < most; popped++) pop(c, n - popped);
        total = weigh(c + n - most, most, top, o->temperature);
    }
    const double enough = part ? (double)o->top_p * total : INFINITY;
    double       sum = 0;
    size_t       m = 0;
    while (m < most && (m == 0 || sum < enough)) {
        if (m >= popped) pop(c, n - popped++);
        const float p = c[n - 1 - m].logit;   // the m-th best
        if (m && p < o->min_p) break;
        sum += (double)p;
        m++;
    }
    return draw(c + n - 1, -1, m, sum, u);
}

int32_t mnw_sampler_pick_from(mnw_sampler *sp, const float *logits, size_t n_vocab,
                              const int32_t *tokens, size_t n, uint64_t position)
{
    if (!sp || !logits || n_vocab == 0 || (n && !tokens) || !reserve(sp, n_vocab)) return -1;
    const mnw_sampler_opts *o = &sp->opts;
    for (size_t i = 0; i < n_vocab; i++) {
        sp->work[i] = (candidate){ isnan(logits[i]) ? -INFINITY : logits[i], (int32_t)i };
    }
    for (size_t i = 0; i < o->n_bias; i++) {
        if ((size_t)sp->bias[i].token < n_vocab) sp->work[sp->bias[i].token].logit += sp->bias[i].bias;
    }
    if (wants_penalties(o)) penalise(sp, n_vocab, tokens, n);
    if (o->temperature == 0) return greedy(sp->work, n_vocab);
    return sample(sp, n_vocab, mn_rng_uniform(o->seed, STREAM, position));
}

int32_t mnw_sampler_pick(mnw_sampler *sp, const mnw_session *s)
{
    if (!sp || !s) return -1;
    return mnw_sampler_pick_from(sp, mnw_session_logits(s), s->model->config.V, s->tokens, s->count,
                                 s->count);
}

uint64_t mnw_sampler_seed(const mnw_sampler *sp)
{
    return sp->opts.seed;
}

void mnw_sampler_close(mnw_sampler *sp)
{
    if (!sp) return;
    mn_mem *mem = &sp->ctx->mem;
    mn_free(mem, sp->bias);
    mn_free(mem, sp->work);
    mn_free(mem, sp->count);
    mn_free(mem, sp);
}
