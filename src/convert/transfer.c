/* SPDX-License-Identifier: Apache-2.0
 *
 * transfer.c - stream a tensor, converting as it goes.
 */
#include "convert/transfer.h"

#include <inttypes.h>
#include <math.h>

#include "base/cursor.h"
#include "base/native.h"
#include "kernel/kernels.h"
#include "kernel/quantize.h"

enum {
    BUFFER = 4 << 20,         // bytes of results put at once
    PIECE = MN_QX_MAX_COLS,   // values of a row converted at once; whole blocks, whole native rows
};

static bool is_float(mn_dtype_id id)
{
    return id == MN_F32 || id == MN_F16 || id == MN_BF16;
}

/* A tensor as rows of what lies together.  A vector of biases has one row per value where rows change
 * places. */
typedef struct shape {
    uint64_t rows, cols;
} shape;

static shape shape_of(const mn_transfer *t)
{
    const mn_tensor *s = t->from;
    shape            v = { s->dim[1] * s->dim[2] * s->dim[3], s->dim[0] };
    const bool       reorders = t->move == MN_MOVE_TO_PAIRS || t->move == MN_MOVE_TO_HALVES;
    if (reorders && v.rows == 1) v = (shape){ v.cols, 1 };
    return v;
}

bool mn_transfer_possible(const mn_dtype *from, const mn_dtype *to)
{
    const bool numbers = from->id != MN_I8 && from->id != MN_I32;
    return from == to || (numbers && (to->native || mn_can_quantize(to->id)));
}

bool mn_transfer_fits(const mn_tensor *t, const mn_dtype *to)
{
    if (!to->native) return t->dim[0] % to->block == 0;
    return t->dim[0] <= MN_QX_MAX_COLS && t->dim[2] == 1 && t->dim[3] == 1;
}

uint64_t mn_transfer_bytes(const mn_transfer *t)
{
    uint64_t    bytes = 0;
    const shape s = shape_of(t);
    mn_dtype_matrix_bytes(t->to.type, s.rows, s.cols, &bytes);
    return bytes;
}

mnw_status mn_mover_init(mn_mover *m, mnw_ctx *ctx, mn_put_fn *put, void *user, mn_err *err)
{
    *m = (mn_mover){ .ctx = ctx, .put = put, .user = user };
    m->buf = mn_alloc(&ctx->mem, BUFFER);
    m->values = mn_alloc(&ctx->mem, PIECE * sizeof *m->values);
    MN_FAIL_IF(!m->buf || !m->values, err, MNW_E_NOMEM, "buffers of %d bytes", BUFFER);
    return MNW_OK;
}

void mn_mover_done(mn_mover *m)
{
    if (!m->ctx) return;
    mn_free(&m->ctx->mem, m->values);
    mn_free(&m->ctx->mem, m->buf);
    *m = (mn_mover){ 0 };
}

static mnw_status put(mn_mover *m, const void *p, size_t n, mn_err *err)
{
    MN_TRY(m->put(m->user, p, n, err));
    m->done += n;
    return mn_progress(m->ctx, err, "convert", m->done, m->total);
}

/* Nothing changes: straight from the mapping. */
static mnw_status copy(mn_mover *m, const mn_transfer *t, mn_err *err)
{
    const uint8_t *p = t->from->data;
    for (uint64_t left = t->from->bytes; left > 0;) {
        const size_t n = left < BUFFER ? (size_t)left : BUFFER;
        MN_TRY(put(m, p, n, err));
        mn_os_dont_need(p, n);
        p += n;
        left -= n;
    }
    return MNW_OK;
}

/* Which row of the source becomes row r. */
static uint64_t source_row(const mn_transfer *t, uint64_t rows, uint64_t r)
{
    if (t->move != MN_MOVE_TO_PAIRS && t->move != MN_MOVE_TO_HALVES) return r;
    const uint64_t head = rows / t->heads, half = head / 2, in = r % head;
    const uint64_t from = t->move == MN_MOVE_TO_PAIRS ? in % 2 * half + in / 2
                                                      : in % half * 2 + in / half;
    return r - in + from;
}

/* n values of row r of the source from column c on; n and c are whole blocks or the row's rest. */
static void load(const mn_transfer *t, shape s, uint64_t r, uint64_t c, size_t n, float *y)
{
    const mn_dtype *type = t->from->type;
    if (type->native) {   // such rows fit one piece: c is 0
        if (type->id == MN_Q4X) mn_q4x_row(y, t->from->data, s.rows, s.cols, r);
        else mn_q8x_row(y, t->from->data, s.rows, s.cols, r);
    } else {
        const uint64_t at = r * s.cols + c;
        mn_dequantize(y, t->from->data + at / type->block * type->block_bytes, type->id, n);
    }
    const float add = t->move == MN_MOVE_ADD_ONE ? 1.0f : t->move == MN_MOVE_SUB_ONE ? -1.0f : 0.0f;
    if (add != 0.0f) {
        for (size_t i = 0; i < n; i++) y[i] += add;
    }
}

static mnw_status not_finite(const mn_transfer *t, mn_err *err)
{
    MN_FAIL(err, MNW_E_FORMAT, "%.*s: a value is not finite, which %s cannot hold", MN_STR(t->from->name),
            t->to.type->name);
}

static size_t bytes_of(const mn_dtype *type, size_t values)
{
    return values / type->block * type->block_bytes;
}

/* Values in a type of GGUF files, little-endian. */
static mnw_status store(const mn_transfer *t, const float *x, size_t n, uint8_t *out, mn_err *err)
{
    const mn_dtype_id id = t->to.type->id;
    if (!is_float(id)) {
        mn_qx_error lost = { 0 };
        mn_quantize(out, id, x, n, NULL, &lost);
        return isnan(lost.error) ? not_finite(t, err) : MNW_OK;
    }
    for (size_t i = 0; i < n; i++) {
        if (id == MN_F32) {
            uint32_t u;
            memcpy(&u, &x[i], sizeof u);
            mn_store_u32(out + 4 * i, u);
            continue;
        }
        const uint16_t h = id == MN_F16 ? mn_f32_to_f16(x[i]) : mn_f32_to_bf16(x[i]);
        MN_FAIL_IF(id == MN_F16 && (h & 0x7FFF) == 0x7C00 && isfinite(x[i]), err, MNW_E_UNSUPPORTED,
                   "%.*s: the value %g does not fit into f16 (bf16 and f32 hold it)",
                   MN_STR(t->from->name), (double)x[i]);
        out[2 * i] = (uint8_t)h;
        out[2 * i + 1] = (uint8_t)(h >> 8);
    }
    return MNW_OK;
}

/* Rows change places, or values their type. */
static mnw_status convert(mn_mover *m, const mn_transfer *t, mn_err *err)
{
    const shape  s = shape_of(t);
    const bool   same = t->from->type == t->to.type && t->move < MN_MOVE_ADD_ONE;
    size_t       used = 0;
    uint64_t     clean = 0;   // bytes of the source that were given back
    for (uint64_t r = 0; r < s.rows; r++) {
        const uint64_t from = source_row(t, s.rows, r);
        size_t         n;
        for (uint64_t c = 0; c < s.cols; c += n) {
            n = s.cols - c < PIECE ? (size_t)(s.cols - c) : PIECE;
            const size_t bytes = bytes_of(t->to.type, n);
            if (used + bytes > BUFFER) {
                MN_TRY(put(m, m->buf, used, err));
                used = 0;
                const uint64_t read = t->from->bytes / s.rows * r;
                if (from == r && !t->from->type->native) {
                    mn_os_dont_need(t->from->data + clean, (size_t)(read - clean));
                    clean = read;
                }
            }
            if (same) {
                memcpy(m->buf + used, t->from->data + bytes_of(t->from->type, from * s.cols + c), bytes);
            } else {
                load(t, s, from, c, n, m->values);
                MN_TRY(store(t, m->values, n, m->buf + used, err));
            }
            used += bytes;
        }
    }
    MN_TRY(put(m, m->buf, used, err));
    mn_os_dont_need(t->from->data, (size_t)t->from->bytes);
    return MNW_OK;
}

/* What the threads need to make a native tensor. */
typedef struct native_job {
    const mn_transfer *t;
    shape              s;
    uint8_t           *out;
    float             *rows;   // [threads, 16, cols]
    mn_qx_error       *lost;   // [threads]
} native_job;

static void make_panels(void *user, mn_team *team)
{
    const native_job *j = user;
    float            *rows = j->rows + team->id * MN_QX_ROWS * j->s.cols;
    size_t            begin, end;
    mn_split(mn_qx_panels(j->s.rows), 1, team, &begin, &end);
    for (size_t p = begin; p < end; p++) {
        for (size_t i = 0; i < MN_QX_ROWS && MN_QX_ROWS * p + i < j->s.rows; i++) {
            load(j->t, j->s, source_row(j->t, j->s.rows, MN_QX_ROWS * p + i), 0, j->s.cols,
                 rows + i * j->s.cols);
        }
        (j->t->to.type->id == MN_Q4X ? mn_q4x_quantize : mn_q8x_quantize)(
            j->out, j->s.rows, j->s.cols, p, rows, j->s.cols, NULL, &j->lost[team->id]);
    }
}

static mnw_status make_native(mn_mover *m, const mn_transfer *t, mn_err *err)
{
    mn_mem        *mem = &m->ctx->mem;
    const uint64_t bytes = mn_transfer_bytes(t);
    const size_t   threads = m->ctx->threads;
    native_job     j = { .t = t, .s = shape_of(t), .out = mn_alloc_zero(mem, 1, (size_t)bytes) };
    j.rows = mn_alloc(mem, threads * MN_QX_ROWS * (size_t)j.s.cols * sizeof *j.rows);
    j.lost = mn_alloc_zero(mem, threads, sizeof *j.lost);
    mnw_status st = MNW_OK;
    if (!j.out || !j.rows || !j.lost) {
        st = mn_err_set(err, MNW_E_NOMEM, "%.*s: %" PRIu64 " bytes", MN_STR(t->from->name), bytes);
    } else {
        mn_pool_run(m->ctx->pool, make_panels, &j);
        for (size_t i = 0; i < threads && st == MNW_OK; i++) {
            if (isnan(j.lost[i].error)) st = not_finite(t, err);
        }
        mn_os_dont_need(t->from->data, (size_t)t->from->bytes);
    }
    for (uint64_t at = 0, n; at < bytes && st == MNW_OK; at += n) {
        n = bytes - at < BUFFER ? bytes - at : BUFFER;
        st = put(m, j.out + at, (size_t)n, err);
    }
    mn_free(mem, j.lost);
    mn_free(mem, j.rows);
    mn_free(mem, j.out);
    return st;
}

mnw_status mn_mover_run(mn_mover *m, const mn_transfer *t, mn_err *err)
{
    if (t->move == MN_MOVE_PLAIN && t->from->type == t->to.type) return copy(m, t, err);
    if (t->to.type->native) return make_native(m, t, err);
    return convert(m, t, err);
}

bool mn_transfer_exact(const mn_transfer *t, mn_dtype_id id)
{
    enum { FEW = 256 };   // whole blocks of every type
    float       x[FEW];
    const shape s = shape_of(t);
    if (t->from->type->native) return false;
    for (uint64_t r = 0; r < s.rows; r++) {
        size_t n;
        for (uint64_t c = 0; c < s.cols; c += n) {
            n = s.cols - c < FEW ? (size_t)(s.cols - c) : FEW;
            load(t, s, r, c, n, x);
            for (size_t i = 0; i < n; i++) {
                const float back = id == MN_F16    ? mn_f16_to_f32(mn_f32_to_f16(x[i]))
                                   : id == MN_BF16 ? mn_bf16_to_f32(mn_f32_to_bf16(x[i]))
                                                   : x[i];
                if (!(back == x[i])) return false;
            }
        }
    }
    return true;
}
