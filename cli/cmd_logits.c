/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_logits.c - for every position of a prompt the likeliest next tokens and their log-probabilities.
 *
 * What other implementations can be compared with: nothing here depends on sampling.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/engine.h"
#include "cli/say.h"

typedef struct args {
    cli_common common;
    cli_model_args engine;
    const char *model, *prompt;
    uint32_t top;
    bool raw;
} args;

#define AT(field) offsetof(args, field)

enum { TOP_DEFAULT = 20, TOP_MAX = 1000 };

static const cli_opt OPTS[] = {
    CLI_ARGUMENT(AT(model), "MODEL", "model file (GGUF)"),
    CLI_ARGUMENT(AT(prompt), "PROMPT", "the text; - reads stdin"),
    CLI_SWITCH(0, "raw", AT(raw),
               "PROMPT as it is, control tokens included, without the chat template"),
    CLI_VALUE(0, "top", CLI_U32, AT(top), "K", "tokens per position (20 if not given)", .min = 1,
              .max = TOP_MAX),
    CLI_MODEL_OPTS(args),
    { 0 },
};

typedef struct best {
    int32_t token;
    float logit;
} best;

typedef struct sink {
    const cli_engine *e;
    const mnw_tokenizer *tok;
    const int32_t *ids;
    uint32_t vocab, top;
    best *best;        // [top]
    json_t *positions; // NULL: print lines
} sink;

/* The `top` highest logits, equal ones by lower id. */
static size_t pick(sink *s, const float *logits)
{
    size_t n = 0;
    for (uint32_t i = 0; i < s->vocab; i++) {
        if (n == s->top && !(logits[i] > s->best[n - 1].logit)) continue;
        size_t at = n < s->top ? n++ : n - 1;
        for (; at > 0 && logits[i] > s->best[at - 1].logit; at--) s->best[at] = s->best[at - 1];
        s->best[at] = (best){ (int32_t)i, logits[i] };
    }
    return n;
}

static json_t *text_of(const sink *s, int32_t id)
{
    char buf[512];
    size_t len = 0;
    if (mnw_tokenizer_decode(s->tok, &id, 1, MNW_DECODE_SPECIAL, buf, sizeof buf, &len)) len = 0;
    return cli_json_text(buf, len);
}

static bool on_logits(void *user, size_t pos, const float *logits)
{
    sink *s = user;
    const size_t n = pick(s, logits);
    double sum = 0;
    for (uint32_t i = 0; i < s->vocab; i++)
        sum += exp((double)logits[i] - (double)s->best[0].logit);
    const double log_sum = log(sum) + (double)s->best[0].logit;

    json_t *top = s->positions ? json_array() : NULL;
    for (size_t i = 0; i < n; i++) {
        const double lp = (double)s->best[i].logit - log_sum;
        json_t *text = text_of(s, s->best[i].token);
        if (top) {
            json_array_append_new(top, json_pack("{s:i, s:f, s:o}", "token", (int)s->best[i].token,
                                                 "logprob", lp, "text", text));
        } else {
            printf("%zu\t%" PRId32 "\t%.6f\t", pos, s->best[i].token, lp);
            json_dumpf(text, stdout, JSON_ENCODE_ANY);
            putchar('\n');
            json_decref(text);
        }
    }
    if (top)
        json_array_append_new(s->positions, json_pack("{s:I, s:i, s:o, s:o}", "pos",
                                                      (json_int_t)pos, "token", (int)s->ids[pos],
                                                      "text", text_of(s, s->ids[pos]), "top", top));
    return !cli_interrupted();
}

static int evaluate(cli_engine *e, const args *a, const int32_t *ids, size_t n)
{
    const mnw_tokenizer *tok = mnw_model_tokenizer(e->model);
    sink s = { .e = e, .tok = tok, .ids = ids, .top = a->top ? a->top : TOP_DEFAULT };
    mnw_model_info info = { .size = sizeof info };
    mnw_model_describe(e->model, &info);
    s.vocab = info.n_vocab;
    if (s.top > s.vocab) s.top = s.vocab;
    s.best = cli_alloc(s.top * sizeof *s.best);
    s.positions = a->common.json ? json_array() : NULL;

    cli_interrupt_watch(e->session, false);
    const mnw_status st = mnw_session_feed_each(e->session, ids, n, on_logits, &s);
    free(s.best);
    if (st) {
        json_decref(s.positions);
        return cli_fail(e, st, "logits");
    }
    if (!s.positions) return cli_flush();
    json_t *tokens = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(tokens, json_integer(ids[i]));
    return cli_print_json(json_pack("{s:s, s:o, s:o, s:s, s:O}", "model", a->model, "tokens",
                                    tokens, "positions", s.positions, "tier", mnw_ctx_cpu(e->ctx),
                                    "warnings", e->warnings));
}

static int run(const void *argp)
{
    const args *a = argp;
    cli_engine e = { 0 };
    int32_t *ids = NULL;
    size_t n = 0;

    int rc = cli_open_ctx(&e, &a->common);
    if (!rc) rc = cli_open_model(&e, a->model, &a->engine);
    if (!rc) rc = cli_encode_prompt(&e, a->prompt, NULL, a->raw, MNW_THINKING_DEFAULT, &ids, &n);
    if (!rc) {
        cli_model_args m = a->engine;
        if (!m.n_ctx) m.n_ctx = n > 16 ? (uint32_t)n : 16; // no answer follows
        rc = cli_open_session(&e, &m);
    }
    if (!rc) rc = evaluate(&e, a, ids, n);
    free(ids);
    cli_close(&e);
    return rc;
}

const cli_cmd cmd_logits = {
    .name = "logits",
    .about = "print the likeliest tokens at every position of a prompt",
    .more = "Without --json: position, token, log-probability and text, one line each.  The tokens "
            "at a position are\n"
            "those that may follow it.",
    .opts = OPTS,
    .args_size = sizeof(args),
    .run = run,
};
