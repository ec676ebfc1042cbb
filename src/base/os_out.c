/* SPDX-License-Identifier: Apache-2.0
 *
 * os_out.c - files that appear whole or not at all.
 *
 *      out.gguf.tmp-1234-0  --write, fsync-->  rename  -->  out.gguf, fsync of the folder
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"

enum { TEMP_TRIES = 100 };

static mnw_status fail_errno(const mn_out_file *f, const char *what, int e, mn_err *err)
{
    char text[128];
    mn_os_error_text(e, text, sizeof text);
    MN_FAIL(err, MNW_E_IO, "%s: %s: %s", f->path, what, text);
}

mnw_status mn_out_open(const char *path, mn_out_file *f, mn_err *err)
{
    *f = (mn_out_file){ 0 };
    const size_t n = strnlen(path, sizeof f->path);
    MN_FAIL_IF(n == 0 || n >= sizeof f->path - 32, err, MNW_E_ARG,
               "output path of %zu bytes, expected 1 to %zu", n, sizeof f->path - 33);
    memcpy(f->path, path, n);
    for (int i = 0; i < TEMP_TRIES; i++) {
        snprintf(f->temp, sizeof f->temp, "%s.tmp-%ld-%d", f->path, (long)getpid(), i);
        const int fd = open(f->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) {
            f->fd_1 = fd + 1;
            return MNW_OK;
        }
        if (errno != EEXIST) break;
    }
    return fail_errno(f, "cannot create a file beside it", errno, err);
}

static mnw_status put(mn_out_file *f, uint64_t at, const void *p, size_t n, mn_err *err)
{
    for (size_t done = 0; done < n;) {
        const ssize_t got =
            pwrite(f->fd_1 - 1, (const uint8_t *)p + done, n - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            f->failed = true;
            return fail_errno(f, "cannot write", errno, err);
        }
        done += (size_t)got;
    }
    return MNW_OK;
}

mnw_status mn_out_write(mn_out_file *f, const void *p, size_t n, mn_err *err)
{
    MN_TRY(put(f, f->written, p, n, err));
    f->written += n;
    return MNW_OK;
}

mnw_status mn_out_write_at(mn_out_file *f, uint64_t offset, const void *p, size_t n, mn_err *err)
{
    MN_FAIL_IF(offset > f->written || n > f->written - offset, err, MNW_E_ARG,
               "%s: [%llu, +%zu) is not written yet", f->path, (unsigned long long)offset, n);
    return put(f, offset, p, n, err);
}

void mn_os_sync_parent(const char *path)
{
    char        dir[sizeof((mn_out_file *)0)->path];
    const char *slash = strrchr(path, '/');
    const size_t n = slash ? (size_t)(slash - path) : 0;
    snprintf(dir, sizeof dir, "%.*s", (int)n, path);
    const int fd = open(n ? dir : slash ? "/" : ".", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    fsync(fd);
    close(fd);
}

mnw_status mn_out_commit(mn_out_file *f, mn_err *err)
{
    const int fd = f->fd_1 - 1;
    if (f->failed || fsync(fd) != 0) {
        const mnw_status st = fail_errno(f, "cannot flush", f->failed ? EIO : errno, err);
        mn_out_abandon(f);
        return st;
    }
    f->fd_1 = 0;
    if (close(fd) != 0 || rename(f->temp, f->path) != 0) {
        const mnw_status st = fail_errno(f, "cannot put in place", errno, err);
        unlink(f->temp);
        return st;
    }
    mn_os_sync_parent(f->path);
    return MNW_OK;
}

void mn_out_abandon(mn_out_file *f)
{
    if (!f->fd_1) return;
    close(f->fd_1 - 1);
    unlink(f->temp);
    f->fd_1 = 0;
}
