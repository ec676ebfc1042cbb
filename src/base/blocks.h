/* SPDX-License-Identifier: Apache-2.0
 *
 * blocks.h - the quantised blocks of GGUF files, byte for byte.
 *
 * Bytes only, so a block may lie at any address and on any machine.  f16 fields are little-endian;
 * what the bytes mean is in kernel/scalar.
 */
#ifndef MN_BASE_BLOCKS_H
#define MN_BASE_BLOCKS_H

#include <stdint.h>

typedef struct mn_block_q4_0 {   // w = d (q - 8), 32 values
    uint8_t d[2];
    uint8_t qs[16];              // value i in the low nibble of byte i, i + 16 in the high one
} mn_block_q4_0;

typedef struct mn_block_q4_1 {   // w = d q + m
    uint8_t d[2], m[2];
    uint8_t qs[16];
} mn_block_q4_1;

typedef struct mn_block_q5_0 {   // w = d (q - 16)
    uint8_t d[2];
    uint8_t qh[4];               // bit i: the fifth bit of value i
    uint8_t qs[16];
} mn_block_q5_0;

typedef struct mn_block_q5_1 {   // w = d q + m
    uint8_t d[2], m[2];
    uint8_t qh[4];
    uint8_t qs[16];
} mn_block_q5_1;

typedef struct mn_block_q8_0 {   // w = d q
    uint8_t d[2];
    int8_t  qs[32];
} mn_block_q8_0;

typedef struct mn_block_q4_k {   // w = d s_j q - dmin m_j, 8 groups of 32
    uint8_t d[2], dmin[2];
    uint8_t scales[12];          // eight pairs of 6-bit (s, m)
    uint8_t qs[128];
} mn_block_q4_k;

typedef struct mn_block_q5_k {
    uint8_t d[2], dmin[2];
    uint8_t scales[12];
    uint8_t qh[32];              // bit j of byte i: the fifth bit of value i of group j
    uint8_t qs[128];
} mn_block_q5_k;

typedef struct mn_block_q6_k {   // w = d s_j (q - 32), 16 groups of 16
    uint8_t ql[128];
    uint8_t qh[64];
    int8_t  scales[16];
    uint8_t d[2];
} mn_block_q6_k;

#endif
