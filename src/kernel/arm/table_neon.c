/* SPDX-License-Identifier: Apache-2.0
 *
 * table_neon.c - what the neon tier improves, on one screen.
 */
#include "kernel/arm/arm.h"
#include "kernel/tiers.h"

void mn_kernels_neon(mn_kernels *k)
{
#ifdef __aarch64__
    k->rmsnorm = mn_rmsnorm__neon;
    k->rope_half = mn_rope_half__neon;
    k->rope_pair = mn_rope_pair__neon;
    k->swiglu = mn_swiglu__neon;
    k->add = mn_add__neon;
    k->attn_f16 = mn_attn_f16__neon;
    k->attn_i8 = mn_attn_i8__neon;
    k->quant_kv = mn_quant_kv__neon;
    k->to_f16 = mn_to_f16__neon;
    k->argmax = mn_argmax__neon;
    k->sum_exp = mn_sum_exp__neon;
#endif
    mn_kernels_xmm_neon(k);
}
