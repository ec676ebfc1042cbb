/* SPDX-License-Identifier: Apache-2.0
 *
 * job.h - one conversion: what was asked for, and the tensors to move.
 */
#ifndef MN_CONVERT_JOB_H
#define MN_CONVERT_JOB_H

#include <minnow/convert.h>

#include "base/pages.h"
#include "convert/hf_config.h"
#include "convert/transfer.h"

typedef struct mn_job {
    mnw_ctx        *ctx;
    mn_pages        mem;        // everything small
    const char     *in, *out;
    const mn_dtype *type;       // of matrices; NULL = as they are
    mn_transfer    *move;       // [n_moves], in the order of the result
    size_t          n_moves;
} mn_job;

/* The three ways.  Errors: as mnw_convert. */
mnw_status mn_job_hf_to_gguf(mn_job *j, mn_err *err);
mnw_status mn_job_gguf_to_hf(mn_job *j, mn_err *err);
mnw_status mn_job_gguf_to_gguf(mn_job *j, mn_err *err);

/* List the moves from the tensors of a folder to those of a GGUF file, or back.  Each weight of
 * model/weights.def is looked for, checked and renamed; a tensor that is none of them is refused.
 * Vectors become f32 in GGUF, and the matrices' type in a folder if that loses nothing.
 *
 * Errors: MNW_E_FORMAT, MNW_E_UNSUPPORTED name the tensor; MNW_E_NOMEM. */
mnw_status mn_job_plan_to_gguf(mn_job *j, const mn_hf_config *h, const mn_content *from, mn_err *err);
mnw_status mn_job_plan_to_hf(mn_job *j, const mn_hf_config *h, const mn_content *from, mn_err *err);

/* Declare the moves and stream them (job_gguf.c). */
mnw_status mn_job_write_gguf(mn_job *j, mn_gguf_writer *w, mn_err *err);

/* Give the move the type that was asked for, if the shape allows; else a warning. */
mnw_status mn_job_retype(mn_job *j, mn_transfer *m, mn_err *err);

/* Is there a tensor in a native type?  The file must be aligned to MN_NATIVE_ALIGNMENT then. */
bool mn_job_has_native(const mn_job *j);

/* general.file_type for the types of the result. */
uint32_t mn_job_file_type(const mn_job *j);

#endif
