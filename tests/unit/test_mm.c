/* SPDX-License-Identifier: Apache-2.0
 *
 * test_mm.c - the scalar matrix products against sums in double.  tests/check holds the other tiers
 * to the scalar one.
 */
#include "test.h"

#include <math.h>

#include "kernel/kernels.h"

enum { MAX_COLS = 2304, MAX_ROWS = 8, MAX_TOKENS = 4 };

static const mn_dtype_id types[] = { MN_F32,  MN_F16,  MN_BF16, MN_Q8_0, MN_Q4_0, MN_Q4_1,
                                     MN_Q5_0, MN_Q5_1, MN_Q4_K, MN_Q5_K, MN_Q6_K };

static uint32_t seed = 1;

static uint32_t next(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

static float uniform(void)
{
    return (float)next() / (float)(1 << 23) - 1.0f;
}

/* Random blocks with scales as real files have them, zero and negative ones among them. */
static void random_weights(uint8_t *p, const mn_dtype *t, size_t count)
{
    for (size_t i = 0; i < count / t->block; i++, p += t->block_bytes) {
        for (size_t j = 0; j < t->block_bytes; j++) p[j] = (uint8_t)next();
        const float    scale = next() % 16 ? uniform() * 0.1f : 0.0f;
        const uint16_t d = mn_f32_to_f16(scale), m = mn_f32_to_f16(uniform() * 0.1f);
        const uint16_t b = mn_f32_to_bf16(scale);
        switch (t->id) {
        case MN_F32: memcpy(p, &scale, 4); break;
        case MN_F16: memcpy(p, &d, 2); break;
        case MN_BF16: memcpy(p, &b, 2); break;
        case MN_Q6_K: memcpy(p + 208, &d, 2); break;
        case MN_Q4_1:
        case MN_Q5_1:
        case MN_Q4_K:
        case MN_Q5_K:
            memcpy(p, &d, 2);
            memcpy(p + 2, &m, 2);
            break;
        default: memcpy(p, &d, 2);
        }
    }
}

/* Weights and activations in both forms. */
typedef struct problem {
    const mn_dtype *type;
    size_t          rows, cols, T;
    uint8_t        *weights;
    mn_acts         x;
} problem;

static float  act_f[MAX_TOKENS * MAX_COLS] __attribute__((aligned(64)));
static int8_t act_q[MAX_TOKENS * MAX_COLS] __attribute__((aligned(64)));
static int8_t act_lo[MAX_TOKENS * MAX_COLS] __attribute__((aligned(64)));
static float  act_d[MAX_TOKENS * MAX_COLS / 32], act_s[MAX_TOKENS * MAX_COLS / 16];

/* The row of one token as activations of its own. */
static mn_acts token(const mn_acts *x, size_t t)
{
    return (mn_acts){ x->f + t * x->ld, x->q + t * x->ld, x->d + t * x->ld / 32,
                      x->s + t * x->ld / 16, x->ld, x->lo ? x->lo + t * x->ld : NULL };
}

static problem make_planes(mn_dtype_id id, size_t rows, size_t cols, size_t T, const mn_kernels *k,
                           bool exact)
{
    problem  p = { .type = mn_dtype_from_id(id), .rows = rows, .cols = cols, .T = T };
    uint64_t bytes;
    YES(mn_dtype_bytes(p.type, rows * cols, &bytes));
    p.weights = malloc(bytes);
    random_weights(p.weights, p.type, rows * cols);

    p.x = (mn_acts){ act_f, act_q, act_d, act_s, (cols + 63) / 64 * 64,
                     exact ? act_lo : NULL };
    memset(act_f, 0, sizeof act_f);
    for (size_t t = 0; t < T; t++) {
        const mn_acts x = token(&p.x, t);
        const float   size = t % 3 == 2 ? 1e-4f : 1.0f;
        for (size_t i = 0; i < cols; i++) {
            x.f[i] = uniform() * size * (i / 32 % 7 == 3 ? 50.0f : 1.0f);
        }
        if (t % 5 == 1 && cols >= 64) memset(x.f + 32, 0, 32 * sizeof *x.f);
        if (exact) k->quant_q15(x.q, x.lo, x.d, x.s, x.f, x.ld);
        else k->quant_q8(x.q, x.d, x.s, x.f, x.ld);
    }
    return p;
}

static problem make(mn_dtype_id id, size_t rows, size_t cols, size_t T, const mn_kernels *k)
{
    return make_planes(id, rows, cols, T, k, false);
}

static void drop(problem *p)
{
    free(p->weights);
}

static void run(float *y, const problem *p, const mn_kernels *k)
{
    mn_kernels_matmul(k, p->type->id)->gemm(y, MAX_ROWS, p->weights, &p->x, p->rows, p->cols, p->T);
}

static void compare_with_the_sum_of_products(bool exact)
{
    static float y[3 * MAX_ROWS], w[MAX_COLS];
    mn_kernels   k;
    mn_kernels_init(&k, 0);
    for (size_t i = 0; i < LEN(types); i++) {
        problem p = make_planes(types[i], 5, 1280, 3, &k, exact);
        run(y, &p, &k);
        for (size_t r = 0; r < p.rows; r++) {
            mn_dequantize(w, p.weights + r * p.cols / p.type->block * p.type->block_bytes,
                          p.type->id, p.cols);
            for (size_t t = 0; t < p.T; t++) {
                double sum = 0, size = 0;
                for (size_t c = 0; c < p.cols; c++) {
                    const size_t at = t * p.x.ld + c;
                    const int    code = exact ? 128 * act_q[at] + act_lo[at] : act_q[at];
                    const double x = mn_wants_q8(p.type) ? (double)act_d[at / 32] * code
                                                         : (double)act_f[at];
                    sum += (double)w[c] * x;
                    size += fabs((double)w[c] * x);
                }
                NEAR(y[t * MAX_ROWS + r], sum, size * 0x1p-20);
            }
        }
        drop(&p);
    }
}

TEST(the_specification_is_the_sum_of_products)
{
    compare_with_the_sum_of_products(false);
}

TEST(with_two_planes_the_specification_is_the_sum_of_products)
{
    compare_with_the_sum_of_products(true);
}

TEST(two_planes_are_within_half_a_step_of_a_16256th)
{
    mn_kernels k;
    mn_kernels_init(&k, 0);
    problem p = make_planes(MN_Q4_1, 1, 1280, 6, &k, true);
    for (size_t at = 0; at < p.T * p.x.ld; at++) {
        YES(act_lo[at] >= -64 && act_lo[at] < 64);
        const double x = (double)act_d[at / 32] * (128 * act_q[at] + act_lo[at]);
        NEAR(x, (double)act_f[at], (double)act_d[at / 32] * 0.502);
    }
    drop(&p);
}

TEST(a_nan_spoils_its_block_and_no_other)
{
    mn_kernels k;
    mn_kernels_init(&k, 0);
    float  x[64] = { 1, 2, NAN, 4 }, d[2], s[4];
    int8_t q[64], lo[64];
    x[40] = 3;
    k.quant_q8(q, d, s, x, 64);
    YES(isnan(d[0]) && isnan(s[0]) && d[1] > 0);
    k.quant_q15(q, lo, d, s, x, 64);
    YES(isnan(d[0]) && isnan(s[0]) && d[1] > 0);
}

TEST(quantised_activations_are_within_half_a_step)
{
    mn_kernels k;
    mn_kernels_init(&k, 0);
    problem p = make(MN_Q8_0, 1, 1024, 4, &k);
    for (size_t i = 0; i < p.T * p.x.ld; i++) {
        NEAR(act_q[i] * (double)act_d[i / 32], act_f[i], (double)act_d[i / 32] * 0.50001);
        YES(act_q[i] >= -127);
    }
    for (size_t i = 0; i < p.T * p.x.ld; i += 16) {
        int sum = 0;
        for (size_t j = 0; j < 16; j++) sum += act_q[i + j];
        YES(act_s[i / 16] == act_d[i / 32] * (float)sum);
    }
    drop(&p);
}

int main(void)
{
    return RUN(T(the_specification_is_the_sum_of_products),
               T(with_two_planes_the_specification_is_the_sum_of_products),
               T(two_planes_are_within_half_a_step_of_a_16256th),
               T(a_nan_spoils_its_block_and_no_other),
               T(quantised_activations_are_within_half_a_step));
}
