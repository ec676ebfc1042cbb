/* SPDX-License-Identifier: Apache-2.0
 *
 * weights.h - where each weight of a model is, after its shape and type have been checked.
 */
#ifndef MN_MODEL_WEIGHTS_H
#define MN_MODEL_WEIGHTS_H

#include "kernel/kernels.h"
#include "model/config.h"

/* A matrix as the file has it, in rows or in a native format's panels, or a vector (rows 1), which is always
 * aligned f32. */
typedef struct mn_weight {
    const void     *data;        // NULL: this model has none
    const mn_dtype *type;
    uint32_t        rows, cols;
    size_t          row_bytes;   // 0 if native
} mn_weight;

typedef struct mn_layer {
#define W(field, need, rows, cols, gguf) mn_weight field;
#include "model/weights.def"
} mn_layer;

typedef struct mn_weights {
#define G(field, need, rows, cols, gguf) mn_weight field;
#include "model/weights.def"
    bool      tied;       // head is embd
    mn_layer *layer;      // [L]
    size_t    n_unused;   // tensors of the file that no line of weights.def asks for,
    mn_str    unused;     // and the first of them
} mn_weights;

/* Find every weight of weights.def and check its shape and type.  Matrices stay where they are and
 * are not touched; vectors that are not aligned f32 are converted into `mem`.
 *
 * Errors: MNW_E_FORMAT, MNW_E_UNSUPPORTED name the tensor; MNW_E_NOMEM. */
mnw_status mn_weights_bind(const mn_content *content, const mn_config *c, const mn_kernels *kernels,
                           mn_pages *mem, mn_weights *w, mn_err *err);

/* The form in which products with a weight want their input, beside f32. */
enum { MN_FORM_Q8 = 1, MN_FORM_X = 2 };   // mn_acts' integers, mn_xacts

static inline unsigned mn_weight_form(const mn_weight *w)
{
    if (!w->data || w->rows == 1) return 0;
    return w->type->native ? MN_FORM_X : mn_wants_q8(w->type) ? MN_FORM_Q8 : 0;
}

/* Row r of a matrix as f32: y [cols]. */
void mn_weight_expand(float *y, const mn_weight *w, size_t r);

/* Row r of a matrix in rows. */
static inline const void *mn_weight_row(const mn_weight *w, size_t r)
{
    return (const uint8_t *)w->data + r * w->row_bytes;
}

/* A vector's values; NULL if the model has none. */
static inline const float *mn_weight_vector(const mn_weight *w)
{
    return w->data;
}

/* "blk.#.attn_q.weight" with the layer's number in place of '#'. */
enum { MN_WEIGHT_NAME = 80 };
mn_str mn_weight_name(char out[MN_WEIGHT_NAME], const char *pattern, uint32_t layer);

#endif
