/* SPDX-License-Identifier: Apache-2.0
 *
 * engine.h - from options to a context, a model, a session and a sampler, and the talk about them.
 *
 * Commands open what they need, in this order, and close once; a zeroed engine can be closed.
 */
#ifndef CLI_ENGINE_H
#define CLI_ENGINE_H

#include <jansson.h>
#include <minnow/minnow.h>

#include "cli/opt.h"
#include "cli/say.h"

typedef struct cli_engine {
    const cli_common *common;
    mnw_ctx *ctx;
    mnw_model *model;
    mnw_session *session;
    mnw_sampler *sampler;
    json_t *warnings; // [{"id", "text"}]
    bool bars;        // show progress, of work that counts bytes
    cli_bar bar;      // of the work that goes on now
    char doing[32];   // its name
} cli_engine;

typedef struct cli_model_args {
    uint32_t n_ctx, kv, precision, backend;
} cli_model_args;

typedef struct cli_sample_args {
    uint32_t max_tokens, top_k;
    float temp, top_p, min_p, repeat_penalty;
    uint64_t seed;
    cli_list stop;
    bool think, no_think;
} cli_sample_args;

/* Rows for the option table of a command whose struct `s` has members `engine` and `sample`. */
/* clang-format off */
#define CLI_MODEL_OPTS(s)                                                                          \
    CLI_VALUE('c', "ctx", CLI_U32, offsetof(s, engine.n_ctx), "N", "positions the context can hold",\
              .min = 1, .max = 1 << 24, .env = "MINNOW_CTX"),                                      \
    CLI_VALUE(0, "kv", CLI_WORD, offsetof(s, engine.kv), "TYPE", "numbers in the KV cache",        \
              .words = "i8 f16 f32"),                                                              \
    CLI_VALUE(0, "precision", CLI_WORD, offsetof(s, engine.precision), "MODE",                     \
              "activations in 8 bits, in 15, or as the file asks",                               \
              .words = "fast exact auto"),                            \
    CLI_VALUE(0, "backend", CLI_WORD, offsetof(s, engine.backend), "NAME", "who computes",         \
              .words = "cpu ref")

#define CLI_SAMPLE_OPTS(s)                                                                         \
    CLI_VALUE('n', "max-tokens", CLI_U32, offsetof(s, sample.max_tokens), "N",                     \
              "stop after this many tokens", .min = 1),                                            \
    CLI_VALUE(0, "temp", CLI_F32, offsetof(s, sample.temp), "T",                                   \
              "temperature; 0 always takes the likeliest", .max = 100),                            \
    CLI_VALUE(0, "top-k", CLI_U32, offsetof(s, sample.top_k), "K",                                 \
              "draw from the K likeliest; 0 = all"),                                               \
    CLI_VALUE(0, "top-p", CLI_F32, offsetof(s, sample.top_p), "P",                                 \
              "draw from the likeliest that sum up to P", .max = 1),                               \
    CLI_VALUE(0, "min-p", CLI_F32, offsetof(s, sample.min_p), "P",                                 \
              "drop what is below P times the likeliest", .max = 1),                               \
    CLI_VALUE(0, "repeat-penalty", CLI_F32, offsetof(s, sample.repeat_penalty), "X",               \
              "divide the logits of recent tokens; 1 = off", .max = 10),                           \
    CLI_VALUE('s', "seed", CLI_U64, offsetof(s, sample.seed), "S", "seed of the draws"),           \
    CLI_VALUE(0, "stop", CLI_LIST, offsetof(s, sample.stop), "TEXT",                               \
              "stop at this text; up to 16 times"),                                                \
    CLI_SWITCH(0, "think", offsetof(s, sample.think), "let the model think first, if it can"),     \
    CLI_SWITCH(0, "no-think", offsetof(s, sample.no_think), "answer without thinking")
/* clang-format on */

/* Each returns an exit code after saying what went wrong. */
int cli_open_ctx(cli_engine *e, const cli_common *common);
int cli_open_model(cli_engine *e, const char *path, const cli_model_args *a);
int cli_open_session(cli_engine *e, const cli_model_args *a);
int cli_open_sampler(cli_engine *e, const cli_sample_args *a);
void cli_close(cli_engine *e);

/* Finish the line of a progress bar, if there is one. */
void cli_progress_end(cli_engine *e);

/* Say why a call on the context (or, if it has the text, the session) failed; `what` names the
 * object.  Returns the exit code. */
int cli_fail(const cli_engine *e, mnw_status st, const char *what);

mnw_thinking cli_thinking(const cli_sample_args *a);

/* Ids of a text or of messages; the caller frees *ids. */
int cli_encode(const cli_engine *e, const mnw_tokenizer *tok, const char *text, size_t len,
               unsigned flags, int32_t **ids, size_t *n);
int cli_encode_chat(const cli_engine *e, const json_t *messages, const mnw_chat_opts *opts,
                    int32_t **ids, size_t *n);

/* Ids of a prompt from the command line ("-" = stdin): raw, or as the user's message in a chat. */
int cli_encode_prompt(const cli_engine *e, const char *prompt, const char *system, bool raw,
                      mnw_thinking thinking, int32_t **ids, size_t *n);

/* Bytes as a JSON string; what is not UTF-8 becomes U+FFFD. */
json_t *cli_json_text(const char *bytes, size_t n);

/* Print a JSON value on one line and drop it. */
int cli_print_json(json_t *value);

/* Generate with the answer streaming to stdout, unless `text` is given: then it goes there.  *why is
 * the exit code.  Interrupts are handled: the first stops the answer. */
typedef struct cli_answer {
    char *text; // the caller frees it
    size_t len, cap;
    bool print, terminal, broken;
} cli_answer;

int cli_generate(cli_engine *e, const cli_sample_args *a, const int32_t *ids, size_t n,
                 cli_answer *answer, mnw_generate_stats *stats);

/* The line of figures, on stderr; and the same as JSON members. */
void cli_figures(const mnw_generate_stats *s);
void cli_figures_json(json_t *object, const cli_engine *e, const mnw_generate_stats *s);

/* Ctrl-C: the first stops `s` (NULL: only remembers), the second ends the program.  When `idle`,
 * the first ends it. */
void cli_interrupt_watch(mnw_session *s, bool idle);
bool cli_interrupted(void);

#endif
