/* SPDX-License-Identifier: Apache-2.0
 *
 * tok.h - what the tests of tokenizers share: a context without threads, files, and short calls.
 */
#ifndef MN_TEST_TOK_H
#define MN_TEST_TOK_H

#include "test.h"

#include "format/gguf.h"
#include "text/tokenizer.h"

typedef struct tok_bench {
    mnw_ctx        ctx;
    unsigned       warnings;
    mnw_warning    last_warning;
    char          *file;
    size_t         file_bytes;
    mn_pages       pages;
    mnw_tokenizer *tok;
    mn_err         err;
} tok_bench;

static inline void tok_on_warning(void *user, mnw_warning w, const char *text)
{
    tok_bench *b = user;
    b->warnings++;
    b->last_warning = w;
    (void)text;
}

static inline void tok_init(tok_bench *b)
{
    memset(b, 0, sizeof *b);
    mn_mem_init(&b->ctx.mem, NULL, NULL);
    b->ctx.opts.warn = tok_on_warning;
    b->ctx.opts.warn_user = b;
    b->ctx.opts.log_level = MNW_LOG_SILENT;
    mn_pages_init(&b->pages, &b->ctx.mem);
}

static inline void tok_done(tok_bench *b)
{
    mn_tokenizer_close(b->tok);
    mn_pages_done(&b->pages);
    free(b->file);
    EQ(atomic_load(&b->ctx.mem.live), 0);
}

/* All of an open stream, in memory that is to be freed. */
static inline char *tok_slurp(FILE *f, size_t *n)
{
    size_t cap = 1 << 16;
    char  *p = malloc(cap);
    *n = 0;
    for (size_t got; p && (got = fread(p + *n, 1, cap - *n, f)) > 0;) {
        *n += got;
        if (*n == cap) p = realloc(p, cap *= 2);
    }
    return p;
}

static inline bool tok_read_file(tok_bench *b, const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) return false;
    b->file = tok_slurp(f, &b->file_bytes);
    fclose(f);
    return b->file != NULL;
}

static inline mnw_status tok_from_gguf(tok_bench *b)
{
    mn_content c;
    MN_TRY(mn_gguf_read((mn_bytes){ (uint8_t *)b->file, b->file_bytes }, &b->pages, &c, &b->err));
    return mn_tokenizer_from_content(&b->ctx, &c, &b->tok, &b->err);
}

/* The real Qwen3 tokenizer.json, unpacked by xz; false if either is not there. */
static inline bool tok_read_qwen3(tok_bench *b)
{
    const char *path = test_data("tokenizers/qwen3/tokenizer.json.xz");
    char        command[1200];
    if (!path) return false;
    snprintf(command, sizeof command, "xz -dc '%s' 2>/dev/null", path);
    FILE *f = popen(command, "r");
    if (!f) return false;
    b->file = tok_slurp(f, &b->file_bytes);
    return pclose(f) == 0 && b->file_bytes > 0;
}

/* Ids of a text, in memory that is to be freed. */
static inline int32_t *tok_encode(const mnw_tokenizer *tok, const char *text, size_t len,
                                  unsigned flags, size_t *n)
{
    size_t   cap = len + 8;
    int32_t *ids = malloc(cap * sizeof *ids);
    OK(mnw_tokenizer_encode(tok, text, len, flags, ids, cap, n));
    return ids;
}

/* Fail, showing both, unless the text gives these ids. */
static inline void tok_expect(const mnw_tokenizer *tok, const char *text, size_t len,
                              unsigned flags, const int32_t *want, size_t n_want)
{
    size_t   n;
    int32_t *ids = tok_encode(tok, text, len, flags, &n);
    if (n != n_want || (n && memcmp(ids, want, n * sizeof *ids) != 0)) {
        print_message("text: \"%.*s\"\n", (int)len, text);
        print_message("want:");
        for (size_t i = 0; i < n_want; i++) print_message(" %d", want[i]);
        print_message("\ngot: ");
        for (size_t i = 0; i < n; i++) print_message(" %d", ids[i]);
        print_message("\n");
        fail_msg("ids differ");
    }
    free(ids);
}

static inline void tok_expect_round_trip(const mnw_tokenizer *tok, const char *text, size_t len)
{
    size_t   n, got;
    int32_t *ids = tok_encode(tok, text, len, 0, &n);
    char    *back = malloc(len + 16);
    OK(mnw_tokenizer_decode(tok, ids, n, MNW_DECODE_START, back, len + 16, &got));
    EQ(got, len);
    EQ_MEM(back, text, len);
    free(back);
    free(ids);
}

#endif
