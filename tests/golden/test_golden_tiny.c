/* SPDX-License-Identifier: Apache-2.0
 *
 * test_golden_tiny.c - the readable backend agrees with transformers in float64, at every position
 * of every model in tests/golden/tiny (made by tools/mktiny.py; origin in each vector's head).
 */
#include <math.h>

#include "lab.h"

static const char *const MODELS[] = { "llama", "llama-untied", "llama-linear", "llama-llama3",
                                      "qwen2", "qwen2-yarn", "qwen3" };

enum { MAX_TOKENS = 64, MAX_LINE = 1 << 16 };

/* A vector file, read line by line while the model is fed. */
typedef struct vector {
    FILE       *f;
    const char *name;
    char        line[MAX_LINE];
    int32_t     tokens[MAX_TOKENS];
    size_t      n, compared;
} vector;

static void open_vector(vector *v, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, TEST_DIR "/golden/tiny/%s.vec", name);
    v->f = fopen(path, "r");
    v->name = name;
    v->n = v->compared = 0;
    if (!v->f) fail_msg("%s: cannot open", path);
    while (fgets(v->line, sizeof v->line, v->f) && v->line[0] == '#') {}
    YES(strncmp(v->line, "tokens ", 7) == 0);
    for (char *at = v->line + 7, *end; v->n < MAX_TOKENS; at = end) {
        const long id = strtol(at, &end, 10);
        if (end == at) break;
        v->tokens[v->n++] = (int32_t)id;
    }
}

/* "logits POSITION LARGEST id:value id:value ..." */
static bool compare(void *user, size_t pos, const float *logits)
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

TEST(ref_agrees_with_transformers_in_float64)
{
    for (size_t i = 0; i < LEN(MODELS); i++) {
        char         path[512];
        mnw_ctx     *ctx;
        mnw_model   *m;
        mnw_session *s;
        static vector v;
        snprintf(path, sizeof path, TEST_DIR "/golden/tiny/%s.gguf", MODELS[i]);
        OK(mnw_ctx_open(&(mnw_ctx_opts){ .threads = 1 }, &ctx));
        const mnw_model_opts   mo = { .backend = MNW_BACKEND_REF };
        const mnw_session_opts so = { .kv_type = MNW_KV_F32 };
        if (mnw_model_open(ctx, path, &mo, &m) != MNW_OK) fail_msg("%s", mnw_ctx_error(ctx));
        OK(mnw_session_open(m, &so, &s));

        open_vector(&v, MODELS[i]);
        OK(mnw_session_feed_each(s, v.tokens, v.n, compare, &v));
        YES(v.n > 0 && v.compared >= 10 * v.n);
        fclose(v.f);
        mnw_session_close(s);
        mnw_model_close(m);
        mnw_ctx_close(ctx);
    }
}

int main(void)
{
    return RUN(T(ref_agrees_with_transformers_in_float64));
}
