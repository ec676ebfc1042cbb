/* SPDX-License-Identifier: Apache-2.0
 *
 * phases.h - what the files of the processor backend share.
 */
#ifndef MN_CPU_PHASES_H
#define MN_CPU_PHASES_H

#include "model/step.h"

/* Values of a token that share an activation scale in products with blocks. */
enum { MN_ACT_BLOCK = 32 };

/* The int8 twin of columns [begin, end) of the first row of a, whole blocks. */
void mn_cpu_quantise(const mn_step *s, const mn_acts *a, size_t begin, size_t end);

/* The phase `attend` of mn_backend. */
void mn_cpu_attend(const mn_step *s, const mn_act *o, const mn_act *q, const mn_kv *kv, size_t l);

/* Heads whose values fill whole runs of `length` values, which is 16 or 32. */
static inline size_t mn_heads_per(size_t length, size_t P)
{
    size_t n = 1;
    while (n * P % length != 0) n *= 2;   // P is a multiple of 8: at most 4
    return n;
}

#endif
