/* SPDX-License-Identifier: Apache-2.0
 *
 * cpu.c - ask the processor, and the system behind it, which tiers may be used.
 */
#include "base/cpu.h"

#include <stddef.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <stdint.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

/* A vector register may be used only if the system saves it: bits of XCR0. */
enum {
    XCR0_YMM = 0x06,
    XCR0_ZMM = 0xE6,
    XCR0_TILE = 0x60000,
};

static uint64_t xcr0(void)
{
    uint32_t lo, hi;
    __asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
    return (uint64_t)hi << 32 | lo;
}

/* Linux hands out the 8 KB of tile state on request only. */
static bool tiles_allowed(void)
{
#if defined(__linux__) && defined(__x86_64__)
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
#else
    return false;
#endif
}

static bool all(uint32_t reg, uint32_t bits)
{
    return (reg & bits) == bits;
}

unsigned mn_cpu_detect(void)
{
    uint32_t a, b, c, d, c1, b7, c7, d7, a71 = 0;
    if (!__get_cpuid(1, &a, &b, &c1, &d)) return 0;
    const uint32_t fma = 1u << 12, osxsave = 1u << 27, avx = 1u << 28, f16c = 1u << 29;
    if (!all(c1, fma | osxsave | avx | f16c)) return 0;
    if (!__get_cpuid_count(7, 0, &a, &b7, &c7, &d7)) return 0;
    if (a >= 1 && !__get_cpuid_count(7, 1, &a71, &b, &c, &d)) a71 = 0;

    const uint64_t saved = xcr0();
    const uint32_t avx2 = 1u << 5, bmi2 = 1u << 8;
    if ((saved & XCR0_YMM) != XCR0_YMM || !all(b7, avx2 | bmi2)) return 0;

    unsigned       have = MN_CPU_AVX2;
    const uint32_t avxvnni = 1u << 4;
    if (a71 & avxvnni) have |= MN_CPU_AVXVNNI;

    const uint32_t f = 1u << 16, dq = 1u << 17, bw = 1u << 30, vl = 1u << 31, vnni = 1u << 11;
    if ((saved & XCR0_ZMM) != XCR0_ZMM || !all(b7, f | dq | bw | vl) || !(c7 & vnni)) return have;
    have |= MN_CPU_AVX512;

    const uint32_t bf16 = 1u << 22, tile = 1u << 24, int8 = 1u << 25;
    if ((saved & XCR0_TILE) == XCR0_TILE && all(d7, bf16 | tile | int8) && tiles_allowed())
        have |= MN_CPU_AMX;
    return have;
}

#elif defined(__aarch64__)

#ifdef __linux__
#include <sys/auxv.h>

unsigned mn_cpu_detect(void)
{
    const unsigned long asimddp = 1ul << 20, i8mm = 1ul << 13;   // HWCAP, HWCAP2
    unsigned            have = MN_CPU_NEON;
    if (getauxval(AT_HWCAP) & asimddp) have |= MN_CPU_DOTPROD;
    if ((have & MN_CPU_DOTPROD) && (getauxval(AT_HWCAP2) & i8mm)) have |= MN_CPU_I8MM;
    return have;
}
#else
unsigned mn_cpu_detect(void)
{
    return MN_CPU_NEON;
}
#endif

#else

unsigned mn_cpu_detect(void)
{
    return 0;
}

#endif

/* Lowest first; a tier allows the ones it is built on. */
static const struct {
    const char *name;
    unsigned    bit, allows;
} TIERS[] = {
    { "scalar", 0, 0 },
    { "avx2", MN_CPU_AVX2, MN_CPU_AVX2 },
    { "avxvnni", MN_CPU_AVXVNNI, MN_CPU_AVX2 | MN_CPU_AVXVNNI },
    { "avx512", MN_CPU_AVX512, MN_CPU_AVX2 | MN_CPU_AVXVNNI | MN_CPU_AVX512 },
    { "amx", MN_CPU_AMX, MN_CPU_AVX2 | MN_CPU_AVXVNNI | MN_CPU_AVX512 | MN_CPU_AMX },
    { "neon", MN_CPU_NEON, MN_CPU_NEON },
    { "dotprod", MN_CPU_DOTPROD, MN_CPU_NEON | MN_CPU_DOTPROD },
    { "i8mm", MN_CPU_I8MM, MN_CPU_NEON | MN_CPU_DOTPROD | MN_CPU_I8MM },
};

enum { TIER_COUNT = sizeof TIERS / sizeof *TIERS };

bool mn_cpu_mask(const char *tier, unsigned *mask)
{
    for (size_t i = 0; i < TIER_COUNT; i++) {
        if (strcmp(tier, TIERS[i].name) == 0) {
            *mask = TIERS[i].allows;
            return true;
        }
    }
    return false;
}

bool mn_cpu_has_tier(unsigned cpu, const char *tier)
{
    for (size_t i = 0; i < TIER_COUNT; i++) {
        if (strcmp(tier, TIERS[i].name) == 0) return (cpu & TIERS[i].bit) == TIERS[i].bit;
    }
    return false;
}

const char *mn_cpu_name(unsigned cpu)
{
    const char *name = TIERS[0].name;
    for (size_t i = 1; i < TIER_COUNT; i++) {
        if (cpu & TIERS[i].bit) name = TIERS[i].name;
    }
    return name;
}
