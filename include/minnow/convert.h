/* SPDX-License-Identifier: Apache-2.0
 *
 * minnow/convert.h - bring models of other formats in.
 *
 *     mnw_convert_llama2c(ctx, "stories260K.bin", "tok512.bin", "stories260K.gguf");
 */
#ifndef MINNOW_CONVERT_H
#define MINNOW_CONVERT_H

#include <minnow/ctx.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Convert a llama2.c checkpoint (version 0, f32) and its tokenizer to a GGUF file in F32.
 *
 * The file appears under its name only when it is whole.
 * Errors: MNW_E_NOENT, MNW_E_IO, MNW_E_FORMAT, MNW_E_LIMIT, MNW_E_NOMEM; MNW_E_UNSUPPORTED for a
 *         later version; MNW_E_CANCELLED by the progress hook. */
MNW_API mnw_status mnw_convert_llama2c(mnw_ctx *ctx, const char *model_path,
                                       const char *tokenizer_path, const char *out_path);

#ifdef __cplusplus
}
#endif
#endif
