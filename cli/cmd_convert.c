/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_convert.c - bring a model of another format in.
 */
#include <string.h>

#include "cli/commands.h"
#include "cli/engine.h"
#include "cli/say.h"

typedef struct args {
    cli_common common;
    uint32_t from;
    const char *model, *tokenizer, *out;
} args;

#define AT(field) offsetof(args, field)

static const cli_opt OPTS[] = {
    CLI_ARGUMENT(AT(model), "MODEL", "checkpoint to convert"),
    CLI_ARGUMENT(AT(tokenizer), "TOKENIZER", "its tokenizer"),
    CLI_ARGUMENT(AT(out), "OUT", "GGUF file to write"),
    CLI_VALUE(0, "from", CLI_WORD, AT(from), "FORMAT", "format of MODEL", .words = "llama2c"),
    { 0 },
};

static int run(const void *argp)
{
    const args *a = argp;
    cli_engine e = { 0 };
    if (!a->from) {
        cli_error("--from FORMAT is missing; there is: llama2c");
        return CLI_MISUSED;
    }
    int rc = cli_open_ctx(&e, &a->common);
    if (!rc) {
        const mnw_status st = mnw_convert_llama2c(e.ctx, a->model, a->tokenizer, a->out);
        if (st)
            rc = cli_fail(&e, st, a->model);
        else if (a->common.json)
            rc = cli_print_json(json_pack("{s:s, s:O}", "out", a->out, "warnings", e.warnings));
    }
    cli_close(&e);
    return rc;
}

const cli_cmd cmd_convert = {
    .name = "convert",
    .about = "make a GGUF file from a model of another format",
    .opts = OPTS,
    .args_size = sizeof(args),
    .run = run,
};
