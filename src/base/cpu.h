/* SPDX-License-Identifier: Apache-2.0
 *
 * cpu.h - which instruction-set tiers this machine has.
 *
 * Tiers are named bundles; kernels exist per tier, not per instruction:
 *
 *     avx2      AVX2 FMA F16C BMI2
 *     avxvnni   avx2 + AVX-VNNI
 *     avx512    avx2 + AVX-512 F BW DQ VL VNNI
 *     amx       avx512 + AMX TILE INT8 BF16, and the kernel's permission to use the tiles
 *     neon      AArch64 baseline
 *     dotprod   neon + SDOT/UDOT
 *     i8mm      dotprod + SMMLA
 */
#ifndef MN_BASE_CPU_H
#define MN_BASE_CPU_H

#include <stdbool.h>

enum {
    MN_CPU_AVX2 = 1 << 0,
    MN_CPU_AVXVNNI = 1 << 1,
    MN_CPU_AVX512 = 1 << 2,
    MN_CPU_AMX = 1 << 3,
    MN_CPU_NEON = 1 << 8,
    MN_CPU_DOTPROD = 1 << 9,
    MN_CPU_I8MM = 1 << 10,
};

/* The tiers this machine has; asks the kernel for AMX permission where it applies. */
unsigned mn_cpu_detect(void);

/* The bits allowed when `tier` is the highest ("scalar" allows none); false for an unknown name.
 * "avxvnni" leaves out avx512, "avx512" leaves out amx, and so on. */
bool mn_cpu_mask(const char *tier, unsigned *mask);

/* Is the named tier among the bits ("scalar" always is)? */
bool mn_cpu_has_tier(unsigned cpu, const char *tier);

/* The highest tier in `cpu`, "scalar" for 0. */
const char *mn_cpu_name(unsigned cpu);

#endif
