/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_x86.h - the matrix products of the x86 tiers.
 */
#ifndef MN_KERNEL_MM_X86_H
#define MN_KERNEL_MM_X86_H

#include "kernel/kernels.h"

extern const mn_matmul mn_mm_f32__avx512, mn_mm_f16__avx512, mn_mm_bf16__avx512;
extern const mn_matmul mn_mm_q4_0__avx512, mn_mm_q4_1__avx512, mn_mm_q8_0__avx512;
extern const mn_matmul mn_mm_q5_0__avx512, mn_mm_q5_1__avx512;
extern const mn_matmul mn_mm_q4_k__avx512, mn_mm_q5_k__avx512, mn_mm_q6_k__avx512;

#endif
