/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_k_avx2.c - readers of the types with 256 values in a superblock: Q4_K, Q5_K, Q6_K.
 * scalar/unpack.c draws their bytes.
 */
#include "kernel/kernels.h"

#ifdef __AVX2__
#include "kernel/scalar/unpack.h"
#include "kernel/x86/mm_avx2.h"

MN_INLINE __m256i broadcast16(const uint8_t *p)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)p));
}

/* A different shift for each part. */
MN_INLINE __m256i shift_parts(__m256i v, int a, int b)
{
    return _mm256_srlv_epi32(v, _mm256_setr_epi32(a, a, a, a, b, b, b, b));
}

/* 16 where all the bits of `bit` are set. */
MN_INLINE __m256i sixteen_if(__m256i v, __m256i bit)
{
    return _mm256_and_si256(_mm256_cmpeq_epi8(_mm256_and_si256(v, bit), bit), _mm256_set1_epi8(16));
}

/* Bytes j, k of each dword, as [j, k][row]. */
MN_INLINE __m128i turn_bytes(const uint32_t v[4], int j, int k)
{
    const __m128i row = _mm_setr_epi8(0, 4, 8, 12, 0, 4, 8, 12, -128, -128, -128, -128, -128, -128,
                                      -128, -128);
    const __m128i which = _mm_setr_epi32(j * 0x01010101, k * 0x01010101, 0, 0);
    return _mm_shuffle_epi8(_mm_loadu_si128((const void *)v), _mm_add_epi8(row, which));
}

/* The f16 at `at` of four rows, in each part. */
MN_INLINE __m256 halves4(const uint8_t *const p[4], size_t at)
{
    uint16_t v[4];
    for (int i = 0; i < 4; i++) v[i] = mn_load16(p[i] + at);
    const __m128 f = _mm_cvtph_ps(_mm_loadl_epi64((const void *)v));
    return _mm256_set_m128(f, f);
}

MN_INLINE __m256 negated(__m256 v)
{
    return _mm256_xor_ps(v, _mm256_set1_ps(-0.0f));
}

MN_INLINE void two_k(mn_two *o, const uint8_t *const row[4], size_t b, size_t bytes, size_t codes,
                     size_t high)
{
    const __m256i  nibble = _mm256_set1_epi8(15);
    const int      first = 1 << b % 8;
    const __m256i  bit = _mm256_set_m128i(_mm_set1_epi8((char)(2 * first)), _mm_set1_epi8((char)first));
    const uint8_t *p[4];
    uint32_t       scale[4], offset[4];
    for (int i = 0; i < 4; i++) {
        p[i] = row[i] + b / 8 * bytes;
        const uint8_t *q = p[i] + codes + b % 8 / 2 * 32;
        o->low[i] = _mm256_and_si256(shift_parts(broadcast16(q), 0, 4), nibble);
        o->high[i] = _mm256_and_si256(shift_parts(broadcast16(q + 16), 0, 4), nibble);
        if (high) {
            const __m256i h0 = broadcast16(p[i] + high), h1 = broadcast16(p[i] + high + 16);
            o->low[i] = _mm256_or_si256(o->low[i], sixteen_if(h0, bit));
            o->high[i] = _mm256_or_si256(o->high[i], sixteen_if(h1, bit));
        }
        uint32_t s[2], m[2];
        mn_scales6(p[i] + 4, s, m);
        scale[i] = s[b / 4 % 2] >> b % 4 * 8;
        offset[i] = m[b / 4 % 2] >> b % 4 * 8;
    }
    const __m256i s = _mm256_cvtepu8_epi32(turn_bytes(scale, 0, 1));
    const __m256i m = _mm256_cvtepu8_epi32(turn_bytes(offset, 0, 1));
    o->scale[0] = _mm256_mul_ps(halves4(p, 0), _mm256_cvtepi32_ps(s));
    o->offset[0] = _mm256_mul_ps(negated(halves4(p, 2)), _mm256_cvtepi32_ps(m));
}

MN_INLINE void two_q4_k(mn_two *o, const uint8_t *const row[4], size_t b, unsigned n)
{
    two_k(o, row, b, MN_Q4_K_BYTES, 16, 0);
}

MN_INLINE void two_q5_k(mn_two *o, const uint8_t *const row[4], size_t b, unsigned n)
{
    two_k(o, row, b, MN_Q5_K_BYTES, 48, 16);
}

/* Nibbles of two blocks, then the two bits above them from their place in `high`. */
MN_INLINE __m256i six_bits(__m256i nibbles, __m256i high, int block)
{
    const __m256i low = _mm256_and_si256(_mm256_srl_epi16(nibbles, _mm_cvtsi32_si128(block / 2 * 4)),
                                         _mm256_set1_epi8(15));
    const __m256i two = _mm256_slli_epi16(shift_parts(high, 2 * block, 2 * block + 2), 4);
    return _mm256_or_si256(low, _mm256_and_si256(two, _mm256_set1_epi8(0x30)));
}

MN_INLINE void two_q6_k(mn_two *o, const uint8_t *const row[4], size_t b, unsigned n)
{
    const size_t   half = b / 4 % 2;
    const int      block = (int)(b % 4);
    const uint8_t *p[4];
    uint32_t       scale[4];
    for (int i = 0; i < 4; i++) {
        p[i] = row[i] + b / 8 * MN_Q6_K_BYTES;
        const uint8_t *q = p[i] + 64 * half, *h = p[i] + 128 + 32 * half;
        o->low[i] = six_bits(mn_join2(q, q + 32), broadcast16(h), block);
        o->high[i] = six_bits(mn_join2(q + 16, q + 48), broadcast16(h + 16), block);
        scale[i] = mn_load32(p[i] + 192 + b % 8 * 2);
    }
    const __m256 d = halves4(p, 208);
    for (int h = 0; h < 2; h++) {
        const __m256i s = _mm256_cvtepi8_epi32(turn_bytes(scale, h, 2 + h));
        o->scale[h] = _mm256_mul_ps(d, _mm256_cvtepi32_ps(s));
        o->offset[h] = _mm256_mul_ps(o->scale[h], _mm256_set1_ps(-32.0f));
    }
}

/* Scales and offsets of a superblock of Q4_K or Q5_K in 8 rows. */
MN_INLINE void panel_scales6(mn_panel8 *o, const uint8_t *const p[8], size_t b)
{
    uint32_t scale[2][8], offset[2][8];
    for (int i = 0; i < 8; i++) {
        uint32_t s[2], m[2];
        mn_scales6(p[i] + 4, s, m);
        scale[0][i] = s[0], scale[1][i] = s[1];
        offset[0][i] = m[0], offset[1][i] = m[1];
    }
    const __m256  d = mn_halves8(p, 0), m = negated(mn_halves8(p, 2));
    const __m256i byte = _mm256_set1_epi32(255);
    for (int j = 0; j < 8; j++) {
        const __m256i s = _mm256_srli_epi32(_mm256_loadu_si256((const void *)scale[j / 4]), j % 4 * 8);
        const __m256i f = _mm256_srli_epi32(_mm256_loadu_si256((const void *)offset[j / 4]), j % 4 * 8);
        o->scale[b + (size_t)j][0] = _mm256_mul_ps(d, _mm256_cvtepi32_ps(_mm256_and_si256(s, byte)));
        o->offset[b + (size_t)j][0] = _mm256_mul_ps(m, _mm256_cvtepi32_ps(_mm256_and_si256(f, byte)));
    }
}

MN_INLINE void fill_k(mn_panel8 *o, const uint8_t *const row[8], size_t b0, size_t n, size_t bytes,
                      size_t codes, size_t high)
{
    const __m256i nibble = _mm256_set1_epi8(15);
    for (size_t b = 0; b < n; b += 8) {
        const uint8_t *p[8];
        for (int i = 0; i < 8; i++) p[i] = row[i] + (b0 + b) / 8 * bytes;
        panel_scales6(o, p, b);
        __m256i bits[8];
        if (high) {
            mn_turn16(bits, p, high);
            mn_turn16(bits + 4, p, high + 16);
        }
        for (unsigned pair = 0; pair < 4; pair++) {
            __m256i *first = o->code[b + 2 * pair], *second = o->code[b + 2 * pair + 1];
            mn_turn16(first, p, codes + 32 * pair);
            mn_turn16(first + 4, p, codes + 32 * pair + 16);
            for (int m = 0; m < 8; m++) {
                second[m] = _mm256_and_si256(_mm256_srli_epi16(first[m], 4), nibble);
                first[m] = _mm256_and_si256(first[m], nibble);
                if (!high) continue;
                const __m256i one = _mm256_set1_epi8((char)(1 << 2 * pair));
                const __m256i two = _mm256_set1_epi8((char)(2 << 2 * pair));
                first[m] = _mm256_or_si256(first[m], sixteen_if(bits[m], one));
                second[m] = _mm256_or_si256(second[m], sixteen_if(bits[m], two));
            }
        }
    }
}

static void panel_q4_k(mn_panel8 *o, const uint8_t *const row[8], size_t b, size_t n)
{
    fill_k(o, row, b, n, MN_Q4_K_BYTES, 16, 0);
}

static void panel_q5_k(mn_panel8 *o, const uint8_t *const row[8], size_t b, size_t n)
{
    fill_k(o, row, b, n, MN_Q5_K_BYTES, 48, 16);
}

static void panel_q6_k(mn_panel8 *o, const uint8_t *const row[8], size_t b0, size_t n)
{
    const __m256i nibble = _mm256_set1_epi8(15), two = _mm256_set1_epi8(0x30);
    for (size_t b = 0; b < n; b += 4) {
        const unsigned half = (b0 + b) / 4 % 2;
        const uint8_t *p[8];
        __m256i        low[16], high[8];
        for (int i = 0; i < 8; i++) p[i] = row[i] + (b0 + b) / 8 * MN_Q6_K_BYTES;
        for (unsigned i = 0; i < 4; i++) mn_turn16(low + 4 * i, p, 64 * half + 16 * i);
        for (unsigned i = 0; i < 2; i++) mn_turn16(high + 4 * i, p, 128 + 32 * half + 16 * i);
        const __m256 d = mn_halves8(p, 208);
        for (int j = 0; j < 4; j++) {
            const size_t block = b + (size_t)j;
            for (int m = 0; m < 8; m++) {
                __m256i v = low[m + 8 * (j & 1)];
                v = _mm256_and_si256(j & 2 ? _mm256_srli_epi16(v, 4) : v, nibble);
                const __m256i h = _mm256_slli_epi16(_mm256_srli_epi16(high[m], 2 * j), 4);
                o->code[block][m] = _mm256_or_si256(v, _mm256_and_si256(h, two));
            }
            for (unsigned h = 0; h < 2; h++) {
                int8_t s[8];
                for (int i = 0; i < 8; i++) s[i] = (int8_t)p[i][192 + 8 * half + 2 * (unsigned)j + h];
                const __m256i v = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const void *)s));
                o->scale[block][h] = _mm256_mul_ps(d, _mm256_cvtepi32_ps(v));
                o->offset[block][h] = _mm256_mul_ps(o->scale[block][h], _mm256_set1_ps(-32.0f));
            }
        }
    }
}

MN_MM_TYPE(q4_k, avx2, MN_FORM_PLAIN, two_q4_k, cols / 256 * MN_Q4_K_BYTES)
MN_MM_TYPE(q5_k, avx2, MN_FORM_PLAIN, two_q5_k, cols / 256 * MN_Q5_K_BYTES)
MN_MM_TYPE(q6_k, avx2, MN_FORM_HALVES, two_q6_k, cols / 256 * MN_Q6_K_BYTES)
#endif
