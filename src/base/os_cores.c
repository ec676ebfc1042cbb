/* SPDX-License-Identifier: Apache-2.0
 *
 * os_cores.c - how many threads make sense here.
 *
 * A token is finished when its slowest thread is, so the right number is that of the equally fast
 * physical cores that we are allowed to use, and not more than the quota of our cgroup: a thread too
 * many waits for the scheduler while all others spin.  docs/adr/0002 has the reasons.
 */
#include <stdio.h>
#include <string.h>

#include "base/os.h"

#ifdef __linux__
#include <sched.h>
#endif
#include <fcntl.h>
#include <unistd.h>

enum { MAX_CORES = 1024 };

typedef struct core {
    bool     allowed;
    unsigned leader;     // lowest-numbered logical core of the same physical one
    uint64_t speed;      // capacity, else highest frequency, else 0: only compared
} core;

/* Read a small file below root; its text without the newline, "" if there is none. */
static void read_text(const char *root, const char *path, char *buf, size_t cap)
{
    char full[512];
    buf[0] = '\0';
    if ((size_t)snprintf(full, sizeof full, "%s%s", root, path) >= sizeof full) return;
    const int fd = open(full, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    const ssize_t n = read(fd, buf, cap - 1);
    close(fd);
    buf[n > 0 ? n : 0] = '\0';
    buf[strcspn(buf, "\n")] = '\0';
}

/* One decimal number at *at; false if there is none (or it is absurd). */
static bool take_number(const char **at, uint64_t *out)
{
    const char *p = *at;
    uint64_t    v = 0;
    if (*p < '0' || *p > '9') return false;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (v > UINT64_MAX / 100) return false;
        v = v * 10 + (uint64_t)(*p - '0');
    }
    *at = p;
    *out = v;
    return true;
}

static bool read_number(const char *root, const char *path, uint64_t *out)
{
    char        text[64];
    const char *at = text;
    read_text(root, path, text, sizeof text);
    return take_number(&at, out);
}

static bool read_core_number(const char *root, unsigned i, const char *leaf, uint64_t *out)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/%s", i, leaf);
    return read_number(root, path, out);
}

/* "0-3,8,10-11" as marks. */
static bool read_list(const char *text, bool mark[MAX_CORES])
{
    bool any = false;
    for (const char *p = text; *p;) {
        uint64_t a, b;
        if (!take_number(&p, &a)) break;
        b = a;
        if (*p == '-') {
            p++;
            if (!take_number(&p, &b)) break;
        }
        for (uint64_t i = a; i <= b && i < MAX_CORES; i++) mark[i] = any = true;
        if (*p == ',') p++;
    }
    return any;
}

static void mark_affinity(const uint64_t *affinity, bool mark[MAX_CORES])
{
    if (affinity) {
        for (unsigned i = 0; i < MAX_CORES; i++) mark[i] = affinity[i / 64] >> (i % 64) & 1;
        return;
    }
#ifdef __linux__
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        for (unsigned i = 0; i < MAX_CORES && i < CPU_SETSIZE; i++) mark[i] = CPU_ISSET(i, &set);
        return;
    }
#endif
    for (unsigned i = 0; i < MAX_CORES; i++) mark[i] = true;
}

static unsigned whole_cores(uint64_t quota, uint64_t period)
{
    if (period == 0) return 0;
    const uint64_t n = quota / period;
    return n < 1 ? 1 : n > MAX_CORES ? MAX_CORES : (unsigned)n;
}

/* The tightest quota from our own group up to the root: a parent's limit binds as well. */
static unsigned read_quota(const char *root)
{
    char group[256] = "", text[256], path[400];
    read_text(root, "/proc/self/cgroup", text, sizeof text);
    if (strncmp(text, "0::/", 4) == 0) snprintf(group, sizeof group, "%s", text + 3);

    unsigned best = 0;
    for (;;) {
        const size_t n = strlen(group);
        if (n && group[n - 1] == '/') group[n - 1] = '\0';
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", group);
        read_text(root, path, text, sizeof text);
        const char *at = text;
        uint64_t    quota, period;
        if (take_number(&at, &quota) && *at++ == ' ' && take_number(&at, &period)) {
            const unsigned q = whole_cores(quota, period);
            if (q && (!best || q < best)) best = q;
        }
        char *slash = strrchr(group, '/');
        if (!slash) break;
        *slash = '\0';
    }
    if (best) return best;

    uint64_t quota, period;   // version 1; -1 = none, which is no number here
    if (read_number(root, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", &quota) &&
        read_number(root, "/sys/fs/cgroup/cpu/cpu.cfs_period_us", &period))
        return whole_cores(quota, period);
    return 0;
}

static uint64_t core_speed(const char *root, unsigned i)
{
    uint64_t v;
    if (read_core_number(root, i, "cpu_capacity", &v)) return v;
    if (read_core_number(root, i, "cpufreq/cpuinfo_max_freq", &v)) return v;
    return 0;
}

static unsigned core_leader(const char *root, unsigned i)
{
    char        path[128], text[256];
    const char *at = text;
    uint64_t    first;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list", i);
    read_text(root, path, text, sizeof text);
    return take_number(&at, &first) && first < MAX_CORES ? (unsigned)first : i;
}

/* Physical cores of the fast kind.  Turbo bins differ by a few per cent between equal cores, and a
 * phone's prime core is worth its companions: whatever has three quarters of the best speed counts.
 * A phone with one prime core and slower companions takes those as well: two clusters up. */
static unsigned count_fast(const core *c, unsigned online)
{
    uint64_t best = 0;
    for (unsigned i = 0; i < online; i++)
        if (c[i].allowed && c[i].speed > best) best = c[i].speed;

    for (uint64_t quarters = 3;; quarters--) {
        bool     seen[MAX_CORES] = { false };
        unsigned n = 0;
        for (unsigned i = 0; i < online; i++) {
            if (!c[i].allowed || c[i].speed * 4 < best * quarters || seen[c[i].leader]) continue;
            seen[c[i].leader] = true;
            n++;
        }
        if (n > 1 || quarters <= 2) return n ? n : 1;
    }
}

void mn_os_cores(const char *root, const uint64_t *affinity, mn_cores *out)
{
    char text[1024];
    bool online[MAX_CORES] = { false }, mask[MAX_CORES] = { false }, set[MAX_CORES] = { false };
    core c[MAX_CORES];
    *out = (mn_cores){ 0 };

    read_text(root, "/sys/devices/system/cpu/online", text, sizeof text);
    if (!read_list(text, online)) {
        const long n = sysconf(_SC_NPROCESSORS_ONLN);
        for (long i = 0; i < (n > 0 ? n : 1) && i < MAX_CORES; i++) online[i] = true;
    }
    mark_affinity(affinity, mask);
    read_text(root, "/sys/fs/cgroup/cpuset.cpus.effective", text, sizeof text);
    if (!read_list(text, set)) memset(set, 1, sizeof set);

    unsigned last = 0;
    for (unsigned i = 0; i < MAX_CORES; i++) {
        c[i] = (core){ .allowed = online[i] && mask[i] && set[i], .leader = i };
        if (!online[i]) continue;
        last = i + 1;
        out->online++;
        out->allowed += c[i].allowed;
        if (!c[i].allowed) continue;
        c[i].leader = core_leader(root, i);
        c[i].speed = core_speed(root, i);
    }
    out->quota = read_quota(root);
    out->fast = count_fast(c, last);
    out->good = out->fast;
    if (out->quota && out->quota < out->good) out->good = out->quota;
}

unsigned mn_os_good_threads(void)
{
    mn_cores cores;
    mn_os_cores("", NULL, &cores);
    return cores.good;
}
