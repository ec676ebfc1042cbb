/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_dotprod.c - matrix products of the block types with SDOT.
 *
 * A chunk of four rows is unpacked to int8 once and multiplied with every token.  SDOT leaves four sums
 * per row and block; pairwise additions turn those of four rows into one register, a lane per row,
 * which is also the shape of scales, offsets and accumulators.
 */
#include "kernel/kernels.h"

#ifdef __ARM_FEATURE_DOTPROD
#include <arm_neon.h>

#include "kernel/arm/mm_arm.h"
#include "kernel/scalar/mm_scalar.h"
#include "kernel/scalar/unpack.h"

/* A block of four rows; [0] of scale and offset serves both halves except in Q6_K. */
typedef struct four {
    int8x16_t   low[4], high[4];
    float32x4_t scale[2], offset[2];
} four;

MN_INLINE float32x4_t halves4(const uint8_t *const p[4])
{
    uint16_t v[4];
    for (int i = 0; i < 4; i++) memcpy(v + i, p[i], sizeof *v);
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(v)));
}

/* Q4_0, Q4_1 and Q8_0, the types worth reading in registers. */
MN_INLINE void read_short(four *o, const uint8_t *const row[4], size_t b, mn_dtype_id type)
{
    const size_t   bytes = type == MN_Q4_0 ? 18 : type == MN_Q4_1 ? 20 : 34;
    const uint8_t *p[4];
    for (int i = 0; i < 4; i++) {
        p[i] = row[i] + b * bytes;
        const uint8x16_t v = vld1q_u8(p[i] + (type == MN_Q4_1 ? 4 : 2));
        if (type == MN_Q8_0) {
            o->low[i] = vreinterpretq_s8_u8(v);
            o->high[i] = vld1q_s8((const int8_t *)p[i] + 18);
        } else {
            o->low[i] = vreinterpretq_s8_u8(vandq_u8(v, vdupq_n_u8(15)));
            o->high[i] = vreinterpretq_s8_u8(vshrq_n_u8(v, 4));
        }
    }
    o->scale[0] = halves4(p);
    if (type == MN_Q4_0) o->offset[0] = vmulq_n_f32(o->scale[0], -8.0f);
    if (type == MN_Q4_1) {
        for (int i = 0; i < 4; i++) p[i] += 2;
        o->offset[0] = halves4(p);
    }
}

MN_INLINE void read_any(four *o, const uint8_t *const row[4], size_t b, mn_dtype_id type)
{
    float scale[2][4], offset[2][4];
    for (int i = 0; i < 4; i++) {
        mn_block v;
        mn_unpack_for(type)(&v, row[i], b);
        o->low[i] = vld1q_s8(v.code);
        o->high[i] = vld1q_s8(v.code + 16);
        for (int h = 0; h < 2; h++) {
            scale[h][i] = v.scale[h];
            offset[h][i] = v.offset[h];
        }
    }
    for (int h = 0; h < 2; h++) {
        o->scale[h] = vld1q_f32(scale[h]);
        o->offset[h] = vld1q_f32(offset[h]);
    }
}

/* A lane per row: the sum of each row's four lanes. */
MN_INLINE float32x4_t sum_rows(const int32x4_t v[4])
{
    return vcvtq_f32_s32(vpaddq_s32(vpaddq_s32(v[0], v[1]), vpaddq_s32(v[2], v[3])));
}

/* acc + the products of a block with one token. */
MN_INLINE float32x4_t add_block(float32x4_t acc, const four *w, const int8_t *q, const int8_t *lo,
                                float d, const float *s, mn_dtype_id type)
{
    int32x4_t sum[2][4];
    for (int i = 0; i < 8; i++) sum[i / 4][i % 4] = vdupq_n_s32(0);
    for (int plane = 0; plane < (lo ? 2 : 1); plane++) {
        const int8_t   *v = plane ? lo : q;
        const int8x16_t low = vld1q_s8(v), high = vld1q_s8(v + 16);
        for (int i = 0; i < 4; i++) {
            const int32x4_t a = vshlq_n_s32(sum[0][i], 7), c = vshlq_n_s32(sum[1][i], 7);
            if (type == MN_Q6_K) {
                sum[0][i] = vdotq_s32(a, w->low[i], low);
                sum[1][i] = vdotq_s32(c, w->high[i], high);
            } else {
                sum[1][i] = vdotq_s32(vdotq_s32(c, w->low[i], low), w->high[i], high);
            }
        }
    }
    if (type == MN_Q6_K) {
        for (int h = 0; h < 2; h++) {
            acc = vfmaq_f32(acc, vmulq_n_f32(w->scale[h], d), sum_rows(sum[h]));
            acc = vfmaq_f32(acc, w->offset[h], vdupq_n_f32(s[h]));
        }
        return acc;
    }
    acc = vfmaq_f32(acc, vmulq_n_f32(w->scale[0], d), sum_rows(sum[1]));
    return type == MN_Q8_0 ? acc : vfmaq_f32(acc, w->offset[0], vdupq_n_f32(s[0] + s[1]));
}

/* One chunk of four rows with all tokens; `count` of the rows exist. */
MN_INLINE void mm_chunk(float *y, size_t ldy, const four *w, const mn_acts *x, size_t b0, size_t n,
                        size_t T, size_t count, mn_dtype_id type, bool exact)
{
    for (size_t t = 0; t < T; t++) {
        const int8_t *q = x->q + t * x->ld + 32 * b0;
        const int8_t *lo = exact ? x->lo + t * x->ld + 32 * b0 : NULL;
        const float  *d = x->d + t * x->ld / 32 + b0, *s = x->s + t * x->ld / 16 + 2 * b0;
        float32x4_t   acc[4];
        float         out[4] = { 0 };
        for (int j = 0; j < 4; j++) acc[j] = vdupq_n_f32(0.0f);
        size_t b = 0;
        for (; b + 4 <= n; b += 4) {
            for (size_t j = 0; j < 4; j++) {
                acc[j] = add_block(acc[j], w + b + j, q + 32 * (b + j),
                                   exact ? lo + 32 * (b + j) : NULL, d[b + j], s + 2 * (b + j), type);
            }
        }
        for (size_t j = 0; b + j < n; j++) {
            acc[j] = add_block(acc[j], w + b + j, q + 32 * (b + j), exact ? lo + 32 * (b + j) : NULL,
                               d[b + j], s + 2 * (b + j), type);
        }
        float32x4_t chunk = vaddq_f32(vaddq_f32(acc[0], acc[2]), vaddq_f32(acc[1], acc[3]));
        if (b0) {
            memcpy(out, y + t * ldy, count * sizeof *out);
            chunk = vaddq_f32(vld1q_f32(out), chunk);
        }
        vst1q_f32(out, chunk);
        memcpy(y + t * ldy, out, count * sizeof *out);
    }
}

MN_INLINE void mm(float *y, size_t ldy, const void *w, const mn_acts *x, size_t rows, size_t cols,
                  size_t T, mn_dtype_id type)
{
    const size_t   stride = mn_row_bytes(mn_dtype_from_id(type), cols), blocks = cols / 32;
    const uint8_t *base = w;
    four           chunk[MN_MM_CHUNK];
    for (size_t r = 0; r < rows; r += 4) {
        const size_t   count = rows - r < 4 ? rows - r : 4;
        const uint8_t *row[4];
        for (size_t i = 0; i < 4; i++) row[i] = base + (r + (i < count ? i : count - 1)) * stride;
        for (size_t b0 = 0; b0 < blocks; b0 += MN_MM_CHUNK) {
            const size_t n = blocks - b0 < MN_MM_CHUNK ? blocks - b0 : MN_MM_CHUNK;
            for (size_t b = 0; b < n; b++) {
                if (type == MN_Q4_0 || type == MN_Q4_1 || type == MN_Q8_0) {
                    read_short(chunk + b, row, b0 + b, type);
                } else {
                    read_any(chunk + b, row, b0 + b, type);
                }
            }
            if (x->lo) mm_chunk(y + r, ldy, chunk, x, b0, n, T, count, type, true);
            else mm_chunk(y + r, ldy, chunk, x, b0, n, T, count, type, false);
        }
    }
}

#define TYPE(name, type)                                                                           \
    static void mm_##name(float *y, size_t ldy, const void *w, const mn_acts *x, size_t rows,      \
                          size_t cols, size_t T)                                                   \
    {                                                                                              \
        mm(y, ldy, w, x, rows, cols, T, type);                                                     \
    }                                                                                              \
    const mn_matmul mn_mm_##name##__dotprod = { mm_##name, mm_##name };

TYPE(q8_0, MN_Q8_0)
TYPE(q4_0, MN_Q4_0)
TYPE(q4_1, MN_Q4_1)
TYPE(q5_0, MN_Q5_0)
TYPE(q5_1, MN_Q5_1)
TYPE(q4_k, MN_Q4_K)
TYPE(q5_k, MN_Q5_K)
TYPE(q6_k, MN_Q6_K)
#endif
