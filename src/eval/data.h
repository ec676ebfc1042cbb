/* SPDX-License-Identifier: Apache-2.0
 *
 * data.h - files with test questions: plain, compressed, or archives of many.
 */
#ifndef MN_EVAL_DATA_H
#define MN_EVAL_DATA_H

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"

enum {
    MN_DATA_MEMBERS_MAX = 4096,
    MN_DATA_BYTES_MAX = 512 << 20,   // of all members, uncompressed
};

typedef struct mn_member {
    char  *name;     // "" if the file is no archive
    char  *bytes;
    size_t n;
} mn_member;

typedef struct mn_data {
    mn_mem    *mem;
    mn_member *at;   // by name
    size_t     n, cap, total;
} mn_data;

/* Read all of `dir`/`file`.  Zeroed, or after an error, *d may be given to mn_data_done.
 *
 * Errors: MNW_E_NOENT, MNW_E_IO, MNW_E_FORMAT, MNW_E_LIMIT, MNW_E_NOMEM; MNW_E_UNSUPPORTED for a
 *         compressed file in a build without libarchive. */
mnw_status mn_data_open(mn_mem *mem, const char *dir, const char *file, mn_data *d, mn_err *err);

void mn_data_done(mn_data *d);

/* Does a name match a pattern with at most one '*'?  *star is what the '*' stands for. */
bool mn_data_match(const char *pattern, const char *name, mn_str *star);

/* The member of exactly this name, NULL if there is none. */
const mn_member *mn_data_find(const mn_data *d, mn_str name);

#endif
