/* SPDX-License-Identifier: Apache-2.0
 *
 * test_threads.c - the pool runs every thread once, meets at barriers, and sleeps when idle.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#include "base/context.h"
#include "test.h"

enum { MAX = 8, ROUNDS = 2000 };

/* ThreadSanitizer has a thread of its own, which wakes up ten times a second. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif
#ifdef __SANITIZE_THREAD__
enum { WATCHED = true };
#else
enum { WATCHED = false };
#endif

static mn_pool *open_pool(mn_mem *mem, unsigned count)
{
    mn_pool *p;
    mn_mem_init(mem, NULL, NULL);
    OK(mn_pool_open(mem, count, 20, false, &p));
    return p;
}

typedef struct tally {
    unsigned  runs[MAX];
    unsigned  rounds;
    uint64_t  value[2][MAX];   // written in one round, read by all in the next
    uint64_t  wrong[MAX];
} tally;

static void one_round_after_another(void *user, mn_team *t)
{
    tally *s = user;
    s->runs[t->id]++;
    for (unsigned r = 0; r < s->rounds; r++) {
        s->value[r % 2][t->id] = r * 100 + t->id;
        mn_barrier(t);
        for (unsigned i = 0; i < t->count; i++) s->wrong[t->id] += s->value[r % 2][i] != r * 100 + i;
    }
}

TEST(writes_before_a_barrier_are_seen_by_all_after_it)
{
    for (unsigned count = 1; count <= MAX; count++) {
        mn_mem   mem;
        mn_pool *p = open_pool(&mem, count);
        tally    s = { .rounds = ROUNDS };
        mn_pool_run(p, one_round_after_another, &s);
        for (unsigned i = 0; i < count; i++) {
            EQ(s.runs[i], 1);
            EQ(s.wrong[i], 0);
        }
        mn_pool_close(p);
        EQ(mem.live, 0);
    }
}

TEST(many_short_jobs_with_different_barriers_all_finish)
{
    mn_mem   mem;
    mn_pool *p = open_pool(&mem, 4);
    tally    s = { 0 };
    for (unsigned i = 0; i < ROUNDS; i++) {
        s.rounds = i % 5;
        mn_pool_run(p, one_round_after_another, &s);
    }
    for (unsigned i = 0; i < 4; i++) {
        EQ(s.runs[i], ROUNDS);
        EQ(s.wrong[i], 0);
    }
    mn_pool_close(p);
}

TEST(barriers_are_counted)
{
    mn_mem         mem;
    mn_pool       *p = open_pool(&mem, 2);
    tally          s = { .rounds = 7 };
    const uint64_t before = mn_pool_barriers(p);
    mn_pool_run(p, one_round_after_another, &s);
    EQ(mn_pool_barriers(p) - before, 7 + 1);   // and the one that ends the job
    mn_pool_close(p);
}

TEST(without_a_pool_a_job_runs_here)
{
    tally s = { .rounds = 3 };
    mn_pool_run(NULL, one_round_after_another, &s);
    EQ(s.runs[0], 1);
    EQ(s.wrong[0], 0);
    mn_pool_close(NULL);
}

TEST(a_split_covers_everything_once_in_whole_runs)
{
    for (size_t n = 0; n < 200; n++) {
        for (size_t grain = 1; grain <= 64; grain *= 4) {
            for (unsigned count = 1; count <= 5; count++) {
                size_t at = 0;
                for (unsigned id = 0; id < count; id++) {
                    size_t        a, b;
                    const mn_team t = { .id = id, .count = count };
                    mn_split(n, grain, &t, &a, &b);
                    EQ(a, at);
                    YES(b >= a && (b == n || b % grain == 0));
                    at = b;
                }
                EQ(at, n);
            }
        }
    }
}

static double processor_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static long switches(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_nvcsw + u.ru_nivcsw;
}

static void look_at_signals(void *user, mn_team *t)
{
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    ((int *)user)[t->id] = sigismember(&now, SIGINT);
}

TEST(signals_stay_with_the_applications_own_threads)
{
    mn_mem   mem;
    mn_pool *p = open_pool(&mem, 3);
    int      blocked[3] = { -1, -1, -1 };
    mn_pool_run(p, look_at_signals, blocked);
    EQ(blocked[0], 0);
    EQ(blocked[1], 1);
    EQ(blocked[2], 1);
    mn_pool_close(p);
}

TEST(an_idle_pool_costs_nothing)
{
    mn_mem   mem;
    mn_pool *p = open_pool(&mem, 4);
    tally    s = { .rounds = 10 };
    mn_pool_run(p, one_round_after_another, &s);
    nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);   // they fall asleep
    const double before = processor_seconds();
    const long   switched = switches();
    nanosleep(&(struct timespec){ .tv_sec = 1 }, NULL);
    YES(processor_seconds() - before < 0.005);
    if (!WATCHED) YES(switches() - switched < 10);
    mn_pool_close(p);
}

TEST(a_context_says_what_it_uses)
{
    mnw_ctx *ctx;
    OK(mnw_ctx_open(&(mnw_ctx_opts){ .threads = 3, .cpu = "scalar" }, &ctx));
    EQ(mnw_ctx_threads(ctx), 3);
    EQ_STR(mnw_ctx_cpu(ctx), "scalar");
    EQ_STR(mnw_ctx_error(ctx), "");
    size_t peak;
    YES(mnw_ctx_memory(ctx, &peak) > 0 && peak > 0);
    mnw_ctx_close(ctx);
    mnw_ctx_close(NULL);

    EQ(mnw_ctx_open(&(mnw_ctx_opts){ .cpu = "mmx" }, &ctx), MNW_E_ARG);
    EQ(mnw_ctx_open(&(mnw_ctx_opts){ .threads = MN_MAX_THREADS + 1 }, &ctx), MNW_E_ARG);
    EQ(mnw_ctx_open(NULL, NULL), MNW_E_ARG);
    OK(mnw_ctx_open(NULL, &ctx));
    YES(mnw_ctx_threads(ctx) >= 1);
    mnw_ctx_close(ctx);
}

typedef struct heard {
    mnw_warning warning;
    char        text[256], line[256];
} heard;

static void on_warn(void *user, mnw_warning w, const char *text)
{
    heard *h = user;
    h->warning = w;
    snprintf(h->text, sizeof h->text, "%s", text);
}

static void on_log(void *user, mnw_log_level level, const char *line)
{
    heard *h = user;
    snprintf(h->line, sizeof h->line, "%d %s", level, line);
}

typedef struct memory {
    size_t live, calls, fail_at;
} memory;

static void *failing_hook(void *user, void *ptr, size_t old_size, size_t new_size)
{
    memory *m = user;
    if (new_size == 0) {
        m->live -= old_size;
        free(ptr);
        return NULL;
    }
    if (++m->calls == m->fail_at) return NULL;
    m->live += new_size - old_size;
    return realloc(ptr, new_size);
}

TEST(a_context_that_gets_no_memory_leaves_none_behind)
{
    memory m = { 0 };
    for (m.fail_at = 1;; m.fail_at++) {
        mnw_ctx *ctx;
        m.calls = 0;
        const mnw_status st = mnw_ctx_open(
            &(mnw_ctx_opts){ .threads = 3, .mem = failing_hook, .mem_user = &m }, &ctx);
        if (st == MNW_OK) {
            mnw_ctx_close(ctx);
            EQ(m.live, 0);
            break;
        }
        EQ(st, MNW_E_NOMEM);
        assert_null(ctx);
        EQ(m.live, 0);
    }
    EQ(m.fail_at, 3);   // the handle and the pool
}

TEST(warnings_reach_the_hook_or_the_log_and_are_errors_when_strict)
{
    heard    h = { 0 };
    mnw_ctx *ctx;
    OK(mnw_ctx_open(&(mnw_ctx_opts){ .threads = 1, .warn = on_warn, .warn_user = &h }, &ctx));
    OK(mn_warn(ctx, MNW_WARNING_CONTEXT, &ctx->err, "context %d", 7));
    EQ(h.warning, MNW_WARNING_CONTEXT);
    EQ_STR(h.text, "context 7");
    mnw_ctx_close(ctx);

    OK(mnw_ctx_open(&(mnw_ctx_opts){ .threads = 1, .log = on_log, .log_user = &h }, &ctx));
    OK(mn_warn(ctx, MNW_WARNING_CONTEXT, &ctx->err, "context 8"));
    EQ_STR(h.line, "3 warning: context 8 (context)");
    mn_log(ctx, MNW_LOG_INFO, "too quiet");
    EQ_STR(h.line, "3 warning: context 8 (context)");
    mn_log(ctx, MNW_LOG_ERROR, "loud");
    EQ_STR(h.line, "4 loud");
    mnw_ctx_close(ctx);

    OK(mnw_ctx_open(&(mnw_ctx_opts){ .threads = 1, .strict = true }, &ctx));
    EQ(mn_warn(ctx, MNW_WARNING_CONTEXT, &ctx->err, "context 9"), MNW_E_STRICT);
    EQ_STR(mnw_ctx_error(ctx), "context 9");
    mnw_ctx_close(ctx);
}

TEST(a_shorter_option_struct_leaves_the_rest_at_its_default)
{
    struct {
        size_t   size;
        uint32_t a, b;
    } full, given = { .size = offsetof(__typeof__(full), b), .a = 1, .b = 2 };
    mn_opts_copy(&full, sizeof full, &given);
    EQ(full.a, 1);
    EQ(full.b, 0);
    given.size = 0;
    mn_opts_copy(&full, sizeof full, &given);
    EQ(full.b, 2);
    mn_opts_copy(&full, sizeof full, NULL);
    EQ(full.a, 0);
}

int main(void)
{
    return RUN(T(writes_before_a_barrier_are_seen_by_all_after_it),
               T(many_short_jobs_with_different_barriers_all_finish), T(barriers_are_counted),
               T(without_a_pool_a_job_runs_here),
               T(a_split_covers_everything_once_in_whole_runs),
               T(signals_stay_with_the_applications_own_threads),
               T(an_idle_pool_costs_nothing),
               T(a_context_says_what_it_uses),
               T(a_context_that_gets_no_memory_leaves_none_behind),
               T(warnings_reach_the_hook_or_the_log_and_are_errors_when_strict),
               T(a_shorter_option_struct_leaves_the_rest_at_its_default));
}
