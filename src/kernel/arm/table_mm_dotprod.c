/* SPDX-License-Identifier: Apache-2.0
 *
 * table_mm_dotprod.c - the matrix products of the dotprod tier.
 */
#include "kernel/arm/mm_arm.h"
#include "kernel/tiers.h"

void mn_kernels_mm_dotprod(mn_kernels *k)
{
#ifdef __ARM_FEATURE_DOTPROD
    k->mm_q8_0 = mn_mm_q8_0__dotprod;
    k->mm_q4_0 = mn_mm_q4_0__dotprod;
    k->mm_q4_1 = mn_mm_q4_1__dotprod;
    k->mm_q5_0 = mn_mm_q5_0__dotprod;
    k->mm_q5_1 = mn_mm_q5_1__dotprod;
    k->mm_q4_k = mn_mm_q4_k__dotprod;
    k->mm_q5_k = mn_mm_q5_k__dotprod;
    k->mm_q6_k = mn_mm_q6_k__dotprod;
#else
    (void)k;
#endif
}
