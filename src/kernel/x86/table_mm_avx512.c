/* SPDX-License-Identifier: Apache-2.0
 *
 * table_mm_avx512.c - the matrix products of the avx512 tier.
 */
#include "kernel/tiers.h"
#include "kernel/x86/mm_x86.h"

void mn_kernels_mm_avx512(mn_kernels *k)
{
#ifdef __AVX512VNNI__
    k->mm_f32 = mn_mm_f32__avx512;
    k->mm_f16 = mn_mm_f16__avx512;
    k->mm_bf16 = mn_mm_bf16__avx512;
    k->mm_q8_0 = mn_mm_q8_0__avx512;
    k->mm_q4_0 = mn_mm_q4_0__avx512;
    k->mm_q4_1 = mn_mm_q4_1__avx512;
    k->mm_q5_0 = mn_mm_q5_0__avx512;
    k->mm_q5_1 = mn_mm_q5_1__avx512;
    k->mm_q4_k = mn_mm_q4_k__avx512;
    k->mm_q5_k = mn_mm_q5_k__avx512;
    k->mm_q6_k = mn_mm_q6_k__avx512;
#else
    (void)k;
#endif
}
