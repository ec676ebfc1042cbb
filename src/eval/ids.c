/* SPDX-License-Identifier: Apache-2.0
 *
 * ids.c - token ids that grow.
 */
#include "eval/ids.h"

#include <string.h>

mnw_status mn_ids_reserve(mn_ids *ids, size_t n, mn_err *err)
{
    if (n <= ids->cap) return MNW_OK;
    const size_t cap = n > 2 * ids->cap ? n : 2 * ids->cap;
    int32_t     *at = cap > SIZE_MAX / sizeof *at ? NULL
                                                  : mn_realloc(ids->mem, ids->at, cap * sizeof *at);
    MN_FAIL_IF(!at, err, MNW_E_NOMEM, "%zu ids", cap);
    ids->at = at;
    ids->cap = cap;
    return MNW_OK;
}

mnw_status mn_ids_encode(mn_ids *ids, const mnw_tokenizer *tok, const char *text, size_t len,
                         mn_err *err)
{
    ids->n = 0;
    MN_TRY(mn_ids_reserve(ids, len / 4 + 16, err));
    size_t     n = 0;
    mnw_status st = mnw_tokenizer_encode(tok, text, len, 0, ids->at, ids->cap, &n);
    if (st == MNW_E_BUFFER) {
        MN_TRY(mn_ids_reserve(ids, n, err));
        st = mnw_tokenizer_encode(tok, text, len, 0, ids->at, ids->cap, &n);
    }
    MN_FAIL_IF(st != MNW_OK, err, st, "encoding %zu bytes: %s", len, mnw_status_text(st));
    ids->n = n;
    return MNW_OK;
}

void mn_ids_done(mn_ids *ids)
{
    if (ids->mem) mn_free(ids->mem, ids->at);
    *ids = (mn_ids){ 0 };
}

size_t mn_ids_common(const int32_t *a, size_t na, const int32_t *b, size_t nb)
{
    size_t n = 0;
    while (n < na && n < nb && a[n] == b[n]) n++;
    return n;
}

void mn_result_copy(void *out, const void *result, size_t size)
{
    size_t theirs;
    memcpy(&theirs, out, sizeof theirs);
    if (theirs == 0 || theirs > size) theirs = size;
    memcpy((char *)out + sizeof theirs, (const char *)result + sizeof theirs,
           theirs - sizeof theirs);
}
