/* SPDX-License-Identifier: Apache-2.0
 *
 * score.c - from logits to log-probabilities.
 */
#include "model/score.h"

#include <math.h>

#include "kernel/scalar/math.h"

mn_score_part mn_score_tile(const mn_kernels *k, const float *logits, size_t n)
{
    const float max = logits[k->argmax(logits, n)];
    return (mn_score_part){ max, k->sum_exp(logits, n, max) };
}

/* What a tile adds to the sum relative to the largest logit of all. */
static double share(mn_score_part p, float max)
{
    return (double)p.sum * (double)mn_exp(p.max - max);
}

static float finish(float logit, float max, double sum)
{
    return (float)((double)logit - ((double)max + log(sum)));
}

float mn_score_end(const mn_score_part *part, size_t tiles, float logit)
{
    float  max = -INFINITY;
    double sum = 0.0;
    for (size_t i = 0; i < tiles; i++) max = part[i].max > max ? part[i].max : max;
    for (size_t i = 0; i < tiles; i++) sum += share(part[i], max);
    return finish(logit, max, sum);
}

float mn_score_row(const mn_kernels *k, const float *logits, size_t V, size_t token)
{
    const float max = logits[k->argmax(logits, V)];
    double      sum = 0.0;
    for (size_t at = 0; at < V; at += MN_SCORE_TILE) {
        const size_t n = V - at < MN_SCORE_TILE ? V - at : MN_SCORE_TILE;
        sum += share(mn_score_tile(k, logits + at, n), max);
    }
    return finish(logits[token], max, sum);
}
