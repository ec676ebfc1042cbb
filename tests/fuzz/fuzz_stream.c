/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_stream.c - what a reply's bytes pass through: stop strings, then whole characters.
 *
 * Input: number of stop strings (0-3), their lengths, the strings, then the stream; its bytes also say
 * where the stream is cut.  However it is cut, the text is the same, and valid UTF-8.
 */
#include <assert.h>
#include <string.h>

#include "text/stop.h"
#include "text/stream.h"

enum { MAX_TEXT = 4096 };

typedef struct result {
    char   text[MN_STREAM_GROWTH * (MAX_TEXT + MN_MAX_STOP_BYTES) + MN_STREAM_SLACK];
    size_t n;
    bool   hit;
} result;

static void run(result *r, const char *const *stop, size_t n_stop, const uint8_t *p, size_t n, bool cut)
{
    static mn_stop s;
    static char    clear[MAX_TEXT + MN_MAX_STOP_BYTES];
    mn_stream      u = { 0 };
    r->n = 0;
    if (mn_stop_init(&s, stop, n_stop, NULL) != MNW_OK) return;
    for (size_t i = 0; i < n;) {
        size_t step = cut ? 1 + (size_t)p[i] % 7 : n;
        if (step > n - i) step = n - i;
        const size_t m = mn_stop_push(&s, (const char *)p + i, step, clear);
        assert(m <= step + MN_MAX_STOP_BYTES);
        r->n += mn_stream_push(&u, clear, m, r->text + r->n);
        assert(mn_utf8_valid(r->text, r->n));
        i += step;
    }
    if (!s.hit) r->n += mn_stream_push(&u, clear, mn_stop_end(&s, clear), r->text + r->n);
    r->n += mn_stream_end(&u, r->text + r->n);
    r->hit = s.hit;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static result whole, pieces;
    static char   copy[3][MN_MAX_STOP_BYTES + 1];
    const char   *stop[3];
    size_t        n_stop = 0;
    if (size < 1) return 0;
    const size_t want = data[0] % 4;
    data++, size--;
    for (size_t i = 0; i < want; i++) {
        if (size < 1) return 0;
        const size_t len = data[0];
        data++, size--;
        if (len == 0 || len > size || memchr(data, 0, len)) return 0;
        memcpy(copy[i], data, len);
        copy[i][len] = '\0';
        stop[n_stop++] = copy[i];
        data += len, size -= len;
    }
    if (size > MAX_TEXT) size = MAX_TEXT;
    run(&whole, stop, n_stop, data, size, false);
    run(&pieces, stop, n_stop, data, size, true);
    assert(whole.n == pieces.n && whole.hit == pieces.hit);
    assert(memcmp(whole.text, pieces.text, whole.n) == 0);
    assert(mn_utf8_valid(whole.text, whole.n));
    return 0;
}
