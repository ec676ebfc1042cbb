/* SPDX-License-Identifier: Apache-2.0
 *
 * packed.c - libarchive opens the packing where the build has it.  Only formats that data comes in are asked
 * for, because others are recognised by guesses that plain text can satisfy.
 */
#include "data/packed.h"

#ifdef MN_HAVE_LIBARCHIVE
#include <archive.h>
#include <archive_entry.h>

static mnw_status open_packed(mn_packed *u, mn_err *err)
{
    struct archive *a = u->archive = archive_read_new();
    MN_FAIL_IF(!a, err, MNW_E_NOMEM, "archive");
    archive_read_support_filter_gzip(a);
    archive_read_support_filter_bzip2(a);
    archive_read_support_filter_xz(a);
    archive_read_support_filter_zstd(a);
    archive_read_support_format_tar(a);
    archive_read_support_format_zip(a);
    archive_read_support_format_raw(a);
    MN_FAIL_IF(archive_read_open_memory(a, u->file.bytes.p, u->file.bytes.n) != ARCHIVE_OK, err,
               MNW_E_FORMAT, "%s", archive_error_string(a));
    return MNW_OK;
}

mnw_status mn_packed_next(mn_packed *u, const char **name, mn_err *err)
{
    struct archive       *a = u->archive;
    struct archive_entry *e;
    *name = NULL;
    for (int rc; (rc = archive_read_next_header(a, &e)) != ARCHIVE_EOF;) {
        MN_FAIL_IF(rc != ARCHIVE_OK, err, MNW_E_FORMAT, "%s", archive_error_string(a));
        if (archive_entry_filetype(e) != AE_IFREG) continue;
        const char *path = archive_format(a) == ARCHIVE_FORMAT_RAW ? NULL : archive_entry_pathname(e);
        *name = path ? path : "";
        return MNW_OK;
    }
    return MNW_OK;
}

mnw_status mn_packed_read(mn_packed *u, void *p, size_t cap, size_t *got, mn_err *err)
{
    const la_ssize_t n = archive_read_data(u->archive, p, cap);
    *got = n > 0 ? (size_t)n : 0;
    MN_FAIL_IF(n < 0, err, MNW_E_FORMAT, "%s", archive_error_string(u->archive));
    const la_int64_t at = archive_filter_bytes(u->archive, -1);
    if (at > 0) u->at = (size_t)at;
    return MNW_OK;
}

static void close_packed(mn_packed *u)
{
    if (u->archive) archive_read_free(u->archive);
}
#else
static mnw_status open_packed(mn_packed *u, mn_err *err)
{
    static const struct {
        const char *what;
        mn_str      magic;
    } PACKED[] = { { "gzip", { "\x1f\x8b", 2 } }, { "bzip2", { "BZh", 3 } },
                   { "xz", { "\xfd" "7zXZ", 5 } }, { "zstd", { "\x28\xb5\x2f\xfd", 4 } },
                   { "zip", { "PK\3\4", 4 } } };
    const mn_str text = { (const char *)u->file.bytes.p, u->file.bytes.n };
    for (size_t i = 0; i < sizeof PACKED / sizeof *PACKED; i++) {
        MN_FAIL_IF(mn_str_starts(text, PACKED[i].magic), err, MNW_E_UNSUPPORTED,
                   "packed with %s, and this build has no libarchive", PACKED[i].what);
    }
    return MNW_OK;
}

mnw_status mn_packed_next(mn_packed *u, const char **name, mn_err *err)
{
    *name = u->begun ? NULL : "";
    u->begun = true;
    return MNW_OK;
}

mnw_status mn_packed_read(mn_packed *u, void *p, size_t cap, size_t *got, mn_err *err)
{
    const size_t left = u->file.bytes.n - u->at;
    *got = cap < left ? cap : left;
    if (*got) memcpy(p, u->file.bytes.p + u->at, *got);
    u->at += *got;
    return MNW_OK;
}

static void close_packed(mn_packed *u)
{
}
#endif

mnw_status mn_packed_open(mn_packed *u, mn_mem *mem, const char *path, mn_err *err)
{
    *u = (mn_packed){ 0 };
    MN_TRY(mn_os_map(path, false, mem, &u->file, err));
    const mnw_status st = open_packed(u, err);
    if (st != MNW_OK) {
        mn_err_prefix(err, "%s", path);
        mn_packed_done(u);
    }
    return st;
}

void mn_packed_done(mn_packed *u)
{
    close_packed(u);
    mn_os_unmap(&u->file);
    *u = (mn_packed){ 0 };
}
