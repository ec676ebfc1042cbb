/* SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as JSON: the reader ends, stays inside, and skipping agrees with walking.
 */
#include <stdlib.h>

#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile double sink;

/* Walk to the end, reading every value. */
static mn_json_event walk(mn_json *j)
{
    for (;;) {
        char                buf[64];
        int64_t             i;
        const mn_json_event e = mn_json_next(j);
        if (j->at < j->start || j->at > j->end) abort();
        if (e == MN_JSON_KEY || e == MN_JSON_STRING) {
            const size_t cap = j->raw.n < sizeof buf ? j->raw.n : sizeof buf;
            if (mn_json_text(j, buf, cap) > cap) abort();
            sink = mn_json_key_is(j, "vocab");
        }
        if (e == MN_JSON_NUMBER) sink = mn_json_f64(j) + mn_json_i64(j, &i);
        if (e == MN_JSON_ERROR || e == MN_JSON_END) return e;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mn_json walked, skipped;
    mn_err  err = { 0 };
    mn_json_init(&walked, (mn_bytes){ data, size });
    mn_json_init(&skipped, (mn_bytes){ data, size });
    const mn_json_event end = walk(&walked);
    if (end == MN_JSON_ERROR && mn_json_fail(&walked, "x", &err) == MNW_OK) abort();

    mn_json_next(&skipped);
    mn_json_skip(&skipped);
    if (mn_json_next(&skipped) != end || skipped.at != walked.at) abort();
    return 0;
}
