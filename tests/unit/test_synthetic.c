/* SPDX-License-Identifier: Apache-2.0
 *
 * test_synthetic.c - model files with random weights are models like any other.
 */
#include <math.h>
#include <minnow/minnow.h>

#include "kernel/kernels.h"
#include "model/synthetic.h"
#include "test.h"
#include "tmpdir.h"

static const char *const TINY[] = { "tiny-qwen3", "tiny-qwen2", "tiny-llama" };
static const char *const TYPE[] = { "q4x", "q8x", "q4_0", "q4_1", "q8_0", "f16", "bf16", "f32" };

static mnw_ctx *open_ctx(void)
{
    mnw_ctx *ctx = NULL;
    OK(mnw_ctx_open(&(mnw_ctx_opts){ .size = sizeof(mnw_ctx_opts), .threads = 2 }, &ctx));
    return ctx;
}

static void write_model(mnw_ctx *ctx, const char *shape, const char *type, const char *path)
{
    if (mnw_synthetic_write(ctx, shape, type, path) != MNW_OK) fail_msg("%s", mnw_ctx_error(ctx));
}

static void fed_logits(mnw_ctx *ctx, const char *path, mnw_backend backend, float *out, size_t V)
{
    const mnw_model_opts mo = { .size = sizeof mo, .backend = backend };
    const int32_t ids[] = { 5, 300, 17, 900, 64, 2 };
    mnw_model *m = NULL;
    mnw_session *s = NULL;
    OK(mnw_model_open(ctx, path, &mo, &m));
    OK(mnw_session_open(m, NULL, &s));
    OK(mnw_session_feed(s, ids, LEN(ids)));
    memcpy(out, mnw_session_logits(s), V * sizeof *out);
    mnw_session_close(s);
    mnw_model_close(m);
}

/* Largest difference, in units of the logits' own deviation. */
static double distance(const float *a, const float *b, size_t n)
{
    double worst = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(a[i]) || !isfinite(b[i])) fail_msg("logit %zu is not finite", i);
        worst = fmax(worst, fabs((double)a[i] - (double)b[i]));
        square += (double)a[i] * (double)a[i];
    }
    if (square <= 0) fail_msg("all logits are zero");
    return worst / sqrt(square / (double)n);
}

TEST(every_type_of_every_small_shape_is_whole_and_both_backends_agree_on_it)
{
    enum { V = 1024 };
    static float ref[V], cpu[V];
    mnw_ctx *ctx = open_ctx();
    const char *path = tmp_path("s.gguf");
    for (size_t i = 0; i < LEN(TINY); i++) {
        for (size_t k = 0; k < LEN(TYPE); k++) {
            write_model(ctx, TINY[i], TYPE[k], path);
            if (mnw_model_check(ctx, path) != MNW_OK)
                fail_msg("%s %s: %s", TINY[i], TYPE[k], mnw_ctx_error(ctx));
            fed_logits(ctx, path, MNW_BACKEND_REF, ref, V);
            fed_logits(ctx, path, MNW_BACKEND_CPU, cpu, V);
            const double d = distance(ref, cpu, V);
            if (d > 0.02) fail_msg("%s %s: backends differ by %g", TINY[i], TYPE[k], d);
        }
    }
    mnw_ctx_close(ctx);
}

TEST(types_in_blocks_of_256_are_made_where_rows_fill_them)
{
    mnw_ctx *ctx = open_ctx();
    const char *path = tmp_path("k.gguf");
    write_model(ctx, "tiny-qwen3", "q4_k", path);
    OK(mnw_model_check(ctx, path));
    write_model(ctx, "tiny-qwen3", "q6_k", path);
    OK(mnw_model_check(ctx, path));
    EQ(mnw_synthetic_write(ctx, "tiny-llama", "q6_k", tmp_path("no.gguf")), MNW_E_ARG);
    HAS(mnw_ctx_error(ctx), "token_embd.weight");
    NO(mn_os_exists(tmp_path("no.gguf")));
    mnw_ctx_close(ctx);
}

TEST(weights_have_the_deviation_that_keeps_activations_in_range)
{
    static uint8_t buf[MN_PIECE];
    static float y[1024];
    for (size_t k = 0; k < LEN(TYPE); k++) {
        const mn_dtype *t = NULL;
#define X(NAME, ...)                                                                               \
    if (strcmp(mn_dtype_of(MN_##NAME)->name, TYPE[k]) == 0) t = mn_dtype_of(MN_##NAME);
        MN_DTYPE_LIST(X)
#undef X
        if (!t) continue; // native: the next test, through a file
        mn_random_matrix m = { .type = t, .rows = 64, .cols = 1024, .deviation = 0.05f };
        YES(mn_dtype_bytes(t, 64 * 1024, &m.bytes));
        EQ(mn_random_next(&m, buf), m.bytes);
        EQ(mn_random_next(&m, buf), 0);
        double sum = 0, square = 0;
        for (size_t r = 0; r < 64; r++) {
            mn_dequantize(y, buf + r * m.bytes / 64, t->id, 1024);
            for (size_t i = 0; i < 1024; i++) sum += (double)y[i], square += (double)(y[i] * y[i]);
        }
        NEAR(sqrt(square / 65536), 0.05, 0.002);
        NEAR(sum / 65536, 0, 0.002);
    }
}

TEST(a_file_is_the_same_whenever_it_is_made)
{
    mnw_ctx *ctx = open_ctx();
    size_t n, m;
    write_model(ctx, "tiny-qwen2", NULL, tmp_path("a.gguf"));
    write_model(ctx, "tiny-qwen2", "q4x", tmp_path("b.gguf"));
    uint8_t *a = tmp_read(tmp_path("a.gguf"), &n), *b = tmp_read(tmp_path("b.gguf"), &m);
    EQ(n, m);
    EQ_MEM(a, b, n);
    free(a);
    free(b);
    mnw_ctx_close(ctx);
}

TEST(any_text_survives_the_vocabulary)
{
    static const char TEXT[] = "Hello, about w\xC3\xB6rld!\n\t42 \xE8\xB5\x8B <|im_end|>";
    mnw_ctx *ctx = open_ctx();
    mnw_model *m = NULL;
    int32_t ids[128];
    char back[256];
    size_t n, len;
    write_model(ctx, "tiny-llama", NULL, tmp_path("t.gguf"));
    OK(mnw_model_open(ctx, tmp_path("t.gguf"), NULL, &m));
    const mnw_tokenizer *t = mnw_model_tokenizer(m);
    EQ(mnw_tokenizer_count(t), 1024);
    OK(mnw_tokenizer_encode(t, TEXT, sizeof TEXT - 1, 0, ids, LEN(ids), &n));
    YES(n < sizeof TEXT - 1); // some pairs were merged
    OK(mnw_tokenizer_decode(t, ids, n, 0, back, sizeof back, &len));
    EQ(len, sizeof TEXT - 1);
    EQ_MEM(back, TEXT, len);
    YES(mnw_tokenizer_is_end(t, 1024 - MN_CONTROLS + 2));
    mnw_model_close(m);
    mnw_ctx_close(ctx);
}

TEST(the_reference_shape_has_its_published_number_of_parameters)
{
    const mn_shape *s = mn_shape_find("0.3b");
    const uint64_t D = s->D, HP = s->H * s->P, KP = s->K * s->P;
    const uint64_t layer = 2 * D * HP + 2 * D * KP + 3 * D * s->F + 2 * D + 2 * s->P;
    EQ(s->L * layer + s->V * D + D, 302830976);
}

TEST(shapes_have_whole_panels_and_blocks)
{
    size_t n = 0;
    for (; mnw_synthetic_name(n); n++) {
        const mn_shape *s = mn_shape_find(mnw_synthetic_name(n));
        EQ(s->D % 32 + s->F % 32 + s->H * s->P % 32, 0);
        EQ(s->V % 16 + s->K * s->P % 16, 0);
        YES(s->V >= 256 + MN_CONTROLS);
    }
    YES(n >= 6);
    YES(mn_shape_find("0.4b") == NULL);
}

TEST(what_does_not_exist_is_refused_by_name)
{
    mnw_ctx *ctx = open_ctx();
    EQ(mnw_synthetic_write(ctx, "0.4b", NULL, tmp_path("x.gguf")), MNW_E_ARG);
    HAS(mnw_ctx_error(ctx), "0.4b");
    EQ(mnw_synthetic_write(ctx, "0.3b", "i8", tmp_path("x.gguf")), MNW_E_ARG);
    HAS(mnw_ctx_error(ctx), "i8");
    EQ(mnw_synthetic_write(ctx, "tiny-qwen3", NULL, tmp_path("no/such/folder.gguf")), MNW_E_IO);
    EQ(mnw_synthetic_write(ctx, NULL, NULL, tmp_path("x.gguf")), MNW_E_ARG);
    EQ(mnw_synthetic_write(NULL, "0.3b", NULL, tmp_path("x.gguf")), MNW_E_ARG);
    mnw_ctx_close(ctx);
}

int main(void)
{
    tmp_open();
    const int failed = RUN(
        T(every_type_of_every_small_shape_is_whole_and_both_backends_agree_on_it),
        T(types_in_blocks_of_256_are_made_where_rows_fill_them),
        T(weights_have_the_deviation_that_keeps_activations_in_range),
        T(a_file_is_the_same_whenever_it_is_made), T(any_text_survives_the_vocabulary),
        T(the_reference_shape_has_its_published_number_of_parameters),
        T(shapes_have_whole_panels_and_blocks), T(what_does_not_exist_is_refused_by_name));
    tmp_close();
    return failed;
}
