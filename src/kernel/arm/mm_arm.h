/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_arm.h - the matrix products of the AArch64 tiers.
 */
#ifndef MN_KERNEL_MM_ARM_H
#define MN_KERNEL_MM_ARM_H

#include "kernel/kernels.h"

#define MN_INLINE static inline __attribute__((always_inline))

extern const mn_matmul mn_mm_q8_0__dotprod, mn_mm_q4_0__dotprod, mn_mm_q4_1__dotprod;
extern const mn_matmul mn_mm_q5_0__dotprod, mn_mm_q5_1__dotprod;
extern const mn_matmul mn_mm_q4_k__dotprod, mn_mm_q5_k__dotprod, mn_mm_q6_k__dotprod;

#endif
