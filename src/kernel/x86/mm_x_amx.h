/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_x_amx.h - the products of the amx tier.
 */
#ifndef MN_KERNEL_MM_X_AMX_H
#define MN_KERNEL_MM_X_AMX_H

#include "kernel/kernels.h"

extern const mn_xmatmul mn_xmm_q4x__amx, mn_xmm_q8x__amx;

#endif
