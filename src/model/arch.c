/* SPDX-License-Identifier: Apache-2.0
 *
 * arch.c - the table of architectures.
 */
#include "model/arch.h"

/* A(name, rope, qk_norm) */
#define ARCH_LIST(A)                 \
    A("llama", MN_ROPE_PAIR, false)  \
    A("qwen2", MN_ROPE_HALF, false)  \
    A("qwen3", MN_ROPE_HALF, true)

static const mn_arch TABLE[] = {
#define A(name, rope, qk_norm) { name, rope, qk_norm },
    ARCH_LIST(A)
#undef A
};

const mn_arch *mn_arch_find(mn_str name)
{
    for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE; i++) {
        if (mn_str_is(name, TABLE[i].name)) return &TABLE[i];
    }
    return NULL;
}

const char *mn_arch_names(void)
{
#define A(name, rope, qk_norm) ", " name
    return &ARCH_LIST(A)[2];   // without the first comma
#undef A
}
