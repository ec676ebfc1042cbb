/* SPDX-License-Identifier: Apache-2.0
 *
 * native_dir.h - how a GGUF file says which of its tensors are matrices in a native format.
 *
 * To any other program such a tensor is a row of bytes, type i8, one dimension.  Three items explain it:
 *
 *     q4x.version   u32        1
 *     q4x.names     text[n]    the tensors
 *     q4x.shapes    u64[3 n]   kind, rows, cols of each; kind 4 = Q4X with groups of 16, 8 = Q8X
 */
#ifndef MN_FORMAT_NATIVE_DIR_H
#define MN_FORMAT_NATIVE_DIR_H

#include "base/meta.h"

#define MN_NATIVE_PREFIX  "q4x."
#define MN_NATIVE_VERSION "q4x.version"
#define MN_NATIVE_NAMES   "q4x.names"
#define MN_NATIVE_SHAPES  "q4x.shapes"

enum { MN_NATIVE_FIELDS = 3, MN_NATIVE_ALIGNMENT = 64 };

/* Give the tensors that the items name their native type and their shape [cols, rows].  file_bytes: the
 * length of the file, which must go on for MN_QX_PAD bytes behind each of them.
 *
 * Errors: MNW_E_FORMAT, MNW_E_UNSUPPORTED (version, kind); the text names item or tensor. */
mnw_status mn_native_read(mn_content *c, uint64_t file_bytes, mn_err *err);

/* The kind of a native type, as q4x.shapes has it. */
uint64_t mn_native_kind(const mn_dtype *type);

#endif
