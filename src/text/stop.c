/* SPDX-License-Identifier: Apache-2.0
 *
 * stop.c - find stop strings in a stream of bytes.
 */
#include "text/stop.h"

#include <string.h>

mnw_status mn_stop_init(mn_stop *s, const char *const *texts, size_t n, mn_err *err)
{
    *s = (mn_stop){ 0 };
    MN_FAIL_IF(n > MN_MAX_STOPS, err, MNW_E_ARG, "%zu stop strings: at most %d", n, MN_MAX_STOPS);
    for (size_t i = 0; i < n; i++) {
        MN_FAIL_IF(!texts[i], err, MNW_E_ARG, "stop string %zu: NULL", i);
        const size_t len = strnlen(texts[i], MN_MAX_STOP_BYTES + 1);
        MN_FAIL_IF(len == 0 || len > MN_MAX_STOP_BYTES, err, MNW_E_ARG,
                   "stop string %zu: %s, expected 1 to %d bytes", i, len ? "too long" : "empty",
                   MN_MAX_STOP_BYTES);
        s->text[i] = texts[i];
        s->len[i] = (uint8_t)len;
        uint8_t *fail = s->fail[i];
        for (size_t k = 1, border = 0; k < len; k++) {
            while (border && texts[i][k] != texts[i][border]) border = fail[border];
            if (texts[i][k] == texts[i][border]) border++;
            fail[k + 1] = (uint8_t)border;
        }
    }
    s->count = n;
    return MNW_OK;
}

static void advance(mn_stop *s, size_t i, char c)
{
    size_t m = s->matched[i];
    while (m && s->text[i][m] != c) m = s->fail[i][m];
    if (s->text[i][m] == c) m++;
    s->matched[i] = (uint8_t)m;
}

size_t mn_stop_push(mn_stop *s, const char *p, size_t n, char *out)
{
    size_t used = 0;
    for (size_t at = 0; at < n && !s->hit; at++) {
        s->held[s->n_held++] = p[at];
        size_t keep = 0;   // bytes at the end that may be part of a stop string
        for (size_t i = 0; i < s->count; i++) {
            advance(s, i, p[at]);
            if (s->matched[i] > keep) keep = s->matched[i];
            if (s->matched[i] == s->len[i]) s->hit = true;
        }
        /* Of several that end here, the longest cuts earliest; a longer one still growing does not. */
        for (size_t i = 0, cut = 0; s->hit && i < s->count; i++) {
            if (s->matched[i] == s->len[i] && s->len[i] > cut) keep = cut = s->len[i];
        }
        memcpy(out + used, s->held, s->n_held - keep);
        used += s->n_held - keep;
        memmove(s->held, s->held + s->n_held - keep, keep);
        s->n_held = s->hit ? 0 : keep;
    }
    return used;
}

size_t mn_stop_end(mn_stop *s, char *out)
{
    const size_t n = s->n_held;
    memcpy(out, s->held, n);
    s->n_held = 0;
    return n;
}
