/* SPDX-License-Identifier: Apache-2.0
 *
 * dequantize.c - any type to f32: the definition of what the bytes mean.
 *
 * A weight of a block type is rounded once, from the exact scale * code + offset.
 */
#include <math.h>

#include "kernel/scalar/unpack.h"

static uint16_t word(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

void mn_dequantize(float *y, const void *src, mn_dtype_id type, size_t n)
{
    const uint8_t *p = src;
    int32_t        i32;
    switch (type) {
    case MN_F32: memcpy(y, p, n * sizeof *y); return;
    case MN_F16:
        for (size_t i = 0; i < n; i++) y[i] = mn_f16_to_f32(word(p + 2 * i));
        return;
    case MN_BF16:
        for (size_t i = 0; i < n; i++) y[i] = mn_bf16_to_f32(word(p + 2 * i));
        return;
    case MN_I8:
        for (size_t i = 0; i < n; i++) y[i] = (float)(int8_t)p[i];
        return;
    case MN_I32:
        for (size_t i = 0; i < n; i++) {
            memcpy(&i32, p + 4 * i, 4);
            y[i] = (float)i32;
        }
        return;
    default: break;
    }
    mn_unpack_fn *unpack = mn_unpack_for(type);
    for (size_t b = 0; b < n / 32; b++) {
        mn_block o;
        unpack(&o, p, b);
        for (int k = 0; k < 32; k++) {
            y[32 * b + (size_t)k] = fmaf(o.scale[k / 16], (float)o.code[k], o.offset[k / 16]);
        }
    }
}
