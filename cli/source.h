/* SPDX-License-Identifier: Apache-2.0
 *
 * source.h - where a file to pull comes from: "hf:org/repo/file" and relatives, to a URL.
 */
#ifndef CLI_SOURCE_H
#define CLI_SOURCE_H

#include <stdbool.h>

typedef struct cli_source {
    char *url;  // https, or http on this machine
    char *name; // of the file: one plain path component
    bool loopback;
} cli_source;

/* Read a source.  `endpoint` replaces the hub's own address (mirrors, tests); NULL = the hub's.
 * Returns an exit code after saying why. */
int cli_source_read(const char *text, const char *endpoint, cli_source *out);

void cli_source_done(cli_source *s);

/* May this URL be fetched?  https anywhere; http on the loopback if that was asked for.  NULL, or
 * why not. */
const char *cli_url_refused(const char *url, bool loopback_asked, bool *loopback);

#endif
