/* SPDX-License-Identifier: Apache-2.0
 *
 * quantize_fit.c - the search for the scale and offset of one group of weights.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/dtype.h"
#include "kernel/quantize_fit.h"
#include "kernel/scalar/math.h"

enum { TURNS = 3 };   // of codes and scale, after each start

float mn_fit_half(uint8_t p[2], float x)
{
    const float    most = 65504.0f;
    const uint16_t bits = mn_f32_to_f16(x > most ? most : x < -most ? -most : x);
    if (p) {
        p[0] = (uint8_t)bits;
        p[1] = (uint8_t)(bits >> 8);
    }
    return mn_f16_to_f32(bits);
}

/* The sum of up to 32 terms in 16 lanes, which compilers turn into vectors. */
static float sum(const float *x, size_t n)
{
    float acc[16];
    for (size_t i = 0; i < 16; i++) acc[i] = x[i] + (n > 16 ? x[i + 16] : 0.0f);
    return mn_sum16(acc);
}

/* 16 codes and their error.  low and high must not be known to the compiler: gcc then turns the limits into
 * branches, and the loop is no vector any more. */
static float codes16(float *restrict code, const float *restrict w, const float *restrict h, float low, float high,
                     float d, float inverse, float m)
{
    float e[16];
    for (int i = 0; i < 16; i++) {
        float v = (w[i] - m) * inverse;
        v = v > low ? v : low;
        v = v < high ? v : high;
        v = (v + MN_MAGIC) - MN_MAGIC;
        const float miss = w[i] - (d * v + m);
        code[i] = v;
        e[i] = h[i] * miss * miss;
    }
    return mn_sum16(e);
}

void mn_fit_codes(mn_fit *f, const mn_fit_group *g, float low, float high, float d, float m)
{
    const float inverse = d != 0.0f && isfinite(1.0f / d) ? 1.0f / d : 0.0f;
    f->d = d;
    f->m = m;
    f->error = 0.0f;
    for (size_t i = 0; i < g->n; i += 16)
        f->error += codes16(f->code + i, g->w + i, g->h + i, low, high, d, inverse, m);
}

static float rounded(const mn_fit_rule *r, float x)
{
    return r->half ? mn_fit_half(NULL, x) : x;
}

/* The best d for the codes of f; 0 if there is none. */
static float solve_scale(const mn_fit *f, const mn_fit_group *g)
{
    float wq[MN_FIT_MOST] = { 0 }, qq[MN_FIT_MOST] = { 0 };
    for (size_t i = 0; i < g->n; i++) {
        wq[i] = g->h[i] * f->code[i] * (g->w[i] - f->m);
        qq[i] = g->h[i] * f->code[i] * f->code[i];
    }
    const float under = sum(qq, g->n);
    return under > 0.0f ? sum(wq, g->n) / under : 0.0f;
}

/* The best d and m; false if the codes do not tell. */
static bool solve_range(const mn_fit *f, const mn_fit_group *g, bool no_positive, float *d, float *m)
{
    float w[MN_FIT_MOST] = { 0 }, q[MN_FIT_MOST] = { 0 }, qq[MN_FIT_MOST] = { 0 }, wq[MN_FIT_MOST] = { 0 };
    for (size_t i = 0; i < g->n; i++) {
        w[i] = g->h[i] * g->w[i];
        q[i] = g->h[i] * f->code[i];
        qq[i] = q[i] * f->code[i];
        wq[i] = w[i] * f->code[i];
    }
    const double h1 = (double)sum(g->h, g->n), w1 = (double)sum(w, g->n), q1 = (double)sum(q, g->n);
    const double q2 = (double)sum(qq, g->n), wq1 = (double)sum(wq, g->n);
    const double det = h1 * q2 - q1 * q1;
    if (!(det > 1e-9 * h1 * q2)) return false;
    *d = (float)((h1 * wq1 - q1 * w1) / det);
    *m = (float)((q2 * w1 - q1 * wq1) / det);
    if (no_positive && *m > 0.0f) {
        *m = 0.0f;
        *d = (float)(wq1 / q2);
    }
    return *d > 0.0f;
}

static bool better(mn_fit *best, const mn_fit *f)
{
    if (!(f->error < best->error)) return false;
    *best = *f;
    return true;
}

void mn_fit_symmetric(mn_fit *best, const mn_fit_group *g, const mn_fit_rule *r)
{
    float max = 0.0f;
    for (size_t i = 0; i < g->n; i++) max = fabsf(g->w[i]) > max ? fabsf(g->w[i]) : max;
    mn_fit f;
    mn_fit_codes(best, g, r->low, r->high, 0.0f, 0.0f);
    memset(best->code, 0, sizeof best->code);
    if (max == 0.0f) return;
    const bool even = r->low == -r->high;   // then the sign of d says nothing
    for (int i = 0; r->from + (float)i * r->step <= r->to; i++) {
        const float d = (r->from + (float)i * r->step) * max / -r->low;
        for (int side = 0; side < (even ? 1 : 2); side++) {
            mn_fit_codes(&f, g, r->low, r->high, rounded(r, side ? -d : d), 0.0f);
            better(best, &f);
        }
    }
    for (int i = 0; i < TURNS; i++) {
        mn_fit_codes(&f, g, r->low, r->high, rounded(r, solve_scale(best, g)), 0.0f);
        if (!better(best, &f)) break;
    }
}

void mn_fit_ranged(mn_fit *best, const mn_fit_group *g, const mn_fit_rule *r)
{
    float min = g->w[0], max = g->w[0];
    for (size_t i = 1; i < g->n; i++) {
        min = g->w[i] < min ? g->w[i] : min;
        max = g->w[i] > max ? g->w[i] : max;
    }
    if (r->no_positive_m && min > 0.0f) min = 0.0f;
    mn_fit f;
    // One value for all: in the middle, as far as the rule allows.
    float middle = 0.5f * min + 0.5f * max;
    if (r->no_positive_m && middle > 0.0f) middle = 0.0f;
    mn_fit_codes(best, g, 0.0f, r->high, 0.0f, rounded(r, middle));
    memset(best->code, 0, sizeof best->code);

    for (int i = 0; r->from + (float)i * r->step <= r->to; i++) {
        const float part = r->from + (float)i * r->step;
        float       m = min + 0.5f * (1.0f - part) * (max - min), d = part * (max - min) / r->high;
        if (r->no_positive_m && m > 0.0f) m = 0.0f;
        float last = INFINITY;
        for (int turn = 0; turn <= TURNS; turn++) {
            mn_fit_codes(&f, g, 0.0f, r->high, rounded(r, d), rounded(r, m));
            better(best, &f);
            if (!(f.error < last)) break;
            last = f.error;
            if (!solve_range(&f, g, r->no_positive_m, &d, &m)) break;
        }
    }
}
