/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_version.c - what this is and what it found here.
 */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/engine.h"
#include "cli/say.h"

static int run(const void *argp)
{
    const cli_common *common = argp;
    cli_engine e = { 0 };
    int rc = cli_open_ctx(&e, common);
    if (!rc && common->json) {
        rc = cli_print_json(json_pack("{s:s, s:s, s:i, s:O}", "version", mnw_version(), "tier",
                                      mnw_ctx_cpu(e.ctx), "threads", (int)mnw_ctx_threads(e.ctx),
                                      "warnings", e.warnings));
    } else if (!rc) {
        printf("minnow %s\ntier %s, %u threads\n", mnw_version(), mnw_ctx_cpu(e.ctx),
               mnw_ctx_threads(e.ctx));
        rc = cli_flush();
    }
    cli_close(&e);
    return rc;
}

static const cli_opt OPTS[] = { { 0 } };

const cli_cmd cmd_version = {
    .name = "version",
    .about = "print the version, the instruction set and the threads in use",
    .opts = OPTS,
    .args_size = sizeof(cli_common),
    .run = run,
};
