/* SPDX-License-Identifier: Apache-2.0
 *
 * q4x.c - rows and validity of the native formats.
 */
#include "kernel/q4x.h"

#include <math.h>
#include <string.h>

static float row_scale(const void *tensor, size_t row)
{
    float scale;
    memcpy(&scale, (const uint8_t *)tensor + row * sizeof scale, sizeof scale);
    return scale;
}

void mn_q4x_row(float *y, const void *tensor, size_t rows, size_t cols, size_t row)
{
    const uint8_t *panel = (const uint8_t *)tensor + mn_q4x_panel_at(rows, cols, row / MN_QX_ROWS);
    const size_t   r = row % MN_QX_ROWS;
    const float    scale = row_scale(tensor, row);
    for (size_t k = 0; k < cols; k++) {
        const int q = panel[mn_q4x_code_at(r, k)] >> mn_q4x_code_shift(k) & 15;
        const int m = panel[mn_q4x_mult_at(r, k)] >> mn_q4x_mult_shift(k) & 15;
        y[k] = scale * (float)(m * (q - 8));
    }
}

void mn_q8x_row(float *y, const void *tensor, size_t rows, size_t cols, size_t row)
{
    const uint8_t *panel = (const uint8_t *)tensor + mn_q8x_panel_at(rows, cols, row / MN_QX_ROWS);
    const float    scale = row_scale(tensor, row);
    for (size_t k = 0; k < cols; k++) {
        y[k] = scale * (float)(int8_t)panel[mn_q8x_code_at(row % MN_QX_ROWS, k)];
    }
}

size_t mn_qx_bad_scale(const void *tensor, size_t rows)
{
    for (size_t r = 0; r < mn_qx_panels(rows) * MN_QX_ROWS; r++) {
        if (!isfinite(row_scale(tensor, r))) return r;
    }
    return SIZE_MAX;
}
