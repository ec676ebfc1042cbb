/* SPDX-License-Identifier: Apache-2.0
 *
 * session.h - the inside of mnw_session: one timeline of tokens over one model.
 *
 * Everything a step needs is in one block, laid out when the session opens.  Feeding changes the
 * block and three small things here: the count, whether logits are current, and the last error.
 */
#ifndef MN_RUN_SESSION_H
#define MN_RUN_SESSION_H

#include <minnow/session.h>
#include <stdatomic.h>

#include "base/err.h"
#include "model/backend.h"
#include "model/model.h"

enum { MN_MAX_BATCH = 4096, MN_DEFAULT_BATCH = 256, MN_DEFAULT_CTX = 4096 };

struct mnw_session {
    mnw_model       *model;
    mnw_session_opts opts;         // resolved: no zeros
    mn_step          step;         // block, buffers, cache; tokens and team vary
    int32_t         *tokens;       // [n_ctx], in the block
    size_t           count;        // of them, that were fed
    bool             has_logits;
    mn_err           err;
    atomic_bool      cancel;       // asked for, from any thread

    /* Of the running job. */
    bool        want_head;         // logits of the last token
    size_t      head_token;        // or, in a job of its own, of this token
    const int32_t *target;         // [T] tokens to score after each token of the chunk, or NULL
    float         *logprob;        // [T]
    atomic_uint stop_after;        // leave when this many layers are done
};

#endif
