/* SPDX-License-Identifier: Apache-2.0
 *
 * unpack.c - the block types of GGUF, byte by byte.
 *
 *     Q4_0  d f16;                nibbles[16]            w = d (q - 8)
 *     Q4_1  d f16; m f16;         nibbles[16]            w = d q + m
 *     Q5_0  d f16;        high[4] nibbles[16]            w = d (q - 16)
 *     Q5_1  d f16; m f16; high[4] nibbles[16]            w = d q + m
 *     Q8_0  d f16; q int8[32]                            w = d q
 *     Q4_K  d f16; m f16; six-bit[12]          nibbles[128]
 *     Q5_K  d f16; m f16; six-bit[12] high[32] nibbles[128]      w = d s6 q - m o6, per 32
 *     Q6_K  nibbles[128]; high[64]; s int8[16]; d f16            w = d s (q - 32),  per 16
 *
 * In the 32-value types, byte j of the nibbles holds values j (low) and j + 16 (high), and bit k of
 * `high` is the fifth bit of value k.  In Q4_K and Q5_K 32 bytes hold two blocks, the first in the low
 * nibbles, and bit b of high[k] belongs to value k of block b.  In Q6_K 64 bytes of nibbles and 32 of
 * `high` hold four blocks; bits 2b, 2b + 1 of high[k] belong to value k of block b.
 */
#include "kernel/scalar/unpack.h"

static float half(const uint8_t *p)
{
    return mn_f16_to_f32((uint16_t)(p[0] | p[1] << 8));
}

static void set_scales(mn_block *o, float scale, float offset)
{
    o->scale[0] = o->scale[1] = scale;
    o->offset[0] = o->offset[1] = offset;
}

static void set_nibbles(mn_block *o, const uint8_t *p)
{
    for (int j = 0; j < 16; j++) {
        o->code[j] = p[j] & 15;
        o->code[j + 16] = p[j] >> 4;
    }
}

static void add_fifth_bits(mn_block *o, const uint8_t *p)
{
    for (int k = 0; k < 32; k++) o->code[k] |= (int8_t)((p[k / 8] >> k % 8 & 1) << 4);
}

static void unpack_q4_0(mn_block *o, const uint8_t *row, size_t b)
{
    const uint8_t *p = row + b * 18;
    const float    d = half(p);
    set_nibbles(o, p + 2);
    set_scales(o, d, -8.0f * d);
}

static void unpack_q4_1(mn_block *o, const uint8_t *row, size_t b)
{
    const uint8_t *p = row + b * 20;
    set_nibbles(o, p + 4);
    set_scales(o, half(p), half(p + 2));
}

static void unpack_q5_0(mn_block *o, const uint8_t *row, size_t b)
{
    const uint8_t *p = row + b * 22;
    const float    d = half(p);
    set_nibbles(o, p + 6);
    add_fifth_bits(o, p + 2);
    set_scales(o, d, -16.0f * d);
}

static void unpack_q5_1(mn_block *o, const uint8_t *row, size_t b)
{
    const uint8_t *p = row + b * 24;
    set_nibbles(o, p + 8);
    add_fifth_bits(o, p + 4);
    set_scales(o, half(p), half(p + 2));
}

static void unpack_q8_0(mn_block *o, const uint8_t *row, size_t b)
{
    const uint8_t *p = row + b * 34;
    memcpy(o->code, p + 2, 32);
    set_scales(o, half(p), 0.0f);
}

/* The part Q4_K and Q5_K share; nibbles: where those of the superblock begin. */
static void unpack_k(mn_block *o, const uint8_t *p, const uint8_t *nibbles, size_t b)
{
    uint32_t scale[2], offset[2];
    mn_scales6(p + 4, scale, offset);
    const int shift = (int)(b % 4) * 8;
    set_scales(o, half(p) * (float)(scale[b / 4] >> shift & 255),
               -half(p + 2) * (float)(offset[b / 4] >> shift & 255));
    for (int k = 0; k < 32; k++) {
        o->code[k] = (int8_t)(nibbles[b / 2 * 32 + (size_t)k] >> b % 2 * 4 & 15);
    }
}

static void unpack_q4_k(mn_block *o, const uint8_t *row, size_t b)
{
    const uint8_t *p = row + b / 8 * 144;
    unpack_k(o, p, p + 16, b % 8);
}

static void unpack_q5_k(mn_block *o, const uint8_t *row, size_t b)
{
    const uint8_t *p = row + b / 8 * 176;
    unpack_k(o, p, p + 48, b % 8);
    for (int k = 0; k < 32; k++) o->code[k] |= (int8_t)((p[16 + k] >> b % 8 & 1) << 4);
}

static void unpack_q6_k(mn_block *o, const uint8_t *row, size_t b)
{
    const uint8_t *p = row + b / 8 * 210, *scales = p + 192 + b % 8 * 2;
    const uint8_t *nibbles = p + b % 8 / 4 * 64 + b % 2 * 32, *high = p + 128 + b % 8 / 4 * 32;
    const float    d = half(p + 208);
    for (int k = 0; k < 32; k++) {
        const int low = nibbles[k] >> b % 4 / 2 * 4 & 15;
        o->code[k] = (int8_t)(low | (high[k] >> b % 4 * 2 & 3) << 4);
    }
    for (int h = 0; h < 2; h++) {
        o->scale[h] = d * (float)(int8_t)scales[h];
        o->offset[h] = -32.0f * o->scale[h];
    }
}

mn_unpack_fn *mn_unpack_for(mn_dtype_id type)
{
    switch (type) {
    case MN_Q4_0: return unpack_q4_0;
    case MN_Q4_1: return unpack_q4_1;
    case MN_Q5_0: return unpack_q5_0;
    case MN_Q5_1: return unpack_q5_1;
    case MN_Q8_0: return unpack_q8_0;
    case MN_Q4_K: return unpack_q4_k;
    case MN_Q5_K: return unpack_q5_k;
    case MN_Q6_K: return unpack_q6_k;
    case MN_F32:
    case MN_F16:
    case MN_BF16:
    case MN_Q4X:
    case MN_Q8X:
    case MN_I8:
    case MN_I32: break;
    }
    return NULL;
}
