/* SPDX-License-Identifier: Apache-2.0
 *
 * model.c - open a file in steps that close() can undo, and say what it is.
 */
#include "model/model.h"

#include <minnow/tokenizer.h>
#include <string.h>

#include "base/sha256.h"
#include "format/gguf.h"
#include "format/scan.h"
#include "format/segments.h"
#include "model/kv.h"
#include "text/tokenizer.h"

static mnw_status read_text(mnw_model *m, const char *key, const char **out, mn_err *err)
{
    mn_str text;
    if (!mn_meta_find(&m->content, key)) return MNW_OK;
    MN_TRY(mn_meta_str(&m->content, key, mn_str_of(""), &text, err));
    *out = mn_pages_text(&m->mem, text);
    MN_FAIL_IF(!*out, err, MNW_E_NOMEM, "%s", key);
    return MNW_OK;
}

static mnw_status read_tokenizer(mnw_model *m, mn_err *err)
{
    MN_TRY(mn_tokenizer_from_content(m->ctx, &m->content, &m->tokenizer, err));
    const uint32_t ids = m->tokenizer ? mnw_tokenizer_count(m->tokenizer) : 0;
    MN_FAIL_IF(
        ids > m->config.V, err, MNW_E_FORMAT,
        "tokenizer.ggml.tokens: %u tokens, expected at most the %u rows of token_embd.weight", ids,
        m->config.V);
    return MNW_OK;
}

static mnw_status warn_unused(mnw_model *m, mn_err *err)
{
    const size_t n = m->weights.n_unused;
    if (n == 0) return MNW_OK;
    return mn_warn(m->ctx, MNW_WARNING_METADATA, err,
                   "%.*s: not used by %s (one of %zu such tensors)", MN_STR(m->weights.unused),
                   m->config.arch->name, n);
}

/* m->bytes is the file.  Each step leaves `m` in a state mnw_model_close() can undo. */
static mnw_status load(mnw_model *m, mn_err *err)
{
    mn_kernels_init(&m->kernels, m->ctx->cpu);
    mn_pages_init(&m->mem, &m->ctx->mem);
    MN_TRY(mn_gguf_read(m->bytes, &m->mem, &m->content, err));
    MN_TRY(mn_config_read(&m->content, &m->mem, &m->config, err));
    MN_TRY(mn_weights_bind(&m->content, &m->config, &m->kernels, &m->mem, &m->weights, err));
    MN_TRY(read_text(m, "general.name", &m->name, err));
    MN_TRY(read_text(m, "tokenizer.chat_template", &m->chat_template, err));
    MN_TRY(read_tokenizer(m, err));
    return warn_unused(m, err);
}

/* Where a model comes from: one of path, fd, data. */
typedef struct source {
    const char *path;
    int         fd;
    uint64_t    offset, length;
    mn_bytes    data;
} source;

static mnw_status take(mnw_model *m, const source *from, bool no_map, mn_err *err)
{
    mn_mem *mem = &m->ctx->mem;
    if (from->data.p) {
        m->bytes = from->data;
        return MNW_OK;
    }
    MN_TRY(from->path
               ? mn_os_map(from->path, no_map, mem, &m->file, err)
               : mn_os_map_fd(from->fd, from->offset, from->length, no_map, mem, &m->file, err));
    m->bytes = m->file.bytes;
    if (no_map || m->file.base) return MNW_OK;
    return mn_warn(m->ctx, MNW_WARNING_MAPPING, err, "%s: read into memory, it cannot be mapped%s",
                   from->path ? from->path : "file descriptor",
                   from->offset % MN_ALIGN ? " at an offset that is no multiple of 64" : "");
}

static mnw_status open_source(mnw_ctx *ctx, const source *from, const mnw_model_opts *opts,
                              mnw_model **out)
{
    *out = NULL;
    mn_err_clear(&ctx->err);
    mnw_model_opts o;
    mn_opts_copy(&o, sizeof o, opts);
    MN_FAIL_IF((unsigned)o.backend > MNW_BACKEND_REF, &ctx->err, MNW_E_ARG,
               "backend %d: expected 0 to %d", (int)o.backend, MNW_BACKEND_REF);

    mnw_model *m = mn_alloc_zero(&ctx->mem, 1, sizeof *m);
    MN_FAIL_IF(!m, &ctx->err, MNW_E_NOMEM, "model handle");
    m->ctx = ctx;
    m->name = "";
    m->backend = o.backend ? o.backend : MNW_BACKEND_CPU;

    mnw_status st = take(m, from, o.no_map, &ctx->err);
    if (st == MNW_OK) st = load(m, &ctx->err);
    if (st != MNW_OK) {
        mnw_model_close(m);
        return st;
    }
    *out = m;
    return MNW_OK;
}

mnw_status mnw_model_open(mnw_ctx *ctx, const char *path, const mnw_model_opts *opts,
                          mnw_model **out)
{
    if (!ctx || !path || !out) return MNW_E_ARG;
    return open_source(ctx, &(source){ .path = path }, opts, out);
}

mnw_status mnw_model_open_fd(mnw_ctx *ctx, int fd, uint64_t offset, uint64_t length,
                             const mnw_model_opts *opts, mnw_model **out)
{
    if (!ctx || !out) return MNW_E_ARG;
    return open_source(ctx, &(source){ .fd = fd, .offset = offset, .length = length }, opts, out);
}

mnw_status mnw_model_open_memory(mnw_ctx *ctx, const void *data, size_t size,
                                 const mnw_model_opts *opts, mnw_model **out)
{
    if (!ctx || !data || !out) return MNW_E_ARG;
    if ((uintptr_t)data % MN_ALIGN != 0) {
        *out = NULL;
        mn_err_clear(&ctx->err);
        MN_FAIL(&ctx->err, MNW_E_ARG, "model in memory: not aligned to %d bytes", MN_ALIGN);
    }
    return open_source(ctx, &(source){ .data = { data, size } }, opts, out);
}

void mnw_model_close(mnw_model *m)
{
    if (!m) return;
    mn_tokenizer_close(m->tokenizer);
    mn_pages_done(&m->mem);
    mn_os_unmap(&m->file);
    mn_free(&m->ctx->mem, m);
}

/* Progress is counted in bytes: those of the tensors, and again as parts of segments. */
static mnw_status check_data(const mnw_model *m, mn_err *err)
{
    mn_segments segments;
    uint64_t    done = 0, total = 0;
    MN_TRY(mn_segments_read(&m->content, m->bytes.n, &segments, err));
    for (size_t i = 0; i < m->content.n_tensors; i++) total += m->content.tensor[i].bytes;
    for (size_t i = 0; i < segments.n; i++) total += mn_segment_bytes(&segments, i);
    for (size_t i = 0; i < m->content.n_tensors; i++) {
        MN_TRY(mn_progress(m->ctx, err, "check", done, total));
        MN_TRY(mn_scan_tensor(&m->content.tensor[i], err));
        done += m->content.tensor[i].bytes;
    }
    for (size_t i = 0; i < segments.n; i++) {
        MN_TRY(mn_progress(m->ctx, err, "check", done, total));
        MN_TRY(mn_segments_check(&segments, i, m->bytes, err));
        done += mn_segment_bytes(&segments, i);
    }
    return mn_progress(m->ctx, err, "check", total, total);
}

/* Opening has verified structure, shapes and tokenizer; what is left is the data. */
mnw_status mnw_model_check(mnw_ctx *ctx, const char *path)
{
    mnw_model *m;
    MN_TRY(mnw_model_open(ctx, path, NULL, &m));
    const mnw_status st = check_data(m, &ctx->err);
    mnw_model_close(m);
    return st;
}

mnw_ctx *mn_model_ctx(const mnw_model *m)
{
    return m->ctx;
}

void mn_model_hash(const mnw_model *m, uint8_t hash[32])
{
    mn_sha256 sha;
    mn_sha256_init(&sha);
    mn_sha256_add(&sha, m->bytes.p, (size_t)m->content.head_bytes);
    mn_sha256_final(&sha, hash);
}

const mnw_tokenizer *mnw_model_tokenizer(const mnw_model *m)
{
    return m ? m->tokenizer : NULL;
}

const char *mnw_model_template(const mnw_model *m)
{
    return m ? m->chat_template : NULL;
}

mnw_status mnw_model_describe(const mnw_model *m, mnw_model_info *info)
{
    if (!m || !info) return MNW_E_ARG;
    const mn_config *c = &m->config;
    mnw_model_info   i = {
          .architecture = c->arch->name,
          .name = m->name,
          .file_bytes = m->bytes.n,
          .n_layers = c->L,
          .n_embd = c->D,
          .n_heads = c->H,
          .n_kv_heads = c->K,
          .head_dim = c->P,
          .n_ff = c->F,
          .n_vocab = c->V,
          .n_ctx_train = c->n_ctx_train,
          .kv_bytes_per_token_f16 = mn_kv_token_bytes(c, MNW_KV_F16),
          .kv_bytes_per_token_i8 = mn_kv_token_bytes(c, MNW_KV_I8),
          .tied = m->weights.tied,
          .mapped = m->file.base != NULL,
    };
    for (size_t t = 0; t < m->content.n_tensors; t++) {
        const mn_tensor *x = &m->content.tensor[t];
        i.n_params += x->dim[0] * x->dim[1] * x->dim[2] * x->dim[3];
        i.weight_bytes += x->bytes;
    }
    mn_model_hash(m, i.hash);

    const size_t size = info->size && info->size < sizeof i ? info->size : sizeof i;
    i.size = size;
    memcpy(info, &i, size);
    return MNW_OK;
}
