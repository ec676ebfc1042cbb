/* SPDX-License-Identifier: Apache-2.0
 *
 * test_backend_laws.c - threads, widths and instruction sets do not change a bit; the fast backend
 * agrees with the readable one within what rounding activations to int8 explains.
 */
#include <math.h>

#include "base/context.h"
#include "lab.h"

static const char *const ARCHS[] = { "llama", "qwen2", "qwen3" };

static const uint32_t TYPES[] = { MN_F32,  MN_F16,  MN_BF16, MN_Q8_0, MN_Q4_0, MN_Q4_1,
                                  MN_Q5_0, MN_Q5_1, MN_Q4_K, MN_Q5_K, MN_Q6_K, MN_Q4X, MN_Q8X };

enum { N = 40 };   // wide enough for every path: alone, divided, heads, tokens

/* Logits of position N - 1, fed in calls of `step`. */
static float *logits_of(const tiny *t, const lab_opts *o, size_t step)
{
    lab b;
    lab_open(&b, t, o);
    lab_feed(b.session, 0, N, step);
    float *l = lab_logits(&b, b.session);
    lab_close(&b);
    return l;
}

static void same_bits(const float *a, const float *b, size_t n, const char *what, uint32_t type)
{
    for (size_t i = 0; i < n; i++) {
        if (memcmp(&a[i], &b[i], sizeof *a) != 0)
            fail_msg("%s, %s: logit %zu is %.9g, expected the same bits as %.9g", what,
                     mn_dtype_of((mn_dtype_id)type)->name, i, (double)a[i], (double)b[i]);
    }
}

/* rms(a - b) / rms(b) */
static double distance(const float *a, const float *b, size_t n)
{
    double diff = 0.0, size = 0.0;
    for (size_t i = 0; i < n; i++) {
        diff += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
        size += (double)b[i] * (double)b[i];
    }
    return sqrt(diff / size);
}

TEST(the_number_of_threads_does_not_change_a_bit)
{
    for (size_t i = 0; i < LEN(TYPES); i++) {
        const tiny t = { .arch = ARCHS[i % 3], .type = TYPES[i], .embd_type = TYPES[i] };
        float     *expected = NULL;
        for (uint32_t threads = 1; threads <= 4; threads++) {
            for (size_t step = 1; step <= N; step += N - 1) {
                float *l = logits_of(&t, &(lab_opts){ .threads = threads }, step);
                if (!expected) expected = l;
                same_bits(l, expected, 320, "threads", TYPES[i]);
                if (l != expected) free(l);
            }
        }
        free(expected);
    }
}

TEST(the_width_of_a_step_does_not_change_a_bit)
{
    static const size_t WIDTHS[] = { 1, 2, 3, 8, 16, 32, N };
    for (size_t i = 0; i < LEN(TYPES); i++) {
        const tiny t = { .arch = ARCHS[i % 3], .type = TYPES[i], .embd_type = TYPES[i] };
        float     *expected = NULL;
        for (size_t w = 0; w < LEN(WIDTHS); w++) {
            float *l = logits_of(&t, &(lab_opts){ .threads = 3 }, WIDTHS[w]);
            if (!expected) expected = l;
            same_bits(l, expected, 320, "width", TYPES[i]);
            if (l != expected) free(l);
        }
        free(expected);
    }
}

TEST(the_instruction_set_does_not_change_a_bit)
{
    static const char *const TIERS[] = { "scalar", "avx2", "avx512", "neon", "dotprod", "i8mm" };
    for (size_t i = 0; i < LEN(TYPES); i++) {
        const tiny t = { .arch = ARCHS[i % 3], .type = TYPES[i], .embd_type = TYPES[i] };
        float     *expected = NULL;
        for (size_t k = 0; k < LEN(TIERS); k++) {
            if (!mn_cpu_has_tier(mn_cpu_detect(), TIERS[k])) continue;
            float *l = logits_of(&t, &(lab_opts){ .cpu = TIERS[k], .threads = 2 }, 13);
            if (!expected) expected = l;
            same_bits(l, expected, 320, TIERS[k], TYPES[i]);
            if (l != expected) free(l);
        }
        free(expected);
    }
}

TEST(both_cache_types_are_equal_on_every_instruction_set)
{
    static const char *const TIERS[] = { "scalar", "avx2", "avx512", "neon" };
    const tiny               t = { .arch = "qwen3", .type = MN_Q8_0, .H = 8, .K = 2, .P = 40 };
    for (int kv = MNW_KV_I8; kv <= MNW_KV_F16; kv++) {   // and with each its own precision
        float *expected = NULL;
        for (size_t k = 0; k < LEN(TIERS); k++) {
            if (!mn_cpu_has_tier(mn_cpu_detect(), TIERS[k])) continue;
            const lab_opts o = { .cpu = TIERS[k],
                                 .kv_type = (mnw_kv_type)kv,
                                 .precision = (mnw_precision)kv,
                                 .threads = 2 };
            float         *l = logits_of(&t, &o, 7);
            if (!expected) expected = l;
            same_bits(l, expected, 320, TIERS[k], MN_Q8_0);
            if (l != expected) free(l);
        }
        free(expected);
    }
}

/* With float weights both backends compute the same sums in different orders. */
TEST(ref_and_cpu_agree_closely_on_float_weights)
{
    static const uint32_t FLOATS[] = { MN_F32, MN_F16, MN_BF16 };
    for (size_t a = 0; a < LEN(ARCHS); a++) {
        for (size_t i = 0; i < LEN(FLOATS); i++) {
            const tiny t = { .arch = ARCHS[a],
                             .type = FLOATS[i],
                             .embd_type = FLOATS[i],
                             .rope_freqs = a == 0,
                             .f16_norms = i == 1,
                             .scaling = a == 1 ? "yarn" : NULL };
            float *ref = logits_of(
                &t, &(lab_opts){ .backend = MNW_BACKEND_REF, .kv_type = MNW_KV_F16 }, N);
            float     *cpu = logits_of(&t, &(lab_opts){ .threads = 2, .kv_type = MNW_KV_F16 }, N);
            NEAR(distance(cpu, ref, 320), 0.0, 1e-4);
            free(ref);
            free(cpu);
        }
    }
}

/* docs/NUMERICS.md, "what int8 activations cost": 0.5 % in each of 4 products in 2 layers and the
 * head, sqrt(9) * 0.5 % = 1.5 %.  Sharp attention amplifies: three times that is the bar.  A second
 * plane divides the step by 128. */
static void compare_on_quantised_weights(mnw_precision precision, double bar)
{
    for (size_t i = 3; i < LEN(TYPES); i++) {
        const char *arch = ARCHS[i % 3];
        const tiny  t = { .arch = arch, .type = TYPES[i], .embd_type = TYPES[i] };
        float      *ref = logits_of(&t, &(lab_opts){ .backend = MNW_BACKEND_REF, .kv_type = MNW_KV_F16 },
                                    N);
        const lab_opts o = { .threads = 2, .kv_type = MNW_KV_F16, .precision = precision };
        float         *cpu = logits_of(&t, &o, N);
        const double   d = distance(cpu, ref, 320);
        if (d > bar) fail_msg("%s %s: %g", arch, mn_dtype_of((mn_dtype_id)TYPES[i])->name, d);
        free(ref);
        free(cpu);
    }
}

TEST(ref_and_cpu_agree_on_quantised_weights_as_far_as_int8_activations_allow)
{
    compare_on_quantised_weights(MNW_PRECISION_FAST, 0.045);
}

TEST(ref_and_cpu_agree_closely_on_quantised_weights_with_exact_activations)
{
    compare_on_quantised_weights(MNW_PRECISION_EXACT, 0.001);
}

/* A file's own list stands between fast and exact, and both words overrule it. */
TEST(precision_auto_is_what_the_file_says)
{
    for (uint32_t type = MN_Q4_0; type <= MN_Q4X; type += MN_Q4X - MN_Q4_0) {
        const tiny silent = { .arch = "qwen3", .type = type, .embd_type = type };
        tiny       all = silent, none = silent, some = silent;
        all.says_inputs = none.says_inputs = some.says_inputs = true;
        all.exact_inputs[0] = "ffn_down", all.exact_inputs[1] = "norm", all.exact_inputs[2] = "attn_output";
        some.exact_inputs[0] = "attn_output";
        const lab_opts autom = { .precision = MNW_PRECISION_AUTO }, normal = { 0 };
        const lab_opts fast = { .precision = MNW_PRECISION_FAST },
                       exact = { .precision = MNW_PRECISION_EXACT };
        float *e = logits_of(&silent, &exact, N), *f = logits_of(&silent, &fast, N);
        YES(memcmp(e, f, 320 * sizeof *e) != 0);
        const struct {
            const tiny     *t;
            const lab_opts *o;
            const float    *same;
        } CASES[] = { { &silent, &autom, e }, { &silent, &normal, e }, { &all, &autom, e },
                      { &none, &normal, f },  { &none, &exact, e },    { &all, &fast, f } };
        for (size_t i = 0; i < LEN(CASES); i++) {
            float *l = logits_of(CASES[i].t, CASES[i].o, N);
            same_bits(l, CASES[i].same, 320, "precision", type);
            free(l);
        }
        float *s = logits_of(&some, &autom, N), *one = logits_of(&some, &autom, 1);
        YES(memcmp(s, e, 320 * sizeof *e) != 0 && memcmp(s, f, 320 * sizeof *e) != 0);
        same_bits(s, one, 320, "some inputs, width 1", type);
        free(s), free(one), free(e), free(f);
    }
}

TEST(a_list_of_inputs_with_a_strange_name_is_refused)
{
    const tiny t = { .says_inputs = true, .exact_inputs = { "norm", "ffn_up" } };
    tiny_file  f = tiny_build(&t);
    mnw_ctx   *ctx;
    mnw_model *m;
    OK(mnw_ctx_open(&(mnw_ctx_opts){ .threads = 1 }, &ctx));
    EQ(mnw_model_open_memory(ctx, f.data, f.size, NULL, &m), MNW_E_UNSUPPORTED);
    HAS(mnw_ctx_error(ctx), "minnow.exact_inputs: \"ffn_up\", expected norm, attn_output or ffn_down");
    mnw_ctx_close(ctx);
    tiny_free(&f);
}

/* int8 keys and values: rounding of 0.5 % again, in one more place per layer. */
TEST(an_int8_cache_is_close_to_an_exact_one)
{
    const tiny t = { .arch = "qwen3", .type = MN_F32 };
    float *exact = logits_of(&t, &(lab_opts){ .backend = MNW_BACKEND_REF, .kv_type = MNW_KV_F32 },
                             N);
    float *f16 = logits_of(&t, &(lab_opts){ .backend = MNW_BACKEND_REF, .kv_type = MNW_KV_F16 }, N);
    float     *i8 = logits_of(&t, &(lab_opts){ .kv_type = MNW_KV_I8 }, N);
    NEAR(distance(f16, exact, 320), 0.0, 1e-3);
    NEAR(distance(i8, exact, 320), 0.0, 0.02);
    YES(distance(i8, exact, 320) > 1e-6);   // it is not the same cache
    free(exact);
    free(f16);
    free(i8);
}

TEST(odd_shapes_work)
{
    static const tiny SHAPES[] = {
        { .arch = "llama", .D = 96, .H = 4, .K = 2, .P = 24, .F = 160, .type = MN_Q8_0 },
        { .arch = "qwen3", .D = 64, .H = 5, .K = 5, .P = 8, .F = 96, .type = MN_F16 },
        { .arch = "qwen3", .D = 32, .H = 4, .K = 4, .P = 8, .F = 32, .type = MN_Q4_0, .L = 1 },
        { .arch = "qwen2", .D = 128, .H = 40, .K = 1, .P = 16, .F = 64, .type = MN_Q4_1 },
        { .arch = "llama", .D = 64, .H = 2, .K = 1, .P = 256, .F = 32, .type = MN_Q5_0 },
        { .arch = "qwen3", .D = 72, .H = 9, .K = 3, .P = 8, .F = 100, .type = MN_Q4X },
        { .arch = "qwen2", .D = 80, .H = 5, .K = 5, .P = 24, .F = 36, .type = MN_Q8X, .V = 325 },
        { .arch = "llama", .D = 48, .H = 3, .K = 1, .P = 16, .F = 200, .type = MN_Q8X,
          .embd_type = MN_Q4X },
    };
    for (size_t i = 0; i < LEN(SHAPES); i++) {
        float *ref = logits_of(&SHAPES[i],
                               &(lab_opts){ .backend = MNW_BACKEND_REF, .kv_type = MNW_KV_F16 }, N);
        float *one = logits_of(&SHAPES[i], &(lab_opts){ .kv_type = MNW_KV_F16 }, N);
        float *three = logits_of(&SHAPES[i], &(lab_opts){ .threads = 3, .kv_type = MNW_KV_F16 }, 1);
        float *scalar = logits_of(&SHAPES[i], &(lab_opts){ .cpu = "scalar", .kv_type = MNW_KV_F16 }, 5);
        same_bits(one, three, 320, "shape", SHAPES[i].type);
        same_bits(one, scalar, 320, "shape, scalar", SHAPES[i].type);
        free(scalar);
        if (distance(one, ref, 320) > 0.04) fail_msg("shape %zu: %g", i, distance(one, ref, 320));
        free(ref);
        free(one);
        free(three);
    }
}

TEST(a_tied_head_equals_a_file_with_the_copy)
{
    tiny   t = { .arch = "qwen3", .type = MN_Q4_0, .embd_type = MN_Q8_0 };
    float *tied = logits_of(&t, &(lab_opts){ 0 }, N);
    t.copied_head = true;
    float *copied = logits_of(&t, &(lab_opts){ 0 }, N);
    same_bits(tied, copied, 320, "tied", MN_Q8_0);
    t.copied_head = false;
    t.untied = true;
    float *own = logits_of(&t, &(lab_opts){ 0 }, N);
    YES(distance(own, tied, 320) > 0.1);   // a head of its own is used
    free(tied);
    free(copied);
    free(own);
}

TEST(a_layer_costs_five_barriers_a_token)
{
    const tiny t = { .L = 3, .type = MN_Q4_0 };
    lab        b;
    lab_open(&b, &t, &(lab_opts){ .threads = 2 });
    const uint64_t before = mn_pool_barriers(b.ctx->pool);
    lab_feed(b.session, 0, 1, 1);
    EQ(mn_pool_barriers(b.ctx->pool) - before, 5 * 3 + 3);   // and embedding, head, end
    lab_close(&b);
}

int main(void)
{
    return RUN(T(the_number_of_threads_does_not_change_a_bit),
               T(the_width_of_a_step_does_not_change_a_bit),
               T(the_instruction_set_does_not_change_a_bit),
               T(both_cache_types_are_equal_on_every_instruction_set),
               T(ref_and_cpu_agree_closely_on_float_weights),
               T(ref_and_cpu_agree_on_quantised_weights_as_far_as_int8_activations_allow),
               T(ref_and_cpu_agree_closely_on_quantised_weights_with_exact_activations),
               T(precision_auto_is_what_the_file_says),
               T(a_list_of_inputs_with_a_strange_name_is_refused),
               T(an_int8_cache_is_close_to_an_exact_one), T(odd_shapes_work),
               T(a_tied_head_equals_a_file_with_the_copy), T(a_layer_costs_five_barriers_a_token));
}
