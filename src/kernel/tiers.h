/* SPDX-License-Identifier: Apache-2.0
 *
 * tiers.h - what fills a kernel table: one function per instruction-set tier, each replacing the
 * slots it improves.  The matrix products of a tier have functions of their own (mm: types of other
 * programs, xmm: the native formats), which the tier's function calls last.
 *
 * All of them exist in every build; one whose tier the compiler was not asked for changes nothing.
 */
#ifndef MN_KERNEL_TIERS_H
#define MN_KERNEL_TIERS_H

#include "kernel/kernels.h"

void mn_kernels_scalar(mn_kernels *k);
void mn_kernels_avx2(mn_kernels *k);
void mn_kernels_avx512(mn_kernels *k);
void mn_kernels_neon(mn_kernels *k);

void mn_kernels_mm_scalar(mn_kernels *k);
void mn_kernels_mm_avx2(mn_kernels *k);
void mn_kernels_mm_avx512(mn_kernels *k);
void mn_kernels_mm_dotprod(mn_kernels *k);

void mn_kernels_xmm_scalar(mn_kernels *k);
void mn_kernels_xmm_avx2(mn_kernels *k);
void mn_kernels_xmm_avxvnni(mn_kernels *k);
void mn_kernels_xmm_avx512(mn_kernels *k);
void mn_kernels_xmm_amx(mn_kernels *k);
void mn_kernels_xmm_neon(mn_kernels *k);
void mn_kernels_xmm_dotprod(mn_kernels *k);
void mn_kernels_xmm_i8mm(mn_kernels *k);

#endif
