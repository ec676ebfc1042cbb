/* SPDX-License-Identifier: Apache-2.0
 *
 * table_xmm_amx.c - the products with native formats of the amx tier.
 */
#include "kernel/tiers.h"
#include "kernel/x86/mm_x_amx.h"

void mn_kernels_xmm_amx(mn_kernels *k)
{
#ifdef __AMX_INT8__
    k->mm_q4x = mn_xmm_q4x__amx;
    k->mm_q8x = mn_xmm_q8x__amx;
#else
    (void)k;
#endif
}
