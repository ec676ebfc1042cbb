/* SPDX-License-Identifier: Apache-2.0
 *
 * stream.h - bytes in as they come, whole code points out.
 *
 * A character may be spread over several tokens; what is not finished is held back.  Malformed bytes
 * come out as U+FFFD, one for each maximal subpart, so the output is always valid UTF-8.
 */
#ifndef MN_TEXT_STREAM_H
#define MN_TEXT_STREAM_H

#include <stddef.h>

#include "base/utf8.h"

typedef struct mn_stream {      // zeroed = empty
    char   held[MN_UTF8_MAX];
    size_t n;
} mn_stream;

/* Bytes that mn_stream_push may write for n pushed ones. */
enum { MN_STREAM_GROWTH = 3, MN_STREAM_SLACK = 3 * MN_UTF8_MAX };

/* Add n bytes; write what is complete now to `out`, which has room for MN_STREAM_GROWTH * n +
 * MN_STREAM_SLACK bytes; returns its length. */
size_t mn_stream_push(mn_stream *s, const char *p, size_t n, char *out);

/* No more bytes: an unfinished character becomes one U+FFFD. */
size_t mn_stream_end(mn_stream *s, char *out);

#endif
