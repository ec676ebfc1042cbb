/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_run.c - one prompt in, one answer out.
 */
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/engine.h"
#include "cli/say.h"

typedef struct args {
    cli_common common;
    cli_model_args engine;
    cli_sample_args sample;
    const char *model, *prompt, *system;
    bool raw;
} args;

#define AT(field) offsetof(args, field)

static const cli_opt OPTS[] = {
    CLI_ARGUMENT(AT(model), "MODEL", "model file (GGUF)"),
    CLI_ARGUMENT(AT(prompt), "PROMPT", "what to say to it; - reads stdin"),
    CLI_SWITCH(0, "raw", AT(raw),
               "continue PROMPT itself, control tokens included, without the chat template"),
    CLI_VALUE(0, "system", CLI_STR, AT(system), "TEXT", "system message before the prompt"),
    CLI_SAMPLE_OPTS(args),
    CLI_MODEL_OPTS(args),
    { 0 },
};

/* The library's default context is modest; without --ctx a longer prompt gets a larger one. */
static cli_model_args roomy(const cli_engine *e, const args *a, size_t n)
{
    enum { DEFAULT = 4096, ANSWER = 1024 };
    cli_model_args m = a->engine;
    const size_t need = n + (a->sample.max_tokens ? a->sample.max_tokens : ANSWER);
    mnw_model_info info = { .size = sizeof info };
    if (m.n_ctx == 0 && need > DEFAULT && mnw_model_describe(e->model, &info) == MNW_OK)
        m.n_ctx = need < info.n_ctx_train ? (uint32_t)need : info.n_ctx_train;
    return m;
}

static int answer(cli_engine *e, const args *a, const int32_t *ids, size_t n)
{
    cli_answer out = { .print = !a->common.json };
    mnw_generate_stats stats;
    int rc = cli_generate(e, &a->sample, ids, n, &out, &stats);
    if (stats.reason != MNW_REASON_NONE && a->common.json) {
        json_t *o = json_pack("{s:o}", "text", cli_json_text(out.text, out.len));
        cli_figures_json(o, e, &stats);
        const int printed = cli_print_json(o);
        if (!rc) rc = printed;
    } else if (stats.reason != MNW_REASON_NONE && !a->common.quiet) {
        cli_figures(&stats);
    }
    free(out.text);
    return rc;
}

static int run(const void *argp)
{
    const args *a = argp;
    cli_engine e = { 0 };
    int32_t *ids = NULL;
    size_t n = 0;

    int rc = cli_open_ctx(&e, &a->common);
    if (!rc) rc = cli_open_model(&e, a->model, &a->engine);
    if (!rc)
        rc = cli_encode_prompt(&e, a->prompt, a->system, a->raw, cli_thinking(&a->sample), &ids,
                               &n);
    if (!rc) {
        const cli_model_args m = roomy(&e, a, n);
        rc = cli_open_session(&e, &m);
    }
    if (!rc) rc = cli_open_sampler(&e, &a->sample);
    if (!rc) rc = answer(&e, a, ids, n);
    free(ids);
    cli_close(&e);
    return rc;
}

const cli_cmd cmd_run = {
    .name = "run",
    .about = "answer one prompt",
    .more = "The answer, and nothing else, goes to stdout; a line of figures goes to stderr.",
    .opts = OPTS,
    .args_size = sizeof(args),
    .run = run,
};
