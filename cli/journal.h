/* SPDX-License-Identifier: Apache-2.0
 *
 * journal.h - results of an evaluation, item by item, in a file that a later run continues.
 *
 * The first line says what was evaluated and how, every other one has an item's log-likelihoods.  Lines
 * are flushed as they are written; a last one that was cut short is dropped when the file is opened.
 */
#ifndef CLI_JOURNAL_H
#define CLI_JOURNAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct cli_journal {
    FILE *file;    // NULL: there is none
    json_t *items; // known ones by "task/index"
} cli_journal;

/* Open or create `path` for results described by `head` (taken over).  An exit code after saying why:
 * 65 if the file is something else, or of another run. */
int cli_journal_open(cli_journal *j, const char *path, json_t *head);

/* Find an item's log-likelihoods if its fingerprint is the same; false if it is not there. */
bool cli_journal_find(const cli_journal *j, const char *task, uint64_t index, uint64_t fingerprint,
                      double *ll, uint32_t n);

/* Append one; false when it could not be written. */
bool cli_journal_add(cli_journal *j, const char *task, uint64_t index, uint64_t fingerprint,
                     const double *ll, uint32_t n);

/* Zeroed is fine.  An exit code. */
int cli_journal_close(cli_journal *j);

#endif
