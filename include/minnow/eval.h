/* SPDX-License-Identifier: Apache-2.0
 *
 * minnow/eval.h - measure a model: how well it predicts a text, and which answer it finds likeliest.
 *
 * These functions are in the library minnow_eval, which needs libminnow and jansson, and libarchive to
 * read compressed data.  Both kinds of figure are defined so that they can be compared with published
 * ones; docs/QUALITY.md has some.
 *
 *     mnw_ppl_result r = { .size = sizeof r };
 *     if (mnw_eval_ppl(model, text, len, NULL, &r) == MNW_OK) printf("%.2f\n", r.ppl);
 *
 * Failures are explained by mnw_ctx_error() of the model's context.
 */
#ifndef MINNOW_EVAL_H
#define MINNOW_EVAL_H

#include <minnow/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Perplexity.
 *
 * The text is encoded as one, without special tokens.  Windows of `window` tokens begin at 0, stride,
 * 2 stride ...; those that the text does not fill are left out (unless it is shorter than one window).
 * Each is evaluated from an empty context; if the model asks for a BOS, it takes the place of the
 * window's first token.  In the first window tokens 1 .. window-1 are predicted and count; in later ones
 * those that no window before has predicted.
 *
 *      ppl           exp(mean of -log p)
 *      ppl_half      the same over tokens window/2+1 .. window-1 of each window only: what llama.cpp's
 *                    perplexity tool prints.  NaN unless stride = window
 *      bits_per_byte sum of -log2 p / bytes the counted tokens stand for
 *      ppl_stderr    ppl * (standard deviation of -log p) / sqrt(tokens) */
typedef struct mnw_ppl_opts {
    size_t           size;        // sizeof(mnw_ppl_opts)
    uint32_t         window;      // tokens, 2 or more; even for ppl_half          [512]
    uint32_t         stride;      // 1 .. window                                   [window]
    uint64_t         limit;       // most windows                                  [all]
    mnw_kv_type      kv_type;     // as in mnw_session_opts
    mnw_precision    precision;
    mnw_progress_fn *progress;    // in windows                                    [the context's]
    void            *progress_user;
} mnw_ppl_opts;

typedef struct mnw_ppl_result {
    size_t   size;                // in: sizeof(mnw_ppl_result)
    uint64_t text_tokens;         // of the whole text
    uint64_t windows, tokens;     // evaluated; counted
    uint64_t bytes;               // the counted tokens stand for
    double   nll;                 // sum of -log p, natural
    double   ppl, ppl_stderr, ppl_half, bits_per_byte;
    double   seconds;
} mnw_ppl_result;

/* Errors: MNW_E_ARG; MNW_E_UNSUPPORTED without a tokenizer; MNW_E_FORMAT for a text of fewer than two
 *         tokens; MNW_E_CANCELLED; MNW_E_NOMEM.
 * Allocs: a session of `window` positions and the ids, freed on return. */
MNW_API mnw_status mnw_eval_ppl(mnw_model *m, const char *text, size_t len,
                                const mnw_ppl_opts *opts, mnw_ppl_result *out);

/* Multiple choice by likelihood, as EleutherAI's lm-evaluation-harness defines it.
 *
 * A task is a JSON file (share/tasks holds those that are built in; docs/QUALITY.md describes the form):
 * where the data is, how a record becomes a context, choices and the right answer.
 *
 *      text          description, examples, context; then, for each choice, delimiter + choice
 *      tokens        blanks at the end of the context move to the continuation; context and context +
 *                    continuation are encoded, and what follows the context's tokens is scored
 *      log-likelihood  sum of log p of these tokens; if they do not fit, the context loses its beginning
 *      acc           the choice with the highest log-likelihood is right
 *      acc_norm      the same of log-likelihood / characters of the choice (without the delimiter)
 *      stderr        sqrt(p (1 - p) / (n - 1))
 *
 * What choices, and neighbouring questions, have in common at their beginning is evaluated once. */
typedef struct mnw_choice_item {
    const char   *task;
    uint64_t      index;          // in the task, before anything is left out
    uint64_t      fingerprint;    // of the tokens
    uint32_t      n;              // choices
    uint32_t      right;          // bit i: choice i is right
    bool          known;          // the log-likelihoods came from `known`
    const double *ll;             // [n] log-likelihoods
    const uint32_t *chars;        // [n] characters
} mnw_choice_item;

/* Called after each item.  Return false to stop. */
typedef bool mnw_choice_fn(void *user, const mnw_choice_item *item);

/* Called before an item is evaluated: fill in `ll` [item->n] and return true if it is known already. */
typedef bool mnw_choice_known_fn(void *user, const mnw_choice_item *item, double *ll);

typedef struct mnw_choice_opts {
    size_t               size;        // sizeof(mnw_choice_opts)
    const char          *data;        // folder with the files tasks name          ["."]
    uint64_t             limit;       // first items of each file of a task        [all]
    uint32_t             n_ctx;       // tokens a question may have                [4096, or what the model has]
    uint32_t             shots_1;     // examples before each question, plus one   [the task's own number]
    mnw_kv_type          kv_type;     // as in mnw_session_opts
    mnw_precision        precision;
    bool                 no_sharing;  // evaluate context and continuation in full for each choice
    mnw_progress_fn     *progress;    // in items                                  [the context's]
    void                *progress_user;
    mnw_choice_fn       *item;        // [none]
    mnw_choice_known_fn *known;       // [none]
    void                *user;        // of both
} mnw_choice_opts;

typedef struct mnw_choice_result {
    size_t   size;                    // in: sizeof(mnw_choice_result)
    char     task[64];                // its name, of a file without folder and ending
    uint64_t n;                       // items
    uint64_t known;                   // of them, not evaluated
    uint64_t truncated;               // whose context lost its beginning
    uint32_t shots;
    double   acc, acc_stderr, acc_norm, acc_norm_stderr;
    uint64_t tokens_scored;           // of continuations
    uint64_t tokens_fed;              // that went through the model
    uint64_t tokens_full;             // that would have without sharing
    double   seconds;
} mnw_choice_result;

/* Run a task, by its name or by the path of its JSON file.
 *
 * Errors: MNW_E_ARG for an unknown task, or for examples where it has none; MNW_E_NOENT, MNW_E_IO,
 *         MNW_E_FORMAT, MNW_E_LIMIT for its data; MNW_E_TEMPLATE; MNW_E_UNSUPPORTED without a tokenizer
 *         or, for compressed data, without libarchive; MNW_E_CANCELLED; MNW_E_NOMEM.
 * Allocs: the data, a session, and working memory, freed on return. */
MNW_API mnw_status mnw_eval_choice(mnw_model *m, const char *task, const mnw_choice_opts *opts,
                                   mnw_choice_result *out);

/* The tasks that are built in, and a line about each; NULL at the end. */
MNW_API const char *mnw_eval_task_name(size_t i);
MNW_API const char *mnw_eval_task_about(size_t i);

#ifdef __cplusplus
}
#endif
#endif
