/* SPDX-License-Identifier: Apache-2.0
 *
 * stop.h - find stop strings in a stream of bytes, wherever the stream is cut.
 *
 * Only a suffix that may still become a stop string is held back; everything before it goes out at
 * once.  One Knuth-Morris-Pratt automaton for each string: linear time, whatever the text.
 */
#ifndef MN_TEXT_STOP_H
#define MN_TEXT_STOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { MN_MAX_STOPS = 16, MN_MAX_STOP_BYTES = 255 };

typedef struct mn_stop {
    const char *text[MN_MAX_STOPS];   // borrowed
    uint8_t     len[MN_MAX_STOPS];
    uint8_t     matched[MN_MAX_STOPS];                       // bytes of each that match so far
    uint8_t     fail[MN_MAX_STOPS][MN_MAX_STOP_BYTES + 1];   // longest border of each prefix
    size_t      count;
    char        held[MN_MAX_STOP_BYTES + 1];
    size_t      n_held;
    bool        hit;                  // a stop string came; nothing more will be released
} mn_stop;

/* Errors: MNW_E_ARG for more than MN_MAX_STOPS strings, an empty or a longer one. */
mnw_status mn_stop_init(mn_stop *s, const char *const *texts, size_t n, mn_err *err);

/* Add n bytes; write what cannot be part of a stop string to `out`, which has room for n +
 * MN_MAX_STOP_BYTES; returns its length.  After a hit: what came before the stop string. */
size_t mn_stop_push(mn_stop *s, const char *p, size_t n, char *out);

/* No more bytes: release what is held (at most MN_MAX_STOP_BYTES). */
size_t mn_stop_end(mn_stop *s, char *out);

#endif
