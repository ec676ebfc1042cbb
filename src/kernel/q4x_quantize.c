/* SPDX-License-Identifier: Apache-2.0
 *
 * q4x_quantize.c - from floats to the native formats: the one search that the exporter, the trainer
 * and the tests share.
 *
 * A row of Q4X has one float scale of either sign (codes reach from -8 to 7, so the sign says which side
 * gets the eighth step) and a multiplier for each 16 columns.  For a given scale each group finds its best
 * multiplier alone; so the search is over scales: a few fractions of the one that just reaches the row's
 * largest value, both signs, then the least-squares scale of the best result, twice.
 */
#include <math.h>
#include <string.h>

#include "kernel/q4x.h"
#include "kernel/quantize_fit.h"
#include "kernel/scalar/math.h"

enum {
    CODE_MIN = -8,
    CODE_MAX = 7,
    MULT_MAX = 15,
    REFITS = 2,
};

#define SMALLEST_ROW 0x1p-100f

/* What a row offers the search. */
typedef struct row {
    const float *w, *importance;   // [cols]; importance may be NULL
    size_t       cols;
} row;

/* 16 columns, zeros beyond the row. */
typedef struct group {
    float w[16], h[16];
} group;

typedef struct row_fit {
    float  scale;
    double error;
    double wv, vv;   // sums of importance * w * v and * v * v, v = the integer weights
} row_fit;

static void load_group(group *g, const row *r, size_t k)
{
    const size_t n = r->cols - k < 16 ? r->cols - k : 16;
    memset(g, 0, sizeof *g);
    memcpy(g->w, r->w + k, n * sizeof *g->w);
    if (r->importance) memcpy(g->h, r->importance + k, n * sizeof *g->h);
    if (!r->importance) {
        for (size_t i = 0; i < n; i++) g->h[i] = 1.0f;
    }
}

static float largest(const float *w, size_t n)
{
    float max = 0.0f;
    for (size_t i = 0; i < n; i++) max = fabsf(w[i]) > max ? fabsf(w[i]) : max;
    return max;
}

/* The best multiplier of a group under a scale, with its codes. */
static int best_multiplier(mn_fit *best, const group *g, float scale)
{
    const mn_fit_group values = { g->w, g->h, 16 };
    // Steps far from "the largest value is the last code" never win: smaller ones clip, larger ones waste.
    const float steps = largest(g->w, 16) / fabsf(scale);
    const float low = steps * (0.55f / 8.0f), high = steps * (1.25f / 7.0f) + 1.0f;
    const int   from = low < (float)MULT_MAX ? (int)low : MULT_MAX;
    const int   to = high < (float)MULT_MAX ? (int)high : MULT_MAX;
    int         best_m = -1;
    for (int m = from; m <= to; m++) {
        mn_fit f;
        mn_fit_codes(&f, &values, (float)CODE_MIN, (float)CODE_MAX, scale * (float)m, 0.0f);
        if (best_m >= 0 && !(f.error < best->error)) continue;
        best_m = m;
        *best = f;
    }
    return best_m;
}

/* A whole row under a scale; gives up once the error is beyond `limit`. */
static row_fit try_scale(const row *r, float scale, double limit)
{
    row_fit f = { .scale = scale };
    for (size_t k = 0; k < r->cols && f.error < limit; k += 16) {
        group  g;
        mn_fit best;
        float  wv[16], vv[16];
        load_group(&g, r, k);
        const float m = (float)best_multiplier(&best, &g, scale);
        for (int i = 0; i < 16; i++) {
            const float v = m * best.code[i];
            wv[i] = g.h[i] * g.w[i] * v;
            vv[i] = g.h[i] * v * v;
        }
        f.error += (double)best.error;
        f.wv += (double)mn_sum16(wv);
        f.vv += (double)mn_sum16(vv);
    }
    return f;
}

static row_fit search(const row *r, float max)
{
    static const float fraction[] = { 1.10f, 1.05f, 1.0f,  0.96f, 0.92f, 0.88f,
                                      0.84f, 0.80f, 0.75f, 0.70f, 0.64f, 0.57f };
    row_fit            best = { .error = INFINITY };
    for (size_t i = 0; i < 2 * sizeof fraction / sizeof *fraction; i++) {
        const float scale = fraction[i / 2] * max / (float)(MULT_MAX * -CODE_MIN);
        const row_fit f = try_scale(r, i % 2 ? -scale : scale, best.error);
        if (f.error < best.error) best = f;
    }
    for (int i = 0; i < REFITS && best.vv > 0; i++) {
        const float scale = (float)(best.wv / best.vv);
        if (scale == 0.0f || !isfinite(1.0f / scale)) break;
        const row_fit f = try_scale(r, scale, best.error);
        if (!(f.error < best.error)) break;
        best = f;
    }
    return best;
}

/* Add a row's power to the sum; is the row worth quantising? */
static bool measure(const row *r, float max, mn_qx_error *sum)
{
    bool   finite = true;
    double power = 0;
    for (size_t k = 0; k < r->cols; k++) {
        const double h = r->importance ? (double)r->importance[k] : 1.0;
        finite &= isfinite(r->w[k]) != 0;
        power += h * (double)r->w[k] * (double)r->w[k];
    }
    const bool zero = max < SMALLEST_ROW;
    if (sum) {
        sum->power += finite ? power : 0.0;
        if (!finite) sum->error = NAN;
        if (finite && zero) sum->error += power;
    }
    return finite && !zero;
}

static void put_scale(void *tensor, size_t at, float scale)
{
    memcpy((uint8_t *)tensor + at * sizeof scale, &scale, sizeof scale);
}

void mn_q4x_quantize(void *tensor, size_t rows, size_t cols, size_t panel, const float *w, size_t ldw,
                     const float *importance, mn_qx_error *sum)
{
    uint8_t *const p = (uint8_t *)tensor + mn_q4x_panel_at(rows, cols, panel);
    memset(p, 0x88, mn_q4x_panel_bytes(cols));
    for (size_t k = 0; k < cols; k += MN_Q4X_SUPER) memset(p + mn_q4x_mult_at(0, k), 0, MN_QX_LINE);

    for (size_t i = 0; i < MN_QX_ROWS; i++) {
        const size_t at = panel * MN_QX_ROWS + i;
        put_scale(tensor, at, 0.0f);
        if (at >= rows) continue;
        const row   r = { w + i * ldw, importance, cols };
        const float max = largest(r.w, cols);
        if (!measure(&r, max, sum)) continue;

        const row_fit f = search(&r, max);
        if (sum) sum->error += f.error;
        if (f.scale == 0.0f) continue;   // squares that overflow: the error says so
        put_scale(tensor, at, f.scale);
        for (size_t k = 0; k < cols; k += MN_Q4X_GROUP) {
            group  g;
            mn_fit best;
            load_group(&g, &r, k);
            const int m = best_multiplier(&best, &g, f.scale);
            p[mn_q4x_mult_at(i, k)] |= (uint8_t)(m << mn_q4x_mult_shift(k));
            for (size_t j = 0; j < 16; j++) {
                const unsigned shift = mn_q4x_code_shift(k + j);
                uint8_t *const byte = p + mn_q4x_code_at(i, k + j);
                *byte = (uint8_t)((*byte & 0xf0 >> shift) | (unsigned)((int)best.code[j] + 8) << shift);
            }
        }
    }
}

/* Codes of up to 16 columns of Q8X. */
static void codes8_of(mn_fit *f, const group *g, float scale)
{
    mn_fit_codes(f, &(mn_fit_group){ g->w, g->h, 16 }, -127.0f, 127.0f, scale, 0.0f);
}

static double try_scale8(const row *r, float scale, double limit)
{
    double error = 0;
    for (size_t k = 0; k < r->cols && error < limit; k += 16) {
        group  g;
        mn_fit f;
        load_group(&g, r, k);
        codes8_of(&f, &g, scale);
        error += (double)f.error;
    }
    return error;
}

void mn_q8x_quantize(void *tensor, size_t rows, size_t cols, size_t panel, const float *w, size_t ldw,
                     const float *importance, mn_qx_error *sum)
{
    static const float fraction[] = { 1.0f, 0.97f, 0.94f, 0.9f, 0.85f, 0.8f, 0.75f, 0.7f };

    uint8_t *const p = (uint8_t *)tensor + mn_q8x_panel_at(rows, cols, panel);
    memset(p, 0, mn_q8x_panel_bytes(cols));
    for (size_t i = 0; i < MN_QX_ROWS; i++) {
        const size_t at = panel * MN_QX_ROWS + i;
        put_scale(tensor, at, 0.0f);
        if (at >= rows) continue;
        const row   r = { w + i * ldw, importance, cols };
        const float max = largest(r.w, cols);
        if (!measure(&r, max, sum)) continue;

        float  scale = 0.0f;
        double error = INFINITY;
        for (size_t j = 0; j < sizeof fraction / sizeof *fraction; j++) {
            const double e = try_scale8(&r, fraction[j] * max / 127.0f, error);
            if (e < error) error = e, scale = fraction[j] * max / 127.0f;
        }
        if (sum) sum->error += error;
        if (scale == 0.0f) continue;
        put_scale(tensor, at, scale);
        for (size_t k = 0; k < cols; k += 16) {
            group  g;
            mn_fit f;
            load_group(&g, &r, k);
            codes8_of(&f, &g, scale);
            for (size_t j = 0; j < 16 && k + j < cols; j++) {
                p[mn_q8x_code_at(i, k + j)] = (uint8_t)(int8_t)f.code[j];
            }
        }
    }
}
