/* SPDX-License-Identifier: Apache-2.0
 *
 * minnow/digest.h - is a file, or a part of it, what it should be?
 *
 *     char hex[MNW_DIGEST_CHARS];
 *     if (mnw_digest_file(ctx, "model.gguf", 0, 0, hex) == MNW_OK) puts(hex);
 */
#ifndef MINNOW_DIGEST_H
#define MINNOW_DIGEST_H

#include <minnow/ctx.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MNW_DIGEST_CHARS = 65 };

/* SHA-256 of `length` bytes (0 = to the end) at `offset` of a file: 64 lower-case hex digits and a
 * NUL in `hex`, which is "" on error.
 *
 * Errors: MNW_E_NOENT; MNW_E_IO, also when the file is shorter; MNW_E_CANCELLED by the progress hook. */
MNW_API mnw_status mnw_digest_file(mnw_ctx *ctx, const char *path, uint64_t offset, uint64_t length,
                                   char *hex);

#ifdef __cplusplus
}
#endif
#endif
