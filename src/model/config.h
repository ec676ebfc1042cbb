/* SPDX-License-Identifier: Apache-2.0
 *
 * config.h - the numbers of a model, read from its metadata and bounded.
 *
 * The letters are those of docs/SHAPES.md and of every shape comment.  After mn_config_read all of
 * them are within the limits below, so products of any three fit 64 bits and code that indexes by
 * them needs no further check.
 */
#ifndef MN_MODEL_CONFIG_H
#define MN_MODEL_CONFIG_H

#include "base/meta.h"
#include "base/pages.h"
#include "model/arch.h"

enum {
    MN_MAX_LAYERS = 512,
    MN_MAX_EMBD = 65536,
    MN_MAX_HEADS = 1024,
    MN_MAX_HEAD_DIM = 256,      // also a multiple of MN_HEAD_DIM_STEP: what attention kernels take
    MN_HEAD_DIM_STEP = 8,
    MN_MAX_FF = 1 << 20,
    MN_MAX_VOCAB = 1 << 21,
    MN_MAX_CTX = 1 << 24,
};

/* Rotary positions: vector pair i of position p is turned by the angle p * freq[i], and scaled. */
typedef struct mn_rope {
    uint32_t     n;         // rotated dimensions of a head, even, <= P
    const float *freq;      // [n/2] radians per position, scaling applied
    float        scale;     // yarn's attention factor, else 1
    const char  *scaling;   // "none", "linear", "llama3", "yarn"
    double       theta, factor;
} mn_rope;

/* Inputs of matrix products that keep 15 bits, in two int8 planes; the others are rounded to 8. */
enum {
    MN_EXACT_H = 1,   // normalised x: of q, k, v, gate, up and head
    MN_EXACT_O = 2,   // attention's output
    MN_EXACT_G = 4,   // silu(gate) * up
    MN_EXACT_ALL = 7,
};

#define MN_EXACT_KEY "minnow.exact_inputs"

typedef struct mn_config {
    const mn_arch *arch;
    uint32_t       L, D, H, K, P, F, V;   // H a multiple of K
    uint32_t       n_ctx_train;
    float          eps;
    unsigned       exact;                 // MN_EXACT_*: what the file asks for
    mn_rope        rope;
} mn_config;

/* Read and judge the configuration; tables go to `mem`.
 *
 * Errors: MNW_E_UNSUPPORTED for an architecture or a variant minnow does not run, MNW_E_FORMAT for
 * a missing, mistyped or impossible value; both name the key.  MNW_E_NOMEM. */
mnw_status mn_config_read(const mn_content *content, mn_pages *mem, mn_config *c, mn_err *err);

/* The same for the rotary part alone; the rest of `c` is filled in.  (rope_read.c) */
mnw_status mn_rope_read(const mn_content *content, mn_pages *mem, mn_config *c, mn_err *err);

#endif
