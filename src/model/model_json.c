/* SPDX-License-Identifier: Apache-2.0
 *
 * model_json.c - a model's description as JSON: configuration, tokenizer, every tensor.
 */
#include <inttypes.h>
#include <minnow/tokenizer.h>

#include "base/out.h"
#include "base/sha256.h"
#include "model/model.h"

static void field_text(mn_out *o, const char *key, const char *value)
{
    mn_out_fmt(o, "\"%s\":", key);
    mn_out_json(o, mn_str_of(value));
    mn_out_text(o, ",");
}

static void field_u64(mn_out *o, const char *key, uint64_t value)
{
    mn_out_fmt(o, "\"%s\":%" PRIu64 ",", key, value);
}

static const char *boolean(bool b)
{
    return b ? "true" : "false";
}

static void write_config(mn_out *o, const mnw_model_info *i, const mn_config *c)
{
    char hex[MN_SHA256_HEX];
    mn_sha256_hex(i->hash, hex);
    field_text(o, "architecture", i->architecture);
    field_text(o, "name", i->name);
    field_text(o, "sha256_head", hex);
    field_u64(o, "parameters", i->n_params);
    field_u64(o, "weight_bytes", i->weight_bytes);
    field_u64(o, "file_bytes", i->file_bytes);
    field_u64(o, "layers", i->n_layers);
    field_u64(o, "embedding", i->n_embd);
    field_u64(o, "heads", i->n_heads);
    field_u64(o, "kv_heads", i->n_kv_heads);
    field_u64(o, "head_dim", i->head_dim);
    field_u64(o, "feed_forward", i->n_ff);
    field_u64(o, "vocabulary", i->n_vocab);
    field_u64(o, "context", i->n_ctx_train);
    mn_out_fmt(o, "\"norm_epsilon\":%.9g,", (double)c->eps);
    mn_out_fmt(o,
               "\"rope\":{\"dimensions\":%u,\"theta\":%.17g,\"scaling\":\"%s\",\"factor\":%.17g},",
               c->rope.n, c->rope.theta, c->rope.scaling, c->rope.factor);
    mn_out_fmt(o, "\"kv_bytes_per_token\":{\"f16\":%" PRIu64 ",\"i8\":%" PRIu64 "},",
               i->kv_bytes_per_token_f16, i->kv_bytes_per_token_i8);
    mn_out_fmt(o, "\"precision\":{\"norm\":\"%s\",\"attn_output\":\"%s\",\"ffn_down\":\"%s\"},",
               c->exact & MN_EXACT_H ? "exact" : "fast", c->exact & MN_EXACT_O ? "exact" : "fast",
               c->exact & MN_EXACT_G ? "exact" : "fast");
    mn_out_fmt(o, "\"tied\":%s,\"mapped\":%s,", boolean(i->tied), boolean(i->mapped));
}

/* The texts and ids of the tokens that hold conversations together. */
static void write_tokenizer(mn_out *o, const mnw_tokenizer *tok)
{
    if (!tok) {
        mn_out_text(o, "\"tokenizer\":null,");
        return;
    }
    const uint32_t count = mnw_tokenizer_count(tok);
    mn_out_text(o, "\"tokenizer\":{");
    field_text(o, "kind", mnw_tokenizer_kind(tok));
    field_text(o, "pre", mnw_tokenizer_pre(tok));
    field_u64(o, "count", count);
    mn_out_fmt(o, "\"bos\":%d,\"eos\":%d,\"end\":[", (int)mnw_tokenizer_bos(tok),
               (int)mnw_tokenizer_eos(tok));
    const char *comma = "";
    for (uint32_t id = 0; id < count; id++) {
        if (!mnw_tokenizer_is_end(tok, (int32_t)id)) continue;
        mn_out_fmt(o, "%s%u", comma, id);
        comma = ",";
    }
    mn_out_text(o, "]},");
}

static void write_tensors(mn_out *o, const mn_content *f)
{
    mn_out_text(o, "\"tensors\":[");
    for (size_t i = 0; i < f->n_tensors; i++) {
        const mn_tensor *t = &f->tensor[i];
        mn_out_text(o, i ? ",{\"name\":" : "{\"name\":");
        mn_out_json(o, t->name);
        mn_out_fmt(o, ",\"type\":\"%s\",\"shape\":[", t->type->name);
        for (uint32_t d = t->n_dims; d-- > 0;)
            mn_out_fmt(o, "%" PRIu64 "%s", t->dim[d], d ? "," : "");
        mn_out_fmt(o, "],\"offset\":%" PRIu64 ",\"bytes\":%" PRIu64 "}", t->offset, t->bytes);
    }
    mn_out_text(o, "],");
}

/* Tensors and bytes of each type that occurs. */
static void write_totals(mn_out *o, const mn_content *f)
{
    static const mn_dtype_id TYPES[] = {
#define X(NAME, id, name, values, bytes) MN_##NAME,
        MN_DTYPE_LIST(X)
#undef X
#define X(NAME, id, name) MN_##NAME,
        MN_NATIVE_LIST(X)
#undef X
    };
    const char *comma = "";
    mn_out_text(o, "\"types\":{");
    for (size_t k = 0; k < sizeof TYPES / sizeof *TYPES; k++) {
        uint64_t bytes = 0, tensors = 0;
        for (size_t i = 0; i < f->n_tensors; i++) {
            if (f->tensor[i].type->id != TYPES[k]) continue;
            bytes += f->tensor[i].bytes;
            tensors++;
        }
        if (tensors == 0) continue;
        mn_out_fmt(o, "%s\"%s\":{\"tensors\":%" PRIu64 ",\"bytes\":%" PRIu64 "}", comma,
                   mn_dtype_of(TYPES[k])->name, tensors, bytes);
        comma = ",";
    }
    mn_out_text(o, "}");
}

mnw_status mnw_model_json(const mnw_model *m, char *buf, size_t cap, size_t *len)
{
    mnw_model_info info = { .size = sizeof info };
    if (!len || (!buf && cap)) return MNW_E_ARG;
    MN_TRY(mnw_model_describe(m, &info));

    mn_out o = { .buf = buf, .cap = cap };
    mn_out_text(&o, "{");
    write_config(&o, &info, &m->config);
    write_tokenizer(&o, m->tokenizer);
    write_tensors(&o, &m->content);
    write_totals(&o, &m->content);
    mn_out_text(&o, "}");
    return mn_out_end(&o, len, NULL);
}
