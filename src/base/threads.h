/* SPDX-License-Identifier: Apache-2.0
 *
 * threads.h - SPMD: every thread of the pool walks through one job together.
 *
 * A job is a function run once by each of N threads at the same time, the caller being thread 0; it
 * divides the work by thread number and meets the others at barriers.  A whole token is one job.
 * Waiting threads spin for some microseconds, then sleep on a futex, so an idle pool costs nothing.
 *
 *     static void job(void *user, mn_team *t)
 *     {
 *         part_one(user, t->id, t->count);
 *         mn_barrier(t);                        // nobody goes on before everybody is here
 *         part_two(user, t->id, t->count);
 *     }
 *     mn_pool_run(pool, job, user);             // returns when all have returned
 */
#ifndef MN_BASE_THREADS_H
#define MN_BASE_THREADS_H

#include "base/alloc.h"

enum { MN_MAX_THREADS = 256 };

typedef struct mn_pool mn_pool;

typedef struct mn_team {
    unsigned id;      // 0 .. count-1; 0 is the thread that called mn_pool_run
    unsigned count;
    mn_pool *pool;    // NULL: one thread, barriers do nothing
} mn_team;

typedef void mn_job_fn(void *user, mn_team *team);

/* Open a pool of `count` threads, the caller's included.
 *
 * Errors: MNW_E_NOMEM; MNW_E_INTERNAL if the system refuses threads. */
mnw_status mn_pool_open(mn_mem *mem, unsigned count, unsigned spin_us, bool low_priority,
                        mn_pool **out);

/* Run `fn` on all threads; pool NULL runs it on this one alone.  Not reentrant. */
void mn_pool_run(mn_pool *pool, mn_job_fn *fn, void *user);

/* Wait until all threads of the team are here.  Writes before it are seen by all after it. */
void mn_barrier(mn_team *t);

/* The half-open range of thread `id` when n items are divided in runs of `grain`. */
void mn_split(size_t n, size_t grain, const mn_team *t, size_t *begin, size_t *end);

/* Barriers passed since the pool was opened (thread 0's count): tests count them. */
uint64_t mn_pool_barriers(const mn_pool *pool);

/* Close.  NULL is allowed. */
void mn_pool_close(mn_pool *pool);

#endif
