/* SPDX-License-Identifier: Apache-2.0
 *
 * step.h - everything one step of a session needs: T new tokens, the buffers they pass through, the
 * cache they extend, and the team that does it.
 *
 * Buffers are places in the session's block; mn_step_plan hands them out, so their sizes and their
 * layout are said once.  Each thread works on its own copy of the struct, which differs in `team`.
 */
#ifndef MN_MODEL_STEP_H
#define MN_MODEL_STEP_H

#include "base/threads.h"
#include "model/kv.h"
#include "model/score.h"
#include "model/weights.h"

struct mn_backend;

/* Activations [rows, n] in f32, and beside it in the forms that the weights they meet want: integers as mn_acts
 * has them, or mn_xacts; in two planes if `exact`. */
typedef struct mn_act {
    mn_buf   f, q, lo, d, s;   // q, lo, d, s: MN_FORM_Q8
    mn_buf   x;                // MN_FORM_X: a block of mn_xacts with x_rows tokens
    size_t   rows, x_rows, n, ld;
    unsigned forms;
    bool     exact;
} mn_act;

/* Up to this many tokens each thread prepares for itself, which is cheaper than a barrier. */
enum { MN_ALONE = 2 };

/* Most query vectors one call of an attention kernel gets. */
enum { MN_ATTN_GROUP = 32 };

typedef struct mn_scratch {
    mn_act x;        // [T, D]        residual stream
    mn_act h;        // [T, D]        normalised x; MN_ALONE rows for each thread if that is more
    mn_act q;        // [T, H * P]
    mn_act k, v;     // [T, K * P]
    mn_act o;        // [T, H * P]    attention's output
    mn_act g, u;     // [T, F]        gate and up
    mn_act y;        // [T, D]        a projection before it is added to x
    mn_buf angles;   // [T, rope.n]   cosines, then sines
    mn_buf scores;   // [threads, min(H / K, MN_ATTN_GROUP), S rounded up to 64]
    mn_buf row;      // [max(D, H * P, F)]  one row of weights as f32
    mn_buf tiles;    // [threads, tiles_of_thread]  bytes, for products with native weights
    mn_buf logits;   // [V]
    mn_buf score_tile;   // [threads, MN_SCORE_TOKENS, MN_SCORE_TILE]  logits that are being scored
    mn_buf score_part;   // [MN_SCORE_TOKENS, tiles of V]  what they come to

    size_t scores_of_thread;   // floats from one thread's scores to the next's
    size_t tiles_of_thread;    // bytes
} mn_scratch;

typedef struct mn_step {
    const mn_config         *config;
    const mn_weights        *weights;
    const mn_kernels        *kernels;
    const struct mn_backend *backend;

    void      *block;    // the session's memory
    mn_scratch buf;
    mn_kv      kv;

    const int32_t *tokens;   // [T]
    size_t         T, pos;   // they get the positions pos .. pos + T - 1
    mn_team       *team;
} mn_step;

/* Reserve scratch for steps of up to T tokens at positions below S with these weights; `exact`: MN_EXACT_*
 * bits. */
void mn_step_plan(mn_plan *p, const mn_config *c, const mn_weights *w, size_t T, size_t S,
                  size_t threads, unsigned exact, mn_scratch *buf);

/* Zero what kernels may read beyond the last value of a row.  Once, when the block exists. */
void mn_step_clear(const mn_step *s);

/* Row t of some activations as f32. */
static inline float *mn_act_row(const mn_step *s, const mn_act *a, size_t t)
{
    return (float *)mn_at(s->block, a->f) + t * a->ld;
}

/* Rows t.. of some activations, as matrix products read them. */
static inline mn_acts mn_act_from(const mn_step *s, const mn_act *a, size_t t)
{
    return (mn_acts){
        .f = mn_act_row(s, a, t),
        .q = (int8_t *)mn_at(s->block, a->q) + t * a->ld,
        .lo = a->exact ? (int8_t *)mn_at(s->block, a->lo) + t * a->ld : NULL,
        .d = (float *)mn_at(s->block, a->d) + t * (a->ld / 32),
        .s = (float *)mn_at(s->block, a->s) + t * (a->ld / 16),
        .ld = a->ld,
    };
}

/* Rows t.. of some activations, as products with native weights read them. */
static inline mn_xacts mn_act_native(const mn_step *s, const mn_act *a, size_t t)
{
    const mn_xacts x = mn_xacts_at(mn_at(s->block, a->x), a->x_rows, a->n, a->exact);
    return mn_xacts_from(&x, t);
}

/* The scratch of this thread's products. */
static inline void *mn_step_tiles(const mn_step *s)
{
    return (uint8_t *)mn_at(s->block, s->buf.tiles) + s->team->id * s->buf.tiles_of_thread;
}

/* The scratch of this thread's attention. */
static inline float *mn_step_scores(const mn_step *s)
{
    return (float *)mn_at(s->block, s->buf.scores) + s->team->id * s->buf.scores_of_thread;
}

/* The cosines and sines of token t's position. */
static inline float *mn_step_angles(const mn_step *s, size_t t)
{
    return (float *)mn_at(s->block, s->buf.angles) + t * s->config->rope.n;
}

#endif
