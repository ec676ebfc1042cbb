/* SPDX-License-Identifier: Apache-2.0
 *
 * convert.c - see what there is and what is wanted, and choose the way.
 */
#include <minnow/convert.h>

#include "convert/job.h"

static const mn_dtype *type_of(mnw_type type)
{
    switch (type) {
    case MNW_TYPE_F32: return mn_dtype_from_id(MN_F32);
    case MNW_TYPE_F16: return mn_dtype_from_id(MN_F16);
    case MNW_TYPE_BF16: return mn_dtype_from_id(MN_BF16);
    case MNW_TYPE_Q8_0: return mn_dtype_from_id(MN_Q8_0);
    case MNW_TYPE_Q4X: return mn_dtype_of(MN_Q4X);
    case MNW_TYPE_KEEP: break;
    }
    return NULL;
}

/* The first four bytes. */
static mnw_status is_gguf(const char *path, mn_mem *mem, bool *yes, mn_err *err)
{
    mn_map_file file;
    MN_TRY(mn_os_map(path, false, mem, &file, err));
    *yes = file.bytes.n >= 4 && memcmp(file.bytes.p, "GGUF", 4) == 0;
    mn_os_unmap(&file);
    return MNW_OK;
}

static mnw_status convert(mn_job *j, const mnw_convert_opts *o, mn_err *err)
{
    bool gguf;
    if (mn_os_is_dir(j->in)) {
        MN_FAIL_IF(o->to == MNW_FORM_HF, err, MNW_E_ARG,
                   "%s: a folder to a folder, expected a GGUF file on one side", j->in);
        return mn_job_hf_to_gguf(j, err);
    }
    MN_TRY(is_gguf(j->in, &j->ctx->mem, &gguf, err));
    MN_FAIL_IF(!gguf && !o->tokenizer, err, MNW_E_FORMAT,
               "%s: neither a folder nor a GGUF file (a llama2.c checkpoint needs its tokenizer)", j->in);
    MN_FAIL_IF(!gguf && (o->to == MNW_FORM_HF || o->type), err, MNW_E_UNSUPPORTED,
               "%s: a llama2.c checkpoint becomes a GGUF file in f32 first", j->in);
    MN_FAIL_IF(o->to == MNW_FORM_HF && o->type > MNW_TYPE_BF16, err, MNW_E_ARG,
               "%s: a folder holds f32, f16 or bf16", j->out);
    if (!gguf) return mnw_convert_llama2c(j->ctx, j->in, o->tokenizer, j->out);
    return o->to == MNW_FORM_HF ? mn_job_gguf_to_hf(j, err) : mn_job_gguf_to_gguf(j, err);
}

mnw_status mnw_convert(mnw_ctx *ctx, const char *in, const char *out, const mnw_convert_opts *opts)
{
    if (!ctx) return MNW_E_ARG;
    mn_err          *err = &ctx->err;
    mnw_convert_opts o;
    mn_err_clear(err);
    mn_opts_copy(&o, sizeof o, opts);
    MN_FAIL_IF(!in || !out, err, MNW_E_ARG, "mnw_convert: a path is NULL");
    MN_FAIL_IF((unsigned)o.type > MNW_TYPE_Q4X, err, MNW_E_ARG, "type %d: expected 0 to %d", (int)o.type,
               MNW_TYPE_Q4X);
    MN_FAIL_IF((unsigned)o.to > MNW_FORM_HF, err, MNW_E_ARG, "form %d: expected 0 to %d", (int)o.to,
               MNW_FORM_HF);
    mn_job j = { .ctx = ctx, .in = in, .out = out, .type = type_of(o.type) };
    mn_pages_init(&j.mem, &ctx->mem);
    const mnw_status st = convert(&j, &o, err);
    mn_pages_done(&j.mem);
    return st;
}
