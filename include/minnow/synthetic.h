/* SPDX-License-Identifier: Apache-2.0
 *
 * minnow/synthetic.h - model files with random weights, in the shapes of real models.
 *
 * What a machine does with a model of some size, speed and memory, does not depend on what the weights
 * say.  So measuring needs no download:
 *
 *     mnw_synthetic_write(ctx, "0.3b", "q4x", "0.3b.gguf");
 *
 * The file is complete (tokenizer and chat template included), the same on every machine, and talks
 * nonsense.
 */
#ifndef MINNOW_SYNTHETIC_H
#define MINNOW_SYNTHETIC_H

#include <minnow/ctx.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The name of shape i, "qwen3-0.6b"; NULL after the last. */
MNW_API const char *mnw_synthetic_name(size_t i);

/* Write a model of this shape, with its matrices in this type: q4x (also for NULL), q8x, q4_0, q4_1, q4_k,
 * q6_k, q8_0, f16, bf16 or f32.
 *
 * The file appears under its name only when it is whole.  Progress counts bytes.
 * Errors: MNW_E_ARG for an unknown shape or type, and for a type whose blocks the shape's rows do not
 *         fill; MNW_E_IO, MNW_E_NOMEM, MNW_E_CANCELLED.
 * Allocs: the vocabulary and 2 MiB. */
MNW_API mnw_status mnw_synthetic_write(mnw_ctx *ctx, const char *shape, const char *type,
                                       const char *path);

#ifdef __cplusplus
}
#endif
#endif
