/* SPDX-License-Identifier: Apache-2.0
 *
 * table_avx2.c - what the avx2 tier improves, on one screen.
 */
#include "kernel/tiers.h"

void mn_kernels_avx2(mn_kernels *k)
{
    mn_kernels_mm_avx2(k);
}
