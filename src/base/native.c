/* SPDX-License-Identifier: Apache-2.0
 *
 * native.c - how many bytes matrices take.
 */
#include "base/native.h"

#include "base/check.h"

static bool tensor_bytes(uint64_t rows, uint64_t cols, size_t panel, uint64_t *bytes)
{
    uint64_t padded, all;
    if (rows == 0 || cols == 0 || cols > MN_QX_MAX_COLS) return false;
    if (!mn_round_up_u64(rows, MN_QX_ROWS, &padded)) return false;
    if (!mn_mul_u64(padded / MN_QX_ROWS, (uint64_t)panel + MN_QX_LINE, bytes)) return false;
    return mn_add_u64(*bytes, MN_QX_PAD, &all) && all <= SIZE_MAX;
}

bool mn_q4x_bytes(uint64_t rows, uint64_t cols, uint64_t *bytes)
{
    return tensor_bytes(rows, cols, cols > MN_QX_MAX_COLS ? 0 : mn_q4x_panel_bytes((size_t)cols), bytes);
}

bool mn_q8x_bytes(uint64_t rows, uint64_t cols, uint64_t *bytes)
{
    return tensor_bytes(rows, cols, cols > MN_QX_MAX_COLS ? 0 : mn_q8x_panel_bytes((size_t)cols), bytes);
}

bool mn_dtype_matrix_bytes(const mn_dtype *t, uint64_t rows, uint64_t cols, uint64_t *bytes)
{
    uint64_t count;
    if (t->id == MN_Q4X) return mn_q4x_bytes(rows, cols, bytes);
    if (t->id == MN_Q8X) return mn_q8x_bytes(rows, cols, bytes);
    return cols % t->block == 0 && mn_mul_u64(rows, cols, &count) && mn_dtype_bytes(t, count, bytes);
}
