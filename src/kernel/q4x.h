/* SPDX-License-Identifier: Apache-2.0
 *
 * q4x.h - to and from the native weight formats, which base/native.h draws.
 *
 * Quantising a matrix, panel by panel, in any order and on any threads:
 *
 *     uint64_t bytes;
 *     if (!mn_q4x_bytes(rows, cols, &bytes)) ...
 *     for (size_t p = 0; p < mn_qx_panels(rows); p++)
 *         mn_q4x_quantize(tensor, rows, cols, p, w + 16 * p * cols, cols, NULL, &err);
 */
#ifndef MN_KERNEL_Q4X_H
#define MN_KERNEL_Q4X_H

#include "base/native.h"

/* Sums over the weights quantised so far; 10 log10(error / power) is the error in dB. */
typedef struct mn_qx_error {
    double error;   // importance * (w - w')^2
    double power;   // importance * w^2
} mn_qx_error;

/* Write one panel and its scales.
 *
 * w: the panel's first row; its rows are ldw floats apart; rows beyond the matrix are not read.
 * importance: [cols], not negative, what a squared error in each column costs; NULL = all 1.
 * A row that is not all finite, or too small to matter (largest value below 2^-100), becomes zeros; in the first
 * case sum->error becomes NaN.  sum may be NULL.  Needs no other memory; the result does not depend
 * on the processor. */
void mn_q4x_quantize(void *tensor, size_t rows, size_t cols, size_t panel, const float *w, size_t ldw,
                     const float *importance, mn_qx_error *sum);
void mn_q8x_quantize(void *tensor, size_t rows, size_t cols, size_t panel, const float *w, size_t ldw,
                     const float *importance, mn_qx_error *sum);

/* y[k] = W[row][k] for k < cols: scale times the integer, rounded once. */
void mn_q4x_row(float *y, const void *tensor, size_t rows, size_t cols, size_t row);
void mn_q8x_row(float *y, const void *tensor, size_t rows, size_t cols, size_t row);

/* The first row (or padding row) whose scale is not finite, SIZE_MAX if there is none.  Codes and
 * multipliers need no check: every bit pattern is a number. */
size_t mn_qx_bad_scale(const void *tensor, size_t rows);

#endif
