/* SPDX-License-Identifier: Apache-2.0
 *
 * lab.h - a context, a tiny model and a session in one line, for tests that run models.
 */
#ifndef MN_TESTS_LAB_H
#define MN_TESTS_LAB_H

#include <minnow/minnow.h>

#include "test.h"
#include "tiny.h"

/* A memory hook that counts, and fails when told to. */
typedef struct lab_memory {
    size_t calls, live, fail_at;   // fail_at 0 = never
} lab_memory;

static inline void *lab_hook(void *user, void *ptr, size_t old_size, size_t new_size)
{
    lab_memory *m = user;
    m->calls++;
    if (new_size == 0) {
        m->live -= old_size;
        free(ptr);
        return NULL;
    }
    if (m->fail_at && --m->fail_at == 0) return NULL;
    void *p = realloc(ptr, new_size);
    if (p) m->live += new_size - old_size;
    return p;
}

typedef struct lab {
    lab_memory   memory;
    mnw_ctx     *ctx;
    tiny_file    file;
    mnw_model   *model;
    mnw_session *session;
    uint32_t     V;
} lab;

typedef struct lab_opts {
    uint32_t    threads;   // [1]
    const char *cpu;       // [all there is]
    mnw_backend backend;
    uint32_t    n_ctx, n_batch;
    mnw_kv_type kv_type;
    mnw_precision precision;
    bool        no_session;
} lab_opts;

static inline void lab_open(lab *b, const tiny *t, const lab_opts *o)
{
    memset(b, 0, sizeof *b);
    const mnw_ctx_opts co = { .size = sizeof co,
                              .threads = o->threads ? o->threads : 1,
                              .cpu = o->cpu,
                              .mem = lab_hook,
                              .mem_user = &b->memory };
    OK(mnw_ctx_open(&co, &b->ctx));
    b->file = tiny_build(t);
    const mnw_model_opts mo = { .size = sizeof mo, .backend = o->backend };
    if (mnw_model_open_memory(b->ctx, b->file.data, b->file.size, &mo, &b->model) != MNW_OK)
        fail_msg("%s", mnw_ctx_error(b->ctx));
    mnw_model_info info = { .size = sizeof info };
    OK(mnw_model_describe(b->model, &info));
    b->V = info.n_vocab;
    if (o->no_session) return;
    const mnw_session_opts so = { .size = sizeof so, .n_ctx = o->n_ctx, .n_batch = o->n_batch,
                                  .kv_type = o->kv_type, .precision = o->precision };
    if (mnw_session_open(b->model, &so, &b->session) != MNW_OK)
        fail_msg("%s", mnw_ctx_error(b->ctx));
}

static inline void lab_close(lab *b)
{
    mnw_session_close(b->session);
    mnw_model_close(b->model);
    mnw_ctx_close(b->ctx);
    tiny_free(&b->file);
    EQ(b->memory.live, 0);
}

/* The token at position i of the text every test feeds. */
static inline int32_t lab_token(size_t i)
{
    return (int32_t)((i * 7919 + i * i * 31 + 17) % 256);
}

/* Feed positions [from, to) in calls of `step` tokens. */
static inline void lab_feed(mnw_session *s, size_t from, size_t to, size_t step)
{
    int32_t tokens[512];
    for (size_t at = from; at < to;) {
        const size_t n = to - at < step ? to - at : step;
        for (size_t i = 0; i < n; i++) tokens[i] = lab_token(at + i);
        if (mnw_session_feed(s, tokens, n) != MNW_OK) fail_msg("%s", mnw_session_error(s));
        at += n;
    }
}

/* A copy of the current logits; free() it. */
static inline float *lab_logits(const lab *b, const mnw_session *s)
{
    const float *l = mnw_session_logits(s);
    float       *copy = malloc(b->V * sizeof *copy);
    assert_non_null(l);
    assert_non_null(copy);
    memcpy(copy, l, b->V * sizeof *copy);
    return copy;
}

static inline void lab_same_logits(const lab *b, const mnw_session *s, const float *expected)
{
    const float *l = mnw_session_logits(s);
    assert_non_null(l);
    for (uint32_t i = 0; i < b->V; i++) {
        if (memcmp(&l[i], &expected[i], sizeof *l) != 0)
            fail_msg("logit %u is %.9g, expected the same bits as %.9g", i, (double)l[i],
                     (double)expected[i]);
    }
}

#endif
