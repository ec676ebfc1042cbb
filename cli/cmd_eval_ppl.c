/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_eval_ppl.c - perplexity and bits per byte of a text.
 */
#include <inttypes.h>
#include <math.h>
#include <minnow/eval.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/engine.h"
#include "cli/eval_run.h"
#include "cli/say.h"

typedef struct args {
    cli_common common;
    cli_eval_args eval;
    const char *model, *text;
    uint32_t window, stride;
    uint64_t limit;
} args;

#define AT(field) offsetof(args, field)

static const cli_opt OPTS[] = {
    CLI_ARGUMENT(AT(model), "MODEL", "model file (GGUF)"),
    CLI_VALUE(0, "text", CLI_STR, AT(text), "FILE", "the text; - reads stdin", .flags = CLI_NEED),
    CLI_VALUE(0, "window", CLI_U32, AT(window), "N", "tokens of a window (512 if not given)",
              .min = 2, .max = 1 << 24),
    CLI_VALUE(0, "stride", CLI_U32, AT(stride), "N",
              "tokens from one window to the next (the window if not given)", .min = 1,
              .max = 1 << 24),
    CLI_VALUE(0, "limit-windows", CLI_U64, AT(limit), "N", "only the first windows", .min = 1),
    CLI_EVAL_OPTS(args),
    { 0 },
};

static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static int show(const args *a, const mnw_ppl_result *r)
{
    if (a->common.json) {
        return cli_print_json(
            json_pack("{s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:f}", "ppl", number(r->ppl),
                      "ppl_stderr", number(r->ppl_stderr), "ppl_second_half", number(r->ppl_half),
                      "bits_per_byte", number(r->bits_per_byte), "tokens", (json_int_t)r->tokens,
                      "bytes", (json_int_t)r->bytes, "windows", (json_int_t)r->windows,
                      "text_tokens", (json_int_t)r->text_tokens, "seconds", r->seconds));
    }
    printf("perplexity      %.4f +- %.4f\n", r->ppl, r->ppl_stderr);
    if (isfinite(r->ppl_half)) printf("second halves   %.4f\n", r->ppl_half);
    printf("bits per byte   %.4f\n", r->bits_per_byte);
    printf("tokens          %" PRIu64 " of %" PRIu64 " in %" PRIu64 " windows\n", r->tokens,
           r->text_tokens, r->windows);
    printf("seconds         %.1f\n", r->seconds);
    return CLI_DONE;
}

static int run(const void *argp)
{
    const args *a = argp;
    cli_engine e;
    size_t len = 0;
    char *text = NULL;
    mnw_ppl_result r = { .size = sizeof r };
    int rc = cli_open_ctx(&e, &a->common);
    if (!rc) rc = cli_open_model(&e, a->model, &(cli_model_args){ .backend = a->eval.backend });
    if (!rc && !(text = cli_read(a->text, &len))) rc = CLI_CANNOT_OPEN;
    if (!rc) {
        cli_eval_bar bar = { .unit = "windows", .quiet = a->common.quiet };
        const mnw_ppl_opts o = { .size = sizeof o,
                                 .window = a->window,
                                 .stride = a->stride,
                                 .limit = a->limit,
                                 .kv_type = (mnw_kv_type)a->eval.kv,
                                 .precision = (mnw_precision)a->eval.precision,
                                 .progress = cli_eval_progress,
                                 .progress_user = &bar };
        cli_interrupt_watch(NULL, false);
        const mnw_status st = mnw_eval_ppl(e.model, text, len, &o, &r);
        cli_bar_end(&bar.bar);
        rc = st ? cli_fail(&e, st, a->text) : show(a, &r);
    }
    free(text);
    cli_close(&e);
    return rc;
}

const cli_cmd cmd_eval_ppl = {
    .name = "eval ppl",
    .about = "perplexity and bits per byte of a text",
    .more =
        "Windows of the text are evaluated each from an empty context; its tokens but the first "
        "are predicted and count.\nWith a stride below the window only what no window before has "
        "predicted counts.  \"second halves\" counts the second\nhalf of each window: the figure "
        "of "
        "llama.cpp's perplexity tool.  A rest that fills no window is left out.",
    .opts = OPTS,
    .args_size = sizeof(args),
    .run = run,
};
