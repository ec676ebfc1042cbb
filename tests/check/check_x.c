/* SPDX-License-Identifier: Apache-2.0
 *
 * check_x.c - the native formats: products and the quantiser of their activations, each tier against
 * scalar.  Tensors end 64 bytes before a forbidden page, as their contract promises.
 */
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "kernel/q4x.h"

enum { SPARE = 3 };   // floats between the rows of y, which nobody may touch

typedef enum kind { Q4X, Q8X } kind;

static const mn_xmatmul *family(const mn_kernels *k, kind q)
{
    return q == Q4X ? &k->mm_q4x : &k->mm_q8x;
}

static float uniform(mn_check *c)
{
    return (float)(mn_check_random(c) >> 40) * 0x1p-23f - 1.0f;
}

/* Any bits are a tensor once its scales are finite; extreme: codes and multipliers that make the
 * largest sums. */
static mn_xtensor tensor(mn_check *c, kind q, size_t rows, size_t cols, bool extreme)
{
    uint64_t bytes = 0;
    if (!(q == Q4X ? mn_q4x_bytes : mn_q8x_bytes)(rows, cols, &bytes)) return (mn_xtensor){ 0 };
    uint8_t *const data = mn_check_bytes(c, (size_t)bytes + MN_QX_PAD);
    if (extreme) {
        for (size_t i = 0; i < bytes; i++) {
            if (q == Q4X) data[i] = (uint8_t)((data[i] & 1 ? 0x0f : 0) | (data[i] & 2 ? 0xf0 : 0));
            else data[i] = data[i] % 4 ? 0x80 : 0x7f;
        }
        for (size_t p = 0; q == Q4X && p < mn_qx_panels(rows); p++) {
            uint8_t *panel = data + mn_q4x_panel_at(rows, cols, p);
            for (size_t k = 0; k < cols; k += MN_Q4X_SUPER) {
                memset(panel + mn_q4x_mult_at(0, k), 0xff, MN_QX_LINE);
            }
        }
    }
    for (size_t r = 0; r < mn_qx_panels(rows) * MN_QX_ROWS; r++) {
        const float scale = mn_check_random(c) % 16 ? uniform(c) * 0.01f : 0.0f;
        memcpy(data + r * sizeof scale, &scale, sizeof scale);
    }
    return (mn_xtensor){ data, rows, cols };
}

static mn_xacts activations(mn_check *c, size_t cols, size_t T, bool exact)
{
    const size_t bytes = mn_xacts_bytes(T, cols, exact);
    mn_xacts     x = mn_xacts_at(mn_check_out(c, bytes), T, cols, exact);
    float       *v = mn_check_in(c, cols, MN_FILL_UNIFORM);
    for (size_t t = 0; t < T; t++) {
        for (size_t i = 0; i < cols; i++) {
            v[i] = uniform(c) * (i / 32 % 7 == 3 ? 20.0f : 1.0f);
            if (t % 4 == 3) v[i] = mn_check_random(c) % 8 ? 1.0f : -1.0f;   // codes of +-127 alone
            if (t % 5 == 4) v[i] = 0.0f;
        }
        c->ref->quant_x(&x, t, v, cols);
    }
    return x;
}

static bool one(mn_check *c, kind q, size_t rows, size_t cols, size_t T, bool exact, bool extreme)
{
    mn_check_case(c, "rows=%zu cols=%zu T=%zu exact=%d extreme=%d", rows, cols, T, exact, extreme);
    const size_t     ldy = rows + SPARE, count = T * ldy;
    const mn_xtensor w = tensor(c, q, rows, cols, extreme);
    const mn_xacts   x = activations(c, cols, T, exact);
    void            *scratch = mn_check_out(c, mn_xmm_scratch(cols));
    float           *want = mn_check_out(c, count * sizeof *want);
    float           *got[3];
    memset(want, 0x55, count * sizeof *want);
    for (int i = 0; i < 3; i++) got[i] = mn_check_copy(c, want, count * sizeof *want);

    const mn_xmatmul *isa = family(c->isa, q);
    family(c->ref, q)->gemm(want, ldy, &w, 0, rows, &x, T, scratch);
    const size_t cut = mn_qx_panels(rows) / 2 * MN_QX_ROWS;   // two threads' shares
    isa->gemm(got[0], ldy, &w, 0, cut, &x, T, scratch);
    isa->gemm(got[0], ldy, &w, cut, rows - cut, &x, T, scratch);
    isa->small(got[1], ldy, &w, 0, rows, &x, T, scratch);
    for (size_t t = 0; t < T; t++) {
        const mn_xacts from = mn_xacts_from(&x, t);
        isa->gemv(got[2] + t * ldy, ldy, &w, 0, rows, &from, 1, scratch);
    }
    for (int i = 0; i < 3; i++) {
        if (!mn_check_f32(c, got[i], want, count)) return false;
    }
    return true;
}

/* Up to WIDE tokens with a matrix larger than caches, where reading it is the limit; more with a small one.
 * Operations are counted in both planes. */
static void bench(mn_check *c, kind q, size_t rows, size_t from, size_t to)
{
    enum { COLS = 896 };
    static const size_t widths[] = { 1, 2, 4, 8, 16, 32, 128, 512 };
    for (int exact = 0; exact < 2; exact++) {
        mn_check_case(c, "bench");
        const mn_xtensor w = tensor(c, q, rows, COLS, false);
        const mn_xacts   x = activations(c, COLS, to, exact);
        void            *scratch = mn_check_out(c, mn_xmm_scratch(COLS));
        float           *y = mn_check_out(c, to * rows * sizeof *y);
        uint64_t         bytes = 0;
        if (!(q == Q4X ? mn_q4x_bytes : mn_q8x_bytes)(rows, COLS, &bytes)) return;
        for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
            const size_t n = widths[i];
            if (n < from || n > to) continue;
            char         label[32];
            snprintf(label, sizeof label, "%s T=%zu", exact ? "exact" : "fast", n);
            const double amount = n == 1 ? (double)bytes : 2.0 * (double)(rows * COLS * n * x.planes);
            MN_BENCH(c, label, amount, n == 1 ? "B" : "i8",
                     (n == 1   ? family(k, q)->gemv
                      : n < 33 ? family(k, q)->small
                               : family(k, q)->gemm)(y, rows, &w, 0, rows, &x, n, scratch));
        }
    }
}

static void check_kind(mn_check *c, kind q)
{
    static const size_t rows[] = { 1, 15, 16, 17, 31, 33, 48, 70, 112, 150 };
    static const size_t cols[] = { 1,   4,   31,  32,  33,  64,  100, 128, 129,
                                   160, 224, 256, 384, 576, 896, 960, 2560 };
    enum { N_ROWS = sizeof rows / sizeof *rows, N_COLS = sizeof cols / sizeof *cols };

    for (size_t j = 0; j < N_COLS; j++) {
        for (size_t i = 0; i < N_ROWS; i++) {
            const size_t T = 1 + (i + 7 * j) % 9;
            if (!one(c, q, rows[i], cols[j], T, i & 1, (i + j) % 3 == 0)) return;
        }
    }
    for (size_t T = 1; T <= 41; T++) {
        for (int exact = 0; exact < 2; exact++) {
            if (!one(c, q, 100, 288, T, exact, T % 4 == 0)) return;
        }
    }
    if (!one(c, q, 16, 8192, 2, true, true)) return;
    if (c->bench) {
        bench(c, q, 65536, 1, 32);
        bench(c, q, 5120, 128, 512);
    }
}

void check_mm_q4x(mn_check *c)
{
    check_kind(c, Q4X);
}

void check_mm_q8x(mn_check *c)
{
    check_kind(c, Q8X);
}

void check_quant_x(mn_check *c)
{
    for (size_t n = 1; n <= 300; n += n < 70 ? 1 : 23) {
        for (int fill = 0; fill < 2 * MN_FILL_COUNT_WILD; fill++) {
            const bool   exact = fill % 2;
            const size_t bytes = mn_xacts_bytes(2, n, exact);
            mn_check_case(c, "n=%zu fill=%d exact=%d", n, fill / 2, exact);
            float *v = mn_check_in(c, n, (mn_fill)(fill / 2));
            if (n % 8 == 5) v[n - 1] = 0x1p-60f;   // the smallest that is not taken for zero
            int8_t  *block[2] = { mn_check_out(c, bytes), mn_check_out(c, bytes) };
            mn_xacts x[2];
            for (int i = 0; i < 2; i++) x[i] = mn_xacts_at(block[i], 2, n, exact);
            c->ref->quant_x(&x[0], 1, v, n);
            c->isa->quant_x(&x[1], 1, v, n);
            if (!mn_check_f32(c, x[1].scale + 1, x[0].scale + 1, 1)) return;
            memcpy(x[1].scale + 1, x[0].scale + 1, sizeof(float));   // which NaN is not promised
            if (!mn_check_i8(c, block[1], block[0], bytes)) return;
        }
    }
    enum { N = 896 };
    for (int exact = 0; exact < 2; exact++) {
        mn_check_case(c, "bench");
        const float   *v = mn_check_in(c, N, MN_FILL_UNIFORM);
        const mn_xacts x = mn_xacts_at(mn_check_out(c, mn_xacts_bytes(1, N, exact)), 1, N, exact);
        MN_BENCH(c, exact ? "exact n=896" : "fast n=896", N * sizeof *v, "B", k->quant_x(&x, 0, v, N));
    }
}
