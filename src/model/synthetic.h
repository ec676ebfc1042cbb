/* SPDX-License-Identifier: Apache-2.0
 *
 * synthetic.h - the parts of a model file with random weights: its numbers, its words, its matrices.
 */
#ifndef MN_MODEL_SYNTHETIC_H
#define MN_MODEL_SYNTHETIC_H

#include <minnow/synthetic.h>

#include "base/pages.h"
#include "format/gguf_write.h"

/* Numbers of a model.  D, F and H * P are multiples of 32, V of 16. */
typedef struct mn_shape {
    const char *name, *arch, *pre;   // pre: the pre-tokenizer
    uint32_t    L, D, H, K, P, F, V, n_ctx;
    float       theta, eps;
    unsigned    also;                // MN_SHAPE_*
} mn_shape;

enum {
    MN_SHAPE_BIAS = 1,        // q, k and v have biases
    MN_SHAPE_STRETCHED = 2,   // rope as llama 3.2 has it: factor 32 over 8192 positions
    MN_SHAPE_UNTIED = 4,      // a head of its own
};

/* The shape of this name; NULL if there is none. */
const mn_shape *mn_shape_find(const char *name);

/* Set the metadata of a byte-level tokenizer with V tokens: the bytes, merges of two and of three of
 * them, and MN_CONTROLS control tokens at the end.  Its texts live in `mem`.  (synthetic_vocab.c)
 *
 * Errors: MNW_E_NOMEM. */
enum { MN_CONTROLS = 26 };
mnw_status mn_synthetic_vocab(mn_gguf_writer *w, const mn_shape *s, mn_pages *mem, mn_err *err);

/* The bytes of a matrix with random weights around zero, made piece by piece.  (synthetic_fill.c) */
enum { MN_PIECE = 2 << 20 };   // a panel of the longest rows fits

typedef struct mn_random_matrix {
    const mn_dtype *type;
    uint64_t        rows, cols;
    uint64_t        stream;        // which random numbers
    uint64_t        bytes, done;
    float           deviation;     // of the weights: the root of their mean square
} mn_random_matrix;

/* Can matrices of this type be made? */
bool mn_random_has(const mn_dtype *type);

/* Write the next at most MN_PIECE bytes to buf; returns how many, 0 at the end. */
size_t mn_random_next(mn_random_matrix *m, uint8_t *buf);

#endif
