/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_template.c - messages on stdin to the exact prompt a model sees.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/engine.h"
#include "cli/say.h"

typedef struct args {
    cli_common common;
    const char *model, *file;
    uint64_t now;
    bool ids, no_generation, think, no_think;
} args;

#define AT(field) offsetof(args, field)

static const cli_opt OPTS[] = {
    CLI_ARGUMENT(AT(model), "MODEL", "model file (GGUF)"),
    CLI_SWITCH(0, "ids", AT(ids), "print the prompt's token ids"),
    CLI_VALUE(0, "template", CLI_STR, AT(file), "FILE", "use this template, not the model's"),
    CLI_SWITCH(0, "no-generation-prompt", AT(no_generation),
               "do not open the assistant's turn at the end"),
    CLI_SWITCH(0, "think", AT(think), "enable_thinking is true"),
    CLI_SWITCH(0, "no-think", AT(no_think), "enable_thinking is false"),
    CLI_VALUE(0, "now", CLI_U64, AT(now), "SECONDS", "the time since 1970 that templates see"),
    { 0 },
};

static int print_ids(const cli_engine *e, const args *a, const char *in, size_t len,
                     const mnw_chat_opts *o)
{
    size_t cap = len / 2 + 64, n = 0;
    int32_t *ids = cli_alloc(cap * sizeof *ids);
    mnw_status st = mnw_chat_encode(e->model, in, len, o, ids, cap, &n);
    if (st == MNW_E_BUFFER) {
        cap = n;
        ids = cli_grow(ids, cap * sizeof *ids);
        st = mnw_chat_encode(e->model, in, len, o, ids, cap, &n);
    }
    int rc = st ? cli_fail(e, st, "template") : CLI_DONE;
    if (!rc && a->common.json) {
        json_t *list = json_array();
        for (size_t i = 0; i < n; i++) json_array_append_new(list, json_integer(ids[i]));
        rc = cli_print_json(list);
    } else if (!rc) {
        for (size_t i = 0; i < n; i++) printf("%" PRId32 "\n", ids[i]);
        rc = cli_flush();
    }
    free(ids);
    return rc;
}

static int print_prompt(const cli_engine *e, const args *a, const char *in, size_t len,
                        const mnw_chat_opts *o)
{
    size_t n = 0;
    char none, *text = NULL;
    mnw_status st = mnw_chat_render(e->model, in, len, o, &none, 0, &n);
    if (st == MNW_E_BUFFER) {
        const size_t cap = n + 1;
        text = cli_alloc(cap);
        st = mnw_chat_render(e->model, in, len, o, text, cap, &n);
    }
    int rc = st ? cli_fail(e, st, "template") : CLI_DONE;
    if (!rc && a->common.json) {
        rc = cli_print_json(
            json_pack("{s:o, s:O}", "prompt", cli_json_text(text, n), "warnings", e->warnings));
    } else if (!rc) {
        fwrite(text, 1, n, stdout);
        rc = cli_flush();
    }
    free(text);
    return rc;
}

static int run(const void *argp)
{
    const args *a = argp;
    cli_engine e = { 0 };
    char *in = NULL, *template_text = NULL;
    size_t len = 0, template_len = 0;

    int rc = cli_open_ctx(&e, &a->common);
    if (!rc) rc = cli_open_model(&e, a->model, &(cli_model_args){ 0 });
    if (!rc && a->file && !(template_text = cli_read(a->file, &template_len))) rc = CLI_CANNOT_OPEN;
    if (!rc && !(in = cli_read("-", &len))) rc = CLI_IO;
    if (!rc) {
        const mnw_chat_opts o = {
            .size = sizeof o,
            .no_generation_prompt = a->no_generation,
            .thinking = a->no_think ? MNW_THINKING_OFF
                        : a->think  ? MNW_THINKING_ON
                                    : MNW_THINKING_DEFAULT,
            .chat_template = template_text,
            .now = (int64_t)a->now,
        };
        rc = a->ids ? print_ids(&e, a, in, len, &o) : print_prompt(&e, a, in, len, &o);
    }
    free(in);
    free(template_text);
    cli_close(&e);
    return rc;
}

const cli_cmd cmd_template = {
    .name = "template",
    .about = "render messages (JSON on stdin) to the model's prompt",
    .more = "stdin has [{\"role\": ..., \"content\": ...}, ...] or {\"messages\": [...], "
            "\"tools\": [...]}.",
    .opts = OPTS,
    .args_size = sizeof(args),
    .run = run,
};
