/* SPDX-License-Identifier: Apache-2.0
 *
 * safetensors.h - read safetensors files: one, or a folder of shards.
 *
 *      bytes of the head u64
 *      head    {"name": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, 12]}, ...,
 *               "__metadata__": {"key": "text", ...}}
 *      data    all of it belongs to exactly one tensor
 *
 * Everything is checked before anything is handed out: names are unique, sizes follow from type and
 * shape, tensors fill the data without overlaps or holes, nothing exceeds format/limits.h.  Shapes
 * come out as in GGUF, contiguous dimension first; a scalar has one dimension of 1.
 */
#ifndef MN_FORMAT_SAFETENSORS_H
#define MN_FORMAT_SAFETENSORS_H

#include "base/meta.h"
#include "base/os.h"
#include "base/pages.h"

/* Read the head of `file`, the whole file's bytes.  __metadata__ becomes text items.
 *
 * Owns:   *out points into `file` and into `mem`, and lives as long as both.
 * Errors: MNW_E_FORMAT; MNW_E_UNSUPPORTED for an element type minnow does not know or an empty tensor;
 *         MNW_E_LIMIT, MNW_E_NOMEM; the text names the tensor, or line and column of the head. */
mnw_status mn_safetensors_read(mn_bytes file, mn_pages *mem, mn_content *out, mn_err *err);

/* The tensors of a folder: of model.safetensors, or of the files that model.safetensors.index.json
 * lists.  No metadata.  Zeroed is closed. */
typedef struct mn_shards {
    mn_map_file *file;
    size_t       n_files;
    mn_content   content;   // tensor offsets are those in their own file
} mn_shards;

/* Map and read them all.
 *
 * Owns:   *out needs `pages` while it is open.
 * Errors: as above, prefixed with the file; MNW_E_NOENT, MNW_E_IO; MNW_E_FORMAT if index and files
 *         disagree. */
mnw_status mn_shards_open(const char *folder, mn_pages *pages, mn_shards *out, mn_err *err);
void       mn_shards_close(mn_shards *s);

/* "BF16"; NULL for what safetensors cannot hold. */
const char *mn_safetensors_type_name(mn_dtype_id id);

#endif
