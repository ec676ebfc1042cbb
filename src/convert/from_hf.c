/* SPDX-License-Identifier: Apache-2.0
 *
 * from_hf.c - a Hugging Face folder becomes a GGUF file.
 */
#include <inttypes.h>
#include <stdio.h>

#include "convert/job.h"
#include "convert/tok_out.h"
#include "format/native_dir.h"
#include "format/safetensors.h"
#include "text/json_slot.h"

typedef struct folder {
    mn_job        *j;
    mn_map_file    config, generation, tokenizer, tokenizer_config, template;
    mn_shards      shards;
    mn_hf_config   h;
    mnw_tokenizer *tok;
    mn_str         chat;       // the template; p NULL = none
    mn_gguf_writer w;
    mn_err        *err;
} folder;

static mnw_status open_file(folder *f, const char *name, bool must, mn_map_file *out)
{
    char      path[1024];
    const int n = snprintf(path, sizeof path, "%s/%s", f->j->in, name);
    MN_FAIL_IF(n < 0 || (size_t)n >= sizeof path, f->err, MNW_E_ARG, "path of %d bytes, at most %zu", n,
               sizeof path - 1);
    if (!must && !mn_os_exists(path)) return MNW_OK;
    return mn_os_map(path, false, &f->j->ctx->mem, out, f->err);
}

static mnw_status open_tokenizer(folder *f)
{
    MN_TRY(open_file(f, "tokenizer.json", false, &f->tokenizer));
    MN_TRY(open_file(f, "tokenizer_config.json", false, &f->tokenizer_config));
    if (f->tokenizer.bytes.n == 0) {
        return mn_warn(f->j->ctx, MNW_WARNING_METADATA, f->err,
                       "%s: no tokenizer.json, so the result has no tokenizer", f->j->in);
    }
    return mn_tokenizer_from_json(f->j->ctx, f->tokenizer.bytes, f->tokenizer_config.bytes, &f->tok,
                                  f->err);
}

static mnw_status keep_text(folder *f, const mn_json *slot, mn_str *out)
{
    mn_json v;
    if (mn_json_value(slot, &v) != MN_JSON_STRING) return MNW_OK;
    char *p = mn_pages_push(&f->j->mem, v.raw.n + 1, 1);
    MN_FAIL_IF(!p, f->err, MNW_E_NOMEM, "a text of %zu bytes", v.raw.n);
    *out = (mn_str){ p, mn_json_text(&v, p, v.raw.n + 1) };
    return MNW_OK;
}

/* chat_template.jinja, or "chat_template" of tokenizer_config.json: a text, or a list of named ones. */
static mnw_status find_template(folder *f, const mn_json *config)
{
    mn_json v, entry;
    MN_TRY(open_file(f, "chat_template.jinja", false, &f->template));
    if (f->template.bytes.n) {
        f->chat = (mn_str){ (const char *)f->template.bytes.p, f->template.bytes.n };
        return MNW_OK;
    }
    const mn_json slot = mn_json_field(config, "chat_template");
    if (mn_json_value(&slot, &v) != MN_JSON_ARRAY) return keep_text(f, &slot, &f->chat);
    while (mn_json_element(&v, &entry)) {
        const mn_json name = mn_json_field(&entry, "name"), text = mn_json_field(&entry, "template");
        if (mn_json_is(&name, "default")) return keep_text(f, &text, &f->chat);
    }
    return MNW_OK;
}

/* The id of a token that tokenizer_config.json names by its text, or `otherwise`; -1 if it is none. */
static mnw_status named_id(folder *f, const mn_json *config, const char *key, int64_t otherwise,
                           int32_t *out)
{
    mn_str  text = { NULL, 0 };
    mn_json v, slot = mn_json_field(config, key);
    if (mn_json_value(&slot, &v) == MN_JSON_OBJECT) slot = mn_json_field(&slot, "content");
    MN_TRY(keep_text(f, &slot, &text));
    *out = text.p ? mn_vocab_find(&f->tok->vocab, text) : -1;
    if (*out < 0 && otherwise >= 0 && otherwise < f->tok->vocab.count) *out = (int32_t)otherwise;
    return MNW_OK;
}

/* What ends a reply besides eos: GGUF has one more place, and readers know the usual texts. */
static mnw_status find_ends(folder *f)
{
    mnw_tokenizer *tok = f->tok;
    for (unsigned i = 0; i < f->h.n_eos; i++) {
        const int64_t id = f->h.eos[i];
        if (id >= tok->vocab.count || id == tok->eos) continue;
        if (tok->eos < 0) tok->eos = (int32_t)id;
        else if (mnw_tokenizer_is_end(tok, (int32_t)id)) continue;
        else if (tok->eot < 0) tok->eot = (int32_t)id;
        else MN_TRY(mn_warn(f->j->ctx, MNW_WARNING_METADATA, f->err,
                            "generation_config.json: eos_token_id %" PRId64 ": GGUF files have no place "
                            "for it", id));
    }
    return MNW_OK;
}

static mnw_status put_tokenizer(folder *f)
{
    mn_json config = { 0 };
    int32_t pad;
    if (f->tokenizer_config.bytes.n) {
        MN_TRY(mn_json_document(f->tokenizer_config.bytes, "tokenizer_config.json", &config, f->err));
    }
    if (f->tok) {
        MN_TRY(named_id(f, &config, "bos_token", f->tok->bos >= 0 ? f->tok->bos : f->h.bos,
                        &f->tok->bos));
        MN_TRY(named_id(f, &config, "pad_token", f->h.pad, &pad));
        MN_TRY(find_ends(f));
        MN_TRY(mn_tok_to_gguf(f->tok, f->h.c.V, &f->j->mem, &f->w, f->err));
        if (pad >= 0) mn_gguf_set_u32(&f->w, "tokenizer.ggml.padding_token_id", (uint32_t)pad);
    }
    MN_TRY(find_template(f, &config));
    if (f->chat.n) mn_gguf_set_str(&f->w, "tokenizer.chat_template", f->chat);
    return MNW_OK;
}

/* The folder's own name. */
static mn_str name_of(const char *path)
{
    size_t n = strlen(path), from;
    while (n > 0 && path[n - 1] == '/') n--;
    for (from = n; from > 0 && path[from - 1] != '/'; from--) {}
    return (mn_str){ path + from, n - from };
}

static mnw_status convert(folder *f)
{
    mn_job *j = f->j;
    MN_TRY(open_file(f, "config.json", true, &f->config));
    MN_TRY(open_file(f, "generation_config.json", false, &f->generation));
    MN_TRY(mn_hf_config_read(f->config.bytes, f->generation.bytes, &f->h, f->err));
    MN_TRY(mn_shards_open(j->in, &j->mem, &f->shards, f->err));
    MN_TRY(mn_job_plan_to_gguf(j, &f->h, &f->shards.content, f->err));
    MN_TRY(open_tokenizer(f));

    const mn_str name = name_of(j->in);
    if (mn_job_has_native(j)) mn_gguf_align(&f->w, MN_NATIVE_ALIGNMENT);
    mn_gguf_set_str(&f->w, "general.architecture", mn_str_of(f->h.c.arch->name));
    if (name.n && name.p[0] != '.') mn_gguf_set_str(&f->w, "general.name", name);
    mn_gguf_set_u32(&f->w, "general.file_type", mn_job_file_type(j));
    mn_hf_config_to_gguf(&f->h, &f->w);
    MN_TRY(put_tokenizer(f));
    return mn_job_write_gguf(j, &f->w, f->err);
}

mnw_status mn_job_hf_to_gguf(mn_job *j, mn_err *err)
{
    folder f = { .j = j, .err = err };
    mn_gguf_init(&f.w, &j->ctx->mem);
    const mnw_status st = convert(&f);
    mn_gguf_done(&f.w);
    mn_tokenizer_close(f.tok);
    mn_shards_close(&f.shards);
    mn_os_unmap(&f.template);
    mn_os_unmap(&f.tokenizer_config);
    mn_os_unmap(&f.tokenizer);
    mn_os_unmap(&f.generation);
    mn_os_unmap(&f.config);
    return st;
}
