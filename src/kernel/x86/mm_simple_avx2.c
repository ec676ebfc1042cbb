/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_simple_avx2.c - readers of the types with 32 values in a block: Q4_0, Q4_1, Q5_0, Q5_1, Q8_0.
 * scalar/unpack.c draws their bytes.
 */
#include "kernel/kernels.h"

#ifdef __AVX2__
#include "kernel/x86/mm_avx2.h"

/* 16 where the bit is set, for the 16 bits at a and at b. */
MN_INLINE __m256i fifth_bits(const uint8_t *a, const uint8_t *b)
{
    const __m256i byte = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2,
                                          2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
    const __m256i bit = _mm256_set1_epi64x((long long)0x8040201008040201);
    const __m256i all = _mm256_set1_epi32((int)(mn_load16(a) | (uint32_t)mn_load16(b) << 16));
    const __m256i v = _mm256_and_si256(_mm256_shuffle_epi8(all, byte), bit);
    return _mm256_and_si256(_mm256_cmpeq_epi8(v, bit), _mm256_set1_epi8(16));
}

MN_INLINE void set_offset(__m256 *offset, __m256 scale, const uint8_t *const p[8], size_t at,
                          const mn_layout *f)
{
    *offset = f->has_offset ? mn_halves8(p, at) : _mm256_mul_ps(scale, _mm256_set1_ps(-f->zero));
}

MN_INLINE void read_two(mn_two *o, const uint8_t *const row[4], size_t b, unsigned n,
                        const mn_layout *f)
{
    static const uint8_t zeros[40] = { 0 };
    const __m256i        nibble = _mm256_set1_epi8(15);
    const uint8_t       *block[8];
    for (int i = 0; i < 4; i++) {
        const uint8_t *p = row[i] + b * f->bytes, *q = n == 2 ? p + f->bytes : zeros;
        const __m256i  v = mn_join2(p + f->codes, q + f->codes);
        block[i] = p, block[4 + i] = q;
        if (f->is_signed) {
            o->low[i] = v;
            o->high[i] = mn_join2(p + f->codes + 16, q + f->codes + 16);
            continue;
        }
        o->low[i] = _mm256_and_si256(v, nibble);
        o->high[i] = _mm256_and_si256(_mm256_srli_epi16(v, 4), nibble);
        if (!f->high) continue;
        o->low[i] = _mm256_or_si256(o->low[i], fifth_bits(p + f->high, q + f->high));
        o->high[i] = _mm256_or_si256(o->high[i], fifth_bits(p + f->high + 2, q + f->high + 2));
    }
    o->scale[0] = mn_halves8(block, 0);
    set_offset(o->offset, o->scale[0], block, 2, f);
}

MN_INLINE void fill_panel(mn_panel8 *o, const uint8_t *const row[8], size_t b0, size_t n,
                          const mn_layout *f)
{
    const __m256i nibble = _mm256_set1_epi8(15);
    for (size_t b = 0; b < n; b++) {
        const size_t at = (b0 + b) * f->bytes;
        __m256i     *code = o->code[b];
        mn_turn16(code, row, at + f->codes);
        if (f->is_signed) {
            mn_turn16(code + 4, row, at + f->codes + 16);
        } else {
            for (int m = 0; m < 4; m++) {
                code[m + 4] = _mm256_and_si256(_mm256_srli_epi16(code[m], 4), nibble);
                code[m] = _mm256_and_si256(code[m], nibble);
            }
        }
        if (f->high) {   // bit k of a row's dword belongs to its code k
            const __m256i bits = mn_dwords8(row, at + f->high);
            const __m256i first = _mm256_broadcastsi128_si256(
                _mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12));
            for (int m = 0; m < 8; m++) {
                const __m256i byte = _mm256_add_epi8(first, _mm256_set1_epi8((char)(m / 2)));
                const __m256i bit = _mm256_set1_epi32(m % 2 ? (int)0x80402010 : 0x08040201);
                const __m256i v = _mm256_and_si256(_mm256_shuffle_epi8(bits, byte), bit);
                code[m] = _mm256_or_si256(code[m], _mm256_and_si256(_mm256_cmpeq_epi8(v, bit),
                                                                    _mm256_set1_epi8(16)));
            }
        }
        o->scale[b][0] = mn_halves8(row, at);
        set_offset(o->offset[b], o->scale[b][0], row, at + 2, f);
    }
}

#define TYPE(name, form, ...)                                                                      \
    static const mn_layout layout_##name = { __VA_ARGS__ };                                        \
    MN_INLINE void two_##name(mn_two *o, const uint8_t *const row[4], size_t b, unsigned n)        \
    {                                                                                              \
        read_two(o, row, b, n, &layout_##name);                                                    \
    }                                                                                              \
    static void panel_##name(mn_panel8 *o, const uint8_t *const row[8], size_t b, size_t n)        \
    {                                                                                              \
        fill_panel(o, row, b, n, &layout_##name);                                                  \
    }                                                                                              \
    MN_MM_TYPE(name, avx2, form, two_##name, cols / 32 * layout_##name.bytes)
MN_SIMPLE_TYPES(TYPE)
#undef TYPE
#endif
