/* SPDX-License-Identifier: Apache-2.0
 *
 * bench.c - how fast and how large is a model here: minnow-bench MODEL [N [JSON]].
 *
 * One warm-up, then N runs; medians.  Opening, prefill of 512 tokens, decode of 64 from an empty context
 * and at depth 512, and memory as the increase over the level before opening, split into anonymous and
 * file-backed.  The tokens are arbitrary but fixed: speed does not depend on them.
 */
#include <inttypes.h>
#include <minnow/minnow.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PROMPT = 512, GEN = 64, MAX_RUNS = 50 };

typedef struct memory {
    double anonymous, file, peak; // MB
} memory;

typedef struct figures {
    double open_ms[MAX_RUNS], prefill[MAX_RUNS], decode0[MAX_RUNS], decode512[MAX_RUNS];
} figures;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static memory read_memory(void)
{
    memory m = { 0 };
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    double kb;
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "RssAnon: %lf", &kb) == 1) m.anonymous = kb / 1e3;
        if (sscanf(line, "RssFile: %lf", &kb) == 1) m.file = kb / 1e3;
        if (sscanf(line, "VmHWM: %lf", &kb) == 1) m.peak = kb / 1e3;
    }
    if (f) fclose(f);
    return m;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, ascending);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static mnw_status feed(mnw_session *s, const int32_t *ids, size_t n, size_t at_once,
                       double *tok_per_s)
{
    const double began = seconds();
    for (size_t i = 0; i < n; i += at_once) {
        const mnw_status st = mnw_session_feed(s, ids + i, at_once);
        if (st) return st;
    }
    *tok_per_s = (double)n / (seconds() - began);
    return MNW_OK;
}

static mnw_status measure(mnw_ctx *ctx, const char *path, const int32_t *ids, figures *f, int run,
                          bool first, memory *at_open, memory *at_end)
{
    mnw_model *m = NULL;
    mnw_session *s = NULL;
    const double began = seconds();
    mnw_status st = mnw_model_open(ctx, path, NULL, &m);
    f->open_ms[run] = (seconds() - began) * 1e3;
    if (first) *at_open = read_memory();   // later, freed pages of the run before count as well
    if (!st)
        st = mnw_session_open(
            m, &(mnw_session_opts){ .size = sizeof(mnw_session_opts), .n_ctx = 1024 }, &s);
    if (!st) st = feed(s, ids, 8, 8, &f->prefill[run]);
    if (!st) st = feed(s, ids, GEN, 1, &f->decode0[run]);
    if (!st) st = mnw_session_rewind(s, 0);
    if (!st) st = feed(s, ids, PROMPT, PROMPT, &f->prefill[run]);
    if (!st) st = feed(s, ids, GEN, 1, &f->decode512[run]);
    *at_end = read_memory();
    mnw_session_close(s);
    mnw_model_close(m);
    return st;
}

int main(int argc, char **argv)
{
    const int runs = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 5;
    const bool json = argc > 3 && strcmp(argv[3], "json") == 0;
    mnw_ctx *ctx = NULL;
    figures *f = calloc(1, sizeof *f);
    int32_t ids[PROMPT];
    memory before, opened = { 0 }, after = { 0 };
    if (argc < 2 || !*argv[1] || runs < 1 || runs >= MAX_RUNS || !f) {
        fprintf(stderr, "usage: minnow-bench MODEL [RUNS [json]], at most %d runs\n", MAX_RUNS - 1);
        free(f);
        return 2;
    }
    for (int i = 0; i < PROMPT; i++) ids[i] = 100 + i * 7 % 400;

    mnw_ctx_opts o = { .size = sizeof o, .cpu = getenv("MINNOW_CPU") };
    const char *threads = getenv("MINNOW_THREADS");
    if (threads) o.threads = (uint32_t)strtoul(threads, NULL, 10);
    mnw_status st = mnw_ctx_open(&o, &ctx);
    before = read_memory();
    for (int run = 0; run <= runs && !st; run++) // the first is the warm-up,
        st = measure(ctx, argv[1], ids, f, run ? run - 1 : 0, run == 0, &opened, &after); // overwritten
    if (st) {
        fprintf(stderr, "minnow-bench: %s\n", ctx ? mnw_ctx_error(ctx) : mnw_status_text(st));
    } else {
        const double open_ms = median(f->open_ms, runs), prefill = median(f->prefill, runs);
        const double d0 = median(f->decode0, runs), d512 = median(f->decode512, runs);
        printf(json ? "{\"tier\":\"%s\",\"threads\":%u,\"open_ms\":%.3f,\"prefill_tok_per_s\":%.2f,"
                      "\"decode0_tok_per_s\":%.2f,\"decode512_tok_per_s\":%.2f,\"open_anonymous_"
                      "mb\":%.2f,"
                      "\"anonymous_mb\":%.2f,\"file_mb\":%.2f,\"peak_increase_mb\":%.2f}\n"
                    : "tier %s, %u threads\nopen               %8.1f ms\nprefill 512        %8.1f "
                      "tok/s\n"
                      "decode at 0        %8.1f tok/s\ndecode at 512      %8.1f tok/s\n"
                      "anonymous, opened  %8.1f MB\nanonymous at 576   %8.1f MB\nfile-backed       "
                      " %8.1f MB\n"
                      "peak increase      %8.1f MB\n",
               mnw_ctx_cpu(ctx), mnw_ctx_threads(ctx), open_ms, prefill, d0, d512,
               opened.anonymous - before.anonymous, after.anonymous - before.anonymous,
               after.file - before.file, after.peak - before.anonymous - before.file);
    }
    mnw_ctx_close(ctx);
    free(f);
    return st != MNW_OK;
}
