/* SPDX-License-Identifier: Apache-2.0
 *
 * scalar.h - the specification of every slot but the matrix products, in plain C.
 */
#ifndef MN_KERNEL_SCALAR_H
#define MN_KERNEL_SCALAR_H

#include "kernel/kernels.h"

mn_rmsnorm_fn  mn_rmsnorm__scalar;
mn_quant_q8_fn mn_quant_q8__scalar;
mn_quant_q15_fn mn_quant_q15__scalar;
mn_quant_x_fn  mn_quant_x__scalar;
mn_rope_fn     mn_rope_half__scalar, mn_rope_pair__scalar;
mn_swiglu_fn   mn_swiglu__scalar;
mn_add_fn      mn_add__scalar;
mn_attn_fn     mn_attn_f16__scalar, mn_attn_i8__scalar;
mn_quant_kv_fn mn_quant_kv__scalar;
mn_to_f16_fn   mn_to_f16__scalar;
mn_argmax_fn   mn_argmax__scalar;
mn_sum_exp_fn  mn_sum_exp__scalar;

#endif
