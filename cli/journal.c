/* SPDX-License-Identifier: Apache-2.0
 *
 * journal.c - one JSON object a line, written as results come.
 */
#include "cli/journal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/opt.h"
#include "cli/say.h"

enum { FLAGS = JSON_COMPACT | JSON_REAL_PRECISION(17) };

static void key_of(char *key, size_t cap, const char *task, uint64_t index)
{
    snprintf(key, cap, "%s/%" PRIu64, task, index);
}

/* Take over one line; false if it is no item. */
static bool add_known(cli_journal *j, json_t *line)
{
    char key[256];
    const char *task = json_string_value(json_object_get(line, "task"));
    const json_t *item = json_object_get(line, "item");
    if (!task || !json_is_integer(item)) {
        json_decref(line);
        return false;
    }
    key_of(key, sizeof key, task, (uint64_t)json_integer_value(item));
    return json_object_set_new(j->items, key, line) == 0;
}

/* Read the lines that are whole; *whole is where they end. */
static int read_lines(cli_journal *j, const char *path, const char *text, const json_t *head,
                      long *whole)
{
    size_t number = 0;
    *whole = 0;
    for (const char *at = text, *nl; (nl = strchr(at, '\n')); at = nl + 1) {
        json_error_t why;
        json_t *line = json_loadb(at, (size_t)(nl - at), JSON_DISABLE_EOF_CHECK, &why);
        number++;
        if (number == 1) {
            const bool same = line && json_equal(line, head);
            json_decref(line);
            if (!same) {
                char *want = json_dumps(head, FLAGS | JSON_SORT_KEYS);
                cli_error("%s: the journal of another run; expected to begin with %s", path,
                          want ? want : "");
                free(want);
                return CLI_BAD_DATA;
            }
        } else if (!line || !add_known(j, line)) {
            cli_error("%s: line %zu is no result", path, number);
            return CLI_BAD_DATA;
        }
        *whole = (long)(nl + 1 - text);
    }
    return CLI_DONE;
}

static bool write_line(cli_journal *j, json_t *line)
{
    const bool ok = line && json_dumpf(line, j->file, FLAGS | JSON_SORT_KEYS) == 0 &&
                    fputc('\n', j->file) != EOF && fflush(j->file) == 0;
    json_decref(line);
    return ok;
}

int cli_journal_open(cli_journal *j, const char *path, json_t *head)
{
    *j = (cli_journal){ .items = json_object() };
    long whole = 0;
    int rc = CLI_DONE;
    if (access(path, F_OK) == 0) {
        size_t len;
        char *text = cli_read(path, &len);
        rc = text ? read_lines(j, path, text, head, &whole) : CLI_CANNOT_OPEN;
        free(text);
    }
    if (!rc) {
        j->file = fopen(path, "ab");
        const bool ok = j->file && ftruncate(fileno(j->file), whole) == 0 &&
                        (whole || write_line(j, json_incref(head)));
        if (!ok) {
            cli_error("%s: cannot write: %s", path, strerror(errno));
            rc = CLI_IO;
        }
    }
    json_decref(head);
    return rc;
}

bool cli_journal_find(const cli_journal *j, const char *task, uint64_t index, uint64_t fingerprint,
                      double *ll, uint32_t n)
{
    char key[256], print[32];
    if (!j->items) return false;
    key_of(key, sizeof key, task, index);
    snprintf(print, sizeof print, "%016" PRIx64, fingerprint);
    const json_t *line = json_object_get(j->items, key);
    const json_t *values = json_object_get(line, "ll");
    const char *theirs = json_string_value(json_object_get(line, "tokens"));
    if (!theirs || strcmp(theirs, print) != 0 || json_array_size(values) != n) return false;
    for (uint32_t i = 0; i < n; i++) ll[i] = json_number_value(json_array_get(values, i));
    return true;
}

bool cli_journal_add(cli_journal *j, const char *task, uint64_t index, uint64_t fingerprint,
                     const double *ll, uint32_t n)
{
    char print[32];
    if (!j->file) return true;
    snprintf(print, sizeof print, "%016" PRIx64, fingerprint);
    json_t *values = json_array();
    for (uint32_t i = 0; i < n; i++) json_array_append_new(values, json_real(ll[i]));
    return write_line(j, json_pack("{s:s, s:I, s:s, s:o}", "task", task, "item", (json_int_t)index,
                                   "tokens", print, "ll", values));
}

int cli_journal_close(cli_journal *j)
{
    const bool ok = !j->file || fclose(j->file) == 0;
    json_decref(j->items);
    *j = (cli_journal){ 0 };
    if (ok) return CLI_DONE;
    cli_error("the journal cannot be written: %s", strerror(errno));
    return CLI_IO;
}
