/* SPDX-License-Identifier: Apache-2.0
 *
 * data.c - everything in a file, whatever it is packed with.
 */
#include "eval/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/packed.h"

enum { CHUNK = 1 << 16, PATH_CAP = 4096 };

static mnw_status add(mn_data *d, const char *name, mn_err *err)
{
    MN_FAIL_IF(d->n == MN_DATA_MEMBERS_MAX, err, MNW_E_LIMIT, "more than %d files inside",
               MN_DATA_MEMBERS_MAX);
    if (d->n == d->cap) {
        const size_t cap = d->cap ? 2 * d->cap : 16;
        mn_member   *at = mn_realloc(d->mem, d->at, cap * sizeof *at);
        MN_FAIL_IF(!at, err, MNW_E_NOMEM, "%zu files", cap);
        d->at = at;
        d->cap = cap;
    }
    mn_member   *m = &d->at[d->n];
    const size_t n = strlen(name);
    *m = (mn_member){ .name = mn_alloc(d->mem, n + 1) };
    MN_FAIL_IF(!m->name, err, MNW_E_NOMEM, "a file's name");
    memcpy(m->name, name, n + 1);
    d->n++;
    return MNW_OK;
}

/* Room for `more` bytes of the last member. */
static mnw_status grow(mn_data *d, size_t *cap, size_t more, mn_err *err)
{
    mn_member *m = &d->at[d->n - 1];
    MN_FAIL_IF(more > MN_DATA_BYTES_MAX - d->total, err, MNW_E_LIMIT, "over %d bytes uncompressed",
               MN_DATA_BYTES_MAX);
    if (m->n + more <= *cap) return MNW_OK;
    const size_t bigger = m->n + more > 2 * *cap ? m->n + more : 2 * *cap;
    char        *bytes = mn_realloc(d->mem, m->bytes, bigger);
    MN_FAIL_IF(!bytes, err, MNW_E_NOMEM, "%zu bytes", bigger);
    m->bytes = bytes;
    *cap = bigger;
    return MNW_OK;
}

static mnw_status append(mn_data *d, size_t *cap, const void *p, size_t n, mn_err *err)
{
    MN_TRY(grow(d, cap, n, err));
    mn_member *m = &d->at[d->n - 1];
    if (n) memcpy(m->bytes + m->n, p, n);
    m->n += n;
    d->total += n;
    return MNW_OK;
}

static mnw_status read_members(mn_data *d, mn_packed *u, mn_err *err)
{
    const char *name;
    for (;;) {
        MN_TRY(mn_packed_next(u, &name, err));
        if (!name) return MNW_OK;
        MN_TRY(add(d, name, err));
        char   chunk[CHUNK];
        size_t cap = 0, got;
        do {
            MN_TRY(mn_packed_read(u, chunk, sizeof chunk, &got, err));
            MN_TRY(append(d, &cap, chunk, got, err));
        } while (got);
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const mn_member *)a)->name, ((const mn_member *)b)->name);
}

mnw_status mn_data_open(mn_mem *mem, const char *dir, const char *file, mn_data *d, mn_err *err)
{
    *d = (mn_data){ .mem = mem };
    char      path[PATH_CAP];
    const int n = snprintf(path, sizeof path, "%s/%s", dir, file);
    MN_FAIL_IF(n < 0 || (size_t)n >= sizeof path, err, MNW_E_LIMIT, "%s: the path is over %d bytes",
               file, PATH_CAP);
    mn_packed u;
    MN_TRY(mn_packed_open(&u, mem, path, err));
    const mnw_status st = read_members(d, &u, err);
    mn_packed_done(&u);
    if (st != MNW_OK) {
        mn_err_prefix(err, "%s", path);
        return st;
    }
    if (d->n) qsort(d->at, d->n, sizeof *d->at, by_name);
    return MNW_OK;
}

void mn_data_done(mn_data *d)
{
    for (size_t i = 0; i < d->n; i++) {
        mn_free(d->mem, d->at[i].name);
        mn_free(d->mem, d->at[i].bytes);
    }
    if (d->mem) mn_free(d->mem, d->at);
    *d = (mn_data){ 0 };
}

bool mn_data_match(const char *pattern, const char *name, mn_str *star)
{
    const char  *at = strchr(pattern, '*');
    const size_t n = strlen(name);
    *star = (mn_str){ "", 0 };
    if (!at) return strcmp(pattern, name) == 0;
    const size_t head = (size_t)(at - pattern), tail = strlen(at + 1);
    if (n < head + tail || memcmp(name, pattern, head) != 0) return false;
    if (memcmp(name + n - tail, at + 1, tail) != 0) return false;
    *star = (mn_str){ name + head, n - head - tail };
    return true;
}

const mn_member *mn_data_find(const mn_data *d, mn_str name)
{
    for (size_t i = 0; i < d->n; i++)
        if (mn_str_is(name, d->at[i].name)) return &d->at[i];
    return NULL;
}
