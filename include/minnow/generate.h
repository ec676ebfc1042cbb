/* SPDX-License-Identifier: Apache-2.0
 *
 * minnow/generate.h - prompt in, events out.
 *
 * Feeds a prompt, samples token by token and reports events through one callback: text in whole
 * code points, each token when asked for, progress of the prompt, and the end with its reason.
 * Stop strings may span tokens; only a suffix that could still become one is held back.
 *
 *     static bool on_event(void *user, const mnw_event *e)
 *     {
 *         if (e->kind == MNW_EVENT_TEXT) fwrite(e->text, 1, e->text_len, stdout);
 *         return true;                                     // false cancels
 *     }
 *     mnw_generate(session, sampler, ids, n, NULL, on_event, NULL, NULL);
 */
#ifndef MINNOW_GENERATE_H
#define MINNOW_GENERATE_H

#include <minnow/sampler.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mnw_event_kind {
    MNW_EVENT_TEXT = 1,       // text, text_len
    MNW_EVENT_TOKEN = 2,      // token, logprob            (with opts.tokens)
    MNW_EVENT_PROGRESS = 3,   // done of total prompt tokens
    MNW_EVENT_DONE = 4,       // reason
} mnw_event_kind;

/* X(name, number, id) */
#define MNW_REASON_LIST(X)                                                            \
    X(STOP, 1, "stop")               /* end token or stop string */                   \
    X(LENGTH, 2, "length")           /* max_tokens */                                 \
    X(CONTEXT, 3, "context")         /* the context is full */                        \
    X(REPETITION, 4, "repetition")   /* the loop guard */                             \
    X(CANCELLED, 5, "cancelled")                                                      \
    X(ERROR, 6, "error")

typedef enum mnw_reason {
    MNW_REASON_NONE = 0,
#define X(name, number, id) MNW_REASON_##name = number,
    MNW_REASON_LIST(X)
#undef X
} mnw_reason;

/* The stable id of a reason, "stop".  Never NULL. */
MNW_API const char *mnw_reason_id(mnw_reason reason);

typedef struct mnw_event {
    mnw_event_kind kind;
    const char    *text;        // valid UTF-8, valid during the callback; bad bytes are U+FFFD
    size_t         text_len;
    int32_t        token;
    float          logprob;     // natural log of the probability before sampling options
    uint64_t       done, total;
    mnw_reason     reason;
} mnw_event;

/* Return false to cancel. */
typedef bool mnw_event_fn(void *user, const mnw_event *event);

typedef struct mnw_generate_opts {
    size_t             size;          // sizeof(mnw_generate_opts)
    uint32_t           max_tokens;    // [until the context is full]
    const char *const *stop;          // stop strings, NUL-terminated, none empty
    size_t             n_stop;        // at most 16
    bool               tokens;        // also send MNW_EVENT_TOKEN
    bool               ignore_end;    // go on after end tokens
    bool               no_loop_guard; // do not stop on endless repetition
    bool               special;       // show control tokens as text
} mnw_generate_opts;

typedef struct mnw_generate_stats {
    size_t     size;                  // in: sizeof(mnw_generate_stats)
    mnw_reason reason;
    uint32_t   prompt_tokens;         // in the prompt
    uint32_t   cached_tokens;         // of these, already in the session
    uint32_t   generated_tokens;      // end token included
    double     prompt_s, generate_s;  // seconds feeding, and from there to the end
    double     first_token_s;         // from the call to the first picked token
} mnw_generate_stats;

/* Make the session hold `tokens` (reusing the longest common prefix it already has), then generate.
 *
 * The end token is picked but not fed.  `stats` may be NULL.
 * Errors: MNW_E_FULL if the prompt alone does not fit, with both numbers, before anything is
 *         evaluated; MNW_E_ARG; MNW_E_CANCELLED is not an error here: the reason says it.
 *         mnw_session_error() has the text.
 * Allocs: nothing after the first call on a session. */
MNW_API mnw_status mnw_generate(mnw_session *s, mnw_sampler *sp, const int32_t *tokens, size_t n,
                                const mnw_generate_opts *opts, mnw_event_fn *fn, void *user,
                                mnw_generate_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
