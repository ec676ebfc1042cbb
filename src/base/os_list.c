/* SPDX-License-Identifier: Apache-2.0
 *
 * os_list.c - the files below a folder.
 *
 * The folders still to be looked into form a list of their own, so the depth costs no stack.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/os.h"
#include "base/pages.h"

enum { PATH = 4096 };

typedef struct entry {   // a file or a folder
    struct entry *next;
    const char   *path;
    uint64_t      bytes;
    unsigned      depth;   // of a folder
} entry;

typedef struct walk {
    mn_pages *pages;
    entry    *folders, *files;
    size_t    n_files;
    mn_err   *err;
} walk;

static mnw_status fail_errno(const walk *w, const char *path, int e)
{
    char text[128];
    mn_os_error_text(e, text, sizeof text);
    MN_FAIL(w->err, e == ENOENT ? MNW_E_NOENT : MNW_E_IO, "%s: cannot list: %s", path, text);
}

static mnw_status add(walk *w, entry **list, const char *path, uint64_t bytes, unsigned depth)
{
    entry *e = mn_pages_push(w->pages, 1, sizeof *e);
    MN_FAIL_IF(!e, w->err, MNW_E_NOMEM, "a list of files");
    *e = (entry){ *list, mn_pages_text(w->pages, mn_str_of(path)), bytes, depth };
    MN_FAIL_IF(!e->path, w->err, MNW_E_NOMEM, "a list of files");
    *list = e;
    return MNW_OK;
}

static mnw_status look_at(walk *w, const entry *folder, const char *name)
{
    char        path[PATH];
    struct stat st;
    const int   n = snprintf(path, sizeof path, "%s/%s", folder->path, name);
    MN_FAIL_IF(n < 0 || n >= PATH, w->err, MNW_E_LIMIT, "%s: a path of over %d bytes below it",
               folder->path, PATH - 1);
    if (lstat(path, &st) != 0) return errno == ENOENT ? MNW_OK : fail_errno(w, path, errno);
    if (S_ISDIR(st.st_mode)) {
        MN_FAIL_IF(folder->depth == MN_OS_DEPTH_MAX, w->err, MNW_E_LIMIT, "%s: over %d folders deep", path,
                   MN_OS_DEPTH_MAX);
        return add(w, &w->folders, path, 0, folder->depth + 1);
    }
    if (!S_ISREG(st.st_mode) || st.st_size == 0) return MNW_OK;
    MN_FAIL_IF(w->n_files++ == MN_OS_FILES_MAX, w->err, MNW_E_LIMIT, "%s: over %d files", folder->path,
               MN_OS_FILES_MAX);
    return add(w, &w->files, path, (uint64_t)st.st_size, 0);
}

static mnw_status look_into(walk *w, const entry *folder)
{
    DIR *dir = opendir(folder->path);
    if (!dir) return fail_errno(w, folder->path, errno);
    mnw_status st = MNW_OK;
    for (const struct dirent *e; st == MNW_OK && (e = readdir(dir));)
        if (e->d_name[0] != '.') st = look_at(w, folder, e->d_name);
    closedir(dir);
    return st;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const mn_os_file *)a)->path, ((const mn_os_file *)b)->path);
}

mnw_status mn_os_list(const char *dir, mn_pages *pages, mn_os_file **list, size_t *n, mn_err *err)
{
    walk w = { .pages = pages, .err = err };
    *n = 0;
    MN_TRY(add(&w, &w.folders, dir, 0, 0));
    while (w.folders) {
        const entry *folder = w.folders;
        w.folders = folder->next;
        MN_TRY(look_into(&w, folder));
    }
    *list = mn_pages_push(pages, w.n_files + 1, sizeof **list);
    MN_FAIL_IF(!*list, err, MNW_E_NOMEM, "a list of %zu files", w.n_files);
    for (const entry *e = w.files; e; e = e->next) (*list)[(*n)++] = (mn_os_file){ e->path, e->bytes };
    qsort(*list, *n, sizeof **list, by_path);
    return MNW_OK;
}
