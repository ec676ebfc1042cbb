/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.c - offsets in a block that does not exist yet.
 */
#include "base/plan.h"

#include "base/alloc.h"
#include "base/check.h"

mn_buf mn_plan_take(mn_plan *p, size_t rows, size_t cols, size_t size)
{
    const mn_buf out = { p->end };
    size_t       n, bytes, end;
    if (p->end == SIZE_MAX || !mn_mul_size(rows, cols, &n) || !mn_mul_size(n, size, &bytes) ||
        !mn_add_size(bytes, MN_ALIGN - 1, &bytes) ||
        !mn_add_size(p->end, bytes & ~(size_t)(MN_ALIGN - 1), &end)) {
        p->end = SIZE_MAX;
        return (mn_buf){ 0 };
    }
    p->end = end;
    return out;
}
