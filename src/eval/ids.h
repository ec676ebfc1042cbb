/* SPDX-License-Identifier: Apache-2.0
 *
 * ids.h - token ids that grow, and what evaluations do with them.
 */
#ifndef MN_EVAL_IDS_H
#define MN_EVAL_IDS_H

#include "base/alloc.h"
#include "base/err.h"
#include "text/tokenizer.h"

typedef struct mn_ids {
    mn_mem  *mem;
    int32_t *at;
    size_t   n, cap;
} mn_ids;

/* Make room for n ids; those there stay. */
mnw_status mn_ids_reserve(mn_ids *ids, size_t n, mn_err *err);

/* The ids of a text, instead of those there; control tokens written in it stay text. */
mnw_status mn_ids_encode(mn_ids *ids, const mnw_tokenizer *tok, const char *text, size_t len,
                         mn_err *err);

void mn_ids_done(mn_ids *ids);

/* How many ids two runs begin with alike. */
size_t mn_ids_common(const int32_t *a, size_t na, const int32_t *b, size_t nb);

/* Hand a result out, as far as its caller knows the struct: both begin with their size. */
void mn_result_copy(void *out, const void *result, size_t size);

#endif
