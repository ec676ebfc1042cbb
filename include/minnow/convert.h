/* SPDX-License-Identifier: Apache-2.0
 *
 * minnow/convert.h - bring models in from elsewhere, and send them out.
 *
 *     mnw_convert(ctx, "Qwen3-0.6B", "qwen3.gguf", NULL);                        // folder to GGUF
 *     mnw_convert(ctx, "qwen3.gguf", "out", &(mnw_convert_opts){                 // and back
 *                     .size = sizeof(mnw_convert_opts), .to = MNW_FORM_HF });
 *
 * Weights are streamed: memory does not grow with the model.  A result appears under its name only when it
 * is whole.  The context's progress hook is told bytes of the result.
 */
#ifndef MINNOW_CONVERT_H
#define MINNOW_CONVERT_H

#include <minnow/ctx.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mnw_form {
    MNW_FORM_DEFAULT = 0,   // GGUF
    MNW_FORM_GGUF = 1,
    MNW_FORM_HF = 2,        // a folder for transformers: model.safetensors, config.json, tokenizer.json ...
} mnw_form;

typedef enum mnw_type {
    MNW_TYPE_KEEP = 0,      // as they are; to a folder, quantised ones become f32
    MNW_TYPE_F32 = 1,
    MNW_TYPE_F16 = 2,
    MNW_TYPE_BF16 = 3,
    MNW_TYPE_Q8_0 = 4,      // this and the next only in GGUF files
    MNW_TYPE_Q4X = 5,       // minnow's own 4.25 bits
} mnw_type;

typedef struct mnw_convert_opts {
    size_t      size;       // sizeof(mnw_convert_opts)
    mnw_form    to;
    mnw_type    type;       // of the matrices
    const char *tokenizer;  // of a llama2.c checkpoint: its tokenizer.bin
} mnw_convert_opts;

/* Convert a model: a Hugging Face folder (safetensors, one file or shards) or a GGUF file to a GGUF file,
 * a GGUF file to a folder, a llama2.c checkpoint to a GGUF file.
 *
 * A folder must not exist before, or be empty.
 * Errors: MNW_E_NOENT, MNW_E_IO, MNW_E_FORMAT, MNW_E_LIMIT, MNW_E_NOMEM; MNW_E_UNSUPPORTED for a model
 *         or a value that the other form cannot say; MNW_E_ARG if the folder exists; MNW_E_CANCELLED by
 *         the progress hook. */
MNW_API mnw_status mnw_convert(mnw_ctx *ctx, const char *in, const char *out,
                               const mnw_convert_opts *opts);

/* Convert a llama2.c checkpoint (version 0, f32) and its tokenizer to a GGUF file in F32.
 *
 * Errors: as above; MNW_E_UNSUPPORTED for a later version. */
MNW_API mnw_status mnw_convert_llama2c(mnw_ctx *ctx, const char *model_path,
                                       const char *tokenizer_path, const char *out_path);

#ifdef __cplusplus
}
#endif
#endif
