/* SPDX-License-Identifier: Apache-2.0
 *
 * dtype.c - the table of element types, and half-precision conversions in integers.
 */
#include "base/dtype.h"

#include <string.h>

#include "base/blocks.h"
#include "base/check.h"

#define SIZE_IS(type, bytes) \
    _Static_assert(sizeof(mn_block_##type) == (bytes), #type ": the struct is the file's block")
SIZE_IS(q4_0, 18);
SIZE_IS(q4_1, 20);
SIZE_IS(q5_0, 22);
SIZE_IS(q5_1, 24);
SIZE_IS(q8_0, 34);
SIZE_IS(q4_k, 144);
SIZE_IS(q5_k, 176);
SIZE_IS(q6_k, 210);

const mn_dtype *mn_dtype_from_id(uint32_t id)
{
    static const mn_dtype TABLE[] = {
#define X(NAME, number, text, values, bytes) \
    [number] = { .id = MN_##NAME, .name = text, .block = values, .block_bytes = bytes },
        MN_DTYPE_LIST(X)
#undef X
    };
    return id < sizeof TABLE / sizeof *TABLE && TABLE[id].name ? &TABLE[id] : NULL;
}

const mn_dtype *mn_dtype_of(mn_dtype_id id)
{
#define X(NAME, number, text) { .id = MN_##NAME, .name = text, .block = 1, .native = true },
    static const mn_dtype NATIVE[] = { MN_NATIVE_LIST(X) };
#undef X
    for (size_t i = 0; i < sizeof NATIVE / sizeof *NATIVE; i++) {
        if (NATIVE[i].id == id) return &NATIVE[i];
    }
    return mn_dtype_from_id(id);
}

const char *mn_dtype_gguf_name(uint32_t id)
{
    static const char *const NAMES[] = {
        [0] = "f32",         [1] = "f16",         [2] = "q4_0",      [3] = "q4_1",
        [4] = "q4_2",        [5] = "q4_3",        [6] = "q5_0",      [7] = "q5_1",
        [8] = "q8_0",        [9] = "q8_1",        [10] = "q2_k",     [11] = "q3_k",
        [12] = "q4_k",       [13] = "q5_k",       [14] = "q6_k",     [15] = "q8_k",
        [16] = "iq2_xxs",    [17] = "iq2_xs",     [18] = "iq3_xxs",  [19] = "iq1_s",
        [20] = "iq4_nl",     [21] = "iq3_s",      [22] = "iq2_s",    [23] = "iq4_xs",
        [24] = "i8",         [25] = "i16",        [26] = "i32",      [27] = "i64",
        [28] = "f64",        [29] = "iq1_m",      [30] = "bf16",     [31] = "q4_0_4_4",
        [32] = "q4_0_4_8",   [33] = "q4_0_8_8",   [34] = "tq1_0",    [35] = "tq2_0",
        [36] = "iq4_nl_4_4", [37] = "iq4_nl_4_8", [38] = "iq4_nl_8_8", [39] = "mxfp4",
        [40] = "nvfp4",      [41] = "q1_0",
    };
    return id < sizeof NAMES / sizeof *NAMES ? NAMES[id] : "?";
}

bool mn_dtype_bytes(const mn_dtype *t, uint64_t count, uint64_t *bytes)
{
    return !t->native && count % t->block == 0 &&
           mn_mul_u64(count / t->block, t->block_bytes, bytes);
}

static float from_bits(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static uint32_t to_bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

/* NaNs keep sign and payload and become quiet, as the processors' own instructions do. */
float mn_f16_to_f32(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000) << 16, em = h & 0x7FFF;
    if (em > 0x7C00) return from_bits(sign | 0x7FC00000 | (em & 0x3FF) << 13);
    if (em == 0x7C00) return from_bits(sign | 0x7F800000);
    if (em >= 0x0400) return from_bits(sign | ((em << 13) + (112u << 23)));   // bias 15 -> 127
    return from_bits(sign | to_bits((float)em * 0x1p-24f));
}

uint16_t mn_f32_to_f16(float f)
{
    const uint32_t u = to_bits(f), sign = u >> 16 & 0x8000, x = u & 0x7FFFFFFF;
    uint32_t       h;
    if (x > 0x7F800000) {
        h = 0x7E00 | (x >> 13 & 0x3FF);
    } else if (x >= 0x47800000) {        // 65536 and more
        h = 0x7C00;
    } else if (x < 0x38800000) {         // below 2^-14: the sum's last bit is worth 2^-24
        h = to_bits(from_bits(x) + 0.5f) - to_bits(0.5f);
    } else {                             // a carry out of the mantissa is right, also into infinity
        h = ((x + 0xFFF + (x >> 13 & 1)) >> 13) - (112u << 10);
    }
    return (uint16_t)(sign | h);
}

float mn_bf16_to_f32(uint16_t h)
{
    return from_bits((uint32_t)h << 16);
}

uint16_t mn_f32_to_bf16(float f)
{
    const uint32_t u = to_bits(f);
    if ((u & 0x7FFFFFFF) > 0x7F800000) return (uint16_t)(u >> 16 | 0x40);
    return (uint16_t)((u + 0x7FFF + (u >> 16 & 1)) >> 16);
}
