/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_check.c - is a model file whole?  Reads all of it and names the first fault.
 */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/engine.h"
#include "cli/ranges.h"
#include "cli/say.h"

typedef struct args {
    cli_common common;
    const char *model;
    uint32_t ranges;
} args;

static const cli_opt OPTS[] = {
    CLI_ARGUMENT(offsetof(args, model), "MODEL", "model file (GGUF)"),
    CLI_VALUE(0, "ranges", CLI_U32, offsetof(args, ranges), "MIB",
              "print the hashes of its parts of so many MiB instead, for minnow pull --ranges",
              .min = 1, .max = 1024),
    { 0 },
};

static int run(const void *argp)
{
    const args *a = argp;
    cli_engine e = { 0 };
    int rc = cli_open_ctx(&e, &a->common);
    if (!rc && a->ranges) {
        rc = cli_ranges_print(e.ctx, a->model, (uint64_t)a->ranges << 20);
    } else if (!rc) {
        const mnw_status st = mnw_model_check(e.ctx, a->model);
        if (a->common.json) {
            const char *text = st ? mnw_ctx_error(e.ctx) : "";
            cli_print_json(json_pack("{s:s, s:b, s:s, s:s, s:O}", "model", a->model, "ok",
                                     st == MNW_OK, "status", mnw_status_text(st), "error", text,
                                     "warnings", e.warnings));
        } else if (!st) {
            printf("%s: ok\n", a->model);
        }
        rc = st ? cli_fail(&e, st, a->model) : cli_flush();
    }
    cli_close(&e);
    return rc;
}

const cli_cmd cmd_check = {
    .name = "check",
    .about = "verify a model file completely",
    .more = "Exit code 0 if it is whole, 65 if not; the first fault is named.",
    .opts = OPTS,
    .args_size = sizeof(args),
    .run = run,
};
