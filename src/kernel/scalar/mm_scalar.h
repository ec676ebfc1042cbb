/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_scalar.h - the order of the sums in a matrix product, which every tier keeps.
 *
 * Block types: a row is cut into chunks of 512 columns, a chunk into blocks of 32.  The 32 products
 * of a block are integers and summed exactly (with two planes of activations 128 times the products of
 * the first plus those of the second); then, in f32, with four partial sums per chunk,
 *
 *     acc[b % 4] = fma(scale * d, (float)sum of products, acc[b % 4])
 *     acc[b % 4] = fma(offset, s_low + s_high, acc[b % 4])                (not in Q8_0)
 *     chunk      = (acc[0] + acc[2]) + (acc[1] + acc[3])
 *     y          = (chunk 0 + chunk 1) + chunk 2 ...
 *
 * Q6_K, whose halves have different scales, does the first two steps for the low half (with s_low),
 * then for the high half.
 *
 * Float types: acc[k % 16] = fma(w, x, acc[k % 16]) with zeros up to a multiple of 16, then mn_sum16.
 *
 * Why: an exact integer sum leaves each instruction set its own way of multiplying, be it one row's
 * block in a vector (few tokens) or the same columns of 8 or 16 rows (many); four partial sums are
 * four blocks of a row side by side; a chunk's unpacked weights fit on the stack, with y carrying the
 * sum from one chunk to the next.
 */
#ifndef MN_KERNEL_MM_SCALAR_H
#define MN_KERNEL_MM_SCALAR_H

enum {
    MN_MM_CHUNK = 16,   // blocks
};

#define MN_Q8_TINY 0x1p-60f    // blocks below are zeros
#define MN_Q8_MOST 127.0f      // the largest code of one plane
#define MN_Q15_MOST 16256.0f   // of two: 127 * 128

#endif
