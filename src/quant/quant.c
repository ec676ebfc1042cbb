/* SPDX-License-Identifier: Apache-2.0
 *
 * quant.c - mnw_quantize(): judge the options, open the file, and take the steps of quant.h.
 */
#include "quant/quant.h"

#include <math.h>
#include <string.h>

#include "format/gguf.h"

enum { DEFAULT_TOKENS = 16384, MAX_TOKENS = 1 << 24 };

double mn_quant_decibels(mn_qx_error e)
{
    if (e.error == 0) return -INFINITY;
    return 10 * log10(e.error / e.power);
}

static mnw_status resolve(const mnw_quantize_opts *opts, mnw_quantize_opts *o, mn_err *err)
{
    mn_opts_copy(o, sizeof *o, opts);
    o->size = sizeof *o;
    if (!o->type) o->type = "q4x";
    if (!o->calibration_tokens) o->calibration_tokens = DEFAULT_TOKENS;
    MN_FAIL_IF(!mn_quant_type(o->type), err, MNW_E_ARG, "type %s: expected one of: %s", o->type,
               mnw_quantize_types());
    MN_FAIL_IF(o->n_rules > 0 && !o->rules, err, MNW_E_ARG, "rules: NULL, but n_rules is %zu", o->n_rules);
    MN_FAIL_IF(!(o->target_bpw >= 0 && o->target_bpw <= 32), err, MNW_E_ARG,
               "target_bpw %g: expected 0 to 32", o->target_bpw);
    MN_FAIL_IF(o->calibration_tokens > MAX_TOKENS, err, MNW_E_ARG,
               "calibration_tokens %u: at most %d", o->calibration_tokens, MAX_TOKENS);
    MN_FAIL_IF(o->calibration_bytes > 0 && !o->calibration, err, MNW_E_ARG,
               "calibration: NULL, but calibration_bytes is %zu", o->calibration_bytes);
    return MNW_OK;
}

static mnw_status quantize(mn_quant *q, const char *out_path, mn_err *err)
{
    MN_TRY(mn_os_map(q->in_path, false, &q->ctx->mem, &q->file, err));
    const mnw_status st = mn_gguf_read(q->file.bytes, &q->mem, &q->content, err);
    if (st != MNW_OK) mn_err_prefix(err, "%s", q->in_path);
    MN_TRY(st);
    MN_TRY(mn_quant_plan(q, err));
    for (size_t i = 0; i < q->n; i++) q->native = q->native || q->item[i].type->native;
    if (q->opts.calibration) MN_TRY(mn_quant_calibrate(q, err));
    if (q->opts.target_bpw > 0 || q->opts.target_bytes > 0) MN_TRY(mn_quant_budget(q, err));
    return mn_quant_write(q, out_path, err);
}

mnw_status mnw_quantize(mnw_ctx *ctx, const char *in_path, const char *out_path,
                        const mnw_quantize_opts *opts)
{
    if (!ctx) return MNW_E_ARG;
    mn_err *err = &ctx->err;
    mn_err_clear(err);
    MN_FAIL_IF(!in_path || !out_path, err, MNW_E_ARG, "mnw_quantize: a path is NULL");
    mn_quant q = { .ctx = ctx, .in_path = in_path };
    MN_TRY(resolve(opts, &q.opts, err));
    mn_pages_init(&q.mem, &ctx->mem);
    const mnw_status st = quantize(&q, out_path, err);
    mn_pages_done(&q.mem);
    mn_os_unmap(&q.file);
    return st;
}
