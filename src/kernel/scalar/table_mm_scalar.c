/* SPDX-License-Identifier: Apache-2.0
 *
 * table_mm_scalar.c - the matrix products of the scalar tier.
 */
#include "kernel/tiers.h"

void mn_kernels_mm_scalar(mn_kernels *k)
{
    (void)k;
}
