/* SPDX-License-Identifier: Apache-2.0
 *
 * record.c - readers of four simple formats.
 */
#include "eval/record.h"

#include <string.h>

/* What is left of a text, and where we are in it. */
typedef struct scan {
    const char *at, *end;
    size_t      line;
} scan;

static scan scan_of(mn_str text)
{
    return (scan){ text.p, text.p + text.n, 0 };
}

/* The next line without its end; false when there is none. */
static bool next_line(scan *s, mn_str *line)
{
    if (s->at == s->end) return false;
    const char *nl = memchr(s->at, '\n', (size_t)(s->end - s->at));
    const char *end = nl ? nl : s->end;
    *line = (mn_str){ s->at, (size_t)(end - s->at) };
    if (line->n && line->p[line->n - 1] == '\r') line->n--;
    s->at = nl ? nl + 1 : s->end;
    s->line++;
    return true;
}

/* Takes over `record`. */
static mnw_status append(json_t *out, json_t *record, size_t line, mn_err *err)
{
    if (json_array_size(out) == MN_RECORDS_MAX) {
        json_decref(record);
        MN_FAIL(err, MNW_E_LIMIT, "line %zu: over %d records", line, MN_RECORDS_MAX);
    }
    MN_FAIL_IF(json_array_append_new(out, record) != 0, err, MNW_E_NOMEM, "line %zu", line);
    return MNW_OK;
}

static mnw_status set(json_t *record, mn_str key, mn_str value, size_t line, mn_err *err)
{
    char name[128];
    MN_FAIL_IF(key.n >= sizeof name, err, MNW_E_LIMIT, "line %zu: a name of %zu bytes, at most %zu",
               line, key.n, sizeof name - 1);
    for (size_t i = 0; i < key.n; i++) name[i] = key.p[i] == '-' ? '_' : key.p[i];
    name[key.n] = 0;
    json_t *text = json_stringn(value.p, value.n);
    MN_FAIL_IF(!text, err, MNW_E_FORMAT, "line %zu: %s is not UTF-8", line, name);
    MN_FAIL_IF(json_object_set_new(record, name, text) != 0, err, MNW_E_FORMAT,
               "line %zu: the name \"%s\" is not UTF-8", line, name);
    return MNW_OK;
}

static mnw_status read_jsonl(mn_str text, json_t *out, mn_err *err)
{
    scan   s = scan_of(text);
    mn_str line;
    while (next_line(&s, &line)) {
        if (line.n == 0) continue;
        json_error_t why;
        json_t      *record = json_loadb(line.p, line.n, 0, &why);
        MN_FAIL_IF(!record, err, MNW_E_FORMAT, "line %zu, column %d: %s", s.line, why.column,
                   why.text);
        if (!json_is_object(record)) {
            json_decref(record);
            MN_FAIL(err, MNW_E_FORMAT, "line %zu: expected an object", s.line);
        }
        MN_TRY(append(out, record, s.line, err));
    }
    return MNW_OK;
}

static mnw_status read_lines(const json_t *fields, mn_str text, json_t *out, mn_err *err)
{
    scan         s = scan_of(text);
    mn_str       line;
    json_t      *record = NULL;
    const size_t n = json_array_size(fields);
    MN_FAIL_IF(n == 0 || n > MN_FIELDS_MAX, err, MNW_E_FORMAT, "%zu fields, expected 1 to %d", n,
               MN_FIELDS_MAX);
    for (size_t i = 0; next_line(&s, &line); i = (i + 1) % n) {
        const char *name = json_string_value(json_array_get(fields, i));
        MN_FAIL_IF(!name, err, MNW_E_FORMAT, "field %zu: expected a name", i);
        if (i == 0) {
            record = json_object();
            MN_TRY(append(out, record, s.line, err));
        }
        MN_TRY(set(record, mn_str_of(name), line, s.line, err));
    }
    MN_FAIL_IF(record && json_object_size(record) != n, err, MNW_E_FORMAT,
               "line %zu: the last record has %zu lines, expected %zu", s.line,
               json_object_size(record), n);
    return MNW_OK;
}

/* One cell of CSV into buf, which has room for all of the text; *last: it ends its row. */
static mnw_status cell(scan *s, char *buf, mn_str *out, bool *last, mn_err *err)
{
    size_t     n = 0;
    const bool quoted = s->at < s->end && *s->at == '"';
    const size_t began = s->line + 1;
    if (quoted) s->at++;
    for (;; s->at++) {
        const bool end = s->at == s->end;
        MN_FAIL_IF(end && quoted, err, MNW_E_FORMAT, "line %zu: a quoted cell does not end", began);
        if (end) break;
        if (quoted && *s->at == '"') {
            if (s->at + 1 == s->end || s->at[1] != '"') break;
            s->at++;
        } else if (!quoted && (*s->at == ',' || *s->at == '\n')) {
            break;
        }
        s->line += *s->at == '\n';
        buf[n++] = *s->at;
    }
    if (quoted) s->at++;
    else if (n && buf[n - 1] == '\r' && (s->at == s->end || *s->at == '\n')) n--;
    if (quoted && s->at < s->end && *s->at == '\r') s->at++;
    const char stop = s->at == s->end ? '\n' : *s->at;
    MN_FAIL_IF(stop != ',' && stop != '\n', err, MNW_E_FORMAT,
               "line %zu: expected a comma after the quoted cell", s->line + 1);
    if (s->at < s->end) s->at++;
    *last = stop == '\n';
    s->line += *last;
    *out = (mn_str){ buf, n };
    return MNW_OK;
}

static mnw_status read_csv(mn_str text, char *buf, json_t *out, mn_err *err)
{
    scan    s = scan_of(text);
    json_t *names = NULL, *record;
    bool    last;
    mn_str  value;
    if (mn_str_starts(text, mn_str_of("\xEF\xBB\xBF"))) s.at += 3;
    mnw_status st = MNW_OK;
    names = json_array();
    do {
        st = cell(&s, buf, &value, &last, err);
        if (st == MNW_OK && json_array_append_new(names, json_stringn(value.p, value.n)) != 0)
            st = mn_err_set(err, MNW_E_FORMAT, "line 1: a name is not UTF-8");
        if (st == MNW_OK && json_array_size(names) > MN_FIELDS_MAX)
            st = mn_err_set(err, MNW_E_LIMIT, "line 1: over %d columns", MN_FIELDS_MAX);
    } while (st == MNW_OK && !last);

    while (st == MNW_OK && s.at < s.end) {
        const size_t line = s.line + 1;
        size_t       i = 0;
        record = json_object();
        st = append(out, record, line, err);
        for (last = false; st == MNW_OK && !last; i++) {
            st = cell(&s, buf, &value, &last, err);
            const char *name = json_string_value(json_array_get(names, i));
            if (st == MNW_OK && name && *name) st = set(record, mn_str_of(name), value, line, err);
        }
        if (st == MNW_OK && i != json_array_size(names)) {
            st = mn_err_set(err, MNW_E_FORMAT, "line %zu: %zu cells, expected %zu", line, i,
                            json_array_size(names));
        }
    }
    json_decref(names);
    return st;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_blanks(scan *s)
{
    for (; s->at < s->end && is_blank(*s->at); s->at++) s->line += *s->at == '\n';
}

static mn_str take_name(scan *s)
{
    mn_str name = { s->at, 0 };
    while (s->at < s->end && !is_blank(*s->at) && !strchr("=<>/\"'", *s->at)) s->at++;
    name.n = (size_t)(s->at - name.p);
    return name;
}

static bool take(scan *s, const char *what)
{
    const size_t n = strlen(what);
    if ((size_t)(s->end - s->at) < n || memcmp(s->at, what, n) != 0) return false;
    s->at += n;
    return true;
}

/* Text up to `stop`, with the five entities read, in buf. */
static bool take_text(scan *s, char stop, char *buf, mn_str *out)
{
    static const struct {
        const char *name;
        char        c;
    } ENTITY[] = { { "&amp;", '&' }, { "&lt;", '<' }, { "&gt;", '>' }, { "&quot;", '"' },
                   { "&apos;", '\'' } };
    size_t n = 0;
    while (s->at < s->end && *s->at != stop) {
        char   c = 0;
        for (size_t i = 0; !c && i < sizeof ENTITY / sizeof *ENTITY; i++)
            if (take(s, ENTITY[i].name)) c = ENTITY[i].c;
        if (!c) {
            s->line += *s->at == '\n';
            c = *s->at++;
        }
        buf[n++] = c;
    }
    *out = (mn_str){ buf, n };
    return s->at < s->end;
}

/* After "<item": attributes, then children, up to "</item>". */
static mnw_status read_element(scan *s, const char *element, char *buf, json_t *record, mn_err *err)
{
    mn_str value;
    for (skip_blanks(s); s->at < s->end && *s->at != '>'; skip_blanks(s)) {
        const mn_str name = take_name(s);
        if (!name.n || !take(s, "=\"") || !take_text(s, '"', buf, &value) || !take(s, "\""))
            MN_FAIL(err, MNW_E_FORMAT, "line %zu: expected name=\"value\"", s->line + 1);
        MN_TRY(set(record, name, value, s->line + 1, err));
    }
    if (!take(s, ">")) MN_FAIL(err, MNW_E_FORMAT, "line %zu: a tag does not end", s->line + 1);
    for (skip_blanks(s); !take(s, "</"); skip_blanks(s)) {
        mn_str name = { 0 };
        if (take(s, "<")) name = take_name(s);
        const bool ok = name.n && take(s, ">") && take_text(s, '<', buf, &value) && take(s, "</") &&
                        mn_str_eq(take_name(s), name) && take(s, ">");
        MN_FAIL_IF(!ok, err, MNW_E_FORMAT, "line %zu: expected <name>text</name> in %s", s->line + 1,
                   element);
        MN_TRY(set(record, name, value, s->line + 1, err));
    }
    MN_FAIL_IF(!mn_str_is(take_name(s), element) || !take(s, ">"), err, MNW_E_FORMAT,
               "line %zu: expected </%s>", s->line + 1, element);
    return MNW_OK;
}

static mnw_status read_xml(const char *element, mn_str text, char *buf, json_t *out, mn_err *err)
{
    scan s = scan_of(text);
    MN_FAIL_IF(!element, err, MNW_E_FORMAT, "xml: no \"element\" is named");
    while (s.at < s.end) {
        if (!take(&s, "<")) {
            s.line += *s.at++ == '\n';
            continue;
        }
        if (!mn_str_is(take_name(&s), element)) continue;   // a declaration, the root, an end tag
        json_t *record = json_object();
        MN_TRY(append(out, record, s.line + 1, err));
        MN_TRY(read_element(&s, element, buf, record, err));
    }
    return MNW_OK;
}

mnw_status mn_records_read(mn_mem *mem, const char *format, const json_t *fields,
                           const char *element, mn_str text, json_t **out, mn_err *err)
{
    *out = NULL;
    char   *buf = mn_alloc(mem, text.n + 1);   // no cell or text is longer
    json_t *records = json_array();
    mnw_status st;
    if (!buf || !records) st = mn_err_set(err, MNW_E_NOMEM, "%zu bytes of records", text.n);
    else if (strcmp(format, "jsonl") == 0) st = read_jsonl(text, records, err);
    else if (strcmp(format, "csv") == 0) st = read_csv(text, buf, records, err);
    else if (strcmp(format, "lines") == 0) st = read_lines(fields, text, records, err);
    else if (strcmp(format, "xml") == 0) st = read_xml(element, text, buf, records, err);
    else st = mn_err_set(err, MNW_E_ARG, "format %s: expected jsonl, csv, lines or xml", format);
    mn_free(mem, buf);
    if (st == MNW_OK) *out = records;
    else json_decref(records);
    return st;
}

mnw_status mn_records_label(json_t *records, mn_str text, mn_err *err)
{
    scan   s = scan_of(text);
    mn_str line;
    for (size_t i = 0; i < json_array_size(records); i++) {
        MN_FAIL_IF(!next_line(&s, &line), err, MNW_E_FORMAT, "%zu labels for %zu records", s.line,
                   json_array_size(records));
        MN_TRY(set(json_array_get(records, i), mn_str_of("label"), line, s.line, err));
    }
    MN_FAIL_IF(next_line(&s, &line), err, MNW_E_FORMAT, "more labels than the %zu records",
               json_array_size(records));
    return MNW_OK;
}
