/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_x_256.h - products with Q4X and Q8X on 256-bit vectors: the walk over panels that AVX2 and AVX-VNNI
 * share.  Static inline only; what a tier does with a group of weights it passes as a function.
 *
 * Reading is the limit for one column, so the rows are cut in runs that are walked side by side, each with a
 * prefetch of its own, as in mm_x_avx512.c.  A panel is two halves of eight rows.
 */
#ifndef MN_KERNEL_MM_X_256_H
#define MN_KERNEL_MM_X_256_H

#ifdef __AVX2__
#include <immintrin.h>

#include "kernel/scalar/math.h"
#include "kernel/scalar/mm_x.h"
#include "kernel/x86/mm_x86.h"
#include "kernel/xcall.h"

enum {
    MN_X256_STREAMS = 4,
    MN_X256_COLUMNS = 4,   // of a pass
};

MN_INLINE __m256i mn_xbroadcast256(const void *p)
{
    int32_t v;
    memcpy(&v, p, sizeof v);
    return _mm256_set1_epi32(v);
}

/* The codes of a group of half a panel: v[i] holds columns 4 i .. 4 i + 3 of eight rows. */
MN_INLINE void mn_xgroup256(__m256i v[4], const uint8_t *lines)
{
    const __m256i low = _mm256_set1_epi8(15);
    for (int i = 0; i < 2; i++) {
        const __m256i line = _mm256_load_si256((const void *)(lines + 64 * i));
        v[2 * i] = _mm256_and_si256(line, low);
        v[2 * i + 1] = _mm256_and_si256(_mm256_srli_epi16(line, 4), low);
    }
}

/* The multipliers of two groups of half h, each as the low word of its row's dword; `both`: as the high
 * word too. */
MN_INLINE void mn_xmult256(__m256i m[2], const uint8_t *p, int h, bool both)
{
    const char    o = both ? 0 : -128;   // of shuffle: a zero
    const __m256i all = _mm256_broadcastsi128_si256(_mm_load_si128((const void *)p));
    const __m256i rows = _mm256_add_epi8(
        _mm256_setr_epi8(0, -128, o, -128, 1, -128, (char)(o + 1), -128, 2, -128, (char)(o + 2), -128, 3,
                         -128, (char)(o + 3), -128, 4, -128, (char)(o + 4), -128, 5, -128, (char)(o + 5),
                         -128, 6, -128, (char)(o + 6), -128, 7, -128, (char)(o + 7), -128),
        _mm256_set1_epi8((char)(8 * h)));
    const __m256i wide = _mm256_shuffle_epi8(all, rows);
    m[0] = _mm256_and_si256(wide, _mm256_set1_epi16(15));
    m[1] = _mm256_srli_epi16(wide, 4);
}

/* The sums of N columns of eight rows become rows of y, from token t on. */
static void mn_xfinish256(const mn_xcall *a, const __m256i *sum, size_t N, size_t row, size_t t)
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

/* acc + a group's products with one column; m as mn_xmult256 gives it. */
typedef __m256i mn_xgroup_fn(__m256i acc, const __m256i v[4], const int8_t *q, const int32_t *zero,
                             __m256i m);
/* acc + a Q8X line's products with four codes of one column. */
typedef __m256i mn_xline_fn(__m256i acc, __m256i w, __m256i x);

/* N columns with P panels, `apart` panels from one to the next. */
MN_INLINE void mn_xdirect256(const mn_xcall *a, size_t panel, size_t apart, size_t t, int P, int N,
                             mn_xkind kind, mn_xgroup_fn *group, bool both, mn_xline_fn *line, int start)
{
    const size_t   ld = a->x->ld, stride = apart * a->panel_bytes, first = t * a->x->planes;
    const uint8_t *w = a->panels + panel * a->panel_bytes;
    const int8_t  *q = a->x->q + first * ld;
    const int32_t *zero = a->x->zero + first * (ld / 16), *total = a->x->total + first;
    __m256i        acc[MN_X256_STREAMS][2][MN_X256_COLUMNS];
    MN_UNROLL
    for (int c = 0; c < N; c++) {
        const __m256i u = kind == MN_XKIND_Q4X
                              ? _mm256_setzero_si256()
                              : _mm256_set1_epi32((int32_t)((uint32_t)start * (uint32_t)total[c]));
        MN_UNROLL
        for (int p = 0; p < P; p++) acc[p][0][c] = acc[p][1][c] = u;
    }
    for (size_t k = 0; k < a->cols; k += MN_QX_STEP, q += MN_QX_STEP, zero += 2) {
        const size_t lines_at = mn_xlines_at(kind, k), mult_at = mn_q4x_mult_at(0, k);
        MN_UNROLL
        for (int p = 0; p < P; p++) {
            const uint8_t *lines = w + (size_t)p * stride + lines_at;
            const int8_t  *qp = q;
            const int32_t *zp = zero;
            MN_OPAQUE(qp);
            MN_OPAQUE(zp);
            for (int i = 0; i < 256 * (kind == MN_XKIND_Q4X ? 1 : 2); i += 64) {
                _mm_prefetch((const char *)lines + MN_PREFETCH + i, _MM_HINT_T0);
            }
            MN_UNROLL
            for (int h = 0; h < 2; h++) {
                if (kind == MN_XKIND_Q8X) {
                    MN_UNROLL
                    for (int i = 0; i < 8; i++) {
                        const __m256i v = _mm256_load_si256((const void *)(lines + 64 * i + 32 * h));
                        const int8_t *qc = qp + 4 * i;
                        MN_UNROLL
                        for (int c = 0; c < N; c++, qc += ld) {
                            MN_OPAQUE(qc);
                            acc[p][h][c] = line(acc[p][h][c], v, mn_xbroadcast256(qc));
                        }
                    }
                    continue;
                }
                __m256i m[2];
                mn_xmult256(m, w + (size_t)p * stride + mult_at, h, both);
                MN_UNROLL
                for (int g = 0; g < 2; g++) {
                    __m256i        v[4];
                    const int8_t  *qc = qp + 16 * g;
                    const int32_t *zc = zp + g;
                    mn_xgroup256(v, lines + 128 * g + 32 * h);
                    MN_UNROLL
                    for (int c = 0; c < N; c++, qc += ld, zc += ld / 16) {
                        MN_OPAQUE(qc);
                        MN_OPAQUE(zc);
                        acc[p][h][c] = group(acc[p][h][c], v, qc, zc, m[g]);
                    }
                }
            }
        }
    }
    __m256i sum[MN_X256_STREAMS][2][MN_X256_COLUMNS];   // in memory, where acc must not be
    MN_UNROLL
    for (int p = 0; p < P; p++) {
        MN_UNROLL
        for (int c = 0; c < N; c++) {
            sum[p][0][c] = acc[p][0][c];
            sum[p][1][c] = acc[p][1][c];
        }
    }
    for (int p = 0; p < P; p++) {
        for (int h = 0; h < 2; h++) {
            mn_xfinish256(a, sum[p][h], (size_t)N, (panel + (size_t)p * apart) * MN_QX_ROWS + 8 * (size_t)h,
                          t);
        }
    }
}

typedef void mn_xpart256_fn(const mn_xcall *a, size_t panel, size_t apart, size_t t);

/* A function for each number of columns, alone and with as many streams as there are registers for. */
#define MN_XPART256(kind, KIND, P, N)                                                              \
    static __attribute__((noinline)) void kind##_##P##_##N(const mn_xcall *a, size_t panel,        \
                                                           size_t apart, size_t t)                 \
    {                                                                                              \
        mn_xdirect256(a, panel, apart, t, P, N, KIND, group, BOTH, line, START);                   \
    }
#define MN_XPARTS256(kind, KIND)                                                                   \
    MN_XPART256(kind, KIND, 4, 1) MN_XPART256(kind, KIND, 4, 2)                                    \
    MN_XPART256(kind, KIND, 1, 1) MN_XPART256(kind, KIND, 1, 2)                                    \
    MN_XPART256(kind, KIND, 1, 3) MN_XPART256(kind, KIND, 1, 4)                                    \
    static mn_xpart256_fn *const kind##_parts[] = { kind##_1_1, kind##_1_2, kind##_1_3, kind##_1_4,  \
                                                    kind##_4_1, kind##_4_2 };

/* Any number of tokens straight from the file's bytes; parts: of MN_XPARTS256. */
MN_INLINE void mn_xstraight256(const mn_xcall *a, size_t row, size_t rows, size_t T,
                               mn_xpart256_fn *const *parts)
{
    const size_t planes = a->x->planes, panels = mn_qx_panels(rows), first = row / MN_QX_ROWS;
    size_t       i = 0;
    if (T * planes <= 2) {
        const size_t run = panels / MN_X256_STREAMS;
        for (; i < run; i++) parts[MN_X256_COLUMNS + T * planes - 1](a, first + i, run, 0);
        i = run * MN_X256_STREAMS;
    }
    for (; i < panels; i++) {   // a panel stays in the first-level cache while all tokens pass by
        for (size_t t = 0, n; t < T; t += n) {
            n = mn_xpass(T - t, MN_X256_COLUMNS / planes);
            parts[n * planes - 1](a, first + i, 0, t);
        }
    }
}
#endif

#endif
