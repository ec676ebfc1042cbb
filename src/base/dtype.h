/* SPDX-License-Identifier: Apache-2.0
 *
 * dtype.h - the element types of tensors: how many values a block holds and how many bytes it takes.
 */
#ifndef MN_BASE_DTYPE_H
#define MN_BASE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(NAME, id, "name", values in a block, bytes of a block).  `id` is GGUF's number. */
#define MN_DTYPE_LIST(X)               \
    X(F32, 0, "f32", 1, 4)             \
    X(F16, 1, "f16", 1, 2)             \
    X(Q4_0, 2, "q4_0", 32, 18)         \
    X(Q4_1, 3, "q4_1", 32, 20)         \
    X(Q5_0, 6, "q5_0", 32, 22)         \
    X(Q5_1, 7, "q5_1", 32, 24)         \
    X(Q8_0, 8, "q8_0", 32, 34)         \
    X(Q4_K, 12, "q4_k", 256, 144)      \
    X(Q5_K, 13, "q5_k", 256, 176)      \
    X(Q6_K, 14, "q6_k", 256, 210)      \
    X(I8, 24, "i8", 1, 1)              \
    X(I32, 26, "i32", 1, 4)            \
    X(BF16, 30, "bf16", 1, 2)

/* X(NAME, id, "name"): minnow's own formats for matrices, which lie in panels (native.h), not in rows of
 * blocks.  The ids are no GGUF numbers: in a file such a tensor is bytes that the metadata explains. */
#define MN_NATIVE_LIST(X) \
    X(Q4X, 1004, "q4x")   \
    X(Q8X, 1008, "q8x")

typedef enum mn_dtype_id {
#define X(NAME, id, name, values, bytes) MN_##NAME = id,
    MN_DTYPE_LIST(X)
#undef X
#define X(NAME, id, name) MN_##NAME = id,
    MN_NATIVE_LIST(X)
#undef X
} mn_dtype_id;

typedef struct mn_dtype {
    mn_dtype_id id;
    const char *name;
    uint32_t    block;         // values in a block; 1 if native
    uint32_t    block_bytes;   // 0 if native
    bool        native;        // sizes and places come from native.h
} mn_dtype;

/* The type with this GGUF number; NULL if minnow does not know it. */
const mn_dtype *mn_dtype_from_id(uint32_t id);

/* The type of an mn_dtype_id, native ones included. */
const mn_dtype *mn_dtype_of(mn_dtype_id id);

/* The name of any GGUF type number, also of those minnow does not know ("iq4_nl"); "?" else. */
const char *mn_dtype_gguf_name(uint32_t id);

/* Bytes of `count` values; false if they do not fill whole blocks or the size overflows, and for native
 * types, whose size depends on the shape: mn_dtype_matrix_bytes(). */
bool mn_dtype_bytes(const mn_dtype *t, uint64_t count, uint64_t *bytes);

/* IEEE half and bfloat16 to float: exact.  Float to half and bfloat16: round to nearest even. */
float    mn_f16_to_f32(uint16_t h);
uint16_t mn_f32_to_f16(float f);
float    mn_bf16_to_f32(uint16_t h);
uint16_t mn_f32_to_bf16(float f);

#endif
