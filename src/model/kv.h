/* SPDX-License-Identifier: Apache-2.0
 *
 * kv.h - the key/value cache of one session: layout, one writer, one reader.
 *
 * Decoding reads the whole cache once per token and writes one row, so layout is chosen for the
 * read: a layer is contiguous, inside it each kv head is contiguous, and a head's keys lie one after
 * another.  Attention over one head is then a plain forward walk.
 *
 *      layer 0                          layer 1
 *      +--------------------+-----------+--------- ...
 *      | head 0: k0 k1 .. kS| head 1 ...|
 *      +--------------------+-----------+--------- ...      K and V are two such blocks,
 *        [P]  [P]     [P]                                   their int8 scales two more: [L, K, S]
 *
 * Always true between calls of a session: rows 0 .. count-1 of every head are valid, the rest is
 * undefined and, as long as nobody wrote there, costs no memory.  Rewinding only lowers the count.
 */
#ifndef MN_MODEL_KV_H
#define MN_MODEL_KV_H

#include <minnow/session.h>

#include "base/plan.h"
#include "kernel/kernels.h"
#include "model/config.h"

typedef struct mn_kv {
    mnw_kv_type type;       // never DEFAULT
    size_t      L, K, S, P;
    size_t      row;        // bytes of one position in one head
    mn_buf      k, v;       // [L, K, S, P]
    mn_buf      ks, vs;     // [L, K, S] f32 scales, int8 only
} mn_kv;

/* Reserve a cache for S positions. */
void mn_kv_plan(mn_plan *p, const mn_config *c, mnw_kv_type type, size_t S, mn_kv *kv);

/* Bytes a position takes in all layers. */
uint64_t mn_kv_token_bytes(const mn_config *c, mnw_kv_type type);

/* One head of one layer, as attention kernels read it. */
mn_kv_head mn_kv_at(const mn_kv *kv, const void *block, size_t layer, size_t head);

/* Write the key or value [P] of one position. */
void mn_kv_put_key(const mn_kv *kv, void *block, const mn_kernels *kernels, size_t layer,
                   size_t head, size_t pos, const float *x);
void mn_kv_put_value(const mn_kv *kv, void *block, const mn_kernels *kernels, size_t layer,
                     size_t head, size_t pos, const float *x);

/* Read them back as f32. */
void mn_kv_get_key(const mn_kv *kv, const void *block, size_t layer, size_t head, size_t pos,
                   float *x);
void mn_kv_get_value(const mn_kv *kv, const void *block, size_t layer, size_t head, size_t pos,
                     float *x);

/* The four arrays of one head, each a run of rows: what fork copies and a snapshot stores.  `bytes`
 * is per position; 0 for scales that the type does not have. */
typedef struct mn_kv_run {
    uint8_t *data;
    size_t   bytes;
} mn_kv_run;

enum { MN_KV_RUNS = 4 };
void mn_kv_runs(const mn_kv *kv, void *block, size_t layer, size_t head, mn_kv_run run[MN_KV_RUNS]);

#endif
