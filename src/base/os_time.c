/* SPDX-License-Identifier: Apache-2.0
 *
 * os_time.c - clocks and priority.
 */
#include <sys/resource.h>
#include <time.h>

#include "base/os.h"

double mn_os_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int64_t mn_os_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec;
}

void mn_os_low_priority(void)
{
    setpriority(PRIO_PROCESS, 0, 19);   // on Linux: this thread alone
}
