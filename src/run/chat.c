/* SPDX-License-Identifier: Apache-2.0
 *
 * chat.c - messages to prompt text, and to ids in which only the template's own text makes control
 * tokens.
 *
 * The prompt is encoded as one text, so that words and merges are those the model was trained on;
 * the parts that came from the messages are named to the encoder, which recognises no control token
 * that touches one of them.
 */
#include <minnow/chat.h>

#include "base/os.h"
#include "base/out.h"
#include "model/model.h"
#include "text/template.h"
#include "text/tokenizer.h"

/* For models that have the tokens of ChatML but no template. */
static const char CHATML[] =
    "{% for m in messages %}{{ '<|im_start|>' ~ m.role ~ '\\n' ~ m.content ~ '<|im_end|>\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

/* A control token's text, "" if the model has none; the caller frees *block. */
static mnw_status token_text(mnw_ctx *ctx, const mnw_tokenizer *tok, int32_t id, mn_str *out,
                             char **block)
{
    size_t n = 0;
    *out = (mn_str){ 0 };
    *block = NULL;
    if (id < 0) return MNW_OK;
    const mnw_status st = mnw_tokenizer_decode(tok, &id, 1, MNW_DECODE_SPECIAL, NULL, 0, &n);
    if (st != MNW_OK && st != MNW_E_BUFFER) MN_FAIL(&ctx->err, st, "chat: token %d", (int)id);
    *block = mn_alloc(&ctx->mem, n + 1);
    MN_FAIL_IF(!*block, &ctx->err, MNW_E_NOMEM, "chat");
    MN_TRY(mnw_tokenizer_decode(tok, &id, 1, MNW_DECODE_SPECIAL, *block, n, &n));
    *out = (mn_str){ *block, n };
    return MNW_OK;
}

/* The caller's template, the model's, or ChatML where the vocabulary is made for it. */
static mnw_status choose_template(const mnw_model *m, const mnw_chat_opts *o, const char **source)
{
    mnw_ctx *const             ctx = m->ctx;
    const mnw_tokenizer *const tok = mnw_model_tokenizer(m);
    *source = o->chat_template ? o->chat_template : mnw_model_template(m);
    if (*source) return MNW_OK;
    if (!tok || mnw_tokenizer_find(tok, "<|im_start|>", strlen("<|im_start|>")) < 0) {
        MN_FAIL(&ctx->err, MNW_E_TEMPLATE,
                "the model has no chat template and no <|im_start|> token: give a template in "
                "mnw_chat_opts.chat_template, or a plain prompt");
    }
    *source = CHATML;
    return mn_warn(ctx, MNW_WARNING_NO_TEMPLATE, &ctx->err,
                   "the model has no chat template, plain ChatML is used");
}

static mnw_status render(mnw_model *m, mn_str messages, const mnw_chat_opts *o,
                         mn_template_text *out)
{
    mnw_ctx *const             ctx = m->ctx;
    const mnw_tokenizer *const tok = mnw_model_tokenizer(m);
    const char                *source;
    MN_TRY(choose_template(m, o, &source));

    mn_template_args args = { .messages = messages,
                              .no_generation_prompt = o->no_generation_prompt,
                              .thinking = (int)o->thinking,
                              .now = o->now ? o->now : mn_os_now() };
    char        *bos = NULL, *eos = NULL;
    mn_template *t = NULL;
    mnw_status   st = MNW_OK;
    if (tok) st = token_text(ctx, tok, mnw_tokenizer_bos(tok), &args.bos, &bos);
    if (tok && st == MNW_OK) st = token_text(ctx, tok, mnw_tokenizer_eos(tok), &args.eos, &eos);
    if (st == MNW_OK) st = mn_template_compile(&ctx->mem, mn_str_of(source), &t, &ctx->err);
    if (st == MNW_OK) st = mn_template_render(t, &ctx->mem, &args, out, &ctx->err);
    mn_template_free(&ctx->mem, t);
    mn_free(&ctx->mem, bos);
    mn_free(&ctx->mem, eos);
    return st;
}

/* Check the arguments and render; *out is to be freed. */
static mnw_status begin(mnw_model *m, const char *messages, size_t len, const mnw_chat_opts *opts,
                        mn_template_text *out)
{
    mnw_chat_opts o = { 0 };
    mn_opts_copy(&o, sizeof o, opts);
    mn_err_clear(&m->ctx->err);
    MN_FAIL_IF(o.thinking > MNW_THINKING_ON, &m->ctx->err, MNW_E_ARG,
               "mnw_chat_opts.thinking is %d, expected 0, 1 or 2", (int)o.thinking);
    return render(m, (mn_str){ messages, len }, &o, out);
}

mnw_status mnw_chat_render(mnw_model *m, const char *messages, size_t messages_len,
                           const mnw_chat_opts *opts, char *buf, size_t cap, size_t *len)
{
    if (!m || !messages || !len || (cap && !buf)) return MNW_E_ARG;
    mn_template_text t = { 0 };
    *len = 0;
    MN_TRY(begin(m, messages, messages_len, opts, &t));
    mn_out o = { .buf = buf, .cap = cap };
    mn_out_bytes(&o, t.text, t.len);
    const mnw_status st = mn_out_end(&o, len, &m->ctx->err);
    mn_template_text_done(&m->ctx->mem, &t);
    return st;
}

/* The runs of bytes that are not the template's own; the caller frees. */
static mn_span *foreign_spans(mn_mem *mem, const mn_template_text *t, size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < t->len; i++) *n += !t->trusted[i] && (i == 0 || t->trusted[i - 1]);
    mn_span *span = mn_alloc_zero(mem, *n + 1, sizeof *span);
    if (!span) return NULL;
    size_t k = 0;
    for (size_t i = 0; i < t->len; i++) {
        if (t->trusted[i]) continue;
        if (i == 0 || t->trusted[i - 1]) span[k++].begin = i;
        span[k - 1].end = i + 1;
    }
    return span;
}

static mnw_status encode(mnw_ctx *ctx, const mnw_tokenizer *tok, const mn_template_text *t,
                         int32_t *ids, size_t cap, size_t *n)
{
    size_t   n_spans;
    mn_span *span = foreign_spans(&ctx->mem, t, &n_spans);
    MN_FAIL_IF(!span, &ctx->err, MNW_E_NOMEM, "chat: no memory to encode %zu bytes", t->len);

    /* A prompt is to be continued: a BOS in front, but no EOS behind, whatever the model's default. */
    mnw_tokenizer open_ended = *tok;
    open_ended.add_eos = false;
    const mnw_status st = mn_tokenizer_encode_spans(&open_ended, t->text, t->len,
                                                    MNW_ENCODE_SPECIAL | MNW_ENCODE_BOS, span,
                                                    n_spans, ids, cap, n);
    mn_free(&ctx->mem, span);
    if (st == MNW_OK) return MNW_OK;
    MN_FAIL(&ctx->err, st, "chat: %zu bytes of prompt, %zu ids, room for %zu: %s", t->len, *n, cap,
            mnw_status_text(st));
}

mnw_status mnw_chat_encode(mnw_model *m, const char *messages, size_t messages_len,
                           const mnw_chat_opts *opts, int32_t *ids, size_t cap, size_t *n)
{
    if (!m || !messages || !n || (cap && !ids)) return MNW_E_ARG;
    mn_template_text           t = { 0 };
    const mnw_tokenizer *const tok = mnw_model_tokenizer(m);
    *n = 0;
    MN_TRY(begin(m, messages, messages_len, opts, &t));
    mnw_status st = MNW_OK;
    if (tok) st = encode(m->ctx, tok, &t, ids, cap, n);
    else st = mn_err_set(&m->ctx->err, MNW_E_UNSUPPORTED, "the model has no tokenizer");
    mn_template_text_done(&m->ctx->mem, &t);
    return st;
}
