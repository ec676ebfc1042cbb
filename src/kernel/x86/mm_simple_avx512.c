/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_simple_avx512.c - readers of the types with 32 values in a block: Q4_0, Q4_1, Q5_0, Q5_1, Q8_0.
 * scalar/unpack.c draws their bytes.
 */
#include "kernel/kernels.h"

#ifdef __AVX512VNNI__
#include "kernel/x86/mm_avx512.h"

/* Words 0-15: the first f16 of each [block][row]; words 16-31: the word after it. */
MN_INLINE __m512i scale_words(const uint8_t *const row[4], size_t b, unsigned n, const mn_layout *f)
{
    // A 64-byte load sees all four blocks if they are short, else the first two; a second load
    // the others.  Neither reaches beyond block n - 1.
    const bool     twice = 3 * f->bytes + 4 > 64;
    const size_t   second = 2 * f->bytes < 4 * f->bytes - 64 ? 2 * f->bytes : 4 * f->bytes - 64;
    const int      w = (int)f->bytes / 2, back = twice ? (int)second / 2 : 0;
    const int      p1 = w, p2 = 2 * w - back, p3 = 3 * w - back;
    const uint64_t index[8] = {
        0, 0x0001000100010001u * (uint64_t)p1, 0x0001000100010001u * (uint64_t)p2,
        0x0001000100010001u * (uint64_t)p3, 0x0001000100010001u,
        0x0001000100010001u * (uint64_t)(p1 + 1), 0x0001000100010001u * (uint64_t)(p2 + 1),
        0x0001000100010001u * (uint64_t)(p3 + 1),
    };
    const __m512i where = _mm512_loadu_si512(index);
    const size_t  have = n * f->bytes;
    __m512i       v = _mm512_setzero_si512();
    for (int i = 0; i < 4; i++) {
        const uint8_t  *p = row[i] + b * f->bytes;
        const __mmask64 m = have >= 64 ? ~0ull : (1ull << have) - 1;
        const __mmask32 mine = 0x11111111u << i;
        if (!twice) {
            v = _mm512_mask_permutexvar_epi16(v, mine, where, _mm512_maskz_loadu_epi8(m, p));
            continue;
        }
        v = _mm512_mask_permutexvar_epi16(v, mine & 0x00ff00ff, where, _mm512_maskz_loadu_epi8(m, p));
        if (n <= 2) continue;
        const size_t    left = have - second;
        const __mmask64 m2 = left >= 64 ? ~0ull : (1ull << left) - 1;
        v = _mm512_mask_permutexvar_epi16(v, mine & 0xff00ff00, where,
                                          _mm512_maskz_loadu_epi8(m2, p + second));
    }
    return v;
}

MN_INLINE __mmask64 join_bits(const uint8_t *a, const uint8_t *b, const uint8_t *c, const uint8_t *d)
{
    return (uint64_t)mn_load16(a) | (uint64_t)mn_load16(b) << 16 | (uint64_t)mn_load16(c) << 32 |
           (uint64_t)mn_load16(d) << 48;
}

MN_INLINE void read_four(mn_four *o, const uint8_t *const row[4], size_t b, unsigned n,
                         const mn_layout *f)
{
    static const uint8_t zeros[40] = { 0 };
    const __m512i        nibble = _mm512_set1_epi8(15), fifth = _mm512_set1_epi8(16);
    for (int i = 0; i < 4; i++) {
        const uint8_t *p[4];
        for (unsigned j = 0; j < 4; j++) p[j] = j < n ? row[i] + (b + j) * f->bytes : zeros;
        const size_t  at = f->codes;
        const __m512i v = mn_join4(p[0] + at, p[1] + at, p[2] + at, p[3] + at);
        if (f->is_signed) {
            const __m512i flip = _mm512_set1_epi8((char)0x80);
            o->low[i] = _mm512_xor_si512(v, flip);
            o->high[i] = _mm512_xor_si512(
                mn_join4(p[0] + at + 16, p[1] + at + 16, p[2] + at + 16, p[3] + at + 16), flip);
            continue;
        }
        o->low[i] = _mm512_and_si512(v, nibble);
        o->high[i] = _mm512_and_si512(_mm512_srli_epi16(v, 4), nibble);
        if (f->high) {
            const size_t h = f->high;
            o->low[i] = _mm512_mask_add_epi8(
                o->low[i], join_bits(p[0] + h, p[1] + h, p[2] + h, p[3] + h), o->low[i], fifth);
            o->high[i] = _mm512_mask_add_epi8(
                o->high[i], join_bits(p[0] + h + 2, p[1] + h + 2, p[2] + h + 2, p[3] + h + 2),
                o->high[i], fifth);
        }
    }
    const __m512i words = scale_words(row, b, n, f);
    o->scale[0] = _mm512_cvtph_ps(_mm512_castsi512_si256(words));
    o->offset[0] = f->has_offset ? _mm512_cvtph_ps(_mm512_extracti64x4_epi64(words, 1))
                                 : _mm512_mul_ps(o->scale[0], _mm512_set1_ps(-f->zero));
}

MN_INLINE void fill_panel(mn_panel *o, const uint8_t *const row[16], size_t b0, size_t n,
                          const mn_layout *f)
{
    const __m512i nibble = _mm512_set1_epi8(15), flip = _mm512_set1_epi8((char)0x80);
    for (size_t b = 0; b < n; b++) {
        const size_t at = (b0 + b) * f->bytes;
        __m512i     *code = o->code[b];
        mn_turn16(code, row, at + f->codes);
        if (f->is_signed) {
            mn_turn16(code + 4, row, at + f->codes + 16);
            for (int m = 0; m < 8; m++) code[m] = _mm512_xor_si512(code[m], flip);
        } else {
            for (int m = 0; m < 4; m++) {
                code[m + 4] = _mm512_and_si512(_mm512_srli_epi16(code[m], 4), nibble);
                code[m] = _mm512_and_si512(code[m], nibble);
            }
        }
        if (f->high) {   // bit k of a row's dword belongs to its code k
            const __m512i bits = mn_dwords16(row, at + f->high);
            for (int m = 0; m < 8; m++) {
                const __m512i byte = _mm512_add_epi8(
                    _mm512_set1_epi8((char)(m / 2)),
                    _mm512_broadcast_i32x4(_mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12,
                                                         12, 12)));
                const __m512i   bit = _mm512_set1_epi32(m % 2 ? (int)0x80402010 : 0x08040201);
                const __mmask64 set = _mm512_test_epi8_mask(_mm512_shuffle_epi8(bits, byte), bit);
                code[m] = _mm512_mask_add_epi8(code[m], set, code[m], _mm512_set1_epi8(16));
            }
        }
        o->scale[b][0] = mn_halves16(row, at);
        if (f->has_offset) {
            o->offset[b][0] = mn_halves16(row, at + 2);
        } else {
            o->offset[b][0] = _mm512_mul_ps(o->scale[b][0], _mm512_set1_ps(-f->zero));
        }
    }
}

#define TYPE(name, form, ...)                                                                      \
    static const mn_layout layout_##name = { __VA_ARGS__ };                                        \
    MN_INLINE void four_##name(mn_four *o, const uint8_t *const row[4], size_t b, unsigned n)      \
    {                                                                                              \
        read_four(o, row, b, n, &layout_##name);                                                   \
    }                                                                                              \
    static void panel_##name(mn_panel *o, const uint8_t *const row[16], size_t b, size_t n)        \
    {                                                                                              \
        fill_panel(o, row, b, n, &layout_##name);                                                  \
    }                                                                                              \
    MN_MM_TYPE(name, avx512, form, four_##name, cols / 32 * layout_##name.bytes)
MN_SIMPLE_TYPES(TYPE)
#undef TYPE
#endif
