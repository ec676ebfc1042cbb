/* SPDX-License-Identifier: Apache-2.0
 *
 * gguf_write.h - write GGUF version 3: first say everything, then stream the data.
 *
 *     mn_gguf_writer w;
 *     mn_gguf_init(&w, mem);
 *     mn_gguf_set_str(&w, "general.architecture", mn_str_of("llama"));
 *     mn_gguf_declare(&w, mn_str_of("token_embd.weight"), f32, 2, dim);    // in data order
 *     MN_TRY(mn_gguf_begin(&w, path, err));
 *     MN_TRY(mn_gguf_put(&w, data, bytes, err));                           // tensor after tensor
 *     MN_TRY(mn_gguf_finish(&w, err));                                     // the file appears
 *     mn_gguf_done(&w);                                                    // on every way out
 *
 * Setters return nothing: the first failure (no memory, a limit, a bad name) is kept and reported
 * by mn_gguf_begin().  The limits are the reader's, so what is written can be read.  The file is
 * there under its name only when it is whole.
 */
#ifndef MN_FORMAT_GGUF_WRITE_H
#define MN_FORMAT_GGUF_WRITE_H

#include "base/alloc.h"
#include "base/meta.h"
#include "base/os.h"

typedef struct mn_gguf_buffer {
    uint8_t *p;
    size_t   n, cap;
} mn_gguf_buffer;

typedef struct mn_gguf_writer {
    mn_mem        *mem;
    mn_gguf_buffer items, dir;    // the records as the file has them
    mn_gguf_buffer keys;          // u64 each: where the key lies in items
    mn_gguf_buffer sizes;         // three u64 each: where the tensor's record lies in dir, its bytes,
                                  // where it begins in the data
    mn_gguf_buffer names, shapes; // of native tensors: texts, and MN_NATIVE_FIELDS u64 each
    uint64_t       n_native;
    uint64_t       n_items, n_tensors;
    uint64_t       alignment;
    uint64_t       data_bytes;    // declared so far, padding included
    mn_out_file    file;
    uint64_t       tensor, sent;  // being written: number, bytes it has
    uint64_t       data_at;       // where the data begins in the file; 0 = not known yet
    uint64_t       data_boundary; // it is a multiple of this; 0 = of the alignment
    bool           last_native;   // the last tensor is of a native type
    mn_err         err;           // the first failure of a setter
} mn_gguf_writer;

void mn_gguf_init(mn_gguf_writer *w, mn_mem *mem);

/* Set general.alignment [32]; before the first tensor is declared. */
void mn_gguf_align(mn_gguf_writer *w, uint32_t alignment);

/* Set a value of a fixed size from memory of its C type (bool: a uint8_t of 0 or 1). */
void mn_gguf_set(mn_gguf_writer *w, const char *key, mn_meta_type type, const void *value);
void mn_gguf_set_u32(mn_gguf_writer *w, const char *key, uint32_t v);
void mn_gguf_set_f32(mn_gguf_writer *w, const char *key, float v);
void mn_gguf_set_bool(mn_gguf_writer *w, const char *key, bool v);
void mn_gguf_set_str(mn_gguf_writer *w, const char *key, mn_str v);

/* Set an array: of C values as above, or of mn_str for MN_META_STR. */
void mn_gguf_set_array(mn_gguf_writer *w, const char *key, mn_meta_type elem, const void *values,
                       uint64_t count);

/* Set an array of `count` zeros of a fixed size, for values that are known only when the data is written.
 * Returns where in the file they are, for mn_out_write_at(&w->file, ...). */
uint64_t mn_gguf_reserve(mn_gguf_writer *w, const char *key, mn_meta_type elem, uint64_t count);

/* Set an item as another file has it; what describes that file's native tensors is left out. */
void mn_gguf_copy(mn_gguf_writer *w, const mn_meta_item *item);

/* Announce a tensor; dim[0] is contiguous.  One of a native type has two dimensions, needs an alignment
 * of at least MN_NATIVE_ALIGNMENT, and is followed by MN_QX_PAD bytes or more; to other programs these are a
 * part of it. */
void mn_gguf_declare(mn_gguf_writer *w, mn_str name, const mn_dtype *type, uint32_t n_dims,
                     const uint64_t *dim);

/* Let the next tensor begin at a multiple of `boundary`, from the start of the data.  Zeros before it belong to
 * the last tensor if that is native; otherwise they are a gap, which some programs refuse. */
void mn_gguf_place(mn_gguf_writer *w, uint64_t boundary);

/* Let the data begin at a multiple of `boundary`, with an item of zeros, MN_GGUF_PADDING. */
void mn_gguf_place_data(mn_gguf_writer *w, uint64_t boundary);

#define MN_GGUF_PADDING "minnow.padding"

/* Bytes the file will have.  Nothing can be set or declared afterwards.
 *
 * Errors: what a setter met. */
mnw_status mn_gguf_bytes(mn_gguf_writer *w, uint64_t *bytes, mn_err *err);

/* Open the file and write its head.
 *
 * Errors: what a setter met; MNW_E_ARG for a key or name used twice; MNW_E_NOENT, MNW_E_IO. */
mnw_status mn_gguf_begin(mn_gguf_writer *w, const char *path, mn_err *err);

/* Append data of the declared tensors, in any pieces that do not span two tensors.
 *
 * Errors: MNW_E_ARG for more than was declared; MNW_E_IO. */
mnw_status mn_gguf_put(mn_gguf_writer *w, const void *p, size_t n, mn_err *err);

/* Make the file appear.
 *
 * Errors: MNW_E_STATE if data is missing; MNW_E_IO. */
mnw_status mn_gguf_finish(mn_gguf_writer *w, mn_err *err);

/* Free; an unfinished file disappears.  A zeroed writer is fine. */
void mn_gguf_done(mn_gguf_writer *w);

#endif
