/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.h - arithmetic on pointers: the contract of every kernel, and the table that holds one
 * version of each.
 *
 * No kernel allocates, fails, starts threads or knows a model.  Each slot has a scalar version, which
 * is the specification: every other version gives THE SAME BITS, because docs/NUMERICS.md fixes the
 * order of the float operations (16 or 8 partial sums, fused multiply-adds where it says so, our own
 * exp and sincos).  Nothing here depends on how many tokens are computed at once.
 */
#ifndef MN_KERNEL_KERNELS_H
#define MN_KERNEL_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/dtype.h"

/* Activations of T tokens with n values each, in the two forms a matrix product can want.
 *
 *     f  [T, ld]      f32
 *     q  [T, ld]      int8 codes, blocks of 32 along n:   x ~ d * q,   |q| <= 127
 *     lo [T, ld]      NULL, or a second plane of codes:   x ~ d * (128 * q + lo),   -64 <= lo < 64
 *     d  [T, ld/32]   scale of each block (absmax / 127 or absmax / 16256, 0 for a block of zeros)
 *     s  [T, ld/16]   d * sum of 16 codes: what a weight's offset is multiplied with
 *
 * ld >= n, a multiple of 64; rows are 64-byte aligned; what lies beyond n is zero.
 * A type whose block is 1 reads f, all others read q, lo, d, s. */
typedef struct mn_acts {
    float  *f;
    int8_t *q;
    float  *d, *s;
    size_t  ld;
    int8_t *lo;
} mn_acts;

/* y[t * ldy + r] = sum_k W[r][k] x[t][k]    for r < rows, t < T.
 *
 * w: rows of `cols` values in the weight's own file layout, one after another, unaligned.
 * T = 1 for gemv, any T >= 1 for gemm.  Both give the same bits for the same token.
 * May use up to 32 KiB of stack. */
typedef void mn_mm_fn(float *y, size_t ldy, const void *w, const mn_acts *x, size_t rows,
                      size_t cols, size_t T);

typedef struct mn_matmul {
    mn_mm_fn *gemv;
    mn_mm_fn *gemm;
} mn_matmul;

/* A weight matrix in a native format, Q4X or Q8X: q4x.h draws its bytes. */
typedef struct mn_xtensor {
    const uint8_t *data;         // 64-byte aligned
    size_t         rows, cols;   // as they are, without padding
} mn_xtensor;

/* Activations of T tokens for the native formats: integers with one scale per token, in one plane or two.
 *
 *     fast, 1 plane      x ~ scale * q0                    |q0| <= 127
 *     exact, 2 planes    x ~ scale * (128 q0 + q1)         |q0| <= 127, -64 <= q1 <= 63
 *
 *     q      [T, planes, ld]      codes
 *     zero   [T, planes, ld/16]   -8 * the sum of 16 codes: what Q4X's offset of 8 comes to, fits int16
 *     total  [T, planes]          sums of all codes
 *     scale  [T]
 *
 * ld >= n, a multiple of 64; rows are 64-byte aligned; what lies beyond n is zero.  To a product a plane of
 * a token is a column like any other. */
typedef struct mn_xacts {
    int8_t  *q;
    int32_t *zero, *total;
    float   *scale;
    size_t   ld, planes;
} mn_xacts;

/* Bytes for T tokens with n values each (SIZE_MAX if that overflows), and the struct over a 64-byte
 * aligned block of that size. */
size_t   mn_xacts_bytes(size_t T, size_t n, bool exact);
mn_xacts mn_xacts_at(void *block, size_t T, size_t n, bool exact);

/* The tokens from t on. */
mn_xacts mn_xacts_from(const mn_xacts *x, size_t t);

/* Quantise token t: v [n], n <= x->ld. */
typedef void mn_quant_x_fn(const mn_xacts *x, size_t t, const float *v, size_t n);

/* y[t * ldy + r] = sum_k W[r][k] x[t][k]    for row <= r < row + rows, t < T.
 *
 * row is a multiple of 16; x->ld >= cols rounded up to 32.  gemv is for T = 1, small for T <= 32, gemm for more;
 * each takes any T >= 1 and all give the same bits.  scratch: mn_xmm_scratch(cols) bytes, 64-byte
 * aligned, one for each thread; what is in it does not matter.
 * May read up to 64 bytes beyond the tensor. */
typedef void mn_xmm_fn(float *y, size_t ldy, const mn_xtensor *w, size_t row, size_t rows,
                       const mn_xacts *x, size_t T, void *scratch);

typedef struct mn_xmatmul {
    mn_xmm_fn *gemv, *small, *gemm;
} mn_xmatmul;

size_t mn_xmm_scratch(size_t cols);

/* y[i] = x[i] * w[i] / sqrt(mean(x * x) + eps);  w NULL = all ones.  y may equal x. */
typedef void mn_rmsnorm_fn(float *y, const float *x, const float *w, size_t n, float eps);

/* Quantise n values (a multiple of 32) to codes, scales and sums as mn_acts has them. */
typedef void mn_quant_q8_fn(int8_t *q, float *d, float *s, const float *x, size_t n);

/* The same in two planes of codes. */
typedef void mn_quant_q15_fn(int8_t *q, int8_t *lo, float *d, float *s, const float *x, size_t n);

/* Rotate each of `heads` vectors [P] of x in place by the angles of one position.
 * cs: [n/2] cosines, then [n/2] sines; n = rotated dimensions, even, n <= P; the rest stays. */
typedef void mn_rope_fn(float *x, const float *cs, size_t heads, size_t P, size_t n);

/* y[i] = g[i] / (1 + exp(-g[i])) * u[i];  y may equal g or u. */
typedef void mn_swiglu_fn(float *y, const float *g, const float *u, size_t n);

/* x[i] += y[i] */
typedef void mn_add_fn(float *x, const float *y, size_t n);

/* One kv head's cache: `stride` bytes from a position's row of P values to the next. */
typedef struct mn_kv_head {
    const void  *k, *v;      // [S, P] f16 or int8
    const float *ks, *vs;    // [S] scales, int8 only
    size_t       stride_k, stride_v;
} mn_kv_head;

/* o[g] = sum_j softmax_j(q[g] . k[j] * scale) v[j]     j < n, for G query vectors that share a kv head.
 *
 * q: [G] vectors of P, ldq floats apart; o likewise, ldo apart.  P is a multiple of 8, at most 256.
 * scratch: [G, n rounded up to 64] floats.  n >= 1. */
typedef void mn_attn_fn(float *o, size_t ldo, const float *q, size_t ldq, const mn_kv_head *kv,
                        size_t n, size_t G, size_t P, float scale, float *scratch);

/* q[i] = round(x[i] / d), d = absmax / 127; returns d. */
typedef float mn_quant_kv_fn(int8_t *q, const float *x, size_t n);

typedef void mn_to_f16_fn(uint16_t *y, const float *x, size_t n);

/* Index of the largest x[i], the lowest of equals; NaN is never chosen unless all are. */
typedef size_t mn_argmax_fn(const float *x, size_t n);

/* sum_i exp(x[i] - max), in 16 partial sums. */
typedef float mn_sum_exp_fn(const float *x, size_t n, float max);

typedef struct mn_kernels {
#define K(slot, type) type slot;
#include "kernel/kernels.def"
#undef K
} mn_kernels;

/* Fill every slot with the best version the MN_CPU_* bits allow: a pure function. */
void mn_kernels_init(mn_kernels *k, unsigned cpu);

/* The family for a weight type in rows of blocks; NULL for types that are never multiplied (I8, I32) and for
 * native ones. */
const mn_matmul *mn_kernels_matmul(const mn_kernels *k, mn_dtype_id type);

/* The family for a native type; NULL for all others. */
const mn_xmatmul *mn_kernels_xmatmul(const mn_kernels *k, mn_dtype_id type);

/* Does a matrix product with this weight type read q, d, s (true) or f? */
static inline bool mn_wants_q8(const mn_dtype *t)
{
    return t->block > 1;
}

/* Expand n values (whole blocks) of any floating or quantised type to f32: the definition of what
 * the bytes mean. */
void mn_dequantize(float *y, const void *src, mn_dtype_id type, size_t n);

/* cos and sin of position * theta_i for i < n/2, as rope wants them; freq: [n/2] in radians per
 * position, scale multiplies both (yarn's attention factor, else 1). */
void mn_rope_angles(float *cs, const float *freq, size_t n, uint32_t position, float scale);

#endif
