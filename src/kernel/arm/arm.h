/* SPDX-License-Identifier: Apache-2.0
 *
 * arm.h - the AArch64 versions of every slot but the matrix products.
 */
#ifndef MN_KERNEL_ARM_H
#define MN_KERNEL_ARM_H

#include "kernel/kernels.h"

mn_rmsnorm_fn  mn_rmsnorm__neon;
mn_rope_fn     mn_rope_half__neon, mn_rope_pair__neon;
mn_swiglu_fn   mn_swiglu__neon;
mn_add_fn      mn_add__neon;
mn_attn_fn     mn_attn_f16__neon, mn_attn_i8__neon;
mn_quant_kv_fn mn_quant_kv__neon;
mn_to_f16_fn   mn_to_f16__neon;
mn_argmax_fn   mn_argmax__neon;
mn_sum_exp_fn  mn_sum_exp__neon;
mn_quant_x_fn  mn_quant_x__neon;

#endif
