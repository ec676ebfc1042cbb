/* SPDX-License-Identifier: Apache-2.0
 *
 * safetensors_write.h - write a safetensors file: the list of tensors first, then stream their data.
 *
 *     mn_safetensors_writer w = { 0 };
 *     MN_TRY(mn_safetensors_begin(&w, mem, path, tensor, n, err));
 *     MN_TRY(mn_safetensors_put(&w, data, bytes, err));       // tensor after tensor, in any pieces
 *     MN_TRY(mn_safetensors_finish(&w, err));                 // the file appears
 *     mn_safetensors_done(&w);                                // on every way out
 */
#ifndef MN_FORMAT_SAFETENSORS_WRITE_H
#define MN_FORMAT_SAFETENSORS_WRITE_H

#include "base/alloc.h"
#include "base/meta.h"
#include "base/os.h"

typedef struct mn_safetensors_writer {
    mn_out_file file;
    uint64_t    left;    // bytes of data still to come
} mn_safetensors_writer;

/* Open the file and write its head.  Of each tensor name, type, n_dims and dim are used; data follows
 * in the order of the list.
 *
 * Errors: MNW_E_ARG for a type safetensors does not have, a bad shape, a name used twice;
 *         MNW_E_LIMIT, MNW_E_NOMEM, MNW_E_IO. */
mnw_status mn_safetensors_begin(mn_safetensors_writer *w, mn_mem *mem, const char *path,
                                const mn_tensor *tensor, size_t n, mn_err *err);

/* Append data.  Errors: MNW_E_ARG for more than was announced; MNW_E_IO. */
mnw_status mn_safetensors_put(mn_safetensors_writer *w, const void *p, size_t n, mn_err *err);

/* Make the file appear.  Errors: MNW_E_STATE if data is missing; MNW_E_IO. */
mnw_status mn_safetensors_finish(mn_safetensors_writer *w, mn_err *err);

/* An unfinished file disappears.  A zeroed writer is fine. */
void mn_safetensors_done(mn_safetensors_writer *w);

#endif
