/* SPDX-License-Identifier: Apache-2.0
 *
 * utf8.h - UTF-8 as RFC 3629 has it: shortest forms only, no surrogates, at most U+10FFFF.
 */
#ifndef MN_BASE_UTF8_H
#define MN_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MN_UTF8_BAD = 0xFFFD, MN_UTF8_MAX = 4 };

/* Decode one code point of the n > 0 bytes at `s`; returns the bytes it takes, 1 to 4.
 *
 * A malformed sequence gives *cp = U+FFFD and takes its longest valid prefix, at least one byte
 * (the practice Unicode recommends: one replacement per maximal subpart). */
size_t mn_utf8_get(const char *s, size_t n, uint32_t *cp);

/* The same, and tell whether it was well formed. */
size_t mn_utf8_read(const char *s, size_t n, uint32_t *cp, bool *valid);

/* Encode one scalar value (others as U+FFFD); returns the bytes written, 1 to 4. */
size_t mn_utf8_put(uint32_t cp, char out[MN_UTF8_MAX]);

/* How many of the n bytes can be shown now: all but a last, so far valid, unfinished sequence. */
size_t mn_utf8_whole(const char *s, size_t n);

/* Are all n bytes well formed? */
bool mn_utf8_valid(const char *s, size_t n);

/* Replace, in place, what a terminal should not get (controls, malformed bytes) by '?'. */
void mn_utf8_clean(char *s, size_t n);

#endif
