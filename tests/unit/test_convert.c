/* SPDX-License-Identifier: Apache-2.0
 *
 * What a configuration may say and what is refused, rows that change places and come back, values that do
 * not fit, a SentencePiece vocabulary in both forms, and conversions that stop half-way.
 */
#include "lab.h"
#include "tmpdir.h"

#include <math.h>

#include "convert/hf_config.h"
#include "convert/tok_out.h"
#include "convert/transfer.h"
#include "format/gguf.h"
#include "kernel/quantize.h"

static mnw_ctx *ctx;

/* The numbers of a small model; `more` follows with its comma. */
static mnw_status read_config(const char *type, const char *more, mn_hf_config *h, mn_err *err)
{
    char text[2048];
    snprintf(text, sizeof text,
             "{\"model_type\":\"%s\",\"hidden_size\":64,\"intermediate_size\":128,\"num_hidden_layers\":3,"
             "\"num_attention_heads\":4,\"vocab_size\":300,\"max_position_embeddings\":512%s}", type, more);
    mn_err_clear(err);
    return mn_hf_config_read((mn_bytes){ (const uint8_t *)text, strlen(text) }, (mn_bytes){ NULL, 0 }, h,
                             err);
}

TEST(a_configuration_has_defaults)
{
    mn_hf_config h;
    mn_err       err = { 0 };
    OK(read_config("llama", "", &h, &err));
    EQ_STR(h.c.arch->name, "llama");
    EQ(h.c.K, 4);
    EQ(h.c.P, 16);
    EQ(h.c.L, 3);
    NO(h.tied);
    NEAR(h.c.rope.theta, 10000.0, 0);
    NEAR(h.c.eps, 1e-6, 1e-12);
    EQ_STR(h.rope.scaling, "none");
    EQ(h.n_eos, 0);
    EQ(h.bos, -1);
    YES(isnan(h.temp));
}

TEST(a_configuration_is_read_in_its_older_and_newer_form)
{
    mn_hf_config h;
    mn_err       err = { 0 };
    OK(read_config("qwen3", ",\"rope_theta\":5e5,\"rope_scaling\":{\"type\":\"linear\",\"factor\":4},"
                            "\"head_dim\":32,\"num_key_value_heads\":2,\"tie_word_embeddings\":true,"
                            "\"eos_token_id\":[7,8,7],\"bos_token_id\":3,\"pad_token_id\":null", &h, &err));
    NEAR(h.c.rope.theta, 5e5, 0);
    EQ_STR(h.rope.scaling, "linear");
    NEAR(h.rope.factor, 4, 0);
    EQ(h.c.P, 32);
    EQ(h.c.K, 2);
    YES(h.tied);
    EQ(h.n_eos, 2);
    EQ(h.eos[1], 8);
    EQ(h.bos, 3);
    EQ(h.pad, -1);
    OK(read_config("llama", ",\"rope_parameters\":{\"rope_type\":\"yarn\",\"rope_theta\":5e5,\"factor\":4,"
                            "\"original_max_position_embeddings\":128,\"attention_factor\":2}", &h, &err));
    NEAR(h.c.rope.theta, 5e5, 0);
    NEAR(h.rope.original, 128, 0);
    NEAR(h.rope.attention, 2 / (1 + 0.1 * log(4)), 1e-12);
}

TEST(what_changes_the_arithmetic_is_refused_by_name)
{
    static const struct {
        const char *type, *more, *text;
        mnw_status  st;
    } CASES[] = {
        { "gpt_neox", "", "model_type: \"gpt_neox\", minnow converts llama, mistral", MNW_E_UNSUPPORTED },
        { "qwen3", ",\"architectures\":[\"Qwen3ForSequenceClassification\"]",
          "architectures: \"Qwen3ForSequenceClassification\", expected \"Qwen3ForCausalLM\"",
          MNW_E_UNSUPPORTED },
        { "llama", ",\"quantization_config\":{\"bits\":4}", "quantization_config", MNW_E_UNSUPPORTED },
        { "llama", ",\"num_local_experts\":8", "num_local_experts", MNW_E_UNSUPPORTED },
        { "llama", ",\"hidden_act\":\"gelu\"", "hidden_act: \"gelu\"", MNW_E_UNSUPPORTED },
        { "mistral", ",\"sliding_window\":4096", "sliding_window", MNW_E_UNSUPPORTED },
        { "qwen2", ",\"sliding_window\":4096,\"use_sliding_window\":true", "sliding_window",
          MNW_E_UNSUPPORTED },
        { "qwen2", ",\"layer_types\":[\"full_attention\",\"sliding_attention\"]", "layer_types",
          MNW_E_UNSUPPORTED },
        { "llama", ",\"partial_rotary_factor\":0.5", "partial_rotary_factor: 0.5", MNW_E_UNSUPPORTED },
        { "llama", ",\"rope_scaling\":{\"type\":\"dynamic\",\"factor\":2}", "type \"dynamic\"",
          MNW_E_UNSUPPORTED },
        { "llama", ",\"rope_scaling\":{\"type\":\"linear\"}", "rope_scaling: factor: missing", MNW_E_FORMAT },
        { "llama", ",\"rope_scaling\":{\"type\":\"linear\",\"factor\":0.5}", "factor: 0.5, expected 1 to",
          MNW_E_FORMAT },
        { "llama", ",\"rope_scaling\":{\"type\":\"llama3\",\"factor\":8,\"low_freq_factor\":4}",
          "expected less than high_freq_factor", MNW_E_FORMAT },
        { "llama", ",\"rope_scaling\":{\"type\":\"yarn\",\"factor\":8,\"mscale\":1}", "mscale",
          MNW_E_UNSUPPORTED },
        { "llama", ",\"head_dim\":12", "heads of 12 values", MNW_E_UNSUPPORTED },
        { "llama", ",\"num_key_value_heads\":3", "expected a multiple of num_key_value_heads", MNW_E_FORMAT },
        { "llama", ",\"rms_norm_eps\":0.5", "rms_norm_eps: 0.5", MNW_E_FORMAT },
        { "llama", ",\"rope_theta\":\"x\"", "rope_theta: not a number", MNW_E_FORMAT },
        { "llama", ",", "config.json: line 1", MNW_E_FORMAT },
    };
    mn_hf_config h;
    mn_err       err = { 0 };
    for (size_t i = 0; i < LEN(CASES); i++) {
        const mnw_status st = read_config(CASES[i].type, CASES[i].more, &h, &err);
        if (st != CASES[i].st || !strstr(err.text, CASES[i].text)) {
            fail_msg("%s: %d \"%s\", expected %d \"%s\"", CASES[i].more, st, err.text, CASES[i].st,
                     CASES[i].text);
        }
    }
    OK(read_config("qwen2", ",\"sliding_window\":4096,\"use_sliding_window\":false,\"hidden_act\":\"silu\","
                            "\"layer_types\":[\"full_attention\"],\"quantization_config\":null", &h, &err));
    OK(read_config("mistral", ",\"sliding_window\":null", &h, &err));
    static const char MISSING[] = "{\"model_type\":\"llama\"}";
    EQ(mn_hf_config_read((mn_bytes){ (const uint8_t *)MISSING, strlen(MISSING) }, (mn_bytes){ NULL, 0 }, &h,
                         &err), MNW_E_FORMAT);
    HAS(err.text, "num_hidden_layers: missing");
}

/* Where a transfer puts its bytes. */
typedef struct sink {
    uint8_t p[8192];
    size_t  n;
} sink;

static mnw_status put(void *user, const void *p, size_t n, mn_err *err)
{
    sink *s = user;
    assert_true(n <= sizeof s->p - s->n);
    memcpy(s->p + s->n, p, n);
    s->n += n;
    return MNW_OK;
}

static mn_tensor tensor(const void *data, mn_dtype_id id, uint64_t rows, uint64_t cols)
{
    mn_tensor t = { .name = mn_str_of("w"), .type = mn_dtype_from_id(id), .n_dims = rows > 1 ? 2 : 1,
                    .dim = { cols, rows, 1, 1 }, .data = data };
    YES(mn_dtype_bytes(t.type, rows * cols, &t.bytes));
    return t;
}

static mnw_status move(const mn_tensor *from, mn_dtype_id id, mn_move how, uint32_t heads, sink *out,
                       mn_err *err)
{
    mn_mover    m;
    mn_transfer t = { .from = from, .to = *from, .move = how, .heads = heads };
    t.to.type = mn_dtype_of(id);
    out->n = 0;
    mn_err_clear(err);
    OK(mn_mover_init(&m, ctx, put, out, err));
    const mnw_status st = mn_mover_run(&m, &t, err);
    if (st == MNW_OK) EQ(out->n, mn_transfer_bytes(&t));
    mn_mover_done(&m);
    return st;
}

TEST(rows_in_pairs_lie_together_and_go_back)
{
    enum { HEADS = 2, P = 8, COLS = 3 };
    static const int ORDER[P] = { 0, 4, 1, 5, 2, 6, 3, 7 };
    uint16_t         w[HEADS * P * COLS];
    sink             a, b;
    mn_err           err = { 0 };
    for (size_t i = 0; i < LEN(w); i++) w[i] = (uint16_t)i;
    const mn_tensor t = tensor(w, MN_BF16, HEADS * P, COLS);
    OK(move(&t, MN_BF16, MN_MOVE_TO_PAIRS, HEADS, &a, &err));
    for (int r = 0; r < HEADS * P; r++) {
        EQ_MEM(a.p + 2 * COLS * r, &w[COLS * (r / P * P + ORDER[r % P])], 2 * COLS);
    }
    const mn_tensor u = tensor(a.p, MN_BF16, HEADS * P, COLS);
    OK(move(&u, MN_BF16, MN_MOVE_TO_HALVES, HEADS, &b, &err));
    EQ_MEM(b.p, w, sizeof w);

    /* Biases go the way of their rows. */
    const mn_tensor bias = tensor(w, MN_BF16, 1, HEADS * P);
    OK(move(&bias, MN_BF16, MN_MOVE_TO_PAIRS, HEADS, &a, &err));
    for (int r = 0; r < HEADS * P; r++) EQ_MEM(a.p + 2 * r, &w[r / P * P + ORDER[r % P]], 2);
    EQ(a.n, sizeof(uint16_t) * HEADS * P);
}

TEST(a_value_that_f16_cannot_hold_is_refused)
{
    const float     w[3] = { 65519.0f, -1.0f, 0.1f }, big[2] = { 1.0f, -65520.0f }, odd[1] = { INFINITY };
    const mn_tensor t = tensor(w, MN_F32, 1, 3), u = tensor(big, MN_F32, 1, 2), v = tensor(odd, MN_F32, 1, 1);
    sink            out;
    mn_err          err = { 0 };
    OK(move(&t, MN_F16, MN_MOVE_PLAIN, 1, &out, &err));
    EQ(out.p[1], 0x7B);
    EQ(move(&u, MN_F16, MN_MOVE_PLAIN, 1, &out, &err), MNW_E_UNSUPPORTED);
    HAS(err.text, "w: the value -65520 does not fit into f16");
    OK(move(&u, MN_BF16, MN_MOVE_PLAIN, 1, &out, &err));
    OK(move(&v, MN_F16, MN_MOVE_PLAIN, 1, &out, &err));   // it was no number before either
}

TEST(exactness_is_seen)
{
    const float       w[2] = { 1.0f, 1.0f + 0x1p-9f };
    const mn_tensor   a = tensor(w, MN_F32, 1, 1), b = tensor(w, MN_F32, 1, 2);
    const mn_transfer t = { .from = &a, .to = a }, u = { .from = &b, .to = b };
    YES(mn_transfer_exact(&t, MN_BF16));
    NO(mn_transfer_exact(&u, MN_BF16));
    YES(mn_transfer_exact(&u, MN_F16));
    YES(mn_transfer_exact(&u, MN_F32));
}

TEST(quantised_types_are_those_of_the_quantisers)
{
    enum { ROWS = 18, COLS = 64 };
    float            w[ROWS * COLS];
    uint8_t          expected[8192];
    static sink      out;
    mn_err           err = { 0 };
    uint64_t         bytes;
    for (size_t i = 0; i < LEN(w); i++) w[i] = (float)((i * 7919) % 1001) / 500.0f - 1.0f;
    const mn_tensor t = tensor(w, MN_F32, ROWS, COLS);
    OK(move(&t, MN_Q8_0, MN_MOVE_PLAIN, 1, &out, &err));
    mn_quantize(expected, MN_Q8_0, w, LEN(w), NULL, NULL);
    EQ(out.n, LEN(w) / 32 * 34);
    EQ_MEM(out.p, expected, out.n);

    OK(move(&t, MN_Q4X, MN_MOVE_PLAIN, 1, &out, &err));
    YES(mn_q4x_bytes(ROWS, COLS, &bytes));
    EQ(out.n, bytes);
    memset(expected, 0, sizeof expected);
    for (size_t p = 0; p < mn_qx_panels(ROWS); p++)
        mn_q4x_quantize(expected, ROWS, COLS, p, w + 16 * COLS * p, COLS, NULL, NULL);
    EQ_MEM(out.p, expected, out.n);

    /* And back: what a row says is what it becomes. */
    mn_tensor x = t;
    float     row[COLS];
    static sink back;
    x.type = mn_dtype_of(MN_Q4X);
    x.data = expected;
    x.bytes = bytes;
    static sink f32;
    OK(move(&x, MN_BF16, MN_MOVE_PLAIN, 1, &back, &err));
    OK(move(&t, MN_BF16, MN_MOVE_PLAIN, 1, &f32, &err));
    EQ(back.n, f32.n);
    mn_q4x_row(row, expected, ROWS, COLS, 17);
    const uint16_t h = mn_f32_to_bf16(row[5]);
    EQ(back.p[2 * (17 * COLS + 5)], h & 255);

    w[40] = NAN;
    EQ(move(&t, MN_Q8_0, MN_MOVE_PLAIN, 1, &out, &err), MNW_E_FORMAT);
    HAS(err.text, "w: a value is not finite, which q8_0 cannot hold");
    EQ(move(&t, MN_Q4X, MN_MOVE_PLAIN, 1, &out, &err), MNW_E_FORMAT);
    HAS(err.text, "which q4x cannot hold");
}

static void count_fallbacks(void *user, mnw_warning w, const char *text)
{
    YES(w == MNW_WARNING_TYPE_FALLBACK && strstr(text, "rows of 16 values do not suit q8_0"));
    ++*(int *)user;
}

TEST(rows_that_are_no_whole_blocks_keep_their_type)
{
    const mnw_convert_opts o = { .size = sizeof o, .type = MNW_TYPE_Q8_0 };
    for (int strict = 0; strict <= 1; strict++) {
        int                warnings = 0;
        mnw_ctx           *c;
        const mnw_ctx_opts co = { .size = sizeof co, .threads = 1, .warn = count_fallbacks,
                                  .warn_user = &warnings, .strict = strict };
        OK(mnw_ctx_open(&co, &c));
        const mnw_status st = mnw_convert(c, TEST_DIR "/golden/hf/qwen3", tmp_path("q.gguf"), &o);
        EQ(st, strict ? MNW_E_STRICT : MNW_OK);
        EQ(warnings, strict ? 1 : 6);
        EQ(tmp_files(1), !strict);
        mnw_ctx_close(c);
    }
    const mnw_convert_opts folder = { .size = sizeof folder, .type = MNW_TYPE_Q8_0, .to = MNW_FORM_HF };
    EQ(mnw_convert(ctx, TEST_DIR "/golden/tiny/qwen3.gguf", tmp_path("f"), &folder), MNW_E_ARG);
    HAS(mnw_ctx_error(ctx), "a folder holds f32, f16 or bf16");
}

/* A vocabulary in the way of SentencePiece: marked spaces, bytes where nothing else fits. */
static char *spm_json(const char *merges)
{
    char  *text = malloc(1 << 15);
    size_t n = 0;
    n += (size_t)snprintf(text, 1 << 15,
                          "{\"added_tokens\":[{\"id\":0,\"content\":\"<unk>\",\"special\":true},"
                          "{\"id\":1,\"content\":\"<s>\",\"special\":true},"
                          "{\"id\":2,\"content\":\"</s>\",\"special\":true}],"
                          "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":["
                          "{\"type\":\"Prepend\",\"prepend\":\"\xE2\x96\x81\"},"
                          "{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"\xE2\x96\x81\"}]},"
                          "\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":["
                          "{\"SpecialToken\":{\"id\":\"<s>\",\"type_id\":0}},"
                          "{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}]},"
                          "\"model\":{\"type\":\"BPE\",\"unk_token\":\"<unk>\",\"fuse_unk\":true,"
                          "\"byte_fallback\":true,\"vocab\":{\"<unk>\":0,\"<s>\":1,\"</s>\":2");
    for (int b = 0; b < 256; b++) {
        n += (size_t)snprintf(text + n, (1 << 15) - n, ",\"<0x%02X>\":%d", b, 3 + b);
    }
    snprintf(text + n, (1 << 15) - n,
             ",\"\xE2\x96\x81\":259,\"a\":260,\"b\":261,\"c\":262,\"ab\":263,\"\xE2\x96\x81"
             "a\":264,\"\xE2\x96\x81"
             "ab\":265,\"bc\":266,\"abc\":267},\"merges\":[%s]}}", merges);
    return text;
}

#define MARK "\xE2\x96\x81"
static const char MERGES[] = "[\"a\",\"b\"],[\"" MARK "\",\"a\"],[\"" MARK "\",\"ab\"],[\"" MARK "a\",\"b\"],"
                             "[\"b\",\"c\"],[\"a\",\"bc\"],[\"ab\",\"c\"]";

static void encode(const mnw_tokenizer *tok, const char *text, int32_t ids[64], size_t *n)
{
    OK(mnw_tokenizer_encode(tok, text, strlen(text), MNW_ENCODE_BOS | MNW_ENCODE_SPECIAL, ids, 64, n));
}

static void same_ids(const mnw_tokenizer *a, const mnw_tokenizer *b)
{
    static const char *const TEXTS[] = { "ab", "abc", "a abc  b", "bcab", "x \xE4\xB8\xAD", "", "a<s>b" };
    for (size_t i = 0; i < LEN(TEXTS); i++) {
        int32_t x[64], y[64];
        size_t  n, m;
        encode(a, TEXTS[i], x, &n);
        encode(b, TEXTS[i], y, &m);
        EQ(n, m);
        EQ_MEM(x, y, n * sizeof *x);
    }
}

TEST(merges_become_scores_and_scores_merges)
{
    mn_pages       pages;
    mn_err         err = { 0 };
    mn_gguf_writer w;
    mn_content     c;
    mnw_tokenizer *json, *gguf, *again;
    mn_tok_json    j;
    char          *text = spm_json(MERGES);
    mn_pages_init(&pages, &ctx->mem);
    OK(mn_tokenizer_from_json(ctx, (mn_bytes){ (uint8_t *)text, strlen(text) }, (mn_bytes){ NULL, 0 }, &json,
                              &err));
    mn_gguf_init(&w, &ctx->mem);
    OK(mn_tok_to_gguf(json, 270, &pages, &w, &err));
    OK(mn_gguf_begin(&w, tmp_path("t.gguf"), &err));
    OK(mn_gguf_finish(&w, &err));
    mn_gguf_done(&w);
    size_t   n = 0;
    uint8_t *file = tmp_read(tmp_path("t.gguf"), &n);
    OK(mn_gguf_read((mn_bytes){ file, n }, &pages, &c, &err));
    OK(mn_tokenizer_from_content(ctx, &c, &gguf, &err));
    EQ_STR(mnw_tokenizer_kind(gguf), "spm");
    EQ(mnw_tokenizer_count(gguf), 270);
    YES(mn_tok_is_filler(gguf, 269));
    NO(mn_tok_is_filler(gguf, 267));
    same_ids(json, gguf);

    OK(mn_tok_json_init(&j, gguf, &pages, &err));
    EQ(j.n_merges, 7);
    mn_out o = { 0 };
    mn_tok_json_write(&o, &j);
    char *back = malloc(o.len);
    o = (mn_out){ .buf = back, .cap = o.len };
    mn_tok_json_write(&o, &j);
    if (mn_tokenizer_from_json(ctx, (mn_bytes){ (uint8_t *)back, o.len }, (mn_bytes){ NULL, 0 }, &again, &err))
        fail_msg("%s", err.text);
    EQ(mnw_tokenizer_count(again), 268);   // fillers are left out
    same_ids(json, again);
    mn_tokenizer_close(again);
    mn_tokenizer_close(gguf);
    mn_tokenizer_close(json);
    mn_pages_done(&pages);
    free(back);
    free(file);
    free(text);
    tmp_files(1);
}

TEST(an_order_of_merges_that_no_scores_give_is_refused)
{
    mn_pages       pages;
    mn_err         err = { 0 };
    mn_gguf_writer w;
    mnw_tokenizer *tok;
    char          *text = spm_json("[\"a\",\"b\"],[\"b\",\"c\"],[\"a\",\"bc\"],[\"" MARK "\",\"a\"],[\"ab\",\"c\"]");
    mn_pages_init(&pages, &ctx->mem);
    OK(mn_tokenizer_from_json(ctx, (mn_bytes){ (uint8_t *)text, strlen(text) }, (mn_bytes){ NULL, 0 }, &tok,
                              &err));
    mn_gguf_init(&w, &ctx->mem);
    EQ(mn_tok_to_gguf(tok, 270, &pages, &w, &err), MNW_E_UNSUPPORTED);
    HAS(err.text, "\"abc\" have others between them");
    mn_err_clear(&err);
    EQ(mn_tok_to_gguf(tok, 267, &pages, &w, &err), MNW_E_FORMAT);
    HAS(err.text, "268 tokens, expected at most the 267 rows");
    mn_gguf_done(&w);
    mn_tokenizer_close(tok);
    mn_pages_done(&pages);
    free(text);
}

static bool stop(void *user, const char *what, uint64_t done, uint64_t total)
{
    YES(done <= total);
    size_t *calls = user;
    return --*calls > 0;
}

static mnw_status convert_with(lab_memory *memory, size_t *calls, const char *in, const char *out, mnw_form to,
                               size_t *files)
{
    mnw_ctx           *c;
    const mnw_ctx_opts o = { .size = sizeof o, .threads = 1, .mem = lab_hook, .mem_user = memory,
                             .progress = calls ? stop : NULL, .progress_user = calls };
    mnw_status         st = mnw_ctx_open(&o, &c);
    *files = 0;
    if (st != MNW_OK) return st;
    const mnw_convert_opts co = { .size = sizeof co, .to = to };
    st = mnw_convert(c, in, out, &co);
    if (st != MNW_OK) YES(mnw_ctx_error(c)[0] != 0);
    mnw_ctx_close(c);
    *files = (size_t)tmp_files(0);
    return st;
}

TEST(a_cancelled_conversion_leaves_nothing)
{
    size_t files;
    for (size_t calls = 1; calls <= 3; calls++) {
        size_t left = calls;
        EQ(convert_with(&(lab_memory){ 0 }, &left, TEST_DIR "/golden/hf/qwen3", tmp_path("m.gguf"), MNW_FORM_GGUF,
                        &files), MNW_E_CANCELLED);
        EQ(files, 0);
        left = calls;
        EQ(convert_with(&(lab_memory){ 0 }, &left, TEST_DIR "/golden/tiny/qwen3.gguf", tmp_path("f"), MNW_FORM_HF,
                        &files), MNW_E_CANCELLED);
        EQ(files, 0);
    }
}

/* Allocation i fails; the search is over when all succeed. */
static void fail_each(const char *in, const char *name, mnw_form to)
{
    size_t files;
    for (size_t i = 1;; i++) {
        lab_memory       memory = { .fail_at = i };
        const mnw_status st = convert_with(&memory, NULL, in, tmp_path(name), to, &files);
        EQ(memory.live, 0);
        if (st == MNW_OK) {
            YES(i > 10);
            EQ(files, 1);
            return;
        }
        EQ(st, MNW_E_NOMEM);
        EQ(files, 0);
    }
}

TEST(each_allocation_of_a_conversion_may_fail)
{
    fail_each(TEST_DIR "/golden/hf/qwen3", "m.gguf", MNW_FORM_GGUF);
    tmp_files(1);
    fail_each(TEST_DIR "/golden/hf/llama", "m.gguf", MNW_FORM_GGUF);
    tmp_files(1);
    fail_each(TEST_DIR "/golden/tiny/qwen3.gguf", "f", MNW_FORM_HF);
    tmp_forget_dir(tmp_path("f"));
}

TEST(bad_arguments_are_refused)
{
    mnw_convert_opts o = { .size = sizeof o };
    EQ(mnw_convert(NULL, "a", "b", &o), MNW_E_ARG);
    EQ(mnw_convert(ctx, NULL, "b", &o), MNW_E_ARG);
    o.type = (mnw_type)99;
    EQ(mnw_convert(ctx, "a", "b", &o), MNW_E_ARG);
    HAS(mnw_ctx_error(ctx), "type 99");
    o = (mnw_convert_opts){ .size = sizeof o, .to = (mnw_form)3 };
    EQ(mnw_convert(ctx, "a", "b", &o), MNW_E_ARG);
    HAS(mnw_ctx_error(ctx), "form 3");
    EQ(mnw_convert(ctx, tmp_path("no"), tmp_path("x"), NULL), MNW_E_NOENT);
}

int main(void)
{
    tmp_open();
    OK(mnw_ctx_open(&(mnw_ctx_opts){ .threads = 1 }, &ctx));
    const int failed = RUN(
        T(a_configuration_has_defaults), T(a_configuration_is_read_in_its_older_and_newer_form),
        T(what_changes_the_arithmetic_is_refused_by_name), T(rows_in_pairs_lie_together_and_go_back),
        T(a_value_that_f16_cannot_hold_is_refused), T(exactness_is_seen),
        T(quantised_types_are_those_of_the_quantisers),
        T(rows_that_are_no_whole_blocks_keep_their_type),
        T(merges_become_scores_and_scores_merges), T(an_order_of_merges_that_no_scores_give_is_refused),
        T(a_cancelled_conversion_leaves_nothing), T(each_allocation_of_a_conversion_may_fail),
        T(bad_arguments_are_refused));
    mnw_ctx_close(ctx);
    tmp_close();
    return failed;
}
