/* SPDX-License-Identifier: Apache-2.0
 *
 * vocab.h - the pieces of a tokenizer: id to bytes and bytes to id.
 *
 * A piece is eight bytes that point into one block of text, usually the mapped file.  The way back is a
 * hash table of ids; the upper bits of a slot hold bits of the hash, so that a miss rarely has to look
 * at the text.
 */
#ifndef MN_TEXT_VOCAB_H
#define MN_TEXT_VOCAB_H

#include "base/bytes.h"
#include "base/pages.h"
#include "text/text_limits.h"

typedef enum mn_piece_kind {   // numbered as in tokenizer.ggml.token_type
    MN_PIECE_NORMAL = 1,
    MN_PIECE_UNKNOWN = 2,
    MN_PIECE_CONTROL = 3,
    MN_PIECE_USER = 4,         // found in the text as it is written, before anything else
    MN_PIECE_UNUSED = 5,
    MN_PIECE_BYTE = 6,         // <0xXX>
} mn_piece_kind;

enum {                         // how an added token is found
    MN_ADDED_SINGLE_WORD = 1,  // not next to a letter, digit or underscore
    MN_ADDED_LSTRIP = 2,       // takes the white space in front of it
    MN_ADDED_RSTRIP = 4,       // takes the white space behind it
    MN_ADDED_NORMALIZED = 8,   // looked for after normalisation
};

typedef struct mn_piece {
    uint32_t at;               // from vocab.base
    uint16_t len;
    uint8_t  kind;             // mn_piece_kind
    uint8_t  added;            // MN_ADDED_* bits
} mn_piece;

typedef struct mn_vocab {
    const char *base;
    mn_piece   *piece;         // [count]
    uint32_t    count;
    uint32_t   *slot;          // [mask + 1]: 12 bits of hash, 20 bits of id
    uint32_t    mask;
    uint32_t    longest;       // bytes of the longest piece
    uint32_t    n_repeated;    // pieces that an earlier id has too
    uint32_t    repeated;      // the first of them
} mn_vocab;

static inline mn_str mn_vocab_text(const mn_vocab *v, uint32_t id)
{
    return (mn_str){ v->base + v->piece[id].at, v->piece[id].len };
}

/* Build the hash table over `piece`.  Of equal pieces the first id is found.
 *
 * Errors: false without memory. */
bool mn_vocab_index(mn_vocab *v, mn_pages *pages);

/* The id of a piece, -1 if there is none. */
int32_t mn_vocab_find(const mn_vocab *v, mn_str text);

/* The value of a piece of the form <0xXX>, -1 for others. */
int mn_byte_piece(mn_str text);

#endif
