/* SPDX-License-Identifier: Apache-2.0
 *
 * minnow/quantize.h - rewrite a model file with its matrices in another type.
 *
 *     const mnw_quantize_opts o = { .size = sizeof o, .type = "q4x" };
 *     if (mnw_quantize(ctx, "model.gguf", "model.q4x.gguf", &o) != MNW_OK) puts(mnw_ctx_error(ctx));
 *
 * Any GGUF file that minnow reads goes in, float or quantised.  Matrices get the type asked for; vectors
 * (norms, biases) become f32; metadata and integer tensors are copied.  A file with native types (q4x,
 * q8x) is laid out for running in place, as docs/FORMAT.md says; others are plain GGUF.
 */
#ifndef MINNOW_QUANTIZE_H
#define MINNOW_QUANTIZE_H

#include <minnow/ctx.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Every type a matrix can get, separated by blanks: "q4x q8x q8_0 ...". */
MNW_API const char *mnw_quantize_types(void);

/* Tensors whose name matches `glob` (* any text, ? any character) get `type`; "" = keep it as it is.
 * Vectors only take float types: other rules do not speak of them. */
typedef struct mnw_quantize_rule {
    const char *glob, *type;
} mnw_quantize_rule;

/* What became of one tensor. */
typedef struct mnw_quantize_result {
    size_t      size;            // sizeof(mnw_quantize_result)
    const char *name;
    const char *from, *to;       // types
    const char *wanted;          // NULL, or the type it could not have
    uint64_t    rows, cols;      // of a vector: 1 row
    uint64_t    bytes;           // in the new file
    double      bits;            // of the new file for each weight
    double      error_db;        // 10 log10(error / power), importance-weighted; -INFINITY = none
} mnw_quantize_result;

/* Called for each tensor when it is written, in the order of the new file. */
typedef void mnw_quantize_fn(void *user, const mnw_quantize_result *result);

typedef struct mnw_quantize_opts {
    size_t                   size;         // sizeof(mnw_quantize_opts)
    const char              *type;         // of matrices                                    ["q4x"]
    const mnw_quantize_rule *rules;        // the first that matches a tensor decides; such tensors
    size_t                   n_rules;      //   are not upgraded
    double                   target_bpw;   // spend up to so many bits a weight of all tensors, or
    uint64_t                 target_bytes; //   up to this file size, on a better type for the tensors
                                           //   that gain most by it: q8x or q8_0 for q4x, q8_0 for
                                           //   q4_0 to q5_1, q6_k for q4_k and q5_k  [0: none is]
    const char              *calibration;  // text to run through the model: errors in columns
    size_t                   calibration_bytes;   // whose inputs are large count more       [none]
    uint32_t                 calibration_tokens;  // of the text to use at most              [16384]
    mnw_quantize_fn         *report;       // [none]
    void                    *report_user;
} mnw_quantize_opts;

/* Write `out_path` from `in_path`.  The file appears under its name only when it is whole, and is the
 * same for any number of threads.
 *
 * A tensor that cannot have its type gets the nearest one that fits, with MNW_WARNING_TYPE_FALLBACK.
 * Progress: bytes of the new file.
 * Errors: MNW_E_ARG for an unknown type, or a target below what the type needs; MNW_E_NOENT, MNW_E_IO;
 *         MNW_E_FORMAT, MNW_E_LIMIT, MNW_E_UNSUPPORTED as opening the model; MNW_E_STRICT, MNW_E_NOMEM,
 *         MNW_E_CANCELLED.
 * Allocs: some rows of the widest matrix, not the model; with calibration what a session needs. */
MNW_API mnw_status mnw_quantize(mnw_ctx *ctx, const char *in_path, const char *out_path,
                                const mnw_quantize_opts *opts);

#ifdef __cplusplus
}
#endif
#endif
