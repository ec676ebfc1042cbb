/* SPDX-License-Identifier: Apache-2.0
 *
 * table_mm_avx512.c - the matrix products of the avx512 tier.
 */
#include "kernel/tiers.h"
#include "kernel/x86/mm_x86.h"

void mn_kernels_mm_avx512(mn_kernels *k)
{
#ifdef __AVX512VNNI__
    MN_MM_TABLE(k, avx512);
#else
    (void)k;
#endif
}
