/* SPDX-License-Identifier: Apache-2.0
 *
 * A checkpoint of llama2.c, made here number by number, becomes a GGUF file with every tensor and
 * token in its place.
 */
#include "gguf_bytes.h"
#include "tmpdir.h"

#include <minnow/convert.h>

#include "base/cursor.h"

enum { D = 8, F = 12, L = 2, H = 2, K = 1, P = 4, V = 6, SEQ = 16 };

static mnw_ctx *ctx;

static void add_f32(blob *b, float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    blob_int(b, u, 4);
}

/* n floats, each one larger than the one before by 1: a value tells where it was. */
static float add_floats(blob *b, float first, size_t n)
{
    for (size_t i = 0; i < n; i++) add_f32(b, first + (float)i);
    return first + (float)n;
}

static void make_checkpoint(blob *b, bool tied)
{
    const int32_t header[7] = { D, F, L, H, K, tied ? V : -V, SEQ };
    b->n = 0;
    for (int i = 0; i < 7; i++) blob_int(b, (uint64_t)(int64_t)header[i], 4);
    float at = add_floats(b, 0, V * D);                                    // tok_emb
    at = add_floats(b, at, L * D);                                         // rms_att
    at = add_floats(b, at, L * D * D);                                     // wq
    at = add_floats(b, at, L * K * P * D);                                 // wk
    at = add_floats(b, at, L * K * P * D);                                 // wv
    at = add_floats(b, at, L * D * D);                                     // wo
    at = add_floats(b, at, L * D);                                         // rms_ffn
    at = add_floats(b, at, L * F * D);                                     // w1
    at = add_floats(b, at, L * D * F);                                     // w2
    at = add_floats(b, at, L * F * D);                                     // w3
    at = add_floats(b, at, D);                                             // rms_final
    at = add_floats(b, at, SEQ * P);                                       // cos, sin
    if (!tied) add_floats(b, at, V * D);                                   // wcls
}

static void add_token(blob *b, float score, const char *text)
{
    add_f32(b, score);
    blob_int(b, strlen(text), 4);
    blob_add(b, text, strlen(text));
}

static void make_tokenizer(blob *b)
{
    b->n = 0;
    blob_int(b, 6, 4);
    add_token(b, 0, "<unk>");
    add_token(b, 0, "\n<s>\n");
    add_token(b, 0, "\n</s>\n");
    add_token(b, 0, "<0x0A>");
    add_token(b, -1.5f, " a b");
    add_token(b, -2.5f, "\xE4\xB8\xAD");
}

static mnw_status convert(const blob *model, const blob *tokenizer)
{
    tmp_write(tmp_path("m.bin"), model->p, model->n);
    tmp_write(tmp_path("t.bin"), tokenizer->p, tokenizer->n);
    return mnw_convert_llama2c(ctx, tmp_path("m.bin"), tmp_path("t.bin"), tmp_path("out.gguf"));
}

/* The file converted last. */
static void load(opened *o)
{
    blob b = { 0 };
    b.p = tmp_read(tmp_path("out.gguf"), &b.n);
    YES(b.p != NULL);
    open_blob(o, &b);
    OK(o->st);
    free(b.p);
}

static void has_tensor(const opened *o, const char *name, uint64_t rows, uint64_t cols, float first)
{
    const mn_tensor *t = mn_tensor_find(&o->c, mn_str_of(name));
    if (!t) fail_msg("%s is missing", name);
    EQ(t->type->id, MN_F32);
    EQ(t->n_dims, rows == 1 ? 1 : 2);
    EQ(t->dim[0], cols);
    EQ(t->dim[1], rows);
    const float last = first + (float)(rows * cols - 1);
    if (mn_load_f32(t->data) != first || mn_load_f32(t->data + t->bytes - 4) != last) {
        fail_msg("%s starts with %g and ends with %g, expected %g and %g", name,
                 (double)mn_load_f32(t->data), (double)mn_load_f32(t->data + t->bytes - 4),
                 (double)first, (double)last);
    }
}

TEST(every_tensor_lands_in_its_place)
{
    blob   m = { 0 }, t = { 0 };
    opened o;
    make_tokenizer(&t);
    for (int tied = 0; tied < 2; tied++) {
        make_checkpoint(&m, tied);
        OK(convert(&m, &t));
        load(&o);
        EQ(o.c.n_tensors, 1 + 9 * L + 1 + !tied);
        const float rms_att = V * D, wq = rms_att + L * D, wk = wq + L * D * D, wv = wk + L * P * D,
                    wo = wv + L * P * D, rms_ffn = wo + L * D * D, w1 = rms_ffn + L * D,
                    w2 = w1 + L * F * D, w3 = w2 + L * F * D, final = w3 + L * F * D;
        has_tensor(&o, "token_embd.weight", V, D, 0);
        for (int l = 0; l < L; l++) {
            const struct {
                const char *name;
                uint64_t    rows, cols;
                float       first;
            } layer[] = { { "attn_norm", 1, D, rms_att }, { "attn_q", D, D, wq },
                          { "attn_k", P, D, wk },         { "attn_v", P, D, wv },
                          { "attn_output", D, D, wo },    { "ffn_norm", 1, D, rms_ffn },
                          { "ffn_gate", F, D, w1 },       { "ffn_down", D, F, w2 },
                          { "ffn_up", F, D, w3 } };
            for (size_t i = 0; i < LEN(layer); i++) {
                char name[64];
                snprintf(name, sizeof name, "blk.%d.%s.weight", l, layer[i].name);
                has_tensor(&o, name, layer[i].rows, layer[i].cols,
                           layer[i].first + (float)(l * layer[i].rows * layer[i].cols));
            }
        }
        has_tensor(&o, "output_norm.weight", 1, D, final);
        if (tied) YES(!mn_tensor_find(&o.c, mn_str_of("output.weight")));
        else has_tensor(&o, "output.weight", V, D, final + D + SEQ * P);
        close_blob(&o);
        tmp_files(1);
    }
    free(m.p);
    free(t.p);
}

TEST(the_shape_is_told_in_the_words_of_llama)
{
    static const struct {
        const char *key;
        uint64_t    value;
    } INTS[] = { { "llama.context_length", SEQ }, { "llama.embedding_length", D },
                 { "llama.block_count", L }, { "llama.feed_forward_length", F },
                 { "llama.attention.head_count", H }, { "llama.attention.head_count_kv", K },
                 { "llama.rope.dimension_count", P }, { "llama.vocab_size", V },
                 { "tokenizer.ggml.bos_token_id", 1 }, { "tokenizer.ggml.eos_token_id", 2 },
                 { "tokenizer.ggml.unknown_token_id", 0 }, { "general.file_type", 0 } };
    blob   m = { 0 }, t = { 0 };
    opened o;
    make_checkpoint(&m, true);
    make_tokenizer(&t);
    OK(convert(&m, &t));
    load(&o);
    for (size_t i = 0; i < LEN(INTS); i++) {
        uint64_t v;
        OK(mn_meta_u64(&o.c, INTS[i].key, UINT64_MAX, 999, &v, &o.err));
        EQ(v, INTS[i].value);
    }
    double d;
    bool   flag;
    OK(mn_meta_f64(&o.c, "llama.attention.layer_norm_rms_epsilon", 0, &d, &o.err));
    YES(d == (double)1e-5f);
    OK(mn_meta_f64(&o.c, "llama.rope.freq_base", 0, &d, &o.err));
    YES(d == 10000.0);
    OK(mn_meta_bool(&o.c, "tokenizer.ggml.add_bos_token", false, &flag, &o.err));
    YES(flag);
    OK(mn_meta_bool(&o.c, "tokenizer.ggml.add_eos_token", true, &flag, &o.err));
    NO(flag);
    close_blob(&o);
    tmp_files(1);
    free(m.p);
    free(t.p);
}

TEST(tokens_take_their_sentencepiece_form)
{
    static const char *const TEXT[V] = { "<unk>", "<s>", "</s>", "<0x0A>",
                                         "\xE2\x96\x81" "a\xE2\x96\x81" "b", "\xE4\xB8\xAD" };
    static const int         TYPE[V] = { 2, 3, 3, 6, 1, 1 };
    static const float       SCORE[V] = { 0, 0, 0, 0, -1.5f, -2.5f };
    blob   m = { 0 }, t = { 0 };
    opened o;
    make_checkpoint(&m, true);
    make_tokenizer(&t);
    OK(convert(&m, &t));
    load(&o);
    const mn_meta_item *text, *type, *score;
    OK(mn_meta_strings(&o.c, "tokenizer.ggml.tokens", &text, &o.err));
    OK(mn_meta_ints(&o.c, "tokenizer.ggml.token_type", &type, &o.err));
    OK(mn_meta_floats(&o.c, "tokenizer.ggml.scores", &score, &o.err));
    EQ(text->count, V);
    const uint8_t *at = text->data;
    for (int i = 0; i < V; i++) {
        YES(mn_str_is(mn_meta_next_str(text, &at), TEXT[i]));
        EQ(mn_meta_int_at(type, (uint64_t)i), TYPE[i]);
        YES(mn_meta_float_at(score, (uint64_t)i) == (double)SCORE[i]);
    }
    close_blob(&o);
    tmp_files(1);
    free(m.p);
    free(t.p);
}

static void fails(const blob *m, const blob *t, mnw_status st, const char *part, const char *other)
{
    EQ(convert(m, t), st);
    HAS(mnw_ctx_error(ctx), part);
    HAS(mnw_ctx_error(ctx), other);
    NO(access(tmp_path("out.gguf"), F_OK) == 0);
    EQ(tmp_files(1), 2);
}

TEST(a_checkpoint_that_is_not_as_its_header_says_is_refused)
{
    blob m = { 0 }, t = { 0 };
    make_tokenizer(&t);
    make_checkpoint(&m, true);
    m.n--;
    fails(&m, &t, MNW_E_FORMAT, "m.bin: the file ends early", "dim 8, 2 layers, 6 tokens");
    m.n = 20;
    fails(&m, &t, MNW_E_FORMAT, "m.bin", "header has 28");
    make_checkpoint(&m, true);
    blob_int(&m, 0, 1);
    fails(&m, &t, MNW_E_FORMAT, "m.bin: 1 bytes more than", "");
    make_checkpoint(&m, true);
    memcpy(m.p, "24ka", 4);
    fails(&m, &t, MNW_E_UNSUPPORTED, "version 1 or later", "expected version 0");

    static const struct {
        size_t      field;
        int32_t     value;
        mnw_status  st;
        const char *part;
    } BAD[] = { { 0, 0, MNW_E_FORMAT, "dim: 0" },         { 0, -8, MNW_E_FORMAT, "dim: -8" },
                { 1, 0, MNW_E_FORMAT, "hidden_dim: 0" },  { 2, 513, MNW_E_LIMIT, "n_layers: 513" },
                { 3, 0, MNW_E_FORMAT, "n_heads: 0" },     { 3, 8, MNW_E_FORMAT, "even width" },
                { 3, 3, MNW_E_FORMAT, "even width" },     { 4, 3, MNW_E_FORMAT, "equal groups" },
                { 5, INT32_MIN, MNW_E_LIMIT, "vocab_size: 2147483648" },
                { 5, 0, MNW_E_FORMAT, "vocab_size: 0" },
                { 6, 1 << 21, MNW_E_LIMIT, "seq_len: 2097152" } };
    for (size_t i = 0; i < LEN(BAD); i++) {
        make_checkpoint(&m, true);
        mn_store_u32(m.p + 4 * BAD[i].field, (uint32_t)BAD[i].value);
        fails(&m, &t, BAD[i].st, "m.bin", BAD[i].part);
    }
    free(m.p);
    free(t.p);
}

TEST(a_tokenizer_of_another_model_is_refused)
{
    blob m = { 0 }, t = { 0 };
    make_checkpoint(&m, true);
    make_tokenizer(&t);
    t.n--;
    fails(&m, &t, MNW_E_FORMAT, "t.bin: token 5", "ends early");
    t.n = 40;
    fails(&m, &t, MNW_E_FORMAT, "t.bin", "cannot hold the 6 tokens");
    make_tokenizer(&t);
    add_token(&t, 0, "more");
    fails(&m, &t, MNW_E_FORMAT, "t.bin: 12 bytes after the last of 6 tokens", "another model");
    make_tokenizer(&t);
    mn_store_u32(t.p + 8, 1025);
    fails(&m, &t, MNW_E_LIMIT, "t.bin: token 0 at offset 4: 1025 bytes", "at most 1024");
    make_tokenizer(&t);
    mn_store_u32(t.p + 4, 0x7FC00000);
    fails(&m, &t, MNW_E_FORMAT, "t.bin: token 0", "score is not finite");
    free(m.p);
    free(t.p);
}

TEST(a_file_that_is_not_there_is_named)
{
    EQ(mnw_convert_llama2c(ctx, tmp_path("no.bin"), tmp_path("t.bin"), tmp_path("out.gguf")),
       MNW_E_NOENT);
    HAS(mnw_ctx_error(ctx), "no.bin");
    EQ(mnw_convert_llama2c(ctx, NULL, "t", "o"), MNW_E_ARG);
    EQ(mnw_convert_llama2c(NULL, "m", "t", "o"), MNW_E_ARG);
}

static bool stop_at_layer_1(void *user, const char *what, uint64_t done, uint64_t total)
{
    *(int *)user += 1;
    YES(total > L && done <= total);   // bytes
    return done < 1;
}

TEST(a_cancelled_conversion_leaves_no_file)
{
    blob     m = { 0 }, t = { 0 };
    int      calls = 0;
    mnw_ctx *old = ctx;
    make_checkpoint(&m, true);
    make_tokenizer(&t);
    OK(mnw_ctx_open(&(mnw_ctx_opts){ .threads = 1, .progress = stop_at_layer_1,
                                     .progress_user = &calls }, &ctx));
    const size_t before = mnw_ctx_memory(ctx, NULL);
    fails(&m, &t, MNW_E_CANCELLED, "", "");
    EQ(calls, 2);
    EQ(mnw_ctx_memory(ctx, NULL), before);
    mnw_ctx_close(ctx);
    ctx = old;
    free(m.p);
    free(t.p);
}

int main(void)
{
    tmp_open();
    if (mnw_ctx_open(&(mnw_ctx_opts){ .threads = 1 }, &ctx) != MNW_OK) return 1;
    const int failed = RUN(T(every_tensor_lands_in_its_place),
                           T(the_shape_is_told_in_the_words_of_llama),
                           T(tokens_take_their_sentencepiece_form),
                           T(a_checkpoint_that_is_not_as_its_header_says_is_refused),
                           T(a_tokenizer_of_another_model_is_refused),
                           T(a_file_that_is_not_there_is_named),
                           T(a_cancelled_conversion_leaves_no_file));
    mnw_ctx_close(ctx);
    tmp_close();
    return failed;
}
