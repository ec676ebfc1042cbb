/* SPDX-License-Identifier: Apache-2.0
 *
 * ranges.h - hashes of the parts of a file, so that one wrong byte costs one part and not the whole.
 *
 *     minnow-ranges 8388608 104857600        bytes in a part, bytes in the file
 *     9f86d081884c7d65...                    SHA-256 of each part, one a line
 */
#ifndef CLI_RANGES_H
#define CLI_RANGES_H

#include <minnow/digest.h>

typedef struct cli_ranges {
    uint64_t part, total;
    size_t n;
    char (*hex)[MNW_DIGEST_CHARS];
} cli_ranges;

/* Read a list; returns an exit code after saying why. */
int cli_ranges_read(const char *path, cli_ranges *out);

/* Print the list of a file. */
int cli_ranges_print(mnw_ctx *ctx, const char *path, uint64_t part);

/* Where part i begins and ends. */
uint64_t cli_ranges_from(const cli_ranges *r, size_t i);
uint64_t cli_ranges_to(const cli_ranges *r, size_t i);

void cli_ranges_done(cli_ranges *r);

/* Exactly 64 lower-case hex digits? */
bool cli_is_sha256(const char *text);

#endif
