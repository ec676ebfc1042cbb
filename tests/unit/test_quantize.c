/* SPDX-License-Identifier: Apache-2.0
 *
 * test_quantize.c - encoders of the exchange types: how much is lost, and what hostile floats become.
 */
#include "test.h"

#include <math.h>

#include "format/scan.h"
#include "kernel/kernels.h"
#include "kernel/quantize.h"

enum { N = 16384 };

static uint32_t seed = 1;

static float uniform(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (float)(seed >> 8) / (float)(1 << 23) - 1.0f;
}

/* Twelve of these are close to a normal distribution, which trained weights are close to. */
static float normal(void)
{
    float sum = 0;
    for (int i = 0; i < 12; i++) sum += uniform();
    return sum * 0.5f;
}

static void fill(float *w, size_t n)
{
    seed = 1;
    for (size_t i = 0; i < n; i++) w[i] = normal() * (1.0f + (float)(i / 32 % 5) * 0.25f);
}

static double decibels(const mn_qx_error *e)
{
    return 10 * log10(e->error / e->power);
}

static const mn_dtype_id BLOCKS[] = { MN_Q4_0, MN_Q4_1, MN_Q5_0, MN_Q5_1,
                                      MN_Q8_0, MN_Q4_K, MN_Q5_K, MN_Q6_K };

TEST(no_type_loses_more_than_llama_cpp_loses)
{
    // tools/golden_quantize.py, llama-cpp-python 0.3.36, gguf 0.19.0, 2026-12-01: decibels on these weights.
    static const struct {
        mn_dtype_id type;
        double      theirs;
    } rival[] = {
        { MN_Q4_0, -21.513 }, { MN_Q4_1, -22.300 }, { MN_Q5_0, -27.539 }, { MN_Q5_1, -28.599 },
        { MN_Q8_0, -45.644 }, { MN_Q4_K, -23.038 }, { MN_Q5_K, -28.941 }, { MN_Q6_K, -35.056 },
    };
    static float   w[N];
    static uint8_t p[4 * N];
    fill(w, N);
    for (size_t i = 0; i < LEN(rival); i++) {
        mn_qx_error e = { 0, 0 };
        mn_quantize(p, rival[i].type, w, N, NULL, &e);
        if (!(decibels(&e) < rival[i].theirs - 0.1))
            fail_msg("%s: %.3f dB, expected clearly below %.3f", mn_dtype_of(rival[i].type)->name,
                     decibels(&e), rival[i].theirs);
    }
}

TEST(the_error_told_is_the_error_made)
{
    static float   w[512], y[512], h[512];
    static uint8_t p[4 * 512];
    fill(w, 512);
    for (size_t i = 0; i < 512; i++) h[i] = fabsf(uniform());
    for (size_t i = 0; i < LEN(BLOCKS); i++) {
        mn_qx_error e = { 0, 0 };
        double      error = 0, power = 0;
        mn_quantize(p, BLOCKS[i], w, 512, h, &e);
        mn_dequantize(y, p, BLOCKS[i], 512);
        for (size_t k = 0; k < 512; k++) {
            error += (double)h[k] * ((double)w[k] - (double)y[k]) * ((double)w[k] - (double)y[k]);
            power += (double)h[k] * (double)w[k] * (double)w[k];
        }
        NEAR(e.error, error, 1e-9 * error);
        NEAR(e.power, power, 1e-9 * power);
    }
}

TEST(importance_moves_the_error_to_where_it_costs_less)
{
    static float   w[1024], h[1024];
    static uint8_t p[4 * 1024];
    fill(w, 1024);
    for (size_t i = 0; i < 1024; i++) h[i] = i % 3 ? 0.01f : 1.0f;
    for (size_t i = 0; i < LEN(BLOCKS); i++) {
        float       y[1024];
        double      plain = 0;
        mn_qx_error e = { 0, 0 };
        mn_quantize(p, BLOCKS[i], w, 1024, NULL, NULL);
        mn_dequantize(y, p, BLOCKS[i], 1024);
        for (size_t k = 0; k < 1024; k++)
            plain += (double)h[k] * ((double)w[k] - (double)y[k]) * ((double)w[k] - (double)y[k]);
        mn_quantize(p, BLOCKS[i], w, 1024, h, &e);
        YES(e.error < plain);
    }
}

/* Values that a type can hold come back as they were, or nearly: scales are searched, not remembered. */
TEST(quantising_twice_changes_next_to_nothing)
{
    static float   w[N], y[N];
    static uint8_t p[4 * N];
    fill(w, N);
    for (size_t i = 0; i < LEN(BLOCKS); i++) {
        mn_qx_error e = { 0, 0 }, first = { 0, 0 };
        mn_quantize(p, BLOCKS[i], w, N, NULL, &first);
        mn_dequantize(y, p, BLOCKS[i], N);
        mn_quantize(p, BLOCKS[i], y, N, NULL, &e);
        if (!(e.error < 0.1 * first.error))
            fail_msg("%s: %.2f dB the second time, %.2f the first", mn_dtype_of(BLOCKS[i])->name,
                     decibels(&e), decibels(&first));
    }
}

TEST(zeros_stay_zeros)
{
    static float   w[256], y[256];
    static uint8_t p[1024];
    for (size_t i = 0; i < LEN(BLOCKS); i++) {
        mn_qx_error e = { 0, 0 };
        mn_quantize(p, BLOCKS[i], w, 256, NULL, &e);
        mn_dequantize(y, p, BLOCKS[i], 256);
        for (int k = 0; k < 256; k++) YES(y[k] == 0.0f);
        YES(e.error == 0);
    }
}

TEST(constant_blocks_are_kept)
{
    static float   w[256], y[256];
    static uint8_t p[1024];
    for (size_t i = 0; i < LEN(BLOCKS); i++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            for (int k = 0; k < 256; k++) w[k] = 0.7f * (float)sign;
            mn_quantize(p, BLOCKS[i], w, 256, NULL, NULL);
            mn_dequantize(y, p, BLOCKS[i], 256);
            for (int k = 0; k < 256; k++) NEAR(y[k], w[k], 0.005);
        }
    }
}

/* Whatever the floats, the file is one that `minnow check` accepts. */
TEST(no_float_makes_a_scale_that_is_not_finite)
{
    static const float odd[] = { 3e38f, -3e38f, 1e30f, 7e5f, 1e-45f, 1e-38f, -1e-20f, 0.0f, 6e-8f };
    static float       w[256];
    static uint8_t     p[1024];
    static const float importance[3] = { 0.0f, 1e-30f, 1e30f };
    for (size_t i = 0; i < LEN(BLOCKS) + 2; i++) {
        const mn_dtype_id type = i < LEN(BLOCKS) ? BLOCKS[i] : i == LEN(BLOCKS) ? MN_F16 : MN_BF16;
        for (int round = 0; round < 60; round++) {
            float h[256];
            for (int k = 0; k < 256; k++) {
                w[k] = odd[(unsigned)(uniform() * 4096 + 4096) % LEN(odd)];
                if (round % 3 == 1) w[k] = odd[4 + k % 4];
                h[k] = importance[(k + round) % 3];
            }
            mn_quantize(p, type, w, 256, round % 2 ? h : NULL, NULL);
            const mn_dtype *t = mn_dtype_of(type);
            const mn_tensor x = { .type = t, .data = p, .bytes = 256 / t->block * t->block_bytes,
                                  .dim = { 256, 1, 1, 1 }, .name = mn_str_of("w") };
            mn_err err = { 0 };
            if (mn_scan_tensor(&x, &err) != MNW_OK) fail_msg("%s: %s", t->name, err.text);
        }
    }
}

TEST(a_block_with_a_nan_becomes_zeros_and_says_so)
{
    static float   w[512], y[512];
    static uint8_t p[4 * 512];
    fill(w, 512);
    w[3] = NAN;
    for (size_t i = 0; i < LEN(BLOCKS); i++) {
        mn_qx_error e = { 0, 0 };
        mn_quantize(p, BLOCKS[i], w, 512, NULL, &e);
        mn_dequantize(y, p, BLOCKS[i], 512);
        YES(isnan(e.error));
        YES(y[3] == 0.0f && y[4] == 0.0f);
        YES(y[400] != 0.0f);
    }
}

TEST(floats_are_rounded_to_the_nearest)
{
    const float w[4] = { 1.0f, 1.0f + 0x1p-12f, -70000.0f, 0.1f };
    uint16_t    p[4];
    float       y[4];
    mn_qx_error e = { 0, 0 };
    mn_quantize(p, MN_F16, w, 4, NULL, &e);
    mn_dequantize(y, p, MN_F16, 4);
    YES(y[0] == 1.0f && y[1] == 1.0f && y[2] == -65504.0f);
    mn_quantize(p, MN_BF16, w, 4, NULL, NULL);
    mn_dequantize(y, p, MN_BF16, 4);
    NEAR(y[2], -70000, 256);
    mn_quantize(y, MN_F32, w, 4, NULL, NULL);
    EQ_MEM(y, w, sizeof w);
    NO(mn_can_quantize(MN_I8));
    NO(mn_can_quantize(MN_Q4X));
    YES(mn_can_quantize(MN_F32));
    YES(mn_can_quantize(MN_Q5_K));
}

int main(void)
{
    return RUN(T(no_type_loses_more_than_llama_cpp_loses), T(the_error_told_is_the_error_made),
               T(importance_moves_the_error_to_where_it_costs_less), T(quantising_twice_changes_next_to_nothing),
               T(zeros_stay_zeros), T(constant_blocks_are_kept), T(no_float_makes_a_scale_that_is_not_finite),
               T(a_block_with_a_nan_becomes_zeros_and_says_so), T(floats_are_rounded_to_the_nearest));
}
