/* SPDX-License-Identifier: Apache-2.0
 *
 * eval_run.h - what the commands that evaluate have in common: options, and progress.
 */
#ifndef CLI_EVAL_RUN_H
#define CLI_EVAL_RUN_H

#include "cli/opt.h"
#include "cli/say.h"

typedef struct cli_eval_args {
    uint32_t kv, precision, backend;
} cli_eval_args;

/* Rows for the option table of a command whose struct `s` has a member `eval`. */
/* clang-format off */
#define CLI_EVAL_OPTS(s)                                                                           \
    CLI_VALUE(0, "kv", CLI_WORD, offsetof(s, eval.kv), "TYPE", "numbers in the KV cache",          \
              .words = "i8 f16 f32"),                                                              \
    CLI_VALUE(0, "precision", CLI_WORD, offsetof(s, eval.precision), "MODE",                       \
              "activations in 8 bits or in 15", .words = "fast exact"),                            \
    CLI_VALUE(0, "backend", CLI_WORD, offsetof(s, eval.backend), "NAME", "who computes",           \
              .words = "cpu ref")
/* clang-format on */

/* A bar that starts with the first report, once for each thing reported about. */
typedef struct cli_eval_bar {
    cli_bar bar;
    const char *unit;
    bool quiet, started;
} cli_eval_bar;

/* A mnw_progress_fn whose user is a cli_eval_bar; Ctrl-C cancels. */
bool cli_eval_progress(void *user, const char *what, uint64_t done, uint64_t total);

#endif
