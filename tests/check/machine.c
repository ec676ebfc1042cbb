/* SPDX-License-Identifier: Apache-2.0
 *
 * machine.c - loops of nothing but the instruction in question, and one that does nothing but read.
 */
#include "machine.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TRIES = 7 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Amount in a nanosecond, the best of a few tries. */
static double best(void (*loop)(uint64_t n), uint64_t n, double amount)
{
    double most = 0;
    for (int i = 0; i < TRIES; i++) {
        const double start = now();
        loop(n);
        const double rate = (double)n * amount / (now() - start);
        if (rate > most) most = rate;
    }
    return most;
}

#define X4(op)  op op op op
#define X12(op) op(0) op(1) op(2) op(3) op(4) op(5) op(6) op(7) op(8) op(9) op(10) op(11)

#ifdef __x86_64__
#define VECTORS                                                                                    \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", \
        "xmm12", "xmm13", "xmm14", "xmm15"

static void clock_loop(uint64_t n)
{
    uint64_t x = 3;
    while (n--) __asm__ volatile(X4("imul %0, %0\n") : "+r"(x));
}
enum { CLOCK_CYCLES = 12 };   // four multiplications of three

/* Products of zeros cost what others cost. */
#define ZERO "vpxor %%xmm12, %%xmm12, %%xmm12\n vpxor %%xmm13, %%xmm13, %%xmm13\n"

#define VNNI512(i) "vpdpbusd %%zmm12, %%zmm13, %%zmm" #i "\n"
__attribute__((target("avx512f,avx512vnni"))) static void avx512_loop(uint64_t n)
{
    __asm__ volatile(ZERO ::: VECTORS);
    while (n--) __asm__ volatile(X12(VNNI512)::: VECTORS);
    __asm__ volatile("vzeroupper");
}

#define VNNI256(i) "%{vex%} vpdpbusd %%ymm12, %%ymm13, %%ymm" #i "\n"
__attribute__((target("avxvnni"))) static void avxvnni_loop(uint64_t n)
{
    __asm__ volatile(ZERO ::: VECTORS);
    while (n--) __asm__ volatile(X12(VNNI256)::: VECTORS);
    __asm__ volatile("vzeroupper");
}

#define MADD(t, s)                                                                                 \
    "vpmaddubsw %%ymm13, %%ymm12, %%ymm" #t "\n vpaddw %%ymm" #t ", %%ymm" #s ", %%ymm" #s "\n"
#define MADDS(s, acc)                                                                              \
    MADD(8, s) MADD(9, s) MADD(10, s) MADD(11, s)                                                  \
    "vpmaddwd %%ymm12, %%ymm" #s ", %%ymm" #s "\n vpaddd %%ymm" #s ", %%ymm" #acc ", %%ymm" #acc "\n"
__attribute__((target("avx2"))) static void avx2_loop(uint64_t n)
{
    __asm__ volatile(ZERO ::: VECTORS);
    while (n--) __asm__ volatile(MADDS(0, 4) MADDS(1, 5) MADDS(2, 6) MADDS(3, 7)::: VECTORS);
    __asm__ volatile("vzeroupper");
}

__attribute__((target("amx-tile,amx-int8"))) static void amx_loop(uint64_t n)
{
    uint8_t config[64] = { 1 };
    for (int t = 0; t < 8; t++) {
        config[16 + 2 * t] = 64;
        config[48 + t] = 16;
    }
    __asm__ volatile("ldtilecfg %0" ::"m"(config));
    while (n--) {
        __asm__ volatile("tdpbssd %tmm6, %tmm4, %tmm0\n tdpbssd %tmm7, %tmm4, %tmm1\n"
                         "tdpbssd %tmm6, %tmm5, %tmm2\n tdpbssd %tmm7, %tmm5, %tmm3\n");
    }
    __asm__ volatile("tilerelease");
}

static const struct {
    const char *tier;
    void (*loop)(uint64_t n);
    double operations;   // of a turn
} INT8[] = {
    { "avx2", avx2_loop, 16 * 64 },
    { "avxvnni", avxvnni_loop, 12 * 64 },
    { "avx512", avx512_loop, 12 * 128 },
    { "amx", amx_loop, 4 * 32768 },
};
#elif defined(__aarch64__)
#define VECTORS                                                                                    \
    "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v16"

static void clock_loop(uint64_t n)
{
    uint64_t x = 3;
    while (n--) __asm__ volatile(X4("add %0, %0, %0\n") X4("add %0, %0, %0\n") : "+r"(x));
}
enum { CLOCK_CYCLES = 8 };

#define SMLAL(i) "smlal v" #i ".8h, v12.8b, v13.8b\n"
static void neon_loop(uint64_t n)
{
    while (n--) __asm__ volatile(X12(SMLAL)::: VECTORS);
}

#define SDOT(i) "sdot v" #i ".4s, v12.16b, v13.16b\n"
static void dotprod_loop(uint64_t n)
{
    while (n--) __asm__ volatile(".arch armv8.2-a+dotprod\n" X12(SDOT)::: VECTORS);
}

#define SMMLA(i) "smmla v" #i ".4s, v12.16b, v13.16b\n"
static void i8mm_loop(uint64_t n)
{
    while (n--) __asm__ volatile(".arch armv8.2-a+i8mm\n" X12(SMMLA)::: VECTORS);
}

static const struct {
    const char *tier;
    void (*loop)(uint64_t n);
    double operations;   // of a turn
} INT8[] = {
    { "neon", neon_loop, 12 * 16 },
    { "dotprod", dotprod_loop, 12 * 32 },
    { "i8mm", i8mm_loop, 12 * 64 },
};
#endif

double mn_machine_clock(void)
{
#if defined(__x86_64__) || defined(__aarch64__)
    return best(clock_loop, 1000000, CLOCK_CYCLES);
#else
    return 0;
#endif
}

double mn_machine_int8(const char *tier)
{
#if defined(__x86_64__) || defined(__aarch64__)
    for (size_t i = 0; i < sizeof INT8 / sizeof *INT8; i++) {
        if (strcmp(INT8[i].tier, tier) == 0) return best(INT8[i].loop, 300000, INT8[i].operations);
    }
#endif
    return 0;
}

typedef uint64_t vector __attribute__((vector_size(16)));

static const vector   *READ;   // what read_loop reads
static volatile vector SEEN;

/* All of it, a line of each quarter in turn. */
static void read_loop(uint64_t bytes)
{
    enum { LINE = 64 / sizeof *READ, AHEAD = 2048 / sizeof *READ };
    const size_t  quarter = bytes / sizeof *READ / 4;
    const vector *p = READ, *q = p + quarter, *r = q + quarter, *s = r + quarter;
    vector        x = { 0 }, y = x, z = x, u = x;
    for (size_t i = 0; i < quarter; i += LINE, p += LINE, q += LINE, r += LINE, s += LINE) {
        __builtin_prefetch(p + AHEAD);
        __builtin_prefetch(q + AHEAD);
        __builtin_prefetch(r + AHEAD);
        __builtin_prefetch(s + AHEAD);
        x ^= p[0] ^ p[1] ^ p[2] ^ p[3];
        y ^= q[0] ^ q[1] ^ q[2] ^ q[3];
        z ^= r[0] ^ r[1] ^ r[2] ^ r[3];
        u ^= s[0] ^ s[1] ^ s[2] ^ s[3];
    }
    SEEN = x ^ y ^ z ^ u;
}

double mn_machine_read(void)
{
    enum { BYTES = 32 << 20 };
    vector *p = malloc(BYTES);
    if (!p) return 0;
    memset(p, 1, BYTES);
    READ = p;
    const double rate = best(read_loop, BYTES, 1);
    free(p);
    return rate;
}
