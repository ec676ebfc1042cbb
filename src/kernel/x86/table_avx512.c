/* SPDX-License-Identifier: Apache-2.0
 *
 * table_avx512.c - what the avx512 tier improves, on one screen.
 */
#include "kernel/tiers.h"

void mn_kernels_avx512(mn_kernels *k)
{
    mn_kernels_mm_avx512(k);
}
