/* SPDX-License-Identifier: Apache-2.0
 *
 * block.c - one decoder block:  x += attention(norm(x));  x += ffn(norm(x)).
 *
 * Five fused phases, written once.  The backend says how a phase runs; which hardware that is
 * cannot be seen here.
 */
#include "model/backend.h"

void mn_block(const mn_step *s, size_t l)
{
    const mn_layer   *w = &s->weights->layer[l];
    const mn_backend *b = s->backend;
    const mn_act     *x = &s->buf.x;   // [T, D]      residual stream, in and out
    const mn_act     *q = &s->buf.q;   // [T, H * P]
    const mn_act     *o = &s->buf.o;   // [T, H * P]
    const mn_act     *g = &s->buf.g;   // [T, F]

    b->qkv(s, q, &s->kv, l, x, w);     // norm, project, qk-norm, rope; k and v go to the cache
    b->attend(s, o, q, &s->kv, l);     // softmax(q k^T) v
    b->project(s, x, o, &w->wo);       // x += Wo o
    b->gate_up(s, g, x, w);            // norm, silu(Wg h) * (Wu h)
    b->project(s, x, g, &w->w_down);   // x += Wd g
}
