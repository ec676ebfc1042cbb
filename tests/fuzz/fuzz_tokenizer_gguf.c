/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as a GGUF file with a tokenizer: refused with a reason, or a tokenizer that obeys its laws.
 */
#include "format/gguf.h"
#include "tok_laws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char text[] = "ab  aab\n\xE2\x96\x81 caf\xC3\xA9 don't 123 <s>a</s><x> \xFF";
    mnw_ctx           ctx = { .opts.log_level = MNW_LOG_SILENT };
    mnw_tokenizer    *tok = NULL;
    mn_err            err = { 0 };
    mn_pages          pages;
    mn_content        content;
    mn_mem_init(&ctx.mem, NULL, NULL);
    mn_pages_init(&pages, &ctx.mem);
    mnw_status st = mn_gguf_read((mn_bytes){ data, size }, &pages, &content, &err);
    if (!st) st = mn_tokenizer_from_content(&ctx, &content, &tok, &err);
    if (st) law(err.text[0] && !tok);
    if (tok) obey(tok, text, sizeof text - 1);
    mn_tokenizer_close(tok);
    mn_pages_done(&pages);
    law(atomic_load(&ctx.mem.live) == 0);
    return 0;
}
