/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_x_avx2.c - products with Q4X and Q8X, eight rows and up to four columns at a time.
 *
 * Q4X: VPMADDUBSW sums the four products of a row's dword into two 16-bit lanes; the 16 products of a group,
 * and the -8 times the sum of the activations that the low lane starts with, stay within
 * 16 bits; so the VPMADDWD that joins the lanes can multiply by m instead of by one.
 *
 * Q8X: |w| times a with w's sign keeps VPMADDUBSW within 16 bits: 2 * 128 * 127.
 */
#include "kernel/kernels.h"

#ifdef __AVX2__
#include <immintrin.h>

#include "kernel/q4x.h"
#include "kernel/scalar/math.h"
#include "kernel/scalar/mm_x.h"
#include "kernel/x86/mm_x86.h"

enum { COLUMNS = 4 };

typedef struct call {
    float            *y;
    size_t            ldy;
    const mn_xtensor *w;
    const mn_xacts   *x;
    const uint8_t    *panels;
    size_t            panel_bytes, cols, end;   // cols padded; end: the first row that is not asked for
} call;

MN_INLINE __m256i broadcast(const void *p)
{
    int32_t v;
    memcpy(&v, p, sizeof v);
    return _mm256_set1_epi32(v);
}

/* Half h of a panel with N columns from `first` on. */
MN_INLINE void sums_q4x(__m256i acc[COLUMNS], const call *a, const uint8_t *panel, size_t first, int h,
                        int N)
{
    const size_t   ld = a->x->ld;
    const int8_t  *q = a->x->q + first * ld;
    const int32_t *zero = a->x->zero + first * (ld / 16);
    const __m256i  low = _mm256_set1_epi8(15);
    for (size_t k = 0; k < a->cols; k += 32, q += 32, zero += 2) {
        const uint8_t *lines = panel + mn_q4x_code_at(0, k) + 32 * h;
        const __m256i  both = _mm256_cvtepu8_epi16(
            _mm_loadu_si128((const void *)(panel + mn_q4x_mult_at(0, k))));
        // words of rows 8 h .., each twice: both 16-bit lanes of a row are multiplied
        const __m128i half = h ? _mm256_extracti128_si256(both, 1) : _mm256_castsi256_si128(both);
        const __m256i wide = _mm256_cvtepu16_epi32(half);
        const __m256i twice = _mm256_or_si256(wide, _mm256_slli_epi32(wide, 16));
        const __m256i m[2] = { _mm256_and_si256(twice, _mm256_set1_epi16(15)),
                               _mm256_srli_epi16(twice, 4) };
        _mm_prefetch((const char *)lines + MN_PREFETCH, _MM_HINT_T0);
        _mm_prefetch((const char *)lines + MN_PREFETCH + 128, _MM_HINT_T0);
        MN_UNROLL
        for (int g = 0; g < 2; g++) {
            __m256i v[4];
            for (int i = 0; i < 2; i++) {
                const __m256i line = _mm256_load_si256((const void *)(lines + 128 * g + 64 * i));
                v[2 * i] = _mm256_and_si256(line, low);
                v[2 * i + 1] = _mm256_and_si256(_mm256_srli_epi16(line, 4), low);
            }
            MN_UNROLL
            for (int c = 0; c < N; c++) {
                const int8_t *qc = q + (size_t)c * ld + 16 * g;
                __m256i       s = _mm256_and_si256(broadcast(zero + (size_t)c * (ld / 16) + g),
                                                   _mm256_set1_epi32(0xffff));
                for (int i = 0; i < 4; i++) {
                    s = _mm256_add_epi16(s, _mm256_maddubs_epi16(v[i], broadcast(qc + 4 * i)));
                }
                acc[c] = _mm256_add_epi32(acc[c], _mm256_madd_epi16(s, m[g]));
            }
        }
    }
}

MN_INLINE void sums_q8x(__m256i acc[COLUMNS], const call *a, const uint8_t *panel, size_t first, int h,
                        int N)
{
    const size_t  ld = a->x->ld;
    const int8_t *q = a->x->q + first * ld;
    const __m256i one = _mm256_set1_epi16(1);
    for (size_t k = 0; k < a->cols; k += 4, q += 4) {
        const uint8_t *line = panel + 16 * k + 32 * h;
        const __m256i  w = _mm256_load_si256((const void *)line), size = _mm256_abs_epi8(w);
        _mm_prefetch((const char *)line + MN_PREFETCH, _MM_HINT_T0);
        MN_UNROLL
        for (int c = 0; c < N; c++) {
            const __m256i x = _mm256_sign_epi8(broadcast(q + (size_t)c * ld), w);
            acc[c] = _mm256_add_epi32(acc[c], _mm256_madd_epi16(_mm256_maddubs_epi16(size, x), one));
        }
    }
}

/* The sums of N columns of eight rows become rows of y, from token t on. */
static void finish(const call *a, const __m256i *sum, size_t N, size_t row, size_t t)
{
    const __m256 scale = _mm256_loadu_ps((const float *)(const void *)a->w->data + row);
    const size_t left = row < a->end ? a->end - row : 0;
    float       *y = a->y + t * a->ldy + row;
    for (size_t c = 0; c < N && left; t++, y += a->ldy) {
        __m256 v = _mm256_cvtepi32_ps(sum[c++]);
        if (a->x->planes == 2) {
            v = _mm256_fmadd_ps(v, _mm256_set1_ps(MN_X_PLANE), _mm256_cvtepi32_ps(sum[c++]));
        }
        v = _mm256_mul_ps(_mm256_mul_ps(v, scale), _mm256_set1_ps(a->x->scale[t]));
        if (left >= 8) {
            _mm256_storeu_ps(y, v);
        } else {
            float out[8];
            _mm256_storeu_ps(out, v);
            memcpy(y, out, left * sizeof *out);
        }
    }
}

typedef void part_fn(const call *a, size_t panel, size_t t);

#define PART(kind, N)                                                                              \
    static __attribute__((noinline)) void kind##_##N(const call *a, size_t panel, size_t t)        \
    {                                                                                              \
        for (int h = 0; h < 2; h++) {                                                              \
            __m256i acc[COLUMNS], sum[COLUMNS];                                                    \
            MN_UNROLL                                                                              \
            for (int c = 0; c < COLUMNS; c++) acc[c] = _mm256_setzero_si256();                     \
            sums_##kind(acc, a, a->panels + panel * a->panel_bytes, t * a->x->planes, h, N);       \
            MN_UNROLL                                                                              \
            for (int c = 0; c < COLUMNS; c++) sum[c] = acc[c];                                     \
            finish(a, sum, N, panel * MN_QX_ROWS + 8 * (size_t)h, t);                              \
        }                                                                                          \
    }
#define PARTS(kind)                                                                                \
    PART(kind, 1) PART(kind, 2) PART(kind, 3) PART(kind, 4)                                        \
    static part_fn *const kind##_parts[COLUMNS] = { kind##_1, kind##_2, kind##_3, kind##_4 };
PARTS(q4x)
PARTS(q8x)

/* A panel stays in the first-level cache while all tokens pass by. */
MN_INLINE void mm(float *y, size_t ldy, const mn_xtensor *w, size_t row, size_t rows, const mn_xacts *x,
                  size_t T, size_t panel_bytes, part_fn *const parts[COLUMNS])
{
    const call a = {
        .y = y,
        .ldy = ldy,
        .w = w,
        .x = x,
        .panels = w->data + mn_qx_panels(w->rows) * MN_QX_LINE,
        .panel_bytes = panel_bytes,
        .cols = mn_qx_cols(w->cols),
        .end = row + rows,
    };
    const size_t most = COLUMNS / x->planes, panels = mn_qx_panels(rows), first = row / MN_QX_ROWS;
    for (size_t i = 0; i < panels; i++) {
        for (size_t t = 0; t < T; t += most) {
            const size_t n = T - t < most ? T - t : most;
            parts[n * x->planes - 1](&a, first + i, t);
        }
    }
}

#define FAMILY(kind)                                                                               \
    static void mm_##kind(float *y, size_t ldy, const mn_xtensor *w, size_t row, size_t rows,      \
                          const mn_xacts *x, size_t T, void *scratch)                              \
    {                                                                                              \
        (void)scratch;                                                                             \
        mm(y, ldy, w, row, rows, x, T, mn_##kind##_panel_bytes(w->cols), kind##_parts);            \
    }                                                                                              \
    const mn_xmatmul mn_xmm_##kind##__avx2 = { mm_##kind, mm_##kind, mm_##kind };
FAMILY(q4x)
FAMILY(q8x)
#endif
