/* SPDX-License-Identifier: Apache-2.0
 *
 * bytelevel.c - bytes as printable characters and back.
 */
#include "text/bytelevel.h"

#include "base/utf8.h"

/* Bytes 0 to 0x20 are U+0100 and up, then 0x7F to 0xA0, then 0xAD. */
enum { FIRST = 0x100, AFTER_SPACE = FIRST + 0x21, SOFT_HYPHEN = AFTER_SPACE + 0x22 };

size_t mn_bytelevel_put(uint8_t byte, char out[2])
{
    uint32_t cp = byte;
    if (byte <= 0x20) cp = FIRST + byte;
    else if (byte >= 0x7F && byte <= 0xA0) cp = AFTER_SPACE + (byte - 0x7Fu);
    else if (byte == 0xAD) cp = SOFT_HYPHEN;
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    out[0] = (char)(0xC0 | cp >> 6);
    out[1] = (char)(0x80 | (cp & 0x3F));
    return 2;
}

int mn_bytelevel_byte(uint32_t cp)
{
    if (cp > SOFT_HYPHEN) return -1;
    if (cp == SOFT_HYPHEN) return 0xAD;
    if (cp >= AFTER_SPACE) return (int)(cp - AFTER_SPACE + 0x7F);
    if (cp >= FIRST) return (int)(cp - FIRST);
    const bool itself = (cp > 0x20 && cp < 0x7F) || (cp > 0xA0 && cp != 0xAD);
    return itself ? (int)cp : -1;
}

bool mn_bytelevel_decode(mn_str piece, char *out, size_t *len)
{
    size_t n = 0;
    for (size_t i = 0; i < piece.n; n++) {
        uint32_t cp;
        i += mn_utf8_get(piece.p + i, piece.n - i, &cp);
        const int byte = mn_bytelevel_byte(cp);
        if (byte < 0) return false;
        if (out) out[n] = (char)byte;
    }
    *len = n;
    return true;
}
