/* SPDX-License-Identifier: Apache-2.0
 *
 * table_xmm_avxvnni.c - the products with native formats of the avxvnni tier.
 */
#include "kernel/tiers.h"
#include "kernel/x86/mm_x_avxvnni.h"

void mn_kernels_xmm_avxvnni(mn_kernels *k)
{
#ifdef __AVXVNNI__
    k->mm_q4x = mn_xmm_q4x__avxvnni;
    k->mm_q8x = mn_xmm_q8x__avxvnni;
#else
    (void)k;
#endif
}
