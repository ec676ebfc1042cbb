/* SPDX-License-Identifier: Apache-2.0
 *
 * transfer.h - one tensor on its way from a file to another: its new name, type and order of rows.
 *
 * Data stream through one small buffer; pages of the source are given back as they are done with, so
 * that the memory of a conversion does not grow with the model.
 */
#ifndef MN_CONVERT_TRANSFER_H
#define MN_CONVERT_TRANSFER_H

#include "base/context.h"
#include "base/meta.h"

typedef enum mn_move {
    MN_MOVE_PLAIN,
    MN_MOVE_TO_PAIRS,    // of each head: rows 0, n/2, 1, n/2 + 1, ...     (to GGUF's llama)
    MN_MOVE_TO_HALVES,   // and back: rows 0, 2, 4, ..., then 1, 3, 5, ...
    MN_MOVE_ADD_ONE,     // to each value
    MN_MOVE_SUB_ONE,
} mn_move;

typedef struct mn_transfer {
    const mn_tensor *from;
    mn_tensor        to;      // name, type, shape
    mn_move          move;
    uint32_t         heads;   // of the two orders of rows
} mn_transfer;

/* Where data go, in pieces, in order. */
typedef mnw_status mn_put_fn(void *user, const void *p, size_t n, mn_err *err);

typedef struct mn_mover {
    mnw_ctx   *ctx;
    uint8_t   *buf;           // pieces of the result
    float     *values;        // a piece of a row
    mn_put_fn *put;
    void      *user;
    uint64_t   done, total;   // bytes of results: progress
} mn_mover;

/* Can values of one type become values of the other here? */
bool mn_transfer_possible(const mn_dtype *from, const mn_dtype *to);

/* Can a tensor of this shape be stored in this type: rows of whole blocks, matrices for native ones? */
bool mn_transfer_fits(const mn_tensor *t, const mn_dtype *to);

/* Does every value of a tensor survive being stored as `id`, a floating type, after the move? */
bool mn_transfer_exact(const mn_transfer *t, mn_dtype_id id);

/* Take the buffers; mn_mover_done also on failure.  Errors: MNW_E_NOMEM. */
mnw_status mn_mover_init(mn_mover *m, mnw_ctx *ctx, mn_put_fn *put, void *user, mn_err *err);
void       mn_mover_done(mn_mover *m);

/* Bytes that the transfer will put. */
uint64_t mn_transfer_bytes(const mn_transfer *t);

/* Move one tensor.  A native one is made whole in memory, on all threads of the context.
 *
 * Errors: MNW_E_UNSUPPORTED for a value that f16 cannot hold; MNW_E_FORMAT for one that is not finite where
 *         the new type has none such; MNW_E_NOMEM; MNW_E_CANCELLED; what `put` says. */
mnw_status mn_mover_run(mn_mover *m, const mn_transfer *t, mn_err *err);

#endif
