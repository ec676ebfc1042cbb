/* SPDX-License-Identifier: Apache-2.0
 *
 * quant_q8_avx2.c - activations to one or two planes of int8, the steps of scalar/quant_q8.c.
 *
 * The operands of VMAXPS are in the order that drops a NaN where the specification drops it.
 */
#include "kernel/kernels.h"

#ifdef __AVX2__
#include <immintrin.h>
#include <math.h>

#include "kernel/x86/mm_x86.h"

static inline float largest(const __m256 x[4])
{
    const __m256 sign = _mm256_set1_ps(-0.0f);
    __m256       max = _mm256_setzero_ps();
    for (int i = 0; i < 4; i++) max = _mm256_max_ps(_mm256_andnot_ps(sign, x[i]), max);
    __m128 m = _mm_max_ps(_mm256_castps256_ps128(max), _mm256_extractf128_ps(max, 1));
    m = _mm_max_ps(m, _mm_movehl_ps(m, m));
    return _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m)));
}

/* Does any value differ from itself? */
static inline bool has_nan(const __m256 x[4])
{
    const __m256 a = _mm256_cmp_ps(x[0], x[1], _CMP_UNORD_Q), b = _mm256_cmp_ps(x[2], x[3], _CMP_UNORD_Q);
    return _mm256_movemask_ps(_mm256_or_ps(a, b)) != 0;
}

/* 32 bytes of the 16-bit values of a and c, which are in the order that VPACKSSDW left. */
static inline __m256i pack_bytes(__m256i a, __m256i c)
{
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    return _mm256_permutevar8x32_epi32(_mm256_packs_epi16(a, c), order);
}

MN_INLINE void quantise(int8_t *q, int8_t *lo, float *d, float *s, const float *x, size_t n, bool exact)
{
    const float  most = exact ? MN_Q15_MOST : MN_Q8_MOST;
    const __m256 least = _mm256_set1_ps(-most);
    for (size_t b = 0; b < n / 32; b++, x += 32) {
        __m256  v[4];
        __m256i code[4];
        for (int i = 0; i < 4; i++) v[i] = _mm256_loadu_ps(x + 8 * i);
        const float  max = largest(v);
        const bool   tiny = max < MN_Q8_TINY;
        const float  scale = has_nan(v) ? NAN : tiny ? 0.0f : max / most;
        const __m256 inverse = _mm256_set1_ps(tiny ? 0.0f : most / max);
        for (int i = 0; i < 4; i++) {
            code[i] = _mm256_cvtps_epi32(_mm256_max_ps(_mm256_mul_ps(v[i], inverse), least));
        }
        const __m256i a = _mm256_packs_epi32(code[0], code[1]), c = _mm256_packs_epi32(code[2], code[3]);
        if (exact) {
            const __m256i half = _mm256_set1_epi16(64);
            const __m256i ah = _mm256_srai_epi16(_mm256_add_epi16(a, half), 7);
            const __m256i ch = _mm256_srai_epi16(_mm256_add_epi16(c, half), 7);
            const __m256i al = _mm256_sub_epi16(a, _mm256_slli_epi16(ah, 7));
            const __m256i cl = _mm256_sub_epi16(c, _mm256_slli_epi16(ch, 7));
            _mm256_storeu_si256((void *)(q + 32 * b), pack_bytes(ah, ch));
            _mm256_storeu_si256((void *)(lo + 32 * b), pack_bytes(al, cl));
        } else {
            _mm256_storeu_si256((void *)(q + 32 * b), pack_bytes(a, c));
        }

        // [a0 c0 a1 c1] in each part: pairs of 16 bits, then the two parts
        const __m256i one = _mm256_set1_epi16(1);
        const __m256i sum = _mm256_hadd_epi32(_mm256_madd_epi16(a, one), _mm256_madd_epi16(c, one));
        const __m128i both = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
        const __m128i pair = _mm_hadd_epi32(both, both);
        const __m128  out = _mm_mul_ps(_mm_set1_ps(scale), _mm_cvtepi32_ps(pair));
        d[b] = scale;
        _mm_storel_pi((void *)(s + 2 * b), out);
    }
}

void mn_quant_q8__avx2(int8_t *q, float *d, float *s, const float *x, size_t n)
{
    quantise(q, NULL, d, s, x, n, false);
}

void mn_quant_q15__avx2(int8_t *q, int8_t *lo, float *d, float *s, const float *x, size_t n)
{
    quantise(q, lo, d, s, x, n, true);
}
#endif
