/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as a GGUF file: refused with a text, or all that is handed out lies inside.
 */
#include <stdlib.h>

#include "format/gguf.h"
#include "format/scan.h"
#include "format/segments.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned sink;

static void touch(mn_bytes file, const mn_content *c)
{
    unsigned sum = 0;
    for (size_t i = 0; i < c->n_items; i++) {
        const mn_meta_item *m = &c->item[i];
        for (uint64_t k = 0; k < m->bytes; k++) sum += m->data[k];
        const uint8_t *at = m->data;
        for (uint64_t k = 0; m->type == MN_META_ARRAY && k < m->count; k++) {
            if (m->elem == MN_META_STR) sum += (unsigned)mn_meta_next_str(m, &at).n;
            else if (m->elem == MN_META_F32 || m->elem == MN_META_F64)
                sum += mn_meta_float_at(m, k) > 0;
            else sum += (unsigned)mn_meta_int_at(m, k);
        }
    }
    for (size_t i = 0; i < c->n_tensors; i++) {
        for (uint64_t k = 0; k < c->tensor[i].bytes; k++) sum += c->tensor[i].data[k];
        sum += mn_scan_tensor(&c->tensor[i], NULL);
    }
    mn_segments s;
    if (mn_segments_read(c, file.n, &s, NULL) == MNW_OK) {
        for (size_t i = 0; i < s.n && i < 16; i++) sum += mn_segments_check(&s, i, file, NULL);
    }
    sink = sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mn_mem     mem;
    mn_pages   pages;
    mn_content c;
    mn_err     err = { 0 };
    mn_mem_init(&mem, NULL, NULL);
    mn_pages_init(&pages, &mem);
    if (mn_gguf_read((mn_bytes){ data, size }, &pages, &c, &err) == MNW_OK) touch((mn_bytes){ data, size }, &c);
    else if (!err.text[0]) abort();   // a refusal must explain itself
    mn_pages_done(&pages);
    return 0;
}
