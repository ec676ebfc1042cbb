/* SPDX-License-Identifier: Apache-2.0
 *
 * table_xmm_dotprod.c - the products with native formats of the dotprod tier.
 */
#include "kernel/arm/mm_x_arm.h"
#include "kernel/tiers.h"

void mn_kernels_xmm_dotprod(mn_kernels *k)
{
#ifdef __ARM_FEATURE_DOTPROD
    k->mm_q4x = mn_xmm_q4x__dotprod;
    k->mm_q8x = mn_xmm_q8x__dotprod;
#else
    (void)k;
#endif
}
