/* SPDX-License-Identifier: Apache-2.0
 *
 * bytelevel.h - the alphabet in which byte-level tokenizers write bytes as printable characters.
 *
 * The bytes ! to ~, U+00A1 to U+00AC and U+00AE to U+00FF stand for themselves; the other 68, in
 * order, are U+0100, U+0101, ...  So a space is written U+0120.
 */
#ifndef MN_TEXT_BYTELEVEL_H
#define MN_TEXT_BYTELEVEL_H

#include "base/bytes.h"

/* Write the character for a byte as UTF-8; returns its size, 1 or 2. */
size_t mn_bytelevel_put(uint8_t byte, char out[2]);

/* The byte a character stands for; -1 if it is not in the alphabet. */
int mn_bytelevel_byte(uint32_t cp);

/* Are all characters of the piece in the alphabet?  Then *len is the number of bytes it stands for,
 * and out[0 .. *len) gets them unless it is NULL. */
bool mn_bytelevel_decode(mn_str piece, char *out, size_t *len);

#endif
