/* SPDX-License-Identifier: Apache-2.0
 *
 * json_slot.c - random access to JSON by copying readers.
 */
#include "text/json_slot.h"

mnw_status mn_json_document(mn_bytes bytes, const char *what, mn_json *root, mn_err *err)
{
    mn_json_init(root, bytes);
    mn_json j = *root;
    mn_json_next(&j);
    if (mn_json_skip(&j) && mn_json_next(&j) == MN_JSON_END) return MNW_OK;
    return mn_json_fail(&j, what, err);
}

void mn_json_fields(const mn_json *object, const char *const *name, mn_json *slot, size_t n)
{
    memset(slot, 0, n * sizeof *slot);
    mn_json j;
    if (mn_json_value(object, &j) != MN_JSON_OBJECT) return;
    while (mn_json_next(&j) == MN_JSON_KEY) {
        for (size_t i = 0; i < n; i++) {
            if (!slot[i].start && mn_json_key_is(&j, name[i])) slot[i] = j;
        }
        if (!mn_json_skip(&j)) return;
    }
}

mn_json mn_json_field(const mn_json *object, const char *name)
{
    mn_json slot;
    mn_json_fields(object, &name, &slot, 1);
    return slot;
}

mn_json_event mn_json_value(const mn_json *slot, mn_json *value)
{
    *value = *slot;
    return slot->start ? mn_json_next(value) : MN_JSON_NULL;
}

bool mn_json_is(const mn_json *slot, const char *text)
{
    mn_json v;
    return mn_json_value(slot, &v) == MN_JSON_STRING && mn_json_key_is(&v, text);
}

bool mn_json_bool(const mn_json *slot, bool fallback)
{
    mn_json             v;
    const mn_json_event event = mn_json_value(slot, &v);
    return event == MN_JSON_TRUE || (event != MN_JSON_FALSE && fallback);
}

bool mn_json_element(mn_json *array, mn_json *slot)
{
    mn_json peek = *array;
    const mn_json_event event = mn_json_next(&peek);
    if (event == MN_JSON_ARRAY_END || event == MN_JSON_ERROR) return false;
    *slot = *array;
    mn_json_next(array);
    return mn_json_skip(array);
}
