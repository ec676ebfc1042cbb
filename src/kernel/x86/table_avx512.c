/* SPDX-License-Identifier: Apache-2.0
 *
 * table_avx512.c - what the avx512 tier improves, on one screen.
 */
#include "kernel/tiers.h"
#include "kernel/x86/x86.h"

void mn_kernels_avx512(mn_kernels *k)
{
#ifdef __AVX512VNNI__
    k->rmsnorm = mn_rmsnorm__avx512;
    k->rope_half = mn_rope_half__avx512;
    k->rope_pair = mn_rope_pair__avx512;
    k->swiglu = mn_swiglu__avx512;
    k->add = mn_add__avx512;
    k->attn_f16 = mn_attn_f16__avx512;
    k->attn_i8 = mn_attn_i8__avx512;
    k->quant_kv = mn_quant_kv__avx512;
    k->to_f16 = mn_to_f16__avx512;
    k->argmax = mn_argmax__avx512;
    k->sum_exp = mn_sum_exp__avx512;
#endif
    mn_kernels_mm_avx512(k);
    mn_kernels_xmm_avx512(k);
}
