/* SPDX-License-Identifier: Apache-2.0
 *
 * table_xmm_avx512.c - the products with native formats of the avx512 tier.
 */
#include "kernel/tiers.h"
#include "kernel/x86/mm_x_avx512.h"

void mn_kernels_xmm_avx512(mn_kernels *k)
{
#ifdef __AVX512VNNI__
    k->mm_q4x = mn_xmm_q4x__avx512;
    k->mm_q8x = mn_xmm_q8x__avx512;
#else
    (void)k;
#endif
}
