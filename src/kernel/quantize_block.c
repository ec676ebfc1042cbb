/* SPDX-License-Identifier: Apache-2.0
 *
 * quantize_block.c - encoders of the types whose blocks are 32 weights with one scale (and offset).
 */
#include <stdbool.h>
#include <string.h>

#include "base/blocks.h"
#include "kernel/quantize.h"
#include "kernel/quantize_fit.h"

enum { N = 32 };

static const mn_fit_rule RULE_Q4_0 = {
    .low = -8, .high = 7, .from = 0.55f, .to = 1.1f, .step = 0.025f, .half = true
};
static const mn_fit_rule RULE_Q5_0 = {
    .low = -16, .high = 15, .from = 0.76f, .to = 1.05f, .step = 0.0125f, .half = true
};
static const mn_fit_rule RULE_Q8_0 = {
    .low = -127, .high = 127, .from = 0.98f, .to = 1.0051f, .step = 0.0025f, .half = true
};
static const mn_fit_rule RULE_Q4_1 = {
    .high = 15, .from = 0.7f, .to = 1.06f, .step = 0.03f, .half = true
};
static const mn_fit_rule RULE_Q5_1 = {
    .high = 31, .from = 0.85f, .to = 1.03f, .step = 0.015f, .half = true
};

/* Codes of 4 bits, or the low four of 5; from `low` on. */
static void put_codes(uint8_t qs[16], uint8_t *qh, const mn_fit *f, float low)
{
    for (int i = 0; i < N / 2; i++) {
        const unsigned a = (unsigned)(f->code[i] - low), b = (unsigned)(f->code[i + N / 2] - low);
        qs[i] = (uint8_t)((a & 15) | (b & 15) << 4);
        if (!qh) continue;
        qh[i / 8] = (uint8_t)(qh[i / 8] | (a >> 4) << i % 8);
        qh[2 + i / 8] = (uint8_t)(qh[2 + i / 8] | (b >> 4) << i % 8);
    }
}

void mn_encode_q4_0(uint8_t *p, const float *w, const float *h)
{
    mn_block_q4_0 *b = (mn_block_q4_0 *)p;
    mn_fit         f;
    mn_fit_symmetric(&f, &(mn_fit_group){ w, h, N }, &RULE_Q4_0);
    mn_fit_half(b->d, f.d);
    put_codes(b->qs, NULL, &f, RULE_Q4_0.low);
}

void mn_encode_q5_0(uint8_t *p, const float *w, const float *h)
{
    mn_block_q5_0 *b = (mn_block_q5_0 *)p;
    mn_fit         f;
    mn_fit_symmetric(&f, &(mn_fit_group){ w, h, N }, &RULE_Q5_0);
    mn_fit_half(b->d, f.d);
    memset(b->qh, 0, sizeof b->qh);
    put_codes(b->qs, b->qh, &f, RULE_Q5_0.low);
}

void mn_encode_q4_1(uint8_t *p, const float *w, const float *h)
{
    mn_block_q4_1 *b = (mn_block_q4_1 *)p;
    mn_fit         f;
    mn_fit_ranged(&f, &(mn_fit_group){ w, h, N }, &RULE_Q4_1);
    mn_fit_half(b->d, f.d);
    mn_fit_half(b->m, f.m);
    put_codes(b->qs, NULL, &f, 0.0f);
}

void mn_encode_q5_1(uint8_t *p, const float *w, const float *h)
{
    mn_block_q5_1 *b = (mn_block_q5_1 *)p;
    mn_fit         f;
    mn_fit_ranged(&f, &(mn_fit_group){ w, h, N }, &RULE_Q5_1);
    mn_fit_half(b->d, f.d);
    mn_fit_half(b->m, f.m);
    memset(b->qh, 0, sizeof b->qh);
    put_codes(b->qs, b->qh, &f, 0.0f);
}

void mn_encode_q8_0(uint8_t *p, const float *w, const float *h)
{
    mn_block_q8_0 *b = (mn_block_q8_0 *)p;
    mn_fit         f;
    mn_fit_symmetric(&f, &(mn_fit_group){ w, h, N }, &RULE_Q8_0);
    mn_fit_half(b->d, f.d);
    for (int i = 0; i < N; i++) b->qs[i] = (int8_t)f.code[i];
}
