/* SPDX-License-Identifier: Apache-2.0
 *
 * vectors.h - logits that another program computed, read line by line while a model is fed.
 */
#ifndef MN_TESTS_VECTORS_H
#define MN_TESTS_VECTORS_H

#include <math.h>

#include "lab.h"

enum { MAX_TOKENS = 64, MAX_LINE = 1 << 16 };

/* A vector file, read line by line while the model is fed. */
typedef struct vector {
    FILE       *f;
    const char *name;
    char        line[MAX_LINE];
    int32_t     tokens[MAX_TOKENS];
    size_t      n, compared;
} vector;

/* `dir` is a folder of tests/golden. */
static inline void open_vector(vector *v, const char *dir, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, TEST_DIR "/golden/%s/%s.vec", dir, name);
    v->f = fopen(path, "r");
    v->name = name;
    v->n = v->compared = 0;
    if (!v->f) fail_msg("%s: cannot open", path);
    while (fgets(v->line, sizeof v->line, v->f) && strncmp(v->line, "tokens ", 7) != 0) {}
    YES(strncmp(v->line, "tokens ", 7) == 0);
    for (char *at = v->line + 7, *end; v->n < MAX_TOKENS; at = end) {
        const long id = strtol(at, &end, 10);
        if (end == at) break;
        v->tokens[v->n++] = (int32_t)id;
    }
}

/* "logits POSITION LARGEST id:value id:value ..." */
static inline bool compare_logits(void *user, size_t pos, const float *logits)
{
    vector *v = user;
    assert_non_null(fgets(v->line, sizeof v->line, v->f));
    YES(strncmp(v->line, "logits ", 7) == 0);
    char *at = v->line + 7;
    EQ(strtoul(at, &at, 10), pos);
    const double largest = strtod(at, &at);
    for (;;) {
        char               *end;
        const unsigned long id = strtoul(at, &end, 10);
        if (end == at) break;
        const double expected = strtod(end + 1, &at);
        if (!(fabs((double)logits[id] - expected) <= 1e-4 * largest))
            fail_msg("%s: position %zu, logit %lu is %.9g, expected %.9g", v->name, pos, id,
                     (double)logits[id], expected);
        v->compared++;
    }
    return true;
}

/* Feed the file's tokens to the model at `path`; the logits must be the vector's within 1e-4 of the
 * largest. */
static inline void check_vector(const char *path, const char *dir, const char *name)
{
    mnw_ctx      *ctx;
    mnw_model    *m;
    mnw_session  *s;
    static vector v;
    OK(mnw_ctx_open(&(mnw_ctx_opts){ .threads = 1 }, &ctx));
    const mnw_model_opts   mo = { .backend = MNW_BACKEND_REF };
    const mnw_session_opts so = { .kv_type = MNW_KV_F32 };
    if (mnw_model_open(ctx, path, &mo, &m) != MNW_OK) fail_msg("%s", mnw_ctx_error(ctx));
    OK(mnw_session_open(m, &so, &s));

    open_vector(&v, dir, name);
    OK(mnw_session_feed_each(s, v.tokens, v.n, compare_logits, &v));
    YES(v.n > 0 && v.compared >= 7 * v.n);
    fclose(v.f);
    mnw_session_close(s);
    mnw_model_close(m);
    mnw_ctx_close(ctx);
}

#endif
