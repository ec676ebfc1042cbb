/* SPDX-License-Identifier: Apache-2.0
 *
 * guard.c - notice that a model repeats itself without end.
 */
#include "run/guard.h"

bool mn_guard_push(mn_guard *g, int32_t token)
{
    bool looping = false;
    for (uint32_t p = 1; p <= MN_GUARD_MAX_PERIOD && p <= g->seen; p++) {
        const int32_t before = g->ring[(g->seen - p) % MN_GUARD_MAX_PERIOD];
        g->equal[p] = before == token ? g->equal[p] + 1 : 0;
        if (g->equal[p] >= (MN_GUARD_PERIODS - 1) * p && g->equal[p] + p >= MN_GUARD_MIN_TOKENS)
            looping = true;
    }
    g->ring[g->seen++ % MN_GUARD_MAX_PERIOD] = token;
    return looping;
}
