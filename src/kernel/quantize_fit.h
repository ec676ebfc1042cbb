/* SPDX-License-Identifier: Apache-2.0
 *
 * quantize_fit.h - the search for the scale and offset of one group of weights.
 *
 *     symmetric    w ~ d q          low <= q <= high, d of either sign
 *     ranged       w ~ d q + m      0 <= q <= high, d >= 0
 *
 * For given codes the best d (and m) solve a linear equation; for given d and m the best codes are the
 * nearest.  So: many starts, then a few turns of the one and the other; the best of all is kept.
 */
#ifndef MN_KERNEL_QUANTIZE_FIT_H
#define MN_KERNEL_QUANTIZE_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MN_FIT_MOST = 32 };   // values of a group

/* Some values and what squared errors of them cost; n is 16 or 32. */
typedef struct mn_fit_group {
    const float *w, *h;
    size_t       n;
} mn_fit_group;

typedef struct mn_fit {
    float d, m;                 // m is 0 in symmetric fits
    float error;
    float code[MN_FIT_MOST];    // whole numbers
} mn_fit;

/* What may be chosen. */
typedef struct mn_fit_rule {
    float low, high;            // codes
    float from, to, step;       // fractions of "the largest value is the last code" to start from
    bool  half;                 // d and m are stored as halves: search among those
    bool  no_positive_m;        // ranged: m <= 0
} mn_fit_rule;

/* Nearest codes for d and m, and their error. */
void mn_fit_codes(mn_fit *f, const mn_fit_group *g, float low, float high, float d, float m);

void mn_fit_symmetric(mn_fit *best, const mn_fit_group *g, const mn_fit_rule *rule);
void mn_fit_ranged(mn_fit *best, const mn_fit_group *g, const mn_fit_rule *rule);

/* The nearest half, written to p (which may be NULL) and returned.  What is beyond the largest half becomes
 * it: an infinity would spoil more than its own weight. */
float mn_fit_half(uint8_t p[2], float x);

#endif
