/* SPDX-License-Identifier: Apache-2.0
 *
 * packed.h - what is in a file, whatever it is packed with: one stream of bytes, or one for each member
 * of an archive.
 *
 *     MN_TRY(mn_packed_open(&u, mem, path, err));
 *     while ((st = mn_packed_next(&u, &name, err)) == MNW_OK && name)
 *         while ((st = mn_packed_read(&u, buf, sizeof buf, &got, err)) == MNW_OK && got) ...
 *     mn_packed_done(&u);                                          // on every way out
 */
#ifndef MN_DATA_PACKED_H
#define MN_DATA_PACKED_H

#include "base/alloc.h"
#include "base/err.h"
#include "base/os.h"

typedef struct mn_packed {
    mn_map_file file;
    void       *archive;   // libarchive's, NULL in a build without it
    size_t      at;        // bytes of the file read so far
    bool        begun;
} mn_packed;

/* Open a file: plain, packed with gzip, bzip2, xz or zstd, or a tar or zip archive.  *u is zeroed
 * after an error; zeroed, it may be given to mn_packed_done.
 *
 * Errors: MNW_E_NOENT, MNW_E_IO, MNW_E_FORMAT for an empty file or a folder, MNW_E_NOMEM;
 *         MNW_E_UNSUPPORTED for a packed file in a build without libarchive. */
mnw_status mn_packed_open(mn_packed *u, mn_mem *mem, const char *path, mn_err *err);

/* Go to the next member that is a file.  *name is NULL when there is none left, "" if the file is no archive;
 * valid until the next call.
 *
 * Errors: MNW_E_FORMAT. */
mnw_status mn_packed_next(mn_packed *u, const char **name, mn_err *err);

/* Read at most `cap` bytes of the member; *got is 0 at its end.
 *
 * Errors: MNW_E_FORMAT. */
mnw_status mn_packed_read(mn_packed *u, void *p, size_t cap, size_t *got, mn_err *err);

void mn_packed_done(mn_packed *u);

#endif
