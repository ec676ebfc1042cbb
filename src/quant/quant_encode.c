/* SPDX-License-Identifier: Apache-2.0
 *
 * quant_encode.c - a tensor in its new type, some rows at a time, on all threads.
 *
 * Rows go in runs of 16, a panel of the native formats.  A batch of runs is read, encoded by the threads, each
 * run into its own place, and written in order; errors are added up in order too.  So nothing depends on
 * the number of threads, and memory holds a batch, not a tensor.
 */
#include <math.h>
#include <string.h>

#include "kernel/kernels.h"
#include "kernel/quantize.h"
#include "quant/quant.h"

enum {
    RUN = MN_QX_ROWS,
    BATCH_BYTES = 4 << 20,   // of f32 rows, about
};

typedef struct batch {
    const mn_quant_item *it;
    size_t               runs, stride;     // encodes runs first, first + stride, ...
    size_t               first;
    size_t               run_bytes;        // in the new type; native: its scales too
    float               *w;                // [runs, RUN, cols]
    uint8_t             *out;              // [runs, run_bytes]
    mn_qx_error         *error;            // [runs]
} batch;

void mn_quant_source_row(float *y, const mn_quant_item *it, size_t r)
{
    const mn_tensor *t = it->from;
    const size_t     rows = (size_t)it->rows, cols = (size_t)it->cols;
    if (t->type->id == MN_Q4X) {
        mn_q4x_row(y, t->data, rows, cols, r);
    } else if (t->type->id == MN_Q8X) {
        mn_q8x_row(y, t->data, rows, cols, r);
    } else {
        const size_t row_bytes = cols / t->type->block * t->type->block_bytes;
        mn_dequantize(y, t->data + r * row_bytes, t->type->id, cols);
    }
}

/* Rows of a run: 16, or what is left. */
static size_t rows_of(const mn_quant_item *it, size_t run)
{
    const size_t left = (size_t)it->rows - run * RUN;
    return left < RUN ? left : RUN;
}

static void encode_run(const batch *b, size_t i)
{
    const mn_quant_item *it = b->it;
    const size_t         run = b->first + i * b->stride, n = rows_of(it, run), cols = (size_t)it->cols;
    float               *w = b->w + i * RUN * cols;
    uint8_t             *out = b->out + i * b->run_bytes;
    for (size_t r = 0; r < n; r++) mn_quant_source_row(w + r * cols, it, run * RUN + r);

    if (it->type->native) {
        (it->type->id == MN_Q4X ? mn_q4x_quantize : mn_q8x_quantize)(out, n, cols, 0, w, cols,
                                                                      it->importance, &b->error[i]);
        return;
    }
    const size_t row_bytes = cols / it->type->block * it->type->block_bytes;
    for (size_t r = 0; r < n; r++)
        mn_quantize(out + r * row_bytes, it->type->id, w + r * cols, cols, it->importance, &b->error[i]);
}

static void job(void *user, mn_team *team)
{
    const batch *b = user;
    for (size_t i = team->id; i < b->runs; i += team->count) encode_run(b, i);
}

/* Panels follow the scales of all rows: these are gathered, and written over their place at the end. */
static mnw_status put_native(const batch *b, mn_gguf_writer *out, uint8_t *scales, mn_err *err)
{
    for (size_t i = 0; i < b->runs; i++) {
        const uint8_t *p = b->out + i * b->run_bytes;
        memcpy(scales + (b->first + i) * MN_QX_LINE, p, MN_QX_LINE);
        MN_TRY(mn_gguf_put(out, p + MN_QX_LINE, b->run_bytes - MN_QX_LINE, err));
    }
    return MNW_OK;
}

static mnw_status put_rows(const batch *b, mn_gguf_writer *out, mn_err *err)
{
    for (size_t i = 0; i < b->runs; i++) {
        const size_t n = rows_of(b->it, b->first + i);
        MN_TRY(mn_gguf_put(out, b->out + i * b->run_bytes, b->run_bytes / RUN * n, err));
    }
    return MNW_OK;
}

static mnw_status walk(mn_quant *q, mn_quant_item *it, batch *b, mn_gguf_writer *out, uint8_t *scales,
                       mn_err *err)
{
    const size_t   runs = ((size_t)it->rows + RUN - 1) / RUN, most = b->runs;
    const bool     native = it->type->native;
    const uint64_t begin = out ? out->file.written : 0, before = q->done;
    if (out && native) MN_TRY(mn_gguf_put(out, scales, runs * MN_QX_LINE, err));
    for (b->first = 0; b->first < runs; b->first += most * b->stride) {
        const size_t left = (runs - b->first + b->stride - 1) / b->stride;
        b->runs = left < most ? left : most;
        memset(b->error, 0, b->runs * sizeof *b->error);
        mn_pool_run(q->ctx->pool, job, b);
        for (size_t i = 0; i < b->runs; i++) {
            it->error.error += b->error[i].error;
            it->error.power += b->error[i].power;
        }
        if (out) MN_TRY(native ? put_native(b, out, scales, err) : put_rows(b, out, err));
        q->done = before + (uint64_t)((double)it->bytes * (double)(b->first / b->stride + b->runs) /
                                      ((double)(runs - 1) / (double)b->stride + 1));
        MN_TRY(mn_progress(q->ctx, err, q->doing, q->done < q->total ? q->done : q->total, q->total));
    }
    q->done = before + it->bytes;
    if (out && native) MN_TRY(mn_out_write_at(&out->file, begin, scales, runs * MN_QX_LINE, err));
    return MNW_OK;
}

mnw_status mn_quant_encode(mn_quant *q, mn_quant_item *it, mn_gguf_writer *out, size_t stride, mn_err *err)
{
    mn_mem      *mem = &q->ctx->mem;
    const size_t cols = (size_t)it->cols, runs = ((size_t)it->rows + RUN - 1) / RUN;
    size_t       most = BATCH_BYTES / (RUN * cols * sizeof(float));
    if (most < q->ctx->threads) most = q->ctx->threads;
    if (most > runs) most = runs;

    uint64_t run_bytes = 0;
    mn_dtype_matrix_bytes(it->type, RUN, it->cols, &run_bytes);
    batch b = { .it = it, .runs = most, .stride = stride, .run_bytes = (size_t)run_bytes };
    b.w = mn_alloc_zero(mem, most * RUN, cols * sizeof *b.w);
    b.out = mn_alloc_zero(mem, most, b.run_bytes);
    b.error = mn_alloc_zero(mem, most, sizeof *b.error);
    uint8_t   *scales = mn_alloc_zero(mem, runs, MN_QX_LINE);
    mnw_status st = MNW_OK;
    it->error = (mn_qx_error){ 0, 0 };
    if (!b.w || !b.out || !b.error || !scales)
        st = mn_err_set(err, MNW_E_NOMEM, "%.*s: no memory for %zu rows", MN_STR(it->from->name), most * RUN);
    if (st == MNW_OK) st = walk(q, it, &b, out, scales, err);
    mn_free(mem, scales);
    mn_free(mem, b.error);
    mn_free(mem, b.out);
    mn_free(mem, b.w);
    return st;
}
