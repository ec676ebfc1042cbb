/* SPDX-License-Identifier: Apache-2.0
 *
 * backend.h - how the phases of a decoder run on some hardware.
 *
 * Every thread of the team calls each phase at the same time; a phase divides its work among them
 * and ends in a barrier, so that what it wrote may be read by all afterwards.  Phases cannot fail and
 * do not allocate: shapes, types and memory were settled when model and session were opened.
 *
 * A result must not depend on the number of threads, nor on how tokens are grouped into steps.
 */
#ifndef MN_MODEL_BACKEND_H
#define MN_MODEL_BACKEND_H

#include "model/step.h"

typedef struct mn_backend {
    const char *name;

    /* x = rows of the embedding; the rotary angles of the step's positions. */
    void (*embed)(const mn_step *s, const mn_act *x);

    /* h = rmsnorm(x); q, k, v = W h (+ bias); norm and rotate the heads of q and k; k and v go to
     * the cache. */
    void (*qkv)(const mn_step *s, const mn_act *q, const mn_kv *kv, size_t l, const mn_act *x,
                const mn_layer *w);

    /* o = softmax(q k^T / sqrt(P)) v over the positions up to each token's own. */
    void (*attend)(const mn_step *s, const mn_act *o, const mn_act *q, const mn_kv *kv, size_t l);

    /* x += W a */
    void (*project)(const mn_step *s, const mn_act *x, const mn_act *a, const mn_weight *w);

    /* h = rmsnorm(x); g = silu(Wg h) * (Wu h) */
    void (*gate_up)(const mn_step *s, const mn_act *g, const mn_act *x, const mn_layer *w);

    /* logits [V] of the step's token t */
    void (*head)(const mn_step *s, mn_buf logits, const mn_act *x, size_t t);

    /* logprob[i] = log p(target[i] | everything up to the step's token t + i), i < n <= MN_SCORE_TOKENS */
    void (*score)(const mn_step *s, const mn_act *x, size_t t, size_t n, const int32_t *target,
                  float *logprob);
} mn_backend;

/* Run one decoder block.  (block.c) */
void mn_block(const mn_step *s, size_t l);

#endif
