/* SPDX-License-Identifier: Apache-2.0
 *
 * test_model_faults.c - what if memory ends, or the file is not what it says?
 */
#include "lab.h"

/* Open a tiny model that is expected to fail, and see why. */
static void refused(const tiny *t, mnw_status expected, const char *text)
{
    mnw_ctx     *ctx;
    mnw_model   *m;
    lab_memory   memory = { 0 };
    mnw_ctx_opts o = { .size = sizeof o, .threads = 1, .mem = lab_hook, .mem_user = &memory };
    OK(mnw_ctx_open(&o, &ctx));
    const size_t before = memory.live;
    tiny_file    f = tiny_build(t);
    const mnw_status st = mnw_model_open_memory(ctx, f.data, f.size, NULL, &m);
    if (st != expected)
        fail_msg("status %d \"%s\", expected %d %s", st, mnw_ctx_error(ctx), expected, text);
    HAS(mnw_ctx_error(ctx), text);
    YES(m == NULL);
    EQ(memory.live, before);
    tiny_free(&f);
    mnw_ctx_close(ctx);
}

TEST(every_failing_allocation_of_open_is_reported_and_nothing_leaks)
{
    const tiny t = { .arch = "qwen3", .type = MN_Q4_0, .f16_norms = true, .L = 1 };
    tiny_file  f = tiny_build(&t);
    size_t     n = 1;
    for (mnw_status st = MNW_E_NOMEM; st != MNW_OK; n++) {
        lab_memory   memory = { 0 };
        mnw_ctx     *ctx;
        mnw_model   *m = NULL;
        mnw_session *s = NULL;
        mnw_ctx_opts o = { .size = sizeof o, .threads = 1, .mem = lab_hook, .mem_user = &memory };
        OK(mnw_ctx_open(&o, &ctx));
        memory.fail_at = n;
        st = mnw_model_open_memory(ctx, f.data, f.size, NULL, &m);
        if (st == MNW_OK) st = mnw_session_open(m, NULL, &s);
        if (st != MNW_OK) {
            EQ(st, MNW_E_NOMEM);
            YES(mnw_ctx_error(ctx)[0] != '\0');
            YES(s == NULL);
        }
        mnw_session_close(s);
        mnw_model_close(m);
        mnw_ctx_close(ctx);
        EQ(memory.live, 0);
        YES(n < 500);
    }
    YES(n > 4);
    tiny_free(&f);
}

TEST(a_fork_without_memory_says_so)
{
    const tiny t = { .L = 1 };
    lab        b;
    lab_open(&b, &t, &(lab_opts){ .n_ctx = 64 });
    for (size_t n = 1; n <= 2; n++) {
        mnw_session *copy;
        b.memory.fail_at = n;
        EQ(mnw_session_fork(b.session, &copy), MNW_E_NOMEM);
        HAS(mnw_session_error(b.session), "fork");
        YES(copy == NULL);
    }
    lab_close(&b);
}

#define SET(key, type, value) \
    .set_key = key, .set_type = type, .set_value = value

TEST(counts_out_of_range_are_named)
{
    static const struct {
        tiny        t;
        mnw_status  expected;
        const char *text;
    } CASES[] = {
        { { SET("block_count", MN_META_U32, 513) }, MNW_E_FORMAT, "llama.block_count" },
        { { SET("block_count", MN_META_U32, 1ll << 31) }, MNW_E_FORMAT, "llama.block_count" },
        { { SET("block_count", MN_META_I32, -1) }, MNW_E_FORMAT, "llama.block_count" },
        { { SET("block_count", MN_META_U32, 0) }, MNW_E_FORMAT, "llama.block_count: 0" },
        { { SET("block_count", MN_META_U32, 512) },
          MNW_E_FORMAT,
          "blk.2.attn_norm.weight: missing" },
        { { SET("block_count", MN_META_ARRAY, 2) },
          MNW_E_UNSUPPORTED,
          "llama.block_count: an array" },
        { { SET("attention.head_count", MN_META_U32, 0) }, MNW_E_FORMAT, "head_count: 0" },
        { { SET("attention.head_count", MN_META_U32, 3) },
          MNW_E_FORMAT,
          "multiple of head_count_kv, 2" },
        { { SET("attention.head_count", MN_META_U32, 1026) },
          MNW_E_FORMAT,
          "attention.head_count" },
        { { SET("attention.head_count", MN_META_ARRAY, 4) },
          MNW_E_UNSUPPORTED,
          "head_count: an array" },
        { { SET("attention.head_count_kv", MN_META_U32, 3) },
          MNW_E_FORMAT,
          "multiple of head_count_kv, 3" },
        { { SET("attention.head_count_kv", MN_META_ARRAY, 2) },
          MNW_E_UNSUPPORTED,
          "head_count_kv: an array" },
        { { SET("attention.key_length", MN_META_U32, 264) },
          MNW_E_UNSUPPORTED,
          "heads of 264 values" },
        { { SET("attention.key_length", MN_META_U32, 36) }, MNW_E_UNSUPPORTED, "multiples of 8" },
        { { SET("embedding_length", MN_META_U32, 65537) }, MNW_E_FORMAT, "llama.embedding_length" },
        { { SET("embedding_length", MN_META_U32, 128) },
          MNW_E_FORMAT,
          "token_embd.weight: shape [320, 256]" },
        { { SET("feed_forward_length", MN_META_U64, 1ll << 40) },
          MNW_E_FORMAT,
          "feed_forward_length" },
        { { SET("context_length", MN_META_U32, 0) }, MNW_E_FORMAT, "context_length: 0" },
        { { SET("expert_count", MN_META_U32, 8) }, MNW_E_UNSUPPORTED, "llama.expert_count: 8" },
        { { .arch = "mamba" }, MNW_E_UNSUPPORTED, "\"mamba\", minnow runs llama, qwen2, qwen3" },
        { { .scaling = "longrope" }, MNW_E_UNSUPPORTED, "\"longrope\"" },
        { { .scaling = "yarn", .rope_freqs = true }, MNW_E_UNSUPPORTED, "rope_freqs.weight" },
    };
    for (size_t i = 0; i < LEN(CASES); i++) refused(&CASES[i].t, CASES[i].expected, CASES[i].text);
}

TEST(each_needed_tensor_is_missed_by_name)
{
    static const char *const NAMES[] = {
        "token_embd.weight", "output_norm.weight", "blk.0.attn_norm.weight", "blk.1.attn_q.weight",
        "blk.0.attn_k.weight", "blk.1.attn_v.weight", "blk.0.attn_q_norm.weight",
        "blk.1.attn_k_norm.weight", "blk.0.attn_output.weight", "blk.0.ffn_norm.weight",
        "blk.0.ffn_gate.weight", "blk.1.ffn_up.weight", "blk.1.ffn_down.weight",
    };
    for (size_t i = 0; i < LEN(NAMES); i++) {
        char text[64];
        snprintf(text, sizeof text, "%s: missing", NAMES[i]);
        refused(&(tiny){ .arch = "qwen3", .skip = NAMES[i] }, MNW_E_FORMAT, text);
    }
}

TEST(biases_may_be_absent)
{
    const tiny t = { .arch = "qwen2", .skip = "blk.0.attn_q.bias" };
    lab        b;
    lab_open(&b, &t, &(lab_opts){ .n_ctx = 64 });
    lab_feed(b.session, 0, 3, 3);
    lab_close(&b);
}

TEST(a_wrong_shape_or_type_is_named_with_what_was_expected)
{
    refused(&(tiny){ .widen = "blk.1.attn_q.weight" }, MNW_E_FORMAT,
            "blk.1.attn_q.weight: shape [288, 256], expected [256, 256]");
    refused(&(tiny){ .widen = "token_embd.weight",
                     .no_tokenizer = true,
                     .skip = "blk.0.ffn_up.weight" },
            MNW_E_FORMAT, "blk.0.ffn_up.weight: missing"); // the vocabulary is what the rows say
    refused(&(tiny){ .V = 352, .widen = "output.weight", .untied = true }, MNW_E_FORMAT,
            "output.weight: shape [384, 256], expected [352, 256]");
    refused(&(tiny){ .retype = "blk.0.ffn_up.weight" }, MNW_E_UNSUPPORTED,
            "blk.0.ffn_up.weight: type i8 is not one that minnow multiplies");
    refused(&(tiny){ .retype = "blk.0.ffn_norm.weight" }, MNW_E_UNSUPPORTED,
            "blk.0.ffn_norm.weight: type i8, expected f32, f16 or bf16");
}

static void remember(void *user, mnw_warning warning, const char *text)
{
    snprintf(user, 256, "%s: %s", mnw_warning_id(warning), text);
}

TEST(a_tensor_nobody_asks_for_is_a_warning_and_an_error_when_strict)
{
    const tiny t = { .extra = "blk.0.attn_output.bias" };
    tiny_file  f = tiny_build(&t);
    for (int strict = 0; strict <= 1; strict++) {
        mnw_ctx     *ctx;
        mnw_model   *m;
        char         text[256] = "";
        mnw_ctx_opts o = { .size = sizeof o, .threads = 1, .strict = strict, .warn = remember,
                           .warn_user = text };
        OK(mnw_ctx_open(&o, &ctx));
        EQ(mnw_model_open_memory(ctx, f.data, f.size, NULL, &m), strict ? MNW_E_STRICT : MNW_OK);
        HAS(text, "metadata: blk.0.attn_output.bias: not used by llama");
        mnw_model_close(m);
        mnw_ctx_close(ctx);
    }
    tiny_free(&f);
}

TEST(a_file_cut_anywhere_in_its_head_is_refused_without_a_leak)
{
    const tiny t = { .arch = "qwen3", .L = 1, .D = 32, .F = 32, .P = 8, .H = 4, .type = MN_Q8_0 };
    tiny_file  f = tiny_build(&t);
    lab_memory memory = { 0 };
    mnw_ctx   *ctx;
    OK(mnw_ctx_open(&(mnw_ctx_opts){ .threads = 1, .mem = lab_hook, .mem_user = &memory }, &ctx));
    const size_t before = memory.live;
    for (size_t n = 0; n < f.size; n += n < 6000 ? 1 : 997) {
        mnw_model *m;
        NE(mnw_model_open_memory(ctx, f.data, n, NULL, &m), MNW_OK);
        YES(mnw_ctx_error(ctx)[0] != '\0');
        YES(m == NULL);
        EQ(memory.live, before);
    }
    mnw_ctx_close(ctx);
    tiny_free(&f);
}

TEST(a_flipped_byte_in_the_head_never_crashes_a_model)
{
    const tiny t = { .arch = "qwen2", .L = 1, .D = 32, .F = 32, .P = 8, .H = 4, .type = MN_Q8_0 };
    tiny_file  f = tiny_build(&t);
    mnw_ctx   *ctx;
    OK(mnw_ctx_open(&(mnw_ctx_opts){ .threads = 1 }, &ctx));
    for (size_t i = 0; i < 4096; i++) {
        f.data[i] ^= (uint8_t)(1u << i % 8);
        mnw_model   *m;
        mnw_session *s = NULL;
        if (mnw_model_open_memory(ctx, f.data, f.size, NULL, &m) == MNW_OK) {
            const mnw_session_opts o = { .n_ctx = 4, .n_batch = 2 };
            if (mnw_session_open(m, &o, &s) == MNW_OK) mnw_session_feed(s, &(int32_t){ 5 }, 1);
        } else {
            YES(mnw_ctx_error(ctx)[0] != '\0');
        }
        mnw_session_close(s);
        mnw_model_close(m);
        f.data[i] ^= (uint8_t)(1u << i % 8);
    }
    mnw_ctx_close(ctx);
    tiny_free(&f);
}

int main(void)
{
    return RUN(T(every_failing_allocation_of_open_is_reported_and_nothing_leaks),
               T(a_fork_without_memory_says_so), T(counts_out_of_range_are_named),
               T(each_needed_tensor_is_missed_by_name), T(biases_may_be_absent),
               T(a_wrong_shape_or_type_is_named_with_what_was_expected),
               T(a_tensor_nobody_asks_for_is_a_warning_and_an_error_when_strict),
               T(a_file_cut_anywhere_in_its_head_is_refused_without_a_leak),
               T(a_flipped_byte_in_the_head_never_crashes_a_model));
}
