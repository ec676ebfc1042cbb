/* SPDX-License-Identifier: Apache-2.0
 *
 * guard.h - notice that a model repeats itself without end.
 *
 * The rule: the last MN_GUARD_PERIODS periods of some length p <= MN_GUARD_MAX_PERIOD are equal,
 * token for token, and together they are at least MN_GUARD_MIN_TOKENS long.  The lower bound lets a
 * table row of equal cells or a short list of zeros pass; a table whose rows differ in one cell never
 * matches, because periods must be equal exactly.  Constant time per token and period.
 */
#ifndef MN_RUN_GUARD_H
#define MN_RUN_GUARD_H

#include <stdbool.h>
#include <stdint.h>

enum { MN_GUARD_PERIODS = 6, MN_GUARD_MAX_PERIOD = 256, MN_GUARD_MIN_TOKENS = 24 };

typedef struct mn_guard {                      // zeroed = nothing seen
    int32_t  ring[MN_GUARD_MAX_PERIOD];        // the last tokens
    uint32_t equal[MN_GUARD_MAX_PERIOD + 1];   // [p]: tokens in a row equal to the one p before
    uint64_t seen;
} mn_guard;

/* Add a token; true if it completes a loop. */
bool mn_guard_push(mn_guard *g, int32_t token);

#endif
