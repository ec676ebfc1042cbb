/* SPDX-License-Identifier: Apache-2.0
 *
 * quant.h - the inside of mnw_quantize(): one job, the tensors it writes, and the steps over them.
 *
 *     plan       a type for every tensor, in the order of the new file        (quant_plan.c)
 *     calibrate  what errors in each column cost                              (calibrate.c)
 *     budget     better types for those that gain most, while there is room   (quant_budget.c)
 *     write      layout and head, then rows after rows                        (quant_write.c, quant_encode.c)
 */
#ifndef MN_QUANT_QUANT_H
#define MN_QUANT_QUANT_H

#include <minnow/quantize.h>

#include "base/context.h"
#include "base/pages.h"
#include "format/gguf_write.h"
#include "kernel/q4x.h"

/* One tensor of the new file. */
typedef struct mn_quant_item {
    const mn_tensor *from;
    const mn_dtype  *type;         // in the new file
    const mn_dtype  *wanted;       // NULL, or what it could not have
    bool             fixed;        // a rule chose the type, or there is nothing to choose
    uint64_t         rows, cols;   // all dimensions but the first make rows
    uint64_t         bytes;        // in the new file
    uint32_t         segment;      // of the new file
    const float     *importance;   // [cols], or NULL
    mn_qx_error      error;
} mn_quant_item;

typedef struct mn_quant {
    mnw_ctx          *ctx;
    const char       *in_path;
    mnw_quantize_opts opts;        // defaults filled in
    mn_pages          mem;
    mn_map_file       file;
    mn_content        content;
    mn_quant_item    *item;        // [n], in the order of the new file
    size_t            n;
    bool              native;      // some tensor is: the file is laid out for running in place
    const char       *doing;       // for the progress hook
    uint64_t          done, total; // bytes
} mn_quant;

/* A type by its name; NULL if there is no such type for matrices. */
const mn_dtype *mn_quant_type(const char *name);

/* The next better type of a matrix; NULL if there is none. */
const mn_dtype *mn_quant_better(const mn_dtype *t);

/* Fill q->item. */
mnw_status mn_quant_plan(mn_quant *q, mn_err *err);

/* Give an item a type its shape allows. */
void mn_quant_set_type(mn_quant_item *it, const mn_dtype *type);

/* Spend what the targets leave over. */
mnw_status mn_quant_budget(mn_quant *q, mn_err *err);

/* Bytes the file would take with the types as they are. */
mnw_status mn_quant_size(mn_quant *q, uint64_t *bytes, mn_err *err);

/* Run the calibration text and set importance. */
mnw_status mn_quant_calibrate(mn_quant *q, mn_err *err);

mnw_status mn_quant_write(mn_quant *q, const char *path, mn_err *err);

/* Encode an item; its bytes go to `out`, or nowhere if that is NULL; it->error gets the sums.  stride 1, or
 * n to look at each n-th run of 16 rows only (without out). */
mnw_status mn_quant_encode(mn_quant *q, mn_quant_item *it, mn_gguf_writer *out, size_t stride, mn_err *err);

/* Row r of the tensor as it is now: y [cols]. */
void mn_quant_source_row(float *y, const mn_quant_item *it, size_t r);

/* 10 log10(error / power); -INFINITY without error. */
double mn_quant_decibels(mn_qx_error e);

/* "blk.12.attn_q.weight": its layer and ".attn_q.weight"; false if the name does not begin like that, or the
 * layer is beyond MN_MAX_LAYERS. */
bool mn_layer_of(mn_str name, uint32_t *layer, mn_str *rest);

/* Does the name match?  * is any text, ? any character. */
bool mn_quant_match(const char *glob, mn_str name);

#endif
