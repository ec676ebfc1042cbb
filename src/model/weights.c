/* SPDX-License-Identifier: Apache-2.0
 *
 * weights.c - one function finds, checks and names them all.
 */
#include "model/weights.h"

#include <inttypes.h>
#include <stdio.h>

#include "kernel/kernels.h"
#include "kernel/q4x.h"

typedef enum need {
    MUST,
    MAY,
    NORM,   // of query and key heads: MUST where the architecture has them, else not looked for
} need;

/* What bind() works on, and what it has found so far. */
typedef struct binder {
    const mn_content *content;
    const mn_config  *config;
    const mn_kernels *kernels;
    mn_pages         *mem;
    bool             *used;    // [n_tensors]
    mn_err           *err;
} binder;

mn_str mn_weight_name(char out[MN_WEIGHT_NAME], const char *pattern, uint32_t layer)
{
    const char *hash = strchr(pattern, '#');
    const int   n = hash ? snprintf(out, MN_WEIGHT_NAME, "%.*s%u%s", (int)(hash - pattern), pattern, layer,
                                    hash + 1)
                         : snprintf(out, MN_WEIGHT_NAME, "%s", pattern);
    return (mn_str){ out, (size_t)n };
}

static bool is_float(const mn_dtype *t)
{
    return t->id == MN_F32 || t->id == MN_F16 || t->id == MN_BF16;
}

/* Vectors are used as aligned f32: in place if the file has them so. */
static mnw_status bind_vector(binder *b, const mn_tensor *t, mn_weight *w)
{
    MN_FAIL_IF(!is_float(t->type), b->err, MNW_E_UNSUPPORTED,
               "%.*s: type %s, expected f32, f16 or bf16", MN_STR(t->name), t->type->name);
    if (t->type->id == MN_F32 && (uintptr_t)t->data % sizeof(float) == 0) return MNW_OK;

    float *copy = mn_pages_push(b->mem, w->cols, sizeof *copy);
    MN_FAIL_IF(!copy, b->err, MNW_E_NOMEM, "%.*s as f32", MN_STR(t->name));
    mn_dequantize(copy, t->data, t->type->id, w->cols);
    w->data = copy;
    w->type = mn_dtype_from_id(MN_F32);
    w->row_bytes = w->cols * sizeof *copy;
    return MNW_OK;
}

static mnw_status bind_matrix(binder *b, const mn_tensor *t, mn_weight *w)
{
    if (t->type->native) return MNW_OK;   // its bytes fit its shape: the directory's reader saw to it
    MN_FAIL_IF(!mn_kernels_matmul(b->kernels, t->type->id), b->err, MNW_E_UNSUPPORTED,
               "%.*s: type %s is not one that minnow multiplies", MN_STR(t->name), t->type->name);
    MN_FAIL_IF(w->cols % t->type->block != 0, b->err, MNW_E_UNSUPPORTED,
               "%.*s: rows of %u values, expected a multiple of %u, the block of %s",
               MN_STR(t->name), w->cols, t->type->block, t->type->name);
    w->row_bytes = (size_t)(w->cols / t->type->block) * t->type->block_bytes;
    return MNW_OK;
}

static mnw_status bind(binder *b, const char *pattern, uint32_t layer, need n, size_t rows,
                       size_t cols, mn_weight *w)
{
    char             text[MN_WEIGHT_NAME];
    const mn_str     name = mn_weight_name(text, pattern, layer);
    const mn_tensor *t = mn_tensor_find(b->content, name);
    *w = (mn_weight){ 0 };
    if (n == NORM && !b->config->arch->qk_norm) return MNW_OK;
    MN_FAIL_IF(!t && n != MAY, b->err, MNW_E_FORMAT, "%s: missing, %s needs it", text,
               b->config->arch->name);
    if (!t) return MNW_OK;

    const bool vector = rows == 1;
    MN_FAIL_IF(t->dim[0] != cols || t->dim[1] != rows || t->dim[2] != 1 || t->dim[3] != 1, b->err,
               MNW_E_FORMAT,
               vector ? "%s: shape [%" PRIu64 ", %" PRIu64 "], expected [%zu, %zu]"
                      : "%s: shape [%" PRIu64 ", %" PRIu64 "], expected [%zu, %zu] "
                        "(is this a different model size?)",
               text, t->dim[1], t->dim[0], rows, cols);
    *w = (mn_weight){
        .data = t->data, .type = t->type, .rows = (uint32_t)rows, .cols = (uint32_t)cols
    };
    MN_TRY(vector ? bind_vector(b, t, w) : bind_matrix(b, t, w));
    b->used[t - b->content->tensor] = true;
    return MNW_OK;
}

static mnw_status bind_layer(binder *b, uint32_t layer, mn_layer *l)
{
    const mn_config *c = b->config;
#define W(field, need, rows, cols, gguf) MN_TRY(bind(b, gguf, layer, need, rows, cols, &l->field));
#include "model/weights.def"
    return MNW_OK;
}

static mnw_status bind_all(binder *b, mn_weights *w)
{
    const mn_config *c = b->config;
#define G(field, need, rows, cols, gguf) MN_TRY(bind(b, gguf, 0, need, rows, cols, &w->field));
#include "model/weights.def"
    w->tied = !w->head.data;
    if (w->tied) w->head = w->embd;

    w->layer = mn_pages_push_zero(b->mem, c->L, sizeof *w->layer);
    MN_FAIL_IF(!w->layer, b->err, MNW_E_NOMEM, "the list of %u layers", c->L);
    for (uint32_t l = 0; l < c->L; l++) MN_TRY(bind_layer(b, l, &w->layer[l]));
    return MNW_OK;
}

void mn_weight_expand(float *y, const mn_weight *w, size_t r)
{
    switch (w->type->id) {
    case MN_Q4X: mn_q4x_row(y, w->data, w->rows, w->cols, r); break;
    case MN_Q8X: mn_q8x_row(y, w->data, w->rows, w->cols, r); break;
    default: mn_dequantize(y, mn_weight_row(w, r), w->type->id, w->cols); break;
    }
}

mnw_status mn_weights_bind(const mn_content *content, const mn_config *c, const mn_kernels *kernels,
                           mn_pages *mem, mn_weights *w, mn_err *err)
{
    *w = (mn_weights){ 0 };
    binder b = { .content = content, .config = c, .kernels = kernels, .mem = mem, .err = err };
    b.used = mn_pages_push_zero(mem, content->n_tensors, sizeof *b.used);
    MN_FAIL_IF(!b.used, err, MNW_E_NOMEM, "the list of %zu tensors", content->n_tensors);
    MN_TRY(bind_all(&b, w));

    for (size_t i = content->n_tensors; i-- > 0;) {
        const mn_str name = content->tensor[i].name;
        if (b.used[i] || mn_str_is(name, "rope_freqs.weight")) continue;   // rope_read.c does
        w->unused = name;
        w->n_unused++;
    }
    return MNW_OK;
}
