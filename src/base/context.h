/* SPDX-License-Identifier: Apache-2.0
 *
 * context.h - the inside of mnw_ctx, and how the library speaks: log lines, warnings, progress.
 */
#ifndef MN_BASE_CONTEXT_H
#define MN_BASE_CONTEXT_H

#include <minnow/ctx.h>

#include "base/alloc.h"
#include "base/cpu.h"
#include "base/err.h"
#include "base/os.h"
#include "base/threads.h"

struct mnw_ctx {
    mn_mem       mem;
    mnw_ctx_opts opts;     // defaults filled in
    unsigned     cpu;      // MN_CPU_* bits in use
    mn_pool     *pool;     // NULL with one thread
    uint32_t     threads;
    mn_err       err;      // of the last call that failed
};

/* Log one line if anybody wants it. */
void mn_log(const mnw_ctx *ctx, mnw_log_level level, const char *fmt, ...) MN_PRINTF(3, 4);

/* Something works less well than asked.  Tells the warning hook (or the log) and returns MNW_OK;
 * under opts.strict records it in `err` and returns MNW_E_STRICT: MN_TRY it. */
mnw_status mn_warn(const mnw_ctx *ctx, mnw_warning w, mn_err *err, const char *fmt, ...)
    MN_PRINTF(4, 5);

/* Report progress; MNW_E_CANCELLED if the hook says so. */
mnw_status mn_progress(const mnw_ctx *ctx, mn_err *err, const char *what, uint64_t done,
                       uint64_t total);

/* Copy an option struct whose first field is its size over a zeroed one of `full` bytes: a caller
 * built against an older header passes a shorter one, NULL passes nothing. */
void mn_opts_copy(void *full, size_t full_size, const void *opts);

#endif
