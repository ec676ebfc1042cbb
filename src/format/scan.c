/* SPDX-License-Identifier: Apache-2.0
 *
 * scan.c - look for infinities and NaNs in a tensor's floating fields.
 *
 * A float is not finite when its exponent bits are all ones; where such fields lie in a block is
 * all that has to be known about a type.
 */
#include "format/scan.h"

#include <inttypes.h>

#include "base/blocks.h"
#include "base/cursor.h"
#include "base/native.h"

typedef struct fields {
    uint8_t  bytes;      // of a field: 2 or 4; 0 = the type has none
    uint8_t  count;      // in a block
    uint16_t at[2];      // offsets in the block
    uint32_t exponent;   // mask
} fields;

static fields fields_of(mn_dtype_id id)
{
#define HALF(type, field) 2, 1, { offsetof(mn_block_##type, field) }, 0x7C00
#define HALVES(type, a, b) \
    2, 2, { offsetof(mn_block_##type, a), offsetof(mn_block_##type, b) }, 0x7C00
    switch (id) {
    case MN_Q4X: case MN_Q8X:   // the scales, one for each row, are all
    case MN_F32: return (fields){ 4, 1, { 0 }, 0x7F800000 };
    case MN_F16: return (fields){ 2, 1, { 0 }, 0x7C00 };
    case MN_BF16: return (fields){ 2, 1, { 0 }, 0x7F80 };
    case MN_Q4_0: return (fields){ HALF(q4_0, d) };
    case MN_Q4_1: return (fields){ HALVES(q4_1, d, m) };
    case MN_Q5_0: return (fields){ HALF(q5_0, d) };
    case MN_Q5_1: return (fields){ HALVES(q5_1, d, m) };
    case MN_Q8_0: return (fields){ HALF(q8_0, d) };
    case MN_Q4_K: return (fields){ HALVES(q4_k, d, dmin) };
    case MN_Q5_K: return (fields){ HALVES(q5_k, d, dmin) };
    case MN_Q6_K: return (fields){ HALF(q6_k, d) };
    case MN_I8: case MN_I32: break;
    }
    return (fields){ 0 };
}

mnw_status mn_scan_tensor(const mn_tensor *t, mn_err *err)
{
    const fields   f = fields_of(t->type->id);
    const uint32_t step = t->type->native ? sizeof(float) : t->type->block_bytes;
    const uint64_t blocks = t->type->native ? mn_qx_panels((size_t)t->dim[1]) * MN_QX_ROWS
                                            : t->bytes / step;
    for (unsigned k = 0; k < f.count; k++) {
        const uint8_t *p = t->data + f.at[k];
        for (uint64_t i = 0; i < blocks; i++, p += step) {
            const uint32_t bits = f.bytes == 2 ? mn_load_u16(p) : mn_load_u32(p);
            MN_FAIL_IF((bits & f.exponent) == f.exponent, err, MNW_E_FORMAT,
                       "%.*s: block %" PRIu64 " of %" PRIu64 " (%s) has a value that is not "
                       "finite, 0x%0*" PRIx32 " at offset %" PRIu64,
                       MN_STR(t->name), i, blocks, t->type->name, 2 * f.bytes, bits,
                       t->offset + i * step + f.at[k]);
        }
    }
    return MNW_OK;
}
