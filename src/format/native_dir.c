/* SPDX-License-Identifier: Apache-2.0
 *
 * native_dir.c - find and check the tensors in native formats.
 */
#include "format/native_dir.h"

#include <inttypes.h>

#include "base/native.h"

enum { KIND_Q4X = 4, KIND_Q8X = 8 };

uint64_t mn_native_kind(const mn_dtype *type)
{
    return type->id == MN_Q4X ? KIND_Q4X : KIND_Q8X;
}

static mnw_status read_one(mn_tensor *t, const int64_t shape[MN_NATIVE_FIELDS], uint64_t file_bytes,
                           mn_err *err)
{
    const int64_t kind = shape[0];
    MN_FAIL_IF(kind != KIND_Q4X && kind != KIND_Q8X, err, MNW_E_UNSUPPORTED,
               "%.*s: native kind %" PRId64 " in " MN_NATIVE_SHAPES ", expected %d or %d",
               MN_STR(t->name), kind, KIND_Q4X, KIND_Q8X);
    const mn_dtype *type = mn_dtype_of(kind == KIND_Q4X ? MN_Q4X : MN_Q8X);
    const uint64_t  rows = shape[1] > 0 ? (uint64_t)shape[1] : 0;
    const uint64_t  cols = shape[2] > 0 ? (uint64_t)shape[2] : 0;
    uint64_t        bytes = 0;
    MN_FAIL_IF(t->type->id != MN_I8 || t->n_dims != 1, err, MNW_E_FORMAT,
               "%.*s: %s with %u dimensions, expected i8 with 1 because " MN_NATIVE_NAMES
               " has it (once)", MN_STR(t->name), t->type->name, t->n_dims);
    MN_FAIL_IF(!mn_dtype_matrix_bytes(type, rows, cols, &bytes) || bytes > t->bytes, err,
               MNW_E_FORMAT,
               "%.*s: %" PRIu64 " bytes, expected %" PRIu64 " or more for %s [%" PRId64 ", %" PRId64 "]",
               MN_STR(t->name), t->bytes, bytes, type->name, shape[1], shape[2]);
    MN_FAIL_IF(t->offset % MN_NATIVE_ALIGNMENT != 0, err, MNW_E_FORMAT,
               "%.*s: at offset %" PRIu64 ", expected a multiple of %d", MN_STR(t->name), t->offset,
               MN_NATIVE_ALIGNMENT);
    t->bytes = bytes;   // what follows is padding
    MN_FAIL_IF(file_bytes - t->offset - t->bytes < MN_QX_PAD, err, MNW_E_FORMAT,
               "%.*s: ends %" PRIu64 " bytes before the end of the file, expected at least %d",
               MN_STR(t->name), file_bytes - t->offset - t->bytes, MN_QX_PAD);
    t->type = type;
    t->n_dims = 2;
    t->dim[0] = cols;
    t->dim[1] = rows;
    return MNW_OK;
}

mnw_status mn_native_read(mn_content *c, uint64_t file_bytes, mn_err *err)
{
    const mn_meta_item *names, *shapes;
    uint64_t            version;
    MN_TRY(mn_meta_u64(c, MN_NATIVE_VERSION, UINT32_MAX, 0, &version, err));
    MN_TRY(mn_meta_strings(c, MN_NATIVE_NAMES, &names, err));
    MN_TRY(mn_meta_ints(c, MN_NATIVE_SHAPES, &shapes, err));
    if (!names && !shapes) return MNW_OK;
    MN_FAIL_IF(version != 1, err, MNW_E_UNSUPPORTED,
               MN_NATIVE_VERSION " is %" PRIu64 ", expected 1", version);
    MN_FAIL_IF(!names || !shapes || shapes->count / MN_NATIVE_FIELDS != names->count ||
                   shapes->count % MN_NATIVE_FIELDS != 0,
               err, MNW_E_FORMAT,
               MN_NATIVE_SHAPES ": %" PRIu64 " numbers, expected %d for each of the %" PRIu64
               " " MN_NATIVE_NAMES, shapes ? shapes->count : 0, MN_NATIVE_FIELDS,
               names ? names->count : 0);

    const uint8_t *at = names->data;
    for (uint64_t i = 0; i < names->count; i++) {
        const mn_str     name = mn_meta_next_str(names, &at);
        const mn_tensor *found = mn_tensor_find(c, name);
        MN_FAIL_IF(!found, err, MNW_E_FORMAT, MN_NATIVE_NAMES ": there is no tensor %.*s",
                   MN_STR(name));
        int64_t shape[MN_NATIVE_FIELDS];
        for (int f = 0; f < MN_NATIVE_FIELDS; f++)
            shape[f] = mn_meta_int_at(shapes, MN_NATIVE_FIELDS * i + (uint64_t)f);
        MN_TRY(read_one(&c->tensor[found - c->tensor], shape, file_bytes, err));
    }
    return MNW_OK;
}
