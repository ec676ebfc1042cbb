/* SPDX-License-Identifier: Apache-2.0
 *
 * Element types: sizes, names, and half-precision conversions over all of their values.
 */
#include "test.h"

#include <math.h>

#include "base/dtype.h"

static uint32_t bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static float from_bits(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

/* What a half means, from its definition. */
static double half(uint16_t h)
{
    const int    e = h >> 10 & 31, m = h & 1023;
    const double v = e == 0 ? ldexp(m, -24) : ldexp(1024 + m, e - 25);
    return h & 0x8000 ? -v : v;
}

TEST(every_half_converts_exactly_and_back)
{
    for (uint32_t h = 0; h < 65536; h++) {
        const float    f = mn_f16_to_f32((uint16_t)h);
        const uint32_t em = h & 0x7FFF;
        if (em > 0x7C00) {
            YES(isnan(f));
            EQ(mn_f32_to_f16(f), h | 0x200);   // quiet, payload kept
            continue;
        }
        if (em == 0x7C00) YES(isinf(f) && (f < 0) == (h >> 15));
        else YES((double)f == half((uint16_t)h) && !!signbit(f) == (h >> 15));
        EQ(mn_f32_to_f16(f), h);
    }
}

TEST(floats_between_two_halves_go_to_the_nearest_or_even_one)
{
    for (uint32_t h = 0; h < 0x7C00; h++) {
        const double lo = half((uint16_t)h), hi = h == 0x7BFF ? 65536.0 : half((uint16_t)(h + 1));
        const float  mid = (float)((lo + hi) / 2);   // exact: one bit more than a half
        YES((double)mid == (lo + hi) / 2);
        const uint32_t even = h & 1 ? h + 1 : h;
        EQ(mn_f32_to_f16(mid), even);
        EQ(mn_f32_to_f16(nextafterf(mid, 0.0f)), h);
        EQ(mn_f32_to_f16(nextafterf(mid, 1e9f)), h + 1);
        EQ(mn_f32_to_f16(-mid), even | 0x8000);
    }
}

TEST(floats_outside_the_halves_become_infinity_or_zero)
{
    EQ(mn_f32_to_f16(65519.996f), 0x7BFF);
    EQ(mn_f32_to_f16(65520.0f), 0x7C00);
    EQ(mn_f32_to_f16(1e30f), 0x7C00);
    EQ(mn_f32_to_f16(-INFINITY), 0xFC00);
    EQ(mn_f32_to_f16(1e-30f), 0);
    EQ(mn_f32_to_f16(-1e-30f), 0x8000);
    EQ(mn_f32_to_f16(from_bits(1)), 0);
    EQ(mn_f32_to_f16(from_bits(0x7F800001)), 0x7E00);   // a NaN stays one though its bits are cut
}

TEST(every_bfloat_converts_exactly_and_back)
{
    for (uint32_t h = 0; h < 65536; h++) {
        const float f = mn_bf16_to_f32((uint16_t)h);
        EQ(bits(f), h << 16);
        EQ(mn_f32_to_bf16(f), isnan(f) ? (h | 0x40) : h);
    }
    EQ(mn_f32_to_bf16(from_bits(0x3F808000)), 0x3F80);   // ties go to even
    EQ(mn_f32_to_bf16(from_bits(0x3F818000)), 0x3F82);
    EQ(mn_f32_to_bf16(from_bits(0x3F808001)), 0x3F81);
    EQ(mn_f32_to_bf16(from_bits(0x7F7FFFFF)), 0x7F80);
    EQ(mn_f32_to_bf16(from_bits(0x7F800001)), 0x7FC0);
}

TEST(the_table_knows_its_types_and_names_the_others)
{
    const mn_dtype *t = mn_dtype_from_id(12);
    EQ_STR(t->name, "q4_k");
    EQ(t->block, 256);
    EQ(t->block_bytes, 144);
    for (uint32_t id = 0; id < 64; id++) {
        t = mn_dtype_from_id(id);
        if (!t) continue;
        EQ(t->id, id);
        EQ_STR(t->name, mn_dtype_gguf_name(id));
    }
    YES(mn_dtype_from_id(20) == NULL);
    EQ_STR(mn_dtype_gguf_name(20), "iq4_nl");
    EQ_STR(mn_dtype_gguf_name(39), "mxfp4");
    EQ_STR(mn_dtype_gguf_name(1000), "?");
    YES(mn_dtype_from_id(UINT32_MAX) == NULL);
    EQ_STR(mn_dtype_gguf_name(UINT32_MAX), "?");
}

TEST(sizes_are_whole_blocks_and_do_not_wrap)
{
    uint64_t n;
    YES(mn_dtype_bytes(mn_dtype_from_id(MN_Q4_0), 64, &n));
    EQ(n, 36);
    NO(mn_dtype_bytes(mn_dtype_from_id(MN_Q4_0), 65, &n));
    NO(mn_dtype_bytes(mn_dtype_from_id(MN_F32), (uint64_t)1 << 62, &n));
    YES(mn_dtype_bytes(mn_dtype_from_id(MN_F32), ((uint64_t)1 << 62) - 1, &n));
}

int main(void)
{
    return RUN(T(every_half_converts_exactly_and_back),
               T(floats_between_two_halves_go_to_the_nearest_or_even_one),
               T(floats_outside_the_halves_become_infinity_or_zero),
               T(every_bfloat_converts_exactly_and_back),
               T(the_table_knows_its_types_and_names_the_others),
               T(sizes_are_whole_blocks_and_do_not_wrap));
}
