/* SPDX-License-Identifier: Apache-2.0
 *
 * mncheck.c - is each tier of this processor equal, to the bit, to the scalar specification?
 *
 *     mncheck [--tier NAME] [--slot GLOB] [--seed N] [--bench]
 *
 * Goes through the tiers from low to high and checks each slot whose version differs from the tier
 * before.  Calls pass through callee.h, which looks at the registers a callee must preserve.  --bench also
 * times each slot and measures, in the same run, what one thread can read and multiply: rates are shown per
 * cycle and as a share of that.
 *
 * Exit: 0 all equal, 1 something differs, 2 misuse.  A crash prints what was being run.
 * The digest of a slot's expected results depends on the seed alone: it is the same in every tier and on
 * every processor.  "--tier scalar" compares scalar with itself, for the digests of all slots.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpu.h"
#include "callee.h"
#include "harness.h"
#include "machine.h"

/* kernels.def is the list of checks: a slot without one does not link. */
static const struct slot {
    const char *name;
    void (*check)(mn_check *c);
    size_t at, size;   // in mn_kernels
} SLOTS[] = {
#define K(slot, type)                                                                              \
    { #slot, check_##slot, offsetof(mn_kernels, slot), sizeof(((mn_kernels *)0)->slot) },
#include "kernel/kernels.def"
#undef K
};

/* Those of cpu.h, and those that can be emulated on top of one. */
static const struct tier {
    const char *name, *needs;
    void (*emulate)(mn_kernels *k);
} TIERS[] = {
    { "scalar", "scalar", NULL }, { "avx2", "avx2", NULL },       { "avxvnni", "avxvnni", NULL },
    { "avx512", "avx512", NULL }, { "amx", "amx", NULL },         { "amx-emu", "avx512", mn_check_tiles },
    { "neon", "neon", NULL },     { "dotprod", "dotprod", NULL }, { "i8mm", "i8mm", NULL },
};

static const struct tier *tier_named(const char *name)
{
    for (size_t i = 0; i < sizeof TIERS / sizeof *TIERS; i++)
        if (strcmp(name, TIERS[i].name) == 0) return TIERS + i;
    return NULL;
}

static mn_check CHECK;   // here so that a signal handler can say what was being run

static void crashed(int sig)
{
    char      line[320];
    const int n = snprintf(line, sizeof line, "%-8s%-12s CRASHED  %s (signal %d)\n", CHECK.tier,
                           CHECK.slot, CHECK.what, sig);
    if (write(STDOUT_FILENO, line, n < (int)sizeof line ? (size_t)n : sizeof line - 1) < 0) _exit(3);
    _exit(1);
}

static bool run(const struct slot *s, uint64_t seed)
{
    CHECK.slot = s->name;
    CHECK.seed = seed ^ (uint64_t)(s - SLOTS) << 32;
    CHECK.cases = 0;
    CHECK.digest = 0xcbf29ce484222325;
    CHECK.failed = false;
    s->check(&CHECK);
    if (!CHECK.failed)
        printf("%-8s%-12s ok       %6u cases   digest %016" PRIx64 "\n", CHECK.tier, s->name,
               CHECK.cases, CHECK.digest);
    fflush(stdout);
    return !CHECK.failed;
}

static int usage(void)
{
    fputs("usage: mncheck [--tier NAME] [--slot GLOB] [--seed N] [--bench]\n", stderr);
    return 2;
}

int main(int argc, char **argv)
{
    const char *only = NULL, *glob = "*";
    uint64_t    seed = 0x5eed1234;
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(arg, "--bench") == 0) {
            CHECK.bench = true;
            continue;
        }
        if (!value) return usage();
        if (strcmp(arg, "--tier") == 0)
            only = value;
        else if (strcmp(arg, "--slot") == 0)
            glob = value;
        else if (strcmp(arg, "--seed") == 0)
            seed = strtoull(value, NULL, 0);
        else
            return usage();
        i++;
    }
    const unsigned     cpu = mn_cpu_detect();
    const struct tier *asked = only ? tier_named(only) : NULL;
    if (only && !asked) {
        fprintf(stderr, "mncheck: unknown tier \"%s\"\n", only);
        return 2;
    }
    if (only && !mn_cpu_has_tier(cpu, asked->needs)) {
        fprintf(stderr, "mncheck: this processor has no %s\n", only);
        return 2;
    }

    bool known = false;
    for (const struct slot *s = SLOTS; s < SLOTS + sizeof SLOTS / sizeof *SLOTS; s++)
        known |= fnmatch(glob, s->name, 0) == 0;
    if (!known) {
        fprintf(stderr, "mncheck: no slot is called \"%s\"\n", glob);
        return 2;
    }

    signal(SIGSEGV, crashed);
    signal(SIGBUS, crashed);
    signal(SIGILL, crashed);
    printf("seed 0x%" PRIx64 ", cpu %s\n", seed, mn_cpu_name(cpu));

    if (!mn_callee_works()) {
        fputs("mncheck: the guard does not see spoilt registers\n", stderr);
        return 70;
    }
    if (CHECK.bench) {
        CHECK.clock = mn_machine_clock();
        CHECK.read = mn_machine_read();
        printf("one thread: %.2f cycles a nanosecond, reads %.1f GB/s\n", CHECK.clock, CHECK.read);
    }

    mn_kernels scalar, before, now, guarded;
    mn_kernels_init(&scalar, 0);
    before = scalar;
    bool good = true;
    for (const struct tier *t = TIERS; t < TIERS + sizeof TIERS / sizeof *TIERS; t++) {
        unsigned mask;
        if (!mn_cpu_has_tier(cpu, t->needs) || !mn_cpu_mask(t->needs, &mask)) continue;
        mn_kernels_init(&now, cpu & mask);
        if (t->emulate) t->emulate(&now);
        CHECK.ref = &scalar;
        mn_callee_table(&guarded, &now);
        CHECK.isa = &guarded;
        CHECK.bare = &now;
        CHECK.tier = t->name;
        if (CHECK.bench && (!asked || asked == t)) {
            CHECK.int8 = mn_machine_int8(t->name);
            if (CHECK.int8 > 0) printf("%-8s%-12s peak     %.0f GOP/s\n", t->name, "int8", CHECK.int8);
        }
        for (const struct slot *s = SLOTS; s < SLOTS + sizeof SLOTS / sizeof *SLOTS; s++) {
            const bool same = memcmp((char *)&now + s->at, (char *)&before + s->at, s->size) == 0;
            if ((asked && asked != t) || (same && !(asked && t == TIERS)) || fnmatch(glob, s->name, 0) != 0)
                continue;
            good &= run(s, seed);
        }
        if (!t->emulate) before = now;
    }
    return good ? 0 : 1;
}
