/* SPDX-License-Identifier: Apache-2.0
 *
 * table_xmm_i8mm.c - the products with native formats of the i8mm tier.
 */
#include "kernel/arm/mm_x_arm.h"
#include "kernel/tiers.h"

void mn_kernels_xmm_i8mm(mn_kernels *k)
{
#ifdef __ARM_FEATURE_MATMUL_INT8
    k->mm_q4x = mn_xmm_q4x__i8mm;
    k->mm_q8x = mn_xmm_q8x__i8mm;
#else
    (void)k;
#endif
}
