/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as test data in one of four formats, which the first byte chooses: records or an error, and
 * all there is in them is text.
 */
#include <stdlib.h>

#include "eval/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const FORMATS[] = { "jsonl", "csv", "lines", "xml" };
    if (size == 0) return 0;
    const size_t format = data[0] % 4;
    const mn_str text = { (const char *)data + 1, size - 1 };
    mn_mem       mem;
    mn_err       err = { 0 };
    json_t      *out, *fields = json_pack("[s, s, s]", "a", "b", "c");
    mn_mem_init(&mem, NULL, NULL);
    const mnw_status st = mn_records_read(&mem, FORMATS[format], fields, "item", text, &out, &err);
    if ((st == MNW_OK) != (out != NULL)) abort();
    if (st != MNW_OK && !err.text[0]) abort();
    size_t  i;
    json_t *record;
    json_array_foreach(out, i, record)
        if (!json_is_object(record)) abort();
    if (out && mn_records_label(out, text, &err) != MNW_OK && !err.text[0]) abort();
    json_decref(out);
    json_decref(fields);
    if (atomic_load(&mem.live) != 0) abort();
    return 0;
}
