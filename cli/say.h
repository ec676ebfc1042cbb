/* SPDX-License-Identifier: Apache-2.0
 *
 * say.h - how the program speaks: complaints and figures on stderr, progress, files and memory.
 */
#ifndef CLI_SAY_H
#define CLI_SAY_H

#include <minnow/base.h>
#include <stdio.h>

#ifdef __GNUC__
#define CLI_PRINTF __attribute__((format(printf, 1, 2)))
#else
#define CLI_PRINTF
#endif

/* Name the command that speaks, for the start of each line: "minnow run". */
void cli_name(const char *command);

/* One line on stderr, "minnow run: ...". */
void cli_error(const char *fmt, ...) CLI_PRINTF;

/* The exit code for a status. */
int cli_exit(mnw_status st);

/* Memory, or the end of the program: a program may give up. */
void *cli_alloc(size_t size);
void *cli_grow(void *p, size_t size);
char *cli_copy(const char *text, size_t n);

/* All of a file, or of stdin for "-", NUL-terminated.  NULL after saying why. */
char *cli_read(const char *path, size_t *len);

/* Flush stdout; CLI_IO after saying why when it cannot be written (a full disk, a closed pipe). */
int cli_flush(void);

/* Progress: a bar on a terminal, otherwise a line at each tenth.  It never goes back.  `total` 0 =
 * unknown. */
typedef struct cli_bar {
    const char *what, *unit; // unit NULL: bytes
    bool quiet, terminal, drawn;
    uint64_t start, high, total;
    int tenth;
    double began, shown;
} cli_bar;

void cli_bar_start(cli_bar *b, const char *what, bool quiet, uint64_t done, uint64_t total);
void cli_bar_count(cli_bar *b, const char *what, const char *unit, bool quiet, uint64_t done,
                   uint64_t total);
void cli_bar_move(cli_bar *b, uint64_t done);
void cli_bar_end(cli_bar *b);

/* Seconds of a clock that never goes back. */
double cli_seconds(void);

/* Bytes of this process: anonymous now, file-backed now; 0 where the system does not say. */
void cli_memory(uint64_t *anonymous, uint64_t *file);

#endif
