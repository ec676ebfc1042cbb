/* SPDX-License-Identifier: Apache-2.0
 *
 * json_slot.h - random access to a JSON document that was walked through once and is known to be well
 * formed: a slot is a reader that stands in front of a value, and may be copied and read again.
 */
#ifndef MN_TEXT_JSON_SLOT_H
#define MN_TEXT_JSON_SLOT_H

#include "base/json.h"

/* Walk through a document: is it well formed?  *root is the slot of its value.
 *
 * Errors: MNW_E_FORMAT with `what`, line and column. */
mnw_status mn_json_document(mn_bytes bytes, const char *what, mn_json *root, mn_err *err);

/* The values of some keys of the object at `object`, in one walk.  `slot` of a key that is not there,
 * or of anything that is no object, is zeroed.  The first of equal keys counts. */
void mn_json_fields(const mn_json *object, const char *const *name, mn_json *slot, size_t n);

/* The same for one key. */
mn_json mn_json_field(const mn_json *object, const char *name);

/* Read the value: its event, MN_JSON_NULL if the slot is empty.  *value is the reader behind it, with
 * its text; inside it, if it is an object or array. */
mn_json_event mn_json_value(const mn_json *slot, mn_json *value);

/* Is it this text?  Is it true (or `fallback` if it is no boolean)? */
bool mn_json_is(const mn_json *slot, const char *text);
bool mn_json_bool(const mn_json *slot, bool fallback);

/* The next element of an array that mn_json_value opened: *slot is in front of it; false at the end. */
bool mn_json_element(mn_json *array, mn_json *slot);

#endif
