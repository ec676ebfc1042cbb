/* SPDX-License-Identifier: Apache-2.0
 *
 * kv.c - the key/value cache of one session.
 */
#include "model/kv.h"

#include <string.h>

static size_t value_bytes(mnw_kv_type type)
{
    return type == MNW_KV_I8 ? 1 : type == MNW_KV_F16 ? 2 : 4;
}

void mn_kv_plan(mn_plan *p, const mn_config *c, mnw_kv_type type, size_t S, mn_kv *kv)
{
    const size_t heads = (size_t)c->L * c->K, row = c->P * value_bytes(type);
    const size_t scales = type == MNW_KV_I8 ? heads : 0;
    *kv = (mn_kv){ .type = type, .L = c->L, .K = c->K, .S = S, .P = c->P, .row = row };
    kv->k = mn_plan_take(p, heads * row, S, 1);
    kv->v = mn_plan_take(p, heads * row, S, 1);
    kv->ks = mn_plan_f32(p, scales, S);
    kv->vs = mn_plan_f32(p, scales, S);
}

uint64_t mn_kv_token_bytes(const mn_config *c, mnw_kv_type type)
{
    const uint64_t row = c->P * value_bytes(type) + (type == MNW_KV_I8 ? sizeof(float) : 0);
    return 2 * row * c->L * c->K;
}

/* Where position `pos` of a head is in an array of `bytes` per position. */
static uint8_t *place(const mn_kv *kv, const void *block, mn_buf array, size_t bytes, size_t layer,
                      size_t head, size_t pos)
{
    return (uint8_t *)mn_at((void *)block, array) + ((layer * kv->K + head) * kv->S + pos) * bytes;
}

static float *scale_at(const mn_kv *kv, const void *block, mn_buf array, size_t layer, size_t head,
                       size_t pos)
{
    return (float *)(void *)place(kv, block, array, sizeof(float), layer, head, pos);
}

mn_kv_head mn_kv_at(const mn_kv *kv, const void *block, size_t layer, size_t head)
{
    const bool scaled = kv->type == MNW_KV_I8;
    return (mn_kv_head){
        .k = place(kv, block, kv->k, kv->row, layer, head, 0),
        .v = place(kv, block, kv->v, kv->row, layer, head, 0),
        .ks = scaled ? scale_at(kv, block, kv->ks, layer, head, 0) : NULL,
        .vs = scaled ? scale_at(kv, block, kv->vs, layer, head, 0) : NULL,
        .stride_k = kv->row,
        .stride_v = kv->row,
    };
}

void mn_kv_runs(const mn_kv *kv, void *block, size_t layer, size_t head, mn_kv_run run[MN_KV_RUNS])
{
    const size_t scale = kv->type == MNW_KV_I8 ? sizeof(float) : 0;
    run[0] = (mn_kv_run){ place(kv, block, kv->k, kv->row, layer, head, 0), kv->row };
    run[1] = (mn_kv_run){ place(kv, block, kv->v, kv->row, layer, head, 0), kv->row };
    run[2] = (mn_kv_run){ place(kv, block, kv->ks, scale, layer, head, 0), scale };
    run[3] = (mn_kv_run){ place(kv, block, kv->vs, scale, layer, head, 0), scale };
}

static void put(const mn_kv *kv, const mn_kernels *kernels, void *row, float *scale, const float *x)
{
    switch (kv->type) {
    case MNW_KV_I8: *scale = kernels->quant_kv(row, x, kv->P); break;
    case MNW_KV_F16: kernels->to_f16(row, x, kv->P); break;
    default: memcpy(row, x, kv->P * sizeof *x); break;
    }
}

static void get(const mn_kv *kv, const void *row, const float *scale, float *x)
{
    const int8_t *i8 = row;
    switch (kv->type) {
    case MNW_KV_I8:
        for (size_t i = 0; i < kv->P; i++) x[i] = (float)i8[i] * *scale;
        break;
    case MNW_KV_F16: mn_dequantize(x, row, MN_F16, kv->P); break;
    default: memcpy(x, row, kv->P * sizeof *x); break;
    }
}

void mn_kv_put_key(const mn_kv *kv, void *block, const mn_kernels *kernels, size_t layer,
                   size_t head, size_t pos, const float *x)
{
    put(kv, kernels, place(kv, block, kv->k, kv->row, layer, head, pos),
        scale_at(kv, block, kv->ks, layer, head, pos), x);
}

void mn_kv_put_value(const mn_kv *kv, void *block, const mn_kernels *kernels, size_t layer,
                     size_t head, size_t pos, const float *x)
{
    put(kv, kernels, place(kv, block, kv->v, kv->row, layer, head, pos),
        scale_at(kv, block, kv->vs, layer, head, pos), x);
}

void mn_kv_get_key(const mn_kv *kv, const void *block, size_t layer, size_t head, size_t pos,
                   float *x)
{
    get(kv, place(kv, block, kv->k, kv->row, layer, head, pos),
        scale_at(kv, block, kv->ks, layer, head, pos), x);
}

void mn_kv_get_value(const mn_kv *kv, const void *block, size_t layer, size_t head, size_t pos,
                     float *x)
{
    get(kv, place(kv, block, kv->v, kv->row, layer, head, pos),
        scale_at(kv, block, kv->vs, layer, head, pos), x);
}
