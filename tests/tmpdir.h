/* SPDX-License-Identifier: Apache-2.0
 *
 * tmpdir.h - a folder of a test's own, and the files in it.
 */
#ifndef MN_TEST_TMPDIR_H
#define MN_TEST_TMPDIR_H

#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

static char tmp_dir[256];

static inline void tmp_open(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(tmp_dir, sizeof tmp_dir, "%s/minnow-test-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(tmp_dir)) fail_msg("cannot make a folder in %s", base ? base : "/tmp");
}

/* The path of a file in the folder; the last four stay valid. */
static inline const char *tmp_path(const char *name)
{
    static char     path[4][512];
    static unsigned next;
    char           *p = path[next++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", tmp_dir, name);
    return p;
}

/* How many files are in the folder; `forget` removes them. */
static inline int tmp_files(int forget)
{
    int  n = 0;
    DIR *d = opendir(tmp_dir);
    if (!d) fail_msg("cannot list %s", tmp_dir);
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.' && (!e->d_name[1] || !strcmp(e->d_name, ".."))) continue;
        n++;
        if (forget) unlink(tmp_path(e->d_name));
    }
    closedir(d);
    return n;
}

/* Remove a folder in the folder, and its files. */
static inline void tmp_forget_dir(const char *path)
{
    DIR *d = opendir(path);
    if (!d) fail_msg("cannot list %s", path);
    for (struct dirent *e; (e = readdir(d));) unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
    rmdir(path);
}

static inline void tmp_close(void)
{
    tmp_files(1);
    rmdir(tmp_dir);
}

static inline void tmp_write(const char *path, const void *p, size_t n)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(p, 1, n, f) != n || fclose(f) != 0) fail_msg("cannot write %s", path);
}

/* A whole file, to be freed; NULL if it is not there. */
static inline uint8_t *tmp_read(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    *n = (size_t)ftell(f);
    rewind(f);
    uint8_t *p = malloc(*n + 1);
    if (!p || fread(p, 1, *n, f) != *n) fail_msg("cannot read %s", path);
    fclose(f);
    return p;
}

#endif
