/* SPDX-License-Identifier: Apache-2.0
 *
 * normalize.c - what happens to a part of a text before it is split into words.
 */
#include "base/check.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

static const char mark[3] = { '\xE2', '\x96', '\x81' };   // U+2581

static bool starts_spaced(mn_str t)
{
    return t.n && (t.p[0] == ' ' || (t.n >= 3 && memcmp(t.p, mark, 3) == 0));
}

mnw_status mn_tokenizer_compose(const mnw_tokenizer *tok, mn_mem *mem, mn_str text, mn_str *out,
                                void **block)
{
    *out = text;
    *block = NULL;
    return tok->nfc && mn_nfc_needed(text) ? mn_nfc(mem, text, out, block) : MNW_OK;
}

mnw_status mn_tokenizer_mark_spaces(const mnw_tokenizer *tok, mn_mem *mem, mn_str t, bool first,
                                    mn_str *out, void **block)
{
    *out = t;
    *block = NULL;
    if (!tok->spaces) return MNW_OK;
    size_t bytes;
    if (!mn_mul_size(t.n, 3, &bytes) || !mn_add_size(bytes, 3, &bytes)) return MNW_E_NOMEM;
    char *p = *block = mn_alloc(mem, bytes);
    if (!p) return MNW_E_NOMEM;

    if (tok->squeeze) {
        while (t.n && t.p[0] == ' ') t.p++, t.n--;
        while (t.n && t.p[t.n - 1] == ' ') t.n--;
    }
    const bool wanted = tok->prefix == MN_PREFIX_ALWAYS || (tok->prefix == MN_PREFIX_FIRST && first);
    size_t     n = 0;
    if (t.n && wanted && !(tok->prefix_unless && starts_spaced(t))) {
        memcpy(p, mark, 3);
        n = 3;
    }
    for (size_t i = 0; i < t.n; i++) {
        if (t.p[i] != ' ') {
            p[n++] = t.p[i];
        } else if (!tok->squeeze || t.p[i - 1] != ' ') {
            memcpy(p + n, mark, 3);
            n += 3;
        }
    }
    *out = (mn_str){ p, n };
    return MNW_OK;
}
