/* SPDX-License-Identifier: Apache-2.0
 *
 * tok_laws.h - what holds for every tokenizer and every text; abort where it does not.
 */
#ifndef MN_FUZZ_TOK_LAWS_H
#define MN_FUZZ_TOK_LAWS_H

#include <stdlib.h>

#include "text/tokenizer.h"

static inline void law(bool holds)
{
    if (!holds) abort();
}

/* Returns the ids of a text, to be freed. */
static inline int32_t *encode_by_law(const mnw_tokenizer *tok, const char *text, size_t len,
                                     unsigned flags, size_t *n)
{
    size_t           counted = 0;
    const mnw_status st = mnw_tokenizer_encode(tok, text, len, flags, NULL, 0, &counted);
    law(st == MNW_OK ? counted == 0 : st == MNW_E_BUFFER && counted > 0);
    int32_t *ids = malloc((counted + 1) * sizeof *ids);
    law(ids != NULL);
    ids[counted] = -77;
    law(mnw_tokenizer_encode(tok, text, len, flags, ids, counted, n) == MNW_OK && *n == counted);
    law(ids[counted] == -77);
    for (size_t i = 0; i < *n; i++) {
        law(ids[i] >= 0 && (uint32_t)ids[i] < mnw_tokenizer_count(tok));
        law(flags || !mnw_tokenizer_is_special(tok, ids[i]));   // no control token from bare text
    }
    return ids;
}

static inline char *decode_by_law(const mnw_tokenizer *tok, const int32_t *ids, size_t n,
                                  unsigned flags, size_t *len)
{
    size_t           counted = 0;
    const mnw_status st = mnw_tokenizer_decode(tok, ids, n, flags, NULL, 0, &counted);
    law(st == MNW_OK ? counted == 0 : st == MNW_E_BUFFER && counted > 0);
    char *text = malloc(counted + 1);
    law(text != NULL);
    law(mnw_tokenizer_decode(tok, ids, n, flags, text, counted, len) == MNW_OK && *len == counted);
    return text;
}

static inline void obey(const mnw_tokenizer *tok, const char *text, size_t len)
{
    for (unsigned flags = 0; flags < 4; flags++) {
        size_t   n, back;
        int32_t *ids = encode_by_law(tok, text, len, flags, &n);
        free(decode_by_law(tok, ids, n, flags, &back));
        free(ids);
    }
}

#endif
