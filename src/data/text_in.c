/* SPDX-License-Identifier: Apache-2.0
 *
 * text_in.c - files, members, documents, pieces: one loop over four levels.
 *
 * A member is read into a buffer that only grows when a line of JSON does not fit.
 */
#include "data/text_in.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"

enum { FIRST_CAP = 4 * MN_TEXT_PIECE, BINARY = 8 << 10 };

mnw_status mn_text_open(mn_text_in *in, mn_mem *mem, const char *path, mn_err *err)
{
    *in = (mn_text_in){ .mem = mem, .folder = mn_os_is_dir(path) };
    mn_pages_init(&in->pages, mem);
    if (in->folder) {
        MN_TRY(mn_os_list(path, &in->pages, &in->file, &in->n_files, err));
    } else {
        in->file = mn_pages_push(&in->pages, 1, sizeof *in->file);
        const char *copy = mn_pages_text(&in->pages, mn_str_of(path));
        MN_FAIL_IF(!in->file || !copy, err, MNW_E_NOMEM, "%s: its name", path);
        MN_TRY(mn_packed_open(&in->packed, mem, path, err));
        in->file[in->n_files++] = (mn_os_file){ copy, in->packed.file.bytes.n };
        in->open = true;
        in->next_file = 1;
    }
    for (size_t i = 0; i < in->n_files; i++) in->total += in->file[i].bytes;
    in->buf = mn_alloc(mem, FIRST_CAP);
    MN_FAIL_IF(!in->buf, err, MNW_E_NOMEM, "a buffer of %d bytes", FIRST_CAP);
    in->cap = FIRST_CAP;
    return MNW_OK;
}

void mn_text_done(mn_text_in *in)
{
    if (!in->mem) return;
    mn_packed_done(&in->packed);
    mn_free(in->mem, in->text);
    mn_free(in->mem, in->buf);
    mn_pages_done(&in->pages);
    *in = (mn_text_in){ 0 };
}

static bool ends_with(mn_str name, const char *end)
{
    const size_t n = strlen(end);
    return name.n >= n && memcmp(name.p + name.n - n, end, n) == 0;
}

/* Is it "x.jsonl", or for a packed file "x.jsonl.xz"? */
static bool is_json(const char *path, const char *member)
{
    static const char *const PACKED[] = { ".gz", ".bz2", ".xz", ".zst" };
    mn_str name = mn_str_of(member[0] ? member : path);
    for (size_t i = 0; i < sizeof PACKED / sizeof *PACKED; i++) {
        if (ends_with(name, PACKED[i])) {
            name.n -= strlen(PACKED[i]);
            break;
        }
    }
    return ends_with(name, ".jsonl");
}

/* Go to the next member that there is; in->reading says whether there was one. */
static mnw_status next_member(mn_text_in *in, mn_err *err)
{
    for (;;) {
        const char *name = NULL;
        if (in->open) {
            MN_TRY(mn_packed_next(&in->packed, &name, err));
            if (name) {
                snprintf(in->name, sizeof in->name, "%s", name);
                in->json = is_json(in->file[in->next_file - 1].path, name);
                in->reading = in->first = true;
                in->ended = in->within = false;
                in->at = in->end = 0;
                in->line = 0;
                return MNW_OK;
            }
            mn_packed_done(&in->packed);
            in->open = false;
            in->done += in->file[in->next_file - 1].bytes;
        }
        if (in->next_file == in->n_files) return MNW_OK;
        in->name[0] = '\0';
        const char *path = in->file[in->next_file++].path;
        MN_TRY(mn_packed_open(&in->packed, in->mem, path, err));
        in->open = true;
    }
}

/* Read on behind what is in the buffer. */
static mnw_status fill(mn_text_in *in, mn_err *err)
{
    if (in->at) {
        memmove(in->buf, in->buf + in->at, in->end - in->at);
        in->end -= in->at;
        in->at = 0;
    }
    if (in->end == in->cap) {
        char *buf = mn_realloc(in->mem, in->buf, 2 * in->cap);
        MN_FAIL_IF(!buf, err, MNW_E_NOMEM, "a line of over %zu bytes", in->cap);
        in->buf = buf;
        in->cap *= 2;
    }
    size_t got;
    MN_TRY(mn_packed_read(&in->packed, in->buf + in->end, in->cap - in->end, &got, err));
    in->end += got;
    in->ended = got == 0;
    return MNW_OK;
}

static mnw_status give(mn_text_in *in, mn_str text, bool more, mn_text_piece *out)
{
    *out = (mn_text_piece){ text, in->documents, more };
    in->documents += !more;
    in->within = more;
    in->first = false;
    return MNW_OK;
}

/* Where to cut n bytes that others follow: before a line that does not begin with a blank, else between
 * characters. */
static size_t cut_at(const char *s, size_t n)
{
    for (size_t i = n - 1; i > 0; i--) {
        if (s[i] == '\n' && !strchr(" \t\r\n\f\v", s[i + 1])) return i + 1;
    }
    size_t i = n;
    while (i > n - 4 && ((uint8_t)s[i] & 0xC0) == 0x80) i--;
    return ((uint8_t)s[i] & 0xC0) == 0x80 ? n : i;
}

/* A piece of plain text; none if the member is at its end, or is no text. */
static mnw_status next_block(mn_text_in *in, mn_text_piece *out, mn_err *err)
{
    while (!in->ended && in->end - in->at <= MN_TEXT_PIECE) MN_TRY(fill(in, err));
    const size_t n = in->end - in->at;
    const char  *s = in->buf + in->at;
    in->reading = n > 0;
    if (n == 0) return MNW_OK;
    if (in->first && memchr(s, '\0', n < BINARY ? n : BINARY)) {
        MN_FAIL_IF(!in->folder && !in->name[0], err, MNW_E_FORMAT, "there are NUL bytes in it, expected text");
        in->skipped++;
        in->reading = false;
        return MNW_OK;
    }
    const bool   more = n > MN_TEXT_PIECE;
    const size_t cut = more ? cut_at(s, MN_TEXT_PIECE) : n;
    in->at += cut;
    return give(in, (mn_str){ s, cut }, more, out);
}

/* The text of an object in a line. */
static mnw_status read_object(mn_text_in *in, mn_str line, mn_text_piece *out, mn_err *err)
{
    mn_json j, text = { 0 };
    mn_json_init(&j, (mn_bytes){ (const uint8_t *)line.p, line.n });
    MN_TRY(mn_json_expect(&j, MN_JSON_OBJECT, err));
    while (mn_json_next(&j) == MN_JSON_KEY) {
        const bool wanted = mn_json_key_is(&j, "text");
        if (!wanted) {
            if (!mn_json_skip(&j)) break;
        } else {
            MN_TRY(mn_json_expect(&j, MN_JSON_STRING, err));
            text = j;
        }
    }
    if (j.event == MN_JSON_OBJECT_END) mn_json_next(&j);
    if (j.event != MN_JSON_END) return mn_json_fail(&j, "JSON", err);
    MN_FAIL_IF(!text.start, err, MNW_E_FORMAT, "the object has no \"text\"");
    if (!text.escaped) return give(in, text.raw, false, out);
    if (text.raw.n > in->text_cap) {
        const size_t cap = text.raw.n > in->cap ? text.raw.n : in->cap;
        mn_free(in->mem, in->text);
        in->text = mn_alloc(in->mem, cap);
        in->text_cap = in->text ? cap : 0;
        MN_FAIL_IF(!in->text, err, MNW_E_NOMEM, "a text of %zu bytes", text.raw.n);
    }
    return give(in, (mn_str){ in->text, mn_json_text(&text, in->text, in->text_cap) }, false, out);
}

static bool is_blank(mn_str line)
{
    for (size_t i = 0; i < line.n; i++) {
        if (!strchr(" \t\r", line.p[i]) || !line.p[i]) return false;
    }
    return true;
}

/* The document in the next line that is not blank; none at the member's end. */
static mnw_status next_line(mn_text_in *in, mn_text_piece *out, mn_err *err)
{
    for (;;) {
        const char *nl = NULL;
        for (size_t seen = 0;;) {
            if (in->end > in->at + seen) nl = memchr(in->buf + in->at + seen, '\n', in->end - in->at - seen);
            if (nl || in->ended) break;
            seen = in->end - in->at;
            MN_FAIL_IF(seen > MN_TEXT_LINE_MAX, err, MNW_E_LIMIT, "line %" PRIu64 ": over %d bytes",
                       in->line + 1, MN_TEXT_LINE_MAX);
            MN_TRY(fill(in, err));
        }
        in->reading = in->end > in->at;
        if (!in->reading) return MNW_OK;
        const char  *s = in->buf + in->at;
        const mn_str line = { s, (size_t)((nl ? nl : in->buf + in->end) - s) };
        in->at += line.n + (nl != NULL);
        in->line++;
        if (is_blank(line)) continue;
        const mnw_status st = read_object(in, line, out, err);
        if (st != MNW_OK) mn_err_prefix(err, "line %" PRIu64, in->line);
        return st;
    }
}

static mnw_status next(mn_text_in *in, mn_text_piece *out, mn_err *err)
{
    while (!out->text.p) {
        if (!in->reading) MN_TRY(next_member(in, err));
        if (!in->reading) return MNW_OK;
        MN_TRY(in->json ? next_line(in, out, err) : next_block(in, out, err));
    }
    return MNW_OK;
}

mnw_status mn_text_next(mn_text_in *in, mn_text_piece *out, mn_err *err)
{
    *out = (mn_text_piece){ 0 };
    const bool       was_open = in->open;
    const mnw_status st = next(in, out, err);
    if (st != MNW_OK && was_open) {
        const char *path = in->file[in->next_file - 1].path;
        if (in->name[0]) mn_err_prefix(err, "%s, %s", path, in->name);
        else mn_err_prefix(err, "%s", path);
    }
    return st;
}
