/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_eval_choice.c - multiple-choice tasks by likelihood.
 */
#include <inttypes.h>
#include <math.h>
#include <minnow/eval.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/engine.h"
#include "cli/eval_run.h"
#include "cli/journal.h"
#include "cli/say.h"

typedef struct args {
    cli_common common;
    cli_eval_args eval;
    const char *model, *tasks, *data, *resume;
    uint32_t n_ctx, shots;
    uint64_t limit;
    bool zero_shots, no_sharing;
} args;

#define AT(field) offsetof(args, field)

static const cli_opt OPTS[] = {
    CLI_ARGUMENT(AT(model), "MODEL", "model file (GGUF)"),
    CLI_VALUE('t', "task", CLI_STR, AT(tasks), "NAME[,NAME...]",
              "tasks: built-in ones, or JSON files", .flags = CLI_NEED),
    CLI_VALUE('d', "data", CLI_STR, AT(data), "DIR", "the folder with their data",
              .flags = CLI_NEED),
    CLI_VALUE(0, "limit", CLI_U64, AT(limit), "N", "only the first items of each data file",
              .min = 1),
    CLI_VALUE(0, "shots", CLI_U32, AT(shots), "N", "examples before each question", .min = 1,
              .max = 64),
    CLI_SWITCH(0, "zero-shot", AT(zero_shots), "no examples, whatever the task's own number"),
    CLI_VALUE(0, "resume", CLI_STR, AT(resume), "FILE",
              "keep results in FILE, and take those that are there"),
    CLI_SWITCH(0, "no-sharing", AT(no_sharing),
               "evaluate each choice in full: slower, the same result"),
    CLI_VALUE('c', "ctx", CLI_U32, AT(n_ctx), "N", "tokens a question may have", .min = 2,
              .max = 1 << 24),
    CLI_EVAL_OPTS(args),
    { 0 },
};

static bool known(void *user, const mnw_choice_item *item, double *ll)
{
    return cli_journal_find(user, item->task, item->index, item->fingerprint, ll, item->n);
}

static bool on_item(void *user, const mnw_choice_item *item)
{
    return item->known ||
           cli_journal_add(user, item->task, item->index, item->fingerprint, item->ll, item->n);
}

/* What results depend on, besides the tokens. */
static json_t *journal_head(const cli_engine *e, const args *a)
{
    mnw_model_info info = { .size = sizeof info };
    char hash[65];
    mnw_model_describe(e->model, &info);
    for (size_t i = 0; i < sizeof info.hash; i++) snprintf(hash + 2 * i, 3, "%02x", info.hash[i]);
    return json_pack("{s:i, s:s, s:i, s:i, s:i}", "minnow_eval_choice", 1, "model", hash, "kv",
                     (int)a->eval.kv, "precision", (int)a->eval.precision, "backend",
                     (int)a->eval.backend);
}

static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *result_json(const mnw_choice_result *r)
{
    return json_pack("{s:s, s:I, s:i, s:o, s:o, s:o, s:o, s:f, s:I, s:I, s:I, s:I, s:I}", "task",
                     r->task, "n", (json_int_t)r->n, "shots", (int)r->shots, "acc", number(r->acc),
                     "acc_stderr", number(r->acc_stderr), "acc_norm", number(r->acc_norm),
                     "acc_norm_stderr", number(r->acc_norm_stderr), "seconds", r->seconds,
                     "tokens_scored", (json_int_t)r->tokens_scored, "tokens_fed",
                     (json_int_t)r->tokens_fed, "tokens_full", (json_int_t)r->tokens_full, "known",
                     (json_int_t)r->known, "truncated", (json_int_t)r->truncated);
}

static void result_row(const mnw_choice_result *r, bool first)
{
    if (first)
        printf("| task | shots | n | acc | acc_norm | seconds | tokens scored |\n"
               "|---|---|---|---|---|---|---|\n");
    printf("| %s | %u | %" PRIu64 " | %.2f +- %.2f | %.2f +- %.2f | %.1f | %" PRIu64 " |\n",
           r->task, r->shots, r->n, 100 * r->acc, 100 * r->acc_stderr, 100 * r->acc_norm,
           100 * r->acc_norm_stderr, r->seconds, r->tokens_scored);
    fflush(stdout);
}

static int run_task(cli_engine *e, const args *a, const char *task, bool first,
                    cli_journal *journal, json_t *results)
{
    cli_eval_bar bar = { .unit = "items", .quiet = a->common.quiet };
    mnw_choice_result r = { .size = sizeof r };
    const mnw_choice_opts o = { .size = sizeof o,
                                .data = a->data,
                                .limit = a->limit,
                                .n_ctx = a->n_ctx,
                                .shots_1 = a->zero_shots ? 1
                                           : a->shots    ? a->shots + 1
                                                         : 0,
                                .kv_type = (mnw_kv_type)a->eval.kv,
                                .precision = (mnw_precision)a->eval.precision,
                                .no_sharing = a->no_sharing,
                                .progress = cli_eval_progress,
                                .progress_user = &bar,
                                .item = journal->file ? on_item : NULL,
                                .known = journal->file ? known : NULL,
                                .user = journal };
    const mnw_status st = mnw_eval_choice(e->model, task, &o, &r);
    if (bar.started) cli_bar_end(&bar.bar);
    if (st) {
        const int rc = cli_fail(e, st, "task");
        if (st != MNW_E_ARG) return rc;
        fprintf(stderr, "built-in tasks:\n");
        for (size_t i = 0; mnw_eval_task_name(i); i++)
            fprintf(stderr, "  %-14s %s\n", mnw_eval_task_name(i), mnw_eval_task_about(i));
        return rc;
    }
    if (results)
        json_array_append_new(results, result_json(&r));
    else
        result_row(&r, first);
    return CLI_DONE;
}

static int run_tasks(cli_engine *e, const args *a, cli_journal *journal)
{
    json_t *results = a->common.json ? json_array() : NULL;
    char *tasks = cli_copy(a->tasks, strlen(a->tasks)), *rest = tasks;
    int rc = CLI_DONE;
    bool first = true;
    for (char *task; !rc && (task = strsep(&rest, ","));) {
        if (!*task) continue;
        rc = run_task(e, a, task, first, journal, results);
        first = false;
    }
    free(tasks);
    if (rc || !results) {
        json_decref(results);
        return rc;
    }
    return cli_print_json(json_pack("{s:o, s:O}", "tasks", results, "warnings", e->warnings));
}

static int run(const void *argp)
{
    const args *a = argp;
    cli_engine e;
    cli_journal journal = { 0 };
    if (a->zero_shots && a->shots) {
        cli_error("--zero-shot and --shots %u exclude each other", a->shots);
        return CLI_MISUSED;
    }
    int rc = cli_open_ctx(&e, &a->common);
    if (!rc) rc = cli_open_model(&e, a->model, &(cli_model_args){ .backend = a->eval.backend });
    if (!rc && a->resume) rc = cli_journal_open(&journal, a->resume, journal_head(&e, a));
    cli_interrupt_watch(NULL, false);
    if (!rc) rc = run_tasks(&e, a, &journal);
    const int closed = cli_journal_close(&journal);
    cli_close(&e);
    return rc ? rc : closed;
}

const cli_cmd cmd_eval_choice = {
    .name = "eval choice",
    .about = "which of several answers a model finds likeliest",
    .more =
        "A Markdown table: acc counts the choice with the highest log-likelihood, acc_norm that "
        "with the highest per\ncharacter, in per cent with standard errors, as "
        "lm-evaluation-harness defines them.  Built-in tasks: agieval_en\nagieval_zh "
        "arc_challenge cmmlu copa csqa hellaswag mmlu piqa siqa xcopa_zh.",
    .opts = OPTS,
    .args_size = sizeof(args),
    .run = run,
};
