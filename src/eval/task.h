/* SPDX-License-Identifier: Apache-2.0
 *
 * task.h - a multiple-choice task: a JSON file that says where the records are and, in templates, how
 * one becomes a question.
 *
 *      data         [{ "file", "member", "labels", "shots" }]: a file in the data folder; where it is an
 *                   archive, members, whose names may have one '*' (the subject); a member with one
 *                   label a line; a member with examples, in which '*' is the subject again
 *      format       jsonl, csv, lines, xml; with `fields` or `element` (record.h)
 *      context      template of the question
 *      choices      template of a JSON array of texts
 *      right        template of the index of the right choice, or of the letters of several
 *      delimiter    between context and choice                                     [a blank]
 *      skip         template; records that make any text of it are left out        [none are]
 *      shots        how many examples are put before a question                    [0]
 *      description  template of what is put before the examples                    [nothing]
 *      subjects     names of subjects, as the templates' subject_name              [the subject]
 *
 * Templates are those of docs/TEMPLATES.md; their variables are the record's members, subject and
 * subject_name.
 */
#ifndef MN_EVAL_TASK_H
#define MN_EVAL_TASK_H

#include <jansson.h>

#include "base/context.h"
#include "text/template.h"

enum {
    MN_TASK_BYTES_MAX = 1 << 20,
    MN_TASK_FILES_MAX = 4096,
    MN_CHOICES_MAX = 26,
    MN_SHOTS_MAX = 64,
};

typedef struct mn_builtin_task {
    const char *name, *about, *json;
} mn_builtin_task;

extern const mn_builtin_task mn_builtin_tasks[];   // ends with NULL; generated from share/tasks

/* The records of one file, and what is put before each of its questions. */
typedef struct mn_task_part {
    json_t *records, *shots;    // arrays; shots may be NULL
    char   *subject;
} mn_task_part;

typedef struct mn_task {
    mnw_ctx      *ctx;
    char         *name;
    json_t       *json;
    mn_template  *context, *choices, *right, *skip, *description;   // the last two may be NULL
    const char   *delimiter;
    uint32_t      shots;
    mn_task_part *part;
    size_t        n_parts, cap;
} mn_task;

/* One question.  Zeroed at first; mn_question_done frees. */
typedef struct mn_question {
    char    *context;                   // with description and examples
    char    *choice[MN_CHOICES_MAX];
    uint32_t chars[MN_CHOICES_MAX];     // of each choice
    uint32_t n, right;                  // right: a bit for each right one
    bool     skip;
} mn_question;

/* Read a task: the name of a built-in one, or a path.  shots_1: see mnw_choice_opts.  Zeroed, or after
 * an error, *t may be given to mn_task_done. */
mnw_status mn_task_open(mnw_ctx *ctx, const char *name, const char *data_dir, uint32_t shots_1,
                        mn_task *t, mn_err *err);
void       mn_task_done(mn_task *t);

/* What precedes every question of a part: *out is the caller's. */
mnw_status mn_task_preamble(const mn_task *t, size_t part, char **out, mn_err *err);

/* Make record i of a part a question. */
mnw_status mn_task_question(const mn_task *t, size_t part, size_t i, const char *preamble,
                            mn_question *q, mn_err *err);
void       mn_question_done(const mn_task *t, mn_question *q);

#endif
