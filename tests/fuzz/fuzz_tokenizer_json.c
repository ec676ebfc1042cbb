/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as tokenizer.json: refused with a reason, or a tokenizer that obeys its laws.
 */
#include "tok_laws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char text[] = "ab  aab\n\xE2\x96\x81 caf\xC3\xA9 e\xCC\x81 don't 123 <s>a</s><x> \xFF";
    mnw_ctx           ctx = { .opts.log_level = MNW_LOG_SILENT };
    mnw_tokenizer    *tok;
    mn_err            err = { 0 };
    mn_mem_init(&ctx.mem, NULL, NULL);
    if (mn_tokenizer_from_json(&ctx, (mn_bytes){ data, size }, (mn_bytes){ NULL, 0 }, &tok, &err)) {
        law(err.text[0] && !tok);
    } else {
        obey(tok, text, sizeof text - 1);
        obey(tok, (const char *)data, size < 200 ? size : 200);
        mn_tokenizer_close(tok);
    }
    law(atomic_load(&ctx.mem.live) == 0);
    return 0;
}
