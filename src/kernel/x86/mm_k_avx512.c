/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_k_avx512.c - readers of the types with 256 values in a superblock: Q4_K, Q5_K, Q6_K.
 * scalar/unpack.c draws their bytes.
 */
#include "kernel/kernels.h"

#ifdef __AVX512VNNI__
#include "kernel/scalar/unpack.h"
#include "kernel/x86/mm_avx512.h"

/* A different shift for each part. */
MN_INLINE __m512i shift_parts(__m512i v, int a, int b, int c, int d)
{
    return _mm512_srlv_epi32(v, _mm512_setr_epi32(a, a, a, a, b, b, b, b, c, c, c, c, d, d, d, d));
}

MN_INLINE __m512i part_bytes(int a, int b, int c, int d)
{
    return _mm512_inserti64x4(
        _mm512_castsi256_si512(_mm256_setr_m128i(_mm_set1_epi8((char)a), _mm_set1_epi8((char)b))),
        _mm256_setr_m128i(_mm_set1_epi8((char)c), _mm_set1_epi8((char)d)), 1);
}

/* Byte j of dword i becomes byte i of dword j, widened: [row][block] to [block][row]. */
MN_INLINE __m128i turn_bytes(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    const __m128i order = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm_shuffle_epi8(_mm_setr_epi32((int)a, (int)b, (int)c, (int)d), order);
}

/* The f16 at `at` of four rows, in each part. */
MN_INLINE __m512 halves4(const uint8_t *const p[4], size_t at)
{
    const uint64_t v = (uint64_t)mn_load16(p[0] + at) | (uint64_t)mn_load16(p[1] + at) << 16 |
                       (uint64_t)mn_load16(p[2] + at) << 32 | (uint64_t)mn_load16(p[3] + at) << 48;
    return _mm512_broadcast_f32x4(_mm_cvtph_ps(_mm_cvtsi64_si128((long long)v)));
}

MN_INLINE __m512 negated(__m512 v)
{
    return _mm512_xor_ps(v, _mm512_set1_ps(-0.0f));
}

/* Scales and offsets of half a superblock of Q4_K or Q5_K. */
MN_INLINE void read_scales6(mn_four *o, const uint8_t *const p[4], unsigned half)
{
    uint32_t scale[4][2], offset[4][2];
    for (int i = 0; i < 4; i++) mn_scales6(p[i] + 4, scale[i], offset[i]);
    const __m128i s = turn_bytes(scale[0][half], scale[1][half], scale[2][half], scale[3][half]);
    const __m128i m = turn_bytes(offset[0][half], offset[1][half], offset[2][half], offset[3][half]);
    o->scale[0] = _mm512_mul_ps(halves4(p, 0), _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(s)));
    o->offset[0] = _mm512_mul_ps(negated(halves4(p, 2)),
                                 _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(m)));
}

MN_INLINE void four_k(mn_four *o, const uint8_t *const row[4], size_t b, size_t bytes, size_t codes,
                      size_t high)
{
    const __m512i  nibble = _mm512_set1_epi8(15), fifth = _mm512_set1_epi8(16);
    const unsigned half = b / 4 % 2;
    const int      bit = half ? 16 : 1;
    const __m512i  bits = part_bytes(bit, 2 * bit, 4 * bit, 8 * bit);
    const uint8_t *p[4];
    for (int i = 0; i < 4; i++) {
        p[i] = row[i] + b / 8 * bytes;
        const __m512i v = _mm512_loadu_si512(p[i] + codes + 64 * half);
        o->low[i] = shift_parts(_mm512_shuffle_i64x2(v, v, 0xa0), 0, 4, 0, 4);
        o->high[i] = shift_parts(_mm512_shuffle_i64x2(v, v, 0xf5), 0, 4, 0, 4);
        o->low[i] = _mm512_and_si512(o->low[i], nibble);
        o->high[i] = _mm512_and_si512(o->high[i], nibble);
        if (!high) continue;
        const __m512i h0 = _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)(p[i] + high)));
        const __m512i h1 = _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)(p[i] + high + 16)));
        o->low[i] = _mm512_mask_add_epi8(o->low[i], _mm512_test_epi8_mask(h0, bits), o->low[i], fifth);
        o->high[i] = _mm512_mask_add_epi8(o->high[i], _mm512_test_epi8_mask(h1, bits), o->high[i],
                                          fifth);
    }
    read_scales6(o, p, half);
}

MN_INLINE void four_q4_k(mn_four *o, const uint8_t *const row[4], size_t b, unsigned n)
{
    four_k(o, row, b, MN_Q4_K_BYTES, 16, 0);
}

MN_INLINE void four_q5_k(mn_four *o, const uint8_t *const row[4], size_t b, unsigned n)
{
    four_k(o, row, b, MN_Q5_K_BYTES, 48, 16);
}

/* Nibbles of two parts, then the two bits above them from their place in `high`. */
MN_INLINE __m512i six_bits(__m512i nibbles, __m512i high)
{
    const __m512i low = _mm512_and_si512(shift_parts(nibbles, 0, 0, 4, 4), _mm512_set1_epi8(15));
    const __m512i two = _mm512_slli_epi16(shift_parts(high, 0, 2, 4, 6), 4);
    return _mm512_ternarylogic_epi32(low, two, _mm512_set1_epi8(0x30), 0xf8);   // low | (two & 0x30)
}

MN_INLINE void four_q6_k(mn_four *o, const uint8_t *const row[4], size_t b, unsigned n)
{
    const unsigned half = b / 4 % 2;
    const uint8_t *p[4];
    uint32_t       scale[2][4];
    for (int i = 0; i < 4; i++) {
        p[i] = row[i] + b / 8 * MN_Q6_K_BYTES;
        const uint8_t *high = p[i] + 128 + 32 * half;
        const __m512i  v = _mm512_loadu_si512(p[i] + 64 * half);
        const __m512i  h0 = _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)high));
        const __m512i  h1 = _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)(high + 16)));
        o->low[i] = six_bits(_mm512_shuffle_i64x2(v, v, 0x88), h0);
        o->high[i] = six_bits(_mm512_shuffle_i64x2(v, v, 0xdd), h1);

        uint64_t s;
        memcpy(&s, p[i] + 192 + 8 * half, sizeof s);
        scale[0][i] = (uint32_t)_pext_u64(s, 0x00ff00ff00ff00ff);
        scale[1][i] = (uint32_t)_pext_u64(s, 0xff00ff00ff00ff00);
    }
    const __m512 d = halves4(p, 208);
    for (int h = 0; h < 2; h++) {
        const __m128i s = turn_bytes(scale[h][0], scale[h][1], scale[h][2], scale[h][3]);
        o->scale[h] = _mm512_mul_ps(d, _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(s)));
        o->offset[h] = _mm512_mul_ps(o->scale[h], _mm512_set1_ps(-32.0f));
    }
}

/* Scales and offsets of a superblock of Q4_K or Q5_K in 16 rows. */
MN_INLINE void panel_scales6(mn_panel *o, const uint8_t *const p[16], size_t b)
{
    uint32_t scale[2][16], offset[2][16];
    for (int i = 0; i < 16; i++) {
        uint32_t s[2], m[2];
        mn_scales6(p[i] + 4, s, m);
        scale[0][i] = s[0], scale[1][i] = s[1];
        offset[0][i] = m[0], offset[1][i] = m[1];
    }
    const __m512  d = mn_halves16(p, 0), m = negated(mn_halves16(p, 2));
    const __m512i byte = _mm512_set1_epi32(255);
    for (unsigned j = 0; j < 8; j++) {
        const __m512i s = _mm512_srli_epi32(_mm512_loadu_si512(scale[j / 4]), j % 4 * 8);
        const __m512i f = _mm512_srli_epi32(_mm512_loadu_si512(offset[j / 4]), j % 4 * 8);
        o->scale[b + j][0] = _mm512_mul_ps(d, _mm512_cvtepi32_ps(_mm512_and_si512(s, byte)));
        o->offset[b + j][0] = _mm512_mul_ps(m, _mm512_cvtepi32_ps(_mm512_and_si512(f, byte)));
    }
}

MN_INLINE void fill_k(mn_panel *o, const uint8_t *const row[16], size_t b0, size_t n, size_t bytes,
                      size_t codes, size_t high)
{
    const __m512i nibble = _mm512_set1_epi8(15), fifth = _mm512_set1_epi8(16);
    for (size_t b = 0; b < n; b += 8) {
        const uint8_t *p[16];
        for (int i = 0; i < 16; i++) p[i] = row[i] + (b0 + b) / 8 * bytes;
        panel_scales6(o, p, b);
        __m512i bits[8];
        if (high) {
            mn_turn16(bits, p, high);
            mn_turn16(bits + 4, p, high + 16);
        }
        for (unsigned pair = 0; pair < 4; pair++) {
            __m512i *first = o->code[b + 2 * pair], *second = o->code[b + 2 * pair + 1];
            mn_turn16(first, p, codes + 32 * pair);
            mn_turn16(first + 4, p, codes + 32 * pair + 16);
            for (int m = 0; m < 8; m++) {
                second[m] = _mm512_and_si512(_mm512_srli_epi16(first[m], 4), nibble);
                first[m] = _mm512_and_si512(first[m], nibble);
                if (!high) continue;
                const __m512i one = _mm512_set1_epi8((char)(1 << 2 * pair));
                const __m512i two = _mm512_set1_epi8((char)(2 << 2 * pair));
                first[m] = _mm512_mask_add_epi8(first[m], _mm512_test_epi8_mask(bits[m], one),
                                                first[m], fifth);
                second[m] = _mm512_mask_add_epi8(second[m], _mm512_test_epi8_mask(bits[m], two),
                                                 second[m], fifth);
            }
        }
    }
}

static void panel_q4_k(mn_panel *o, const uint8_t *const row[16], size_t b, size_t n)
{
    fill_k(o, row, b, n, MN_Q4_K_BYTES, 16, 0);
}

static void panel_q5_k(mn_panel *o, const uint8_t *const row[16], size_t b, size_t n)
{
    fill_k(o, row, b, n, MN_Q5_K_BYTES, 48, 16);
}

static void panel_q6_k(mn_panel *o, const uint8_t *const row[16], size_t b0, size_t n)
{
    const __m512i nibble = _mm512_set1_epi8(15), two = _mm512_set1_epi8(0x30);
    for (size_t b = 0; b < n; b += 4) {
        const unsigned half = (b0 + b) / 4 % 2;
        const uint8_t *p[16];
        __m512i        low[16], high[8];
        for (int i = 0; i < 16; i++) p[i] = row[i] + (b0 + b) / 8 * MN_Q6_K_BYTES;
        for (unsigned i = 0; i < 4; i++) mn_turn16(low + 4 * i, p, 64 * half + 16 * i);
        for (unsigned i = 0; i < 2; i++) mn_turn16(high + 4 * i, p, 128 + 32 * half + 16 * i);
        for (unsigned j = 0; j < 4; j++) {
            for (unsigned m = 0; m < 8; m++) {
                __m512i v = low[m + 8 * (j & 1)];
                v = _mm512_and_si512(j & 2 ? _mm512_srli_epi16(v, 4) : v, nibble);
                const __m512i h = _mm512_slli_epi16(_mm512_srli_epi16(high[m], 2 * j), 4);
                o->code[b + j][m] = _mm512_or_si512(v, _mm512_and_si512(h, two));
            }
        }
        const __m512 d = mn_halves16(p, 208);
        for (unsigned j = 0; j < 4; j++) {
            for (unsigned h = 0; h < 2; h++) {
                int8_t s[16];
                for (int i = 0; i < 16; i++) s[i] = (int8_t)p[i][192 + 8 * half + 2 * j + h];
                const __m512i v = _mm512_cvtepi8_epi32(_mm_loadu_si128((const void *)s));
                o->scale[b + j][h] = _mm512_mul_ps(d, _mm512_cvtepi32_ps(v));
                o->offset[b + j][h] = _mm512_mul_ps(o->scale[b + j][h], _mm512_set1_ps(-32.0f));
            }
        }
    }
}

MN_MM_TYPE(q4_k, avx512, MN_FORM_PLAIN, four_q4_k, cols / 256 * MN_Q4_K_BYTES)
MN_MM_TYPE(q5_k, avx512, MN_FORM_PLAIN, four_q5_k, cols / 256 * MN_Q5_K_BYTES)
MN_MM_TYPE(q6_k, avx512, MN_FORM_HALVES, four_q6_k, cols / 256 * MN_Q6_K_BYTES)
#endif
