/* SPDX-License-Identifier: Apache-2.0
 *
 * say.c - complaints, exit codes, whole files and memory for a program that may give up.
 */
#include "cli/say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/opt.h"

static const char *speaker = "minnow";

void cli_name(const char *command)
{
    speaker = command;
}

void cli_error(const char *fmt, ...)
{
    va_list ap;
    fflush(stdout);
    fprintf(stderr, "%s: ", speaker);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
}

int cli_exit(mnw_status st)
{
    switch (st) {
    case MNW_OK: return CLI_DONE;
    case MNW_E_ARG: return CLI_MISUSED;
    case MNW_E_FORMAT:
    case MNW_E_UNSUPPORTED:
    case MNW_E_CORRUPT:
    case MNW_E_TEMPLATE:
    case MNW_E_LIMIT:
    case MNW_E_FULL:
    case MNW_E_STRICT: return CLI_BAD_DATA;
    case MNW_E_NOENT: return CLI_CANNOT_OPEN;
    case MNW_E_NETWORK: return CLI_UNAVAILABLE;
    case MNW_E_IO: return CLI_IO;
    case MNW_E_BUSY: return CLI_TRY_LATER;
    case MNW_E_CANCELLED: return CLI_INTERRUPTED;
    case MNW_E_STATE:
    case MNW_E_NOMEM:
    case MNW_E_BUFFER:
    case MNW_E_INTERNAL: break;
    }
    return CLI_INTERNAL;
}

void *cli_alloc(size_t size)
{
    return cli_grow(NULL, size);
}

void *cli_grow(void *p, size_t size)
{
    p = realloc(p, size ? size : 1);
    if (!p) {
        cli_error("out of memory (%zu bytes)", size);
        exit(CLI_INTERNAL);
    }
    return p;
}

char *cli_copy(const char *text, size_t n)
{
    char *p = cli_alloc(n + 1);
    memcpy(p, text, n);
    p[n] = 0;
    return p;
}

char *cli_read(const char *path, size_t *len)
{
    const bool in = strcmp(path, "-") == 0;
    FILE *f = in ? stdin : fopen(path, "rb");
    if (!f) {
        cli_error("%s: cannot open: %s", path, strerror(errno));
        return NULL;
    }
    size_t n = 0, cap = 1 << 16;
    char *p = cli_alloc(cap);
    for (size_t got; (got = fread(p + n, 1, cap - n - 1, f)) > 0;) {
        n += got;
        if (cap - n - 1 < cap / 4) p = cli_grow(p, cap *= 2);
    }
    const bool bad = ferror(f);
    if (bad) cli_error("%s: cannot read: %s", in ? "stdin" : path, strerror(errno));
    if (!in) fclose(f);
    if (bad) {
        free(p);
        return NULL;
    }
    p[n] = 0;
    *len = n;
    return p;
}

int cli_flush(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return CLI_DONE;
    cli_error("cannot write to stdout: %s", strerror(errno));
    return CLI_IO;
}

double cli_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void cli_memory(uint64_t *anonymous, uint64_t *file)
{
    *anonymous = *file = 0;
    FILE *f = fopen("/proc/self/status", "r");
    if (!f) return;
    char line[256];
    while (fgets(line, sizeof line, f)) {
        unsigned long long kb;
        if (sscanf(line, "RssAnon: %llu", &kb) == 1) *anonymous = kb * 1024;
        if (sscanf(line, "RssFile: %llu", &kb) == 1) *file = kb * 1024;
    }
    fclose(f);
}
