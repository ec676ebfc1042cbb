/* SPDX-License-Identifier: Apache-2.0
 *
 * table_xmm_neon.c - the products with native formats of the neon tier.
 */
#include "kernel/arm/arm.h"
#include "kernel/arm/mm_x_arm.h"
#include "kernel/tiers.h"

void mn_kernels_xmm_neon(mn_kernels *k)
{
#ifdef __aarch64__
    k->quant_x = mn_quant_x__neon;
    k->mm_q4x = mn_xmm_q4x__neon;
    k->mm_q8x = mn_xmm_q8x__neon;
#else
    (void)k;
#endif
}
