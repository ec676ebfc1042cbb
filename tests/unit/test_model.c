/* SPDX-License-Identifier: Apache-2.0
 *
 * test_model.c - opening a model in every way, and what it says about itself.
 */
#include <fcntl.h>
#include <minnow/tokenizer.h>
#include <unistd.h>

#include "base/json.h"
#include "lab.h"

static char PATH[64];

static const tiny MODEL = { .arch = "qwen3", .type = MN_Q4_0, .embd_type = MN_Q8_0 };

/* `before` bytes, the model, `after` bytes. */
static void write_model(const tiny *t, size_t before, size_t after)
{
    static const char JUNK[4096] = { 0 };
    tiny_file         f = tiny_build(t);
    FILE             *out = fopen(PATH, "wb");
    assert_non_null(out);
    EQ(fwrite(JUNK, 1, before, out), before);
    EQ(fwrite(f.data, 1, f.size, out), f.size);
    EQ(fwrite(JUNK, 1, after, out), after);
    fclose(out);
    tiny_free(&f);
}

/* Logits of a model after three tokens. */
static float *answer(mnw_model *m)
{
    mnw_session  *s;
    const int32_t tokens[3] = { 5, 6, 7 };
    OK(mnw_session_open(m, NULL, &s));
    OK(mnw_session_feed(s, tokens, 3));
    float *l = malloc(320 * sizeof *l);
    assert_non_null(l);
    memcpy(l, mnw_session_logits(s), 320 * sizeof *l);
    mnw_session_close(s);
    return l;
}

TEST(mapped_read_descriptor_and_memory_are_the_same_model)
{
    write_model(&MODEL, 4096, 100);
    const int fd = open(PATH, O_RDONLY);
    YES(fd >= 0);
    tiny_file f = tiny_build(&MODEL);
    mnw_ctx  *ctx;
    OK(mnw_ctx_open(&(mnw_ctx_opts){ .threads = 1 }, &ctx));

    mnw_model *m;
    OK(mnw_model_open_memory(ctx, f.data, f.size, NULL, &m));
    float *expected = answer(m);
    mnw_model_close(m);

    for (int no_map = 0; no_map <= 1; no_map++) {
        const mnw_model_opts o = { .no_map = no_map };
        float               *got;
        OK(mnw_model_open_fd(ctx, fd, 4096, f.size, &o, &m));
        mnw_model_info info = { 0 };
        OK(mnw_model_describe(m, &info));
        EQ(info.mapped, !no_map);
        EQ(info.file_bytes, f.size);
        got = answer(m);
        EQ_MEM(got, expected, 320 * sizeof *got);
        free(got);
        mnw_model_close(m);
    }
    close(fd);

    write_model(&MODEL, 0, 0);
    for (int no_map = 0; no_map <= 1; no_map++) {
        const mnw_model_opts o = { .no_map = no_map };
        OK(mnw_model_open(ctx, PATH, &o, &m));
        float *got = answer(m);
        EQ_MEM(got, expected, 320 * sizeof *got);
        free(got);
        mnw_model_close(m);
    }
    free(expected);
    tiny_free(&f);
    mnw_ctx_close(ctx);
}

TEST(arguments_are_judged)
{
    tiny_file  f = tiny_build(&MODEL);
    mnw_ctx   *ctx;
    mnw_model *m;
    OK(mnw_ctx_open(&(mnw_ctx_opts){ .threads = 1 }, &ctx));
    EQ(mnw_model_open_memory(ctx, f.data + 8, f.size - 8, NULL, &m), MNW_E_ARG);
    HAS(mnw_ctx_error(ctx), "not aligned");
    EQ(mnw_model_open_memory(ctx, f.data, f.size, &(mnw_model_opts){ .backend = (mnw_backend)3 },
                             &m),
       MNW_E_ARG);
    HAS(mnw_ctx_error(ctx), "backend 3");
    EQ(mnw_model_open(ctx, "/no/such/model.gguf", NULL, &m), MNW_E_NOENT);
    HAS(mnw_ctx_error(ctx), "/no/such/model.gguf");
    EQ(mnw_model_open(ctx, NULL, NULL, &m), MNW_E_ARG);
    EQ(mnw_model_open(NULL, PATH, NULL, &m), MNW_E_ARG);
    YES(m == NULL);
    mnw_model_close(NULL);
    mnw_ctx_close(ctx);
    tiny_free(&f);
}

TEST(a_model_describes_itself)
{
    lab b;
    lab_open(&b, &MODEL, &(lab_opts){ .no_session = true });
    mnw_model_info i = { .size = sizeof i };
    OK(mnw_model_describe(b.model, &i));
    EQ_STR(i.architecture, "qwen3");
    EQ_STR(i.name, "tiny");
    EQ(i.n_layers, 2);
    EQ(i.n_embd, 256);
    EQ(i.n_heads, 8);
    EQ(i.n_kv_heads, 2);
    EQ(i.head_dim, 32);
    EQ(i.n_ff, 512);
    EQ(i.n_vocab, 320);
    EQ(i.n_ctx_train, 256);
    EQ(i.kv_bytes_per_token_i8, 2 * 2 * 2 * (32 + 4));
    EQ(i.kv_bytes_per_token_f16, 2 * 2 * 2 * 32 * 2);
    const uint64_t layer = 2 * 256 + 2 * 32 + 2 * 256 * 256 + 2 * 64 * 256 + 3 * 512 * 256;
    EQ(i.n_params, 320 * 256 + 256 + 2 * layer);
    YES(i.tied);
    NO(i.mapped);
    YES(mnw_model_tokenizer(b.model) != NULL);
    YES(mnw_model_template(b.model) == NULL);

    mnw_model_info shorter;   // a caller built against an older header
    memset(&shorter, 0x55, sizeof shorter);
    shorter.size = offsetof(mnw_model_info, n_layers);
    OK(mnw_model_describe(b.model, &shorter));
    EQ(shorter.file_bytes, i.file_bytes);
    EQ(shorter.n_layers, 0x55555555);
    lab_close(&b);
}

TEST(the_hash_is_of_the_head_and_nothing_else)
{
    uint8_t hash[3][32];
    for (int k = 0; k < 3; k++) {
        tiny t = MODEL;
        if (k == 1) t.seed = 77;       // other weights, the same head
        if (k == 2) t.n_ctx = 128;
        lab b;
        lab_open(&b, &t, &(lab_opts){ .no_session = true });
        mnw_model_info i = { .size = sizeof i };
        OK(mnw_model_describe(b.model, &i));
        memcpy(hash[k], i.hash, 32);
        lab_close(&b);
    }
    EQ_MEM(hash[0], hash[1], 32);
    YES(memcmp(hash[0], hash[2], 32) != 0);
}

TEST(the_json_is_valid_whole_and_fits_exactly)
{
    lab b;
    lab_open(&b, &MODEL, &(lab_opts){ .no_session = true });
    size_t len, again;
    EQ(mnw_model_json(b.model, NULL, 0, &len), MNW_E_BUFFER);
    char *text = malloc(len + 1);
    assert_non_null(text);
    EQ(mnw_model_json(b.model, text, len, &again), MNW_E_BUFFER);
    OK(mnw_model_json(b.model, text, len + 1, &again));
    EQ(again, len);
    EQ(strlen(text), len);
    HAS(text, "\"architecture\":\"qwen3\"");
    HAS(text, "\"name\":\"blk.1.ffn_down.weight\",\"type\":\"q4_0\",\"shape\":[256,512]");
    HAS(text, "\"types\":{\"f32\":{\"tensors\":9,");
    HAS(text, "\"kind\":\"bpe\",\"pre\":\"gpt-2\",\"count\":320,");

    mn_json j;
    mn_json_init(&j, (mn_bytes){ (const uint8_t *)text, len });
    mn_json_event e;
    while ((e = mn_json_next(&j)) != MN_JSON_END) NE(e, MN_JSON_ERROR);
    free(text);
    lab_close(&b);
}

TEST(check_finds_a_number_that_is_none)
{
    tiny t = MODEL;
    write_model(&t, 0, 0);
    mnw_ctx *ctx;
    OK(mnw_ctx_open(&(mnw_ctx_opts){ .threads = 1 }, &ctx));
    if (mnw_model_check(ctx, PATH) != MNW_OK) fail_msg("%s", mnw_ctx_error(ctx));

    mnw_model *m;
    size_t     size;
    OK(mnw_model_open(ctx, PATH, NULL, &m));
    mnw_model_info i = { .size = sizeof i };
    OK(mnw_model_describe(m, &i));
    size = (size_t)i.file_bytes;
    mnw_model_close(m);

    FILE *f = fopen(PATH, "r+b");   // the last tensor is blk.1.ffn_down.weight, blocks of 18 bytes
    assert_non_null(f);
    OK(fseek(f, (long)size - 18, SEEK_SET));
    EQ(fwrite("\0\x7e", 1, 2, f), 2);   // a half that is no number
    fclose(f);
    EQ(mnw_model_check(ctx, PATH), MNW_E_FORMAT);
    HAS(mnw_ctx_error(ctx), "blk.1.ffn_down.weight");
    mnw_ctx_close(ctx);
}

TEST(a_model_without_tokenizer_runs)
{
    tiny t = MODEL;
    t.no_tokenizer = true;
    lab b;
    lab_open(&b, &t, &(lab_opts){ 0 });
    YES(mnw_model_tokenizer(b.model) == NULL);
    lab_feed(b.session, 0, 3, 3);
    lab_close(&b);
}

int main(void)
{
    snprintf(PATH, sizeof PATH, "/tmp/minnow-model-%ld", (long)getpid());
    const int failed =
        RUN(T(mapped_read_descriptor_and_memory_are_the_same_model), T(arguments_are_judged),
            T(a_model_describes_itself), T(the_hash_is_of_the_head_and_nothing_else),
            T(the_json_is_valid_whole_and_fits_exactly), T(check_finds_a_number_that_is_none),
            T(a_model_without_tokenizer_runs));
    unlink(PATH);
    return failed;
}
