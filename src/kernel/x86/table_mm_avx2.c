/* SPDX-License-Identifier: Apache-2.0
 *
 * table_mm_avx2.c - the matrix products of the avx2 tier.
 */
#include "kernel/tiers.h"

void mn_kernels_mm_avx2(mn_kernels *k)
{
    (void)k;
}
