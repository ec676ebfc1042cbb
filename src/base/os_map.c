/* SPDX-License-Identifier: Apache-2.0
 *
 * os_map.c - a file's bytes, mapped or read.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os.h"

static mnw_status fail_errno(mn_err *err, mnw_status code, const char *path, const char *what, int e)
{
    char text[128];
    mn_os_error_text(e, text, sizeof text);
    MN_FAIL(err, code, "%s: %s: %s", path, what, text);
}

/* strerror_r comes in two kinds, and which one a system has (glibc, musl, Android by version) is
 * best asked of the compiler: one returns a text that may lie elsewhere, the other a number. */
static inline void text_at(const char *text, char *buf, size_t cap)
{
    if (text == buf) return;
    const size_t n = strnlen(text, cap - 1);
    memcpy(buf, text, n);
    buf[n] = '\0';
}

static inline void text_in_buffer(int failed, char *buf, size_t cap)
{
    if (failed) text_at("unknown error", buf, cap);
}

void mn_os_error_text(int e, char *buf, size_t cap)
{
    buf[0] = '\0';
    _Generic(strerror_r(e, buf, cap), char *: text_at, int: text_in_buffer)
        (strerror_r(e, buf, cap), buf, cap);
}

static mnw_status read_all(int fd, uint64_t offset, size_t n, const char *name, mn_mem *mem,
                           mn_map_file *out, mn_err *err)
{
    uint8_t *p = mn_alloc(mem, n);
    MN_FAIL_IF(!p, err, MNW_E_NOMEM, "%s: %zu bytes to read it into", name, n);
    *out = (mn_map_file){ .bytes = { p, n }, .owned = p, .mem = mem };
    for (size_t done = 0; done < n;) {
        const ssize_t got = pread(fd, p + done, n - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            const int e = errno;
            mn_os_unmap(out);
            if (got < 0) return fail_errno(err, MNW_E_IO, name, "cannot read", e);
            MN_FAIL(err, MNW_E_IO, "%s: ends at byte %zu while reading %zu", name, done, n);
        }
        done += (size_t)got;
    }
    return MNW_OK;
}

static mnw_status map_range(int fd, uint64_t offset, uint64_t length, bool read, const char *name,
                            mn_mem *mem, mn_map_file *out, mn_err *err)
{
    *out = (mn_map_file){ 0 };
    struct stat st;
    if (fstat(fd, &st) != 0) return fail_errno(err, MNW_E_IO, name, "cannot stat", errno);
    MN_FAIL_IF(S_ISDIR(st.st_mode), err, MNW_E_FORMAT, "%s: is a folder, expected a file", name);
    MN_FAIL_IF(!S_ISREG(st.st_mode), err, MNW_E_FORMAT, "%s: not a regular file", name);

    const uint64_t size = (uint64_t)st.st_size;
    MN_FAIL_IF(offset > size, err, MNW_E_ARG, "%s: offset %llu is beyond its %llu bytes", name,
               (unsigned long long)offset, (unsigned long long)size);
    if (length == 0) length = size - offset;
    MN_FAIL_IF(length == 0, err, MNW_E_FORMAT, "%s: empty", name);
    MN_FAIL_IF(length > size - offset || length > SIZE_MAX / 2, err, MNW_E_ARG,
               "%s: [%llu, +%llu) lies outside its %llu bytes", name, (unsigned long long)offset,
               (unsigned long long)length, (unsigned long long)size);
    if (read || offset % MN_ALIGN) return read_all(fd, offset, (size_t)length, name, mem, out, err);

    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t skip = offset % page;
    const size_t   whole = (size_t)(length + skip);
    void *base = mmap(NULL, whole, PROT_READ, MAP_SHARED, fd, (off_t)(offset - skip));
    if (base == MAP_FAILED && errno == ENODEV)
        return read_all(fd, offset, (size_t)length, name, mem, out, err);
    if (base == MAP_FAILED) return fail_errno(err, MNW_E_IO, name, "cannot map", errno);
    *out = (mn_map_file){ .bytes = { (uint8_t *)base + skip, (size_t)length },
                          .base = base,
                          .base_size = whole };
    return MNW_OK;
}

mnw_status mn_os_map(const char *path, bool read, mn_mem *mem, mn_map_file *out, mn_err *err)
{
    *out = (mn_map_file){ 0 };
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail_errno(err, MNW_E_NOENT, path, "cannot open", errno);
    const mnw_status status = map_range(fd, 0, 0, read, path, mem, out, err);
    close(fd);
    return status;
}

mnw_status mn_os_map_fd(int fd, uint64_t offset, uint64_t length, bool read, mn_mem *mem,
                        mn_map_file *out, mn_err *err)
{
    return map_range(fd, offset, length, read, "file descriptor", mem, out, err);
}

void mn_os_unmap(mn_map_file *f)
{
    if (f->base) munmap(f->base, f->base_size);
    if (f->owned) mn_free(f->mem, f->owned);
    *f = (mn_map_file){ 0 };
}

/* madvise wants whole pages. */
static void advise(const void *p, size_t n, bool outward, int advice)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t       a = (uintptr_t)p, b = a + n;
    a = outward ? a & ~(page - 1) : (a + page - 1) & ~(page - 1);
    b = outward ? b : b & ~(page - 1);
    if (a < b) madvise((void *)a, b - a, advice);   // a hint: failing is harmless
}

void mn_os_will_need(const void *p, size_t n)
{
    advise(p, n, true, MADV_WILLNEED);
}

void mn_os_dont_need(const void *p, size_t n)
{
    advise(p, n, false, MADV_DONTNEED);
}

bool mn_os_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

bool mn_os_is_dir(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}
