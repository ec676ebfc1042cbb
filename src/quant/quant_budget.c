/* SPDX-License-Identifier: Apache-2.0
 *
 * quant_budget.c - a better type for the tensors that gain most by it, while the target leaves room.
 *
 * Both errors of a tensor are measured, on all of a small one and on samples of a large one; what counts is
 * how much of the relative error (error over power, weighted by importance) a byte takes away.
 */
#include <inttypes.h>
#include <math.h>

#include "quant/quant.h"

enum { SAMPLES = 64 };   // runs of 16 rows that are looked at, about

typedef struct offer {
    mn_quant_item  *it;
    const mn_dtype *base, *to;
    double          gain;    // relative error less, for a byte
    uint64_t        more;    // bytes
    bool            taken;
} offer;

static double relative(mn_qx_error e)
{
    return e.power > 0 ? e.error / e.power : 0;
}

/* Relative error of an item in its type; runs of 16 rows are looked at in steps of `stride`. */
static mnw_status error_of(mn_quant *q, mn_quant_item *it, size_t stride, double *out, mn_err *err)
{
    const uint64_t before = q->done;
    MN_TRY(mn_quant_encode(q, it, NULL, stride, err));
    q->done = before;
    *out = relative(it->error);
    return MNW_OK;
}

/* The next better type, and the one after it if the first takes away less than 7/8 of the error: where some
 * columns are large and their inputs small, one scale for a row is not enough at 8 bits either. */
static mnw_status measure(mn_quant *q, offer *o, mn_err *err)
{
    mn_quant_item *it = o->it;
    const size_t   runs = (size_t)((it->rows + MN_QX_ROWS - 1) / MN_QX_ROWS);
    const size_t   stride = runs / SAMPLES > 1 ? runs / SAMPLES : 1;
    const uint64_t small = it->bytes;
    double         before, after;
    o->base = it->type;
    MN_TRY(error_of(q, it, stride, &before, err));
    for (const mn_dtype *t = o->base; (t = mn_quant_better(t));) {
        mn_quant_set_type(it, t);
        MN_TRY(error_of(q, it, stride, &after, err));
        const double gain = it->bytes > small ? (before - after) / (double)(it->bytes - small) : 0;
        if (gain > o->gain) {   // never for a tensor that holds no numbers
            o->gain = gain;
            o->to = it->type;
            o->more = it->bytes - small;
        }
        if (after < before / 8) break;
    }
    mn_quant_set_type(it, o->base);
    return MNW_OK;
}

/* The file's room: what both targets leave. */
typedef struct room {
    double   bits_left;     // of target_bpw
    double   bytes_left;    // of target_bytes
} room;

static mnw_status room_of(mn_quant *q, room *r, mn_err *err)
{
    uint64_t file = 0;
    double   values = 0, data = 0;
    for (size_t i = 0; i < q->n; i++) {
        values += (double)q->item[i].rows * (double)q->item[i].cols;
        data += (double)q->item[i].bytes;
    }
    MN_TRY(mn_quant_size(q, &file, err));
    r->bits_left = q->opts.target_bpw > 0 ? q->opts.target_bpw * values - 8 * data : INFINITY;
    r->bytes_left = q->opts.target_bytes ? (double)q->opts.target_bytes - (double)file : INFINITY;
    MN_FAIL_IF(r->bits_left < 0, err, MNW_E_ARG,
               "target of %g bits a weight: %s and what stays as it is take %.3f", q->opts.target_bpw,
               q->opts.type, 8 * data / values);
    MN_FAIL_IF(r->bytes_left < 0, err, MNW_E_ARG,
               "target of %" PRIu64 " bytes: with %s the file has %" PRIu64, q->opts.target_bytes,
               q->opts.type, file);
    return MNW_OK;
}

static offer *best_offer(offer *o, size_t n, const room *r)
{
    offer *best = NULL;
    for (size_t i = 0; i < n; i++) {
        const double more = (double)o[i].more;
        if (o[i].taken || !(o[i].gain > 0) || 8 * more > r->bits_left || more > r->bytes_left) continue;
        if (!best || o[i].gain > best->gain) best = &o[i];
    }
    return best;
}

/* Sizes that were added up forget the gaps between tensors: give back what does not fit. */
static mnw_status give_back(mn_quant *q, offer **taken, size_t n, mn_err *err)
{
    while (q->opts.target_bytes && n > 0) {
        uint64_t file;
        MN_TRY(mn_quant_size(q, &file, err));
        if (file <= q->opts.target_bytes) break;
        n--;
        mn_quant_set_type(taken[n]->it, taken[n]->base);
    }
    return MNW_OK;
}

mnw_status mn_quant_budget(mn_quant *q, mn_err *err)
{
    room r;
    MN_TRY(room_of(q, &r, err));
    offer  *o = mn_pages_push_zero(&q->mem, q->n + 1, sizeof *o);
    offer **taken = mn_pages_push_zero(&q->mem, q->n + 1, sizeof *taken);
    MN_FAIL_IF(!o || !taken, err, MNW_E_NOMEM, "no memory for a list of %zu tensors", q->n);
    size_t n = 0, n_taken = 0;
    for (size_t i = 0; i < q->n; i++) {
        if (!q->item[i].fixed && mn_quant_better(q->item[i].type)) o[n++].it = &q->item[i];
    }
    q->doing = "measure";
    q->done = q->total = 0;
    for (size_t i = 0; i < n; i++) q->total += o[i].it->bytes;
    for (size_t i = 0; i < n; i++) {
        MN_TRY(measure(q, &o[i], err));
        q->done += o[i].it->bytes;
    }
    for (offer *b; (b = best_offer(o, n, &r)); n_taken++) {
        b->taken = true;
        taken[n_taken] = b;
        mn_quant_set_type(b->it, b->to);
        r.bits_left -= 8 * (double)b->more;
        r.bytes_left -= (double)b->more;
    }
    return give_back(q, taken, n_taken, err);
}
