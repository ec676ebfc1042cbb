/* SPDX-License-Identifier: Apache-2.0
 *
 * synthetic.c - a model file with random weights: the table of shapes, and the tensors weights.def
 * names, written in its order.
 */
#include "model/synthetic.h"

#include <math.h>
#include <stdio.h>

#include "base/context.h"
#include "base/cursor.h"
#include "base/native.h"
#include "model/config.h"

/* clang-format off */
enum { BIAS = MN_SHAPE_BIAS, STRETCHED = MN_SHAPE_STRETCHED, UNTIED = MN_SHAPE_UNTIED };

static const mn_shape SHAPE[] = {
    /* name           arch     pre          L   D     H   K  P    F     V       context  theta   eps    also */
    { "0.3b",         "qwen3", "qwen2",     28, 896,  14, 2, 64,  2560, 65536,  32768,  1e6f,   1e-6f, 0 },
    { "qwen3-0.6b",   "qwen3", "qwen2",     28, 1024, 16, 8, 128, 3072, 151936, 40960,  1e6f,   1e-6f, 0 },
    { "qwen2.5-0.5b", "qwen2", "qwen2",     24, 896,  14, 2, 64,  4864, 151936, 32768,  1e6f,   1e-6f, BIAS },
    { "llama-3.2-1b", "llama", "llama-bpe", 16, 2048, 32, 8, 64,  8192, 128256, 131072, 500000, 1e-5f, STRETCHED },
    { "smollm2-135m", "llama", "smollm",    30, 576,  9,  3, 64,  1536, 49152,  8192,   100000, 1e-5f, 0 },
    { "smollm2-360m", "llama", "smollm",    32, 960,  15, 5, 64,  2560, 49152,  8192,   100000, 1e-5f, 0 },
    { "tiny-qwen3",   "qwen3", "qwen2",     2,  256,  4,  2, 64,  512,  1024,   4096,   1e6f,   1e-6f, 0 },
    { "tiny-qwen2",   "qwen2", "qwen2",     2,  96,   6,  2, 32,  288,  1024,   4096,   1e6f,   1e-6f, BIAS | UNTIED },
    { "tiny-llama",   "llama", "llama-bpe", 2,  192,  6,  3, 32,  512,  1024,   16384,  500000, 1e-5f, STRETCHED },
};
/* clang-format on */

enum { SHAPES = sizeof SHAPE / sizeof *SHAPE };

const char *mnw_synthetic_name(size_t i)
{
    return i < SHAPES ? SHAPE[i].name : NULL;
}

const mn_shape *mn_shape_find(const char *name)
{
    for (size_t i = 0; i < SHAPES; i++)
        if (strcmp(SHAPE[i].name, name) == 0) return &SHAPE[i];
    return NULL;
}

typedef struct job {
    mnw_ctx        *ctx;
    const mn_shape *shape;
    const mn_arch  *arch;
    const mn_dtype *type;
    mn_pages        mem;
    uint8_t        *piece;       // [MN_PIECE]
    mn_gguf_writer  out;
    bool            writing;     // the second walk over the tensors; the first declares them
    uint64_t        tensors;     // seen in this walk
    mn_err         *err;
} job;

/* One piece after another, until the tensor has all its bytes. */
static mnw_status write_matrix(job *j, size_t rows, size_t cols)
{
    mn_random_matrix m = { .type = j->type,
                           .rows = rows,
                           .cols = cols,
                           .stream = j->tensors,
                           .deviation = 1.0f / sqrtf((float)cols) };
    if (!mn_dtype_matrix_bytes(m.type, rows, cols, &m.bytes)) return MNW_E_INTERNAL;
    for (size_t n; (n = mn_random_next(&m, j->piece)) > 0;) {
        MN_TRY(mn_gguf_put(&j->out, j->piece, n, j->err));
        MN_TRY(mn_progress(j->ctx, j->err, "synthetic", j->out.file.written, j->out.data_bytes));
    }
    return MNW_OK;
}

/* Biases are small, norms are near 1. */
static mnw_status write_vector(job *j, size_t n, bool bias)
{
    mn_random_matrix m = { .type = mn_dtype_of(MN_F32),
                           .rows = 1,
                           .cols = n,
                           .bytes = 4 * n,
                           .stream = j->tensors,
                           .deviation = 0.1f };
    const size_t     bytes = mn_random_next(&m, j->piece);   // 4 * MN_MAX_FF at most: all of it
    for (size_t i = 0; i < bytes && !bias; i += 4)
        mn_store_f32(j->piece + i, mn_load_f32(j->piece + i) + 1.0f);
    return mn_gguf_put(&j->out, j->piece, bytes, j->err);
}

enum need { MUST, MAY, NORM };

/* A line of weights.def. */
static mnw_status tensor(job *j, const char *pattern, uint32_t layer, enum need n, size_t rows,
                         size_t cols)
{
    char        name[64];
    const char *hash = strchr(pattern, '#');
    const bool  bias = strstr(pattern, ".bias") != NULL;
    if (n == NORM && !j->arch->qk_norm) return MNW_OK;
    if (n == MAY && !(j->shape->also & (bias ? BIAS : UNTIED))) return MNW_OK;
    if (hash)
        snprintf(name, sizeof name, "%.*s%u%s", (int)(hash - pattern), pattern, layer, hash + 1);
    else snprintf(name, sizeof name, "%s", pattern);

    j->tensors++;
    if (j->writing) return rows == 1 ? write_vector(j, cols, bias) : write_matrix(j, rows, cols);
    mn_gguf_declare(&j->out, mn_str_of(name), rows == 1 ? mn_dtype_of(MN_F32) : j->type,
                    rows == 1 ? 1 : 2, (const uint64_t[]){ cols, rows });
    return MNW_OK;
}

/* What a wave's frequency is divided by: 1 for those that make at least HIGH turns over the CONTEXT the
 * model was first trained on, FACTOR for those that make less than LOW, a blend between. */
static void rope_divisors(const mn_shape *s, float *by)
{
    static const double PI = 3.14159265358979323846, FACTOR = 32, LOW = 1, HIGH = 4, CONTEXT = 8192;
    for (uint32_t i = 0; i < s->P / 2; i++) {
        const double turns = CONTEXT * pow((double)s->theta, -2.0 * i / s->P) / (2 * PI);
        const double keep = turns > HIGH ? 1 : turns < LOW ? 0 : (turns - LOW) / (HIGH - LOW);
        by[i] = (float)(1 / (keep + (1 - keep) / FACTOR));
    }
}

static mnw_status rope_tensor(job *j)
{
    float    by[MN_MAX_HEAD_DIM / 2];
    uint64_t n = j->shape->P / 2;
    if (!(j->shape->also & STRETCHED)) return MNW_OK;
    if (!j->writing) {
        mn_gguf_declare(&j->out, mn_str_of("rope_freqs.weight"), mn_dtype_of(MN_F32), 1, &n);
        return MNW_OK;
    }
    rope_divisors(j->shape, by);
    for (size_t i = 0; i < n; i++) mn_store_f32(j->piece + 4 * i, by[i]);
    return mn_gguf_put(&j->out, j->piece, 4 * (size_t)n, j->err);
}

static mnw_status each_tensor(job *j)
{
    const mn_shape *c = j->shape;
    j->tensors = 0;
#define G(field, need, rows, cols, gguf) MN_TRY(tensor(j, gguf, 0, need, rows, cols));
#include "model/weights.def"
    MN_TRY(rope_tensor(j));
    for (uint32_t l = 0; l < c->L; l++) {
#define W(field, need, rows, cols, gguf) MN_TRY(tensor(j, gguf, l, need, rows, cols));
#include "model/weights.def"
    }
    return MNW_OK;
}

static void set_count(job *j, const char *name, uint32_t v)
{
    char key[96];
    snprintf(key, sizeof key, "%s.%s", j->shape->arch, name);
    mn_gguf_set_u32(&j->out, key, v);
}

static void set_real(job *j, const char *name, float v)
{
    char key[96];
    snprintf(key, sizeof key, "%s.%s", j->shape->arch, name);
    mn_gguf_set_f32(&j->out, key, v);
}

static void describe(job *j)
{
    const mn_shape *s = j->shape;
    char            name[96];
    snprintf(name, sizeof name, "%s with random weights", s->name);
    mn_gguf_align(&j->out, MN_ALIGN);
    mn_gguf_set_str(&j->out, "general.architecture", mn_str_of(s->arch));
    mn_gguf_set_str(&j->out, "general.name", mn_str_of(name));
    set_count(j, "context_length", s->n_ctx);
    set_count(j, "embedding_length", s->D);
    set_count(j, "block_count", s->L);
    set_count(j, "feed_forward_length", s->F);
    set_count(j, "attention.head_count", s->H);
    set_count(j, "attention.head_count_kv", s->K);
    set_count(j, "attention.key_length", s->P);
    set_count(j, "attention.value_length", s->P);
    set_count(j, "rope.dimension_count", s->P);
    set_real(j, "attention.layer_norm_rms_epsilon", s->eps);
    set_real(j, "rope.freq_base", s->theta);
}

static mnw_status write(job *j, const char *path)
{
    describe(j);
    MN_TRY(mn_synthetic_vocab(&j->out, j->shape, &j->mem, j->err));
    j->piece = mn_pages_push(&j->mem, MN_PIECE, 1);
    MN_FAIL_IF(!j->piece, j->err, MNW_E_NOMEM, "no memory to make weights in");
    MN_TRY(each_tensor(j));
    MN_TRY(mn_gguf_begin(&j->out, path, j->err));
    j->writing = true;
    MN_TRY(each_tensor(j));
    return mn_gguf_finish(&j->out, j->err);
}

static mnw_status find_type(const char *name, const mn_dtype **out, mn_err *err)
{
#define X(NAME, ...) MN_##NAME,
    static const mn_dtype_id ALL[] = { MN_DTYPE_LIST(X) MN_NATIVE_LIST(X) };
#undef X
    for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++) {
        *out = mn_dtype_of(ALL[i]);
        if (strcmp((*out)->name, name) == 0 && mn_random_has(*out)) return MNW_OK;
    }
    MN_FAIL(err, MNW_E_ARG,
            "type %s: expected q4x, q8x, q4_0, q4_1, q4_k, q6_k, q8_0, f16, bf16 or f32", name);
}

mnw_status mnw_synthetic_write(mnw_ctx *ctx, const char *shape, const char *type, const char *path)
{
    if (!ctx) return MNW_E_ARG;
    mn_err *err = &ctx->err;
    mn_err_clear(err);
    MN_FAIL_IF(!shape || !path, err, MNW_E_ARG, "mnw_synthetic_write: shape or path is NULL");
    job j = { .ctx = ctx, .shape = mn_shape_find(shape), .err = err };
    MN_FAIL_IF(!j.shape, err, MNW_E_ARG, "shape %s: not known; %s is", shape, SHAPE[0].name);
    MN_TRY(find_type(type ? type : "q4x", &j.type, err));
    j.arch = mn_arch_find(mn_str_of(j.shape->arch));
    mn_pages_init(&j.mem, &ctx->mem);
    mn_gguf_init(&j.out, &ctx->mem);
    const mnw_status st = write(&j, path);
    mn_gguf_done(&j.out);
    mn_pages_done(&j.mem);
    return st;
}
