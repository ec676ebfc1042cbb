/* SPDX-License-Identifier: Apache-2.0
 *
 * ranges.c - read, check and print lists of part hashes.
 */
#include "cli/ranges.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/opt.h"
#include "cli/say.h"

enum { MAX_PARTS = 1 << 20, MIN_PART = 1 << 12 };

bool cli_is_sha256(const char *text)
{
    return strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64;
}

uint64_t cli_ranges_from(const cli_ranges *r, size_t i)
{
    return i * r->part;
}

uint64_t cli_ranges_to(const cli_ranges *r, size_t i)
{
    return i + 1 == r->n ? r->total : (i + 1) * r->part;
}

static int parse(const char *path, char *text, cli_ranges *r)
{
    int used = 0;
    if (sscanf(text, "minnow-ranges %" SCNu64 " %" SCNu64 "%n", &r->part, &r->total, &used) != 2 ||
        text[used] != '\n' || r->part < MIN_PART || r->total == 0 ||
        (r->total - 1) / r->part >= MAX_PARTS) {
        cli_error("%s: line 1: expected minnow-ranges PART TOTAL, parts of at least %d bytes, at "
                  "most %d of them",
                  path, MIN_PART, MAX_PARTS);
        return CLI_BAD_DATA;
    }
    r->n = (size_t)((r->total - 1) / r->part + 1);
    r->hex = cli_alloc(r->n * sizeof *r->hex);
    char *p = text + used + 1;
    for (size_t i = 0; i < r->n; i++) {
        const size_t len = strcspn(p, "\n");
        const char end = p[len];
        p[len] = 0;
        if (!cli_is_sha256(p)) {
            cli_error("%s: line %zu: expected a SHA-256 of 64 lower-case hex digits", path, i + 2);
            return CLI_BAD_DATA;
        }
        memcpy(r->hex[i], p, MNW_DIGEST_CHARS);
        p += len + (end != 0);
    }
    if (*p) {
        cli_error("%s: more than the %zu lines that %" PRIu64 " bytes need", path, r->n, r->total);
        return CLI_BAD_DATA;
    }
    return CLI_DONE;
}

int cli_ranges_read(const char *path, cli_ranges *out)
{
    *out = (cli_ranges){ 0 };
    size_t len = 0;
    char *text = cli_read(path, &len);
    if (!text) return CLI_CANNOT_OPEN;
    const int rc = parse(path, text, out);
    free(text);
    if (rc) cli_ranges_done(out);
    return rc;
}

int cli_ranges_print(mnw_ctx *ctx, const char *path, uint64_t part)
{
    struct stat s;
    if (stat(path, &s) || s.st_size <= 0) {
        cli_error("%s: cannot open, or empty", path);
        return CLI_CANNOT_OPEN;
    }
    const uint64_t total = (uint64_t)s.st_size;
    printf("minnow-ranges %" PRIu64 " %" PRIu64 "\n", part, total);
    for (uint64_t at = 0; at < total; at += part) {
        char hex[MNW_DIGEST_CHARS];
        const mnw_status st = mnw_digest_file(ctx, path, at, total - at < part ? total - at : part,
                                              hex);
        if (st) {
            cli_error("%s", mnw_ctx_error(ctx));
            return cli_exit(st);
        }
        puts(hex);
    }
    return cli_flush();
}

void cli_ranges_done(cli_ranges *r)
{
    free(r->hex);
    *r = (cli_ranges){ 0 };
}
