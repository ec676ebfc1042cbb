/* SPDX-License-Identifier: Apache-2.0
 *
 * minnow/ctx.h - the context: threads, hooks, instruction sets and the last error.
 *
 * Everything the library knows about its surroundings lives here; there is no other state.
 * Open one per application (or one per thread pool you want), close it last.
 *
 *     mnw_ctx *ctx;
 *     if (mnw_ctx_open(NULL, &ctx) != MNW_OK) return 1;      // no memory or no threads
 *     ...
 *     mnw_ctx_close(ctx);
 */
#ifndef MINNOW_CTX_H
#define MINNOW_CTX_H

#include <minnow/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mnw_ctx mnw_ctx;

typedef struct mnw_ctx_opts {
    size_t           size;        // sizeof(mnw_ctx_opts)
    uint32_t         threads;     // [fast cores allowed by affinity and cgroup quota]
    uint32_t         spin_us;     // how long a waiting thread spins before it sleeps   [50]
    const char      *cpu;         // highest tier to use: scalar avx2 avxvnni avx512 amx
                                  // neon dotprod i8mm                          [all there is]
    bool             strict;      // make each warning an error, MNW_E_STRICT
    bool             low_priority;// run the threads at the lowest priority the system has
    mnw_mem_fn      *mem;         // [malloc, realloc, free]
    void            *mem_user;
    mnw_log_fn      *log;         // [silent]
    void            *log_user;
    mnw_log_level    log_level;   // [MNW_LOG_WARN]
    mnw_warn_fn     *warn;        // [to the log]
    void            *warn_user;
    mnw_progress_fn *progress;    // [none]
    void            *progress_user;
} mnw_ctx_opts;

/* Open a context.
 *
 * Owns:   *out belongs to the caller; it must outlive every handle opened with it.
 * Errors: MNW_E_NOMEM; MNW_E_ARG for an unknown cpu tier or more than 256 threads; MNW_E_INTERNAL
 *         if the system refuses threads; MNW_E_STRICT for a tier this machine lacks.
 *         *out is NULL then; there is no error text. */
MNW_API mnw_status mnw_ctx_open(const mnw_ctx_opts *opts, mnw_ctx **out);

/* Text of the last failure of a call on this context or while opening a handle with it;
 * "" if none.  Says what, where, got and expected.  Valid until the next call. */
MNW_API const char *mnw_ctx_error(const mnw_ctx *ctx);

/* Threads that work on a token, the calling thread included. */
MNW_API uint32_t mnw_ctx_threads(const mnw_ctx *ctx);

/* The instruction-set tier in use, "avx512".  Never NULL. */
MNW_API const char *mnw_ctx_cpu(const mnw_ctx *ctx);

/* Bytes now taken through the memory hook, and the highest value so far. */
MNW_API size_t mnw_ctx_memory(const mnw_ctx *ctx, size_t *peak);

/* Close.  Every handle opened with `ctx` must be closed before.  NULL is allowed. */
MNW_API void mnw_ctx_close(mnw_ctx *ctx);

#ifdef __cplusplus
}
#endif
#endif
