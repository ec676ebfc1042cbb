/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_x_avx512.h - what the products with Q4X and Q8X share: weights as bytes, and the last step.  Static
 * inline only.
 *
 * VPDPBUSD multiplies unsigned with signed bytes, so a weight goes in as v + 128, and a column's sum starts at
 * -128 times the total of its codes.  That may wrap; the end does not.
 */
#ifndef MN_KERNEL_MM_X_AVX512_H
#define MN_KERNEL_MM_X_AVX512_H

#include "kernel/kernels.h"

#ifdef __AVX512VNNI__
#include <immintrin.h>

#include "kernel/scalar/math.h"
#include "kernel/scalar/mm_x.h"
#include "kernel/x86/mm_x86.h"
#include "kernel/xcall.h"

/* m and `zero` - 8 m of the two groups of 32 columns: m in each word, the other in each byte. */
typedef struct mn_xmult {
    __m512i m[2], offset[2];
} mn_xmult;

MN_INLINE mn_xmult mn_xmult_load(const uint8_t *p, int8_t zero)
{
    const __m512i four = _mm512_setr_epi32(   // a row's byte to all bytes of its dword
        0x00000000, 0x01010101, 0x02020202, 0x03030303, 0x04040404, 0x05050505, 0x06060606, 0x07070707,
        0x08080808, 0x09090909, 0x0a0a0a0a, 0x0b0b0b0b, 0x0c0c0c0c, 0x0d0d0d0d, 0x0e0e0e0e, 0x0f0f0f0f);
    const __m512i low = _mm512_set1_epi8(15), word = _mm512_set1_epi16(15), o = _mm512_set1_epi8(zero);
    const __m512i both = _mm512_shuffle_epi8(
        _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)p)), four);
    const __m512i high = _mm512_srli_epi16(both, 4);
    return (mn_xmult){
        { _mm512_and_si512(both, word), _mm512_and_si512(high, word) },
        { _mm512_sub_epi8(o, _mm512_slli_epi16(_mm512_and_si512(both, low), 3)),
          _mm512_sub_epi8(o, _mm512_slli_epi16(_mm512_and_si512(high, low), 3)) },
    };
}

/* Line i of 32 columns: columns 8 i .. and 8 i + 4 .. as v + zero; x is the multipliers'. */
MN_INLINE void mn_xline_q4x(__m512i w[2], const uint8_t *lines, int i, const mn_xmult *x)
{
    const __m512i low = _mm512_set1_epi8(15), v = _mm512_load_si512(lines + 64 * i);
    const __m512i q[2] = { _mm512_and_si512(v, low), _mm512_and_si512(_mm512_srli_epi16(v, 4), low) };
    for (int j = 0; j < 2; j++) {   // m q <= 225: the bytes of a word do not meet
        w[j] = _mm512_add_epi8(_mm512_mullo_epi16(q[j], x->m[i / 2]), x->offset[i / 2]);
    }
}

MN_INLINE __m512i mn_xline_q8x(const uint8_t *lines, int i)
{
    return _mm512_xor_si512(_mm512_load_si512(lines + 64 * i), _mm512_set1_epi8(-128));
}

/* The sums of n columns of a panel become rows of y, from token t on. */
void mn_xfinish__avx512(const mn_xcall *a, const __m512i *sum, size_t n, size_t panel, size_t t);

MN_INLINE __m512i mn_xbroadcast(const int8_t *q)
{
    int32_t v;
    memcpy(&v, q, sizeof v);
    return _mm512_set1_epi32(v);
}
#endif

mn_xmm_fn mn_gemm_q4x__avx512, mn_gemm_q8x__avx512;
extern const mn_xmatmul mn_xmm_q4x__avx512, mn_xmm_q8x__avx512;

#endif
