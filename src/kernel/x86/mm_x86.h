/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_x86.h - the matrix products of the x86 tiers, and what is the same in all of them.
 */
#ifndef MN_KERNEL_MM_X86_H
#define MN_KERNEL_MM_X86_H

#include <string.h>

#include "kernel/kernels.h"
#include "kernel/scalar/mm_scalar.h"

#define MN_MM_EXTERN(isa)                                                                          \
    extern const mn_matmul mn_mm_f32__##isa, mn_mm_f16__##isa, mn_mm_bf16__##isa;                  \
    extern const mn_matmul mn_mm_q4_0__##isa, mn_mm_q4_1__##isa, mn_mm_q8_0__##isa;                \
    extern const mn_matmul mn_mm_q5_0__##isa, mn_mm_q5_1__##isa;                                   \
    extern const mn_matmul mn_mm_q4_k__##isa, mn_mm_q5_k__##isa, mn_mm_q6_k__##isa
MN_MM_EXTERN(avx2);
MN_MM_EXTERN(avx512);
mn_quant_q8_fn  mn_quant_q8__avx2;
mn_quant_x_fn   mn_quant_x__avx2;
extern const mn_xmatmul mn_xmm_q4x__avx2, mn_xmm_q8x__avx2;
mn_quant_q15_fn mn_quant_q15__avx2;

/* All families of a tier, into table k. */
#define MN_MM_TABLE(k, isa)                                                                        \
    do {                                                                                           \
        (k)->mm_f32 = mn_mm_f32__##isa;                                                            \
        (k)->mm_f16 = mn_mm_f16__##isa;                                                            \
        (k)->mm_bf16 = mn_mm_bf16__##isa;                                                          \
        (k)->mm_q8_0 = mn_mm_q8_0__##isa;                                                          \
        (k)->mm_q4_0 = mn_mm_q4_0__##isa;                                                          \
        (k)->mm_q4_1 = mn_mm_q4_1__##isa;                                                          \
        (k)->mm_q5_0 = mn_mm_q5_0__##isa;                                                          \
        (k)->mm_q5_1 = mn_mm_q5_1__##isa;                                                          \
        (k)->mm_q4_k = mn_mm_q4_k__##isa;                                                          \
        (k)->mm_q5_k = mn_mm_q5_k__##isa;                                                          \
        (k)->mm_q6_k = mn_mm_q6_k__##isa;                                                          \
    } while (0)

/* Readers are passed as arguments and must vanish into their callers. */
#define MN_INLINE static inline __attribute__((always_inline))

/* What p points to is read here, whatever the compiler thinks. */
#define MN_OPAQUE_MEMORY(p) __asm__ volatile("" : : "r"(p) : "memory")

enum { MN_PREFETCH = 2048 };   // bytes ahead of each row

/* What differs between types outside their readers. */
typedef enum mn_form {
    MN_FORM_PLAIN,    // codes are 0 .. 31
    MN_FORM_SIGNED,   // codes are -128 .. 127; no offset
    MN_FORM_HALVES,   // codes are 0 .. 63; each half of a block has its own scale and offset
} mn_form;

/* How a block of a 32-value type is laid out: its size, and where high bits and codes begin. */
typedef struct mn_layout {
    size_t bytes, high, codes;
    bool   has_offset, is_signed;
    float  zero;   // the offset is -zero * scale where the file has none
} mn_layout;

/* X(name, form, layout) */
#define MN_SIMPLE_TYPES(X)                                                                         \
    X(q4_0, MN_FORM_PLAIN, .bytes = 18, .codes = 2, .zero = 8.0f)                                  \
    X(q4_1, MN_FORM_PLAIN, .bytes = 20, .codes = 4, .has_offset = true)                            \
    X(q5_0, MN_FORM_PLAIN, .bytes = 22, .high = 2, .codes = 6, .zero = 16.0f)                      \
    X(q5_1, MN_FORM_PLAIN, .bytes = 24, .high = 4, .codes = 8, .has_offset = true)                 \
    X(q8_0, MN_FORM_SIGNED, .bytes = 34, .codes = 2, .is_signed = true)

enum { MN_Q4_K_BYTES = 144, MN_Q5_K_BYTES = 176, MN_Q6_K_BYTES = 210 };   // of a superblock

MN_INLINE uint16_t mn_load16(const uint8_t *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

MN_INLINE uint32_t mn_load32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Define a family from `read`, which mn_mm_rows takes, and panel_<name>, which
 * mn_mm_panels__<isa> takes; stride: bytes of `cols` values. */
#define MN_MM_TYPE(name, isa, form, read, stride)                                                  \
    static void gemv_##name(float *y, size_t ldy, const void *w, const mn_acts *x, size_t rows,    \
                            size_t cols, size_t T)                                                 \
    {                                                                                              \
        if (x->lo) mn_mm_rows(y, w, x, rows, cols, stride, read, form, true);                      \
        else mn_mm_rows(y, w, x, rows, cols, stride, read, form, false);                           \
    }                                                                                              \
    static void gemm_##name(float *y, size_t ldy, const void *w, const mn_acts *x, size_t rows,    \
                            size_t cols, size_t T)                                                 \
    {                                                                                              \
        mn_mm_panels__##isa(y, ldy, w, x, rows, cols, T, panel_##name, stride, form);              \
    }                                                                                              \
    const mn_matmul mn_mm_##name##__##isa = { gemv_##name, gemm_##name };

/* A panel file's all_tokens, as a function for each form and precision (inlined into one, they would
 * share its registers), and the table TOKENS_OF_FORM[form][exact] of them. */
#define MN_TOKENS_FN(name, panel_t, mask_t, form, exact)                                           \
    static __attribute__((noinline)) void name(float *y, size_t ldy, const panel_t *p,             \
                                               const mn_acts *x, size_t T, size_t b0, size_t n,    \
                                               mask_t rows)                                        \
    {                                                                                              \
        all_tokens(y, ldy, p, x, T, b0, n, rows, form, exact);                                     \
    }
#define MN_TOKENS_TABLE(panel_t, mask_t)                                                           \
    MN_TOKENS_FN(plain_fast, panel_t, mask_t, MN_FORM_PLAIN, false)                                \
    MN_TOKENS_FN(plain_exact, panel_t, mask_t, MN_FORM_PLAIN, true)                                \
    MN_TOKENS_FN(signed_fast, panel_t, mask_t, MN_FORM_SIGNED, false)                              \
    MN_TOKENS_FN(signed_exact, panel_t, mask_t, MN_FORM_SIGNED, true)                              \
    MN_TOKENS_FN(halves_fast, panel_t, mask_t, MN_FORM_HALVES, false)                              \
    MN_TOKENS_FN(halves_exact, panel_t, mask_t, MN_FORM_HALVES, true)                              \
    typedef void tokens_fn(float *y, size_t ldy, const panel_t *p, const mn_acts *x, size_t T,     \
                           size_t b0, size_t n, mask_t rows);                                      \
    static tokens_fn *const TOKENS_OF_FORM[][2] = {                                                \
        [MN_FORM_PLAIN] = { plain_fast, plain_exact },                                             \
        [MN_FORM_SIGNED] = { signed_fast, signed_exact },                                          \
        [MN_FORM_HALVES] = { halves_fast, halves_exact },                                          \
    };

/* Define a float family from a file's `mm`. */
#define MN_MM_FLOAT(name, type, isa)                                                               \
    static void gemv_##name(float *y, size_t ldy, const void *w, const mn_acts *x, size_t rows,    \
                            size_t cols, size_t T)                                                 \
    {                                                                                              \
        mm(y, ldy, w, x, rows, cols, 1, type);                                                     \
    }                                                                                              \
    static void gemm_##name(float *y, size_t ldy, const void *w, const mn_acts *x, size_t rows,    \
                            size_t cols, size_t T)                                                 \
    {                                                                                              \
        mm(y, ldy, w, x, rows, cols, T, type);                                                     \
    }                                                                                              \
    const mn_matmul mn_mm_##name##__##isa = { gemv_##name, gemm_##name };

#endif
