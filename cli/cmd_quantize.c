/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_quantize.c - rewrite a model file with its matrices in another type, and say what each lost.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/engine.h"
#include "cli/say.h"

typedef struct args {
    cli_common common;
    const char *in, *out, *type, *calibration;
    uint32_t calibration_tokens;
    float target_bpw;
    uint64_t target_size;
    cli_list tensors;
} args;

#define AT(field) offsetof(args, field)

static const cli_opt OPTS[] = {
    CLI_ARGUMENT(AT(in), "IN", "model file (GGUF), float or quantised"),
    CLI_ARGUMENT(AT(out), "OUT", "file to write"),
    CLI_VALUE(0, "type", CLI_STR, AT(type), "TYPE",
              "type of matrices: q4x q8x q8_0 q4_0 q4_1 q4_k q5_k q6_k q5_0 q5_1 f16 bf16 f32 [q4x]"),
    CLI_VALUE(0, "tensor", CLI_LIST, AT(tensors), "GLOB=TYPE",
              "another type for tensors of such a name (* ?); nothing after = keeps theirs; the first that "
              "matches counts"),
    CLI_VALUE(0, "target-bpw", CLI_F32, AT(target_bpw), "X",
              "spend up to X bits a weight: the tensors that gain most get the next better type",
              .max = 32),
    CLI_VALUE(0, "target-size", CLI_U64, AT(target_size), "BYTES", "the same, up to a file size"),
    CLI_VALUE(0, "calibration", CLI_STR, AT(calibration), "FILE",
              "text that shows which inputs are large: errors there count more"),
    CLI_VALUE(0, "calibration-tokens", CLI_U32, AT(calibration_tokens), "N",
              "tokens of it to use at most [16384]", .min = 1, .max = 1 << 24),
    { 0 },
};

/* What the library reports, on its way to the table or the JSON. */
typedef struct listing {
    bool json;
    json_t *rows;
    uint64_t bytes;
    double weights;
} listing;

static void print_row(const mnw_quantize_result *r)
{
    char error[32] = "exact";
    if (isfinite(r->error_db)) snprintf(error, sizeof error, "%.2f dB", r->error_db);
    if (isnan(r->error_db)) snprintf(error, sizeof error, "not finite");
    printf("%-36s %9" PRIu64 " x %-8" PRIu64 " %5s -> %-5s %6.3f bits  %s%s%s\n", r->name, r->rows, r->cols,
           r->from, r->to, r->bits, error, r->wanted ? "  not " : "", r->wanted ? r->wanted : "");
}

static void on_result(void *user, const mnw_quantize_result *r)
{
    listing *l = user;
    l->bytes += r->bytes;
    l->weights += (double)r->rows * (double)r->cols;
    if (!l->json) {
        print_row(r);
        return;
    }
    json_t *row = json_pack("{s:o, s:s, s:s, s:I, s:I, s:I, s:f}", "name", cli_json_text(r->name, strlen(r->name)),
                            "from", r->from, "to", r->to, "rows", (json_int_t)r->rows, "cols",
                            (json_int_t)r->cols, "bytes", (json_int_t)r->bytes, "bits", r->bits);
    json_object_set_new(row, "error_db", isfinite(r->error_db) ? json_real(r->error_db) : json_null());
    json_object_set_new(row, "wanted", r->wanted ? json_string(r->wanted) : json_null());
    json_array_append_new(l->rows, row);
}

/* "GLOB=TYPE" cut in two; the caller frees each glob. */
static int read_rules(const cli_list *from, mnw_quantize_rule rules[CLI_LIST_MAX])
{
    for (size_t i = 0; i < from->n; i++) {
        const char *equals = strrchr(from->item[i], '=');
        if (!equals || equals == from->item[i]) {
            cli_error("--tensor %s: expected GLOB=TYPE", from->item[i]);
            return CLI_MISUSED;
        }
        rules[i].glob = cli_copy(from->item[i], (size_t)(equals - from->item[i]));
        rules[i].type = equals + 1;
    }
    return CLI_DONE;
}

static int quantize(cli_engine *e, const args *a, const mnw_quantize_rule *rules, const char *text, size_t len)
{
    listing l = { .json = a->common.json, .rows = json_array() };
    const mnw_quantize_opts o = {
        .size = sizeof o,
        .type = a->type,
        .rules = rules,
        .n_rules = a->tensors.n,
        .target_bpw = (double)a->target_bpw,
        .target_bytes = a->target_size,
        .calibration = text,
        .calibration_bytes = len,
        .calibration_tokens = a->calibration_tokens,
        .report = on_result,
        .report_user = &l,
    };
    e->bars = true;
    const mnw_status st = mnw_quantize(e->ctx, a->in, a->out, &o);
    cli_progress_end(e);
    if (st) {
        json_decref(l.rows);
        return cli_fail(e, st, a->in);
    }
    const double bits = l.weights > 0 ? 8.0 * (double)l.bytes / l.weights : 0;
    if (l.json)
        return cli_print_json(json_pack("{s:s, s:s, s:I, s:f, s:o, s:O}", "in", a->in, "out", a->out,
                                        "weights_bytes", (json_int_t)l.bytes, "bits_per_weight", bits,
                                        "tensors", l.rows, "warnings", e->warnings));
    json_decref(l.rows);
    printf("%s: %.1f MB of weights, %.3f bits each\n", a->out, (double)l.bytes / 1e6, bits);
    return cli_flush();
}

static int run(const void *argp)
{
    const args *a = argp;
    cli_engine e = { 0 };
    mnw_quantize_rule rules[CLI_LIST_MAX] = { 0 };
    char *text = NULL;
    size_t len = 0;
    int rc = read_rules(&a->tensors, rules);
    if (!rc && a->calibration) {
        text = cli_read(a->calibration, &len);
        if (!text) rc = CLI_CANNOT_OPEN;
    }
    if (!rc) rc = cli_open_ctx(&e, &a->common);
    if (!rc) rc = quantize(&e, a, rules, text, len);
    cli_close(&e);
    for (size_t i = 0; i < a->tensors.n; i++) free((char *)rules[i].glob);
    free(text);
    return rc;
}

const cli_cmd cmd_quantize = {
    .name = "quantize",
    .about = "rewrite a model file with its matrices in another type",
    .more = "Prints each tensor's old and new type, bits a weight and error (10 log10 of squared error over "
            "squared weights; with --calibration both weighted by what the inputs are). Norms and biases stay "
            "f32. Where a type does not fit a tensor the nearest one is taken, with a warning.",
    .opts = OPTS,
    .args_size = sizeof(args),
    .run = run,
};
