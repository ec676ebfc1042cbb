/* SPDX-License-Identifier: Apache-2.0
 *
 * safetensors_write.c - write a safetensors file.
 */
#include "format/safetensors_write.h"

#include <inttypes.h>

#include "base/check.h"
#include "base/cursor.h"
#include "base/out.h"
#include "base/pages.h"
#include "format/limits.h"
#include "format/safetensors.h"

enum { ALIGNMENT = 64 };   // of the data in the file: spaces fill the head up

static bool measure(const mn_tensor *t, uint64_t *bytes)
{
    uint64_t count = 1;
    if (t->n_dims < 1 || t->n_dims > MN_MAX_DIMS) return false;
    for (uint32_t d = 0; d < t->n_dims; d++) {
        if (t->dim[d] == 0 || !mn_mul_u64(count, t->dim[d], &count)) return false;
    }
    return mn_dtype_bytes(t->type, count, bytes);
}

static mnw_status check_list(const mn_tensor *tensor, size_t n, mn_mem *mem, uint64_t *total,
                             mn_err *err)
{
    mn_pages   pages;
    mn_map     seen;
    mnw_status st = MNW_OK;
    *total = 0;
    MN_FAIL_IF(n > MN_MAX_TENSORS, err, MNW_E_LIMIT, "%zu tensors, at most %u", n, MN_MAX_TENSORS);
    mn_pages_init(&pages, mem);
    if (!mn_map_init(&seen, &pages, n)) st = mn_err_set(err, MNW_E_NOMEM, "no memory for %zu names", n);
    for (size_t i = 0; i < n && st == MNW_OK; i++) {
        const mn_tensor *t = &tensor[i];
        uint64_t         bytes;
        if (t->name.n < 1 || t->name.n > MN_MAX_NAME) {
            st = mn_err_set(err, MNW_E_ARG, "tensor %zu: name of %zu bytes, expected 1 to %u", i,
                            t->name.n, MN_MAX_NAME);
        } else if (!mn_safetensors_type_name(t->type->id)) {
            st = mn_err_set(err, MNW_E_ARG, "%.*s: safetensors has no type %s", MN_STR(t->name),
                            t->type->name);
        } else if (!measure(t, &bytes) || !mn_add_u64(*total, bytes, total)) {
            st = mn_err_set(err, MNW_E_ARG, "%.*s: bad shape, expected 1 to %u dimensions, none 0",
                            MN_STR(t->name), MN_MAX_DIMS);
        } else if (mn_map_add(&seen, t->name, (uint32_t)i) != i) {
            st = mn_err_set(err, MNW_E_ARG, "%.*s: listed twice", MN_STR(t->name));
        }
    }
    mn_pages_done(&pages);
    return st;
}

static void render(mn_out *o, const mn_tensor *tensor, size_t n)
{
    uint64_t at = 0;
    mn_out_text(o, "{\"__metadata__\":{\"format\":\"pt\"}");   // transformers insists on it
    for (size_t i = 0; i < n; i++) {
        const mn_tensor *t = &tensor[i];
        uint64_t         bytes = 0;
        measure(t, &bytes);
        mn_out_text(o, ",");
        mn_out_json(o, t->name);
        mn_out_fmt(o, ":{\"dtype\":\"%s\",\"shape\":[", mn_safetensors_type_name(t->type->id));
        for (uint32_t d = t->n_dims; d-- > 0;) {
            mn_out_fmt(o, "%" PRIu64 "%s", t->dim[d], d ? "," : "");
        }
        mn_out_fmt(o, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", at, at + bytes);
        at += bytes;
    }
    mn_out_text(o, "}");
    while ((8 + o->len) % ALIGNMENT != 0) mn_out_text(o, " ");
}

mnw_status mn_safetensors_begin(mn_safetensors_writer *w, mn_mem *mem, const char *path,
                                const mn_tensor *tensor, size_t n, mn_err *err)
{
    MN_FAIL_IF(w->file.fd_1, err, MNW_E_STATE, "%s: the file was begun before", path);
    uint64_t total;
    MN_TRY(check_list(tensor, n, mem, &total, err));
    mn_out o = { 0 };
    render(&o, tensor, n);
    MN_FAIL_IF(o.len > MN_MAX_SAFETENSORS_HEAD, err, MNW_E_LIMIT, "head of %zu bytes, at most %u",
               o.len, MN_MAX_SAFETENSORS_HEAD);
    uint8_t *head = mn_alloc(mem, 8 + o.len);
    MN_FAIL_IF(!head, err, MNW_E_NOMEM, "no memory for a head of %zu bytes", o.len);
    mn_store_u64(head, o.len);
    o = (mn_out){ .buf = (char *)head + 8, .cap = o.len };
    render(&o, tensor, n);
    mnw_status st = mn_out_open(path, &w->file, err);
    if (st == MNW_OK) st = mn_out_write(&w->file, head, 8 + o.len, err);
    mn_free(mem, head);
    w->left = total;
    return st;
}

mnw_status mn_safetensors_put(mn_safetensors_writer *w, const void *p, size_t n, mn_err *err)
{
    MN_FAIL_IF(!w->file.fd_1, err, MNW_E_STATE, "data of a safetensors file that was not begun");
    MN_FAIL_IF(n > w->left, err, MNW_E_ARG, "%zu bytes more, expected at most %" PRIu64, n, w->left);
    MN_TRY(mn_out_write(&w->file, p, n, err));
    w->left -= n;
    return MNW_OK;
}

mnw_status mn_safetensors_finish(mn_safetensors_writer *w, mn_err *err)
{
    MN_FAIL_IF(!w->file.fd_1, err, MNW_E_STATE, "end of a safetensors file that was not begun");
    MN_FAIL_IF(w->left > 0, err, MNW_E_STATE, "%" PRIu64 " bytes of data are missing", w->left);
    return mn_out_commit(&w->file, err);
}

void mn_safetensors_done(mn_safetensors_writer *w)
{
    if (w->file.fd_1) mn_out_abandon(&w->file);
    *w = (mn_safetensors_writer){ 0 };
}
