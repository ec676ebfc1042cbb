/* SPDX-License-Identifier: Apache-2.0
 *
 * gguf.c - read GGUF in two passes: check all of the head without taking memory, then build the
 * directory.  So a forged count costs nothing but the walk to the first byte that is not there.
 */
#include "format/gguf.h"

#include <inttypes.h>

#include "base/check.h"
#include "base/cursor.h"
#include "format/limits.h"
#include "format/native_dir.h"
#include "format/order.h"

enum { MIN_ITEM = 8 + 4 + 1, MIN_TENSOR = 8 + 4 + 8 + 4 + 8 };   // bytes with an empty name

_Static_assert(MN_MAX_DIMS <= sizeof((mn_tensor){ 0 }.dim) / sizeof(uint64_t),
               "mn_tensor has no room for more");

typedef struct reader {
    mn_bytes  file;
    mn_cursor c;           // ends where the head must have ended
    uint64_t  n_items, n_tensors;
    mn_err   *err;
} reader;

/* The cursor ran out: the file is short, or the head is longer than we read. */
static mnw_status ends_early(const reader *r, const char *where, uint64_t i, uint64_t n,
                             uint64_t at)
{
    MN_FAIL_IF(r->file.n > MN_MAX_HEAD_BYTES, r->err, MNW_E_LIMIT,
               "%s %" PRIu64 " of %" PRIu64 " at offset %" PRIu64
               ": the head exceeds %u bytes", where, i, n, at, MN_MAX_HEAD_BYTES);
    MN_FAIL(r->err, MNW_E_FORMAT, "%s %" PRIu64 " of %" PRIu64 " at offset %" PRIu64
            ": the file ends early, at %zu bytes", where, i, n, at, r->file.n);
}

static mnw_status read_start(reader *r)
{
    mn_err        *err = r->err;
    const uint8_t *magic = mn_cursor_take(&r->c, 4);
    MN_FAIL_IF(!magic, err, MNW_E_FORMAT, "the file has %zu bytes, too few for a GGUF file",
               r->file.n);
    MN_FAIL_IF(memcmp(magic, "GGUF", 4) != 0, err, MNW_E_FORMAT,
               "the file starts with %02x %02x %02x %02x, expected \"GGUF\"", magic[0], magic[1],
               magic[2], magic[3]);
    const uint32_t version = mn_cursor_u32(&r->c);
    r->n_tensors = mn_cursor_u64(&r->c);
    r->n_items = mn_cursor_u64(&r->c);
    MN_FAIL_IF(version != 0 && (version & 0xFFFF) == 0, err, MNW_E_UNSUPPORTED,
               "GGUF in big-endian byte order, expected little-endian");
    MN_FAIL_IF(version == 1, err, MNW_E_UNSUPPORTED,
               "GGUF version 1, expected 2 or 3 (convert the file anew)");
    MN_FAIL_IF(!r->c.bad && version != 2 && version != 3, err, MNW_E_UNSUPPORTED,
               "GGUF version %" PRIu32 ", expected 2 or 3", version);
    MN_FAIL_IF(r->c.bad, err, MNW_E_FORMAT, "the file ends early, at %zu bytes", r->file.n);

    MN_FAIL_IF(r->n_tensors > MN_MAX_TENSORS, err, MNW_E_LIMIT, "%" PRIu64 " tensors, at most %u",
               r->n_tensors, MN_MAX_TENSORS);
    MN_FAIL_IF(r->n_items > MN_MAX_ITEMS, err, MNW_E_LIMIT,
               "%" PRIu64 " metadata items, at most %u", r->n_items, MN_MAX_ITEMS);
    const uint64_t least = r->n_items * MIN_ITEM + r->n_tensors * MIN_TENSOR;
    MN_FAIL_IF(least > mn_cursor_left(&r->c), err, MNW_E_FORMAT,
               "%" PRIu64 " metadata items and %" PRIu64 " tensors do not fit into %zu bytes",
               r->n_items, r->n_tensors, r->file.n);
    return MNW_OK;
}

/* A key or name: 1 to MN_MAX_NAME bytes. */
static mnw_status read_name(reader *r, const char *kind, const char *where, uint64_t i, uint64_t n,
                            mn_str *out)
{
    const uint64_t at = mn_cursor_offset(&r->c), length = mn_cursor_u64(&r->c);
    MN_FAIL_IF(!r->c.bad && length == 0, r->err, MNW_E_FORMAT,
               "%s %" PRIu64 " of %" PRIu64 ": empty %s at offset %" PRIu64, where, i, n, kind, at);
    MN_FAIL_IF(length > MN_MAX_NAME, r->err, MNW_E_LIMIT,
               "%s %" PRIu64 " of %" PRIu64 ": %s of %" PRIu64 " bytes at offset %" PRIu64
               ", at most %u", where, i, n, kind, length, at, MN_MAX_NAME);
    *out = mn_cursor_text(&r->c, length);
    return r->c.bad ? ends_early(r, where, i, n, at) : MNW_OK;
}

/* Step over one text; false when it is too long or not there. */
static bool skip_text(mn_cursor *c)
{
    const uint64_t n = mn_cursor_u64(c);
    return n <= MN_MAX_STRING && mn_cursor_take(c, n);
}

static mnw_status bad_text(const reader *r, const mn_meta_item *m, uint64_t at, uint64_t i)
{
    mn_cursor c = mn_cursor_of(r->file);
    mn_cursor_take(&c, at);
    const uint64_t n = mn_cursor_u64(&c);
    MN_FAIL_IF(n > MN_MAX_STRING, r->err, MNW_E_LIMIT,
               "%.*s: text %" PRIu64 " at offset %" PRIu64 " has %" PRIu64 " bytes, at most %u",
               MN_STR(m->key), i, at, n, MN_MAX_STRING);
    MN_FAIL(r->err, r->file.n > MN_MAX_HEAD_BYTES ? MNW_E_LIMIT : MNW_E_FORMAT,
            "%.*s: text %" PRIu64 " of %" PRIu64 " bytes at offset %" PRIu64
            " goes beyond the end at %" PRIu64, MN_STR(m->key), i, n, at,
            (uint64_t)(r->c.end - r->c.start));
}

/* `count` values of type `type`, which are no arrays. */
static mnw_status read_values(reader *r, mn_meta_item *m, mn_meta_type type, uint64_t count)
{
    const uint64_t at = mn_cursor_offset(&r->c);
    m->data = r->c.at;
    if (type == MN_META_STR) {
        for (uint64_t i = 0; i < count; i++) {
            const uint64_t text_at = mn_cursor_offset(&r->c);
            if (!skip_text(&r->c)) return bad_text(r, m, text_at, i);
        }
    } else {
        const uint64_t bytes = count * mn_meta_type_bytes(type);   // both are small
        const uint8_t *p = mn_cursor_take(&r->c, bytes);
        MN_FAIL_IF(!p, r->err, r->file.n > MN_MAX_HEAD_BYTES ? MNW_E_LIMIT : MNW_E_FORMAT,
                   "%.*s: value of %" PRIu64 " bytes at offset %" PRIu64
                   " goes beyond the end at %" PRIu64, MN_STR(m->key), bytes, at,
                   (uint64_t)(r->c.end - r->c.start));
        for (uint64_t i = 0; type == MN_META_BOOL && i < count; i++) {
            MN_FAIL_IF(p[i] > 1, r->err, MNW_E_FORMAT,
                       "%.*s: bool at offset %" PRIu64 " is %u, expected 0 or 1", MN_STR(m->key),
                       at + i, p[i]);
        }
    }
    m->bytes = mn_cursor_offset(&r->c) - at;
    return MNW_OK;
}

static mnw_status read_item(reader *r, uint64_t i, mn_meta_item *m)
{
    mn_err *err = r->err;
    *m = (mn_meta_item){ .count = 1 };
    MN_TRY(read_name(r, "key", "metadata item", i, r->n_items, &m->key));
    const uint64_t at = mn_cursor_offset(&r->c);
    const uint32_t type = mn_cursor_u32(&r->c);
    if (r->c.bad) return ends_early(r, "metadata item", i, r->n_items, at);
    MN_FAIL_IF(type >= MN_META_TYPES, err, MNW_E_FORMAT,
               "%.*s: unknown value type %" PRIu32 " at offset %" PRIu64, MN_STR(m->key), type, at);
    m->type = (mn_meta_type)type;
    if (m->type != MN_META_ARRAY) return read_values(r, m, m->type, 1);

    const uint32_t elem = mn_cursor_u32(&r->c);
    m->count = mn_cursor_u64(&r->c);
    if (r->c.bad) return ends_early(r, "metadata item", i, r->n_items, at);
    MN_FAIL_IF(elem == MN_META_ARRAY, err, MNW_E_UNSUPPORTED,
               "%.*s: array of arrays at offset %" PRIu64, MN_STR(m->key), at);
    MN_FAIL_IF(elem >= MN_META_TYPES, err, MNW_E_FORMAT,
               "%.*s: array of unknown type %" PRIu32 " at offset %" PRIu64, MN_STR(m->key), elem,
               at);
    MN_FAIL_IF(m->count > MN_MAX_ARRAY, err, MNW_E_LIMIT,
               "%.*s: array of %" PRIu64 " elements at offset %" PRIu64 ", at most %u",
               MN_STR(m->key), m->count, at, MN_MAX_ARRAY);
    m->elem = (mn_meta_type)elem;
    return read_values(r, m, m->elem, m->count);
}

/* One record of the directory; `offset` is still relative to the data. */
static mnw_status read_tensor(reader *r, uint64_t i, mn_tensor *t)
{
    mn_err *err = r->err;
    *t = (mn_tensor){ .dim = { 1, 1, 1, 1 } };
    MN_TRY(read_name(r, "name", "tensor", i, r->n_tensors, &t->name));
    const uint64_t at = mn_cursor_offset(&r->c);
    t->n_dims = mn_cursor_u32(&r->c);
    MN_FAIL_IF(t->n_dims > MN_MAX_DIMS, err, MNW_E_LIMIT,
               "%.*s: %" PRIu32 " dimensions at offset %" PRIu64 ", at most %u", MN_STR(t->name),
               t->n_dims, at, MN_MAX_DIMS);
    for (uint32_t d = 0; d < t->n_dims; d++) t->dim[d] = mn_cursor_u64(&r->c);
    const uint32_t type = mn_cursor_u32(&r->c);
    t->offset = mn_cursor_u64(&r->c);
    if (r->c.bad) return ends_early(r, "tensor", i, r->n_tensors, at);

    MN_FAIL_IF(t->n_dims == 0, err, MNW_E_FORMAT, "%.*s: no dimensions, at offset %" PRIu64,
               MN_STR(t->name), at);
    uint64_t count = 1;
    for (uint32_t d = 0; d < t->n_dims; d++) {
        MN_FAIL_IF(t->dim[d] == 0, err, MNW_E_FORMAT,
                   "%.*s: dimension %" PRIu32 " is 0, at offset %" PRIu64, MN_STR(t->name), d, at);
        MN_FAIL_IF(!mn_mul_u64(count, t->dim[d], &count), err, MNW_E_FORMAT,
                   "%.*s: the number of elements overflows, at offset %" PRIu64, MN_STR(t->name),
                   at);
    }
    t->type = mn_dtype_from_id(type);
    MN_FAIL_IF(!t->type, err, MNW_E_UNSUPPORTED,
               "%.*s: tensor type %s (number %" PRIu32 ") is not supported, at offset %" PRIu64,
               MN_STR(t->name), mn_dtype_gguf_name(type), type, at);
    MN_FAIL_IF(t->dim[0] % t->type->block != 0, err, MNW_E_FORMAT,
               "%.*s: rows of %" PRIu64 " elements, %s needs a multiple of %" PRIu32
               ", at offset %" PRIu64, MN_STR(t->name), t->dim[0], t->type->name, t->type->block,
               at);
    MN_FAIL_IF(!mn_dtype_bytes(t->type, count, &t->bytes), err, MNW_E_FORMAT,
               "%.*s: the size of %" PRIu64 " %s elements overflows, at offset %" PRIu64,
               MN_STR(t->name), count, t->type->name, at);
    return MNW_OK;
}

static mnw_status check_alignment(const mn_content *c, uint64_t *alignment, mn_err *err)
{
    MN_TRY(mn_meta_u64(c, "general.alignment", UINT64_MAX, MN_GGUF_ALIGNMENT, alignment, err));
    const uint64_t a = *alignment;
    MN_FAIL_IF(a < MN_GGUF_MIN_ALIGNMENT || (a & (a - 1)) != 0, err, MNW_E_FORMAT,
               "general.alignment: %" PRIu64 ", expected a power of two, at least %d", a,
               MN_GGUF_MIN_ALIGNMENT);
    MN_FAIL_IF(a > MN_MAX_FILE_ALIGNMENT, err, MNW_E_LIMIT, "general.alignment: %" PRIu64
               ", at most %u", a, MN_MAX_FILE_ALIGNMENT);
    return MNW_OK;
}

static mnw_status place(const reader *r, mn_tensor *t, uint64_t alignment, uint64_t data_at)
{
    MN_FAIL_IF(t->offset % alignment != 0, r->err, MNW_E_FORMAT,
               "%.*s: data offset %" PRIu64 " is no multiple of the alignment %" PRIu64,
               MN_STR(t->name), t->offset, alignment);
    uint64_t begin, end;
    MN_FAIL_IF(!mn_add_u64(data_at, t->offset, &begin) || !mn_add_u64(begin, t->bytes, &end) ||
                   end > r->file.n,
               r->err, MNW_E_FORMAT,
               "%.*s: %" PRIu64 " bytes at data offset %" PRIu64 " (data starts at %" PRIu64
               ") go beyond the file's %zu bytes", MN_STR(t->name), t->bytes, t->offset, data_at,
               r->file.n);
    t->offset = begin;
    t->data = r->file.p + begin;
    return MNW_OK;
}

static mnw_status check_overlap(const mn_content *c, mn_pages *mem, mn_err *err)
{
    if (c->n_tensors == 0) return MNW_OK;
    const uint32_t *at = mn_tensors_by_offset(c, mem);
    MN_FAIL_IF(!at, err, MNW_E_NOMEM, "no memory for the order of %zu tensors", c->n_tensors);
    for (size_t i = 1; i < c->n_tensors; i++) {
        const mn_tensor *a = &c->tensor[at[i - 1]], *b = &c->tensor[at[i]];
        MN_FAIL_IF(a->offset + a->bytes > b->offset, err, MNW_E_FORMAT,
                   "%.*s at offset %" PRIu64 " overlaps %.*s, which ends at %" PRIu64,
                   MN_STR(b->name), b->offset, MN_STR(a->name), a->offset + a->bytes);
    }
    return MNW_OK;
}

/* Pass 1: every record is whole and within the limits. */
static mnw_status check_head(reader r)
{
    mn_meta_item item;
    mn_tensor    tensor;
    for (uint64_t i = 0; i < r.n_items; i++) MN_TRY(read_item(&r, i, &item));
    for (uint64_t i = 0; i < r.n_tensors; i++) MN_TRY(read_tensor(&r, i, &tensor));
    return MNW_OK;
}

/* Pass 2: keep them. */
static mnw_status build(reader *r, mn_pages *mem, mn_content *out)
{
    mn_err *err = r->err;
    out->item = mn_pages_push(mem, (size_t)r->n_items, sizeof *out->item);
    out->tensor = mn_pages_push(mem, (size_t)r->n_tensors, sizeof *out->tensor);
    MN_FAIL_IF(!out->item || !out->tensor ||
                   !mn_map_init(&out->item_by_key, mem, (size_t)r->n_items) ||
                   !mn_map_init(&out->tensor_by_name, mem, (size_t)r->n_tensors),
               err, MNW_E_NOMEM, "no memory for %" PRIu64 " metadata items and %" PRIu64 " tensors",
               r->n_items, r->n_tensors);

    for (uint32_t i = 0; i < r->n_items; i++) {
        const uint64_t at = mn_cursor_offset(&r->c);
        mn_meta_item  *m = &out->item[i];
        MN_TRY(read_item(r, i, m));
        MN_FAIL_IF(mn_map_add(&out->item_by_key, m->key, i) != i, err, MNW_E_FORMAT,
                   "%.*s: the key appears twice, again at offset %" PRIu64, MN_STR(m->key), at);
        out->n_items++;
    }
    uint64_t alignment;
    MN_TRY(check_alignment(out, &alignment, err));

    for (uint32_t i = 0; i < r->n_tensors; i++) {
        const uint64_t at = mn_cursor_offset(&r->c);
        mn_tensor     *t = &out->tensor[i];
        MN_TRY(read_tensor(r, i, t));
        MN_FAIL_IF(mn_map_add(&out->tensor_by_name, t->name, i) != i, err, MNW_E_FORMAT,
                   "%.*s: the tensor appears twice, again at offset %" PRIu64, MN_STR(t->name), at);
        out->n_tensors++;
    }
    out->head_bytes = mn_cursor_offset(&r->c);

    uint64_t data_at;
    MN_FAIL_IF(!mn_round_up_u64(out->head_bytes, alignment, &data_at), err, MNW_E_FORMAT,
               "the start of the data overflows");
    for (size_t i = 0; i < out->n_tensors; i++) {
        MN_TRY(place(r, &out->tensor[i], alignment, data_at));
    }
    MN_TRY(check_overlap(out, mem, err));
    return mn_native_read(out, r->file.n, err);
}

mnw_status mn_gguf_read(mn_bytes file, mn_pages *mem, mn_content *out, mn_err *err)
{
    *out = (mn_content){ 0 };
    const size_t head = file.n < MN_MAX_HEAD_BYTES ? file.n : MN_MAX_HEAD_BYTES;
    reader       r = { .file = file, .c = mn_cursor_of((mn_bytes){ file.p, head }), .err = err };
    MN_TRY(read_start(&r));
    MN_TRY(check_head(r));
    const mnw_status st = build(&r, mem, out);
    if (st != MNW_OK) *out = (mn_content){ 0 };
    return st;
}
