/* SPDX-License-Identifier: Apache-2.0
 *
 * os.h - what differs between operating systems: mappings, files, clock, cores.
 */
#ifndef MN_BASE_OS_H
#define MN_BASE_OS_H

#include "base/bytes.h"
#include "base/err.h"

/* A file's bytes: mapped read-only, or read into memory of our own. */
typedef struct mn_map_file {
    mn_bytes bytes;       // what was asked for
    void    *base;        // page-aligned start of the mapping; NULL if read
    size_t   base_size;
    void    *owned;       // memory that holds the bytes if read
    struct mn_mem *mem;   // that it came from
} mn_map_file;

/* Map a file, or `length` bytes (0 = to the end) at `offset` of an open one.
 * `read` = do not map, read into memory of `mem`.  That also happens when the offset is no multiple
 * of MN_ALIGN or the file system cannot map: out->base is NULL then, and the caller should say so.
 * The bytes are aligned to MN_ALIGN.  Zeroed *out is fine for mn_os_unmap.
 * Errors: MNW_E_NOENT, MNW_E_IO, MNW_E_FORMAT for an empty file or a directory, MNW_E_NOMEM. */
mnw_status mn_os_map(const char *path, bool read, struct mn_mem *mem, mn_map_file *out, mn_err *err);
mnw_status mn_os_map_fd(int fd, uint64_t offset, uint64_t length, bool read, struct mn_mem *mem,
                        mn_map_file *out, mn_err *err);
void       mn_os_unmap(mn_map_file *f);

/* Hint that [p, p + n) of a mapping will be read soon, or is not needed any more. */
void mn_os_will_need(const void *p, size_t n);
void mn_os_dont_need(const void *p, size_t n);

/* A file that appears under its name only when it is whole: write to a temporary beside it, fsync,
 * rename, fsync the folder.  Zeroed is closed. */
typedef struct mn_out_file {
    int      fd_1;        // descriptor + 1, 0 = closed
    uint64_t written;
    bool     failed;      // a write failed: it cannot be committed
    char     path[1024], temp[1072];
} mn_out_file;

mnw_status mn_out_open(const char *path, mn_out_file *f, mn_err *err);
mnw_status mn_out_write(mn_out_file *f, const void *p, size_t n, mn_err *err);
/* Overwrite n bytes at an earlier offset. */
mnw_status mn_out_write_at(mn_out_file *f, uint64_t offset, const void *p, size_t n, mn_err *err);
mnw_status mn_out_commit(mn_out_file *f, mn_err *err);   // closes; the file is there now
void       mn_out_abandon(mn_out_file *f);               // closes; removes the temporary

/* A folder that appears under its name only when it is whole: files are written into a temporary beside
 * it.  Zeroed is closed. */
typedef struct mn_out_dir {
    bool open;
    char path[960], temp[1008];
} mn_out_dir;

/* Errors: MNW_E_ARG if there is something other than an empty folder under that name; MNW_E_IO. */
mnw_status mn_out_dir_open(const char *path, mn_out_dir *d, mn_err *err);
/* The path of a file to write into it, at `out`, of the size that mn_out_open takes at most. */
enum { MN_OUT_PATH = 1024 };
mnw_status mn_out_dir_path(const mn_out_dir *d, const char *name, char out[MN_OUT_PATH], mn_err *err);
mnw_status mn_out_dir_commit(mn_out_dir *d, mn_err *err);   // closes; the folder is there now
void       mn_out_dir_abandon(mn_out_dir *d);               // closes; removes the temporary and its files

/* Flush the folder that a path is in: a rename must survive a power cut. */
void mn_os_sync_parent(const char *path);

/* What an errno means, in words, without strerror's shared buffer. */
void mn_os_error_text(int e, char *buf, size_t cap);

/* Does a path exist, and is it a folder? */
bool mn_os_exists(const char *path);
bool mn_os_is_dir(const char *path);

struct mn_pages;

/* A file below a folder. */
typedef struct mn_os_file {
    const char *path;
    uint64_t    bytes;
} mn_os_file;

/* List the regular files below a folder in the order of their paths.  Empty ones, links, and files and folders
 * whose name begins with a dot are left out.
 *
 * Owns:   paths and *list are in `pages`.
 * Errors: MNW_E_NOENT, MNW_E_IO, MNW_E_NOMEM; MNW_E_LIMIT over MN_OS_FILES_MAX files. */
enum { MN_OS_FILES_MAX = 1 << 20, MN_OS_DEPTH_MAX = 64 };
mnw_status mn_os_list(const char *dir, struct mn_pages *pages, mn_os_file **list, size_t *n, mn_err *err);

/* Seconds of a clock that never goes back. */
double mn_os_seconds(void);
/* Seconds since 1970. */
int64_t mn_os_now(void);

/* Core topology and limits, read below `root` ("" for the real system; tests use a fake). */
typedef struct mn_cores {
    unsigned online;      // logical cores the system has
    unsigned allowed;     // of them in our affinity mask / cpuset
    unsigned quota;       // cgroup quota rounded down, at least 1; 0 = none
    unsigned fast;        // physical cores of the fastest kind among the allowed
    unsigned good;        // threads to use: see docs/adr
} mn_cores;

/* `affinity`: allowed core numbers as a bit mask array of 1024 bits, NULL = ask the system. */
void mn_os_cores(const char *root, const uint64_t *affinity, mn_cores *out);

/* mn_cores.good of this system. */
unsigned mn_os_good_threads(void);

/* Put the calling thread at the lowest priority. */
void mn_os_low_priority(void);

#endif
