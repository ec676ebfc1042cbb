/* SPDX-License-Identifier: Apache-2.0
 *
 * bpe.h - join the symbols of a word, best pair first, until no pair joins.
 *
 * Two kinds share the walk and differ in what makes a pair good: byte-pair encoding looks the two ids up
 * in the merge list; SentencePiece looks the joined text up in the vocabulary and goes by its score.
 */
#ifndef MN_TEXT_BPE_H
#define MN_TEXT_BPE_H

#include "text/merges.h"
#include "text/vocab.h"
#include "text/work.h"

typedef struct mn_bpe {
    const mn_vocab *vocab;
    const mn_merges *merges;    // byte-pair encoding; else NULL
    const uint32_t  *order;     // SentencePiece: [count], lower is better, MN_NO_MERGE = never
    const int32_t   *byte_id;   // [256] ids of single bytes, -1 = none
    bool  bytes;                // symbols are bytes, else characters
    bool  fallback;             // a character without id becomes its bytes' ids
    bool  fuse_unknown;
    int32_t unknown;            // else this id, -1 = it is left out
} mn_bpe;

/* Emit the ids of a word; `n` > 0 bytes of valid UTF-8 (any bytes if b->bytes).
 *
 * Errors: MNW_E_NOMEM. */
mnw_status mn_bpe_word(const mn_bpe *b, mn_work *w, mn_str word);

#endif
