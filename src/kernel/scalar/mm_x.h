/* SPDX-License-Identifier: Apache-2.0
 *
 * mm_x.h - the last step of a product with a native format: from exact sums to a float.
 *
 *     v = (float)s0                           fast
 *     v = fma((float)s0, 128, (float)s1)      exact, a sum for each plane
 *     y = (v * row scale) * token scale
 *
 * The sums are exact int32 over all columns, so nothing before this step rounds and nothing in it
 * depends on the width, the tier or the threads.
 */
#ifndef MN_KERNEL_MM_X_H
#define MN_KERNEL_MM_X_H

#define MN_X_PLANE 128.0f
#define MN_X_TINY  0x1p-60f   // tokens with no larger value become zeros

enum {
    MN_X_FAST = 127,      // largest code in one plane
    MN_X_EXACT = 16256,   // and in two: 128 * 127
};

#endif
