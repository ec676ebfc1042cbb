/* SPDX-License-Identifier: Apache-2.0
 *
 * text_limits.h - the most a tokenizer may ask for.
 */
#ifndef MN_TEXT_LIMITS_H
#define MN_TEXT_LIMITS_H

enum {
    MN_TOK_MAX_VOCAB = 1 << 20,    // ids
    MN_TOK_MAX_MERGES = 4 << 20,
    MN_TOK_MAX_PIECE = 1024,       // bytes of a token
    MN_TOK_MAX_ADDED = 1 << 16,    // tokens found in text before it is split into words
    MN_TOK_MAX_INPUT = 0x7FFFFFFF, // bytes of text in one call
};

#endif
