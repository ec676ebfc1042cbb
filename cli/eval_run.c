/* SPDX-License-Identifier: Apache-2.0
 *
 * eval_run.c - progress of an evaluation.
 */
#include "cli/eval_run.h"

#include "cli/engine.h"

bool cli_eval_progress(void *user, const char *what, uint64_t done, uint64_t total)
{
    cli_eval_bar *b = user;
    if (!b->started) cli_bar_count(&b->bar, what, b->unit, b->quiet, done, total);
    b->started = true;
    b->bar.total = total;
    cli_bar_move(&b->bar, done);
    return !cli_interrupted();
}
