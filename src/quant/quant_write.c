/* SPDX-License-Identifier: Apache-2.0
 *
 * quant_write.c - the new file: its head, its layout, its checksums.
 *
 * A file with native types is laid out for running in place (docs/FORMAT.md): data at a page that may be a huge
 * one, each segment at a page, every tensor followed by bytes that may be read.
 */
#include <string.h>

#include "base/cursor.h"
#include "base/sha256.h"
#include "format/segments.h"
#include "quant/quant.h"

enum {
    ALIGNMENT = 128,
    PAGE = 16 << 10,          // of phones
    HUGE_PAGE = 2 << 20,
    HUGE_FROM = 32 << 20,     // bytes of data: a smaller file should not become twice as large
    COPY_BYTES = 1 << 20,
};

/* A file on its way: where its segments lie, and where the head says so. */
typedef struct output {
    mn_gguf_writer w;
    uint64_t      *begin;         // [n + 1], from the start of the data; then of the file
    uint8_t       *digest;        // [n, MN_SHA256_BYTES]
    size_t         n;
    uint64_t       place_at, digest_at;
    const uint8_t *bytes;         // of the file when it is written
} output;

/* The number other programs know a file's main type by (general.file_type); -1 if there is none. */
static int file_type(const mn_dtype *t)
{
    switch (t->id) {
    case MN_F32: return 0;
    case MN_F16: return 1;
    case MN_Q4_0: return 2;
    case MN_Q4_1: return 3;
    case MN_Q8_0: return 7;
    case MN_Q5_0: return 8;
    case MN_Q5_1: return 9;
    case MN_Q4_K: return 14;
    case MN_Q5_K: return 16;
    case MN_Q6_K: return 18;
    case MN_BF16: return 32;
    default: return -1;
    }
}

static bool is_ours(mn_str key)
{
    static const char *const OURS[] = { "general.alignment", "general.file_type",
                                        "general.quantization_version", MN_GGUF_PADDING };
    for (size_t i = 0; i < sizeof OURS / sizeof *OURS; i++) {
        if (mn_str_is(key, OURS[i])) return true;
    }
    return mn_str_starts(key, mn_str_of(MN_SEGMENTS_PREFIX));
}

static void describe(mn_quant *q, mn_gguf_writer *w)
{
    if (q->native) mn_gguf_align(w, ALIGNMENT);
    for (size_t i = 0; i < q->content.n_items; i++) {
        if (!is_ours(q->content.item[i].key)) mn_gguf_copy(w, &q->content.item[i]);
    }
    const int type = file_type(mn_quant_type(q->opts.type));
    if (type >= 0) mn_gguf_set_u32(w, "general.file_type", (uint32_t)type);
    mn_gguf_set_u32(w, "general.quantization_version", 2);
}

/* Say everything: what mn_gguf_begin() then writes. */
static mnw_status declare(mn_quant *q, output *o, mn_pages *mem, mn_err *err)
{
    mn_gguf_writer *w = &o->w;
    mn_gguf_init(w, &q->ctx->mem);
    o->n = q->native && q->n > 0 ? (size_t)q->item[q->n - 1].segment + 1 : 0;
    o->begin = mn_pages_push_zero(mem, o->n + 1, sizeof *o->begin);
    o->digest = mn_pages_push_zero(mem, o->n + 1, MN_SHA256_BYTES);
    MN_FAIL_IF(!o->begin || !o->digest, err, MNW_E_NOMEM, "no memory for %zu segments", o->n);

    describe(q, w);
    if (o->n > 0) {
        o->place_at = mn_gguf_reserve(w, MN_SEGMENTS, MN_META_U64, 2 * o->n);
        o->digest_at = mn_gguf_reserve(w, MN_SEGMENTS_SHA256, MN_META_U8, MN_SHA256_BYTES * o->n);
    }
    for (size_t i = 0; i < q->n; i++) {
        const mn_quant_item *it = &q->item[i];
        const mn_tensor     *t = it->from;
        if (o->n > 0 && (i == 0 || it->segment != q->item[i - 1].segment)) {
            mn_gguf_place(w, PAGE);
            o->begin[it->segment] = w->data_bytes;
        }
        mn_gguf_declare(w, t->name, it->type, t->n_dims, t->dim);
    }
    o->begin[o->n] = w->data_bytes;
    if (o->n > 0) mn_gguf_place_data(w, w->data_bytes >= HUGE_FROM ? HUGE_PAGE : PAGE);
    return MNW_OK;
}

mnw_status mn_quant_size(mn_quant *q, uint64_t *bytes, mn_err *err)
{
    output   o = { 0 };
    mn_pages mem;
    mn_pages_init(&mem, &q->ctx->mem);
    mnw_status st = declare(q, &o, &mem, err);
    if (st == MNW_OK) st = mn_gguf_bytes(&o.w, bytes, err);
    mn_gguf_done(&o.w);
    mn_pages_done(&mem);
    return st;
}

/* A tensor that stays as it is. */
static mnw_status copy(mn_quant *q, mn_quant_item *it, mn_gguf_writer *w, mn_err *err)
{
    const mn_tensor *t = it->from;
    it->error = (mn_qx_error){ 0, 1 };
    for (uint64_t at = 0; at < t->bytes; at += COPY_BYTES) {
        const uint64_t left = t->bytes - at;
        MN_TRY(mn_gguf_put(w, t->data + at, left < COPY_BYTES ? (size_t)left : COPY_BYTES, err));
        MN_TRY(mn_progress(q->ctx, err, q->doing, q->done + at, q->total));
    }
    q->done += it->bytes;
    return MNW_OK;
}

static void report(const mn_quant *q, const mn_quant_item *it)
{
    char   name[256 + 1] = "";
    mn_str n = it->from->name;
    if (!q->opts.report) return;
    memcpy(name, n.p, n.n < sizeof name ? n.n : sizeof name - 1);
    const mnw_quantize_result r = {
        .size = sizeof r,
        .name = name,
        .from = it->from->type->name,
        .to = it->type->name,
        .wanted = it->wanted ? it->wanted->name : NULL,
        .rows = it->rows,
        .cols = it->cols,
        .bytes = it->bytes,
        .bits = 8.0 * (double)it->bytes / ((double)it->rows * (double)it->cols),
        .error_db = mn_quant_decibels(it->error),
    };
    q->opts.report(q->opts.report_user, &r);
}

/* Digests of the segments, dealt out among the threads. */
static void digest_job(void *user, mn_team *team)
{
    const output *o = user;
    for (size_t i = team->id; i < o->n; i += team->count) {
        mn_sha256 sha;
        mn_sha256_init(&sha);
        mn_sha256_add(&sha, o->bytes + o->begin[i], (size_t)(o->begin[i + 1] - o->begin[i]));
        mn_sha256_final(&sha, o->digest + i * MN_SHA256_BYTES);
    }
}

/* Read the data back and put places and digests into the head. */
static mnw_status seal(mn_quant *q, output *o, mn_err *err)
{
    mn_map_file file = { 0 };
    for (size_t i = 0; i <= o->n; i++) o->begin[i] += o->w.data_at;
    MN_TRY(mn_os_map_fd(o->w.file.fd_1 - 1, 0, 0, false, &q->ctx->mem, &file, err));
    o->bytes = file.bytes.p;
    mn_pool_run(q->ctx->pool, digest_job, o);
    mn_os_unmap(&file);
    for (size_t i = 0; i < o->n; i++) {
        uint8_t place[16];
        mn_store_u64(place, o->begin[i]);
        mn_store_u64(place + 8, o->begin[i + 1] - o->begin[i]);
        MN_TRY(mn_out_write_at(&o->w.file, o->place_at + 16 * i, place, sizeof place, err));
    }
    return mn_out_write_at(&o->w.file, o->digest_at, o->digest, o->n * MN_SHA256_BYTES, err);
}

static mnw_status write_data(mn_quant *q, output *o, mn_err *err)
{
    q->doing = "quantize";
    q->done = q->total = 0;
    for (size_t i = 0; i < q->n; i++) q->total += q->item[i].bytes;
    for (size_t i = 0; i < q->n; i++) {
        mn_quant_item *it = &q->item[i];
        const bool     same = it->type->id == it->from->type->id;
        MN_TRY(same ? copy(q, it, &o->w, err) : mn_quant_encode(q, it, &o->w, 1, err));
        report(q, it);
    }
    if (o->n > 0) MN_TRY(seal(q, o, err));
    MN_TRY(mn_gguf_finish(&o->w, err));
    return mn_progress(q->ctx, err, q->doing, q->total, q->total);
}

mnw_status mn_quant_write(mn_quant *q, const char *path, mn_err *err)
{
    output     o = { 0 };
    mnw_status st = declare(q, &o, &q->mem, err);
    if (st == MNW_OK) st = mn_gguf_begin(&o.w, path, err);
    if (st == MNW_OK) st = write_data(q, &o, err);
    mn_gguf_done(&o.w);
    return st;
}
