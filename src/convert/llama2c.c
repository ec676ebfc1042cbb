/* SPDX-License-Identifier: Apache-2.0
 *
 * llama2c.c - a llama2.c checkpoint (version 0) and its tokenizer become a GGUF file in F32.
 *
 *      int32   dim, hidden_dim, n_layers, n_heads, n_kv_heads, vocab_size, seq_len
 *      f32     tok_emb[V,D]
 *              rms_att[L,D]  wq[L,D,D]  wk[L,KP,D]  wv[L,KP,D]  wo[L,D,D]
 *              rms_ffn[L,D]  w1[L,F,D]  w2[L,D,F]   w3[L,F,D]
 *              rms_final[D]  cos[seq_len,P/2]  sin[seq_len,P/2]
 *              wcls[V,D]                                  only if vocab_size is negative
 *
 * Both formats rotate neighbouring pairs, so weights move unchanged; the tables of cos and sin are
 * left out.  The tokenizer is a SentencePiece vocabulary whose word mark was written as a space.
 */
#include <minnow/convert.h>

#include <inttypes.h>

#include "base/check.h"
#include "base/context.h"
#include "base/cursor.h"
#include "base/out.h"
#include "base/pages.h"
#include "format/gguf_write.h"

enum {
    HEADER = 7 * 4,
    MAGIC_V1 = 0x616B3432,   // "ak42": where version 0 has dim
    MAX_DIM = 1 << 20,       // of every number in the header
    MAX_LAYERS = 512,
    MAX_TEXT = 1024,         // bytes of a token
    WORD_MARK = 3,           // bytes of U+2581
};

typedef struct checkpoint {
    uint64_t       D, F, L, H, K, P, V, seq;
    bool           tied;
    const uint8_t *tok_emb, *rms_att, *wq, *wk, *wv, *wo, *rms_ffn, *w1, *w2, *w3;
    const uint8_t *rms_final, *wcls;
} checkpoint;

typedef struct vocabulary {
    mn_str  *text;
    float   *score;
    int32_t *type;   // tokenizer.ggml.token_type
} vocabulary;

typedef struct job {
    mnw_ctx       *ctx;
    mn_pages       mem;
    mn_map_file    model_file, tokenizer_file;
    checkpoint     m;
    vocabulary     v;
    mn_gguf_writer out;
} job;

static mnw_status read_header(mn_cursor *c, checkpoint *m, mn_err *err)
{
    static const char *const NAME[7] = { "dim",        "hidden_dim", "n_layers", "n_heads",
                                         "n_kv_heads", "vocab_size", "seq_len" };
    int64_t                  v[7];
    for (int i = 0; i < 7; i++) v[i] = (int32_t)mn_cursor_u32(c);
    MN_FAIL_IF(c->bad, err, MNW_E_FORMAT, "%" PRIu64 " bytes, a llama2.c header has %d",
               mn_cursor_left(c), HEADER);
    MN_FAIL_IF(v[0] == MAGIC_V1, err, MNW_E_UNSUPPORTED,
               "a llama2.c checkpoint of version 1 or later, expected version 0");
    m->tied = v[5] > 0;
    if (v[5] < 0) v[5] = -v[5];
    for (int i = 0; i < 7; i++) {
        const int64_t most = i == 2 ? MAX_LAYERS : MAX_DIM;
        MN_FAIL_IF(v[i] < 1, err, MNW_E_FORMAT, "%s: %" PRId64 ", expected at least 1", NAME[i],
                   v[i]);
        MN_FAIL_IF(v[i] > most, err, MNW_E_LIMIT, "%s: %" PRId64 ", at most %" PRId64, NAME[i],
                   v[i], most);
    }
    MN_FAIL_IF(v[0] % (2 * v[3]) != 0 || v[3] % v[4] != 0, err, MNW_E_FORMAT,
               "dim %" PRId64 ", n_heads %" PRId64 ", n_kv_heads %" PRId64
               ": expected heads of even width in equal groups", v[0], v[3], v[4]);
    m->D = (uint64_t)v[0];
    m->F = (uint64_t)v[1];
    m->L = (uint64_t)v[2];
    m->H = (uint64_t)v[3];
    m->K = (uint64_t)v[4];
    m->V = (uint64_t)v[5];
    m->seq = (uint64_t)v[6];
    m->P = m->D / m->H;
    return MNW_OK;
}

/* [n, rows, cols] floats.  At most 2^9 * 2^20 * 2^20 * 4: no product overflows. */
static const uint8_t *take(mn_cursor *c, uint64_t n, uint64_t rows, uint64_t cols)
{
    return mn_cursor_take(c, n * rows * cols * 4);
}

static mnw_status read_checkpoint(mn_bytes file, checkpoint *m, mn_err *err)
{
    mn_cursor c = mn_cursor_of(file);
    MN_TRY(read_header(&c, m, err));
    const uint64_t KP = m->K * m->P;
    m->tok_emb = take(&c, 1, m->V, m->D);
    m->rms_att = take(&c, m->L, 1, m->D);
    m->wq = take(&c, m->L, m->D, m->D);
    m->wk = take(&c, m->L, KP, m->D);
    m->wv = take(&c, m->L, KP, m->D);
    m->wo = take(&c, m->L, m->D, m->D);
    m->rms_ffn = take(&c, m->L, 1, m->D);
    m->w1 = take(&c, m->L, m->F, m->D);
    m->w2 = take(&c, m->L, m->D, m->F);
    m->w3 = take(&c, m->L, m->F, m->D);
    m->rms_final = take(&c, 1, 1, m->D);
    take(&c, 2, m->seq, m->P / 2);
    m->wcls = m->tied ? NULL : take(&c, 1, m->V, m->D);
    MN_FAIL_IF(c.bad, err, MNW_E_FORMAT,
               "the file ends early: %zu bytes do not hold the weights its header announces "
               "(dim %" PRIu64 ", %" PRIu64 " layers, %" PRIu64 " tokens)", file.n, m->D, m->L,
               m->V);
    MN_FAIL_IF(mn_cursor_left(&c) > 0, err, MNW_E_FORMAT,
               "%" PRIu64 " bytes more than the header announces (%zu instead of %" PRIu64 ")",
               mn_cursor_left(&c), file.n, mn_cursor_offset(&c));
    return MNW_OK;
}

/* llama2.c prints BOS and EOS on lines of their own and spaces as themselves: undo both. */
static mnw_status read_token(mn_cursor *c, uint64_t id, vocabulary *v, mn_pages *mem, mn_err *err)
{
    const uint64_t at = mn_cursor_offset(c);
    v->score[id] = mn_cursor_f32(c);
    const uint32_t n = mn_cursor_u32(c);
    MN_FAIL_IF(n > MAX_TEXT, err, MNW_E_LIMIT,
               "token %" PRIu64 " at offset %" PRIu64 ": %" PRIu32 " bytes, at most %d", id, at, n,
               MAX_TEXT);
    mn_str s = mn_cursor_text(c, n);
    MN_FAIL_IF(c->bad, err, MNW_E_FORMAT, "token %" PRIu64 " at offset %" PRIu64
               ": the file ends early", id, at);
    MN_FAIL_IF(v->score[id] - v->score[id] != 0.0f, err, MNW_E_FORMAT,
               "token %" PRIu64 " at offset %" PRIu64 ": its score is not finite", id, at);

    enum { NORMAL = 1, UNKNOWN = 2, CONTROL = 3, BYTE = 6 };
    v->type[id] = NORMAL;
    if (id == 0) v->type[id] = UNKNOWN;
    if (id == 1 || id == 2) {
        v->type[id] = CONTROL;
        if (s.n > 2 && s.p[0] == '\n' && s.p[s.n - 1] == '\n') s = (mn_str){ s.p + 1, s.n - 2 };
    } else if (s.n == 6 && mn_str_starts(s, mn_str_of("<0x")) && s.p[5] == '>') {
        v->type[id] = BYTE;
    }

    char *out = mn_pages_push(mem, WORD_MARK * s.n + 1, 1);
    MN_FAIL_IF(!out, err, MNW_E_NOMEM, "no memory for token %" PRIu64, id);
    size_t len = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == ' ') {
            memcpy(out + len, "\xE2\x96\x81", WORD_MARK);
            len += WORD_MARK;
        } else {
            out[len++] = s.p[i];
        }
    }
    v->text[id] = (mn_str){ out, len };
    return MNW_OK;
}

static mnw_status read_vocabulary(mn_bytes file, uint64_t V, vocabulary *v, mn_pages *mem,
                                  mn_err *err)
{
    mn_cursor c = mn_cursor_of(file);
    mn_cursor_u32(&c);   // the longest token's length
    MN_FAIL_IF(c.bad || V > mn_cursor_left(&c) / 8, err, MNW_E_FORMAT,
               "%zu bytes cannot hold the %" PRIu64 " tokens of the model", file.n, V);
    v->text = mn_pages_push(mem, (size_t)V, sizeof *v->text);
    v->score = mn_pages_push(mem, (size_t)V, sizeof *v->score);
    v->type = mn_pages_push(mem, (size_t)V, sizeof *v->type);
    MN_FAIL_IF(!v->text || !v->score || !v->type, err, MNW_E_NOMEM,
               "no memory for %" PRIu64 " tokens", V);
    for (uint64_t id = 0; id < V; id++) MN_TRY(read_token(&c, id, v, mem, err));
    MN_FAIL_IF(mn_cursor_left(&c) > 0, err, MNW_E_FORMAT,
               "%" PRIu64 " bytes after the last of %" PRIu64
               " tokens (is this another model's tokenizer?)", mn_cursor_left(&c), V);
    return MNW_OK;
}

static void describe(mn_gguf_writer *w, const checkpoint *m, const vocabulary *v)
{
    mn_gguf_set_str(w, "general.architecture", mn_str_of("llama"));
    mn_gguf_set_u32(w, "general.file_type", 0);   // all F32
    mn_gguf_set_u32(w, "llama.context_length", (uint32_t)m->seq);
    mn_gguf_set_u32(w, "llama.embedding_length", (uint32_t)m->D);
    mn_gguf_set_u32(w, "llama.block_count", (uint32_t)m->L);
    mn_gguf_set_u32(w, "llama.feed_forward_length", (uint32_t)m->F);
    mn_gguf_set_u32(w, "llama.attention.head_count", (uint32_t)m->H);
    mn_gguf_set_u32(w, "llama.attention.head_count_kv", (uint32_t)m->K);
    mn_gguf_set_f32(w, "llama.attention.layer_norm_rms_epsilon", 1e-5f);
    mn_gguf_set_u32(w, "llama.rope.dimension_count", (uint32_t)m->P);
    mn_gguf_set_f32(w, "llama.rope.freq_base", 10000.0f);
    mn_gguf_set_u32(w, "llama.vocab_size", (uint32_t)m->V);

    mn_gguf_set_str(w, "tokenizer.ggml.model", mn_str_of("llama"));
    mn_gguf_set_str(w, "tokenizer.ggml.pre", mn_str_of("default"));
    mn_gguf_set_array(w, "tokenizer.ggml.tokens", MN_META_STR, v->text, m->V);
    mn_gguf_set_array(w, "tokenizer.ggml.scores", MN_META_F32, v->score, m->V);
    mn_gguf_set_array(w, "tokenizer.ggml.token_type", MN_META_I32, v->type, m->V);
    mn_gguf_set_u32(w, "tokenizer.ggml.unknown_token_id", 0);
    mn_gguf_set_u32(w, "tokenizer.ggml.bos_token_id", 1);
    mn_gguf_set_u32(w, "tokenizer.ggml.eos_token_id", 2);
    mn_gguf_set_bool(w, "tokenizer.ggml.add_bos_token", true);
    mn_gguf_set_bool(w, "tokenizer.ggml.add_eos_token", false);
    mn_gguf_set_bool(w, "tokenizer.ggml.add_space_prefix", true);
}

/* One list, walked twice: to declare the tensors and to write them. */
typedef mnw_status tensor_fn(mn_gguf_writer *w, mn_str name, const uint8_t *data, uint64_t rows,
                             uint64_t cols, mn_err *err);

static mnw_status declare(mn_gguf_writer *w, mn_str name, const uint8_t *data, uint64_t rows,
                          uint64_t cols, mn_err *err)
{
    const uint64_t dim[2] = { cols, rows };
    mn_gguf_declare(w, name, mn_dtype_from_id(MN_F32), rows == 1 ? 1 : 2, dim);
    return MNW_OK;
}

static mnw_status put(mn_gguf_writer *w, mn_str name, const uint8_t *data, uint64_t rows,
                      uint64_t cols, mn_err *err)
{
    return mn_gguf_put(w, data, (size_t)(rows * cols * 4), err);
}

/* In bytes of the checkpoint, as layers go by. */
static mnw_status progress(const job *j, uint64_t layer, mn_err *err)
{
    const uint64_t total = j->model_file.bytes.n;
    return mn_progress(j->ctx, err, "convert", layer < j->m.L ? total / j->m.L * layer : total, total);
}

static mnw_status each_tensor(job *j, tensor_fn *fn, mn_err *err)
{
    const checkpoint *m = &j->m;
    mn_gguf_writer   *w = &j->out;
    const uint64_t    D = m->D, F = m->F, KP = m->K * m->P;
    const struct {
        const char    *name;
        const uint8_t *data;   // [L, rows, cols]
        uint64_t       rows, cols;
    } layer[] = {
        { "attn_norm", m->rms_att, 1, D }, { "attn_q", m->wq, D, D },
        { "attn_k", m->wk, KP, D },        { "attn_v", m->wv, KP, D },
        { "attn_output", m->wo, D, D },    { "ffn_norm", m->rms_ffn, 1, D },
        { "ffn_gate", m->w1, F, D },       { "ffn_up", m->w3, F, D },
        { "ffn_down", m->w2, D, F },
    };
    MN_TRY(fn(w, mn_str_of("token_embd.weight"), m->tok_emb, m->V, D, err));
    for (uint64_t l = 0; l < m->L; l++) {
        if (fn == put) MN_TRY(progress(j, l, err));
        for (size_t i = 0; i < sizeof layer / sizeof *layer; i++) {
            char   text[64];
            mn_out o = { .buf = text, .cap = sizeof text };
            mn_out_fmt(&o, "blk.%" PRIu64 ".%s.weight", l, layer[i].name);
            MN_TRY(fn(w, (mn_str){ text, o.len },
                      layer[i].data + l * layer[i].rows * layer[i].cols * 4, layer[i].rows,
                      layer[i].cols, err));
        }
    }
    MN_TRY(fn(w, mn_str_of("output_norm.weight"), m->rms_final, 1, D, err));
    if (!m->tied) MN_TRY(fn(w, mn_str_of("output.weight"), m->wcls, m->V, D, err));
    return MNW_OK;
}

static mnw_status prefixed(mnw_status st, const char *path, mn_err *err)
{
    if (st != MNW_OK) mn_err_prefix(err, "%s", path);
    return st;
}

static mnw_status convert(job *j, const char *model_path, const char *tokenizer_path,
                          const char *out_path, mn_err *err)
{
    MN_TRY(mn_os_map(model_path, false, j->mem.mem, &j->model_file, err));
    MN_TRY(prefixed(read_checkpoint(j->model_file.bytes, &j->m, err), model_path, err));
    MN_TRY(mn_os_map(tokenizer_path, false, j->mem.mem, &j->tokenizer_file, err));
    MN_TRY(prefixed(read_vocabulary(j->tokenizer_file.bytes, j->m.V, &j->v, &j->mem, err),
                    tokenizer_path, err));
    describe(&j->out, &j->m, &j->v);
    MN_TRY(each_tensor(j, declare, err));
    MN_TRY(mn_gguf_begin(&j->out, out_path, err));
    MN_TRY(each_tensor(j, put, err));
    MN_TRY(mn_gguf_finish(&j->out, err));
    return progress(j, j->m.L, err);
}

mnw_status mnw_convert_llama2c(mnw_ctx *ctx, const char *model_path, const char *tokenizer_path,
                               const char *out_path)
{
    if (!ctx) return MNW_E_ARG;
    mn_err_clear(&ctx->err);
    MN_FAIL_IF(!model_path || !tokenizer_path || !out_path, &ctx->err, MNW_E_ARG,
               "mnw_convert_llama2c: a path is NULL");
    job j = { .ctx = ctx };
    mn_pages_init(&j.mem, &ctx->mem);
    mn_gguf_init(&j.out, &ctx->mem);
    const mnw_status st = convert(&j, model_path, tokenizer_path, out_path, &ctx->err);
    mn_gguf_done(&j.out);
    mn_pages_done(&j.mem);
    mn_os_unmap(&j.tokenizer_file);
    mn_os_unmap(&j.model_file);
    return st;
}
