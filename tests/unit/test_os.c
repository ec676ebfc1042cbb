/* SPDX-License-Identifier: Apache-2.0
 *
 * test_os.c - mappings, files that appear whole, and the number of threads on machines of all kinds.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cpu.h"
#include "base/os.h"
#include "test.h"

static char   DIR_[64];
static mn_mem MEM;

static int setup(void **state)
{
    mn_mem_init(&MEM, NULL, NULL);
    snprintf(DIR_, sizeof DIR_, "/tmp/minnow-test-XXXXXX");
    return mkdtemp(DIR_) ? 0 : -1;
}

static int teardown(void **state)
{
    char cmd[128];
    snprintf(cmd, sizeof cmd, "rm -rf '%s'", DIR_);
    return system(cmd);
}

static const char *at(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", DIR_, name);
    return path;
}

static void put_file(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", DIR_, name);
    for (char *slash = path + strlen(DIR_) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

TEST(a_file_is_the_same_mapped_or_read)
{
    put_file("data", "0123456789");
    for (int read = 0; read < 2; read++) {
        mn_map_file f;
        mn_err      err = { 0 };
        OK(mn_os_map(at("data"), read, &MEM, &f, &err));
        EQ(f.bytes.n, 10);
        EQ_MEM(f.bytes.p, "0123456789", 10);
        mn_os_will_need(f.bytes.p, f.bytes.n);
        mn_os_dont_need(f.bytes.p, f.bytes.n);
        EQ(f.bytes.p[3], '3');
        mn_os_unmap(&f);
        mn_os_unmap(&f);
    }
    EQ(MEM.live, 0);
}

TEST(a_range_of_a_descriptor_is_mapped_wherever_it_starts)
{
    char big[20001];
    for (size_t i = 0; i < sizeof big - 1; i++) big[i] = (char)('a' + i % 26);
    big[sizeof big - 1] = '\0';
    put_file("big", big);
    const int fd = open(at("big"), O_RDONLY);
    for (uint64_t offset = 0; offset < 20000; offset += 4099) {
        mn_map_file f;
        mn_err      err = { 0 };
        OK(mn_os_map_fd(fd, offset, 100, false, &MEM, &f, &err));
        EQ_MEM(f.bytes.p, big + offset, 100);
        mn_os_unmap(&f);
        OK(mn_os_map_fd(fd, offset, 0, true, &MEM, &f, &err));
        EQ(f.bytes.n, 20000 - offset);
        mn_os_unmap(&f);
    }
    mn_map_file f;
    mn_err      err = { 0 };
    for (uint64_t offset = 4096 + MN_ALIGN - 2; offset <= 4096 + MN_ALIGN; offset++) {
        OK(mn_os_map_fd(fd, offset, 0, false, &MEM, &f, &err));
        EQ(f.base != NULL, offset % MN_ALIGN == 0);   // what would not be aligned is read
        EQ((uintptr_t)f.bytes.p % MN_ALIGN, 0);
        EQ_MEM(f.bytes.p, big + offset, 20000 - offset);
        mn_os_unmap(&f);
    }
    EQ(mn_os_map_fd(fd, 20001, 0, false, &MEM, &f, &err), MNW_E_ARG);
    mn_err_clear(&err);
    EQ(mn_os_map_fd(fd, 1, 20000, false, &MEM, &f, &err), MNW_E_ARG);
    HAS(err.text, "20000");
    mn_err_clear(&err);
    EQ(mn_os_map_fd(fd, 1, UINT64_MAX, false, &MEM, &f, &err), MNW_E_ARG);
    close(fd);
}

TEST(what_cannot_be_mapped_is_explained)
{
    mn_map_file f;
    mn_err      err = { 0 };
    EQ(mn_os_map(at("nowhere"), false, &MEM, &f, &err), MNW_E_NOENT);
    HAS(err.text, "nowhere: cannot open: No such file");
    mn_err_clear(&err);
    EQ(mn_os_map(DIR_, false, &MEM, &f, &err), MNW_E_FORMAT);
    HAS(err.text, "is a folder");
    mn_err_clear(&err);
    put_file("empty", "");
    EQ(mn_os_map(at("empty"), false, &MEM, &f, &err), MNW_E_FORMAT);
    HAS(err.text, "empty");
    mn_err_clear(&err);
    EQ(mn_os_map("/dev/null", false, &MEM, &f, &err), MNW_E_FORMAT);
    HAS(err.text, "regular");
}

static size_t files_here(void)
{
    char cmd[128];
    snprintf(cmd, sizeof cmd, "ls -A '%s' | wc -l", DIR_);
    FILE  *p = popen(cmd, "r");
    size_t n = 0;
    EQ(fscanf(p, "%zu", &n), 1);
    pclose(p);
    return n;
}

TEST(an_output_file_appears_whole_or_not_at_all)
{
    mn_out_file  f;
    mn_err       err = { 0 };
    const size_t before = files_here();
    OK(mn_out_open(at("out"), &f, &err));
    OK(mn_out_write(&f, "hello", 5, &err));
    NO(mn_os_exists(at("out")));
    OK(mn_out_write_at(&f, 1, "a", 1, &err));
    EQ(mn_out_write_at(&f, 5, "x", 1, &err), MNW_E_ARG);
    OK(mn_out_commit(&f, &err));
    mn_map_file m;
    mn_err_clear(&err);
    OK(mn_os_map(at("out"), false, &MEM, &m, &err));
    EQ_MEM(m.bytes.p, "hallo", 5);
    mn_os_unmap(&m);
    EQ(files_here(), before + 1);

    /* /dev/full in place of the temporary: writing fails, and so does putting it in place. */
    OK(mn_out_open(at("out"), &f, &err));
    const int full = open("/dev/full", O_WRONLY);
    if (full >= 0) {
        EQ(dup2(full, f.fd_1 - 1), f.fd_1 - 1);
        close(full);
        EQ(mn_out_write(&f, "worse", 5, &err), MNW_E_IO);
        HAS(err.text, "No space");
        EQ(mn_out_commit(&f, NULL), MNW_E_IO);
        mn_err_clear(&err);
        EQ(files_here(), before + 1);
        OK(mn_out_open(at("out"), &f, &err));
    }
    OK(mn_out_write(&f, "worse", 5, &err));
    mn_out_abandon(&f);
    mn_out_abandon(&f);
    OK(mn_os_map(at("out"), false, &MEM, &m, &err));
    EQ_MEM(m.bytes.p, "hallo", 5);
    mn_os_unmap(&m);
    EQ(files_here(), before + 1);
}

TEST(a_writer_killed_half_way_leaves_no_target)
{
    const pid_t pid = fork();
    if (pid == 0) {
        mn_out_file f;
        mn_err      err = { 0 };
        if (mn_out_open(at("killed"), &f, &err) == MNW_OK) mn_out_write(&f, "half", 4, &err);
        kill(getpid(), SIGKILL);
    }
    int status;
    EQ(waitpid(pid, &status, 0), pid);
    YES(WIFSIGNALED(status));
    NO(mn_os_exists(at("killed")));
}

TEST(output_paths_that_cannot_be_are_explained)
{
    mn_out_file f;
    mn_err      err = { 0 };
    char        longest[4000];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    EQ(mn_out_open(longest, &f, &err), MNW_E_ARG);
    mn_err_clear(&err);
    EQ(mn_out_open("", &f, &err), MNW_E_ARG);
    mn_err_clear(&err);
    EQ(mn_out_open(at("no/such/folder"), &f, &err), MNW_E_IO);
    HAS(err.text, "No such file");
    mn_out_abandon(&f);
}

/* A machine, described by files below a folder of its own. */
static const char *machine(const char *name, const char *online)
{
    static char root[256];
    char        path[300];
    snprintf(root, sizeof root, "%s/%s", DIR_, name);
    snprintf(path, sizeof path, "%s/sys/devices/system/cpu/online", name);
    put_file(path, online);
    return root;
}

static void core_file(const char *name, unsigned core, const char *leaf, const char *text)
{
    char path[300];
    snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%u/%s", name, core, leaf);
    put_file(path, text);
}

static const uint64_t ALL[16] = { ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull,
                                  ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull };

static mn_cores cores_of(const char *root, const uint64_t *affinity)
{
    mn_cores c;
    mn_os_cores(root, affinity, &c);
    return c;
}

TEST(a_quota_of_four_on_eight_cores_means_four_threads)
{
    const char *root = machine("quota", "0-7\n");
    put_file("quota/sys/fs/cgroup/cpu.max", "400000 100000\n");
    mn_cores c = cores_of(root, ALL);
    EQ(c.online, 8);
    EQ(c.quota, 4);
    EQ(c.good, 4);
    put_file("quota/sys/fs/cgroup/cpu.max", "50000 100000\n");
    EQ(cores_of(root, ALL).good, 1);
    put_file("quota/sys/fs/cgroup/cpu.max", "max 100000\n");
    EQ(cores_of(root, ALL).good, 8);
    put_file("quota/sys/fs/cgroup/cpu.max", "400000 0\n");
    EQ(cores_of(root, ALL).good, 8);
}

TEST(our_own_group_and_its_parents_are_asked)
{
    const char *root = machine("nested", "0-7\n");
    put_file("nested/proc/self/cgroup", "0::/app/worker\n");
    put_file("nested/sys/fs/cgroup/app/worker/cpu.max", "600000 100000\n");
    put_file("nested/sys/fs/cgroup/app/cpu.max", "300000 100000\n");
    EQ(cores_of(root, ALL).good, 3);
}

TEST(a_version_1_quota_is_read_as_well)
{
    const char *root = machine("v1", "0-7\n");
    put_file("v1/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "250000\n");
    put_file("v1/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    EQ(cores_of(root, ALL).good, 2);
    put_file("v1/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    EQ(cores_of(root, ALL).good, 8);

    put_file("v1/proc/self/cgroup", "9:name=systemd:/\n3:cpuset:/\n2:xcpu,cpu:/pod/box\n0::/\n");
    put_file("v1/sys/fs/cgroup/cpu/pod/box/cpu.cfs_quota_us", "500000\n");
    put_file("v1/sys/fs/cgroup/cpu/pod/box/cpu.cfs_period_us", "100000\n");
    EQ(cores_of(root, ALL).good, 5);
}

TEST(a_processor_that_lists_its_small_cores_is_believed)
{
    const char *root = machine("atom", "0-27\n");   // 8 large cores with two threads, 12 small ones
    put_file("atom/sys/devices/cpu_atom/cpus", "16-27\n");
    for (unsigned i = 0; i < 28; i++) {
        char pair[32];
        if (i < 16) snprintf(pair, sizeof pair, "%u-%u", i / 2 * 2, i / 2 * 2 + 1);
        else snprintf(pair, sizeof pair, "%u", i);
        core_file("atom", i, "topology/thread_siblings_list", pair);
        core_file("atom", i, "cpufreq/cpuinfo_max_freq", i < 16 ? "5500000" : "4300000");
    }
    EQ(cores_of(root, ALL).good, 8);
    const uint64_t small_only[16] = { 0xFFF0000 };
    EQ(cores_of(root, small_only).good, 12);
}

TEST(a_cpuset_or_a_mask_of_four_means_four_threads)
{
    const char *root = machine("set", "0-7\n");
    put_file("set/sys/fs/cgroup/cpuset.cpus.effective", "0-3\n");
    EQ(cores_of(root, ALL).good, 4);
    root = machine("mask", "0-7\n");
    const uint64_t mask[16] = { 0xC0 };
    EQ(cores_of(root, mask).allowed, 2);
    EQ(cores_of(root, mask).good, 2);
}

TEST(a_hybrid_of_8_fast_and_12_slow_cores_means_eight_threads)
{
    const char *root = machine("hybrid", "0-19\n");
    for (unsigned i = 0; i < 20; i++)
        core_file("hybrid", i, "cpufreq/cpuinfo_max_freq",
                  i < 2 ? "5800000" : i < 8 ? "5500000" : "4000000");
    EQ(cores_of(root, ALL).good, 8);
}

TEST(a_phone_of_one_prime_three_fast_and_four_small_cores_means_four_threads)
{
    const char *root = machine("phone", "0-7\n");
    for (unsigned i = 0; i < 8; i++)
        core_file("phone", i, "cpu_capacity", i < 4 ? "250" : i < 7 ? "780" : "1024");
    EQ(cores_of(root, ALL).good, 4);
    root = machine("phone2", "0-7\n");
    for (unsigned i = 0; i < 8; i++)
        core_file("phone2", i, "cpu_capacity", i < 4 ? "220" : i < 7 ? "620" : "1024");
    EQ(cores_of(root, ALL).good, 4);
}

TEST(two_threads_of_one_core_count_once)
{
    const char *root = machine("smt", "0-7\n");
    for (unsigned i = 0; i < 8; i++) {
        char pair[16];
        snprintf(pair, sizeof pair, "%u,%u", i % 4, i % 4 + 4);
        core_file("smt", i, "topology/thread_siblings_list", pair);
    }
    EQ(cores_of(root, ALL).good, 4);
}

TEST(nonsense_in_system_files_still_gives_a_number)
{
    const char *root = machine("odd", "9-2,,x\n");
    put_file("odd/sys/fs/cgroup/cpu.max", "99999999999999999999999 1\n");
    core_file("odd", 0, "cpu_capacity", "-5");
    YES(cores_of(root, ALL).good >= 1);
    const uint64_t none[16] = { 0 };
    EQ(cores_of(root, none).good, 1);
}

TEST(a_tier_allows_what_it_is_built_on)
{
    unsigned mask;
    YES(mn_cpu_mask("scalar", &mask));
    EQ(mask, 0);
    YES(mn_cpu_mask("avx2", &mask));
    EQ(mask, MN_CPU_AVX2);
    YES(mn_cpu_mask("avx512", &mask));
    YES(mask & MN_CPU_AVX2 && !(mask & MN_CPU_AMX));
    YES(mn_cpu_mask("i8mm", &mask));
    YES(mask & MN_CPU_DOTPROD);
    NO(mn_cpu_mask("", &mask));
    NO(mn_cpu_mask("AVX2", &mask));
    EQ_STR(mn_cpu_name(0), "scalar");
    EQ_STR(mn_cpu_name(MN_CPU_AVX2 | MN_CPU_AVX512), "avx512");
    YES(mn_cpu_has_tier(0, "scalar"));
    NO(mn_cpu_has_tier(MN_CPU_AVX2, "amx"));
    const unsigned have = mn_cpu_detect();
    if (have & MN_CPU_AMX) YES(have & MN_CPU_AVX512);
    if (have & MN_CPU_AVX512) YES(have & MN_CPU_AVX2);
    EQ(mn_cpu_detect(), have);
}

TEST(the_clock_goes_forward)
{
    const double a = mn_os_seconds();
    YES(mn_os_seconds() >= a);
    YES(mn_os_now() > 1700000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_file_is_the_same_mapped_or_read),
        T(a_range_of_a_descriptor_is_mapped_wherever_it_starts),
        T(what_cannot_be_mapped_is_explained),
        T(an_output_file_appears_whole_or_not_at_all),
        T(a_writer_killed_half_way_leaves_no_target),
        T(output_paths_that_cannot_be_are_explained),
        T(a_quota_of_four_on_eight_cores_means_four_threads),
        T(our_own_group_and_its_parents_are_asked),
        T(a_version_1_quota_is_read_as_well),
               T(a_processor_that_lists_its_small_cores_is_believed),
        T(a_cpuset_or_a_mask_of_four_means_four_threads),
        T(a_hybrid_of_8_fast_and_12_slow_cores_means_eight_threads),
        T(a_phone_of_one_prime_three_fast_and_four_small_cores_means_four_threads),
        T(two_threads_of_one_core_count_once),
        T(nonsense_in_system_files_still_gives_a_number),
        T(a_tier_allows_what_it_is_built_on),
        T(the_clock_goes_forward),
    };
    return cmocka_run_group_tests_name(__FILE__, tests, setup, teardown);
}
