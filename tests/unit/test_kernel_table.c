/* SPDX-License-Identifier: Apache-2.0
 *
 * test_kernel_table.c - every table is complete whatever the processor, and choosing is pure.
 */
#include "test.h"

#include "base/cpu.h"
#include "kernel/kernels.h"

static void complete(unsigned cpu)
{
    mn_kernels k, again;
    memset(&k, 0, sizeof k);
    memset(&again, 0xff, sizeof again);
    mn_kernels_init(&k, cpu);
    mn_kernels_init(&again, cpu);
    EQ_MEM(&k, &again, sizeof k);

    void (*slot)(void);                       // a table is function pointers and nothing else
    EQ(sizeof k % sizeof slot, 0);
    for (size_t at = 0; at < sizeof k; at += sizeof slot) {
        memcpy(&slot, (const char *)&k + at, sizeof slot);
        if (!slot) fail_msg("cpu 0x%x: the slot at byte %zu is empty", cpu, at);
    }
}

TEST(every_tier_fills_every_slot)
{
    const unsigned tiers[] = { 0,
                               MN_CPU_AVX2,
                               MN_CPU_AVX2 | MN_CPU_AVXVNNI,
                               MN_CPU_AVX2 | MN_CPU_AVX512,
                               MN_CPU_AVX2 | MN_CPU_AVX512 | MN_CPU_AMX,
                               MN_CPU_NEON,
                               MN_CPU_NEON | MN_CPU_DOTPROD,
                               MN_CPU_NEON | MN_CPU_DOTPROD | MN_CPU_I8MM };
    for (size_t i = 0; i < LEN(tiers); i++) complete(tiers[i]);
    complete(mn_cpu_detect());
}

TEST(every_type_of_weight_has_a_product_and_no_other_type_has)
{
    mn_kernels k;
    mn_kernels_init(&k, 0);
#define X(NAME, id, name, values, bytes)                                                           \
    if (MN_##NAME == MN_I8 || MN_##NAME == MN_I32)                                                 \
        YES(mn_kernels_matmul(&k, MN_##NAME) == NULL);                                             \
    else                                                                                           \
        YES(mn_kernels_matmul(&k, MN_##NAME) != NULL && mn_kernels_matmul(&k, MN_##NAME)->gemm);
    MN_DTYPE_LIST(X)
#undef X
    YES(mn_kernels_matmul(&k, MN_Q4_1) == &k.mm_q4_1);
    YES(mn_kernels_matmul(&k, MN_Q4X) == NULL);
    YES(mn_kernels_xmatmul(&k, MN_Q4X) == &k.mm_q4x);
    YES(mn_kernels_xmatmul(&k, MN_Q8X) == &k.mm_q8x);
    YES(mn_kernels_xmatmul(&k, MN_Q4_1) == NULL);
    YES(mn_kernels_matmul(&k, (mn_dtype_id)9999) == NULL);
}

int main(void)
{
    return RUN(T(every_tier_fills_every_slot),
               T(every_type_of_weight_has_a_product_and_no_other_type_has));
}
