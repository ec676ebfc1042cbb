/* SPDX-License-Identifier: Apache-2.0
 *
 * context.c - the context: options, threads, log, warnings, progress.
 */
#include "base/context.h"

#include <stdio.h>
#include <string.h>

void mn_opts_copy(void *full, size_t full_size, const void *opts)
{
    memset(full, 0, full_size);
    if (!opts) return;
    size_t size;
    memcpy(&size, opts, sizeof size);
    if (size == 0 || size > full_size) size = full_size;
    memcpy(full, opts, size);
}

void mn_log(const mnw_ctx *ctx, mnw_log_level level, const char *fmt, ...)
{
    if (!ctx->opts.log || level < ctx->opts.log_level) return;

    char    line[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    ctx->opts.log(ctx->opts.log_user, level, line);
}

mnw_status mn_warn(const mnw_ctx *ctx, mnw_warning w, mn_err *err, const char *fmt, ...)
{
    mn_err  text = { 0 };
    char    line[MN_ERR_TEXT];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    mn_err_set(&text, MNW_E_STRICT, "%s", line);   // cleans the bytes

    if (ctx->opts.warn) ctx->opts.warn(ctx->opts.warn_user, w, text.text);
    else mn_log(ctx, MNW_LOG_WARN, "warning: %s (%s)", text.text, mnw_warning_id(w));
    if (!ctx->opts.strict) return MNW_OK;
    MN_FAIL(err, MNW_E_STRICT, "%s", text.text);
}

mnw_status mn_progress(const mnw_ctx *ctx, mn_err *err, const char *what, uint64_t done,
                       uint64_t total)
{
    if (!ctx->opts.progress || ctx->opts.progress(ctx->opts.progress_user, what, done, total))
        return MNW_OK;
    MN_FAIL(err, MNW_E_CANCELLED, "%s: cancelled", what);
}

mnw_status mnw_ctx_open(const mnw_ctx_opts *opts, mnw_ctx **out)
{
    if (!out) return MNW_E_ARG;
    *out = NULL;

    mnw_ctx_opts o;
    mn_opts_copy(&o, sizeof o, opts);
    unsigned mask = ~0u;
    if (o.threads > MN_MAX_THREADS) return MNW_E_ARG;
    if (o.cpu && !mn_cpu_mask(o.cpu, &mask)) return MNW_E_ARG;
    if (o.log_level == MNW_LOG_DEFAULT) o.log_level = MNW_LOG_WARN;
    if (o.spin_us == 0) o.spin_us = 50;

    mn_mem first;
    mn_mem_init(&first, o.mem, o.mem_user);
    mnw_ctx *ctx = mn_alloc_zero(&first, 1, sizeof *ctx);
    if (!ctx) return MNW_E_NOMEM;
    mn_mem_init(&ctx->mem, o.mem, o.mem_user);
    ctx->opts = o;

    const unsigned have = mn_cpu_detect();
    ctx->cpu = have & mask;
    mnw_status st = MNW_OK;
    if (o.cpu && !mn_cpu_has_tier(have, o.cpu)) {
        st = mn_warn(ctx, MNW_WARNING_CPU, &ctx->err, "cpu %s: not on this machine, using %s", o.cpu,
                     mn_cpu_name(ctx->cpu));
    }

    ctx->threads = o.threads ? o.threads : mn_os_good_threads();
    if (ctx->threads > MN_MAX_THREADS) ctx->threads = MN_MAX_THREADS;
    if (st == MNW_OK && ctx->threads > 1) {
        st = mn_pool_open(&ctx->mem, ctx->threads, o.spin_us, o.low_priority, &ctx->pool);
    }
    if (st != MNW_OK) {
        mnw_ctx_close(ctx);
        return st;
    }
    *out = ctx;
    return MNW_OK;
}

const char *mnw_ctx_error(const mnw_ctx *ctx)
{
    return ctx ? ctx->err.text : "";
}

uint32_t mnw_ctx_threads(const mnw_ctx *ctx)
{
    return ctx->threads;
}

const char *mnw_ctx_cpu(const mnw_ctx *ctx)
{
    return mn_cpu_name(ctx->cpu);
}

size_t mnw_ctx_memory(const mnw_ctx *ctx, size_t *peak)
{
    if (peak) *peak = atomic_load_explicit(&ctx->mem.peak, memory_order_relaxed);
    return atomic_load_explicit(&ctx->mem.live, memory_order_relaxed);
}

void mnw_ctx_close(mnw_ctx *ctx)
{
    if (!ctx) return;
    mn_pool_close(ctx->pool);
    mn_mem first;   // the handle itself was taken before ctx->mem existed
    mn_mem_init(&first, ctx->opts.mem, ctx->opts.mem_user);
    mn_free(&first, ctx);
}
