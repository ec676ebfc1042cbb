/* SPDX-License-Identifier: Apache-2.0
 *
 * safetensors.c - read the head of a safetensors file in two passes: check and count, then build.
 */
#include "format/safetensors.h"

#include <inttypes.h>

#include "base/check.h"
#include "base/cursor.h"
#include "base/json.h"
#include "format/limits.h"
#include "format/order.h"

static const struct {
    const char *name;
    mn_dtype_id id;
} TYPES[] = {
    { "F32", MN_F32 }, { "F16", MN_F16 }, { "BF16", MN_BF16 }, { "I8", MN_I8 }, { "I32", MN_I32 },
};

typedef struct reader {
    mn_bytes  file;
    uint64_t  data_at;
    mn_json   j;
    mn_pages *mem;       // pass 2: where to keep things; NULL in pass 1
    uint64_t  n_items, n_tensors;
    mn_err   *err;
} reader;

const char *mn_safetensors_type_name(mn_dtype_id id)
{
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
        if (TYPES[i].id == id) return TYPES[i].name;
    }
    return NULL;
}

static mnw_status bad_json(const reader *r)
{
    return mn_json_fail(&r->j, "head", r->err);
}

/* The last key or string: where the file has it, or unescaped in `buf` (pass 1) or in memory. */
static mnw_status read_text(reader *r, char *buf, size_t cap, mn_str *out)
{
    *out = r->j.raw;
    if (!r->j.escaped) return MNW_OK;
    if (r->mem) buf = mn_pages_push(r->mem, cap = r->j.raw.n + 1, 1);
    MN_FAIL_IF(!buf, r->err, MNW_E_NOMEM, "no memory for a name of %zu bytes", r->j.raw.n);
    *out = (mn_str){ buf, mn_json_text(&r->j, buf, cap) };
    return MNW_OK;
}

/* A list of at most `max` whole numbers. */
static mnw_status read_numbers(reader *r, const mn_tensor *t, const char *what, uint64_t *v,
                               uint32_t max, uint32_t *n)
{
    *n = 0;
    if (mn_json_next(&r->j) != MN_JSON_ARRAY) {
        if (r->j.fault) return bad_json(r);
        MN_FAIL(r->err, MNW_E_FORMAT, "%.*s: %s: expected a list", MN_STR(t->name), what);
    }
    for (;;) {
        int64_t             x;
        const mn_json_event event = mn_json_next(&r->j);
        if (event == MN_JSON_ARRAY_END) return MNW_OK;
        if (event == MN_JSON_ERROR) return bad_json(r);
        MN_FAIL_IF(event != MN_JSON_NUMBER || !mn_json_i64(&r->j, &x) || x < 0, r->err,
                   MNW_E_FORMAT, "%.*s: %s: entry %" PRIu32 " is not a whole number",
                   MN_STR(t->name), what, *n);
        MN_FAIL_IF(*n == max, r->err, MNW_E_LIMIT, "%.*s: %s: more than %" PRIu32 " entries",
                   MN_STR(t->name), what, max);
        v[(*n)++] = (uint64_t)x;
    }
}

static mnw_status read_type(reader *r, mn_tensor *t)
{
    if (mn_json_next(&r->j) != MN_JSON_STRING) {
        if (r->j.fault) return bad_json(r);
        MN_FAIL(r->err, MNW_E_FORMAT, "%.*s: dtype: expected a text", MN_STR(t->name));
    }
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
        if (mn_json_key_is(&r->j, TYPES[i].name)) t->type = mn_dtype_from_id(TYPES[i].id);
    }
    MN_FAIL_IF(!t->type, r->err, MNW_E_UNSUPPORTED,
               "%.*s: dtype %.*s is not supported (F32, F16, BF16, I8 and I32 are)",
               MN_STR(t->name), MN_STR(r->j.raw));
    return MNW_OK;
}

/* Shape and offsets, as the file has them, become dimensions and a place in the file. */
static mnw_status place(reader *r, mn_tensor *t, const uint64_t *shape, const uint64_t range[2])
{
    mn_err  *err = r->err;
    uint64_t count = 1;
    for (uint32_t d = 0; d < t->n_dims; d++) {
        t->dim[d] = shape[t->n_dims - 1 - d];
        MN_FAIL_IF(t->dim[d] == 0, err, MNW_E_UNSUPPORTED, "%.*s: an empty tensor, dimension %"
                   PRIu32 " is 0", MN_STR(t->name), t->n_dims - 1 - d);
        MN_FAIL_IF(!mn_mul_u64(count, t->dim[d], &count), err, MNW_E_FORMAT,
                   "%.*s: the number of elements overflows", MN_STR(t->name));
    }
    if (t->n_dims == 0) t->n_dims = 1;
    MN_FAIL_IF(!mn_dtype_bytes(t->type, count, &t->bytes), err, MNW_E_FORMAT,
               "%.*s: the size of %" PRIu64 " %s elements overflows", MN_STR(t->name), count,
               t->type->name);
    const uint64_t room = r->file.n - r->data_at;
    MN_FAIL_IF(range[1] < range[0] || range[1] - range[0] != t->bytes, err, MNW_E_FORMAT,
               "%.*s: data_offsets %" PRIu64 " to %" PRIu64 ", but %" PRIu64 " %s elements take %"
               PRIu64 " bytes", MN_STR(t->name), range[0], range[1], count, t->type->name, t->bytes);
    MN_FAIL_IF(range[1] > room, err, MNW_E_FORMAT,
               "%.*s: data_offsets %" PRIu64 " to %" PRIu64 " go beyond the data's %" PRIu64
               " bytes", MN_STR(t->name), range[0], range[1], room);
    t->offset = r->data_at + range[0];
    t->data = r->file.p + t->offset;
    return MNW_OK;
}

/* {"dtype": .., "shape": .., "data_offsets": ..} of the key just read. */
static mnw_status read_tensor(reader *r, mn_tensor *t)
{
    enum { DTYPE = 1, SHAPE = 2, OFFSETS = 4, ALL = 7 };
    char     buf[MN_MAX_NAME];
    unsigned seen = 0;
    uint64_t shape[MN_MAX_DIMS], range[2];
    uint32_t n_range = 0;
    *t = (mn_tensor){ .dim = { 1, 1, 1, 1 } };
    MN_FAIL_IF(r->j.raw.n == 0, r->err, MNW_E_FORMAT, "tensor %" PRIu64 ": empty name",
               r->n_tensors);
    MN_FAIL_IF(r->j.raw.n > MN_MAX_NAME, r->err, MNW_E_LIMIT,
               "tensor %" PRIu64 ": name of %zu bytes, at most %u", r->n_tensors, r->j.raw.n,
               MN_MAX_NAME);
    MN_TRY(read_text(r, buf, sizeof buf, &t->name));
    if (mn_json_next(&r->j) != MN_JSON_OBJECT) {
        if (r->j.fault) return bad_json(r);
        MN_FAIL(r->err, MNW_E_FORMAT, "%.*s: expected an object", MN_STR(t->name));
    }
    while (mn_json_next(&r->j) == MN_JSON_KEY) {
        const unsigned field = mn_json_key_is(&r->j, "dtype")          ? DTYPE
                               : mn_json_key_is(&r->j, "shape")        ? SHAPE
                               : mn_json_key_is(&r->j, "data_offsets") ? OFFSETS
                                                                       : 0;
        MN_FAIL_IF(seen & field, r->err, MNW_E_FORMAT, "%.*s: %.*s appears twice",
                   MN_STR(t->name), MN_STR(r->j.raw));
        seen |= field;
        if (field == DTYPE) MN_TRY(read_type(r, t));
        else if (field == SHAPE) MN_TRY(read_numbers(r, t, "shape", shape, MN_MAX_DIMS, &t->n_dims));
        else if (field == OFFSETS) MN_TRY(read_numbers(r, t, "data_offsets", range, 2, &n_range));
        else if (!mn_json_skip(&r->j)) return bad_json(r);
    }
    if (r->j.fault) return bad_json(r);
    MN_FAIL_IF(seen != ALL || n_range != 2, r->err, MNW_E_FORMAT,
               "%.*s: %s is missing or incomplete", MN_STR(t->name),
               !(seen & DTYPE) ? "dtype" : !(seen & SHAPE) ? "shape" : "data_offsets");
    return place(r, t, shape, range);
}

/* {"key": "text", ...}: in pass 2 to items of *out. */
static mnw_status read_metadata(reader *r, mn_content *out)
{
    if (mn_json_next(&r->j) != MN_JSON_OBJECT) {
        if (r->j.fault) return bad_json(r);
        MN_FAIL(r->err, MNW_E_FORMAT, "__metadata__: expected an object");
    }
    while (mn_json_next(&r->j) == MN_JSON_KEY) {
        char   buf[MN_MAX_NAME];
        mn_str key, value;
        MN_FAIL_IF(r->j.raw.n > MN_MAX_NAME, r->err, MNW_E_LIMIT,
                   "__metadata__: key of %zu bytes, at most %u", r->j.raw.n, MN_MAX_NAME);
        MN_TRY(read_text(r, buf, sizeof buf, &key));
        if (mn_json_next(&r->j) != MN_JSON_STRING) {
            if (r->j.fault) return bad_json(r);
            MN_FAIL(r->err, MNW_E_FORMAT, "__metadata__: %.*s: expected a text", MN_STR(key));
        }
        MN_FAIL_IF(r->j.raw.n > MN_MAX_STRING, r->err, MNW_E_LIMIT,
                   "__metadata__: %.*s: text of %zu bytes, at most %u", MN_STR(key), r->j.raw.n,
                   MN_MAX_STRING);
        MN_FAIL_IF(r->n_items == MN_MAX_ITEMS, r->err, MNW_E_LIMIT,
                   "__metadata__: more than %u entries", MN_MAX_ITEMS);
        r->n_items++;
        if (!r->mem) continue;
        uint8_t *data = mn_pages_push(r->mem, 8 + r->j.raw.n, 1);
        MN_FAIL_IF(!data, r->err, MNW_E_NOMEM, "no memory for __metadata__");
        value = (mn_str){ (char *)data + 8, mn_json_text(&r->j, (char *)data + 8, r->j.raw.n) };
        mn_store_u64(data, value.n);
        const uint32_t i = (uint32_t)out->n_items;
        out->item[i] = (mn_meta_item){ .key = key, .type = MN_META_STR, .count = 1, .data = data,
                                       .bytes = 8 + value.n };
        MN_FAIL_IF(mn_map_add(&out->item_by_key, key, i) != i, r->err, MNW_E_FORMAT,
                   "__metadata__: %.*s appears twice", MN_STR(key));
        out->n_items++;
    }
    return r->j.fault ? bad_json(r) : MNW_OK;
}

/* Walk over the head; in pass 2 fill *out. */
static mnw_status read_entries(reader *r, mn_content *out)
{
    bool metadata = false;
    r->n_items = r->n_tensors = 0;
    if (mn_json_next(&r->j) != MN_JSON_OBJECT) {
        if (r->j.fault) return bad_json(r);
        MN_FAIL(r->err, MNW_E_FORMAT, "head: expected an object");
    }
    while (mn_json_next(&r->j) == MN_JSON_KEY) {
        if (mn_json_key_is(&r->j, "__metadata__")) {
            MN_FAIL_IF(metadata, r->err, MNW_E_FORMAT, "__metadata__ appears twice");
            metadata = true;
            MN_TRY(read_metadata(r, out));
            continue;
        }
        MN_FAIL_IF(r->n_tensors == MN_MAX_TENSORS, r->err, MNW_E_LIMIT, "more than %u tensors",
                   MN_MAX_TENSORS);
        mn_tensor t;
        MN_TRY(read_tensor(r, &t));
        r->n_tensors++;
        if (!r->mem) continue;
        const uint32_t i = (uint32_t)out->n_tensors;
        out->tensor[i] = t;
        MN_FAIL_IF(mn_map_add(&out->tensor_by_name, t.name, i) != i, r->err, MNW_E_FORMAT,
                   "%.*s: the tensor appears twice", MN_STR(t.name));
        out->n_tensors++;
    }
    if (r->j.fault || mn_json_next(&r->j) != MN_JSON_END) return bad_json(r);
    return MNW_OK;
}

/* The tensors must fill the data exactly. */
static mnw_status check_tiling(const reader *r, const mn_content *c, mn_pages *mem)
{
    uint64_t        at = r->data_at;
    const uint32_t *order = mn_tensors_by_offset(c, mem);
    MN_FAIL_IF(!order, r->err, MNW_E_NOMEM, "no memory for the order of %zu tensors", c->n_tensors);
    for (size_t i = 0; i < c->n_tensors; i++) {
        const mn_tensor *t = &c->tensor[order[i]];
        MN_FAIL_IF(t->offset < at, r->err, MNW_E_FORMAT,
                   "%.*s at offset %" PRIu64 " overlaps the tensor that ends at %" PRIu64,
                   MN_STR(t->name), t->offset, at);
        MN_FAIL_IF(t->offset > at, r->err, MNW_E_FORMAT,
                   "%.*s: a hole of %" PRIu64 " bytes in front of it, at offset %" PRIu64,
                   MN_STR(t->name), t->offset - at, at);
        at += t->bytes;
    }
    MN_FAIL_IF(at != r->file.n, r->err, MNW_E_FORMAT,
               "%" PRIu64 " bytes after the last tensor, at offset %" PRIu64, r->file.n - at, at);
    return MNW_OK;
}

static mnw_status read_file(reader *r, mn_pages *mem, mn_content *out)
{
    mn_err   *err = r->err;
    mn_cursor c = mn_cursor_of(r->file);
    const uint64_t n = mn_cursor_u64(&c);
    MN_FAIL_IF(c.bad, err, MNW_E_FORMAT, "the file has %zu bytes, too few for a safetensors file",
               r->file.n);
    MN_FAIL_IF(n > MN_MAX_SAFETENSORS_HEAD, err, MNW_E_LIMIT,
               "head of %" PRIu64 " bytes, at most %u (is this a safetensors file?)", n,
               MN_MAX_SAFETENSORS_HEAD);
    const uint8_t *head = mn_cursor_take(&c, n);
    MN_FAIL_IF(!head, err, MNW_E_FORMAT, "head of %" PRIu64 " bytes in a file of %zu", n,
               r->file.n);
    r->data_at = 8 + n;
    mn_json_init(&r->j, (mn_bytes){ head, (size_t)n });
    const mn_json start = r->j;
    MN_TRY(read_entries(r, out));

    r->mem = mem;
    out->item = mn_pages_push(mem, (size_t)r->n_items, sizeof *out->item);
    out->tensor = mn_pages_push(mem, (size_t)r->n_tensors, sizeof *out->tensor);
    MN_FAIL_IF(!out->item || !out->tensor ||
                   !mn_map_init(&out->item_by_key, mem, (size_t)r->n_items) ||
                   !mn_map_init(&out->tensor_by_name, mem, (size_t)r->n_tensors),
               err, MNW_E_NOMEM, "no memory for %" PRIu64 " tensors", r->n_tensors);
    r->j = start;
    MN_TRY(read_entries(r, out));
    out->head_bytes = r->data_at;
    return check_tiling(r, out, mem);
}

mnw_status mn_safetensors_read(mn_bytes file, mn_pages *mem, mn_content *out, mn_err *err)
{
    *out = (mn_content){ 0 };
    reader           r = { .file = file, .err = err };
    const mnw_status st = read_file(&r, mem, out);
    if (st != MNW_OK) *out = (mn_content){ 0 };
    return st;
}
