/* SPDX-License-Identifier: Apache-2.0
 *
 * threads.c - the pool: one job at a time, everybody in it, barriers in between.
 *
 * Two counters do all the work, each alone in its cache lines:
 *
 *      start     jobs begun; workers wait for it to move        (caller -> workers)
 *      arrived   arrivals at barriers, never reset: barrier k is passed when it reaches k * count
 *      phase     barriers passed; waiters wait for it to move   (last to arrive -> the others)
 *
 * The end of a job is a barrier too, so the caller's return means that everybody is out.  A wait
 * spins for `spin_us`, then sleeps in the kernel; `sleepers` tells the waker whether a wake-up call
 * is needed.  Sleeper and waker both write their own word and then read the other's, sequentially
 * consistent, so one of them always sees the other.
 */
#include "base/threads.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "base/os.h"

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

enum { LINE = 128 };   // two cache lines: Intel fetches them in pairs, Apple's are that long

typedef struct gate {   // a word that only grows, and those who sleep until it does
    _Alignas(LINE) atomic_uint word;
    atomic_uint sleepers;
} gate;

struct mn_pool {
    gate                       start, phase;
    _Alignas(LINE) atomic_uint arrived;
    _Alignas(LINE) unsigned    count;
    unsigned                   spin_us;
    bool                       low_priority;
    bool                       stop;         // written before `start` moves
    mn_job_fn                 *fn;           // the same
    void                      *user;
    mn_mem                    *mem;
    void                      *raw;          // the block this lies in
    unsigned                   running;      // threads that were created
    struct worker {
        mn_team   team;
        pthread_t thread;
    } worker[];
};

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

static void sleep_until_moved(gate *g, unsigned from)
{
    atomic_fetch_add(&g->sleepers, 1);
    while (atomic_load(&g->word) == from) {
#ifdef __linux__
        syscall(SYS_futex, &g->word, FUTEX_WAIT_PRIVATE, from, NULL, NULL, 0);
#else
        nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
#endif
    }
    atomic_fetch_sub(&g->sleepers, 1);
}

/* Wait until the word is no longer `from`.  Reading the clock costs as much as a few pauses, so it is
 * asked every 64 of them. */
static void gate_wait(const mn_pool *p, gate *g, unsigned from)
{
    double until = 0;
    for (unsigned i = 1;; i++) {
        if (atomic_load_explicit(&g->word, memory_order_acquire) != from) return;
        pause_briefly();
        if (i % 64) continue;
        const double now = mn_os_seconds();
        if (until == 0) until = now + (double)p->spin_us * 1e-6;
        else if (now > until) break;
        if (i % 2048 == 0) sched_yield();   // whoever we wait for may have lost its processor
    }
    sleep_until_moved(g, from);
}

static void gate_open(gate *g)
{
    atomic_fetch_add(&g->word, 1);
    if (atomic_load(&g->sleepers) == 0) return;
#ifdef __linux__
    syscall(SYS_futex, &g->word, FUTEX_WAKE_PRIVATE, MN_MAX_THREADS, NULL, NULL, 0);
#endif
}

void mn_barrier(mn_team *t)
{
    mn_pool *p = t->pool;
    if (!p) return;
    const unsigned phase = atomic_load_explicit(&p->phase.word, memory_order_relaxed);
    const unsigned n = atomic_fetch_add_explicit(&p->arrived, 1, memory_order_acq_rel) + 1;
    if (n == p->count * (phase + 1)) gate_open(&p->phase);   // both wrap alike
    else gate_wait(p, &p->phase, phase);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    mn_pool       *p = w->team.pool;
    if (p->low_priority) mn_os_low_priority();
    for (unsigned seen = 0;; seen++) {
        gate_wait(p, &p->start, seen);
        if (p->stop) return NULL;
        p->fn(p->user, &w->team);
        mn_barrier(&w->team);
    }
}

/* Workers take no signals: those are for the application's threads, and one that waits for input must
 * be the one whose read() Ctrl-C interrupts. */
static bool start_workers(mn_pool *p)
{
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return false;
    while (p->running + 1 < p->count) {
        struct worker *w = &p->worker[p->running + 1];
        if (pthread_create(&w->thread, NULL, work, w) != 0) break;
        p->running++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return p->running + 1 == p->count;
}

mnw_status mn_pool_open(mn_mem *mem, unsigned count, unsigned spin_us, bool low_priority,
                        mn_pool **out)
{
    *out = NULL;
    const size_t size = sizeof(mn_pool) + count * sizeof(struct worker);
    void        *raw = mn_alloc_zero(mem, 1, size + LINE);   // which is aligned to less than LINE
    if (!raw) return MNW_E_NOMEM;
    mn_pool *p = (mn_pool *)(((uintptr_t)raw + LINE - 1) & ~(uintptr_t)(LINE - 1));
    p->mem = mem;
    p->raw = raw;
    p->count = count;
    p->spin_us = spin_us;
    p->low_priority = low_priority;
    for (unsigned i = 0; i < count; i++) {
        p->worker[i].team = (mn_team){ .id = i, .count = count, .pool = p };
    }
    if (!start_workers(p)) {
        mn_pool_close(p);
        return MNW_E_INTERNAL;
    }
    *out = p;
    return MNW_OK;
}

void mn_pool_run(mn_pool *p, mn_job_fn *fn, void *user)
{
    if (!p) {
        mn_team alone = { .id = 0, .count = 1, .pool = NULL };
        fn(user, &alone);
        return;
    }
    p->fn = fn;
    p->user = user;
    gate_open(&p->start);
    fn(user, &p->worker[0].team);
    mn_barrier(&p->worker[0].team);
}

void mn_split(size_t n, size_t grain, const mn_team *t, size_t *begin, size_t *end)
{
    const size_t runs = n / grain + (n % grain != 0);
    const size_t each = runs / t->count, rest = runs % t->count;
    const size_t first = t->id * each + (t->id < rest ? t->id : rest);
    const size_t last = first + each + (t->id < rest);
    *begin = first * grain < n ? first * grain : n;
    *end = last * grain < n ? last * grain : n;
}

uint64_t mn_pool_barriers(const mn_pool *p)
{
    return p ? atomic_load_explicit(&p->phase.word, memory_order_relaxed) : 0;
}

void mn_pool_close(mn_pool *p)
{
    if (!p) return;
    p->stop = true;
    gate_open(&p->start);
    for (unsigned i = 1; i <= p->running; i++) pthread_join(p->worker[i].thread, NULL);
    mn_free(p->mem, p->raw);
}
