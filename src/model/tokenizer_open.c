/* SPDX-License-Identifier: Apache-2.0
 *
 * tokenizer_open.c - open a tokenizer by itself: from a GGUF file, a tokenizer.json, or a folder.
 */
#include <stdio.h>

#include "format/gguf.h"
#include "text/tokenizer.h"

enum { PATH = 1024 };

static bool is_gguf(mn_bytes b)
{
    return b.n >= 4 && memcmp(b.p, "GGUF", 4) == 0;
}

static mnw_status open_gguf(mnw_ctx *ctx, mn_bytes bytes, mnw_tokenizer **out, mn_err *err)
{
    mn_content content;
    mn_pages   pages;
    mn_pages_init(&pages, &ctx->mem);
    mnw_status st = mn_gguf_read(bytes, &pages, &content, err);
    if (st == MNW_OK) st = mn_tokenizer_from_content(ctx, &content, out, err);
    mn_pages_done(&pages);
    if (st == MNW_OK && !*out) MN_FAIL(err, MNW_E_FORMAT, "the file has no tokenizer");
    return st;
}

/* Open a file; `config` is the path of a tokenizer_config.json or NULL. */
static mnw_status open_file(mnw_ctx *ctx, const char *path, const char *config, mnw_tokenizer **out,
                            mn_err *err)
{
    mn_map_file file = { 0 }, config_file = { 0 };
    MN_TRY(mn_os_map(path, false, &ctx->mem, &file, err));
    mnw_status st = MNW_OK;
    if (is_gguf(file.bytes)) {
        st = open_gguf(ctx, file.bytes, out, err);
    } else {
        if (config) st = mn_os_map(config, false, &ctx->mem, &config_file, err);
        if (st == MNW_OK) st = mn_tokenizer_from_json(ctx, file.bytes, config_file.bytes, out, err);
    }
    mn_os_unmap(&config_file);
    if (st != MNW_OK) mn_err_prefix(err, "%s", path);
    if (st == MNW_OK && is_gguf(file.bytes)) (*out)->file = file;   // its pieces are in there
    else mn_os_unmap(&file);
    return st;
}

static mnw_status open_folder(mnw_ctx *ctx, const char *path, mnw_tokenizer **out, mn_err *err)
{
    char      file[PATH], config[PATH];
    const int n = snprintf(file, sizeof file, "%s/tokenizer.json", path);
    const int m = snprintf(config, sizeof config, "%s/tokenizer_config.json", path);
    MN_FAIL_IF(n < 0 || n >= PATH || m < 0 || m >= PATH, err, MNW_E_ARG,
               "path of %zu bytes, at most %d", strlen(path), PATH - 32);
    MN_FAIL_IF(!mn_os_exists(file), err, MNW_E_NOENT, "%s: no such file", file);
    return open_file(ctx, file, mn_os_exists(config) ? config : NULL, out, err);
}

mnw_status mnw_tokenizer_open(mnw_ctx *ctx, const char *path, mnw_tokenizer **out)
{
    if (!ctx || !out) return MNW_E_ARG;
    *out = NULL;
    mn_err_clear(&ctx->err);
    if (!path) MN_FAIL(&ctx->err, MNW_E_ARG, "no path");
    if (mn_os_is_dir(path)) return open_folder(ctx, path, out, &ctx->err);
    return open_file(ctx, path, NULL, out, &ctx->err);
}
