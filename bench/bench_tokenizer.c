/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_tokenizer.c - how fast is a tokenizer here: minnow-bench-tokenizer TOKENIZER TEXT [ROUNDS].
 *
 * TEXT holds documents with a NUL behind each; every one is a call of its own, on one thread.  Prints a
 * line of JSON for each round, with a checksum of all ids so that a comparison can see that both made
 * the same.  bench_tokenizer.py compares with the PyPI package tokenizers.
 */
#include <inttypes.h>
#include <minnow/minnow.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static char *read_file(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    const long size = ftell(f);
    rewind(f);
    char *p = size < 0 ? NULL : malloc((size_t)size + 1);
    *n = p ? fread(p, 1, (size_t)size, f) : 0;
    fclose(f);
    return p;
}

/* Encode all documents; FNV-1a over the ids in *sum. */
static mnw_status encode_all(const mnw_tokenizer *tok, const char *text, size_t len, int32_t *ids,
                             size_t *n_ids, uint64_t *sum)
{
    *n_ids = 0;
    *sum = 0xCBF29CE484222325u;
    for (const char *at = text, *end = text + len; at < end;) {
        const char  *stop = memchr(at, '\0', (size_t)(end - at));
        const size_t bytes = (size_t)((stop ? stop : end) - at);
        size_t       n;
        const mnw_status st = mnw_tokenizer_encode(tok, at, bytes, 0, ids, len + 2, &n);
        if (st != MNW_OK) return st;
        for (size_t i = 0; i < n; i++) *sum = (*sum ^ (uint32_t)ids[i]) * 0x100000001B3u;
        *n_ids += n;
        at += bytes + 1;
    }
    return MNW_OK;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: %s TOKENIZER TEXT [ROUNDS]\n", argv[0]);
        return 2;
    }
    mnw_ctx       *ctx;
    mnw_tokenizer *tok;
    if (mnw_ctx_open(&(mnw_ctx_opts){ .threads = 1 }, &ctx) != MNW_OK) return 70;
    const size_t before = mnw_ctx_memory(ctx, NULL);
    const double start = seconds();
    if (mnw_tokenizer_open(ctx, argv[1], &tok) != MNW_OK) {
        fprintf(stderr, "%s\n", mnw_ctx_error(ctx));
        return 66;
    }
    const double open_ms = (seconds() - start) * 1e3;
    size_t       len, n_ids;
    uint64_t     sum;
    char        *text = read_file(argv[2], &len);
    int32_t     *ids = malloc((len + 2) * sizeof *ids);
    if (!text || !ids) return 66;
    const int rounds = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 1;
    for (int r = 0; r < rounds; r++) {
        const double     begun = seconds();
        const mnw_status st = encode_all(tok, text, len, ids, &n_ids, &sum);
        if (st != MNW_OK) {
            fprintf(stderr, "%s\n", mnw_status_text(st));
            return 70;
        }
        printf("{\"open_ms\": %.2f, \"tables\": %zu, \"bytes\": %zu, \"ids\": %zu, \"seconds\": %.4f, "
               "\"sum\": \"%016" PRIx64 "\"}\n",
               open_ms, mnw_ctx_memory(ctx, NULL) - before, len, n_ids, seconds() - begun, sum);
    }
    free(text);
    free(ids);
    mnw_tokenizer_close(tok);
    mnw_ctx_close(ctx);
    return 0;
}
