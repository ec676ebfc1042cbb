/* SPDX-License-Identifier: Apache-2.0
 *
 * table_scalar.c - the tier every machine has: fills every slot.
 */
#include "kernel/scalar/scalar.h"
#include "kernel/tiers.h"

void mn_kernels_scalar(mn_kernels *k)
{
    *k = (mn_kernels){
        .rmsnorm = mn_rmsnorm__scalar,
        .rope_half = mn_rope_half__scalar,
        .rope_pair = mn_rope_pair__scalar,
        .swiglu = mn_swiglu__scalar,
        .add = mn_add__scalar,
        .attn_f16 = mn_attn_f16__scalar,
        .attn_i8 = mn_attn_i8__scalar,
        .quant_kv = mn_quant_kv__scalar,
        .to_f16 = mn_to_f16__scalar,
        .argmax = mn_argmax__scalar,
        .sum_exp = mn_sum_exp__scalar,
    };
    mn_kernels_mm_scalar(k);   // and quant_q8, which prepares their input
    mn_kernels_xmm_scalar(k);   // and quant_x
}
