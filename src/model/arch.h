/* SPDX-License-Identifier: Apache-2.0
 *
 * arch.h - architectures as data: what distinguishes one family of decoders from another.
 *
 * Every architecture here is the block of block.c (pre-norm RMSNorm, grouped-query attention with
 * rotary positions, SwiGLU); a row says where it differs.  Biases need no column: a file has them or
 * not (weights.def).
 */
#ifndef MN_MODEL_ARCH_H
#define MN_MODEL_ARCH_H

#include <stdbool.h>

#include "base/bytes.h"

typedef enum mn_rope_style {
    MN_ROPE_HALF,   // rotates (i, i + n/2)
    MN_ROPE_PAIR,   // rotates (2i, 2i + 1): GGUF files of this family have q and k rows reordered
} mn_rope_style;

typedef struct mn_arch {
    const char   *name;      // general.architecture
    mn_rope_style rope;
    bool          qk_norm;   // each query and key head is RMS-normalised before it is rotated
} mn_arch;

/* The row of an architecture; NULL if minnow does not know it. */
const mn_arch *mn_arch_find(mn_str name);

/* All known names, for messages: "llama, qwen2, qwen3". */
const char *mn_arch_names(void);

#endif
