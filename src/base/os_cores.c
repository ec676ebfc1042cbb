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
    uint64_t speed;      // only compared with others: see core_speed
} core;

/* Read a small file below root; all its text, "" if there is none. */
static void read_lines(const char *root, const char *path, char *buf, size_t cap)
{
    char full[1024];
    buf[0] = '\0';
    if ((size_t)snprintf(full, sizeof full, "%s%s", root, path) >= sizeof full) return;
    const int fd = open(full, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    const ssize_t n = read(fd, buf, cap - 1);
    close(fd);
    buf[n > 0 ? n : 0] = '\0';
}

/* Its first line, without the newline. */
static void read_text(const char *root, const char *path, char *buf, size_t cap)
{
    read_lines(root, path, buf, cap);
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

/* Is `name` one of the words of "cpu,cpuacct" (n bytes)? */
static bool has_word(const char *list, size_t n, const char *name)
{
    const size_t len = strlen(name);
    for (size_t at = 0; at < n;) {
        const char  *comma = memchr(list + at, ',', n - at);
        const size_t word = comma ? (size_t)(comma - list) - at : n - at;
        if (word == len && memcmp(list + at, name, len) == 0) return true;
        at += word + 1;
    }
    return false;
}

/* The group we are in, "" for the root: of version 2 (controller ""), or of a version 1 controller.
 * Lines of /proc/self/cgroup are number:controllers:/path. */
static void find_group(const char *root, const char *controller, char *group, size_t cap)
{
    char text[4096];
    read_lines(root, "/proc/self/cgroup", text, sizeof text);
    group[0] = '\0';
    for (char *line = text; *line;) {
        const size_t n = strcspn(line, "\n");
        char        *next = line + n + (line[n] != '\0');
        line[n] = '\0';
        const char *list = strchr(line, ':');
        const char *path = list ? strchr(list + 1, ':') : NULL;
        line = next;
        if (!path || path[1] != '/') continue;
        const size_t len = (size_t)(path - list - 1);
        if (*controller ? has_word(list + 1, len, controller) : len == 0) {
            snprintf(group, cap, "%s", path + 1);
            return;
        }
    }
}

/* Quota of one group in cores, 0 = none.  Version 1 writes -1 for none, which is no number here. */
static unsigned group_quota(const char *root, bool v1, const char *group)
{
    char        text[64], path[768];
    const char *at = text;
    uint64_t    quota, period;
    if (v1) {
        snprintf(path, sizeof path, "/sys/fs/cgroup/cpu%s/cpu.cfs_quota_us", group);
        if (!read_number(root, path, &quota)) return 0;
        snprintf(path, sizeof path, "/sys/fs/cgroup/cpu%s/cpu.cfs_period_us", group);
        return read_number(root, path, &period) ? whole_cores(quota, period) : 0;
    }
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", group);
    read_text(root, path, text, sizeof text);
    if (!take_number(&at, &quota) || *at++ != ' ' || !take_number(&at, &period)) return 0;
    return whole_cores(quota, period);
}

/* The tightest quota from our own group up to the root: a parent's limit binds as well. */
static unsigned read_quota(const char *root, bool v1)
{
    char     group[512];
    unsigned best = 0;
    find_group(root, v1 ? "cpu" : "", group, sizeof group);
    for (;;) {
        const size_t n = strlen(group);
        if (n && group[n - 1] == '/') group[n - 1] = '\0';
        const unsigned q = group_quota(root, v1, group);
        if (q && (!best || q < best)) best = q;
        char *slash = strrchr(group, '/');
        if (!slash) return best;
        *slash = '\0';
    }
}

/* Capacity, else highest frequency, else 0.  Where the kernel lists the small cores of a hybrid x86
 * (`small`), that decides: their frequency is close to the large ones', their work per cycle is not. */
static uint64_t core_speed(const char *root, unsigned i, const bool *small)
{
    uint64_t v;
    if (small) return small[i] ? 1 : 4;
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
    bool small[MAX_CORES] = { false };
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
    read_text(root, "/sys/devices/cpu_atom/cpus", text, sizeof text);
    const bool hybrid = read_list(text, small);

    unsigned last = 0;
    for (unsigned i = 0; i < MAX_CORES; i++) {
        c[i] = (core){ .allowed = online[i] && mask[i] && set[i], .leader = i };
        if (!online[i]) continue;
        last = i + 1;
        out->online++;
        out->allowed += c[i].allowed;
        if (!c[i].allowed) continue;
        c[i].leader = core_leader(root, i);
        c[i].speed = core_speed(root, i, hybrid ? small : NULL);
    }
    out->quota = read_quota(root, false);
    if (!out->quota) out->quota = read_quota(root, true);
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
