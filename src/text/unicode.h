/* SPDX-License-Identifier: Apache-2.0
 *
 * unicode.h - the class of a code point, as pre-tokenizers see it, and NFC.
 *
 * The functions here want valid UTF-8: mn_utf8_valid() is asked once, before.
 */
#ifndef MN_TEXT_UNICODE_H
#define MN_TEXT_UNICODE_H

#include "base/alloc.h"
#include "base/bytes.h"

typedef enum mn_class {
    MN_CLASS_OTHER,
    MN_CLASS_LETTER,    // \p{L}
    MN_CLASS_NUMBER,    // \p{N}
    MN_CLASS_PUNCT,     // \p{P}
    MN_CLASS_SYMBOL,    // \p{S}
    MN_CLASS_MARK,      // \p{M}
    MN_CLASS_SPACE,     // \s: the property White_Space
    MN_CLASS_END,       // no code point: the text is over
} mn_class;

enum { MN_CLASS_BITS = 7, MN_NFC_UNSAFE = 8 };

/* The class of a code point, and the bit MN_NFC_UNSAFE if NFC may change it or join it to the one
 * before. */
unsigned mn_unicode_info(uint32_t cp);

/* Bytes of the code point that starts with this byte. */
static inline size_t mn_utf8_size(uint8_t lead)
{
    return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

/* The code point at `s`, which is valid and whole. */
static inline uint32_t mn_utf8_at(const char *s)
{
    const uint8_t *p = (const uint8_t *)s;
    if (p[0] < 0x80) return p[0];
    if (p[0] < 0xE0) return (uint32_t)(p[0] & 0x1F) << 6 | (p[1] & 0x3F);
    if (p[0] < 0xF0) {
        return (uint32_t)(p[0] & 0x0F) << 12 | (uint32_t)(p[1] & 0x3F) << 6 | (p[2] & 0x3F);
    }
    return (uint32_t)(p[0] & 0x07) << 18 | (uint32_t)(p[1] & 0x3F) << 12 |
           (uint32_t)(p[2] & 0x3F) << 6 | (p[3] & 0x3F);
}

/* Could NFC change this text?  False: it is normalised already, and so is any part of it. */
bool mn_nfc_needed(mn_str text);

/* Write the NFC of `text` to a block from mn_alloc; *out borrows it, *block is to be freed.
 *
 * Errors: MNW_E_NOMEM. */
mnw_status mn_nfc(mn_mem *mem, mn_str text, mn_str *out, void **block);

#endif
