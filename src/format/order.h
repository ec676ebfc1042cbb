/* SPDX-License-Identifier: Apache-2.0
 *
 * order.h - the tensors of a file in the order of their bytes, to see overlaps and holes.
 */
#ifndef MN_FORMAT_ORDER_H
#define MN_FORMAT_ORDER_H

#include "base/meta.h"
#include "base/pages.h"

/* The numbers of all tensors, by rising offset; [c->n_tensors], from `mem`; NULL without memory. */
uint32_t *mn_tensors_by_offset(const mn_content *c, mn_pages *mem);

#endif
