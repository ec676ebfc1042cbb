/* SPDX-License-Identifier: Apache-2.0
 *
 * x86.h - the x86 versions of every slot but the matrix products.
 */
#ifndef MN_KERNEL_X86_H
#define MN_KERNEL_X86_H

#include "kernel/kernels.h"

mn_rmsnorm_fn  mn_rmsnorm__avx2, mn_rmsnorm__avx512;
mn_rope_fn     mn_rope_half__avx2, mn_rope_half__avx512;
mn_rope_fn     mn_rope_pair__avx2, mn_rope_pair__avx512;
mn_swiglu_fn   mn_swiglu__avx2, mn_swiglu__avx512;
mn_add_fn      mn_add__avx2, mn_add__avx512;
mn_attn_fn     mn_attn_f16__avx2, mn_attn_f16__avx512;
mn_attn_fn     mn_attn_i8__avx2, mn_attn_i8__avx512;
mn_quant_kv_fn mn_quant_kv__avx2, mn_quant_kv__avx512;
mn_to_f16_fn   mn_to_f16__avx2, mn_to_f16__avx512;
mn_argmax_fn   mn_argmax__avx2, mn_argmax__avx512;
mn_sum_exp_fn  mn_sum_exp__avx2, mn_sum_exp__avx512;

#endif
