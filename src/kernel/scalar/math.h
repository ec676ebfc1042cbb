/* SPDX-License-Identifier: Apache-2.0
 *
 * math.h - our own exp, sincos, rounding and the 16-lane sum: the steps every tier repeats exactly.
 *
 * libm differs between systems, so nothing here uses it beyond fmaf and fma, which IEEE 754 defines
 * to the bit.  Comparisons are written the way the vector instructions behave with NaN.
 */
#ifndef MN_KERNEL_SCALAR_MATH_H
#define MN_KERNEL_SCALAR_MATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Before a loop of constant length over an array of vectors: gcc may else unroll it too late to keep
 * the array in registers.  clang does so by itself, and complains where a length is not constant. */
#ifdef __clang__
#define MN_UNROLL
#else
#define MN_UNROLL _Pragma("GCC unroll 16")
#endif

/* Makes the compiler forget what p is.  Panels share activations; seeing that, it would keep dozens of
 * broadcasts for the next panel, on the stack, where a load that broadcasts costs nothing. */
#define MN_OPAQUE(p) __asm__ volatile("" : "+r"(p))

/* Adding and subtracting this rounds |x| <= 2^22 to the nearest integer, ties to even; the low bits
 * of the sum then are that integer. */
#define MN_MAGIC 12582912.0f

#define MN_EXP_MAX 88.0f          // larger arguments give exp(88) = 1.65e38, still finite
#define MN_EXP_MIN (-87.0f)       // smaller ones give 0; exp(-87) = 1.6e-38 is still normal
#define MN_LOG2E   0x1.715476p+0f
#define MN_LN2_HI  0x1.63p-1f     // few enough bits that n * MN_LN2_HI is exact
#define MN_LN2_LO  (-0x1.bd0106p-13f)

/* exp(r) ~ 1 + r + r^2 (c0 + c1 r + ... + c4 r^4), minimax on |r| <= ln2 / 2: 3.1e-9 relative. */
#define MN_EXP_C0 0x1.fffffcp-2f
#define MN_EXP_C1 0x1.555492p-3f
#define MN_EXP_C2 0x1.5558f2p-5f
#define MN_EXP_C3 0x1.123a2p-7f
#define MN_EXP_C4 0x1.6a23dp-10f

static inline uint32_t mn_bits(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline float mn_from_bits(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* e^x within 8.5e-8 (1.01 ulp) for -87 <= x <= 88; 0 below, exp(88) above, NaN for NaN. */
static inline float mn_exp(float x)
{
    const float v = MN_EXP_MAX < x ? MN_EXP_MAX : x;
    const float z = fmaf(v, MN_LOG2E, MN_MAGIC);
    const float n = z - MN_MAGIC;
    const float r = fmaf(n, -MN_LN2_LO, fmaf(n, -MN_LN2_HI, v));
    float       p = fmaf(MN_EXP_C4, r, MN_EXP_C3);
    p = fmaf(p, r, MN_EXP_C2);
    p = fmaf(p, r, MN_EXP_C1);
    p = fmaf(p, r, MN_EXP_C0);
    p = fmaf(r * r, p, r) + 1.0f;
    p *= mn_from_bits((mn_bits(z) + 127) << 23);
    return x < MN_EXP_MIN ? 0.0f : p;
}

/* x to the nearest integer, ties to even; |x| <= 2^22. */
static inline int32_t mn_round(float x)
{
    return (int32_t)(mn_bits(x + MN_MAGIC) - mn_bits(MN_MAGIC));
}

/* The canonical end of a sum kept in 16 partial sums. */
static inline float mn_sum16(const float acc[16])
{
    float a[8];
    for (int i = 0; i < 8; i++) a[i] = acc[i] + acc[i + 8];
    for (int i = 0; i < 4; i++) a[i] += a[i + 4];
    return (a[0] + a[2]) + (a[1] + a[3]);
}

/* Sine and cosine of a finite angle, |angle| < 2^50, to about 1e-15. */
static inline void mn_sincos(double angle, double *sine, double *cosine)
{
    // Quadrant: angle - n pi/2 in one exact and one rounded step, |n| < 2^51.
    const double magic = 6755399441055744.0;   // 1.5 * 2^52
    const double z = angle * 0.63661977236758134308 + magic;
    const double n = z - magic;
    const double r = fma(n, -6.123233995736766e-17, fma(n, -1.5707963267948966, angle));
    uint64_t     quadrant;
    memcpy(&quadrant, &z, sizeof quadrant);

    const double r2 = r * r;
    double       s = -1.0 / 1307674368000.0;   // Taylor: the next term is below 5e-17
    s = s * r2 + 1.0 / 6227020800.0;
    s = s * r2 - 1.0 / 39916800.0;
    s = s * r2 + 1.0 / 362880.0;
    s = s * r2 - 1.0 / 5040.0;
    s = s * r2 + 1.0 / 120.0;
    s = s * r2 - 1.0 / 6.0;
    s = s * r2 * r + r;
    double c = 1.0 / 20922789888000.0;
    c = c * r2 - 1.0 / 87178291200.0;
    c = c * r2 + 1.0 / 479001600.0;
    c = c * r2 - 1.0 / 3628800.0;
    c = c * r2 + 1.0 / 40320.0;
    c = c * r2 - 1.0 / 720.0;
    c = c * r2 + 1.0 / 24.0;
    c = c * r2 - 0.5;
    c = c * r2 + 1.0;

    switch (quadrant & 3) {
    case 0: *sine = s, *cosine = c; break;
    case 1: *sine = c, *cosine = -s; break;
    case 2: *sine = -s, *cosine = -c; break;
    default: *sine = -c, *cosine = s; break;
    }
}

#endif
