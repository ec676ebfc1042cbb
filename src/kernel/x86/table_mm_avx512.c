/* SPDX-License-Identifier: Apache-2.0
 *
 * table_mm_avx512.c - the matrix products of the avx512 tier.
 */
#include "kernel/tiers.h"

void mn_kernels_mm_avx512(mn_kernels *k)
{
    (void)k;
}
