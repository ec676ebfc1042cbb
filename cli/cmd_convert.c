/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_convert.c - bring a model of another form in, or send one out.
 */
#include <string.h>

#include "cli/commands.h"
#include "cli/engine.h"
#include "cli/say.h"

typedef struct args {
    cli_common common;
    uint32_t type, to;
    const char *in, *out, *tokenizer;
} args;

#define AT(field) offsetof(args, field)

static const cli_opt OPTS[] = {
    CLI_ARGUMENT(AT(in), "IN", "Hugging Face folder, GGUF file or llama2.c checkpoint"),
    CLI_ARGUMENT(AT(out), "OUT", "GGUF file to write, or folder with --to hf"),
    CLI_VALUE(0, "type", CLI_WORD, AT(type), "TYPE", "type of the matrices [as they are]",
              .words = "f32 f16 bf16 q8_0 q4x"),
    CLI_VALUE(0, "to", CLI_WORD, AT(to), "FORM", "gguf, or hf: a folder for transformers [gguf]",
              .words = "gguf hf"),
    CLI_VALUE(0, "tokenizer", CLI_STR, AT(tokenizer), "FILE", "of a llama2.c checkpoint"),
    { 0 },
};

static int run(const void *argp)
{
    const args *a = argp;
    cli_engine e = { 0 };
    int rc = cli_open_ctx(&e, &a->common);
    if (!rc) {
        const mnw_convert_opts o = { .size = sizeof o, .type = (mnw_type)a->type,
                                     .to = (mnw_form)a->to, .tokenizer = a->tokenizer };
        e.bars = true;
        cli_interrupt_watch(NULL, false);
        const mnw_status st = mnw_convert(e.ctx, a->in, a->out, &o);
        cli_progress_end(&e);
        if (st)
            rc = cli_fail(&e, st, a->in);
        else if (a->common.json)
            rc = cli_print_json(json_pack("{s:s, s:O}", "out", a->out, "warnings", e.warnings));
    }
    cli_close(&e);
    return rc;
}

const cli_cmd cmd_convert = {
    .name = "convert",
    .about = "convert models between GGUF files, Hugging Face folders and others",
    .more = "IN is looked at: a folder with config.json and safetensors, a GGUF file, or, with "
            "--tokenizer, a llama2.c checkpoint.  OUT appears only when it is whole.",
    .opts = OPTS,
    .args_size = sizeof(args),
    .run = run,
};
