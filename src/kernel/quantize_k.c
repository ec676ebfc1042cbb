/* SPDX-License-Identifier: Apache-2.0
 *
 * quantize_k.c - encoders of the types whose blocks are 256 weights in groups with small integer scales.
 *
 *     Q4_K, Q5_K    w ~ d s_j q - e m_j       8 groups of 32; s_j, m_j 0..63
 *     Q6_K          w ~ d s_j q              16 groups of 16; s_j int8
 *
 * Each group is fitted alone, its scales are rounded to multiples of the block's d (and e), and from there
 * scales and codes of the groups on the one side, d and e on the other, improve each other in turn.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/blocks.h"
#include "kernel/quantize.h"
#include "kernel/quantize_fit.h"

enum {
    VALUES = 256,
    PASSES = 3,       // of groups and block
    SCALE_MOST = 63,  // of Q4_K and Q5_K
    MOST_GROUPS = 16,
};

/* A block on its way: the integer scales, and each group's codes and error. */
typedef struct block {
    float  d, e;
    float  s[MOST_GROUPS], m[MOST_GROUPS];
    mn_fit fit[MOST_GROUPS];
    double error;
} block;

/* What a block type is made of. */
typedef struct form {
    size_t      groups, size;     // size of a group
    float       s_low, s_high;    // integer scales
    mn_fit_rule rule;
} form;

static const form FORM_Q4_K = { 8, 32, 0, SCALE_MOST,
                                { .high = 15, .from = 0.7f, .to = 1.06f, .step = 0.045f, .no_positive_m = true } };
static const form FORM_Q5_K = { 8, 32, 0, SCALE_MOST,
                                { .high = 31, .from = 0.85f, .to = 1.03f, .step = 0.0225f, .no_positive_m = true } };
static const form FORM_Q6_K = { 16, 16, -128, 127,
                                { .low = -32, .high = 31, .from = 0.84f, .to = 1.03f, .step = 0.01f } };

static float clamped(float x, float low, float high)
{
    return x > low ? x < high ? x : high : low;
}

/* x / unit as a whole number from low to high. */
static float in_units(float x, float unit, float low, float high)
{
    return unit != 0.0f ? clamped(rintf(x / unit), low, high) : 0.0f;
}

/* Scales of group j next to those it has: take the best, with its codes. */
static void improve_group(block *b, const form *f, size_t j, const mn_fit_group *g)
{
    const float s0 = b->s[j], m0 = b->m[j];
    const int   reach = b->e != 0.0f ? 1 : 0;
    mn_fit      trial;
    b->fit[j].error = INFINITY;
    for (int ds = -1; ds <= 1; ds++) {
        for (int dm = -reach; dm <= reach; dm++) {
            const float s = clamped(s0 + (float)ds, f->s_low, f->s_high);
            const float m = clamped(m0 + (float)dm, 0.0f, SCALE_MOST);
            mn_fit_codes(&trial, g, f->rule.low, f->rule.high, b->d * s, -b->e * m);
            if (!(trial.error < b->fit[j].error)) continue;
            b->fit[j] = trial;
            b->s[j] = s;
            b->m[j] = m;
        }
    }
}

static void improve_groups(block *b, const form *f, const mn_fit_group *g)
{
    b->error = 0;
    for (size_t j = 0; j < f->groups; j++) {
        improve_group(b, f, j, &g[j]);
        b->error += (double)b->fit[j].error;
    }
}

/* The best d and e for the codes and integer scales of the groups. */
static bool solve_block(block *b, const form *f, const mn_fit_group *g)
{
    double aa = 0, ac = 0, cc = 0, aw = 0, cw = 0;   // a = s q, c = -m
    for (size_t j = 0; j < f->groups; j++) {
        for (size_t i = 0; i < f->size; i++) {
            const double h = (double)g[j].h[i], w = (double)g[j].w[i];
            const double a = (double)b->s[j] * (double)b->fit[j].code[i], c = -(double)b->m[j];
            aa += h * a * a;
            ac += h * a * c;
            cc += h * c * c;
            aw += h * a * w;
            cw += h * c * w;
        }
    }
    const double det = aa * cc - ac * ac;
    double       d, e;
    if (det > 1e-9 * aa * cc) {
        d = (aw * cc - cw * ac) / det;
        e = (cw * aa - aw * ac) / det;
    } else {
        if (!(aa > 0)) return false;
        d = aw / aa;
        e = 0;
    }
    if (e < 0) e = 0, d = aa > 0 ? aw / aa : 0;
    if (b->e == 0.0f) e = 0;
    if (!isfinite((float)d) || !isfinite((float)e)) return false;
    b->d = mn_fit_half(NULL, (float)d);
    b->e = mn_fit_half(NULL, (float)e);
    return true;
}

/* From the groups' own fits to a block: s_of is the fitted scale that gets the largest integer. */
static void start(block *b, const form *f, const mn_fit *own, float d, float e)
{
    b->d = mn_fit_half(NULL, d);
    b->e = mn_fit_half(NULL, e);
    for (size_t j = 0; j < f->groups; j++) {
        b->s[j] = in_units(own[j].d, b->d, f->s_low, f->s_high);
        b->m[j] = in_units(-own[j].m, b->e, 0.0f, SCALE_MOST);
    }
}

static void settle(block *best, const form *f, const mn_fit_group *g)
{
    improve_groups(best, f, g);
    for (int pass = 0; pass < PASSES; pass++) {
        block next = *best;
        if (!solve_block(&next, f, g)) break;
        improve_groups(&next, f, g);
        if (!(next.error < best->error)) break;
        *best = next;
    }
}

static void search(block *best, const form *f, const float *w, const float *h)
{
    mn_fit_group g[MOST_GROUPS];
    mn_fit       own[MOST_GROUPS];
    float        largest = 0.0f, deepest = 0.0f;
    const bool   ranged = f->rule.low == 0.0f;
    for (size_t j = 0; j < f->groups; j++) {
        g[j] = (mn_fit_group){ w + j * f->size, h + j * f->size, f->size };
        (ranged ? mn_fit_ranged : mn_fit_symmetric)(&own[j], &g[j], &f->rule);
        if (fabsf(own[j].d) > fabsf(largest)) largest = own[j].d;
        if (-own[j].m > deepest) deepest = -own[j].m;
    }
    start(best, f, own, largest / f->s_high, deepest / SCALE_MOST);
    settle(best, f, g);
    if (ranged) return;
    block other;   // the largest scale may also be the one step more that int8 has on its other side
    start(&other, f, own, largest / f->s_low, 0.0f);
    settle(&other, f, g);
    if (other.error < best->error) *best = other;
}

/* The inverse of mn_scales6(). */
static void put_scales6(uint8_t p[12], const block *b)
{
    for (int j = 0; j < 4; j++) {
        const unsigned s0 = (unsigned)b->s[j], m0 = (unsigned)b->m[j];
        const unsigned s1 = (unsigned)b->s[j + 4], m1 = (unsigned)b->m[j + 4];
        p[j] = (uint8_t)(s0 | (s1 >> 4) << 6);
        p[j + 4] = (uint8_t)(m0 | (m1 >> 4) << 6);
        p[j + 8] = (uint8_t)((s1 & 15) | (m1 & 15) << 4);
    }
}

static unsigned code_at(const block *b, size_t size, size_t i, float low)
{
    return (unsigned)(b->fit[i / size].code[i % size] - low);
}

/* The low four bits of 256 codes: group 2 j in the low nibbles of 32 bytes, 2 j + 1 in the high ones. */
static void put_nibbles(uint8_t qs[VALUES / 2], const block *b)
{
    for (size_t i = 0; i < VALUES / 2; i++) {
        const size_t at = i / 32 * 64 + i % 32;
        qs[i] = (uint8_t)((code_at(b, 32, at, 0.0f) & 15) | (code_at(b, 32, at + 32, 0.0f) & 15) << 4);
    }
}

void mn_encode_q4_k(uint8_t *p, const float *w, const float *h)
{
    mn_block_q4_k *o = (mn_block_q4_k *)p;
    block          b;
    search(&b, &FORM_Q4_K, w, h);
    mn_fit_half(o->d, b.d);
    mn_fit_half(o->dmin, b.e);
    put_scales6(o->scales, &b);
    put_nibbles(o->qs, &b);
}

void mn_encode_q5_k(uint8_t *p, const float *w, const float *h)
{
    mn_block_q5_k *o = (mn_block_q5_k *)p;
    block          b;
    search(&b, &FORM_Q5_K, w, h);
    mn_fit_half(o->d, b.d);
    mn_fit_half(o->dmin, b.e);
    put_scales6(o->scales, &b);
    put_nibbles(o->qs, &b);
    memset(o->qh, 0, sizeof o->qh);
    for (size_t i = 0; i < VALUES; i++) {
        o->qh[i % 32] = (uint8_t)(o->qh[i % 32] | code_at(&b, 32, i, 0.0f) >> 4 << i / 32);
    }
}

/* 128 values share 64 bytes of nibbles and 32 of high bits: value 32 j + k has nibble j / 2 of byte
 * 32 (j % 2) + k and bits 2 j of byte k. */
void mn_encode_q6_k(uint8_t *p, const float *w, const float *h)
{
    mn_block_q6_k *o = (mn_block_q6_k *)p;
    block          b;
    search(&b, &FORM_Q6_K, w, h);
    memset(o, 0, sizeof *o);
    mn_fit_half(o->d, b.d);
    for (size_t j = 0; j < FORM_Q6_K.groups; j++) o->scales[j] = (int8_t)b.s[j];
    for (size_t i = 0; i < VALUES; i++) {
        const unsigned q = code_at(&b, FORM_Q6_K.size, i, FORM_Q6_K.rule.low);
        const size_t   half = i / 128, j = i % 128 / 32, k = i % 32;
        uint8_t *const low = &o->ql[half * 64 + j % 2 * 32 + k], *const high = &o->qh[half * 32 + k];
        *low = (uint8_t)(*low | (q & 15) << (j / 2 * 4));
        *high = (uint8_t)(*high | q >> 4 << (2 * j));
    }
}
