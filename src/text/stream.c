/* SPDX-License-Identifier: Apache-2.0
 *
 * stream.c - whole code points out of a stream of bytes.
 */
#include "text/stream.h"

#include <string.h>

static size_t emit(const char *p, size_t n, char *out)
{
    size_t used = 0;
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        i += mn_utf8_get(p + i, n - i, &cp);
        used += mn_utf8_put(cp, out + used);
    }
    return used;
}

size_t mn_stream_push(mn_stream *s, const char *p, size_t n, char *out)
{
    size_t used = 0;
    while (s->n && n) {   // finish what is held, byte by byte
        s->held[s->n++] = *p++;
        n--;
        const size_t whole = mn_utf8_whole(s->held, s->n);
        if (whole == 0) continue;
        used += emit(s->held, whole, out + used);
        memmove(s->held, s->held + whole, s->n - whole);
        s->n -= whole;
    }
    if (n == 0) return used;
    const size_t whole = mn_utf8_whole(p, n);
    used += emit(p, whole, out + used);
    memcpy(s->held, p + whole, n - whole);
    s->n = n - whole;
    return used;
}

size_t mn_stream_end(mn_stream *s, char *out)
{
    const size_t used = emit(s->held, s->n, out);
    s->n = 0;
    return used;
}
