/* SPDX-License-Identifier: Apache-2.0
 *
 * minnow/sampler.h - choose the next token from logits.
 *
 * The chain, in this order: logit bias, repetition / frequency / presence penalty, temperature,
 * top-k, top-p, min-p, draw.  Temperature 0 is greedy: the highest logit, the lowest id of equals.
 * Draws come from a counter-based generator: the same seed gives the same text at any thread count,
 * and the draw for a position depends on the seed and the position alone.
 *
 *     mnw_sampler *sp;
 *     mnw_sampler_open(ctx, &(mnw_sampler_opts){ .temperature = 0.7f, .top_p = 0.9f }, &sp);
 *     int32_t next = mnw_sampler_pick(sp, session);
 */
#ifndef MINNOW_SAMPLER_H
#define MINNOW_SAMPLER_H

#include <minnow/session.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mnw_sampler mnw_sampler;

typedef struct mnw_logit_bias {
    int32_t token;
    float   bias;              // added to the logit; -INFINITY forbids
} mnw_logit_bias;

typedef struct mnw_sampler_opts {
    size_t   size;             // sizeof(mnw_sampler_opts)
    float    temperature;      // 0 = greedy, up to 100
    uint32_t top_k;            // 0 = off
    float    top_p;            // 0 = off, else (0, 1]
    float    min_p;            // 0 = off, else (0, 1]: keep p >= min_p * p_max
    float    repeat_penalty;   // 0 or 1 = off; divides positive, multiplies negative logits
    float    frequency_penalty;// subtracted per occurrence, -10 to 10
    float    presence_penalty; // subtracted once if it occurred, -10 to 10
    uint32_t penalty_last_n;   // tokens looked back at                                [64]
    uint64_t seed;             // 0 = a fixed seed: runs repeat unless you ask otherwise
    const mnw_logit_bias *bias;// copied
    size_t   n_bias;
} mnw_sampler_opts;

/* Open a sampler.
 *
 * Errors: MNW_E_ARG names the first bad option and its range; MNW_E_NOMEM. */
MNW_API mnw_status mnw_sampler_open(mnw_ctx *ctx, const mnw_sampler_opts *opts, mnw_sampler **out);

/* Pick the token that follows what the session was fed.  -1 if the session has no logits.
 *
 * Allocs: nothing once the vocabulary size was seen. */
MNW_API int32_t mnw_sampler_pick(mnw_sampler *sp, const mnw_session *s);

/* The same for bare numbers: `logits` [n_vocab], the last `n` tokens, and the position whose draw
 * this is.  `logits` are not changed. */
MNW_API int32_t mnw_sampler_pick_from(mnw_sampler *sp, const float *logits, size_t n_vocab,
                                      const int32_t *tokens, size_t n, uint64_t position);

/* The seed in use, to print and to replay. */
MNW_API uint64_t mnw_sampler_seed(const mnw_sampler *sp);

/* Close and free.  NULL is allowed. */
MNW_API void mnw_sampler_close(mnw_sampler *sp);

#ifdef __cplusplus
}
#endif
#endif
