/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_x_scalar.c - matrix products with Q4X and Q8X, the specification.
 */
#include "kernel/q4x.h"
#include "kernel/scalar/math.h"
#include "kernel/scalar/mm_x.h"
#include "kernel/scalar/scalar.h"
#include "kernel/tiers.h"

enum { TOKENS = 16 };   // tokens that share unpacked weights

/* The integers of 32 columns of a row. */
typedef void unpack_fn(int8_t *w, const uint8_t *panel, size_t r, size_t k);

static void unpack_q4x(int8_t *w, const uint8_t *panel, size_t r, size_t k)
{
    for (size_t i = 0; i < MN_QX_STEP; i++, k++) {
        const int q = panel[mn_q4x_code_at(r, k)] >> mn_q4x_code_shift(k) & 15;
        const int m = panel[mn_q4x_mult_at(r, k)] >> mn_q4x_mult_shift(k) & 15;
        w[i] = (int8_t)(m * (q - 8));
    }
}

static void unpack_q8x(int8_t *w, const uint8_t *panel, size_t r, size_t k)
{
    for (size_t i = 0; i < MN_QX_STEP; i++) w[i] = (int8_t)panel[mn_q8x_code_at(r, k + i)];
}

/* One row with up to TOKENS tokens. */
static void mm_row(float *y, size_t ldy, const uint8_t *panel, size_t r, float scale, size_t cols,
                   const mn_xacts *x, size_t T, unpack_fn *unpack)
{
    const size_t columns = T * x->planes;
    int32_t      sum[2 * TOKENS] = { 0 };
    for (size_t k = 0; k < cols; k += MN_QX_STEP) {
        int8_t w[MN_QX_STEP];
        unpack(w, panel, r, k);
        for (size_t c = 0; c < columns; c++) {
            const int8_t *q = x->q + c * x->ld + k;
            int32_t       dot = 0;
            for (int j = 0; j < MN_QX_STEP; j++) dot += w[j] * q[j];
            sum[c] += dot;
        }
    }
    for (size_t t = 0; t < T; t++) {
        float v = (float)sum[t * x->planes];
        if (x->planes == 2) v = fmaf(v, MN_X_PLANE, (float)sum[2 * t + 1]);
        y[t * ldy] = v * scale * x->scale[t];
    }
}

static void mm(float *y, size_t ldy, const mn_xtensor *w, size_t row, size_t rows, const mn_xacts *x,
               size_t T, size_t panel_bytes, unpack_fn *unpack)
{
    const uint8_t *panels = w->data + mn_qx_panels(w->rows) * MN_QX_LINE;
    for (size_t r = row; r < row + rows; r++) {
        float scale;
        memcpy(&scale, w->data + r * sizeof scale, sizeof scale);
        for (size_t t = 0; t < T; t += TOKENS) {
            const mn_xacts some = mn_xacts_from(x, t);
            mm_row(y + t * ldy + r, ldy, panels + r / MN_QX_ROWS * panel_bytes, r % MN_QX_ROWS, scale,
                   w->cols, &some, T - t < TOKENS ? T - t : TOKENS, unpack);
        }
    }
}

static void mm_q4x(float *y, size_t ldy, const mn_xtensor *w, size_t row, size_t rows,
                   const mn_xacts *x, size_t T, void *scratch)
{
    (void)scratch;
    mm(y, ldy, w, row, rows, x, T, mn_q4x_panel_bytes(w->cols), unpack_q4x);
}

static void mm_q8x(float *y, size_t ldy, const mn_xtensor *w, size_t row, size_t rows,
                   const mn_xacts *x, size_t T, void *scratch)
{
    (void)scratch;
    mm(y, ldy, w, row, rows, x, T, mn_q8x_panel_bytes(w->cols), unpack_q8x);
}

void mn_kernels_xmm_scalar(mn_kernels *k)
{
    k->quant_x = mn_quant_x__scalar;
    k->mm_q4x = (mn_xmatmul){ mm_q4x, mm_q4x, mm_q4x };
    k->mm_q8x = (mn_xmatmul){ mm_q8x, mm_q8x, mm_q8x };
}
