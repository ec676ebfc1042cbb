/* SPDX-License-Identifier: Apache-2.0
 *
 * check_mm.c - the matrix products and the quantiser of their activations, each tier against scalar.
 */
#include <string.h>

#include "harness.h"

enum { SPARE = 3 };   // floats between the rows of y, which nobody may touch

static float uniform(mn_check *c)
{
    return (float)(mn_check_random(c) >> 40) * 0x1p-23f - 1.0f;
}

static void put(uint8_t *p, uint16_t word)
{
    memcpy(p, &word, sizeof word);
}

/* Random blocks with scales as files have them: also zero and negative. */
static uint8_t *weights(mn_check *c, const mn_dtype *t, size_t count)
{
    uint8_t *const w = mn_check_bytes(c, count / t->block * t->block_bytes);
    uint8_t       *p = w;
    for (size_t i = 0; i < count / t->block; i++, p += t->block_bytes) {
        const float    scale = mn_check_random(c) % 16 ? uniform(c) * 0.1f : 0.0f;
        const uint16_t d = mn_f32_to_f16(scale);
        switch (t->id) {
        case MN_F32: memcpy(p, &scale, sizeof scale); break;
        case MN_BF16: put(p, mn_f32_to_bf16(scale)); break;
        case MN_Q6_K: put(p + 208, d); break;
        default: put(p, d);
        }
        if (t->id == MN_Q4_1 || t->id == MN_Q5_1 || t->id == MN_Q4_K || t->id == MN_Q5_K) {
            put(p + 2, mn_f32_to_f16(uniform(c) * 0.1f));
        }
    }
    return w;
}

/* T tokens, rows flush against forbidden pages; extreme codes in some. */
static mn_acts activations(mn_check *c, size_t cols, size_t T, bool exact)
{
    mn_acts x = { .ld = (cols + 63) / 64 * 64 };
    x.f = mn_check_out(c, T * x.ld * sizeof *x.f);
    x.q = mn_check_out(c, T * x.ld);
    x.d = mn_check_out(c, T * x.ld / 32 * sizeof *x.d);
    x.s = mn_check_out(c, T * x.ld / 16 * sizeof *x.s);
    memset(x.f, 0, T * x.ld * sizeof *x.f);
    for (size_t t = 0; t < T; t++) {
        const float size = t % 3 == 2 ? 1e-4f : 1.0f;
        for (size_t i = 0; i < cols; i++) {
            float v = uniform(c) * size * (i / 32 % 7 == 3 ? 50.0f : 1.0f);
            if (t % 4 == 3) v = mn_check_random(c) % 8 ? size : -size;   // sums as large as they get
            if (t % 5 == 1 && i / 32 == 1) v = 0.0f;
            x.f[t * x.ld + i] = v;
        }
    }
    if (exact) {
        x.lo = mn_check_out(c, T * x.ld);
        c->ref->quant_q15(x.q, x.lo, x.d, x.s, x.f, T * x.ld);
    } else {
        c->ref->quant_q8(x.q, x.d, x.s, x.f, T * x.ld);
    }
    return x;
}

static bool check_planes(mn_check *c, const mn_dtype *t, size_t rows, size_t cols, size_t T, bool exact)
{
    mn_check_case(c, "rows=%zu cols=%zu T=%zu planes=%d", rows, cols, T, 1 + exact);
    const mn_matmul *ref = mn_kernels_matmul(c->ref, t->id), *isa = mn_kernels_matmul(c->isa, t->id);
    const size_t     ldy = rows + SPARE;
    const uint8_t   *w = weights(c, t, rows * cols);
    const mn_acts    x = activations(c, cols, T, exact);
    float           *want = mn_check_out(c, T * ldy * sizeof *want);
    memset(want, 0x55, T * ldy * sizeof *want);
    float *got = mn_check_copy(c, want, T * ldy * sizeof *want);
    float *one = mn_check_copy(c, want, T * ldy * sizeof *want);
    ref->gemm(want, ldy, w, &x, rows, cols, T);
    isa->gemm(got, ldy, w, &x, rows, cols, T);
    for (size_t i = 0; i < T; i++) {
        const mn_acts v = { x.f + i * x.ld, x.q + i * x.ld, x.d + i * x.ld / 32, x.s + i * x.ld / 16,
                            x.ld, x.lo ? x.lo + i * x.ld : NULL };
        isa->gemv(one + i * ldy, ldy, w, &v, rows, cols, 1);
    }
    return mn_check_f32(c, got, want, T * ldy) && mn_check_f32(c, one, want, T * ldy);
}

static bool check_shape(mn_check *c, const mn_dtype *t, size_t rows, size_t cols, size_t T)
{
    return check_planes(c, t, rows, cols, T, false) &&
           (t->block == 1 || check_planes(c, t, rows, cols, T, true));
}

static void bench(mn_check *c, const mn_dtype *t)
{
    enum { ROWS = 1024, COLS = 1536, T = 96 };
    const char *unit = t->block == 1 ? "op" : "i8";
    mn_check_case(c, "bench");
    const uint8_t *w = weights(c, t, ROWS * COLS);
    const mn_acts  x = activations(c, COLS, T, false);
    float         *y = mn_check_out(c, T * ROWS * sizeof *y);
    MN_BENCH(c, "T=1", ROWS * COLS / t->block * t->block_bytes, "B",
             mn_kernels_matmul(k, t->id)->gemv(y, ROWS, w, &x, ROWS, COLS, 1));
    MN_BENCH(c, "T=8", 2.0 * ROWS * COLS * 8, unit,
             mn_kernels_matmul(k, t->id)->gemm(y, ROWS, w, &x, ROWS, COLS, 8));
    MN_BENCH(c, "T=96", 2.0 * ROWS * COLS * T, unit,
             mn_kernels_matmul(k, t->id)->gemm(y, ROWS, w, &x, ROWS, COLS, T));
    if (t->block == 1) return;
    const mn_acts two = activations(c, COLS, T, true);
    MN_BENCH(c, "T=1 exact", ROWS * COLS / t->block * t->block_bytes, "B",
             mn_kernels_matmul(k, t->id)->gemv(y, ROWS, w, &two, ROWS, COLS, 1));
    MN_BENCH(c, "T=96 exact", 4.0 * ROWS * COLS * T, unit,
             mn_kernels_matmul(k, t->id)->gemm(y, ROWS, w, &two, ROWS, COLS, T));
}

static void check_type(mn_check *c, mn_dtype_id id)
{
    static const size_t rows[] = { 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 70 };
    static const size_t blocks[] = { 1, 2, 3, 4, 5, 6, 18, 31, 32, 33, 48, 67, 72 };
    static const size_t odd[] = { 1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 100, 172, 576 };
    enum { N_ROWS = sizeof rows / sizeof *rows, N_COLS = sizeof odd / sizeof *odd };

    const mn_dtype *t = mn_dtype_from_id(id);
    for (size_t j = 0; j < N_COLS; j++) {
        size_t cols = blocks[j] * 32;
        if (t->block == 1) cols = odd[j];
        if (t->block == 256) cols = (1 + j) * 256;
        for (size_t i = 0; i < 4; i++) {
            if (!check_shape(c, t, rows[(4 * j + i) % N_ROWS], cols, 1 + (i + 5 * j) % 4)) return;
        }
    }
    for (size_t T = 1; T <= 29; T++) {
        if (!check_shape(c, t, 17, 256, T)) return;
    }
    for (size_t j = 0; j < N_ROWS; j++) {
        if (!check_shape(c, t, rows[j], 1536, 5)) return;
    }
    bench(c, t);
}

#define CHECK(slot, id)                                                                            \
    void check_mm_##slot(mn_check *c)                                                              \
    {                                                                                              \
        check_type(c, id);                                                                         \
    }
CHECK(f32, MN_F32)
CHECK(f16, MN_F16)
CHECK(bf16, MN_BF16)
CHECK(q8_0, MN_Q8_0)
CHECK(q4_0, MN_Q4_0)
CHECK(q4_1, MN_Q4_1)
CHECK(q5_0, MN_Q5_0)
CHECK(q5_1, MN_Q5_1)
CHECK(q4_k, MN_Q4_K)
CHECK(q5_k, MN_Q5_K)
CHECK(q6_k, MN_Q6_K)

static void quant(const mn_kernels *k, int8_t *q, int8_t *lo, float *d, float *s, const float *x, size_t n)
{
    if (lo) k->quant_q15(q, lo, d, s, x, n);
    else k->quant_q8(q, d, s, x, n);
}

static void check_quant(mn_check *c, bool exact)
{
    for (size_t n = 32; n <= 640; n += 32) {
        for (int fill = 0; fill < MN_FILL_COUNT_WILD; fill++) {
            mn_check_case(c, "n=%zu fill=%d", n, fill);
            float *x = mn_check_in(c, n, (mn_fill)fill);
            if (n % 64 == 0) memset(x, 0, 32 * sizeof *x);
            if (n % 96 == 0) x[n - 7] = 0x1p-60f;   // the smallest that is not taken for zero
            int8_t *q[2], *lo[2] = { NULL, NULL };
            float  *d[2], *s[2];
            for (int i = 0; i < 2; i++) {
                q[i] = mn_check_out(c, n);
                if (exact) lo[i] = mn_check_out(c, n);
                d[i] = mn_check_out(c, n / 32 * sizeof **d);
                s[i] = mn_check_out(c, n / 16 * sizeof **s);
            }
            quant(c->ref, q[0], lo[0], d[0], s[0], x, n);
            quant(c->isa, q[1], lo[1], d[1], s[1], x, n);
            if (!mn_check_i8(c, q[1], q[0], n) || !mn_check_f32(c, d[1], d[0], n / 32) ||
                !mn_check_f32(c, s[1], s[0], n / 16) || (exact && !mn_check_i8(c, lo[1], lo[0], n))) {
                return;
            }
        }
    }
    enum { N = 1536 };
    mn_check_case(c, "bench");
    const float *x = mn_check_in(c, N, MN_FILL_UNIFORM);
    int8_t      *q = mn_check_out(c, N), *lo = exact ? mn_check_out(c, N) : NULL;
    float       *d = mn_check_out(c, N / 32 * sizeof *d), *s = mn_check_out(c, N / 16 * sizeof *s);
    MN_BENCH(c, "n=1536", N * sizeof *x, "B", quant(k, q, lo, d, s, x, N));
}

void check_quant_q8(mn_check *c)
{
    check_quant(c, false);
}

void check_quant_q15(mn_check *c)
{
    check_quant(c, true);
}
