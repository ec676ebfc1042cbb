/* SPDX-License-Identifier: Apache-2.0
 *
 * minnow/base.h - status codes, hooks and the conventions every other header relies on.
 *
 * Unless a function says otherwise:
 *   - pointers are borrowed for the call and must not be NULL (MNW_E_ARG);
 *   - a handle is used by one thread at a time;
 *   - nothing is allocated;
 *   - sizes are in bytes, text is UTF-8 and need not end in NUL where a length is given.
 *
 * Option structs start with their own size.  Zero in any field means the default given in
 * brackets, and a NULL options pointer means all defaults:
 *
 *     mnw_session_open(model, &(mnw_session_opts){ .size = sizeof(mnw_session_opts),
 *                                                  .n_ctx = 2048 }, &s);
 *
 * A size of 0 is read as "the struct of this header".
 */
#ifndef MINNOW_BASE_H
#define MINNOW_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) && defined(MNW_SHARED)
#ifdef MNW_BUILD
#define MNW_API __declspec(dllexport)
#else
#define MNW_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define MNW_API __attribute__((visibility("default")))
#else
#define MNW_API
#endif

#define MNW_VERSION_MAJOR 0
#define MNW_VERSION_MINOR 1
#define MNW_VERSION_PATCH 0

/* X(name, number, text).  Numbers are pinned; the gaps leave room for relatives. */
#define MNW_STATUS_LIST(X)                                        \
    X(OK, 0, "ok")                                                \
    X(E_ARG, 1, "bad argument")                                   \
    X(E_STATE, 2, "not possible in this state")                   \
    X(E_BUSY, 3, "in use by somebody else, try later")            \
    X(E_FORMAT, 10, "malformed data")                             \
    X(E_UNSUPPORTED, 11, "well formed, but not supported")        \
    X(E_CORRUPT, 12, "checksum or identity does not match")       \
    X(E_TEMPLATE, 13, "chat template failed")                     \
    X(E_LIMIT, 14, "a named limit was exceeded")                  \
    X(E_NOMEM, 20, "out of memory")                               \
    X(E_FULL, 30, "context is full")                              \
    X(E_BUFFER, 31, "the caller's buffer is too small")           \
    X(E_CANCELLED, 40, "cancelled")                               \
    X(E_NOENT, 50, "cannot open")                                 \
    X(E_IO, 51, "input or output failed")                         \
    X(E_NETWORK, 52, "network failed")                            \
    X(E_STRICT, 60, "a warning, treated as an error")             \
    X(E_INTERNAL, 90, "internal error, please report")

typedef enum mnw_status {
#define X(name, number, text) MNW_##name = number,
    MNW_STATUS_LIST(X)
#undef X
} mnw_status;

/* Describe a status in a few words.  Never NULL. */
MNW_API const char *mnw_status_text(mnw_status status);

/* The version of the library that is linked, "0.1.0". */
MNW_API const char *mnw_version(void);

typedef enum mnw_log_level {
    MNW_LOG_DEFAULT = 0,   // as an option: MNW_LOG_WARN
    MNW_LOG_DEBUG = 1,
    MNW_LOG_INFO = 2,
    MNW_LOG_WARN = 3,
    MNW_LOG_ERROR = 4,
    MNW_LOG_SILENT = 5,
} mnw_log_level;

/* X(name, number, id).  What was degraded; the id is stable and goes into --json output. */
#define MNW_WARNING_LIST(X)                                                         \
    X(TOKEN_DUPLICATE, 1, "token-duplicate")       /* two ids share one piece */    \
    X(PRE_TOKENIZER, 2, "pre-tokenizer")           /* missing, a default is used */ \
    X(NO_TEMPLATE, 3, "no-chat-template")          /* a plain one is used */        \
    X(THREADS, 10, "threads")                      /* fewer than asked for */       \
    X(AFFINITY, 11, "affinity")                    /* could not be set */           \
    X(CPU, 12, "cpu")                              /* asked-for tier not present */ \
    X(CONTEXT, 20, "context")                      /* smaller than asked for */     \
    X(TRUNCATED, 21, "truncated")                  /* input was shortened */        \
    X(TYPE_FALLBACK, 30, "type-fallback")          /* a tensor kept another type */ \
    X(MAPPING, 31, "mapping")                      /* read instead of mapped */     \
    X(SAMPLER, 40, "sampler")                      /* an option has no effect */    \
    X(METADATA, 50, "metadata")                    /* odd, and read leniently */

typedef enum mnw_warning {
    MNW_WARNING_NONE = 0,
#define X(name, number, id) MNW_WARNING_##name = number,
    MNW_WARNING_LIST(X)
#undef X
} mnw_warning;

/* The stable id of a warning, "threads".  Never NULL. */
MNW_API const char *mnw_warning_id(mnw_warning warning);

/* Memory hook: allocate (ptr NULL), free (new_size 0) or resize, like realloc.
 *
 * old_size is what was asked for before.  Results are aligned for any C type.
 * Threads: may be called from any thread. */
typedef void *mnw_mem_fn(void *user, void *ptr, size_t old_size, size_t new_size);

/* Log hook: one finished line without newline; called on the thread that called the API. */
typedef void mnw_log_fn(void *user, mnw_log_level level, const char *line);

/* Warning hook: something works less well than asked.  `text` says what, where and why. */
typedef void mnw_warn_fn(void *user, mnw_warning warning, const char *text);

/* Progress hook: `done` of `total` units; total 0 = unknown.  Return false to cancel. */
typedef bool mnw_progress_fn(void *user, const char *what, uint64_t done, uint64_t total);

#ifdef __cplusplus
}
#endif
#endif
