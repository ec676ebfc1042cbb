/* SPDX-License-Identifier: Apache-2.0
 *
 * order.c - sort the tensors of a file by offset.
 */
#include "format/order.h"

/* Let the item at `root` of a heap of n sink to its place. */
static void sink(uint32_t *at, size_t root, size_t n, const mn_tensor *t)
{
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && t[at[child + 1]].offset > t[at[child]].offset) child++;
        if (t[at[root]].offset >= t[at[child]].offset) return;
        const uint32_t swap = at[root];
        at[root] = at[child];
        at[child] = swap;
    }
}

/* Order tensor numbers by offset: heapsort, because a forged order must not cost n * n. */
static void sort_by_offset(uint32_t *at, size_t n, const mn_tensor *t)
{
    for (size_t i = n / 2; i-- > 0;) sink(at, i, n, t);
    for (size_t i = n; i-- > 1;) {
        const uint32_t swap = at[0];
        at[0] = at[i];
        at[i] = swap;
        sink(at, 0, i, t);
    }
}

uint32_t *mn_tensors_by_offset(const mn_content *c, mn_pages *mem)
{
    uint32_t *at = mn_pages_push(mem, c->n_tensors, sizeof *at);
    if (!at) return NULL;
    bool sorted = true;
    for (size_t i = 0; i < c->n_tensors; i++) {
        at[i] = (uint32_t)i;
        sorted = sorted && (i == 0 || c->tensor[i].offset > c->tensor[i - 1].offset);
    }
    if (!sorted) sort_by_offset(at, c->n_tensors, c->tensor);
    return at;
}
