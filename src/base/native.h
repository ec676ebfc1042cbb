/* SPDX-License-Identifier: Apache-2.0
 *
 * native.h - where the bytes of the native weight formats are: Q4X, 4.25 bits a weight, and Q8X, 8.
 *
 * Both cut a matrix [rows, cols] into panels of 16 rows and a panel into 64-byte lines, each of which
 * holds some columns of all 16 rows: one dword per row.  So one load feeds any vector unit with 16
 * rows, nothing is ever repacked, and a row is summed in int32 from end to end.
 *
 *     tensor   scales f32[rows16] | panel 0 | panel 1 | ... | >= 64 bytes that belong to nobody
 *
 *     Q4X      w = scale[r] * m * (q - 8)         m 0..15 for 16 columns, q 0..15
 *     panel    superblocks of 128 columns: a multiplier line, then 16 code lines (1088 bytes);
 *              the last one may be shorter: its multiplier line, then a code line per 8 columns
 *     code     line l, byte 4 r + j:      low nibble q[r][8 l + j], high nibble q[r][8 l + 4 + j]
 *     mult     byte 16 p + r:             low nibble m of columns 32 p ..., high nibble of 32 p + 16 ...
 *
 *     Q8X      w = scale[r] * q                   q -128..127, what we write -127..127
 *     panel    line l, byte 4 r + j:      q[r][4 l + j]
 *
 * rows16 is rows rounded up to 16, cols are padded to a multiple of 32.  Padding is 8 (Q4X) or 0 (Q8X)
 * in codes, 0 in multipliers and scales.  m * (q - 8) fits int8 and a row's sum fits int32.
 */
#ifndef MN_BASE_NATIVE_H
#define MN_BASE_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/dtype.h"

enum {
    MN_QX_ROWS = 16,              // rows of a panel
    MN_QX_LINE = 64,              // bytes of a line
    MN_QX_STEP = 32,              // columns are padded to this
    MN_QX_PAD = 64,               // bytes behind a tensor that may be read
    MN_QX_MAX_COLS = 131072,      // 2^17 * 128 * 127 < 2^31
    MN_Q4X_GROUP = 16,            // columns that share a multiplier
    MN_Q4X_SUPER = 128,           // columns of a superblock
    MN_Q4X_SUPER_BYTES = 1088,
};

static inline size_t mn_qx_cols(size_t cols)
{
    return (cols + (MN_QX_STEP - 1)) & ~(size_t)(MN_QX_STEP - 1);
}

static inline size_t mn_qx_panels(size_t rows)
{
    return rows / MN_QX_ROWS + (rows % MN_QX_ROWS != 0);
}

static inline size_t mn_q4x_panel_bytes(size_t cols)
{
    const size_t c = mn_qx_cols(cols);
    return 8 * c + (c + (MN_Q4X_SUPER - 1)) / MN_Q4X_SUPER * MN_QX_LINE;
}

static inline size_t mn_q8x_panel_bytes(size_t cols)
{
    return 16 * mn_qx_cols(cols);
}

/* Where a panel begins in its tensor. */
static inline size_t mn_q4x_panel_at(size_t rows, size_t cols, size_t panel)
{
    return mn_qx_panels(rows) * MN_QX_LINE + panel * mn_q4x_panel_bytes(cols);
}

static inline size_t mn_q8x_panel_at(size_t rows, size_t cols, size_t panel)
{
    return mn_qx_panels(rows) * MN_QX_LINE + panel * mn_q8x_panel_bytes(cols);
}

/* Where the byte of code [r][k] of a panel is, and which of its nibbles. */
static inline size_t mn_q4x_code_at(size_t r, size_t k)
{
    return k / MN_Q4X_SUPER * MN_Q4X_SUPER_BYTES + MN_QX_LINE + k % MN_Q4X_SUPER / 8 * MN_QX_LINE + 4 * r +
           k % 4;
}

static inline unsigned mn_q4x_code_shift(size_t k)
{
    return k & 4;
}

/* The same for the multiplier of code [r][k]. */
static inline size_t mn_q4x_mult_at(size_t r, size_t k)
{
    return k / MN_Q4X_SUPER * MN_Q4X_SUPER_BYTES + k % MN_Q4X_SUPER / 32 * 16 + r;
}

static inline unsigned mn_q4x_mult_shift(size_t k)
{
    return k & 16 ? 4 : 0;
}

static inline size_t mn_q8x_code_at(size_t r, size_t k)
{
    return k / 4 * MN_QX_LINE + 4 * r + k % 4;
}

/* Size of a tensor without the padding behind it; false if rows or cols is 0, cols is above
 * MN_QX_MAX_COLS, or the size (with MN_QX_PAD) does not fit. */
bool mn_q4x_bytes(uint64_t rows, uint64_t cols, uint64_t *bytes);
bool mn_q8x_bytes(uint64_t rows, uint64_t cols, uint64_t *bytes);

/* The same for a matrix of any type, native or in rows of blocks; false also if its columns are no whole
 * blocks. */
bool mn_dtype_matrix_bytes(const mn_dtype *t, uint64_t rows, uint64_t cols, uint64_t *bytes);

#endif
