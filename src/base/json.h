/* SPDX-License-Identifier: Apache-2.0
 *
 * json.h - a pull reader for JSON (RFC 8259): one event at a time, nothing allocated.
 *
 * Strict: no comments, no trailing commas, no NaN, valid UTF-8 only.  No recursion; at most
 * MN_JSON_DEPTH levels.  The first fault is sticky: every later event is MN_JSON_ERROR, and the error
 * says line and column.
 *
 *     mn_json j;
 *     mn_json_init(&j, bytes);
 *     MN_TRY(mn_json_expect(&j, MN_JSON_OBJECT, &err));
 *     while (mn_json_next(&j) == MN_JSON_KEY) {
 *         if (mn_json_key_is(&j, "vocab")) ... else mn_json_skip(&j);      // the key's value
 *     }                                                                    // MN_JSON_OBJECT_END
 */
#ifndef MN_BASE_JSON_H
#define MN_BASE_JSON_H

#include "base/bytes.h"
#include "base/err.h"

enum { MN_JSON_DEPTH = 64 };

typedef enum mn_json_event {
    MN_JSON_ERROR,
    MN_JSON_OBJECT, MN_JSON_OBJECT_END,
    MN_JSON_ARRAY, MN_JSON_ARRAY_END,
    MN_JSON_KEY,
    MN_JSON_STRING, MN_JSON_NUMBER, MN_JSON_TRUE, MN_JSON_FALSE, MN_JSON_NULL,
    MN_JSON_END,                         // the document is complete
} mn_json_event;

typedef struct mn_json {
    const char   *start, *at, *end;
    mn_json_event event;                 // the last one returned
    mn_str        raw;                   // KEY, STRING: between the quotes, escapes as written;
                                         // NUMBER: its characters
    bool          escaped;               // raw has escapes: use mn_json_text
    unsigned      depth;
    uint64_t      in_object;             // bit per level
    bool          want_comma, want_value;
    const char   *fault;                 // what is wrong, NULL if nothing
} mn_json;

void          mn_json_init(mn_json *j, mn_bytes bytes);
mn_json_event mn_json_next(mn_json *j);

/* Advance and require this event. */
mnw_status mn_json_expect(mn_json *j, mn_json_event want, mn_err *err);

/* After KEY: skip its value.  After OBJECT or ARRAY: skip to and over its end.  False on a fault. */
bool mn_json_skip(mn_json *j);

/* The last KEY or STRING, unescaped into buf (lone surrogates become U+FFFD); returns the length,
 * never more than raw.n, which cap must be. */
size_t mn_json_text(const mn_json *j, char *buf, size_t cap);

/* Is the last KEY or STRING this ASCII text? */
bool mn_json_key_is(const mn_json *j, const char *name);

/* The last NUMBER as an integer (false if it has a fraction, an exponent or does not fit), or as a
 * double. */
bool   mn_json_i64(const mn_json *j, int64_t *out);
double mn_json_f64(const mn_json *j);

/* Record the fault with its line and column as MNW_E_FORMAT; `what` names the document. */
mnw_status mn_json_fail(const mn_json *j, const char *what, mn_err *err);

#endif
