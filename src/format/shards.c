/* SPDX-License-Identifier: Apache-2.0
 *
 * shards.c - the safetensors files of a folder as one list of tensors.
 *
 *     model.safetensors.index.json    {"weight_map": {"tensor": "model-00001-of-00002.safetensors", ...}}
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"
#include "format/limits.h"
#include "format/safetensors.h"

enum { PATH = 1024 };

typedef struct opener {
    const char *folder;
    mn_pages   *pages;
    mn_shards  *out;
    mn_content *part;        // [n_files]
    mn_str     *name;        // [n_files]
    mn_map      file_by_name;
    mn_err     *err;
} opener;

static mnw_status path_of(const opener *o, mn_str name, char path[PATH])
{
    const int n = snprintf(path, PATH, "%s/%.*s", o->folder, (int)name.n, name.p);
    MN_FAIL_IF(n < 0 || n >= PATH, o->err, MNW_E_ARG, "path of %zu bytes, at most %d",
               strlen(o->folder) + 1 + name.n, PATH - 1);
    return MNW_OK;
}

/* A file of the folder itself, and of nowhere else. */
static bool plain_name(mn_str s)
{
    static const char END[] = ".safetensors";
    const size_t      n = sizeof END - 1;
    return s.n > n && s.n <= MN_MAX_NAME && memcmp(s.p + s.n - n, END, n) == 0 &&
           !memchr(s.p, '/', s.n) && !memchr(s.p, '\\', s.n) && !memchr(s.p, 0, s.n);
}

static mnw_status open_file(opener *o, mn_str name)
{
    char      path[PATH];
    const size_t i = o->out->n_files;
    MN_TRY(path_of(o, name, path));
    MN_TRY(mn_os_map(path, false, o->pages->mem, &o->out->file[i], o->err));
    o->out->n_files++;
    o->name[i] = name;
    const mnw_status st = mn_safetensors_read(o->out->file[i].bytes, o->pages, &o->part[i], o->err);
    if (st != MNW_OK) mn_err_prefix(o->err, "%s", path);
    return st;
}

static mnw_status take_room(opener *o, size_t files)
{
    o->out->file = mn_pages_push_zero(o->pages, files, sizeof *o->out->file);
    o->part = mn_pages_push_zero(o->pages, files, sizeof *o->part);
    o->name = mn_pages_push_zero(o->pages, files, sizeof *o->name);
    MN_FAIL_IF(!o->out->file || !o->part || !o->name || !mn_map_init(&o->file_by_name, o->pages, files),
               o->err, MNW_E_NOMEM, "no memory for a list of %zu files", files);
    return MNW_OK;
}

/* Put the reader in front of the first entry of weight_map. */
static mnw_status find_map(mn_bytes index, mn_json *j, mn_err *err)
{
    mn_json_init(j, index);
    MN_TRY(mn_json_expect(j, MN_JSON_OBJECT, err));
    while (mn_json_next(j) == MN_JSON_KEY) {
        if (mn_json_key_is(j, "weight_map")) return mn_json_expect(j, MN_JSON_OBJECT, err);
        if (!mn_json_skip(j)) break;
    }
    if (j->fault) return mn_json_fail(j, "JSON", err);
    MN_FAIL(err, MNW_E_FORMAT, "weight_map: missing");
}

/* The next "tensor": "file" of the map, unescaped into memory; false at its end or on a failure. */
static bool next_entry(opener *o, mn_json *j, mn_str *tensor, mn_str *file, mnw_status *st)
{
    *st = MNW_OK;
    const mn_json_event event = mn_json_next(j);
    if (event == MN_JSON_OBJECT_END) return false;
    for (mn_str *s = tensor;; s = file) {
        if (j->event != (s == tensor ? MN_JSON_KEY : MN_JSON_STRING)) {
            *st = mn_json_fail(j, "weight_map", o->err);
            return false;
        }
        *s = j->raw;
        if (j->escaped) {
            char *p = mn_pages_push(o->pages, j->raw.n + 1, 1);
            if (!p) *st = mn_err_set(o->err, MNW_E_NOMEM, "weight_map");
            if (!p) return false;
            *s = (mn_str){ p, mn_json_text(j, p, j->raw.n + 1) };
        }
        if (s == file) return true;
        mn_json_next(j);
    }
}

/* Open each file the first time it is named. */
static mnw_status open_listed(opener *o, mn_bytes index)
{
    mn_json    j;
    mn_str     tensor, file;
    mnw_status st;
    MN_TRY(find_map(index, &j, o->err));
    while (next_entry(o, &j, &tensor, &file, &st)) {
        uint32_t i;
        if (mn_map_find(&o->file_by_name, file, &i)) continue;
        MN_FAIL_IF(!plain_name(file), o->err, MNW_E_FORMAT,
                   "%.*s: in file \"%.*s\", expected a name of this folder that ends in .safetensors",
                   MN_STR(tensor), MN_STR(file));
        MN_FAIL_IF(o->out->n_files == MN_MAX_SHARDS, o->err, MNW_E_LIMIT, "more than %u files",
                   MN_MAX_SHARDS);
        mn_map_add(&o->file_by_name, file, (uint32_t)o->out->n_files);
        MN_TRY(open_file(o, file));
    }
    return st;
}

/* Each tensor of the map must be in its file, and nothing else may be there. */
static mnw_status check_listed(opener *o, mn_bytes index)
{
    mn_json    j;
    mn_str     tensor, file;
    mnw_status st;
    size_t     n = 0;
    mn_map     seen;
    MN_FAIL_IF(!mn_map_init(&seen, o->pages, o->out->content.n_tensors + 1), o->err, MNW_E_NOMEM,
               "no memory for a list of %zu tensors", o->out->content.n_tensors);
    MN_TRY(find_map(index, &j, o->err));
    while (next_entry(o, &j, &tensor, &file, &st)) {
        uint32_t i;
        if (!mn_map_find(&o->file_by_name, file, &i) || !mn_tensor_find(&o->part[i], tensor)) {
            MN_FAIL(o->err, MNW_E_FORMAT, "%.*s: not in %.*s", MN_STR(tensor), MN_STR(file));
        }
        MN_FAIL_IF(mn_map_add(&seen, tensor, (uint32_t)n) != n, o->err, MNW_E_FORMAT,
                   "%.*s: listed twice", MN_STR(tensor));
        n++;
    }
    MN_TRY(st);
    for (size_t i = 0; i < o->out->content.n_tensors; i++) {
        uint32_t     at;
        const mn_str name = o->out->content.tensor[i].name;
        MN_FAIL_IF(!mn_map_find(&seen, name, &at), o->err, MNW_E_FORMAT,
                   "%.*s: in the files, but not listed", MN_STR(name));
    }
    return MNW_OK;
}

static mnw_status merge(opener *o)
{
    mn_content *c = &o->out->content;
    size_t      n = 0;
    for (size_t i = 0; i < o->out->n_files; i++) n += o->part[i].n_tensors;
    MN_FAIL_IF(n > MN_MAX_TENSORS, o->err, MNW_E_LIMIT, "%zu tensors, at most %u", n,
               MN_MAX_TENSORS);
    c->tensor = mn_pages_push(o->pages, n, sizeof *c->tensor);
    MN_FAIL_IF(!c->tensor || !mn_map_init(&c->tensor_by_name, o->pages, n), o->err, MNW_E_NOMEM,
               "no memory for %zu tensors", n);
    for (size_t i = 0; i < o->out->n_files; i++) {
        for (size_t k = 0; k < o->part[i].n_tensors; k++) {
            const mn_tensor *t = &o->part[i].tensor[k];
            const uint32_t   at = (uint32_t)c->n_tensors;
            MN_FAIL_IF(mn_map_add(&c->tensor_by_name, t->name, at) != at, o->err, MNW_E_FORMAT,
                       "%.*s: in %.*s and in an earlier file", MN_STR(t->name), MN_STR(o->name[i]));
            c->tensor[c->n_tensors++] = *t;
        }
    }
    return MNW_OK;
}

static mnw_status open_index(opener *o, const char *path)
{
    mn_map_file index;
    MN_TRY(mn_os_map(path, false, o->pages->mem, &index, o->err));
    mnw_status st = take_room(o, MN_MAX_SHARDS);
    if (st == MNW_OK) st = open_listed(o, index.bytes);
    if (st == MNW_OK) st = merge(o);
    if (st == MNW_OK) st = check_listed(o, index.bytes);
    mn_os_unmap(&index);
    if (st != MNW_OK) mn_err_prefix(o->err, "model.safetensors.index.json");
    return st;
}

static mnw_status open_all(opener *o)
{
    const mn_str one = mn_str_of("model.safetensors");
    char         path[PATH];
    MN_TRY(path_of(o, mn_str_of("model.safetensors.index.json"), path));
    if (mn_os_exists(path)) return open_index(o, path);
    MN_TRY(take_room(o, 1));
    MN_TRY(open_file(o, one));
    return merge(o);
}

mnw_status mn_shards_open(const char *folder, mn_pages *pages, mn_shards *out, mn_err *err)
{
    *out = (mn_shards){ 0 };
    opener           o = { .folder = folder, .pages = pages, .out = out, .err = err };
    const mnw_status st = open_all(&o);
    if (st != MNW_OK) mn_shards_close(out);
    return st;
}

void mn_shards_close(mn_shards *s)
{
    for (size_t i = 0; i < s->n_files; i++) mn_os_unmap(&s->file[i]);
    *s = (mn_shards){ 0 };
}
