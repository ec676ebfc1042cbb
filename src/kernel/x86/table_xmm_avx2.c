/* SPDX-License-Identifier: Apache-2.0
 *
 * table_xmm_avx2.c - the products with native formats of the avx2 tier.
 */
#include "kernel/tiers.h"
#include "kernel/x86/mm_x86.h"

void mn_kernels_xmm_avx2(mn_kernels *k)
{
#ifdef __AVX2__
    k->quant_x = mn_quant_x__avx2;
    k->mm_q4x = mn_xmm_q4x__avx2;
    k->mm_q8x = mn_xmm_q8x__avx2;
#else
    (void)k;
#endif
}
