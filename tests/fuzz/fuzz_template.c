/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_template.c - any bytes as a chat template, and any bytes as messages.
 *
 * The input is a template, a NUL, and the JSON; without a NUL the messages are a fixed conversation.
 */
#include <stdlib.h>

#include "text/template.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char MESSAGES[] =
        "{\"messages\":[{\"role\":\"system\",\"content\":\"a\"},{\"role\":\"user\",\"content\":\"b\"},"
        "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"function\":{\"name\":\"f\","
        "\"arguments\":{\"x\":1.5}}}]}],\"tools\":[{\"type\":\"function\"}]}";
    const char *cut = size ? memchr(data, 0, size) : NULL;
    mn_str      source = { (const char *)data, cut ? (size_t)(cut - (const char *)data) : size };
    mn_str      json = mn_str_of(MESSAGES);
    if (cut) json = (mn_str){ cut + 1, size - source.n - 1 };

    mn_mem           mem;
    mn_err           err = { 0 };
    mn_template     *t = NULL;
    mn_template_text out = { 0 };
    mn_mem_init(&mem, NULL, NULL);
    mnw_status st = mn_template_compile(&mem, source, &t, &err);
    if (st == MNW_OK) {
        const mn_template_args args = { .messages = json, .bos = mn_str_of("<s>"), .thinking = 1 };
        st = mn_template_render(t, &mem, &args, &out, &err);
    }
    if (st != MNW_OK && !err.text[0]) abort();   // a refusal must explain itself
    for (size_t i = 0; i < out.len; i++) {
        if (out.trusted[i] > 1) abort();
    }
    mn_template_text_done(&mem, &out);
    mn_template_free(&mem, t);
    if (atomic_load(&mem.live)) abort();
    return 0;
}
