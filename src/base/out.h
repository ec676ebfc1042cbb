/* SPDX-License-Identifier: Apache-2.0
 *
 * out.h - append text to a caller's buffer, and count what it would have needed.
 */
#ifndef MN_BASE_OUT_H
#define MN_BASE_OUT_H

#include "base/bytes.h"
#include "base/err.h"

typedef struct mn_out {
    char  *buf;
    size_t cap;    // bytes at buf
    size_t len;    // bytes wanted so far; only those below cap were written
} mn_out;

void mn_out_bytes(mn_out *o, const void *p, size_t n);
void mn_out_text(mn_out *o, const char *z);
void mn_out_fmt(mn_out *o, const char *fmt, ...) MN_PRINTF(2, 3);   // at most 512 bytes a call
/* A JSON string with its quotes; invalid UTF-8 becomes U+FFFD; non-ASCII stays as it is. */
void mn_out_json(mn_out *o, mn_str s);
/* A number as JSON has it, in the fewest digits that read back as the same double, or as the same
 * float if it is `single`; what is not finite as null. */
void mn_out_number(mn_out *o, double v, bool single);

/* Put the final NUL; MNW_E_BUFFER if anything was cut.  *len gets the length without NUL. */
mnw_status mn_out_end(mn_out *o, size_t *len, mn_err *err);

#endif
