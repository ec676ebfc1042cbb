/* SPDX-License-Identifier: Apache-2.0
 *
 * test_kernel_math.c - our exp, sincos and sums against libm in double: the errors that
 * docs/NUMERICS.md states, and what the scalar kernels compute.
 */
#include "test.h"

#include <float.h>
#include <math.h>

#include "kernel/kernels.h"
#include "kernel/scalar/math.h"

TEST(exp_is_right_to_8_5e_minus_8_from_minus_87_to_88)
{
    double worst = 0.0;
    for (uint32_t sign = 0; sign < 2; sign++)   // every 61st float of both signs
        for (uint32_t u = 0; u <= mn_bits(88.0f); u += 61) {
            const float x = mn_from_bits(u | sign << 31);
            if (x < -87.0f) break;
            const double want = exp((double)x), error = fabs((double)mn_exp(x) - want) / want;
            if (error > worst) worst = error;
        }
    print_message("worst relative error %.3g\n", worst);
    YES(worst <= 8.5e-8);
}

TEST(exp_ends_in_zero_and_in_a_finite_number)
{
    YES(mn_exp(-87.0f) >= FLT_MIN);
    YES(mn_exp(-87.001f) == 0.0f);
    YES(mn_exp(-FLT_MAX) == 0.0f);
    YES(mn_exp(-INFINITY) == 0.0f);
    YES(mn_exp(0.0f) == 1.0f);
    YES(mn_exp(-0.0f) == 1.0f);
    YES(mn_exp(88.0f) < FLT_MAX);
    YES(mn_exp(88.5f) == mn_exp(88.0f));
    YES(mn_exp(FLT_MAX) == mn_exp(88.0f));
    YES(mn_exp(INFINITY) == mn_exp(88.0f));
    YES(isnan(mn_exp(NAN)));
}

TEST(exp_never_decreases)
{
    float before = 0.0f;
    for (int i = -88 * 4096; i <= 89 * 4096; i++) {
        const float y = mn_exp((float)i / 4096.0f);
        YES(y >= before);
        before = y;
    }
}

TEST(sincos_holds_for_angles_up_to_two_to_the_32)
{
    double worst = 0.0;
    for (int i = 0; i < 400000; i++) {
        const double angle = ldexp(0.5 + 0.5 * fmod(i * 0.6180339887498949, 1.0), i % 64 - 31);
        double       s, c;
        mn_sincos(angle, &s, &c);
        worst = fmax(worst, fmax(fabs(s - sin(angle)), fabs(c - cos(angle))));
        mn_sincos(-angle, &s, &c);
        worst = fmax(worst, fmax(fabs(s + sin(angle)), fabs(c - cos(angle))));
    }
    print_message("worst error %.3g\n", worst);
    YES(worst < 1e-15);
}

TEST(rope_angles_are_right_up_to_a_million_positions)
{
    enum { N = 64 };
    float freq[N / 2], cs[N];
    for (int i = 0; i < N / 2; i++) freq[i] = (float)pow(10000.0, -2.0 * i / N);
    for (uint32_t position = 0; position < 1u << 20; position += 65521) {
        mn_rope_angles(cs, freq, N, position, 1.0f);
        for (int i = 0; i < N / 2; i++) {
            const double angle = (double)position * (double)freq[i];
            NEAR(cs[i], cos(angle), 6e-8);
            NEAR(cs[N / 2 + i], sin(angle), 6e-8);
        }
    }
}

TEST(rope_angles_carry_the_attention_factor)
{
    const float freq[2] = { 1.0f, 0.25f };
    float       cs[4];
    mn_rope_angles(cs, freq, 4, 3, 0.5f);
    NEAR(cs[0], 0.5 * cos(3.0), 1e-7);
    NEAR(cs[3], 0.5 * sin(0.75), 1e-7);
}

TEST(rounding_takes_ties_to_even)
{
    EQ(mn_round(0.5f), 0);
    EQ(mn_round(1.5f), 2);
    EQ(mn_round(-0.5f), 0);
    EQ(mn_round(-2.5f), -2);
    EQ(mn_round(126.5f), 126);
    EQ(mn_round(-127.0f), -127);
    EQ(mn_round(4194303.0f), 4194303);
}

TEST(the_sum_of_sixteen_follows_its_tree)
{
    float acc[16] = { 0 };
    acc[0] = 1e8f, acc[8] = -1e8f, acc[1] = 1.0f;   // 0 and 8 meet first, so the 1 survives
    YES(mn_sum16(acc) == 1.0f);
    acc[8] = 0.0f, acc[1] = 3.0f, acc[4] = -1e8f;   // then 0 and 4
    YES(mn_sum16(acc) == 3.0f);
    acc[4] = 0.0f, acc[2] = -1e8f;                  // then 0 and 2
    YES(mn_sum16(acc) == 3.0f);
    acc[2] = 0.0f, acc[1] = -1e8f, acc[3] = 3.0f;   // 1 meets 3 before 0: the 3 is lost
    YES(mn_sum16(acc) == 0.0f);
}

TEST(rotation_keeps_lengths_and_pairs_as_the_style_says)
{
    mn_kernels k;
    mn_kernels_init(&k, 0);
    const float freq[2] = { 0.5f, 0.125f };
    float       cs[4], half[5] = { 1, 2, 3, 4, 5 }, pair[5] = { 1, 3, 2, 4, 5 };
    mn_rope_angles(cs, freq, 4, 7, 1.0f);
    k.rope_half(half, cs, 1, 5, 4);
    k.rope_pair(pair, cs, 1, 5, 4);
    NEAR(half[0], 1 * cos(3.5) - 3 * sin(3.5), 1e-6);
    NEAR(half[2], 1 * sin(3.5) + 3 * cos(3.5), 1e-6);
    NEAR(half[1], 2 * cos(0.875) - 4 * sin(0.875), 1e-6);
    YES(half[0] == pair[0] && half[2] == pair[1] && half[1] == pair[2] && half[3] == pair[3]);
    YES(half[4] == 5 && pair[4] == 5);              // what lies beyond n is left alone
}

TEST(rmsnorm_and_swiglu_are_their_formulas)
{
    mn_kernels k;
    mn_kernels_init(&k, 0);
    const float x[3] = { 1, -2, 3 }, w[3] = { 0.5f, 1, 2 };
    float       y[3];
    const double r = 1 / sqrt(14.0 / 3 + 0.25);
    k.rmsnorm(y, x, w, 3, 0.25f);
    for (int i = 0; i < 3; i++) NEAR(y[i], x[i] * r * w[i], 1e-6);
    k.rmsnorm(y, x, NULL, 3, 0.25f);
    for (int i = 0; i < 3; i++) NEAR(y[i], x[i] * r, 1e-6);
    k.swiglu(y, x, w, 3);
    for (int i = 0; i < 3; i++) NEAR(y[i], x[i] / (1 + exp(-x[i])) * w[i], 1e-6);
}

TEST(a_row_of_keys_is_reproduced_to_half_a_step)
{
    float  x[64];
    int8_t q[64];
    for (int i = 0; i < 64; i++) x[i] = (float)sin(i * 1.7) * 3.0f;
    mn_kernels k;
    mn_kernels_init(&k, 0);
    const float d = k.quant_kv(q, x, 64);
    int         top = 0;
    for (int i = 0; i < 64; i++) {
        NEAR(d * (float)q[i], x[i], d * 0.5 * (1 + 1e-6));
        top = abs(q[i]) > top ? abs(q[i]) : top;
    }
    EQ(top, 127);

    memset(x, 0, sizeof x);
    YES(k.quant_kv(q, x, 64) == 0.0f);
    for (int i = 0; i < 64; i++) EQ(q[i], 0);
}

TEST(attention_is_the_softmax_average_of_the_values)
{
    enum { S = 37, G = 3, P = 24 };
    mn_kernels k;
    mn_kernels_init(&k, 0);
    uint16_t keys[S * P], values[S * P];
    float    q[G * P], o[G * P], scratch[G * 64];
    for (int i = 0; i < S * P; i++) {
        keys[i] = mn_f32_to_f16((float)sin(i * 0.37));
        values[i] = mn_f32_to_f16((float)cos(i * 0.11));
    }
    for (int i = 0; i < G * P; i++) q[i] = (float)sin(i * 0.9) * 4.0f;

    const mn_kv_head kv = { .k = keys, .v = values, .stride_k = P * 2, .stride_v = P * 2 };
    k.attn_f16(o, P, q, P, &kv, S, G, P, 0.25f, scratch);
    for (int g = 0; g < G; g++) {
        double w[S], sum = 0.0;
        for (int j = 0; j < S; j++) {
            double dot = 0.0;
            for (int i = 0; i < P; i++)
                dot += (double)q[g * P + i] * (double)mn_f16_to_f32(keys[j * P + i]);
            sum += w[j] = exp(dot * 0.25);
        }
        for (int i = 0; i < P; i++) {
            double want = 0.0;
            for (int j = 0; j < S; j++)
                want += w[j] / sum * (double)mn_f16_to_f32(values[j * P + i]);
            NEAR(o[g * P + i], want, 2e-6);
        }
    }
}

TEST(int8_attention_multiplies_the_scales_back)
{
    enum { S = 5, P = 8 };
    mn_kernels k;
    mn_kernels_init(&k, 0);
    int8_t   kq[S * P], vq[S * P];
    uint16_t kh[S * P], vh[S * P];
    float    ks[S], vs[S], q[P], want[P], got[P], scratch[64];
    for (int j = 0; j < S; j++) {
        ks[j] = ldexpf(1.0f, -6 - j), vs[j] = ldexpf(1.0f, -j);   // so that halves are exact
        for (int i = 0; i < P; i++) {
            kq[j * P + i] = (int8_t)(17 * i - 60 + 5 * j), vq[j * P + i] = (int8_t)(9 * j - 7 * i);
            kh[j * P + i] = mn_f32_to_f16((float)kq[j * P + i] * ks[j]);
            vh[j * P + i] = mn_f32_to_f16((float)vq[j * P + i] * vs[j]);
        }
    }
    for (int i = 0; i < P; i++) q[i] = 1.0f - 0.3f * (float)i;
    const mn_kv_head f16 = { .k = kh, .v = vh, .stride_k = P * 2, .stride_v = P * 2 };
    const mn_kv_head i8 = { .k = kq, .v = vq, .ks = ks, .vs = vs, .stride_k = P, .stride_v = P };
    k.attn_f16(want, P, q, P, &f16, S, 1, P, 0.5f, scratch);
    k.attn_i8(got, P, q, P, &i8, S, 1, P, 0.5f, scratch);
    for (int i = 0; i < P; i++) NEAR(got[i], want[i], 1e-5);
}

TEST(argmax_takes_the_first_of_equals_and_no_nan)
{
    mn_kernels k;
    mn_kernels_init(&k, 0);
    EQ(k.argmax((const float[]){ 1, 3, 3, 2 }, 4), 1);
    EQ(k.argmax((const float[]){ NAN, -INFINITY, -2, NAN }, 4), 2);
    EQ(k.argmax((const float[]){ NAN, -INFINITY, -INFINITY }, 3), 1);
    EQ(k.argmax((const float[]){ NAN, NAN }, 2), 0);
}

int main(void)
{
    return RUN(T(exp_is_right_to_8_5e_minus_8_from_minus_87_to_88),
               T(exp_ends_in_zero_and_in_a_finite_number), T(exp_never_decreases),
               T(sincos_holds_for_angles_up_to_two_to_the_32),
               T(rope_angles_are_right_up_to_a_million_positions),
               T(rope_angles_carry_the_attention_factor), T(rounding_takes_ties_to_even),
               T(the_sum_of_sixteen_follows_its_tree),
               T(rotation_keeps_lengths_and_pairs_as_the_style_says),
               T(rmsnorm_and_swiglu_are_their_formulas),
               T(a_row_of_keys_is_reproduced_to_half_a_step),
               T(attention_is_the_softmax_average_of_the_values),
               T(int8_attention_multiplies_the_scales_back),
               T(argmax_takes_the_first_of_equals_and_no_nan));
}
