/* SPDX-License-Identifier: Apache-2.0
 *
 * unpack.h - what the bytes of the block types mean, in one form for all of them.
 *
 * Every type is cut into blocks of 32 consecutive weights, whatever the file calls a block, and a
 * weight is a small integer times a scale plus an offset.  The two halves of a block have the same
 * scale and offset in all types but Q6_K.
 */
#ifndef MN_KERNEL_UNPACK_H
#define MN_KERNEL_UNPACK_H

#include <string.h>

#include "kernel/kernels.h"

/* w[k] = scale[k / 16] * code[k] + offset[k / 16]    k < 32;  code is 0..63, in Q8_0 -128..127 */
typedef struct mn_block {
    int8_t code[32];
    float  scale[2], offset[2];
} mn_block;

/* Read block b of a row. */
typedef void mn_unpack_fn(mn_block *o, const uint8_t *row, size_t b);

/* The reader of a block type; NULL for all other types. */
mn_unpack_fn *mn_unpack_for(mn_dtype_id type);

/* Bytes of a row of `cols` values of a block type. */
static inline size_t mn_row_bytes(const mn_dtype *t, size_t cols)
{
    return cols / t->block * t->block_bytes;
}

/* The eight 6-bit scales of a Q4_K or Q5_K superblock, and its eight 6-bit offsets, one per byte.
 * The first four of each are the low six bits of bytes 0-3 and 4-7; the others have their low four
 * bits in the nibbles of bytes 8-11 and their high two on top of the first four. */
static inline void mn_scales6(const uint8_t *p, uint32_t scale[2], uint32_t offset[2])
{
    uint32_t a, b, c;
    memcpy(&a, p, 4);
    memcpy(&b, p + 4, 4);
    memcpy(&c, p + 8, 4);
    scale[0] = a & 0x3f3f3f3f;
    offset[0] = b & 0x3f3f3f3f;
    scale[1] = (c & 0x0f0f0f0f) | (a >> 2 & 0x30303030);
    offset[1] = (c >> 4 & 0x0f0f0f0f) | (b >> 2 & 0x30303030);
}

#endif
