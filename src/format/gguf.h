/* SPDX-License-Identifier: Apache-2.0
 *
 * gguf.h - read GGUF files, versions 2 and 3.
 *
 *      "GGUF"  version u32  tensors u64  items u64
 *      items x    { key, type u32, value }                      a text is  u64 length, bytes
 *      tensors x  { name, dims u32, dim u64 ..., type u32, offset u64 }
 *      padding to general.alignment (32)
 *      data: each tensor at its offset, a multiple of the alignment
 *
 * Everything is checked before anything is handed out: after MNW_OK every slice of the content lies
 * inside `file`, keys and names are unique, tensors do not overlap, and nothing exceeds
 * format/limits.h.  What the values mean is not judged here, except that tensors in native formats
 * come out with their type and shape (native_dir.h).
 */
#ifndef MN_FORMAT_GGUF_H
#define MN_FORMAT_GGUF_H

#include "base/meta.h"
#include "base/pages.h"

enum { MN_GGUF_ALIGNMENT = 32, MN_GGUF_MIN_ALIGNMENT = 8 };

/* Read the head of `file`, the whole file's bytes.
 *
 * Owns:   *out points into `file` and into `mem`, and lives as long as both.
 * Errors: MNW_E_FORMAT, MNW_E_UNSUPPORTED (version, byte order, tensor type, nested array),
 *         MNW_E_LIMIT, MNW_E_NOMEM; the text names key or tensor and the offset in the file.
 * Allocs: from `mem`, in proportion to the number of items and tensors; no values are copied. */
mnw_status mn_gguf_read(mn_bytes file, mn_pages *mem, mn_content *out, mn_err *err);

#endif
