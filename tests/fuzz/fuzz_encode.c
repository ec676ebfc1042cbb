/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as text, the first one choosing a pre-tokenizer: the laws hold, words cover the text, and
 * what was valid UTF-8 comes back.
 */
#include <stdio.h>

#include "../tok_small.h"
#include "base/utf8.h"
#include "text/unicode.h"
#include "tok_laws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const name[] = { "gpt-2", "qwen2", "qwen35", "llama-bpe", "smollm", "falcon",
                                    "deepseek-llm", "deepseek-coder" };
enum { NAMES = sizeof name / sizeof *name };

static mnw_ctx        ctx;
static mnw_tokenizer *opened[NAMES];   // once, since that takes longer than a short text

static mnw_tokenizer *open_small(unsigned which, const mn_pretok *pre)
{
    if (opened[which]) return opened[which];
    if (!ctx.mem.fn) mn_mem_init(&ctx.mem, NULL, NULL);
    ctx.opts.log_level = MNW_LOG_SILENT;
    mnw_tokenizer *tok;
    char   json[SMALL_JSON];
    mn_err err = { 0 };
    const size_t n = small_json(json, "null", SMALL_GPT2,
                                "{\"id\":263,\"content\":\"<|end|>\",\"special\":true},"
                                "{\"id\":264,\"content\":\"<t>\",\"normalized\":false}");
    law(!mn_tokenizer_from_json(&ctx, (mn_bytes){ (uint8_t *)json, n }, (mn_bytes){ NULL, 0 }, &tok, &err));
    memcpy(tok->stage, pre->stage, sizeof pre->stage);
    tok->ignore_merges = pre->ignore_merges;
    return opened[which] = tok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size) return 0;
    const unsigned   which = data[0] % NAMES;
    const mn_pretok *pre = mn_pretok_find(mn_str_of(name[which]));
    mnw_tokenizer   *tok = open_small(which, pre);
    const char      *text = (const char *)data + 1;
    const size_t     len = size - 1, live = atomic_load(&ctx.mem.live);

    obey(tok, text, len);
    if (mn_utf8_valid(text, len)) {
        mn_words w;
        mn_str   word;
        size_t   n, back, covered = 0;
        mn_words_init(&w, pre->stage, (mn_str){ text, len });
        for (; mn_words_next(&w, &word); covered += word.n) law(word.n && word.p == text + covered);
        law(covered == len);
        int32_t *ids = encode_by_law(tok, text, len, 0, &n);
        char    *again = decode_by_law(tok, ids, n, 0, &back);
        law(back == len && (len == 0 || memcmp(again, text, len) == 0));
        free(again);
        free(ids);

        void  *block = NULL;   // NFC is done when it was done once
        mn_str once, twice;
        law(!mn_nfc(&ctx.mem, (mn_str){ text, len }, &once, &block));
        law(mn_utf8_valid(once.p, once.n));
        void *block_2 = NULL;
        law(!mn_nfc(&ctx.mem, once, &twice, &block_2));
        law(mn_str_eq(once, twice));
        mn_free(&ctx.mem, block_2);
        mn_free(&ctx.mem, block);
    }
    law(atomic_load(&ctx.mem.live) == live);
    return 0;
}
