/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as a safetensors file: refused with a text, or tensors that fill the data exactly.
 */
#include <stdlib.h>

#include "format/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned sink;

static void look(const mn_content *c, size_t size)
{
    unsigned sum = 0;
    uint64_t bytes = 0;
    for (size_t i = 0; i < c->n_items; i++) {
        const mn_meta_item *m = &c->item[i];
        for (uint64_t k = 0; k < m->bytes; k++) sum += m->data[k];
    }
    for (size_t i = 0; i < c->n_tensors; i++) {
        const mn_tensor *t = &c->tensor[i];
        bytes += t->bytes;
        for (uint64_t k = 0; k < t->bytes; k++) sum += t->data[k];
        for (size_t k = 0; k < t->name.n; k++) sum += (unsigned)t->name.p[k];
        if (mn_tensor_find(c, t->name) != t) abort();
    }
    if (c->head_bytes + bytes != size) abort();
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
    if (mn_safetensors_read((mn_bytes){ data, size }, &pages, &c, &err) == MNW_OK) look(&c, size);
    else if (!err.text[0]) abort();   // a refusal must explain itself
    mn_pages_done(&pages);
    return 0;
}
