/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_scalar.c - matrix products, the specification: mm_scalar.h in code.
 */
#include "kernel/scalar/mm_scalar.h"

#include "kernel/scalar/math.h"
#include "kernel/scalar/scalar.h"
#include "kernel/scalar/unpack.h"
#include "kernel/tiers.h"

enum { TOKENS = 16 };   // tokens that share an unpacked block

/* n products of codes and activations, of which lo is the second plane or NULL. */
static int dot(const int8_t *a, const int8_t *q, const int8_t *lo, int n)
{
    int sum = 0;
    for (int k = 0; k < n; k++) sum += a[k] * (lo ? 128 * q[k] + lo[k] : q[k]);
    return sum;
}

/* Add the products of a block with one token to a partial sum. */
static float add_block(float acc, const mn_block *w, const int8_t *q, const int8_t *lo, float d,
                       const float *s, mn_dtype_id type)
{
    if (type == MN_Q6_K) {
        for (int h = 0; h < 2; h++) {
            const int sum = dot(w->code + 16 * h, q + 16 * h, lo ? lo + 16 * h : NULL, 16);
            acc = fmaf(w->scale[h] * d, (float)sum, acc);
            acc = fmaf(w->offset[h], s[h], acc);
        }
        return acc;
    }
    acc = fmaf(w->scale[0] * d, (float)dot(w->code, q, lo, 32), acc);
    return type == MN_Q8_0 ? acc : fmaf(w->offset[0], s[0] + s[1], acc);
}

static void mm_row(float *y, size_t ldy, const uint8_t *row, mn_dtype_id type, const mn_acts *x,
                   size_t blocks, size_t t0, size_t t1)
{
    mn_unpack_fn *unpack = mn_unpack_for(type);
    const size_t  ld = x->ld;
    for (size_t b0 = 0; b0 < blocks; b0 += MN_MM_CHUNK) {
        const size_t b1 = b0 + MN_MM_CHUNK < blocks ? b0 + MN_MM_CHUNK : blocks;
        float        acc[TOKENS][4] = { { 0 } };
        for (size_t b = b0; b < b1; b++) {
            mn_block w;
            unpack(&w, row, b);
            for (size_t t = t0; t < t1; t++) {
                float *a = &acc[t - t0][b % 4];
                *a = add_block(*a, &w, x->q + t * ld + 32 * b, x->lo ? x->lo + t * ld + 32 * b : NULL,
                               x->d[t * ld / 32 + b], x->s + t * ld / 16 + 2 * b, type);
            }
        }
        for (size_t t = t0; t < t1; t++) {
            const float *a = acc[t - t0];
            const float  chunk = (a[0] + a[2]) + (a[1] + a[3]);
            y[t * ldy] = b0 == 0 ? chunk : y[t * ldy] + chunk;
        }
    }
}

static void mm_blocks(float *y, size_t ldy, const void *w, const mn_acts *x, size_t rows,
                      size_t cols, size_t T, mn_dtype_id type)
{
    const size_t stride = mn_row_bytes(mn_dtype_from_id(type), cols);
    for (size_t r = 0; r < rows; r++) {
        for (size_t t = 0; t < T; t += TOKENS) {
            mm_row(y + r, ldy, (const uint8_t *)w + r * stride, type, x, cols / 32, t,
                   t + TOKENS < T ? t + TOKENS : T);
        }
    }
}

static void mm_floats(float *y, size_t ldy, const void *w, const mn_acts *x, size_t rows,
                      size_t cols, size_t T, mn_dtype_id type)
{
    const size_t size = type == MN_F32 ? 4 : 2;
    for (size_t r = 0; r < rows; r++) {
        const uint8_t *row = (const uint8_t *)w + r * cols * size;
        for (size_t t = 0; t < T; t++) {
            float acc[16] = { 0 };
            for (size_t k = 0; k < cols; k += 16) {
                const size_t n = cols - k < 16 ? cols - k : 16;
                float        v[16] = { 0 }, u[16] = { 0 };
                mn_dequantize(v, row + k * size, type, n);
                memcpy(u, x->f + t * x->ld + k, n * sizeof *u);
                for (int i = 0; i < 16; i++) acc[i] = fmaf(v[i], u[i], acc[i]);
            }
            y[t * ldy + r] = mn_sum16(acc);
        }
    }
}

#define MM(name, type, how)                                                                        \
    static void mm_##name(float *y, size_t ldy, const void *w, const mn_acts *x, size_t rows,      \
                          size_t cols, size_t T)                                                   \
    {                                                                                              \
        how(y, ldy, w, x, rows, cols, T, type);                                                    \
    }
MM(f32, MN_F32, mm_floats)
MM(f16, MN_F16, mm_floats)
MM(bf16, MN_BF16, mm_floats)
MM(q8_0, MN_Q8_0, mm_blocks)
MM(q4_0, MN_Q4_0, mm_blocks)
MM(q4_1, MN_Q4_1, mm_blocks)
MM(q5_0, MN_Q5_0, mm_blocks)
MM(q5_1, MN_Q5_1, mm_blocks)
MM(q4_k, MN_Q4_K, mm_blocks)
MM(q5_k, MN_Q5_K, mm_blocks)
MM(q6_k, MN_Q6_K, mm_blocks)
#undef MM

void mn_kernels_mm_scalar(mn_kernels *k)
{
    k->quant_q8 = mn_quant_q8__scalar;
    k->quant_q15 = mn_quant_q15__scalar;
    k->mm_f32 = (mn_matmul){ mm_f32, mm_f32 };
    k->mm_f16 = (mn_matmul){ mm_f16, mm_f16 };
    k->mm_bf16 = (mn_matmul){ mm_bf16, mm_bf16 };
    k->mm_q8_0 = (mn_matmul){ mm_q8_0, mm_q8_0 };
    k->mm_q4_0 = (mn_matmul){ mm_q4_0, mm_q4_0 };
    k->mm_q4_1 = (mn_matmul){ mm_q4_1, mm_q4_1 };
    k->mm_q5_0 = (mn_matmul){ mm_q5_0, mm_q5_0 };
    k->mm_q5_1 = (mn_matmul){ mm_q5_1, mm_q5_1 };
    k->mm_q4_k = (mn_matmul){ mm_q4_k, mm_q4_k };
    k->mm_q5_k = (mn_matmul){ mm_q5_k, mm_q5_k };
    k->mm_q6_k = (mn_matmul){ mm_q6_k, mm_q6_k };
}
