/* SPDX-License-Identifier: Apache-2.0
 *
 * tok_small.h - small tokenizers written out: all 256 bytes, a handful of merges, any pre-tokenizer.
 *
 * Ids: byte b is b; then 256 "th", 257 "the", 258 " the", 259 "aa", 260 "aaaa", 261 "中" (its two
 * merges: 262 is the first two bytes); then added tokens from 263 on.
 */
#ifndef MN_TEST_TOK_SMALL_H
#define MN_TEST_TOK_SMALL_H

#include <stdio.h>
#include <string.h>

#include "text/bytelevel.h"

enum { SMALL_JSON = 1 << 15, SMALL_PIECES = 263 };

#define SMALL_GPT2 "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true}"
#define SMALL_QWEN2                                                                                \
    "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":"            \
    "\"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}| ?[^\\\\s\\\\p{L}"      \
    "\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+\"},\"behavior\":\"Isolated\","         \
    "\"invert\":false},{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":false}]}"

/* The bytes of a text in the alphabet of the pieces, as a JSON string. */
static inline size_t small_piece(char *out, const char *text, size_t n)
{
    size_t len = 0;
    out[len++] = '"';
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '"' || text[i] == '\\') out[len++] = '\\';
        len += mn_bytelevel_put((uint8_t)text[i], out + len);
    }
    out[len++] = '"';
    out[len] = '\0';
    return len;
}

/* Write the document to SMALL_JSON bytes; `normalizer`, `pre` and `added` (elements of the list) are JSON. */
static inline size_t small_json(char *out, const char *normalizer, const char *pre,
                                const char *added)
{
    static const char *const merge[][2] = { { "t", "h" }, { "th", "e" }, { " ", "the" }, { "a", "a" },
                                            { "aa", "aa" }, { "\xE4\xB8", "\xAD" } };
    static const char *const whole[] = { "th", "the", " the", "aa", "aaaa", "\xE4\xB8\xAD" };
    size_t n = (size_t)snprintf(out, SMALL_JSON,
                                "{\"added_tokens\":[%s],\"normalizer\":%s,\"pre_tokenizer\":%s,"
                               "\"model\":{\"type\":\"BPE\",\"vocab\":{",
                               added, normalizer, pre);
    for (int b = 0; b < 256; b++) {
        n += small_piece(out + n, &(char){ (char)b }, 1);
        n += (size_t)snprintf(out + n, SMALL_JSON - n, ":%d,", b);
    }
    for (int i = 0; i < 6; i++) {
        n += small_piece(out + n, whole[i], strlen(whole[i]));
        n += (size_t)snprintf(out + n, SMALL_JSON - n, ":%d,", 256 + i);
    }
    n += small_piece(out + n, "\xE4\xB8", 2);
    n += (size_t)snprintf(out + n, SMALL_JSON - n, ":262},\"merges\":[[");
    n += small_piece(out + n, "\xE4", 1);
    out[n++] = ',';
    n += small_piece(out + n, "\xB8", 1);
    for (int i = 0; i < 6; i++) {
        n += (size_t)snprintf(out + n, SMALL_JSON - n, "],[");
        n += small_piece(out + n, merge[i][0], strlen(merge[i][0]));
        out[n++] = ',';
        n += small_piece(out + n, merge[i][1], strlen(merge[i][1]));
    }
    return n + (size_t)snprintf(out + n, SMALL_JSON - n, "]]}}");
}

#endif
