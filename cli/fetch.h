/* SPDX-License-Identifier: Apache-2.0
 *
 * fetch.h - bytes of a URL into a file that may already have some of them.
 */
#ifndef CLI_FETCH_H
#define CLI_FETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/say.h"

typedef enum cli_fetched {
    CLI_FETCHED,       // all that was asked for
    CLI_FETCH_AGAIN,   // broke off: what came is in the file, the rest may come later
    CLI_FETCH_CHANGED, // the server has another file now, or does not do ranges
    CLI_FETCH_FAILED,  // for good; `code` and the message say why
} cli_fetched;

typedef struct cli_fetch {
    const char *url;
    bool loopback; // http on this machine was asked for
    int fd;
    cli_bar *bar;    // NULL = no progress
    uint64_t at;     // bytes the file has
    uint64_t total;  // size of the whole, 0 = not known
    char tag[256];   // what identifies the version: ETag or date, "" if none
    char sha256[65]; // the hub's own statement, "" if none
    int code;        // exit code after CLI_FETCH_FAILED
    char why[384];   // after anything but CLI_FETCHED
} cli_fetch;

/* Fetch from f->at to the end; at 0 whatever the server has is taken. */
cli_fetched cli_fetch_rest(cli_fetch *f);

/* Fetch bytes from .. to (exclusive) again, in place. */
cli_fetched cli_fetch_range(cli_fetch *f, uint64_t from, uint64_t to);

#endif
