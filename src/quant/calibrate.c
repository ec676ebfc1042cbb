/* SPDX-License-Identifier: Apache-2.0
 *
 * calibrate.c - run a text through the model and see which columns of each matrix carry much.
 *
 * An error in a weight moves an output by error times input: so errors in a column cost what the mean square of
 * its input is.  The text is cut into windows, each of which starts a context of its own.
 */
#include <minnow/session.h>
#include <minnow/tokenizer.h>

#include "quant/quant.h"
#include "quant/recorder.h"
#include "run/session.h"

enum { WINDOW = 512, BATCH = 256 };

/* A column that the text never used still costs this much of the mean. */
static const double FLOOR = 0.001;

typedef struct calibration {
    mnw_model   *model;
    mnw_session *session;
    mn_recorder  recorder;
    int32_t     *ids;
    size_t       n, bytes;   // tokens used, and their part of the text
} calibration;

static mnw_status encode(mn_quant *q, calibration *c, mn_err *err)
{
    const mnw_tokenizer *tok = mnw_model_tokenizer(c->model);
    const char          *text = q->opts.calibration;
    const size_t         bytes = q->opts.calibration_bytes ? q->opts.calibration_bytes : strlen(text);
    MN_FAIL_IF(!tok, err, MNW_E_UNSUPPORTED, "calibration: %s has no tokenizer", q->in_path);
    mnw_status st = mnw_tokenizer_encode(tok, text, bytes, 0, NULL, 0, &c->n);
    if (st == MNW_E_BUFFER) {
        c->ids = mn_alloc_zero(&q->ctx->mem, c->n, sizeof *c->ids);
        MN_FAIL_IF(!c->ids, err, MNW_E_NOMEM, "calibration: no memory for %zu tokens", c->n);
        st = mnw_tokenizer_encode(tok, text, bytes, 0, c->ids, c->n, &c->n);
    }
    if (st != MNW_OK) MN_FAIL(err, st, "calibration: %s", mnw_status_text(st));
    MN_FAIL_IF(c->n == 0, err, MNW_E_ARG, "calibration: the text has no tokens");
    const size_t all = c->n;
    if (c->n > q->opts.calibration_tokens) c->n = q->opts.calibration_tokens;
    c->bytes = (size_t)((double)bytes * (double)c->n / (double)all);
    return MNW_OK;
}

static mnw_status open_session(mn_quant *q, calibration *c, mn_err *err)
{
    const mn_config       *config = &c->model->config;
    const uint32_t         most = config->n_ctx_train;
    const mnw_session_opts o = { .size = sizeof o, .n_ctx = most < WINDOW ? most : WINDOW, .n_batch = BATCH };
    MN_TRY(mnw_session_open(c->model, &o, &c->session));
    mn_step *step = &c->session->step;
    MN_TRY(mn_recorder_init(&c->recorder, step->backend, config, BATCH, &q->mem, err));
    step->backend = &c->recorder.base;
    return MNW_OK;
}

/* Progress is counted in bytes of the text. */
static mnw_status progress(mn_quant *q, const calibration *c, size_t at, mn_err *err)
{
    const uint64_t bytes = c->bytes;
    return mn_progress(q->ctx, err, "calibrate", (uint64_t)((double)bytes * (double)at / (double)c->n), bytes);
}

static mnw_status feed(mn_quant *q, calibration *c, mn_err *err)
{
    const size_t window = mnw_session_capacity(c->session);
    for (size_t at = 0; at < c->n; at += window) {
        MN_TRY(progress(q, c, at, err));
        const size_t left = c->n - at;
        MN_TRY(mnw_session_rewind(c->session, 0));
        const mnw_status st = mnw_session_feed(c->session, c->ids + at, left < window ? left : window);
        if (st != MNW_OK) MN_FAIL(err, st, "calibration: %s", mnw_session_error(c->session));
    }
    return progress(q, c, c->n, err);
}

/* Mean squares of an input, with the floor. */
static const float *importance_of(mn_quant *q, const mn_input *in, size_t tokens)
{
    double mean = 0;
    float *h = mn_pages_push(&q->mem, in->n, sizeof *h);
    for (size_t i = 0; i < in->n; i++) mean += in->square[i] / (double)tokens / (double)in->n;
    for (size_t i = 0; i < in->n && h; i++)
        h[i] = (float)(in->square[i] / (double)tokens + FLOOR * mean);
    return h;
}

static mnw_status set_importance(mn_quant *q, const calibration *c, mn_err *err)
{
    for (size_t i = 0; i < q->n; i++) {
        mn_quant_item  *it = &q->item[i];
        const mn_input *in = mn_recorder_input(&c->recorder, &c->model->config, it->from->name);
        if (!in || in->n != it->cols || it->rows == 1) continue;
        if (mn_str_is(it->from->name, "token_embd.weight") && !c->model->weights.tied) continue;
        it->importance = importance_of(q, in, c->n);
        MN_FAIL_IF(!it->importance, err, MNW_E_NOMEM, "%.*s: no memory for its importance",
                   MN_STR(it->from->name));
    }
    return MNW_OK;
}

static mnw_status calibrate(mn_quant *q, calibration *c, mn_err *err)
{
    MN_TRY(mnw_model_open(q->ctx, q->in_path, NULL, &c->model));
    MN_TRY(encode(q, c, err));
    MN_TRY(open_session(q, c, err));
    MN_TRY(feed(q, c, err));
    return set_importance(q, c, err);
}

mnw_status mn_quant_calibrate(mn_quant *q, mn_err *err)
{
    calibration      c = { 0 };
    const mnw_status st = calibrate(q, &c, err);
    mn_free(&q->ctx->mem, c.ids);
    mnw_session_close(c.session);
    mnw_model_close(c.model);
    return st;
}
