/* SPDX-License-Identifier: Apache-2.0
 *
 * synthetic_fill.c - random weights in every type that is worth measuring.
 *
 * A piece is filled with random bytes; then whatever is no code gets a value with which the weights have
 * the wanted deviation.  Codes are kept symmetric, because a mean would add up over the layers.
 */
#include <math.h>

#include "base/blocks.h"
#include "base/cursor.h"
#include "base/native.h"
#include "base/rng.h"
#include "model/synthetic.h"

static const uint64_t SEED = 0x6d696e6e6f77;

static void random_bytes(uint8_t *p, size_t n, uint64_t stream, uint64_t at)
{
    uint32_t word[4];
    for (size_t i = 0; i < n; i += sizeof word) {
        uint8_t bytes[sizeof word];
        mn_rng_block(SEED, stream, (at + i) / sizeof word, word);
        for (size_t k = 0; k < 4; k++) mn_store_u32(bytes + 4 * k, word[k]);
        memcpy(p + i, bytes, n - i < sizeof bytes ? n - i : sizeof bytes);
    }
}

static void store16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}

/* Scales differ by up to a quarter, so that to confuse two of them shows. */
static float vary(const uint8_t *random, float scale)
{
    return scale * (0.75f + (float)(random[0] | random[1] << 8) * (0.5f / 65536.0f));
}

static float put_half(uint8_t *p, float scale)
{
    const uint16_t h = mn_f32_to_f16(vary(p, scale));
    store16(p, h);
    return mn_f16_to_f32(h);
}

/* 4-bit codes around 8: -8, which has no opposite, becomes 0. */
static void balance4(uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if ((p[i] & 0x0F) == 0) p[i] |= 0x08;
        if ((p[i] & 0xF0) == 0) p[i] |= 0x80;
    }
}

static void balance8(uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] == 0x80) p[i] = 0;
}

/* Each makes weights of deviation `dev` from n random bytes.  The divisors are the deviation that codes
 * (times multipliers, group scales) have for a scale of 1. */
typedef void fill_fn(uint8_t *p, size_t n, float dev, uint64_t cols);

static float uniform(const uint8_t *p, float dev)
{
    return ((float)(p[0] | p[1] << 8) + 0.5f - 32768.0f) * (dev * 1.7320508f / 32768.0f);
}

static void fill_f32(uint8_t *p, size_t n, float dev, uint64_t cols)
{
    for (size_t i = 0; i < n; i += 4) mn_store_f32(p + i, uniform(p + i, dev));
}

static void fill_f16(uint8_t *p, size_t n, float dev, uint64_t cols)
{
    for (size_t i = 0; i < n; i += 2) store16(p + i, mn_f32_to_f16(uniform(p + i, dev)));
}

static void fill_bf16(uint8_t *p, size_t n, float dev, uint64_t cols)
{
    for (size_t i = 0; i < n; i += 2) store16(p + i, mn_f32_to_bf16(uniform(p + i, dev)));
}

static void fill_q4_0(uint8_t *p, size_t n, float dev, uint64_t cols)
{
    mn_block_q4_0 *b = (mn_block_q4_0 *)p;
    for (size_t i = 0; i < n / sizeof *b; i++) {
        put_half(b[i].d, dev / 4.18f);
        balance4(b[i].qs, sizeof b[i].qs);
    }
}

static void fill_q4_1(uint8_t *p, size_t n, float dev, uint64_t cols)
{
    mn_block_q4_1 *b = (mn_block_q4_1 *)p;
    for (size_t i = 0; i < n / sizeof *b; i++) {
        const float d = put_half(b[i].d, dev / 4.61f);
        store16(b[i].m, mn_f32_to_f16(-7.5f * d));
    }
}

static void fill_q8_0(uint8_t *p, size_t n, float dev, uint64_t cols)
{
    mn_block_q8_0 *b = (mn_block_q8_0 *)p;
    for (size_t i = 0; i < n / sizeof *b; i++) {
        put_half(b[i].d, dev / 73.5f);
        balance8((uint8_t *)b[i].qs, sizeof b[i].qs);
    }
}

static void fill_q4_k(uint8_t *p, size_t n, float dev, uint64_t cols)
{
    mn_block_q4_k *b = (mn_block_q4_k *)p;
    for (size_t i = 0; i < n / sizeof *b; i++) {
        const float d = put_half(b[i].d, dev / 258.0f);
        store16(b[i].dmin, mn_f32_to_f16(7.5f * d));
    }
}

static void fill_q6_k(uint8_t *p, size_t n, float dev, uint64_t cols)
{
    mn_block_q6_k *b = (mn_block_q6_k *)p;
    for (size_t i = 0; i < n / sizeof *b; i++) put_half(b[i].d, dev / 1366.0f);
}

/* Multipliers of columns that are not there, in the last superblock, are 0. */
static void fill_q4x(uint8_t *p, size_t n, float dev, uint64_t cols)
{
    const size_t panel = mn_q4x_panel_bytes((size_t)cols);
    const size_t used = (size_t)cols % MN_Q4X_SUPER / 2;   // bytes of the last multiplier line
    for (uint8_t *end = p + n; p < end; p += panel) {
        for (size_t at = 0; at < panel; at += MN_Q4X_SUPER_BYTES) {
            const size_t left = panel - at;
            balance4(p + at + MN_QX_LINE,
                     (left < MN_Q4X_SUPER_BYTES ? left : MN_Q4X_SUPER_BYTES) - MN_QX_LINE);
        }
        if (used) memset(p + cols / MN_Q4X_SUPER * MN_Q4X_SUPER_BYTES + used, 0, MN_QX_LINE - used);
    }
}

static void fill_q8x(uint8_t *p, size_t n, float dev, uint64_t cols)
{
    balance8(p, n);
}

static void fill_scales(uint8_t *p, size_t n, float scale)
{
    for (size_t i = 0; i < n; i += 4) mn_store_f32(p + i, vary(p + i, scale));
}

static fill_fn *fill_for(mn_dtype_id type)
{
    switch (type) {
    case MN_F32: return fill_f32;
    case MN_F16: return fill_f16;
    case MN_BF16: return fill_bf16;
    case MN_Q4_0: return fill_q4_0;
    case MN_Q4_1: return fill_q4_1;
    case MN_Q8_0: return fill_q8_0;
    case MN_Q4_K: return fill_q4_k;
    case MN_Q6_K: return fill_q6_k;
    case MN_Q4X: return fill_q4x;
    case MN_Q8X: return fill_q8x;
    default: return NULL;
    }
}

bool mn_random_has(const mn_dtype *type)
{
    return fill_for(type->id) != NULL;
}

static size_t smaller(uint64_t a, size_t b)
{
    return a < b ? (size_t)a : b;
}

size_t mn_random_next(mn_random_matrix *m, uint8_t *buf)
{
    const mn_dtype *t = m->type;
    const size_t    cols = (size_t)m->cols;
    const uint64_t  scales = t->native ? mn_qx_panels((size_t)m->rows) * MN_QX_LINE : 0;
    size_t          n;
    if (m->done < scales) {
        n = smaller(scales - m->done, MN_PIECE);
        random_bytes(buf, n, m->stream, m->done);
        fill_scales(buf, n, m->deviation / (t->id == MN_Q4X ? 36.8f : 73.5f));
    } else {
        const size_t unit = t->id == MN_Q4X   ? mn_q4x_panel_bytes(cols)
                            : t->id == MN_Q8X ? mn_q8x_panel_bytes(cols)
                                              : t->block_bytes;
        n = smaller(m->bytes - m->done, MN_PIECE / unit * unit);
        random_bytes(buf, n, m->stream, m->done);
        fill_for(t->id)(buf, n, m->deviation, m->cols);
    }
    m->done += n;
    return n;
}
