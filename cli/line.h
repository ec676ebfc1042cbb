/* SPDX-License-Identifier: Apache-2.0
 *
 * line.h - lines from a person: edited, with history, on a terminal; plainly from a pipe.
 */
#ifndef CLI_LINE_H
#define CLI_LINE_H

typedef struct cli_line cli_line;

/* History is kept in the user's state folder, $XDG_STATE_HOME/minnow/history. */
cli_line *cli_line_open(void);

/* The next line without its newline, valid until the next call; NULL at the end of input. */
const char *cli_line_read(cli_line *l);

void cli_line_close(cli_line *l);

#endif
