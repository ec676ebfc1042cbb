/* SPDX-License-Identifier: Apache-2.0
 *
 * gguf_write.c - write GGUF version 3.
 *
 * Items and directory are gathered as the bytes the file will have: beginning it is a copy.
 */
#include "format/gguf_write.h"

#include <inttypes.h>

#include "base/check.h"
#include "base/cursor.h"
#include "base/native.h"
#include "base/pages.h"
#include "format/gguf.h"
#include "format/limits.h"
#include "format/native_dir.h"

enum {
    HEADER = 24,
    SIZES = 24,   // bytes of a record in `sizes`
    DIR_TAIL = 8 + 4 + 8,   // of a record in `dir`, from its last dimension on
};

void mn_gguf_init(mn_gguf_writer *w, mn_mem *mem)
{
    *w = (mn_gguf_writer){ .mem = mem, .alignment = MN_GGUF_ALIGNMENT };
}

/* Room for n more bytes at the end of a buffer; NULL records the failure. */
static uint8_t *extend(mn_gguf_writer *w, mn_gguf_buffer *b, size_t n)
{
    if (w->err.code != MNW_OK) return NULL;
    if (n > b->cap - b->n) {
        size_t want, cap;
        if (!mn_add_size(b->n, n, &want) || !mn_mul_size(want, 2, &cap)) cap = 0;
        uint8_t *p = cap ? mn_realloc(w->mem, b->p, cap) : NULL;
        if (!p) {
            mn_err_set(&w->err, MNW_E_NOMEM, "no memory for the head of a GGUF file");
            return NULL;
        }
        b->p = p;
        b->cap = cap;
    }
    uint8_t *at = b->p + b->n;
    b->n += n;
    return at;
}

static void add_bytes(mn_gguf_writer *w, mn_gguf_buffer *b, const void *p, size_t n)
{
    uint8_t *to = extend(w, b, n);
    if (to && n) memcpy(to, p, n);
}

static void add_u32(mn_gguf_writer *w, mn_gguf_buffer *b, uint32_t v)
{
    uint8_t *to = extend(w, b, 4);
    if (to) mn_store_u32(to, v);
}

static void add_u64(mn_gguf_writer *w, mn_gguf_buffer *b, uint64_t v)
{
    uint8_t *to = extend(w, b, 8);
    if (to) mn_store_u64(to, v);
}

static void add_text(mn_gguf_writer *w, mn_gguf_buffer *b, mn_str s)
{
    add_u64(w, b, s.n);
    add_bytes(w, b, s.p, s.n);
}

static bool name_fits(mn_gguf_writer *w, const char *kind, mn_str name)
{
    if (name.n >= 1 && name.n <= MN_MAX_NAME) return true;
    mn_err_set(&w->err, MNW_E_ARG, "%s \"%.*s\" has %zu bytes, expected 1 to %u", kind,
               MN_STR(name), name.n, MN_MAX_NAME);
    return false;
}

static bool begin_item(mn_gguf_writer *w, mn_str key, mn_meta_type type)
{
    if (w->err.code != MNW_OK || !name_fits(w, "key", key)) return false;
    if (w->n_items == MN_MAX_ITEMS) {
        mn_err_set(&w->err, MNW_E_LIMIT, "%.*s: more than %u metadata items", MN_STR(key),
                   MN_MAX_ITEMS);
        return false;
    }
    w->n_items++;
    add_u64(w, &w->keys, w->items.n);
    add_text(w, &w->items, key);
    add_u32(w, &w->items, type);
    return w->err.code == MNW_OK;
}

/* `count` values from C memory, little-endian. */
static void add_values(mn_gguf_writer *w, mn_meta_type type, const void *values, size_t count)
{
    const size_t size = mn_meta_type_bytes(type);
    uint8_t     *to = extend(w, &w->items, size * count);
    if (!to) return;
    const uint8_t *from = values;
    for (size_t i = 0; i < count; i++, from += size, to += size) {
        uint16_t v2;
        uint32_t v4;
        uint64_t v8;
        switch (size) {
        case 1: *to = *from; break;
        case 2:
            memcpy(&v2, from, 2);
            to[0] = (uint8_t)v2;
            to[1] = (uint8_t)(v2 >> 8);
            break;
        case 4:
            memcpy(&v4, from, 4);
            mn_store_u32(to, v4);
            break;
        default:
            memcpy(&v8, from, 8);
            mn_store_u64(to, v8);
        }
    }
}

static void add_string(mn_gguf_writer *w, mn_str key, mn_str v)
{
    if (v.n > MN_MAX_STRING) {
        mn_err_set(&w->err, MNW_E_LIMIT, "%.*s: text of %zu bytes, at most %u", MN_STR(key), v.n,
                   MN_MAX_STRING);
        return;
    }
    add_text(w, &w->items, v);
}

void mn_gguf_set(mn_gguf_writer *w, const char *key, mn_meta_type type, const void *value)
{
    if (mn_meta_type_bytes(type) == 0) {
        mn_err_set(&w->err, MNW_E_ARG, "%s: %s is no type of a fixed size", key,
                   mn_meta_type_name(type));
        return;
    }
    if (begin_item(w, mn_str_of(key), type)) add_values(w, type, value, 1);
}

void mn_gguf_set_u32(mn_gguf_writer *w, const char *key, uint32_t v)
{
    mn_gguf_set(w, key, MN_META_U32, &v);
}

void mn_gguf_set_f32(mn_gguf_writer *w, const char *key, float v)
{
    mn_gguf_set(w, key, MN_META_F32, &v);
}

void mn_gguf_set_bool(mn_gguf_writer *w, const char *key, bool v)
{
    mn_gguf_set(w, key, MN_META_BOOL, &(const uint8_t){ v });
}

void mn_gguf_set_str(mn_gguf_writer *w, const char *key, mn_str v)
{
    if (begin_item(w, mn_str_of(key), MN_META_STR)) add_string(w, mn_str_of(key), v);
}

void mn_gguf_set_array(mn_gguf_writer *w, const char *key, mn_meta_type elem, const void *values,
                       uint64_t count)
{
    if (elem == MN_META_ARRAY || (unsigned)elem >= MN_META_TYPES) {
        mn_err_set(&w->err, MNW_E_ARG, "%s: no array of %s", key, mn_meta_type_name(elem));
        return;
    }
    if (count > MN_MAX_ARRAY) {
        mn_err_set(&w->err, MNW_E_LIMIT, "%s: array of %" PRIu64 " elements, at most %u", key,
                   count, MN_MAX_ARRAY);
        return;
    }
    if (!begin_item(w, mn_str_of(key), MN_META_ARRAY)) return;
    add_u32(w, &w->items, elem);
    add_u64(w, &w->items, count);
    if (elem != MN_META_STR) {
        add_values(w, elem, values, (size_t)count);
        return;
    }
    const mn_str *s = values;
    for (uint64_t i = 0; i < count; i++) add_string(w, mn_str_of(key), s[i]);
}

uint64_t mn_gguf_reserve(mn_gguf_writer *w, const char *key, mn_meta_type elem, uint64_t count)
{
    const size_t size = mn_meta_type_bytes(elem);
    if (size == 0 || count > MN_MAX_ARRAY) {
        mn_err_set(&w->err, size ? MNW_E_LIMIT : MNW_E_ARG, "%s: array of %" PRIu64 " %s to fill in, at most %u",
                   key, count, mn_meta_type_name(elem), MN_MAX_ARRAY);
        return 0;
    }
    if (!begin_item(w, mn_str_of(key), MN_META_ARRAY)) return 0;
    add_u32(w, &w->items, elem);
    add_u64(w, &w->items, count);
    const uint64_t at = HEADER + w->items.n;
    uint8_t       *p = extend(w, &w->items, size * (size_t)count);
    if (p) memset(p, 0, size * (size_t)count);
    return at;
}

void mn_gguf_align(mn_gguf_writer *w, uint32_t alignment)
{
    if (w->n_tensors > 0 || alignment < MN_GGUF_MIN_ALIGNMENT ||
        alignment > MN_MAX_FILE_ALIGNMENT || (alignment & (alignment - 1)) != 0) {
        mn_err_set(&w->err, MNW_E_ARG,
                   "general.alignment: %" PRIu32 ", expected a power of two from %d to %u, set "
                   "before the tensors", alignment, MN_GGUF_MIN_ALIGNMENT, MN_MAX_FILE_ALIGNMENT);
        return;
    }
    w->alignment = alignment;
    mn_gguf_set_u32(w, "general.alignment", alignment);
}

void mn_gguf_copy(mn_gguf_writer *w, const mn_meta_item *item)
{
    if (mn_str_is(item->key, "general.alignment") && item->type == MN_META_U32) {
        mn_gguf_align(w, mn_load_u32(item->data));
        return;
    }
    if (mn_str_starts(item->key, mn_str_of(MN_NATIVE_PREFIX))) return;
    if (!begin_item(w, item->key, item->type)) return;
    if (item->type == MN_META_ARRAY) {
        add_u32(w, &w->items, item->elem);
        add_u64(w, &w->items, item->count);
    }
    add_bytes(w, &w->items, item->data, (size_t)item->bytes);
}

/* How much a tensor takes, alone and with what must follow it; false if the shape is none. */
static bool measure(const mn_gguf_writer *w, const mn_dtype *type, uint32_t n_dims,
                    const uint64_t *dim, uint64_t *bytes, uint64_t *end)
{
    uint64_t count = 1, padded = 0;
    if (type->native) {
        if (n_dims != 2 || !mn_dtype_matrix_bytes(type, dim[1], dim[0], bytes) ||
            !mn_add_u64(*bytes, MN_QX_PAD, &padded))
            return false;
    } else {
        if (n_dims < 1 || n_dims > MN_MAX_DIMS || dim[0] % type->block != 0) return false;
        for (uint32_t d = 0; d < n_dims; d++) {
            if (dim[d] == 0 || !mn_mul_u64(count, dim[d], &count)) return false;
        }
        if (!mn_dtype_bytes(type, count, bytes)) return false;
        padded = *bytes;
    }
    return mn_round_up_u64(padded, w->alignment, &padded) && mn_add_u64(w->data_bytes, padded, end);
}

static void add_native(mn_gguf_writer *w, mn_str name, const mn_dtype *type, const uint64_t *dim)
{
    if (w->alignment < MN_NATIVE_ALIGNMENT) {
        mn_err_set(&w->err, MNW_E_ARG, "%.*s: %s in a file aligned to %" PRIu64 ", expected %d or more",
                   MN_STR(name), type->name, w->alignment, MN_NATIVE_ALIGNMENT);
        return;
    }
    w->n_native++;
    add_text(w, &w->names, name);
    add_u64(w, &w->shapes, mn_native_kind(type));
    add_u64(w, &w->shapes, dim[1]);
    add_u64(w, &w->shapes, dim[0]);
}

void mn_gguf_declare(mn_gguf_writer *w, mn_str name, const mn_dtype *type, uint32_t n_dims,
                     const uint64_t *dim)
{
    mn_err *err = &w->err;
    if (err->code != MNW_OK || !name_fits(w, "tensor", name)) return;
    uint64_t bytes = 0, end = 0;
    if (!measure(w, type, n_dims, dim, &bytes, &end)) {
        mn_err_set(err, MNW_E_ARG,
                   "%.*s: bad shape for %s, expected %s dimensions, none 0, rows of whole "
                   "blocks", MN_STR(name), type->name, type->native ? "2" : "1 to 4");
        return;
    }
    if (type->native) add_native(w, name, type, dim);
    if (w->n_tensors == MN_MAX_TENSORS) {
        mn_err_set(err, MNW_E_LIMIT, "%.*s: more than %u tensors", MN_STR(name), MN_MAX_TENSORS);
        return;
    }
    w->n_tensors++;
    add_u64(w, &w->sizes, w->dir.n);
    add_u64(w, &w->sizes, bytes);
    add_u64(w, &w->sizes, w->data_bytes);
    add_text(w, &w->dir, name);
    const uint64_t room = end - w->data_bytes;
    if (type->native) n_dims = 1, dim = &room;   // to others, bytes
    add_u32(w, &w->dir, n_dims);
    for (uint32_t d = 0; d < n_dims; d++) add_u64(w, &w->dir, dim[d]);
    add_u32(w, &w->dir, type->native ? MN_I8 : type->id);
    add_u64(w, &w->dir, w->data_bytes);
    w->last_native = type->native;
    w->data_bytes = end;
}

void mn_gguf_place(mn_gguf_writer *w, uint64_t boundary)
{
    uint64_t end = 0;
    if (w->err.code != MNW_OK) return;
    if (boundary < w->alignment || (boundary & (boundary - 1)) != 0 ||
        !mn_round_up_u64(w->data_bytes, boundary, &end)) {
        mn_err_set(&w->err, MNW_E_ARG, "tensor at a multiple of %" PRIu64 ", expected a power of two from %" PRIu64,
                   boundary, w->alignment);
        return;
    }
    if (w->last_native && w->dir.n > DIR_TAIL) {   // no gap: the bytes before are all the last tensor's
        uint8_t *dim = w->dir.p + w->dir.n - DIR_TAIL;
        mn_store_u64(dim, mn_load_u64(dim) + (end - w->data_bytes));
    }
    w->data_bytes = end;
}

void mn_gguf_place_data(mn_gguf_writer *w, uint64_t boundary)
{
    if (boundary < w->alignment || (boundary & (boundary - 1)) != 0) {
        mn_err_set(&w->err, MNW_E_ARG, "data at a multiple of %" PRIu64 ", expected a power of two from %" PRIu64,
                   boundary, w->alignment);
        return;
    }
    w->data_boundary = boundary;
}

/* Find a name that occurs twice.  Each record starts with its name; `at` has every `step`-th. */
static mnw_status check_unique(mn_gguf_writer *w, const mn_gguf_buffer *records,
                               const mn_gguf_buffer *at, size_t step, uint64_t count, mn_err *err)
{
    mn_pages   pages;
    mn_map     seen;
    mnw_status st = MNW_OK;
    mn_pages_init(&pages, w->mem);
    if (!mn_map_init(&seen, &pages, (size_t)count)) {
        st = mn_err_set(err, MNW_E_NOMEM, "no memory for a directory of %" PRIu64 " names", count);
    }
    for (uint32_t i = 0; st == MNW_OK && i < count; i++) {
        const uint8_t *p = records->p + mn_load_u64(at->p + i * step);
        const mn_str   name = { (const char *)p + 8, (size_t)mn_load_u64(p) };
        if (mn_map_add(&seen, name, i) != i) {
            st = mn_err_set(err, MNW_E_ARG, "%.*s: set twice", MN_STR(name));
        }
    }
    mn_pages_done(&pages);
    return st;
}

/* The items that explain the native tensors. */
static void add_native_items(mn_gguf_writer *w)
{
    if (w->n_native == 0) return;
    mn_gguf_set_u32(w, MN_NATIVE_VERSION, 1);
    if (begin_item(w, mn_str_of(MN_NATIVE_NAMES), MN_META_ARRAY)) {
        add_u32(w, &w->items, MN_META_STR);
        add_u64(w, &w->items, w->n_native);
        add_bytes(w, &w->items, w->names.p, w->names.n);
    }
    if (begin_item(w, mn_str_of(MN_NATIVE_SHAPES), MN_META_ARRAY)) {
        add_u32(w, &w->items, MN_META_U64);
        add_u64(w, &w->items, MN_NATIVE_FIELDS * w->n_native);
        add_bytes(w, &w->items, w->shapes.p, w->shapes.n);
    }
}

/* Zeros that let the data begin where it should. */
static void add_padding(mn_gguf_writer *w)
{
    if (!w->data_boundary || w->err.code != MNW_OK) return;
    const uint64_t item = 8 + strlen(MN_GGUF_PADDING) + 4 + 4 + 8;
    const uint64_t head = HEADER + w->items.n + w->dir.n + item;
    mn_gguf_reserve(w, MN_GGUF_PADDING, MN_META_U8, (0 - head) & (w->data_boundary - 1));
}

/* What only is known when all has been said.  Once. */
static mnw_status close_head(mn_gguf_writer *w, mn_err *err)
{
    if (w->data_at == 0) {
        add_native_items(w);
        add_padding(w);
        const uint64_t head = (uint64_t)HEADER + w->items.n + w->dir.n;
        if (head > MN_MAX_HEAD_BYTES) {
            mn_err_set(&w->err, MNW_E_LIMIT, "head of %" PRIu64 " bytes, at most %u", head, MN_MAX_HEAD_BYTES);
        }
        w->data_at = (head + w->alignment - 1) & ~(w->alignment - 1);
    }
    if (w->err.code != MNW_OK) MN_FAIL(err, w->err.code, "%s", w->err.text);
    return MNW_OK;
}

mnw_status mn_gguf_bytes(mn_gguf_writer *w, uint64_t *bytes, mn_err *err)
{
    MN_TRY(close_head(w, err));
    *bytes = w->data_at + w->data_bytes;
    return MNW_OK;
}

/* Zeros up to a place in the file. */
static mnw_status pad(mn_gguf_writer *w, uint64_t to, mn_err *err)
{
    static const uint8_t ZERO[4096] = { 0 };
    uint64_t             left = to - w->file.written;
    while (left > 0) {
        const size_t n = left < sizeof ZERO ? (size_t)left : sizeof ZERO;
        MN_TRY(mn_out_write(&w->file, ZERO, n, err));
        left -= n;
    }
    return MNW_OK;
}

mnw_status mn_gguf_begin(mn_gguf_writer *w, const char *path, mn_err *err)
{
    MN_FAIL_IF(w->file.fd_1, err, MNW_E_STATE, "%s: the file was begun before", path);
    MN_TRY(close_head(w, err));
    MN_TRY(check_unique(w, &w->items, &w->keys, 8, w->n_items, err));
    MN_TRY(check_unique(w, &w->dir, &w->sizes, SIZES, w->n_tensors, err));

    uint8_t start[HEADER] = { 'G', 'G', 'U', 'F', 3 };
    mn_store_u64(start + 8, w->n_tensors);
    mn_store_u64(start + 16, w->n_items);
    MN_TRY(mn_out_open(path, &w->file, err));
    MN_TRY(mn_out_write(&w->file, start, sizeof start, err));
    MN_TRY(mn_out_write(&w->file, w->items.p, w->items.n, err));
    MN_TRY(mn_out_write(&w->file, w->dir.p, w->dir.n, err));
    return pad(w, w->data_at, err);
}

static uint64_t tensor_bytes(const mn_gguf_writer *w)
{
    return w->tensor < w->n_tensors ? mn_load_u64(w->sizes.p + w->tensor * SIZES + 8) : 0;
}

/* Where tensor i begins in the data; behind the last one, where the data ends. */
static uint64_t tensor_at(const mn_gguf_writer *w, uint64_t i)
{
    return i < w->n_tensors ? mn_load_u64(w->sizes.p + i * SIZES + 16) : w->data_bytes;
}

mnw_status mn_gguf_put(mn_gguf_writer *w, const void *p, size_t n, mn_err *err)
{
    MN_FAIL_IF(!w->file.fd_1, err, MNW_E_STATE, "data of a GGUF file that was not begun");
    if (n == 0) return MNW_OK;
    const uint64_t bytes = tensor_bytes(w);
    MN_FAIL_IF(n > bytes - w->sent, err, MNW_E_ARG,
               "tensor %" PRIu64 " of %" PRIu64 ": %zu bytes more, expected at most %" PRIu64,
               w->tensor, w->n_tensors, n, bytes - w->sent);
    MN_TRY(mn_out_write(&w->file, p, n, err));
    w->sent += n;
    if (w->sent < bytes) return MNW_OK;
    w->tensor++;
    w->sent = 0;
    return pad(w, w->data_at + tensor_at(w, w->tensor), err);
}

mnw_status mn_gguf_finish(mn_gguf_writer *w, mn_err *err)
{
    MN_FAIL_IF(!w->file.fd_1, err, MNW_E_STATE, "end of a GGUF file that was not begun");
    MN_FAIL_IF(w->tensor < w->n_tensors, err, MNW_E_STATE,
               "tensor %" PRIu64 " of %" PRIu64 " has %" PRIu64 " of %" PRIu64 " bytes", w->tensor,
               w->n_tensors, w->sent, tensor_bytes(w));
    return mn_out_commit(&w->file, err);
}

void mn_gguf_done(mn_gguf_writer *w)
{
    if (w->file.fd_1) mn_out_abandon(&w->file);
    mn_free(w->mem, w->items.p);
    mn_free(w->mem, w->dir.p);
    mn_free(w->mem, w->keys.p);
    mn_free(w->mem, w->sizes.p);
    mn_free(w->mem, w->names.p);
    mn_free(w->mem, w->shapes.p);
    *w = (mn_gguf_writer){ 0 };
}
