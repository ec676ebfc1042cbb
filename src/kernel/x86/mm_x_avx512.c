/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_x_avx512.c - one to sixteen columns with Q4X and Q8X, straight from the file's bytes.
 *
 * Reading is the limit, and one sequential stream per thread leaves a third of the memory's rate unused:
 * so the rows are cut in up to four runs, whose panels are walked side by side, each with a
 * prefetch of its own.
 *
 * One or two columns of Q4X do not multiply weights by m; they sum a group's products with the bare codes,
 * starting from -8 times the sum of the activations, and multiply that: it fits 16 bits, so VPDPWSSD
 * multiplies and adds in one step.  From three columns on the weights are worth multiplying once.
 */
#include "kernel/kernels.h"

#ifdef __AVX512VNNI__
#include "kernel/x86/mm_x_avx512.h"

enum {
    STREAMS = 4,
    COLUMNS = 16,    // of one pass
    AHEAD = 2048,    // bytes
};

MN_INLINE void fetch(const uint8_t *lines, int n)
{
    for (int i = 0; i < n; i++) _mm_prefetch((const char *)lines + AHEAD + 64 * i, _MM_HINT_T0);
}

/* Lines [lo, hi) of a group of 16 columns: their products with the bare codes. */
MN_INLINE __m512i group(__m512i start, const uint8_t *lines, const int8_t *q)
{
    const __m512i low = _mm512_set1_epi8(15);
    __m512i       s = start;
    for (int i = 0; i < 2; i++) {
        const __m512i v = _mm512_load_si512(lines + 64 * i);
        s = _mm512_dpbusd_epi32(s, _mm512_and_si512(v, low), mn_xbroadcast(q + 8 * i));
        s = _mm512_dpbusd_epi32(s, _mm512_and_si512(_mm512_srli_epi16(v, 4), low),
                                mn_xbroadcast(q + 8 * i + 4));
    }
    return s;
}

/* N = 1 or 2 columns of Q4X with P panels, `apart` panels from one to the next. */
MN_INLINE void direct(const mn_xcall *a, size_t panel, size_t apart, size_t t, int P, int N)
{
    const size_t   ld = a->x->ld, stride = apart * a->panel_bytes, first = t * a->x->planes;
    const uint8_t *w = a->panels + panel * a->panel_bytes;
    const __m512i  low = _mm512_set1_epi32(15);
    __m512i        acc[STREAMS][2][2];
    MN_UNROLL
    for (int p = 0; p < P; p++) {
        MN_UNROLL
        for (int c = 0; c < N; c++) acc[p][c][0] = acc[p][c][1] = _mm512_setzero_si512();
    }
    const int8_t  *q = a->x->q + first * ld;
    const int32_t *sum = a->x->sum + first * (ld / 16);
    for (size_t k = 0; k < a->cols; k += MN_Q4X_SUPER, w += MN_Q4X_SUPER_BYTES) {
        const size_t n = (a->cols - k < MN_Q4X_SUPER ? a->cols - k : MN_Q4X_SUPER) / MN_QX_STEP;
        for (size_t s = 0; s < n; s++, q += 32, sum += 2) {
            MN_UNROLL
            for (int p = 0; p < P; p++) {
                const uint8_t *sb = w + (size_t)p * stride, *lines = sb + 64 + 256 * s;
                const __m512i  both = _mm512_cvtepu8_epi32(_mm_load_si128((const void *)(sb + 16 * s)));
                const __m512i  m[2] = { _mm512_and_si512(both, low), _mm512_srli_epi32(both, 4) };
                fetch(lines, 4);
                MN_UNROLL
                for (int c = 0; c < N; c++) {
                    const int8_t  *qc = q + (size_t)c * ld;
                    const int32_t *sc = sum + (size_t)c * (ld / 16);
                    MN_UNROLL
                    for (int g = 0; g < 2; g++) {
                        const __m512i start = _mm512_set1_epi32(-8 * sc[g]);
                        acc[p][c][g] = _mm512_dpwssd_epi32(
                            acc[p][c][g], group(start, lines + 128 * g, qc + 16 * g), m[g]);
                    }
                }
            }
        }
    }
    MN_UNROLL
    for (int p = 0; p < P; p++) {
        __m512i total[2];
        MN_UNROLL
        for (int c = 0; c < N; c++) total[c] = _mm512_add_epi32(acc[p][c][0], acc[p][c][1]);
        mn_xfinish__avx512(a, total, (size_t)N, panel + (size_t)p * apart, t);
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
            mn_xmult       m;
            if (kind == MN_XKIND_Q4X) m = mn_xmult_load(w + (size_t)p * stride + mult_at);
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
                MN_UNROLL
                for (int c = 0; c < N; c++) {
                    const int8_t *qc = q + (size_t)c * ld + 8 * i;
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
        if (KIND == MN_XKIND_Q4X && N < 3) direct(a, panel, apart, t, P, N);                       \
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
