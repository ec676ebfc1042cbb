/* SPDX-License-Identifier: Apache-2.0
 *
 * generate.c - prompt in, events out.
 *
 * A picked token's bytes go through two small machines before anybody sees them:
 *
 *      token --decode--> bytes --stop strings--> bytes --whole code points--> text event
 *
 * Their state, and the loop guard's, is on this function's stack: nothing is allocated.
 */
#include <math.h>
#include <minnow/generate.h>
#include <minnow/tokenizer.h>
#include <string.h>

#include "base/context.h"
#include "base/os.h"
#include "run/guard.h"
#include "run/session.h"
#include "text/stop.h"
#include "text/stream.h"

enum { MAX_PIECE = 4096, CHUNK = 256 };

typedef struct run {
    mnw_session         *s;
    mnw_sampler         *sampler;
    const mnw_tokenizer *tok;      // NULL: tokens only
    mnw_generate_opts    opts;
    mnw_event_fn        *fn;
    void                *user;
    mnw_generate_stats   stats;
    bool                 declined;   // the callback wants no more
    mn_stop              stop;
    mn_stream            stream;
    mn_guard             guard;
    char                 piece[MAX_PIECE];
    char                 clear[MAX_PIECE + MN_MAX_STOP_BYTES];   // free of stop strings
    char text[MN_STREAM_GROWTH * (MAX_PIECE + MN_MAX_STOP_BYTES) + MN_STREAM_SLACK];
} run;

const char *mnw_reason_id(mnw_reason reason)
{
    switch (reason) {
    case MNW_REASON_NONE: return "none";
#define X(name, number, id) \
    case MNW_REASON_##name: return id;
        MNW_REASON_LIST(X)
#undef X
    }
    return "unknown";
}

static bool send(run *r, const mnw_event *e)
{
    if (r->fn && !r->fn(r->user, e)) r->declined = true;
    return !r->declined;
}

static bool send_text(run *r, size_t n)
{
    return n == 0 || send(r, &(mnw_event){ .kind = MNW_EVENT_TEXT, .text = r->text, .text_len = n });
}

/* Text of one token; false if the callback wants to end. */
static bool send_piece(run *r, int32_t token)
{
    size_t n;
    if (!r->tok) return true;
    const unsigned flags = r->opts.special ? MNW_DECODE_SPECIAL : 0;
    if (mnw_tokenizer_decode(r->tok, &token, 1, flags, r->piece, sizeof r->piece, &n) != MNW_OK)
        return true;   // longer than any vocabulary's pieces may be
    n = mn_stop_push(&r->stop, r->piece, n, r->clear);
    return send_text(r, mn_stream_push(&r->stream, r->clear, n, r->text));
}

/* What was held back, when nothing can follow: the start of a stop string, unless it came whole, and
 * an unfinished character. */
static void send_rest(run *r)
{
    const size_t n = mn_stop_end(&r->stop, r->clear);
    const size_t m = mn_stream_push(&r->stream, r->clear, n, r->text);
    send_text(r, m + mn_stream_end(&r->stream, r->text + m));
}

static bool send_token(run *r, int32_t token, const float *logits)
{
    if (!r->opts.tokens) return true;
    const size_t V = r->s->model->config.V;
    float        top = -INFINITY;
    double       sum = 0;
    for (size_t i = 0; i < V; i++) top = logits[i] > top ? logits[i] : top;
    for (size_t i = 0; i < V; i++) sum += exp((double)(logits[i] - top));
    const double lp = (double)(logits[token] - top) - log(sum);
    return send(r, &(mnw_event){ .kind = MNW_EVENT_TOKEN, .token = token, .logprob = (float)lp });
}

/* Tokens of the prompt the session holds already; it is rewound to them.  The last one is fed again
 * unless its logits are there. */
static mnw_status reuse(run *r, const int32_t *tokens, size_t n, size_t *kept)
{
    mnw_session   *s = r->s;
    const int32_t *have = mnw_session_tokens(s);
    const size_t   count = mnw_session_count(s);
    size_t         k = 0;
    while (k < n && k < count && have[k] == tokens[k]) k++;
    if (k == n && !(count == n && mnw_session_logits(s))) k = n - 1;
    *kept = k;
    return k < count ? mnw_session_rewind(s, k) : MNW_OK;
}

static mnw_status feed_prompt(run *r, const int32_t *tokens, size_t n, size_t from)
{
    for (size_t at = from; at < n;) {
        const size_t step = n - at < CHUNK ? n - at : CHUNK;
        MN_TRY(mnw_session_feed(r->s, tokens + at, step));
        at += step;
        if (!send(r, &(mnw_event){ .kind = MNW_EVENT_PROGRESS, .done = at, .total = n }))
            return MNW_E_CANCELLED;
    }
    return MNW_OK;
}

/* Token by token until there is a reason to stop. */
static mnw_status loop(run *r, double start)
{
    for (;;) {
        const float  *logits = mnw_session_logits(r->s);
        const int32_t token = mnw_sampler_pick(r->sampler, r->s);
        MN_FAIL_IF(token < 0, &r->s->err, MNW_E_NOMEM, "sampler: no room for the vocabulary");
        if (r->stats.generated_tokens++ == 0) r->stats.first_token_s = mn_os_seconds() - start;

        const bool go_on = send_token(r, token, logits);
        const bool end = r->tok && !r->opts.ignore_end && mnw_tokenizer_is_end(r->tok, token);
        if (!go_on || (!end && !send_piece(r, token))) r->stats.reason = MNW_REASON_CANCELLED;
        else if (end || r->stop.hit) r->stats.reason = MNW_REASON_STOP;
        else if (mn_guard_push(&r->guard, token) && !r->opts.no_loop_guard)
            r->stats.reason = MNW_REASON_REPETITION;
        else if (r->opts.max_tokens && r->stats.generated_tokens >= r->opts.max_tokens)
            r->stats.reason = MNW_REASON_LENGTH;
        else if (mnw_session_count(r->s) == mnw_session_capacity(r->s))
            r->stats.reason = MNW_REASON_CONTEXT;
        if (r->stats.reason) return MNW_OK;
        MN_TRY(mnw_session_feed(r->s, &token, 1));
    }
}

static mnw_status prompt_and_loop(run *r, const int32_t *tokens, size_t n)
{
    const double start = mn_os_seconds();
    size_t       kept;
    MN_TRY(reuse(r, tokens, n, &kept));
    r->stats.cached_tokens = (uint32_t)kept;
    mnw_status st = feed_prompt(r, tokens, n, kept);
    const double fed = mn_os_seconds();
    r->stats.prompt_s = fed - start;
    if (st == MNW_OK) st = loop(r, start);
    r->stats.generate_s = mn_os_seconds() - fed;
    return st;
}

static mnw_status check(run *r, const int32_t *tokens, size_t n)
{
    mn_err      *err = &r->s->err;
    const size_t cap = mnw_session_capacity(r->s);
    MN_FAIL_IF(n == 0, err, MNW_E_ARG, "the prompt has no tokens");
    MN_FAIL_IF(n > cap, err, MNW_E_FULL, "the prompt has %zu tokens, the context holds %zu", n, cap);
    const uint32_t V = r->s->model->config.V;
    for (size_t i = 0; i < n; i++) {
        MN_FAIL_IF(tokens[i] < 0 || (uint32_t)tokens[i] >= V, err, MNW_E_ARG,
                   "prompt token %zu: id %d, expected 0 to %u", i, (int)tokens[i], V - 1);
    }
    MN_FAIL_IF(r->opts.n_stop && !r->opts.stop, err, MNW_E_ARG, "stop: NULL, but n_stop is %zu",
               r->opts.n_stop);
    return mn_stop_init(&r->stop, r->opts.stop, r->opts.n_stop, err);
}

mnw_status mnw_generate(mnw_session *s, mnw_sampler *sp, const int32_t *tokens, size_t n,
                        const mnw_generate_opts *opts, mnw_event_fn *fn, void *user,
                        mnw_generate_stats *stats)
{
    if (!s || !sp || (n && !tokens)) return MNW_E_ARG;
    run r = { .s = s,
              .sampler = sp,
              .tok = mnw_model_tokenizer(s->model),
              .fn = fn,
              .user = user,
              .stats = { .prompt_tokens = (uint32_t)n } };
    mn_opts_copy(&r.opts, sizeof r.opts, opts);
    mn_err_clear(&s->err);

    mnw_status st = check(&r, tokens, n);
    if (st == MNW_OK) {
        st = prompt_and_loop(&r, tokens, n);
        if (st == MNW_E_CANCELLED) {
            r.stats.reason = MNW_REASON_CANCELLED;
            st = MNW_OK;
        }
        if (st == MNW_OK && !r.declined) send_rest(&r);
    }
    if (st != MNW_OK) r.stats.reason = MNW_REASON_ERROR;
    send(&r, &(mnw_event){ .kind = MNW_EVENT_DONE, .reason = r.stats.reason });

    if (stats) {
        const size_t size = stats->size && stats->size < sizeof r.stats ? stats->size : sizeof r.stats;
        r.stats.size = size;
        memcpy(stats, &r.stats, size);
    }
    return st;
}
