/* SPDX-License-Identifier: Apache-2.0
 *
 * table_mm_avx2.c - the matrix products of the avx2 tier.
 */
#include "kernel/tiers.h"
#include "kernel/x86/mm_x86.h"

void mn_kernels_mm_avx2(mn_kernels *k)
{
#ifdef __AVX2__
    k->quant_q8 = mn_quant_q8__avx2;
    k->quant_q15 = mn_quant_q15__avx2;
    MN_MM_TABLE(k, avx2);
#else
    (void)k;
#endif
}
