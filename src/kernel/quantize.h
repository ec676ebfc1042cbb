/* SPDX-License-Identifier: Apache-2.0
 *
 * quantize.h - from floats to the types of GGUF files: the inverse of mn_dequantize().
 *
 * Each block is searched for the scale (and offset) whose squared error is least, weighted by what an error
 * in each column costs; plain "largest value = last code" is one of the candidates.  The native formats
 * have a quantiser of their own (q4x.h).
 */
#ifndef MN_KERNEL_QUANTIZE_H
#define MN_KERNEL_QUANTIZE_H

#include "base/dtype.h"
#include "kernel/q4x.h"

/* Can floats be written in this type?  True for all but integers and native formats. */
bool mn_can_quantize(mn_dtype_id type);

/* Write n floats (whole blocks) as `type`.
 *
 * importance: [n], not negative, what a squared error of each value costs; NULL = all 1.
 * A block that is not all finite becomes zeros and sum->error NaN; one whose squares overflow tells an infinite
 * error.  sum may be NULL.  Needs no other memory; the result does not depend on the processor. */
void mn_quantize(void *dst, mn_dtype_id type, const float *w, size_t n, const float *importance,
                 mn_qx_error *sum);

/* What one block is made from: up to 256 values and their costs, and where its bytes go. */
typedef void mn_encode_fn(uint8_t *p, const float *w, const float *h);

/* The encoder of a block type (quantize_block.c, quantize_k.c). */
mn_encode_fn mn_encode_q4_0, mn_encode_q4_1, mn_encode_q5_0, mn_encode_q5_1, mn_encode_q8_0,
    mn_encode_q4_k, mn_encode_q5_k, mn_encode_q6_k;

#endif
