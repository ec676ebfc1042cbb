/* SPDX-License-Identifier: Apache-2.0
 *
 * xcall.h - what all parts of a product with a native format know, on any processor.  Static inline only.
 */
#ifndef MN_KERNEL_XCALL_H
#define MN_KERNEL_XCALL_H

#include "kernel/kernels.h"
#include "kernel/q4x.h"

typedef enum mn_xkind {
    MN_XKIND_Q4X,
    MN_XKIND_Q8X,
} mn_xkind;

static inline size_t mn_xpanel_bytes(mn_xkind kind, size_t cols)
{
    return kind == MN_XKIND_Q4X ? mn_q4x_panel_bytes(cols) : mn_q8x_panel_bytes(cols);
}

/* Where the lines of 32 columns from k on begin in a panel. */
static inline size_t mn_xlines_at(mn_xkind kind, size_t k)
{
    return kind == MN_XKIND_Q8X ? 16 * k : mn_q4x_code_at(0, k);
}

typedef struct mn_xcall {
    float            *y;
    size_t            ldy;
    const mn_xtensor *w;
    const mn_xacts   *x;
    const uint8_t    *panels;       // the tensor's first
    size_t            panel_bytes, cols, end;   // cols padded; end: the first row that is not asked for
} mn_xcall;

static inline mn_xcall mn_xcall_of(float *y, size_t ldy, const mn_xtensor *w, size_t row, size_t rows,
                                   const mn_xacts *x, mn_xkind kind)
{
    return (mn_xcall){
        .y = y,
        .ldy = ldy,
        .w = w,
        .x = x,
        .panels = w->data + mn_qx_panels(w->rows) * MN_QX_LINE,
        .panel_bytes = mn_xpanel_bytes(kind, w->cols),
        .cols = mn_qx_cols(w->cols),
        .end = row + rows,
    };
}

/* T tokens in passes as equal as they can be of at most `most`: how many go next when `left` are left.
 * 9 by 8 are 5 and 4. */
static inline size_t mn_xpass(size_t left, size_t most)
{
    const size_t passes = (left + most - 1) / most;
    return (left + passes - 1) / passes;
}

#endif
