/* SPDX-License-Identifier: Apache-2.0
 *
 * os_out_dir.c - folders that appear whole or not at all.
 *
 *      out.tmp-1234-0/  --files, fsync-->  rename  -->  out/
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"

enum { TEMP_TRIES = 100 };

static mnw_status fail_errno(const mn_out_dir *d, const char *what, int e, mn_err *err)
{
    char text[128];
    mn_os_error_text(e, text, sizeof text);
    MN_FAIL(err, MNW_E_IO, "%s: %s: %s", d->path, what, text);
}

/* The next name in a folder other than "." and "..", NULL at the end. */
static const char *next_name(DIR *dir)
{
    for (const struct dirent *e; (e = readdir(dir));) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) return e->d_name;
    }
    return NULL;
}

static bool is_empty(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir) return false;
    const bool empty = !next_name(dir);
    closedir(dir);
    return empty;
}

mnw_status mn_out_dir_open(const char *path, mn_out_dir *d, mn_err *err)
{
    *d = (mn_out_dir){ 0 };
    size_t n = strnlen(path, sizeof d->path);
    MN_FAIL_IF(n == 0 || n >= sizeof d->path, err, MNW_E_ARG,
               "output path of %zu bytes, expected 1 to %zu", n, sizeof d->path - 1);
    memcpy(d->path, path, n);
    while (n > 1 && d->path[n - 1] == '/') d->path[--n] = '\0';
    MN_FAIL_IF(mn_os_exists(d->path) && !is_empty(d->path), err, MNW_E_ARG,
               "%s: exists already, expected a new name for a folder", d->path);
    for (int i = 0; i < TEMP_TRIES; i++) {
        snprintf(d->temp, sizeof d->temp, "%s.tmp-%ld-%d", d->path, (long)getpid(), i);
        if (mkdir(d->temp, 0777) == 0) {
            d->open = true;
            return MNW_OK;
        }
        if (errno != EEXIST) break;
    }
    return fail_errno(d, "cannot create a folder beside it", errno, err);
}

mnw_status mn_out_dir_path(const mn_out_dir *d, const char *name, char out[MN_OUT_PATH], mn_err *err)
{
    const int n = snprintf(out, MN_OUT_PATH, "%s/%s", d->temp, name);
    MN_FAIL_IF(n < 0 || n >= MN_OUT_PATH, err, MNW_E_ARG, "output path of %d bytes, at most %d", n,
               MN_OUT_PATH - 1);
    return MNW_OK;
}

mnw_status mn_out_dir_commit(mn_out_dir *d, mn_err *err)
{
    const int fd = open(d->temp, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {   // not all file systems can
        fsync(fd);
        close(fd);
    }
    if (rename(d->temp, d->path) != 0) {
        const mnw_status st = fail_errno(d, "cannot put in place", errno, err);
        mn_out_dir_abandon(d);
        return st;
    }
    d->open = false;
    mn_os_sync_parent(d->path);
    return MNW_OK;
}

void mn_out_dir_abandon(mn_out_dir *d)
{
    if (!d->open) return;
    DIR *dir = opendir(d->temp);
    for (const char *name; dir && (name = next_name(dir));) unlinkat(dirfd(dir), name, 0);
    if (dir) closedir(dir);
    rmdir(d->temp);
    d->open = false;
}
