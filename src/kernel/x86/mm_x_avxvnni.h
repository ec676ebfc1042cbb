/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_x_avxvnni.h - the products of the avxvnni tier.
 */
#ifndef MN_KERNEL_MM_X_AVXVNNI_H
#define MN_KERNEL_MM_X_AVXVNNI_H

#include "kernel/kernels.h"

extern const mn_xmatmul mn_xmm_q4x__avxvnni, mn_xmm_q8x__avxvnni;

#endif
