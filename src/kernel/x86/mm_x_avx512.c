/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_x_avx512.c - one to sixteen columns with Q4X and Q8X, straight from the file's bytes.
 *
 * Reading is the limit, and one sequential stream per thread leaves a third of the memory's rate unused:
 * so the rows are cut in up to four runs, whose panels are walked side by side, each with a
 * prefetch of its own.
 *
 * Up to eight columns of Q4X do not multiply weights by m; they sum a group's products with the bare codes,
 * starting from -8 times the sum of the activations, and multiply that: it fits 16 bits, so VPDPWSSD
 * multiplies and adds in one step.  With more columns the weights are worth multiplying once.
 */
#include "kernel/kernels.h"

#ifdef __AVX512VNNI__
#include "kernel/x86/mm_x_avx512.h"

enum {
    STREAMS = 4,
    COLUMNS = 16,    // of one pass
    DIRECT = 8,
    AHEAD = 2048,    // bytes
};

MN_INLINE void fetch(const uint8_t *lines, int n)
{
    for (int i = 0; i < n; i++) _mm_prefetch((const char *)lines + AHEAD + 64 * i, _MM_HINT_T0);
}

/* N <= 8 columns of Q4X with P panels, `apart` panels from one to the next. */
MN_INLINE void direct(const mn_xcall *a, size_t panel, size_t apart, size_t t, int P, int N)
{
    const size_t   ld = a->x->ld, stride = apart * a->panel_bytes, first = t * a->x->planes;
    const uint8_t *w = a->panels + panel * a->panel_bytes;
    const int8_t  *q = a->x->q + first * ld;
    const int32_t *zero = a->x->zero + first * (ld / 16);
    const __m512i  low = _mm512_set1_epi8(15);
    __m512i        acc[STREAMS][DIRECT];
    MN_UNROLL
    for (int p = 0; p < P; p++) {
        MN_UNROLL
        for (int c = 0; c < N; c++) acc[p][c] = _mm512_setzero_si512();
    }
    for (size_t k = 0; k < a->cols; k += MN_Q4X_SUPER, w += MN_Q4X_SUPER_BYTES) {
        const size_t n = (a->cols - k < MN_Q4X_SUPER ? a->cols - k : MN_Q4X_SUPER) / MN_QX_STEP;
        for (size_t s = 0; s < n; s++, q += 32, zero += 2) {
            MN_UNROLL
            for (int p = 0; p < P; p++) {
                const uint8_t *sb = w + (size_t)p * stride, *lines = sb + 64 + 256 * s;
                const __m512i  both = _mm512_cvtepu8_epi32(_mm_load_si128((const void *)(sb + 16 * s)));
                const __m512i  m[2] = { _mm512_and_si512(both, low), _mm512_srli_epi32(both, 4) };
                const int8_t  *qp = q;
                const int32_t *zp = zero;
                MN_OPAQUE(qp);
                MN_OPAQUE(zp);
                fetch(lines, 4);
                MN_UNROLL
                for (int g = 0; g < 2; g++) {
                    __m512i v[4];
                    for (int i = 0; i < 2; i++) {
                        const __m512i line = _mm512_load_si512(lines + 128 * g + 64 * i);
                        v[2 * i] = _mm512_and_si512(line, low);
                        v[2 * i + 1] = _mm512_and_si512(_mm512_srli_epi16(line, 4), low);
                    }
                    const int8_t  *qc = qp + 16 * g;
                    const int32_t *zc = zp + g;
                    MN_UNROLL
                    for (int c = 0; c < N; c++, qc += ld, zc += ld / 16) {
                        MN_OPAQUE(qc);
                        MN_OPAQUE(zc);
                        __m512i u = _mm512_set1_epi32(*zc);
                        for (int i = 0; i < 4; i++) {
                            u = _mm512_dpbusd_epi32(u, v[i], mn_xbroadcast(qc + 4 * i));
                        }
                        acc[p][c] = _mm512_dpwssd_epi32(acc[p][c], u, m[g]);
                    }
                }
            }
        }
    }
    __m512i total[STREAMS][DIRECT];
    MN_UNROLL
    for (int p = 0; p < P; p++) {
        MN_UNROLL
        for (int c = 0; c < N; c++) total[p][c] = acc[p][c];
    }
    for (int p = 0; p < P; p++) {
        mn_xfinish__avx512(a, total[p], (size_t)N, panel + (size_t)p * apart, t);
    }
}

/* N columns with P panels, weights made bytes in registers. */
MN_INLINE void expanded(const mn_xcall *a, size_t panel, size_t apart, size_t t, int P, int N,
                        mn_xkind kind)
{
    const size_t   ld = a->x->ld, stride = apart * a->panel_bytes, first = t * a->x->planes;
    const uint8_t *w = a->panels + panel * a->panel_bytes;
    const int32_t *total = a->x->total + first;
    const int8_t  *q = a->x->q + first * ld;
    __m512i        acc[STREAMS][COLUMNS];
    MN_UNROLL
    for (int c = 0; c < N; c++) {
        const __m512i start = _mm512_set1_epi32((int32_t)(0u - 128u * (uint32_t)total[c]));
        MN_UNROLL
        for (int p = 0; p < P; p++) acc[p][c] = start;
    }
    for (size_t k = 0; k < a->cols; k += MN_QX_STEP, q += MN_QX_STEP) {
        const size_t lines_at = mn_xlines_at(kind, k), mult_at = mn_q4x_mult_at(0, k);
        MN_UNROLL
        for (int p = 0; p < P; p++) {
            const uint8_t *lines = w + (size_t)p * stride + lines_at;
            const int8_t  *qp = q;
            mn_xmult       m;
            MN_OPAQUE(qp);
            if (kind == MN_XKIND_Q4X) m = mn_xmult_load(w + (size_t)p * stride + mult_at, -128);
            fetch(lines, kind == MN_XKIND_Q4X ? 4 : 8);
            MN_UNROLL
            for (int i = 0; i < 4; i++) {
                __m512i v[2];
                if (kind == MN_XKIND_Q4X) {
                    mn_xline_q4x(v, lines, i, &m);
                } else {
                    v[0] = mn_xline_q8x(lines, 2 * i);
                    v[1] = mn_xline_q8x(lines, 2 * i + 1);
                }
                const int8_t *qc = qp + 8 * i;
                MN_UNROLL
                for (int c = 0; c < N; c++, qc += ld) {
                    MN_OPAQUE(qc);
                    acc[p][c] = _mm512_dpbusd_epi32(acc[p][c], v[0], mn_xbroadcast(qc));
                    acc[p][c] = _mm512_dpbusd_epi32(acc[p][c], v[1], mn_xbroadcast(qc + 4));
                }
            }
        }
    }
    __m512i sum[STREAMS][COLUMNS];
    MN_UNROLL
    for (int p = 0; p < P; p++) {
        MN_UNROLL
        for (int c = 0; c < N; c++) sum[p][c] = acc[p][c];
    }
    for (int p = 0; p < P; p++) mn_xfinish__avx512(a, sum[p], (size_t)N, panel + (size_t)p * apart, t);
}

typedef void part_fn(const mn_xcall *a, size_t panel, size_t apart, size_t t);

#define PART(kind, KIND, P, N)                                                                     \
    static __attribute__((noinline)) void kind##_##P##_##N(const mn_xcall *a, size_t panel,        \
                                                           size_t apart, size_t t)                 \
    {                                                                                              \
        if (KIND == MN_XKIND_Q4X && N <= DIRECT) direct(a, panel, apart, t, P, N);                       \
        else expanded(a, panel, apart, t, P, N, KIND);                                             \
    }
/* Streams fall as columns rise: at most 16 sums, and enough of them to hide latency. */
#define PARTS(kind, KIND)                                                                          \
    PART(kind, KIND, 4, 1) PART(kind, KIND, 4, 2) PART(kind, KIND, 4, 3) PART(kind, KIND, 4, 4)     \
    PART(kind, KIND, 2, 5) PART(kind, KIND, 2, 6) PART(kind, KIND, 2, 7) PART(kind, KIND, 2, 8)     \
    PART(kind, KIND, 1, 1) PART(kind, KIND, 1, 2) PART(kind, KIND, 1, 3) PART(kind, KIND, 1, 4)     \
    PART(kind, KIND, 1, 5) PART(kind, KIND, 1, 6) PART(kind, KIND, 1, 7) PART(kind, KIND, 1, 8)     \
    PART(kind, KIND, 1, 9) PART(kind, KIND, 1, 10) PART(kind, KIND, 1, 11) PART(kind, KIND, 1, 12)  \
    PART(kind, KIND, 1, 13) PART(kind, KIND, 1, 14) PART(kind, KIND, 1, 15) PART(kind, KIND, 1, 16) \
    static part_fn *const kind##_many[8] = { kind##_4_1, kind##_4_2, kind##_4_3, kind##_4_4,        \
                                             kind##_2_5, kind##_2_6, kind##_2_7, kind##_2_8 };      \
    static part_fn *const kind##_one[COLUMNS] = {                                                   \
        kind##_1_1,  kind##_1_2,  kind##_1_3,  kind##_1_4,  kind##_1_5,  kind##_1_6,                \
        kind##_1_7,  kind##_1_8,  kind##_1_9,  kind##_1_10, kind##_1_11, kind##_1_12,               \
        kind##_1_13, kind##_1_14, kind##_1_15, kind##_1_16                                          \
    };
PARTS(q4x, MN_XKIND_Q4X)
PARTS(q8x, MN_XKIND_Q8X)

MN_INLINE void small(float *y, size_t ldy, const mn_xtensor *w, size_t row, size_t rows,
                     const mn_xacts *x, size_t T, mn_xkind kind, part_fn *const many[8],
                     part_fn *const one[COLUMNS])
{
    const mn_xcall a = mn_xcall_of(y, ldy, w, row, rows, x, kind);
    const size_t   N = T * x->planes, panels = mn_qx_panels(rows), first = row / MN_QX_ROWS;
    const size_t   streams = N <= 4 ? 4 : N <= 8 ? 2 : 1, run = panels / streams;
    size_t         i = 0;
    if (streams > 1) {
        for (; i < run; i++) many[N - 1](&a, first + i, run, 0);
        i = run * streams;
    }
    for (; i < panels; i++) one[N - 1](&a, first + i, 0, 0);
}

#define FAMILY(kind, KIND)                                                                         \
    static void small_##kind(float *y, size_t ldy, const mn_xtensor *w, size_t row, size_t rows,   \
                             const mn_xacts *x, size_t T, void *scratch)                           \
    {                                                                                              \
        if (T * x->planes > COLUMNS) {                                                             \
            mn_gemm_##kind##__avx512(y, ldy, w, row, rows, x, T, scratch);                         \
        } else {                                                                                   \
            small(y, ldy, w, row, rows, x, T, KIND, kind##_many, kind##_one);                      \
        }                                                                                          \
    }                                                                                              \
    const mn_xmatmul mn_xmm_##kind##__avx512 = { small_##kind, small_##kind, mn_gemm_##kind##__avx512 };
FAMILY(q4x, MN_XKIND_Q4X)
FAMILY(q8x, MN_XKIND_Q8X)
#endif
