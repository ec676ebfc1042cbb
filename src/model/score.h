/* SPDX-License-Identifier: Apache-2.0
 *
 * score.h - log-probabilities of given tokens, without writing all logits down.
 *
 *      log p(token) = logit(token) - log sum_v exp(logit(v))
 *
 * The vocabulary is cut in tiles of MN_SCORE_TILE.  Each gives its largest logit and the sum of
 * exponentials relative to it; these pairs are put together in the order of the tiles.  So a tile is
 * all that has to exist at once, and neither threads nor the number of tokens change a bit.
 */
#ifndef MN_MODEL_SCORE_H
#define MN_MODEL_SCORE_H

#include "kernel/kernels.h"

enum {
    MN_SCORE_TILE = 256,    // logits of a token that exist at once
    MN_SCORE_TOKENS = 32,   // tokens that share a pass over the head
};

typedef struct mn_score_part {
    float max, sum;         // sum of exp(logit - max)
} mn_score_part;

/* Tiles of a vocabulary of V. */
static inline size_t mn_score_tiles(size_t V)
{
    return (V + MN_SCORE_TILE - 1) / MN_SCORE_TILE;
}

/* The pair of one tile: n <= MN_SCORE_TILE logits. */
mn_score_part mn_score_tile(const mn_kernels *k, const float *logits, size_t n);

/* The log-probability of a logit among all tiles. */
float mn_score_end(const mn_score_part *part, size_t tiles, float logit);

/* The same from a row of all V logits. */
float mn_score_row(const mn_kernels *k, const float *logits, size_t V, size_t token);

#endif
