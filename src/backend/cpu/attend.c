/* SPDX-License-Identifier: Apache-2.0
 *
 * attend.c - the attention phase on a processor.
 *
 * Work is divided among outputs: an output value is computed by one thread from start to end.
 */
#include "backend/cpu/phases.h"

#include <math.h>

static size_t least(size_t a, size_t b, size_t c)
{
    const size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Query heads [begin, end) of token t; those that share a kv head go together. */
static void attend_heads(const mn_step *s, const mn_act *o, const mn_act *q, const mn_kv *kv,
                         size_t l, size_t t, size_t begin, size_t end)
{
    const mn_config *c = s->config;
    const size_t     P = c->P, group = c->H / c->K, n = s->pos + t + 1;
    float           *scores = mn_step_scores(s);
    mn_attn_fn      *attn = kv->type == MNW_KV_I8 ? s->kernels->attn_i8 : s->kernels->attn_f16;
    const float      scale = 1.0f / sqrtf((float)P);

    for (size_t i = begin; i < end;) {
        const size_t     head = i / group;
        const size_t     next = least((head + 1) * group, i + MN_ATTN_GROUP, end);
        const mn_kv_head at = mn_kv_at(kv, s->block, l, head);
        attn(mn_act_row(s, o, t) + i * P, P, mn_act_row(s, q, t) + i * P, P, &at, n, next - i, P,
             scale, scores);
        i = next;
    }
    const mn_acts a = mn_act_from(s, o, t);
    if (begin < end && mn_wants_q8(s->weights->layer[l].wo.type))
        mn_cpu_quantise(s, &a, begin * P, end * P);
}

/* Many tokens are dealt out in turn, because later ones have more to read; the heads of a few are
 * divided. */
void mn_cpu_attend(const mn_step *s, const mn_act *o, const mn_act *q, const mn_kv *kv, size_t l)
{
    const size_t H = s->config->H;
    if (s->T >= 2 * (size_t)s->team->count) {
        for (size_t t = s->team->id; t < s->T; t += s->team->count)
            attend_heads(s, o, q, kv, l, t, 0, H);
    } else {
        size_t begin, end;
        mn_split(H, mn_heads_per(MN_ACT_BLOCK, s->config->P), s->team, &begin, &end);
        for (size_t t = 0; t < s->T; t++) attend_heads(s, o, q, kv, l, t, begin, end);
    }
    mn_barrier(s->team);
}
