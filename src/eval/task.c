/* SPDX-License-Identifier: Apache-2.0
 *
 * task.c - read a task's definition and its records, and make questions of them.
 */
#include "eval/task.h"

#include <minnow/eval.h>
#include <string.h>

#include "base/json.h"
#include "base/os.h"
#include "eval/data.h"
#include "eval/record.h"

static mnw_status copy_text(mn_mem *mem, mn_str s, char **out, mn_err *err)
{
    *out = mn_alloc(mem, s.n + 1);
    MN_FAIL_IF(!*out, err, MNW_E_NOMEM, "%zu bytes", s.n);
    if (s.n) memcpy(*out, s.p, s.n);
    (*out)[s.n] = 0;
    return MNW_OK;
}

static mnw_status parse(mn_str text, json_t **out, mn_err *err)
{
    json_error_t why;
    *out = json_loadb(text.p, text.n, 0, &why);
    MN_FAIL_IF(!*out, err, MNW_E_FORMAT, "line %d, column %d: %s", why.line, why.column, why.text);
    MN_FAIL_IF(!json_is_object(*out), err, MNW_E_FORMAT, "expected an object");
    return MNW_OK;
}

/* The file's name without folder and ending. */
static mn_str base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    mn_str      s = mn_str_of(slash ? slash + 1 : path);
    if (s.n > 5 && memcmp(s.p + s.n - 5, ".json", 5) == 0) s.n -= 5;
    return s;
}

static mnw_status load(const char *name, mn_task *t, mn_err *err)
{
    for (const mn_builtin_task *b = mn_builtin_tasks; b->name; b++) {
        if (strcmp(b->name, name) != 0) continue;
        MN_TRY(copy_text(&t->ctx->mem, mn_str_of(name), &t->name, err));
        return parse(mn_str_of(b->json), &t->json, err);
    }
    const bool path = strchr(name, '/') || strstr(name, ".json");
    MN_FAIL_IF(!path, err, MNW_E_ARG, "there is no such task, nor is it the path of a JSON file");
    MN_TRY(copy_text(&t->ctx->mem, base_name(name), &t->name, err));
    mn_map_file map;
    MN_TRY(mn_os_map(name, false, &t->ctx->mem, &map, err));
    mnw_status st;
    if (map.bytes.n > MN_TASK_BYTES_MAX) {
        st = mn_err_set(err, MNW_E_LIMIT, "%zu bytes, at most %d", map.bytes.n, MN_TASK_BYTES_MAX);
    } else {
        st = parse((mn_str){ (const char *)map.bytes.p, map.bytes.n }, &t->json, err);
    }
    mn_os_unmap(&map);
    return st;
}

/* A member that must be text if it is there. */
static mnw_status text_member(const json_t *object, const char *key, const char **out, mn_err *err)
{
    const json_t *v = json_object_get(object, key);
    *out = json_string_value(v);
    MN_FAIL_IF(v && !*out, err, MNW_E_FORMAT, "\"%s\": expected text", key);
    return MNW_OK;
}

static mnw_status compile(mn_task *t, const char *key, bool needed, mn_template **out, mn_err *err)
{
    const char *source;
    MN_TRY(text_member(t->json, key, &source, err));
    MN_FAIL_IF(!source && needed, err, MNW_E_FORMAT, "\"%s\" is missing", key);
    if (!source) return MNW_OK;
    const mnw_status st = mn_template_compile(&t->ctx->mem, mn_str_of(source), out, err);
    if (st != MNW_OK) mn_err_prefix(err, "\"%s\"", key);
    return st;
}

static mnw_status read_definition(mn_task *t, uint32_t shots_1, mn_err *err)
{
    static const char *const KNOWN[] = { "about", "data", "format", "fields", "element", "context",
                                         "choices", "right", "delimiter", "skip", "shots",
                                         "description", "subjects" };
    const char *key;
    json_t     *value;
    json_object_foreach(t->json, key, value)
    {
        size_t i = 0;
        while (i < sizeof KNOWN / sizeof *KNOWN && strcmp(KNOWN[i], key) != 0) i++;
        MN_FAIL_IF(i == sizeof KNOWN / sizeof *KNOWN, err, MNW_E_FORMAT, "\"%s\" is not known", key);
    }
    MN_TRY(compile(t, "context", true, &t->context, err));
    MN_TRY(compile(t, "choices", true, &t->choices, err));
    MN_TRY(compile(t, "right", true, &t->right, err));
    MN_TRY(compile(t, "skip", false, &t->skip, err));
    MN_TRY(compile(t, "description", false, &t->description, err));
    MN_TRY(text_member(t->json, "delimiter", &t->delimiter, err));
    if (!t->delimiter) t->delimiter = " ";
    const json_int_t own = json_integer_value(json_object_get(t->json, "shots"));
    const json_int_t shots = shots_1 ? (json_int_t)shots_1 - 1 : own;
    MN_FAIL_IF(shots < 0 || shots > MN_SHOTS_MAX, err, MNW_E_LIMIT, "%lld shots, expected 0 to %d",
               (long long)shots, MN_SHOTS_MAX);
    t->shots = (uint32_t)shots;
    return MNW_OK;
}

/* Records of a member of the archive. */
static mnw_status member_records(mn_task *t, const mn_member *m, json_t **out, mn_err *err)
{
    const char *format, *element;
    MN_TRY(text_member(t->json, "format", &format, err));
    MN_TRY(text_member(t->json, "element", &element, err));
    MN_FAIL_IF(!format, err, MNW_E_FORMAT, "\"format\" is missing");
    const mnw_status st = mn_records_read(&t->ctx->mem, format, json_object_get(t->json, "fields"),
                                          element, (mn_str){ m->bytes, m->n }, out, err);
    if (st != MNW_OK && *m->name) mn_err_prefix(err, "%s", m->name);
    return st;
}

/* The member whose name is a pattern with the subject in it. */
static mnw_status related(const mn_data *d, const char *pattern, mn_str subject,
                          const mn_member **out, mn_err *err)
{
    for (size_t i = 0; i < d->n; i++) {
        mn_str star;
        if (!mn_data_match(pattern, d->at[i].name, &star)) continue;
        if (strchr(pattern, '*') && !mn_str_eq(star, subject)) continue;
        *out = &d->at[i];
        return MNW_OK;
    }
    MN_FAIL(err, MNW_E_FORMAT, "%s (subject \"%.*s\") is not inside", pattern, MN_STR(subject));
}

static mnw_status add_part(mn_task *t, const mn_data *d, const json_t *entry, const mn_member *m,
                           mn_str subject, mn_err *err)
{
    MN_FAIL_IF(t->n_parts == MN_TASK_FILES_MAX, err, MNW_E_LIMIT, "over %d files of records",
               MN_TASK_FILES_MAX);
    if (t->n_parts == t->cap) {
        const size_t  cap = t->cap ? 2 * t->cap : 8;
        mn_task_part *part = mn_realloc(&t->ctx->mem, t->part, cap * sizeof *part);
        MN_FAIL_IF(!part, err, MNW_E_NOMEM, "%zu files", cap);
        t->part = part;
        t->cap = cap;
    }
    mn_task_part *p = &t->part[t->n_parts++];
    *p = (mn_task_part){ 0 };
    MN_TRY(copy_text(&t->ctx->mem, subject, &p->subject, err));
    MN_TRY(member_records(t, m, &p->records, err));

    const char      *labels, *shots;
    const mn_member *other;
    MN_TRY(text_member(entry, "labels", &labels, err));
    MN_TRY(text_member(entry, "shots", &shots, err));
    if (labels) {
        MN_TRY(related(d, labels, subject, &other, err));
        MN_TRY(mn_records_label(p->records, (mn_str){ other->bytes, other->n }, err));
    }
    if (t->shots == 0) return MNW_OK;
    MN_FAIL_IF(!shots, err, MNW_E_ARG, "%u examples are asked for, the task has none", t->shots);
    MN_TRY(related(d, shots, subject, &other, err));
    MN_TRY(member_records(t, other, &p->shots, err));
    MN_FAIL_IF(json_array_size(p->shots) < t->shots, err, MNW_E_FORMAT,
               "%s has %zu examples, %u are asked for", other->name, json_array_size(p->shots),
               t->shots);
    return MNW_OK;
}

static mnw_status add_entry(mn_task *t, const mn_data *d, const json_t *entry, mn_err *err)
{
    const char *member;
    MN_TRY(text_member(entry, "member", &member, err));
    const size_t before = t->n_parts;
    for (size_t i = 0; i < d->n; i++) {
        mn_str subject = { "", 0 };
        if (!mn_data_match(member ? member : "", d->at[i].name, &subject)) continue;
        MN_TRY(add_part(t, d, entry, &d->at[i], subject, err));
    }
    MN_FAIL_IF(t->n_parts == before, err, MNW_E_FORMAT, "%s is not inside",
               member ? member : "a single file");
    return MNW_OK;
}

static mnw_status read_data(mn_task *t, const char *dir, mn_err *err)
{
    const json_t *data = json_object_get(t->json, "data"), *entry;
    const char   *open = NULL, *file;
    mn_data       d = { 0 };
    mnw_status    st = MNW_OK;
    size_t        i;
    MN_FAIL_IF(json_array_size(data) == 0, err, MNW_E_FORMAT, "\"data\": expected a list of files");
    json_array_foreach(data, i, entry)
    {
        st = text_member(entry, "file", &file, err);
        if (st == MNW_OK && !file) st = mn_err_set(err, MNW_E_FORMAT, "data %zu: no \"file\"", i);
        if (st == MNW_OK && (!open || strcmp(open, file) != 0)) {
            mn_data_done(&d);
            st = mn_data_open(&t->ctx->mem, dir, file, &d, err);
            open = file;
            if (st != MNW_OK) break;   // it names the file itself
        }
        if (st == MNW_OK) st = add_entry(t, &d, entry, err);
        if (st == MNW_OK) continue;
        mn_err_prefix(err, "%s", file ? file : "data");
        break;
    }
    mn_data_done(&d);
    return st;
}

mnw_status mn_task_open(mnw_ctx *ctx, const char *name, const char *data_dir, uint32_t shots_1,
                        mn_task *t, mn_err *err)
{
    *t = (mn_task){ .ctx = ctx };
    mnw_status st = load(name, t, err);
    if (st == MNW_OK) st = read_definition(t, shots_1, err);
    if (st == MNW_OK) st = read_data(t, data_dir, err);
    if (st != MNW_OK) mn_err_prefix(err, "task %s", name);
    return st;
}

void mn_task_done(mn_task *t)
{
    if (!t->ctx) return;
    mn_mem *mem = &t->ctx->mem;
    for (size_t i = 0; i < t->n_parts; i++) {
        json_decref(t->part[i].records);
        json_decref(t->part[i].shots);
        mn_free(mem, t->part[i].subject);
    }
    mn_free(mem, t->part);
    mn_template_free(mem, t->context);
    mn_template_free(mem, t->choices);
    mn_template_free(mem, t->right);
    mn_template_free(mem, t->skip);
    mn_template_free(mem, t->description);
    mn_free(mem, t->name);
    json_decref(t->json);
    *t = (mn_task){ 0 };
}

/* The variables of a record as JSON text; *out is the caller's. */
static mnw_status variables(const mn_task *t, const mn_task_part *p, json_t *record, mn_str *out,
                            mn_err *err)
{
    json_t     *all = record ? json_copy(record) : json_object();
    const char *name = json_string_value(
        json_object_get(json_object_get(t->json, "subjects"), p->subject));
    json_object_set_new(all, "messages", json_array());   // templates are those of chats
    json_object_set_new(all, "subject", json_string(p->subject));
    json_object_set_new(all, "subject_name", json_string(name ? name : p->subject));
    const size_t n = json_dumpb(all, NULL, 0, JSON_COMPACT);
    char        *text = mn_alloc(&t->ctx->mem, n + 1);
    if (text) json_dumpb(all, text, n, JSON_COMPACT);
    json_decref(all);
    *out = (mn_str){ text, n };
    MN_FAIL_IF(!text, err, MNW_E_NOMEM, "a record of %zu bytes", n);
    return MNW_OK;
}

static mnw_status render(const mn_task *t, const mn_template *template, const char *what,
                         mn_str vars, mn_template_text *out, mn_err *err)
{
    const mn_template_args args = { .messages = vars };
    const mnw_status       st = mn_template_render(template, &t->ctx->mem, &args, out, err);
    if (st != MNW_OK) mn_err_prefix(err, "\"%s\"", what);
    return st;
}

/* The texts of a JSON array. */
static mnw_status take_choices(const mn_task *t, mn_str json, mn_question *q, mn_err *err)
{
    mn_json j;
    mn_json_init(&j, (mn_bytes){ (const uint8_t *)json.p, json.n });
    MN_TRY(mn_json_expect(&j, MN_JSON_ARRAY, err));
    while (mn_json_next(&j) == MN_JSON_STRING) {
        MN_FAIL_IF(q->n == MN_CHOICES_MAX, err, MNW_E_LIMIT, "over %d choices", MN_CHOICES_MAX);
        char *text = mn_alloc(&t->ctx->mem, j.raw.n + 1);
        MN_FAIL_IF(!text, err, MNW_E_NOMEM, "a choice");
        const size_t n = mn_json_text(&j, text, j.raw.n);
        text[n] = 0;
        q->choice[q->n] = text;
        for (size_t i = 0; i < n; i++) q->chars[q->n] += ((uint8_t)text[i] & 0xC0) != 0x80;
        q->n++;
    }
    if (j.event != MN_JSON_ARRAY_END) {
        MN_FAIL_IF(j.event != MN_JSON_ERROR, err, MNW_E_FORMAT, "expected an array of texts");
        return mn_json_fail(&j, "choices", err);
    }
    MN_FAIL_IF(q->n < 2, err, MNW_E_FORMAT, "%u choices, expected 2 to %d", q->n, MN_CHOICES_MAX);
    for (uint32_t i = 0; i < q->n; i++)
        MN_FAIL_IF(q->chars[i] == 0, err, MNW_E_FORMAT, "choice %u is empty", i);
    return MNW_OK;
}

/* "2", or "C", or "AC"; nothing: none is right. */
static mnw_status take_right(mn_str text, mn_question *q, mn_err *err)
{
    uint32_t index = 0;
    bool     digits = false;
    for (size_t i = 0; i < text.n; i++) {
        const char c = text.p[i];
        if (c == ' ' || c == '\n' || c == '\r') continue;
        if (c >= '0' && c <= '9' && q->right == 0 && index < 1000) {
            index = index * 10 + (uint32_t)(c - '0');
            digits = true;
        } else if (c >= 'A' && (uint32_t)(c - 'A') < q->n && !digits) {
            q->right |= 1u << (c - 'A');
        } else {
            MN_FAIL(err, MNW_E_FORMAT,
                    "\"right\": \"%.*s\", expected an index or letters of %u choices",
                    MN_STR(text), q->n);
        }
    }
    MN_FAIL_IF(digits && index >= q->n, err, MNW_E_FORMAT, "\"right\": %u, expected 0 to %u", index,
               q->n - 1);
    if (digits) q->right = 1u << index;
    return MNW_OK;
}

/* All of a question but what precedes it. */
static mnw_status build(const mn_task *t, mn_str vars, const char *preamble, mn_question *q,
                        mn_template_text *text, mn_err *err)
{
    mn_mem *mem = &t->ctx->mem;
    if (t->skip) {
        MN_TRY(render(t, t->skip, "skip", vars, text, err));
        q->skip = text->len > 0;
        mn_template_text_done(mem, text);
        if (q->skip) return MNW_OK;
    }
    MN_TRY(render(t, t->choices, "choices", vars, text, err));
    MN_TRY(take_choices(t, (mn_str){ text->text, text->len }, q, err));
    mn_template_text_done(mem, text);
    MN_TRY(render(t, t->right, "right", vars, text, err));
    MN_TRY(take_right((mn_str){ text->text, text->len }, q, err));
    mn_template_text_done(mem, text);
    MN_TRY(render(t, t->context, "context", vars, text, err));
    const size_t head = strlen(preamble);
    q->context = mn_alloc(mem, head + text->len + 1);
    MN_FAIL_IF(!q->context, err, MNW_E_NOMEM, "a context of %zu bytes", head + text->len);
    memcpy(q->context, preamble, head);
    memcpy(q->context + head, text->text, text->len + 1);
    MN_FAIL_IF(!*q->context, err, MNW_E_FORMAT, "the context is empty");
    return MNW_OK;
}

static mnw_status question(const mn_task *t, const mn_task_part *p, json_t *record,
                           const char *preamble, mn_question *q, mn_err *err)
{
    *q = (mn_question){ 0 };
    mn_str           vars;
    mn_template_text text = { 0 };
    MN_TRY(variables(t, p, record, &vars, err));
    const mnw_status st = build(t, vars, preamble, q, &text, err);
    mn_template_text_done(&t->ctx->mem, &text);
    mn_free(&t->ctx->mem, (void *)vars.p);
    return st;
}

mnw_status mn_task_question(const mn_task *t, size_t part, size_t i, const char *preamble,
                            mn_question *q, mn_err *err)
{
    const mn_task_part *p = &t->part[part];
    const mnw_status st = question(t, p, json_array_get(p->records, i), preamble, q, err);
    if (st != MNW_OK)
        mn_err_prefix(err, "task %s, %s%srecord %zu", t->name, p->subject,
                      *p->subject ? ", " : "", i);
    return st;
}

void mn_question_done(const mn_task *t, mn_question *q)
{
    for (uint32_t i = 0; i < MN_CHOICES_MAX; i++) mn_free(&t->ctx->mem, q->choice[i]);
    mn_free(&t->ctx->mem, q->context);
    *q = (mn_question){ 0 };
}

/* out += text */
static mnw_status append(mn_mem *mem, char **out, const char *text, mn_err *err)
{
    const size_t have = *out ? strlen(*out) : 0, n = strlen(text);
    char        *grown = mn_realloc(mem, *out, have + n + 1);
    MN_FAIL_IF(!grown, err, MNW_E_NOMEM, "%zu bytes", have + n);
    memcpy(grown + have, text, n + 1);
    *out = grown;
    return MNW_OK;
}

/* out += context, delimiter, right choice and an empty line */
static mnw_status append_example(const mn_task *t, const mn_question *q, char **out, mn_err *err)
{
    mn_mem  *mem = &t->ctx->mem;
    uint32_t right = 0;
    MN_FAIL_IF(!q->right, err, MNW_E_FORMAT, "no choice is right");
    while (!(q->right >> right & 1)) right++;
    MN_TRY(append(mem, out, q->context, err));
    MN_TRY(append(mem, out, t->delimiter, err));
    MN_TRY(append(mem, out, q->choice[right], err));
    return append(mem, out, "\n\n", err);
}

static mnw_status add_examples(const mn_task *t, const mn_task_part *p, char **out, mn_err *err)
{
    for (uint32_t i = 0; i < t->shots; i++) {
        mn_question q;
        mnw_status  st = question(t, p, json_array_get(p->shots, i), "", &q, err);
        if (st == MNW_OK) st = append_example(t, &q, out, err);
        mn_question_done(t, &q);
        if (st == MNW_OK) continue;
        mn_err_prefix(err, "task %s, example %u of \"%s\"", t->name, i, p->subject);
        return st;
    }
    return MNW_OK;
}

mnw_status mn_task_preamble(const mn_task *t, size_t part, char **out, mn_err *err)
{
    const mn_task_part *p = &t->part[part];
    mn_mem             *mem = &t->ctx->mem;
    mnw_status          st = MNW_OK;
    *out = NULL;
    if (t->description) {
        mn_str           vars;
        mn_template_text text = { 0 };
        MN_TRY(variables(t, p, NULL, &vars, err));
        st = render(t, t->description, "description", vars, &text, err);
        if (st == MNW_OK) st = append(mem, out, text.text, err);
        mn_template_text_done(mem, &text);
        mn_free(mem, (void *)vars.p);
    } else {
        st = append(mem, out, "", err);
    }
    if (st == MNW_OK) st = add_examples(t, p, out, err);
    if (st == MNW_OK) return MNW_OK;
    mn_free(mem, *out);
    *out = NULL;
    return st;
}

/* The built-in task of this number, NULL beyond the last. */
static const mn_builtin_task *builtin(size_t i)
{
    for (size_t k = 0; mn_builtin_tasks[k].name; k++)
        if (k == i) return &mn_builtin_tasks[k];
    return NULL;
}

const char *mnw_eval_task_name(size_t i)
{
    return builtin(i) ? builtin(i)->name : NULL;
}

const char *mnw_eval_task_about(size_t i)
{
    return builtin(i) ? builtin(i)->about : NULL;
}
