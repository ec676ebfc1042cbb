/* SPDX-License-Identifier: Apache-2.0
 *
 * to_hf.c - a GGUF file becomes a folder that transformers loads.
 */
#include "convert/job.h"
#include "convert/tok_out.h"
#include "format/gguf.h"
#include "format/safetensors_write.h"

typedef struct folder {
    mn_job        *j;
    mn_map_file    file;
    mn_content     content;
    mn_hf_config   h;
    mnw_tokenizer *tok;
    mn_tok_json    tok_json;
    mn_str         chat;
    bool           biases;
    mn_out_dir     dir;
    mn_err        *err;
} folder;

/* Write a text file: once to count, once for good. */
typedef void render_fn(mn_out *o, const folder *f);

static mnw_status write_text(folder *f, const char *name, render_fn *render)
{
    char        path[MN_OUT_PATH];
    mn_out_file file = { 0 };
    mn_out      o = { 0 };
    mn_mem     *mem = &f->j->ctx->mem;
    MN_TRY(mn_out_dir_path(&f->dir, name, path, f->err));
    render(&o, f);
    char *text = mn_alloc(mem, o.len);
    MN_FAIL_IF(!text, f->err, MNW_E_NOMEM, "%s: %zu bytes", name, o.len);
    o = (mn_out){ .buf = text, .cap = o.len };
    render(&o, f);
    mnw_status st = mn_out_open(path, &file, f->err);
    if (st == MNW_OK) st = mn_out_write(&file, text, o.len, f->err);
    if (st == MNW_OK) st = mn_out_commit(&file, f->err);
    mn_out_abandon(&file);
    mn_free(mem, text);
    return st;
}

static void render_config(mn_out *o, const folder *f)
{
    const mn_dtype_id id = f->j->type->id;
    mn_hf_config_write(o, &f->h, id == MN_F16 ? "float16" : id == MN_BF16 ? "bfloat16" : "float32",
                       f->biases);
}

static void render_generation(mn_out *o, const folder *f)
{
    mn_hf_generation_write(o, &f->h);
}

static void render_tokenizer(mn_out *o, const folder *f)
{
    mn_tok_json_write(o, &f->tok_json);
}

static void render_token(mn_out *o, const folder *f, const char *key, int64_t id)
{
    mn_out_fmt(o, ",\n  \"%s\": ", key);
    if (id < 0 || id >= f->tok->vocab.count) mn_out_text(o, "null");
    else mn_out_json(o, mn_vocab_text(&f->tok->vocab, (uint32_t)id));
}

static void render_tokenizer_config(mn_out *o, const folder *f)
{
    mn_out_fmt(o, "{\n  \"tokenizer_class\": \"PreTrainedTokenizerFast\",\n  \"model_max_length\": %u",
               f->h.c.n_ctx_train);
    render_token(o, f, "bos_token", f->tok->bos);
    render_token(o, f, "eos_token", f->tok->eos);
    render_token(o, f, "pad_token", f->h.pad);
    render_token(o, f, "unk_token", f->tok->unknown);
    mn_out_fmt(o, ",\n  \"add_bos_token\": %s,\n  \"add_eos_token\": %s",
               f->tok->add_bos ? "true" : "false", f->tok->add_eos ? "true" : "false");
    mn_out_text(o, ",\n  \"clean_up_tokenization_spaces\": false");
    if (f->chat.n) {
        mn_out_text(o, ",\n  \"chat_template\": ");
        mn_out_json(o, f->chat);
    }
    mn_out_text(o, "\n}\n");
}

/* The classes have biases on q, k and v, or on none of the projections, or on all four. */
static mnw_status check_biases(folder *f)
{
    f->biases = mn_tensor_find(&f->content, mn_str_of("blk.0.attn_q.bias")) != NULL;
    const bool qwen2 = strcmp(f->h.c.arch->name, "qwen2") == 0;
    MN_FAIL_IF(f->biases != qwen2, f->err, MNW_E_UNSUPPORTED,
               "blk.0.attn_q.bias: %s, which %s in transformers cannot be",
               f->biases ? "there" : "missing", f->h.c.arch->name);
    return MNW_OK;
}

static mnw_status put(void *user, const void *p, size_t n, mn_err *err)
{
    return mn_safetensors_put(user, p, n, err);
}

static mnw_status write_tensors(folder *f)
{
    mn_job                *j = f->j;
    char                   path[MN_OUT_PATH];
    mn_safetensors_writer  w = { 0 };
    mn_mover               m;
    mn_tensor             *list = mn_pages_push(&j->mem, j->n_moves, sizeof *list);
    MN_FAIL_IF(!list, f->err, MNW_E_NOMEM, "the list of %zu tensors", j->n_moves);
    for (size_t i = 0; i < j->n_moves; i++) list[i] = j->move[i].to;
    MN_TRY(mn_out_dir_path(&f->dir, "model.safetensors", path, f->err));
    mnw_status st = mn_mover_init(&m, j->ctx, put, &w, f->err);
    if (st == MNW_OK) st = mn_safetensors_begin(&w, &j->ctx->mem, path, list, j->n_moves, f->err);
    for (size_t i = 0; i < j->n_moves; i++) m.total += mn_transfer_bytes(&j->move[i]);
    for (size_t i = 0; i < j->n_moves && st == MNW_OK; i++) st = mn_mover_run(&m, &j->move[i], f->err);
    mn_mover_done(&m);
    if (st == MNW_OK) st = mn_safetensors_finish(&w, f->err);
    mn_safetensors_done(&w);
    return st;
}

static mnw_status write_folder(folder *f)
{
    MN_TRY(write_text(f, "config.json", render_config));
    MN_TRY(write_text(f, "generation_config.json", render_generation));
    if (f->tok) {
        MN_TRY(write_text(f, "tokenizer.json", render_tokenizer));
        MN_TRY(write_text(f, "tokenizer_config.json", render_tokenizer_config));
    }
    return write_tensors(f);
}

static mnw_status convert(folder *f)
{
    mn_job *j = f->j;
    MN_TRY(mn_os_map(j->in, false, &j->ctx->mem, &f->file, f->err));
    MN_TRY(mn_gguf_read(f->file.bytes, &j->mem, &f->content, f->err));
    MN_TRY(mn_hf_config_from_gguf(&f->content, &j->mem, &f->h, f->err));
    MN_TRY(check_biases(f));
    MN_TRY(mn_job_plan_to_hf(j, &f->h, &f->content, f->err));
    MN_TRY(mn_tokenizer_from_content(j->ctx, &f->content, &f->tok, f->err));
    if (f->tok) MN_TRY(mn_tok_json_init(&f->tok_json, f->tok, &j->mem, f->err));
    MN_TRY(mn_meta_str(&f->content, "tokenizer.chat_template", (mn_str){ NULL, 0 }, &f->chat, f->err));
    MN_TRY(mn_out_dir_open(j->out, &f->dir, f->err));
    MN_TRY(write_folder(f));
    return mn_out_dir_commit(&f->dir, f->err);
}

mnw_status mn_job_gguf_to_hf(mn_job *j, mn_err *err)
{
    folder           f = { .j = j, .err = err };
    const mnw_status st = convert(&f);
    mn_out_dir_abandon(&f.dir);
    mn_tokenizer_close(f.tok);
    mn_os_unmap(&f.file);
    return st;
}
