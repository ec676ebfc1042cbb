/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_x_avx2.c - products with Q4X and Q8X, up to four columns at a time.
 *
 * Q4X: VPMADDUBSW sums the four products of a row's dword into two 16-bit lanes; the 16 products of a group,
 * and the -8 times the sum of the activations that the low lane starts with, stay within
 * 16 bits; so the VPMADDWD that joins the lanes can multiply by m instead of by one.
 *
 * Q8X: |w| times a with w's sign keeps VPMADDUBSW within 16 bits: 2 * 128 * 127.
 */
#include "kernel/kernels.h"

#ifdef __AVX2__
#include "kernel/x86/mm_x_256.h"

#define BOTH  true   // m multiplies both lanes
#define START 0

MN_INLINE __m256i group(__m256i acc, const __m256i v[4], const int8_t *q, const int32_t *zero, __m256i m)
{
    __m256i s = _mm256_and_si256(mn_xbroadcast256(zero), _mm256_set1_epi32(0xffff));
    for (int i = 0; i < 4; i++) {
        s = _mm256_add_epi16(s, _mm256_maddubs_epi16(v[i], mn_xbroadcast256(q + 4 * i)));
    }
    return _mm256_add_epi32(acc, _mm256_madd_epi16(s, m));
}

MN_INLINE __m256i line(__m256i acc, __m256i w, __m256i x)
{
    const __m256i s = _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w));
    return _mm256_add_epi32(acc, _mm256_madd_epi16(s, _mm256_set1_epi16(1)));
}

MN_XPARTS256(q4x, MN_XKIND_Q4X)
MN_XPARTS256(q8x, MN_XKIND_Q8X)

#define FAMILY(kind, KIND)                                                                         \
    static void mm_##kind(float *y, size_t ldy, const mn_xtensor *w, size_t row, size_t rows,      \
                          const mn_xacts *x, size_t T, void *scratch)                              \
    {                                                                                              \
        const mn_xcall a = mn_xcall_of(y, ldy, w, row, rows, x, KIND);                             \
        (void)scratch;                                                                             \
        mn_xstraight256(&a, row, rows, T, kind##_parts);                                           \
    }                                                                                              \
    const mn_xmatmul mn_xmm_##kind##__avx2 = { mm_##kind, mm_##kind, mm_##kind };
FAMILY(q4x, MN_XKIND_Q4X)
FAMILY(q8x, MN_XKIND_Q8X)
#endif
