/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_x_avxvnni.c - products with Q4X and Q8X through VPDPBUSD on 256 bits.
 *
 * A few columns go straight from the file's bytes: a group of Q4X sums bare codes, starting from -8 times
 * the sum of its activations, which fits 16 bits, so VPDPWSSD multiplies by m and adds.  With more
 * columns a panel is multiplied out to bytes in scratch, [cols / 4][64 bytes], once for all of them; six
 * columns at a time leave twelve sums, two weights and a broadcast activation in fifteen registers.
 *
 * VPDPBUSD wants unsigned weights: v + 128, and a sum starts at -128 times the total of its column.
 */
#include "kernel/kernels.h"

#ifdef __AVXVNNI__
#include "kernel/x86/mm_x_256.h"
#include "kernel/x86/mm_x_avxvnni.h"

enum {
    COLUMNS = 6,
    STRAIGHT = 8,   // columns that are not worth the scratch
};

#define BOTH  false   // the high word would be multiplied with the sign
#define START -128

MN_INLINE __m256i group(__m256i acc, const __m256i v[4], const int8_t *q, const int32_t *zero, __m256i m)
{
    __m256i s = mn_xbroadcast256(zero);
    for (int i = 0; i < 4; i++) s = _mm256_dpbusd_avx_epi32(s, v[i], mn_xbroadcast256(q + 4 * i));
    return _mm256_dpwssd_avx_epi32(acc, s, m);
}

MN_INLINE __m256i line(__m256i acc, __m256i w, __m256i x)
{
    return _mm256_dpbusd_avx_epi32(acc, _mm256_xor_si256(w, _mm256_set1_epi8(-128)), x);
}

MN_XPARTS256(q4x, MN_XKIND_Q4X)
MN_XPARTS256(q8x, MN_XKIND_Q8X)

/* A panel as bytes v + 128. */
MN_INLINE void unpack(uint8_t *out, const uint8_t *panel, size_t cols, mn_xkind kind)
{
    const __m256i o = _mm256_set1_epi8(-128);
    if (kind == MN_XKIND_Q8X) {
        for (size_t i = 0; i < 16 * cols; i += 32) {
            const __m256i v = _mm256_load_si256((const void *)(panel + i));
            _mm256_store_si256((void *)(out + i), _mm256_xor_si256(v, o));
        }
        return;
    }
    for (size_t k = 0; k < cols; k += MN_QX_STEP, out += 16 * MN_QX_STEP) {
        const uint8_t *lines = panel + mn_xlines_at(kind, k);
        for (int h = 0; h < 2; h++) {
            __m256i m[2];
            mn_xmult256(m, panel + mn_q4x_mult_at(0, k), h, true);
            for (int g = 0; g < 2; g++) {
                __m256i       v[4];
                const __m256i twice = _mm256_or_si256(m[g], _mm256_slli_epi16(m[g], 8));
                const __m256i offset = _mm256_sub_epi8(o, _mm256_slli_epi16(twice, 3));
                mn_xgroup256(v, lines + 128 * g + 32 * h);
                for (int i = 0; i < 4; i++) {   // m q <= 225: the bytes of a word do not meet
                    v[i] = _mm256_add_epi8(_mm256_mullo_epi16(v[i], m[g]), offset);
                    _mm256_store_si256((void *)(out + 256 * g + 64 * i + 32 * h), v[i]);
                }
            }
        }
    }
}

/* A panel's bytes with N columns, those of the tokens from t on. */
MN_INLINE void tile(const mn_xcall *a, const uint8_t *w, size_t panel, size_t t, int N)
{
    const size_t   ld = a->x->ld, first = t * a->x->planes;
    const int8_t  *q = a->x->q + first * ld;
    const int32_t *total = a->x->total + first;
    __m256i        acc[2][COLUMNS];
    MN_UNROLL
    for (int c = 0; c < N; c++) {
        acc[0][c] = acc[1][c] = _mm256_set1_epi32((int32_t)(0u - 128u * (uint32_t)total[c]));
    }
    for (size_t k = 0; k < a->cols; k += 4, w += 64, q += 4) {
        const __m256i v[2] = { _mm256_load_si256((const void *)w),
                               _mm256_load_si256((const void *)(w + 32)) };
        MN_UNROLL
        for (int c = 0; c < N; c++) {
            const __m256i x = mn_xbroadcast256(q + (size_t)c * ld);
            acc[0][c] = _mm256_dpbusd_avx_epi32(acc[0][c], v[0], x);
            acc[1][c] = _mm256_dpbusd_avx_epi32(acc[1][c], v[1], x);
        }
    }
    __m256i sum[2][COLUMNS];   // in memory, where acc must not be
    MN_UNROLL
    for (int c = 0; c < N; c++) {
        sum[0][c] = acc[0][c];
        sum[1][c] = acc[1][c];
    }
    for (int h = 0; h < 2; h++) {
        mn_xfinish256(a, sum[h], (size_t)N, panel * MN_QX_ROWS + 8 * (size_t)h, t);
    }
}

typedef void tile_fn(const mn_xcall *a, const uint8_t *w, size_t panel, size_t t);
#define TILE(N)                                                                                    \
    static __attribute__((noinline)) void tile_##N(const mn_xcall *a, const uint8_t *w,            \
                                                   size_t panel, size_t t)                         \
    {                                                                                              \
        tile(a, w, panel, t, N);                                                                   \
    }
TILE(1)
TILE(2)
TILE(3)
TILE(4)
TILE(5)
TILE(6)
static tile_fn *const tiles[COLUMNS] = { tile_1, tile_2, tile_3, tile_4, tile_5, tile_6 };

MN_INLINE void mm(const mn_xcall *a, size_t row, size_t rows, size_t T, void *scratch, mn_xkind kind,
                  mn_xpart256_fn *const *parts)
{
    const size_t planes = a->x->planes, panels = mn_qx_panels(rows), first = row / MN_QX_ROWS;
    if (T * planes <= STRAIGHT) {
        mn_xstraight256(a, row, rows, T, parts);
        return;
    }
    for (size_t p = first; p < first + panels; p++) {
        unpack(scratch, a->panels + p * a->panel_bytes, a->cols, kind);
        for (size_t t = 0, n; t < T; t += n) {
            n = mn_xpass(T - t, COLUMNS / planes);
            tiles[n * planes - 1](a, scratch, p, t);
        }
    }
}

#define FAMILY(kind, KIND)                                                                         \
    static void mm_##kind(float *y, size_t ldy, const mn_xtensor *w, size_t row, size_t rows,      \
                          const mn_xacts *x, size_t T, void *scratch)                              \
    {                                                                                              \
        const mn_xcall a = mn_xcall_of(y, ldy, w, row, rows, x, KIND);                             \
        mm(&a, row, rows, T, scratch, KIND, kind##_parts);                                         \
    }                                                                                              \
    const mn_xmatmul mn_xmm_##kind##__avxvnni = { mm_##kind, mm_##kind, mm_##kind };
FAMILY(q4x, MN_XKIND_Q4X)
FAMILY(q8x, MN_XKIND_Q8X)
#endif
