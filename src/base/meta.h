/* SPDX-License-Identifier: Apache-2.0
 *
 * meta.h - what a model file says about itself: typed key/value pairs and a directory of tensors,
 * whatever the container.
 *
 * Values stay where the file has them (little-endian); nothing is copied.  Numbers are read through
 * functions that take any width that fits, and name the key when it does not.
 */
#ifndef MN_BASE_META_H
#define MN_BASE_META_H

#include "base/bytes.h"
#include "base/dtype.h"
#include "base/err.h"
#include "base/map.h"

typedef enum mn_meta_type {   // numbered as in GGUF
    MN_META_U8, MN_META_I8, MN_META_U16, MN_META_I16, MN_META_U32, MN_META_I32, MN_META_F32,
    MN_META_BOOL, MN_META_STR, MN_META_ARRAY, MN_META_U64, MN_META_I64, MN_META_F64,
    MN_META_TYPES,
} mn_meta_type;

typedef struct mn_meta_item {
    mn_str         key;
    mn_meta_type   type;
    mn_meta_type   elem;     // of an array
    uint64_t       count;    // elements of an array, else 1
    const uint8_t *data;     // STR: u64 length then bytes; ARRAY of STR: the same, one after another
    uint64_t       bytes;    // at data, all checked to be inside the file
} mn_meta_item;

typedef struct mn_tensor {
    mn_str          name;
    const mn_dtype *type;
    uint32_t        n_dims;
    uint64_t        dim[4];     // dim[0] is contiguous; unused ones are 1
    uint64_t        offset;     // from the start of the file
    uint64_t        bytes;
    const uint8_t  *data;       // in the mapping; bytes long
} mn_tensor;

/* A file's content, neutral. */
typedef struct mn_content {
    mn_meta_item *item;
    size_t        n_items;
    mn_tensor    *tensor;       // in file order
    size_t        n_tensors;
    mn_map        item_by_key, tensor_by_name;
    uint64_t      head_bytes;   // metadata and directory: [0, head_bytes) of the file
} mn_content;

const mn_meta_item *mn_meta_find(const mn_content *c, const char *key);
const mn_tensor    *mn_tensor_find(const mn_content *c, mn_str name);

/* Read a value.  Missing: *out gets `fallback`, MNW_OK.  Wrong type or does not fit: MNW_E_FORMAT that
 * names key, type found and expected. */
mnw_status mn_meta_u64(const mn_content *c, const char *key, uint64_t max, uint64_t fallback,
                       uint64_t *out, mn_err *err);
mnw_status mn_meta_f64(const mn_content *c, const char *key, double fallback, double *out,
                       mn_err *err);
mnw_status mn_meta_bool(const mn_content *c, const char *key, bool fallback, bool *out, mn_err *err);
mnw_status mn_meta_str(const mn_content *c, const char *key, mn_str fallback, mn_str *out,
                       mn_err *err);

/* An array whose elements are text / integers / floats; *out NULL if the key is missing. */
mnw_status mn_meta_strings(const mn_content *c, const char *key, const mn_meta_item **out,
                           mn_err *err);
mnw_status mn_meta_ints(const mn_content *c, const char *key, const mn_meta_item **out, mn_err *err);
mnw_status mn_meta_floats(const mn_content *c, const char *key, const mn_meta_item **out,
                          mn_err *err);

/* Element i of an integer or float array of any width (i < count); BOOL counts as integer. */
int64_t mn_meta_int_at(const mn_meta_item *item, uint64_t i);
double  mn_meta_float_at(const mn_meta_item *item, uint64_t i);

/* Walk an array of text: *at starts at item->data and moves on; call it `count` times at most. */
mn_str mn_meta_next_str(const mn_meta_item *item, const uint8_t **at);

/* The name of a type, "u32". */
const char *mn_meta_type_name(mn_meta_type t);

/* Bytes of a value of fixed size; 0 for STR, ARRAY and unknown types. */
unsigned mn_meta_type_bytes(mn_meta_type t);

#endif
