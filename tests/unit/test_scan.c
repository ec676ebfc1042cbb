/* SPDX-License-Identifier: Apache-2.0
 *
 * Infinities and NaNs are found wherever a type keeps a float.
 */
#include "test.h"

#include "format/scan.h"

/* Set the 16-bit (or, for F32, 32-bit) field at `at` of block 2 of 3 and scan. */
static mnw_status scan(mn_dtype_id id, size_t at, uint32_t bits, mn_err *err)
{
    static uint8_t  data[3 * 256];
    const mn_dtype *t = mn_dtype_from_id(id);
    memset(data, 0, sizeof data);
    const size_t where = 2 * t->block_bytes + at;
    data[where] = (uint8_t)bits;
    data[where + 1] = (uint8_t)(bits >> 8);
    if (id == MN_F32) {
        data[where + 2] = (uint8_t)(bits >> 16);
        data[where + 3] = (uint8_t)(bits >> 24);
    }
    *err = (mn_err){ 0 };
    return mn_scan_tensor(&(mn_tensor){ .name = { "blk.0.w", 7 }, .type = t, .offset = 1000,
                                        .bytes = 3 * t->block_bytes, .data = data },
                          err);
}

TEST(a_scale_that_is_not_finite_is_named_with_block_and_offset)
{
    mn_err err;
    EQ(scan(MN_Q4_0, 0, 0x7C00, &err), MNW_E_FORMAT);
    EQ_STR(err.text, "blk.0.w: block 2 of 3 (q4_0) has a value that is not finite, 0x7c00 at offset "
                     "1036");
}

TEST(every_floating_field_of_every_type_is_looked_at)
{
    static const struct {
        mn_dtype_id id;
        size_t      at[2];
        int         fields;
        uint32_t    inf, nan, largest;
    } TYPES[] = {
        { MN_F32, { 0 }, 1, 0xFF800000, 0x7FC00001, 0x7F7FFFFF },
        { MN_BF16, { 0 }, 1, 0xFF80, 0x7FC1, 0x7F7F },
        { MN_F16, { 0 }, 1, 0xFC00, 0x7C01, 0x7BFF },
        { MN_Q4_0, { 0 }, 1, 0xFC00, 0x7C01, 0x7BFF },
        { MN_Q4_1, { 0, 2 }, 2, 0xFC00, 0x7C01, 0x7BFF },
        { MN_Q5_0, { 0 }, 1, 0xFC00, 0x7C01, 0x7BFF },
        { MN_Q5_1, { 0, 2 }, 2, 0xFC00, 0x7C01, 0x7BFF },
        { MN_Q8_0, { 0 }, 1, 0xFC00, 0x7C01, 0x7BFF },
        { MN_Q4_K, { 0, 2 }, 2, 0xFC00, 0x7C01, 0x7BFF },
        { MN_Q5_K, { 0, 2 }, 2, 0xFC00, 0x7C01, 0x7BFF },
        { MN_Q6_K, { 208 }, 1, 0xFC00, 0x7C01, 0x7BFF },
    };
    mn_err err;
    for (size_t i = 0; i < LEN(TYPES); i++) {
        for (int f = 0; f < TYPES[i].fields; f++) {
            EQ(scan(TYPES[i].id, TYPES[i].at[f], TYPES[i].inf, &err), MNW_E_FORMAT);
            EQ(scan(TYPES[i].id, TYPES[i].at[f], TYPES[i].nan, &err), MNW_E_FORMAT);
            OK(scan(TYPES[i].id, TYPES[i].at[f], TYPES[i].largest, &err));
        }
    }
}

TEST(codes_may_be_any_bytes)
{
    mn_err err;
    OK(scan(MN_Q4_0, 2, 0xFFFF, &err));
    OK(scan(MN_Q4_1, 4, 0xFFFF, &err));
    OK(scan(MN_Q6_K, 206, 0xFFFF, &err));
    OK(scan(MN_I8, 0, 0xFF, &err));
    OK(scan(MN_I32, 0, 0xFFFF, &err));
}

int main(void)
{
    return RUN(T(a_scale_that_is_not_finite_is_named_with_block_and_offset),
               T(every_floating_field_of_every_type_is_looked_at), T(codes_may_be_any_bytes));
}
