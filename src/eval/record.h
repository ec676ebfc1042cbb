/* SPDX-License-Identifier: Apache-2.0
 *
 * record.h - records of a data file, whatever its format, as JSON objects.
 *
 *      jsonl   an object a line
 *      csv     RFC 4180; the first line names the columns
 *      lines   a fixed number of lines a record, which `fields` names
 *      xml     flat elements: attributes, and children with text; '-' in names becomes '_'
 */
#ifndef MN_EVAL_RECORD_H
#define MN_EVAL_RECORD_H

#include <jansson.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"

enum {
    MN_RECORDS_MAX = 1 << 20,
    MN_FIELDS_MAX = 64,
};

/* Read all records.  fields: for "lines", an array of names; element: for "xml", its name.
 *
 * Owns:   *out is a new reference to an array of objects; NULL on error.
 * Errors: MNW_E_FORMAT and MNW_E_LIMIT with the line; MNW_E_ARG for a format there is not. */
mnw_status mn_records_read(mn_mem *mem, const char *format, const json_t *fields,
                           const char *element, mn_str text, json_t **out, mn_err *err);

/* Give record i the value "label": line i of `text`. */
mnw_status mn_records_label(json_t *records, mn_str text, mn_err *err);

#endif
