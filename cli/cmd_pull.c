/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_pull.c - fetch a file so that it is there whole or not at all.
 *
 * Bytes go to NAME.part, which is locked while one program works on it; NAME.part.tag remembers which
 * version of the file they belong to.  A broken connection resumes; a part with a wrong hash is fetched
 * again alone.  Only a verified file gets its name, by rename.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/engine.h"
#include "cli/fetch.h"
#include "cli/ranges.h"
#include "cli/say.h"
#include "cli/source.h"

typedef struct args {
    cli_common common;
    const char *source, *out, *sha256, *ranges, *endpoint;
    bool no_wait;
} args;

#define AT(field) offsetof(args, field)

static const cli_opt OPTS[] = {
    CLI_ARGUMENT(AT(source), "SOURCE",
                 "hf:org/repo[@rev]/file, ms:org/repo[@rev]/file or an https URL"),
    CLI_VALUE('o', "output", CLI_STR, AT(out), "FILE",
              "where to put it (here, under its own name, if not given)"),
    CLI_VALUE(0, "sha256", CLI_STR, AT(sha256), "HEX", "what the file must hash to"),
    CLI_VALUE(0, "ranges", CLI_STR, AT(ranges), "FILE",
              "hashes of its parts (minnow check --ranges makes them)"),
    CLI_VALUE(0, "endpoint", CLI_STR, AT(endpoint), "URL",
              "a mirror of the hub (also MINNOW_HF_ENDPOINT, MINNOW_MS_ENDPOINT)"),
    CLI_SWITCH(0, "no-wait", AT(no_wait),
               "exit with 75 if another program is fetching the same file"),
    { 0 },
};

enum { TRIES = 6, RANGE_TRIES = 3 };

typedef struct pull {
    cli_engine e;
    const args *a;
    cli_source source;
    cli_ranges ranges;
    cli_bar bar;
    cli_fetch f;
    char path[PATH_MAX - 16], part[PATH_MAX], tag[PATH_MAX];
    char want[65], got[65]; // SHA-256, "" if not known
    uint64_t resumed;
    size_t again; // parts fetched once more
} pull;

static void doze(double seconds)
{
    const struct timespec t = { (time_t)seconds,
                                (long)((seconds - (double)(time_t)seconds) * 1e9) };
    nanosleep(&t, NULL);
}

static bool exists(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0;
}

/* Open and lock the partial file.  The one that is locked must still be the one with the name: another
 * program may have finished and renamed it while we waited.  *there is set if the file itself appeared. */
static int lock_part(pull *p, bool *there)
{
    bool told = false;
    for (;;) {
        if (exists(p->path)) {
            *there = true;
            return CLI_DONE;
        }
        const int fd = open(p->part, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        if (fd < 0) {
            cli_error("%s: cannot create: %s", p->part, strerror(errno));
            return CLI_IO;
        }
        struct stat ours, named;
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
            if (fstat(fd, &ours) == 0 && stat(p->part, &named) == 0 &&
                ours.st_ino == named.st_ino && ours.st_dev == named.st_dev && !exists(p->path)) {
                p->f.fd = fd;
                p->f.at = p->resumed = (uint64_t)ours.st_size;
                return CLI_DONE;
            }
            close(fd);
            if (exists(p->path))
                unlink(p->part); // made by the open above, after the other's rename
            continue;
        }
        close(fd);
        if (p->a->no_wait) {
            cli_error("%s: another program is fetching it", p->path);
            return CLI_TRY_LATER;
        }
        if (!told && !p->a->common.quiet)
            cli_error("%s: waiting for another program that is fetching it", p->path);
        told = true;
        if (cli_interrupted()) return CLI_INTERRUPTED;
        doze(0.1);
    }
}

static int start_over(pull *p)
{
    p->f.at = p->resumed = p->f.total = 0;
    p->f.tag[0] = 0;
    unlink(p->tag);
    if (ftruncate(p->f.fd, 0) == 0) return CLI_DONE;
    cli_error("%s: %s", p->part, strerror(errno));
    return CLI_IO;
}

/* Which version do the bytes we have belong to?  Without knowing they are no use. */
static int read_tag(pull *p)
{
    FILE *f = p->f.at ? fopen(p->tag, "r") : NULL;
    if (f) {
        if (!fgets(p->f.tag, sizeof p->f.tag, f)) p->f.tag[0] = 0;
        p->f.tag[strcspn(p->f.tag, "\r\n")] = 0;
        fclose(f);
    }
    if (p->f.at && !p->f.tag[0] && !p->want[0] && !p->ranges.n) return start_over(p);
    return CLI_DONE;
}

static void write_tag(const pull *p)
{
    if (!p->f.tag[0]) return;
    FILE *f = fopen(p->tag, "w");
    if (!f) return; // then a later run starts over; nothing is wrong
    fprintf(f, "%s\n", p->f.tag);
    fclose(f);
}

static int check_space(const pull *p)
{
    struct statvfs s;
    if (!p->f.total || fstatvfs(p->f.fd, &s)) return CLI_DONE;
    const uint64_t left = (uint64_t)s.f_bavail * s.f_frsize;
    if (p->f.total - p->f.at <= left) return CLI_DONE;
    cli_error("%s: %" PRIu64 " bytes to come, but the disk has %" PRIu64 " left", p->path,
              p->f.total - p->f.at, left);
    return CLI_IO;
}

/* All bytes, in as many connections as it takes; the wait doubles while nothing comes. */
static int fetch_all(pull *p)
{
    double wait = 0.2;
    for (int tries = 0; tries < TRIES; tries++) {
        const uint64_t before = p->f.at;
        const cli_fetched result = cli_fetch_rest(&p->f);
        write_tag(p);
        if (result == CLI_FETCHED) return CLI_DONE;
        if (result == CLI_FETCH_FAILED) break;
        if (result == CLI_FETCH_CHANGED) {
            const int rc = start_over(p);
            if (rc) return rc;
            continue;
        }
        if (p->f.at > before) { // it broke off, but it moved
            tries = 0;
            wait = 0.2;
            const int rc = check_space(p);
            if (rc) return rc;
        }
        if (p->a->common.verbose)
            cli_error("%s; %" PRIu64 " bytes are here, trying again", p->f.why, p->f.at);
        doze(wait);
        if (wait < 3) wait *= 2;
        if (cli_interrupted()) return CLI_INTERRUPTED;
    }
    cli_bar_end(&p->bar);
    cli_error("%s", p->f.why);
    return p->f.code ? p->f.code : CLI_UNAVAILABLE;
}

static int digest(pull *p, const char *path, uint64_t from, uint64_t to, char *hex)
{
    const mnw_status st = mnw_digest_file(p->e.ctx, path, from, to - from, hex);
    return st ? cli_fail(&p->e, st, path) : CLI_DONE;
}

/* Fetch again, alone, each part that is not what the list says. */
static int verify_ranges(pull *p)
{
    if (p->ranges.n && p->f.at != p->ranges.total) {
        cli_error("%s: %" PRIu64 " bytes, but the list of parts is for %" PRIu64, p->a->ranges,
                  p->f.at, p->ranges.total);
        return CLI_BAD_DATA;
    }
    for (size_t i = 0; i < p->ranges.n; i++) {
        const uint64_t from = cli_ranges_from(&p->ranges, i), to = cli_ranges_to(&p->ranges, i);
        for (int tries = 0;; tries++) {
            char hex[65];
            int rc = digest(p, p->part, from, to, hex);
            if (rc) return rc;
            if (strcmp(hex, p->ranges.hex[i]) == 0) break;
            if (tries == RANGE_TRIES) {
                cli_error("%s: bytes %" PRIu64 " to %" PRIu64 ": sha256 %s, expected %s, %d times",
                          p->source.url, from, to, hex, p->ranges.hex[i], tries + 1);
                return CLI_BAD_DATA;
            }
            p->again++;
            if (cli_fetch_range(&p->f, from, to) == CLI_FETCH_FAILED) {
                cli_error("%s", p->f.why);
                return p->f.code;
            }
        }
    }
    return CLI_DONE;
}

/* *wrong is set when the whole is not what it should be. */
static int verify_whole(pull *p, const char *path, bool *wrong)
{
    *wrong = false;
    if (!p->want[0] && p->f.sha256[0]) memcpy(p->want, p->f.sha256, sizeof p->want);
    const int rc = digest(p, path, 0, p->f.at, p->got);
    if (rc) return rc;
    *wrong = p->want[0] && strcmp(p->want, p->got) != 0;
    return CLI_DONE;
}

static int commit(pull *p)
{
    if (fsync(p->f.fd) || rename(p->part, p->path)) {
        cli_error("%s: %s", p->path, strerror(errno));
        return CLI_IO;
    }
    unlink(p->tag);
    char folder[PATH_MAX];
    char *slash;
    snprintf(folder, sizeof folder, "%s", p->path);
    slash = strrchr(folder, '/');
    if (slash) slash[slash == folder] = 0; // keep the slash of the root
    const int fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    return CLI_DONE;
}

static int fetch_verified(pull *p)
{
    bool wrong = false;
    for (int tries = 0; tries < 2; tries++) {
        int rc = fetch_all(p);
        if (!rc) rc = p->f.at == 0 ? CLI_BAD_DATA : verify_ranges(p);
        if (rc == CLI_BAD_DATA && p->f.at == 0) cli_error("%s: the file is empty", p->source.url);
        if (!rc) rc = verify_whole(p, p->part, &wrong);
        if (rc) return rc;
        if (!wrong) return CLI_DONE;
        /* Nobody can say which byte is wrong: the whole again, once. */
        rc = start_over(p);
        if (rc) return rc;
    }
    cli_error("%s: sha256 %s, expected %s", p->source.url, p->got, p->want);
    return CLI_BAD_DATA;
}

static int report(pull *p, uint64_t bytes)
{
    if (!p->a->common.json) {
        puts(p->path);
        return cli_flush();
    }
    return cli_print_json(json_pack(
        "{s:o, s:I, s:s, s:b, s:I, s:i, s:O}", "path", cli_json_text(p->path, strlen(p->path)),
        "bytes", (json_int_t)bytes, "sha256", p->got, "verified", p->want[0] || p->ranges.n,
        "resumed_from", (json_int_t)p->resumed, "ranges_fetched_again", (int)p->again, "warnings",
        p->e.warnings));
}

/* The file has its name already: ours to use, if it is the right one. */
static int already_there(pull *p)
{
    struct stat s;
    bool wrong = false;
    if (stat(p->path, &s)) return CLI_IO;
    p->f.at = (uint64_t)s.st_size;
    int rc = p->want[0] ? verify_whole(p, p->path, &wrong) : CLI_DONE;
    if (!rc && wrong) {
        cli_error("%s: exists with sha256 %s, expected %s; remove it first", p->path, p->got,
                  p->want);
        rc = CLI_BAD_DATA;
    }
    return rc ? rc : report(p, (uint64_t)s.st_size);
}

static int work(pull *p)
{
    bool there = false;
    int rc = lock_part(p, &there);
    if (rc) return rc;
    if (there) return already_there(p);
    rc = read_tag(p);
    if (rc) return rc;

    p->f.url = p->source.url;
    p->f.loopback = p->source.loopback;
    p->f.bar = &p->bar;
    cli_bar_start(&p->bar, p->source.name, p->a->common.quiet, p->f.at, 0);
    rc = fetch_verified(p);
    cli_bar_end(&p->bar);
    if (!rc && !p->want[0] && !p->ranges.n) {
        cli_error("%s: no checksum is known, only the size was checked%s", p->path,
                  p->a->common.strict ? "" : " (warning)");
        if (p->a->common.strict) rc = CLI_BAD_DATA;
    }
    if (!rc) rc = commit(p);
    return rc ? rc : report(p, p->f.at);
}

static int prepare(pull *p)
{
    const args *a = p->a;
    if (a->sha256 && !cli_is_sha256(a->sha256)) {
        cli_error("--sha256 %s: expected 64 lower-case hex digits", a->sha256);
        return CLI_MISUSED;
    }
    if (a->sha256) memcpy(p->want, a->sha256, sizeof p->want);
    int rc = cli_source_read(a->source, a->endpoint, &p->source);
    if (!rc && a->ranges) rc = cli_ranges_read(a->ranges, &p->ranges);
    if (rc) return rc;
    const char *path = a->out ? a->out : p->source.name;
    if (strlen(path) >= sizeof p->path) {
        cli_error("%s: the name is too long", path);
        return CLI_MISUSED;
    }
    snprintf(p->path, sizeof p->path, "%s", path);
    snprintf(p->part, sizeof p->part, "%s.part", p->path);
    snprintf(p->tag, sizeof p->tag, "%s.part.tag", p->path);
    return CLI_DONE;
}

static int run(const void *argp)
{
    static pull p; // paths make it too large for the stack
    p = (pull){ .a = argp, .f = { .fd = -1 } };
    int rc = prepare(&p);
    if (!rc) rc = cli_open_ctx(&p.e, &p.a->common);
    if (!rc) {
        signal(SIGPIPE, SIG_IGN);
        cli_interrupt_watch(NULL, false);
        rc = work(&p);
    }
    if (p.f.fd >= 0) close(p.f.fd);
    cli_ranges_done(&p.ranges);
    cli_source_done(&p.source);
    cli_close(&p.e);
    return rc;
}

const cli_cmd cmd_pull = {
    .name = "pull",
    .about = "fetch a model file, verified and resumable",
    .more = "Prints the path.  A broken fetch is taken up where it ended, also by a later run.",
    .opts = OPTS,
    .args_size = sizeof(args),
    .run = run,
};
