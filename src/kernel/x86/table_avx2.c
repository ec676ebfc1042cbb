/* SPDX-License-Identifier: Apache-2.0
 *
 * table_avx2.c - what the avx2 tier improves, on one screen.
 */
#include "kernel/tiers.h"
#include "kernel/x86/x86.h"

void mn_kernels_avx2(mn_kernels *k)
{
#ifdef __AVX2__
    k->rmsnorm = mn_rmsnorm__avx2;
    k->rope_half = mn_rope_half__avx2;
    k->rope_pair = mn_rope_pair__avx2;
    k->swiglu = mn_swiglu__avx2;
    k->add = mn_add__avx2;
    k->attn_f16 = mn_attn_f16__avx2;
    k->attn_i8 = mn_attn_i8__avx2;
    k->quant_kv = mn_quant_kv__avx2;
    k->to_f16 = mn_to_f16__avx2;
    k->argmax = mn_argmax__avx2;
    k->sum_exp = mn_sum_exp__avx2;
#endif
    mn_kernels_mm_avx2(k);
    mn_kernels_xmm_avx2(k);
}
