/* SPDX-License-Identifier: Apache-2.0
 *
 * test_q4x.c - the native formats: sizes, bytes, the quantiser, and products against sums in int64.
 */
#include "test.h"

#include <math.h>

#include "kernel/kernels.h"
#include "kernel/q4x.h"

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

static uint8_t *tensor_for(size_t rows, size_t cols, bool eight)
{
    uint64_t bytes;
    YES((eight ? mn_q8x_bytes : mn_q4x_bytes)(rows, cols, &bytes));
    uint8_t *p = aligned_alloc(64, (size_t)bytes + MN_QX_PAD);
    memset(p, 0x5a, (size_t)bytes + MN_QX_PAD);
    return p;
}

static uint8_t *quantized(const float *w, size_t rows, size_t cols, bool eight, mn_qx_error *e)
{
    uint8_t *p = tensor_for(rows, cols, eight);
    for (size_t i = mn_qx_panels(rows); i-- > 0;) {   // any order
        (eight ? mn_q8x_quantize : mn_q4x_quantize)(p, rows, cols, i, w + i * 16 * cols, cols, NULL, e);
    }
    return p;
}

TEST(sizes_are_what_the_drawing_says)
{
    uint64_t b;
    YES(mn_q4x_bytes(16, 128, &b));
    EQ(b, 64 + 1088);
    YES(mn_q4x_bytes(17, 896, &b));
    EQ(b, 2 * (64 + 7 * 1088));
    YES(mn_q4x_bytes(16, 576, &b));                       // 4 superblocks and half of one
    EQ(b, 64 + 4 * 1088 + 64 + 8 * 64);
    YES(mn_q4x_bytes(1, 1, &b));
    EQ(b, 64 + 64 + 4 * 64);
    YES(mn_q8x_bytes(16, 960, &b));
    EQ(b, 64 + 16 * 960);
    YES(mn_q8x_bytes(1, 33, &b));
    EQ(b, 64 + 16 * 64);
}

TEST(sizes_have_limits_on_both_sides)
{
    uint64_t b;
    NO(mn_q4x_bytes(0, 128, &b));
    NO(mn_q4x_bytes(16, 0, &b));
    YES(mn_q4x_bytes(16, MN_QX_MAX_COLS, &b));
    YES(mn_q8x_bytes(16, MN_QX_MAX_COLS, &b));
    NO(mn_q4x_bytes(16, MN_QX_MAX_COLS + 1, &b));
    NO(mn_q8x_bytes(16, (uint64_t)MN_QX_MAX_COLS + 1, &b));
    NO(mn_q4x_bytes(16, UINT64_MAX, &b));
    NO(mn_q4x_bytes(UINT64_MAX, 128, &b));
    NO(mn_q8x_bytes(UINT64_MAX / 2, 128, &b));
    YES(mn_q4x_bytes((uint64_t)1 << 40, 128, &b));
}

TEST(every_byte_is_where_the_drawing_says)
{
    uint8_t *p = tensor_for(16, 160, false);
    memset(p, 0, 64 + 1088 + 64 + 4 * 64);
    for (size_t r = 0; r < 16; r++) {
        const float one = 1.0f;
        memcpy(p + 4 * r, &one, 4);
    }
    uint8_t *panel = p + 64;
    panel[1 * 16 + 5] = 3 | 11 << 4;                      // row 5: columns 32-47 times 3, 48-63 times 11
    panel[64 + 4 * 64 + 4 * 5 + 2] = 9 | 15 << 4;         // line 4, byte 2: columns 34 and 38
    panel[64 + 7 * 64 + 4 * 5 + 0] = 0 | 1 << 4;          // line 7, byte 0: columns 56 and 60
    panel[1088 + 5] = 2;                                  // the short superblock: columns 128-143
    panel[1088 + 64 + 4 * 5 + 3] = 10;                    // its line 0: column 131
    float y[160];
    mn_q4x_row(y, p, 16, 160, 5);
    EQ(y[34], 3 * (9 - 8));
    EQ(y[38], 3 * (15 - 8));
    EQ(y[56], 11 * (0 - 8));
    EQ(y[60], 11 * (1 - 8));
    EQ(y[33], 3 * -8);
    EQ(y[131], 2 * (10 - 8));
    EQ(y[132], 2 * -8);
    EQ(y[150], 0);
    free(p);

    p = tensor_for(16, 32, true);
    memset(p, 0, 64 + 512);
    const float half = 0.5f;
    memcpy(p + 4 * 15, &half, 4);
    p[64 + 3 * 64 + 4 * 15 + 1] = 0x80;                   // line 3, byte 1: column 13
    mn_q8x_row(y, p, 16, 32, 15);
    EQ(y[13], -64);
    EQ(y[12], 0);
    free(p);
}

TEST(padding_is_eight_zero_zero)
{
    static float w[17 * 40];
    for (size_t i = 0; i < LEN(w); i++) w[i] = normal();
    uint8_t *p = quantized(w, 17, 40, false, NULL);
    for (size_t r = 17; r < 32; r++) {
        float scale;
        memcpy(&scale, p + 4 * r, 4);
        EQ(scale, 0);
    }
    for (size_t r = 0; r < 32; r++) {
        const uint8_t *panel = p + mn_q4x_panel_at(17, 40, r / 16);
        for (size_t k = r < 17 ? 40 : 0; k < 64; k++) {
            EQ(panel[mn_q4x_code_at(r % 16, k)] >> mn_q4x_code_shift(k) & 15, 8);
        }
        EQ(panel[mn_q4x_mult_at(r % 16, 48)] >> 4, 0);
        EQ(panel[2 * 16 + r % 16], 0);                    // columns 64-95 do not exist
    }
    uint64_t bytes;
    YES(mn_q4x_bytes(17, 40, &bytes));
    for (size_t i = 0; i < MN_QX_PAD; i++) EQ(p[bytes + i], 0x5a);   // nothing behind is touched
    free(p);
}

static double decibels(const mn_qx_error *e)
{
    return 10 * log10(e->error / e->power);
}

TEST(normal_weights_lose_what_the_format_costs_and_the_error_is_told)
{
    enum { ROWS = 40, COLS = 640 };
    static float w[ROWS * COLS], y[COLS];
    for (size_t i = 0; i < LEN(w); i++) w[i] = normal() * 0.05f;
    for (int eight = 0; eight < 2; eight++) {
        mn_qx_error told = { 0, 0 }, seen = { 0, 0 };
        uint8_t    *p = quantized(w, ROWS, COLS, eight, &told);
        for (size_t r = 0; r < ROWS; r++) {
            (eight ? mn_q8x_row : mn_q4x_row)(y, p, ROWS, COLS, r);
            for (size_t k = 0; k < COLS; k++) {
                const double v = (double)w[r * COLS + k], miss = v - (double)y[k];
                seen.error += miss * miss;
                seen.power += v * v;
            }
        }
        NEAR(told.error / seen.error, 1, 1e-4);
        NEAR(told.power / seen.power, 1, 1e-9);
        YES(decibels(&told) < (eight ? -40.0 : -22.0));   // 4 bits: a random-rounded fit would be worse
        free(p);
    }
}

TEST(one_large_weight_does_not_take_the_others_along)
{
    static float w[256], y[256];
    for (size_t i = 0; i < 256; i++) w[i] = normal() * 0.05f;
    w[100] = 0.9f;
    uint8_t *p = quantized(w, 1, 256, false, NULL);
    mn_q4x_row(y, p, 1, 256, 0);
    double error = 0, power = 0;
    for (size_t i = 0; i < 256; i++) {
        if (i / 16 == 100 / 16) continue;
        error += pow((double)w[i] - (double)y[i], 2);
        power += pow((double)w[i], 2);
    }
    YES(10 * log10(error / power) < -18);
    NEAR(y[100], 0.9, 0.06);
    free(p);
}

TEST(importance_moves_the_error_to_where_it_costs_less)
{
    enum { COLS = 512 };
    static float w[16 * COLS], h[COLS], y[COLS];
    double       heavy[2] = { 0, 0 };
    for (size_t i = 0; i < LEN(w); i++) w[i] = normal();
    for (size_t k = 0; k < COLS; k++) h[k] = k % 8 == 0 ? 100.0f : 1.0f;
    for (int weighted = 0; weighted < 2; weighted++) {
        uint8_t *p = tensor_for(16, COLS, false);
        mn_q4x_quantize(p, 16, COLS, 0, w, COLS, weighted ? h : NULL, NULL);
        for (size_t r = 0; r < 16; r++) {
            mn_q4x_row(y, p, 16, COLS, r);
            for (size_t k = 0; k < COLS; k += 8) {
                heavy[weighted] += pow((double)w[r * COLS + k] - (double)y[k], 2);
            }
        }
        free(p);
    }
    YES(heavy[1] < 0.7 * heavy[0]);
}

TEST(the_row_scale_takes_either_sign)
{
    static float w[2 * 32], y[32];
    for (int i = 0; i < 32; i++) w[i] = (float)(i % 16 - 8), w[32 + i] = -w[i];   // -8 .. 7, -7 .. 8
    mn_qx_error e = { 0, 0 };
    uint8_t    *p = quantized(w, 2, 32, false, &e);
    for (size_t r = 0; r < 2; r++) {
        mn_q4x_row(y, p, 2, 32, r);
        for (int i = 0; i < 32; i++) NEAR(y[i], w[r * 32 + i], 1e-5);
    }
    YES(e.error < 1e-9);
    free(p);
}

TEST(rows_without_numbers_become_zeros_and_say_so)
{
    static float w[4 * 64], y[64];
    for (int i = 0; i < 64; i++) w[i] = 0.0f, w[64 + i] = 1e-35f, w[128 + i] = 1.0f, w[192 + i] = 1.0f;
    w[200] = NAN;
    for (int eight = 0; eight < 2; eight++) {
        mn_qx_error e = { 0, 0 };
        uint8_t    *p = quantized(w, 4, 64, eight, &e);
        YES(isnan(e.error));
        for (size_t r = 0; r < 4; r++) {
            (eight ? mn_q8x_row : mn_q4x_row)(y, p, 4, 64, r);
            for (int i = 0; i < 64; i++) NEAR(y[i], r == 2 ? 1 : 0, 1e-6);
        }
        EQ(mn_qx_bad_scale(p, 4), SIZE_MAX);
        free(p);
    }
}

TEST(squares_that_overflow_are_reported_not_hidden)
{
    static float w[32];
    for (int i = 0; i < 32; i++) w[i] = i % 2 ? 3e38f : -1e38f;
    for (int eight = 0; eight < 2; eight++) {
        mn_qx_error e = { 0, 0 };
        uint8_t    *p = quantized(w, 1, 32, eight, &e);
        EQ(mn_qx_bad_scale(p, 1), SIZE_MAX);
        YES(e.error == INFINITY || e.error < 1e-3 * e.power);
        free(p);
    }
}

TEST(a_scale_that_is_no_number_is_found)
{
    static float w[20 * 32];
    uint8_t     *p = quantized(w, 20, 32, false, NULL);
    const float  bad = -INFINITY;
    EQ(mn_qx_bad_scale(p, 20), SIZE_MAX);
    memcpy(p + 4 * 31, &bad, 4);                          // a padding row: its sums are still computed
    EQ(mn_qx_bad_scale(p, 20), 31);
    memcpy(p + 4 * 7, &bad, 4);
    EQ(mn_qx_bad_scale(p, 20), 7);
    free(p);
}

TEST(activations_are_within_half_a_step)
{
    enum { N = 100 };
    mn_kernels k;
    float      v[N];
    mn_kernels_init(&k, 0);
    for (int exact = 0; exact < 2; exact++) {
        void    *block = aligned_alloc(64, mn_xacts_bytes(3, N, exact));
        mn_xacts x = mn_xacts_at(block, 3, N, exact);
        for (size_t t = 0; t < 3; t++) {
            for (size_t i = 0; i < N; i++) v[i] = uniform() * 10.0f;
            v[17] = -12.5f;
            k.quant_x(&x, t, v, N);
            const double d = (double)x.scale[t];
            int          total[2] = { 0, 0 };
            const mn_xacts y = mn_xacts_from(&x, t);
            EQ(x.planes, exact ? 2 : 1);
            for (size_t i = 0; i < x.ld; i++) {
                const int q0 = y.q[i], q1 = exact ? y.q[x.ld + i] : 0;
                YES(q0 >= -127 && q1 >= -64 && q1 <= 63);
                NEAR(d * (exact ? 128 * q0 + q1 : q0), i < N ? (double)v[i] : 0, d * 0.5001);
                total[0] += q0;
                total[1] += q1;
            }
            NEAR(d, exact ? 12.5 / 16256 : 12.5 / 127, 1e-7);
            for (size_t i = 0; i < x.planes; i++) {
                EQ(y.total[i], total[i]);
                for (size_t g = 0; g < x.ld / 16; g++) {
                    int sum = 0;
                    for (size_t j = 0; j < 16; j++) sum += y.q[i * x.ld + 16 * g + j];
                    EQ(y.zero[i * (x.ld / 16) + g], -8 * sum);
                }
            }
        }
        free(block);
    }
}

TEST(activations_too_large_to_plan_have_no_size)
{
    EQ(mn_xacts_bytes(SIZE_MAX / 2, 1024, false), SIZE_MAX);
    EQ(mn_xacts_bytes(2, SIZE_MAX - 5, true), SIZE_MAX);
    YES(mn_xacts_bytes(512, 4096, true) < (size_t)6 << 20);
}

/* Every column, with the layout read by the formulas of q4x.h and sums in 64 bits. */
TEST(the_specification_is_the_sum_of_products)
{
    enum { ROWS = 37, COLS = 200, T = 19, LDY = 40 };
    static float w[ROWS * COLS], v[COLS], y[T * LDY];
    mn_kernels   k;
    mn_kernels_init(&k, 0);
    for (size_t i = 0; i < LEN(w); i++) w[i] = normal();
    for (int form = 0; form < 4; form++) {
        const bool eight = form & 1, exact = form & 2;
        uint8_t   *p = quantized(w, ROWS, COLS, eight, NULL);
        void      *block = aligned_alloc(64, mn_xacts_bytes(T, COLS, exact));
        mn_xacts   x = mn_xacts_at(block, T, COLS, exact);
        for (size_t t = 0; t < T; t++) {
            for (size_t i = 0; i < COLS; i++) v[i] = normal();
            k.quant_x(&x, t, v, COLS);
        }
        const mn_xtensor tensor = { p, ROWS, COLS };
        (eight ? k.mm_q8x : k.mm_q4x).gemm(y, LDY, &tensor, 0, ROWS, &x, T, NULL);
        for (size_t r = 0; r < ROWS; r++) {
            const uint8_t *panel = p + (eight ? mn_q8x_panel_at : mn_q4x_panel_at)(ROWS, COLS, r / 16);
            float          scale;
            memcpy(&scale, p + 4 * r, 4);
            for (size_t t = 0; t < T; t++) {
                int64_t sum = 0;
                for (size_t c = 0; c < COLS; c++) {
                    const int q = panel[mn_q4x_code_at(r % 16, c)] >> mn_q4x_code_shift(c) & 15;
                    const int m = panel[mn_q4x_mult_at(r % 16, c)] >> mn_q4x_mult_shift(c) & 15;
                    const int u = eight ? (int8_t)panel[mn_q8x_code_at(r % 16, c)] : m * (q - 8);
                    const int8_t *a = x.q + t * x.planes * x.ld + c;
                    sum += (int64_t)u * (exact ? 128 * a[0] + a[x.ld] : a[0]);
                }
                const double want = (double)sum * (double)scale * (double)x.scale[t];
                NEAR(y[t * LDY + r], want, fabs(want) * 0x1p-22);
            }
        }
        free(block);
        free(p);
    }
}

int main(void)
{
    return RUN(T(sizes_are_what_the_drawing_says), T(sizes_have_limits_on_both_sides),
               T(every_byte_is_where_the_drawing_says), T(padding_is_eight_zero_zero),
               T(normal_weights_lose_what_the_format_costs_and_the_error_is_told),
               T(one_large_weight_does_not_take_the_others_along),
               T(importance_moves_the_error_to_where_it_costs_less), T(the_row_scale_takes_either_sign),
               T(rows_without_numbers_become_zeros_and_say_so),
               T(squares_that_overflow_are_reported_not_hidden), T(a_scale_that_is_no_number_is_found),
               T(activations_are_within_half_a_step), T(activations_too_large_to_plan_have_no_size),
               T(the_specification_is_the_sum_of_products));
}
