/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.h - offsets in a block that does not exist yet.
 *
 * Code that needs memory walks its buffers and takes offsets; the end is the size.  So "how much
 * will it need?" and the real layout are the same lines and cannot disagree.
 */
#ifndef MN_BASE_PLAN_H
#define MN_BASE_PLAN_H

#include <stddef.h>
#include <stdint.h>

typedef struct mn_buf {
    size_t at;    // a place in the block, 64-byte aligned
} mn_buf;

typedef struct mn_plan {
    size_t end;   // bytes reserved so far; SIZE_MAX once it overflowed, which no allocator grants
} mn_plan;

/* Reserve a [rows, cols] array of `size`-byte elements, 64-byte aligned. */
mn_buf mn_plan_take(mn_plan *p, size_t rows, size_t cols, size_t size);

static inline mn_buf mn_plan_f32(mn_plan *p, size_t rows, size_t cols)
{
    return mn_plan_take(p, rows, cols, sizeof(float));
}

/* The place in a real block. */
static inline void *mn_at(void *block, mn_buf b)
{
    return (uint8_t *)block + b.at;
}

#endif
