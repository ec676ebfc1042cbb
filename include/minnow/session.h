/* SPDX-License-Identifier: Apache-2.0
 *
 * minnow/session.h - run a model forward, token by token.
 *
 * A session is one timeline of tokens over one model.  It owns the KV cache and the scratch
 * memory, both taken when it is opened; advancing it never allocates.  Many sessions may share a
 * model.  Use a session from one thread at a time (only mnw_session_cancel may come from another),
 * and one session of a context at a time: they share its threads.
 *
 *     mnw_session *s;
 *     if (mnw_session_open(model, NULL, &s) != MNW_OK) return fail(mnw_ctx_error(ctx));
 *     mnw_session_feed(s, prompt, n_prompt);
 *     int32_t next = mnw_sampler_pick(sampler, s);
 *     mnw_session_close(s);
 */
#ifndef MINNOW_SESSION_H
#define MINNOW_SESSION_H

#include <minnow/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mnw_session mnw_session;

typedef enum mnw_kv_type {
    MNW_KV_DEFAULT = 0,   // f16
    MNW_KV_I8 = 1,        // int8 with a scale per position and head
    MNW_KV_F16 = 2,
    MNW_KV_F32 = 3,       // exact, for comparisons: the reference backend only
} mnw_kv_type;

/* How activations are rounded before they meet 4- or 8-bit weights.  Float weights round nothing. */
typedef enum mnw_precision {
    MNW_PRECISION_DEFAULT = 0,   // auto
    MNW_PRECISION_FAST = 1,      // int8: what most engines do; may change what a small model says
    MNW_PRECISION_EXACT = 2,     // two int8 planes, about 15 bits: close to unrounded
    MNW_PRECISION_AUTO = 3,      // exact, except for inputs of which the file says that 8 bits are enough
} mnw_precision;

typedef struct mnw_session_opts {
    size_t        size;        // sizeof(mnw_session_opts)
    uint32_t      n_ctx;       // positions the KV cache can hold  [4096, or less if trained on less]
    uint32_t      n_batch;     // most tokens evaluated at once, up to 4096   [256]
    mnw_kv_type   kv_type;     // [f16]
    mnw_precision precision;   // [auto]
} mnw_session_opts;

/* Bytes mnw_session_open() will take with these options: KV cache plus scratch.  0 if the
 * options are bad. */
MNW_API size_t mnw_session_bytes(const mnw_model *m, const mnw_session_opts *opts);

/* Open a session at position 0.
 *
 * Owns:   *out belongs to the caller; the session borrows `m`, close it first.
 * Errors: MNW_E_NOMEM; MNW_E_ARG if n_ctx exceeds the model's limit.  *out is NULL on error,
 *         the text is in mnw_ctx_error() of the model's context.
 * Allocs: one block of mnw_session_bytes(), and the handle. */
MNW_API mnw_status mnw_session_open(mnw_model *m, const mnw_session_opts *opts, mnw_session **out);

/* Append `n` tokens and evaluate them.  Logits of the last one become current.
 *
 * Feeding a prompt in one call or in many gives the same logits, to the bit.
 * Errors: MNW_E_FULL if n_ctx would be exceeded, with both numbers in the text;
 *         MNW_E_ARG if an id is not in the vocabulary; MNW_E_CANCELLED.  The session is where it
 *         was before the call then. */
MNW_API mnw_status mnw_session_feed(mnw_session *s, const int32_t *tokens, size_t n);

/* Called with the logits [V] after each fed token, in order.  Return false to cancel. */
typedef bool mnw_logits_fn(void *user, size_t pos, const float *logits);

/* The same as mnw_session_feed, and hand out the logits of every token.  When it fails, there are
 * no current logits. */
MNW_API mnw_status mnw_session_feed_each(mnw_session *s, const int32_t *tokens, size_t n,
                                         mnw_logits_fn *fn, void *user);

/* Append `n` tokens and tell how likely others were: logprobs[i] becomes the natural logarithm of the
 * probability the model gives to targets[i] after tokens[i].  A negative target asks for nothing and
 * gets 0.  To score a text, targets are its tokens shifted by one.
 *
 * The same to the bit whether in one call or in many, and as mnw_session_logprob() would say; the head
 * is applied to many tokens at once, so it is about as fast as mnw_session_feed.  Afterwards there are
 * no current logits.
 * Shapes: targets, logprobs [n].
 * Errors: as mnw_session_feed; MNW_E_ARG for a target beyond the vocabulary. */
MNW_API mnw_status mnw_session_score(mnw_session *s, const int32_t *tokens, size_t n,
                                     const int32_t *targets, float *logprobs);

/* The natural logarithm of the probability that `token` comes next, by the current logits.  NaN if
 * there are none, or for an id outside the vocabulary. */
MNW_API float mnw_session_logprob(const mnw_session *s, int32_t token);

/* Logits after the last fed token.
 *
 * Shapes: [V].  Owns: the session; valid until the next feed, rewind or close.  NULL when there
 * are none (nothing fed yet, or rewound since). */
MNW_API const float *mnw_session_logits(const mnw_session *s);

/* Tokens fed so far, and the most there can be. */
MNW_API size_t mnw_session_count(const mnw_session *s);
MNW_API size_t mnw_session_capacity(const mnw_session *s);

/* The tokens fed so far.  Shapes: [count].  Owns: the session; valid until the next feed. */
MNW_API const int32_t *mnw_session_tokens(const mnw_session *s);

/* The model a session runs. */
MNW_API mnw_model *mnw_session_model(const mnw_session *s);

/* Forget every position >= pos.  The next feed continues from there.
 *
 * Errors: MNW_E_ARG if pos is beyond the count. */
MNW_API mnw_status mnw_session_rewind(mnw_session *s, size_t pos);

/* Open a second session with the same options, tokens and cache.
 *
 * Owns: *out belongs to the caller.  Allocs: as mnw_session_open. */
MNW_API mnw_status mnw_session_fork(mnw_session *s, mnw_session **out);

/* Save tokens and cache to a file: a temporary file, then a rename. */
MNW_API mnw_status mnw_session_save(mnw_session *s, const char *path);

/* Restore what mnw_session_save wrote.  Logits are not saved; rewind by one and feed the last
 * token again to have them.
 *
 * Errors: MNW_E_CORRUPT for another model, a damaged or shorter file; MNW_E_ARG for another KV
 *         type; MNW_E_FULL if it does not fit; MNW_E_UNSUPPORTED for another version of the file;
 *         MNW_E_NOMEM.  The session is untouched then.
 * Allocs: the file's size, freed on return. */
MNW_API mnw_status mnw_session_restore(mnw_session *s, const char *path);

/* Make a running or the next feed stop with MNW_E_CANCELLED, within one layer of one batch.
 *
 * Threads: from any thread, also from a signal handler. */
MNW_API void mnw_session_cancel(mnw_session *s);

/* Text of the last failure on this session, "" if none.  Valid until the next call. */
MNW_API const char *mnw_session_error(const mnw_session *s);

/* Close and free.  NULL is allowed. */
MNW_API void mnw_session_close(mnw_session *s);

#ifdef __cplusplus
}
#endif
#endif
