/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels.c - the whole of dispatch.
 */
#include "kernel/kernels.h"

#include "base/cpu.h"
#include "kernel/tiers.h"

void mn_kernels_init(mn_kernels *k, unsigned cpu)
{
    mn_kernels_scalar(k);   // fills every slot; each tier replaces what it improves
    if (cpu & MN_CPU_AVX2) mn_kernels_avx2(k);
    if (cpu & MN_CPU_AVXVNNI) mn_kernels_xmm_avxvnni(k);
    if (cpu & MN_CPU_AVX512) mn_kernels_avx512(k);
    if (cpu & MN_CPU_AMX) mn_kernels_xmm_amx(k);
    if (cpu & MN_CPU_NEON) mn_kernels_neon(k);
    if (cpu & MN_CPU_DOTPROD) mn_kernels_mm_dotprod(k);
    if (cpu & MN_CPU_DOTPROD) mn_kernels_xmm_dotprod(k);
    if (cpu & MN_CPU_I8MM) mn_kernels_xmm_i8mm(k);
}

const mn_matmul *mn_kernels_matmul(const mn_kernels *k, mn_dtype_id type)
{
    switch (type) {
    case MN_F32: return &k->mm_f32;
    case MN_F16: return &k->mm_f16;
    case MN_BF16: return &k->mm_bf16;
    case MN_Q8_0: return &k->mm_q8_0;
    case MN_Q4_0: return &k->mm_q4_0;
    case MN_Q4_1: return &k->mm_q4_1;
    case MN_Q5_0: return &k->mm_q5_0;
    case MN_Q5_1: return &k->mm_q5_1;
    case MN_Q4_K: return &k->mm_q4_k;
    case MN_Q5_K: return &k->mm_q5_k;
    case MN_Q6_K: return &k->mm_q6_k;
    case MN_Q4X:
    case MN_Q8X:
    case MN_I8:
    case MN_I32: break;
    }
    return NULL;
}

const mn_xmatmul *mn_kernels_xmatmul(const mn_kernels *k, mn_dtype_id type)
{
    return type == MN_Q4X ? &k->mm_q4x : type == MN_Q8X ? &k->mm_q8x : NULL;
}
