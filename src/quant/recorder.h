/* SPDX-License-Identifier: Apache-2.0
 *
 * recorder.h - a backend around another that remembers what goes into each matrix product.
 *
 * A session's step is pointed at it after it was opened, so that sessions without it pay nothing.  Threads
 * share the columns, and tokens are added in order: the sums do not depend on the number of threads.
 */
#ifndef MN_QUANT_RECORDER_H
#define MN_QUANT_RECORDER_H

#include "model/backend.h"

enum { MN_INPUT_QKV, MN_INPUT_O, MN_INPUT_FF, MN_INPUT_DOWN, MN_INPUTS };   // of a layer

/* The input of some products. */
typedef struct mn_input {
    size_t  n;        // columns
    double *square;   // [n]  sums of squares over the tokens
} mn_input;

typedef struct mn_recorder {
    mn_backend        base;    // first: what a step's backend points at
    const mn_backend *inner;
    mn_input         *input;   // [L * MN_INPUTS + 1], that of the head last
    float            *h;       // [T, ld]  normalised rows
    size_t            ld;
} mn_recorder;

/* Record the steps of up to T tokens of a model; memory comes from `mem`.
 *
 * Errors: MNW_E_NOMEM. */
mnw_status mn_recorder_init(mn_recorder *r, const mn_backend *inner, const mn_config *c, size_t T,
                            mn_pages *mem, mn_err *err);

/* The input of the products with a tensor; NULL if it is none that is multiplied. */
const mn_input *mn_recorder_input(const mn_recorder *r, const mn_config *c, mn_str tensor);

#endif
