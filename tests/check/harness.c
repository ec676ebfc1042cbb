/* SPDX-License-Identifier: Apache-2.0
 *
 * harness.c - guarded buffers, random fills, comparisons and the clock behind harness.h.
 */
#include "harness.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "callee.h"

enum { CANARY = 0xa5, CANARY_BYTES = 256 };

void mn_check_case(mn_check *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(c->what, sizeof c->what, fmt, ap);
    va_end(ap);
    c->used = 0;
    c->cases++;
}

uint64_t mn_check_random(mn_check *c)
{
    uint64_t z = c->seed += 0x9e3779b97f4a7c15;   // splitmix64
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* n bytes that end at a forbidden page, with canaries before them. */
static void *take(mn_check *c, size_t n)
{
    if (c->used == MN_CHECK_BUFFERS) {
        fprintf(stderr, "mncheck: a case of %s wants more than %d buffers\n", c->slot,
                MN_CHECK_BUFFERS);
        exit(70);
    }
    mn_check_buffer *b = &c->buffer[c->used++];
    if (!b->base || b->size < n + CANARY_BYTES) {
        const size_t page = (size_t)sysconf(_SC_PAGESIZE);
        const size_t size = (n + CANARY_BYTES + page - 1) / page * page;
        if (b->base) munmap(b->base, b->size + page);
        b->base = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (b->base == MAP_FAILED || mprotect(b->base + size, page, PROT_NONE) != 0) {
            perror("mncheck: mmap");
            exit(70);
        }
        b->size = size;
    }
    b->at = b->base + b->size - n;
    memset(b->at - CANARY_BYTES, CANARY, CANARY_BYTES);
    return b->at;
}

static float draw(mn_check *c, mn_fill fill)
{
    const uint64_t r = mn_check_random(c);
    const float    u = (float)((double)(r >> 11) * 0x1p-52 - 1.0);   // -1 to 1
    const uint32_t bits = (uint32_t)r;
    float          any;

    switch (fill) {
    case MN_FILL_UNIFORM: return u;
    case MN_FILL_TINY: return u * 1e-20f;
    case MN_FILL_LARGE: return u * 1e8f;
    case MN_FILL_ZEROS: return r & 1 ? 0.0f : -0.0f;
    case MN_FILL_DENORMAL: return u * 1e-39f;
    case MN_FILL_MIXED: return r % 16 == 0 ? 0.0f : ldexpf(u, (int)(bits % 121) - 60);
    case MN_FILL_WILD:
        if (r >> 62 == 0) return r & 1 << 8 ? INFINITY : -INFINITY;
        if (r >> 62 == 1) return u;
        memcpy(&any, &bits, sizeof any);
        return any;
    case MN_FILL_COUNT_WILD: break;
    }
    return 0.0f;
}

float *mn_check_in(mn_check *c, size_t n, mn_fill fill)
{
    float *x = take(c, n * sizeof *x);
    for (size_t i = 0; i < n; i++) x[i] = draw(c, fill);
    return x;
}

void *mn_check_bytes(mn_check *c, size_t n)
{
    uint8_t *x = take(c, n);
    for (size_t i = 0; i < n; i++) x[i] = (uint8_t)mn_check_random(c);
    return x;
}

void *mn_check_out(mn_check *c, size_t n)
{
    void *x = take(c, n);
    memset(x, 0x5a, n);
    return x;
}

void *mn_check_copy(mn_check *c, const void *from, size_t n)
{
    return memcpy(take(c, n), from, n);
}

static bool differs(mn_check *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool differs(mn_check *c, const char *fmt, ...)
{
    printf("%-8s%-12s FAILED   %s: ", c->tier, c->slot, c->what);
    va_list ap;
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
    c->failed = true;
    return false;
}

/* FNV-1a over words, all NaN alike. */
static void digest(mn_check *c, uint64_t word)
{
    c->digest = (c->digest ^ word) * 0x100000001b3;
}

static bool canaries(mn_check *c)
{
    const char *spoilt = mn_callee_complaint();
    if (spoilt) return differs(c, "did not preserve %s", spoilt);
    for (unsigned i = 0; i < c->used; i++)
        for (int k = 1; k <= CANARY_BYTES; k++)
            if (c->buffer[i].at[-k] != CANARY)
                return differs(c, "wrote %d bytes before the start of buffer %u", k, i);
    return true;
}

bool mn_check_f32(mn_check *c, const float *got, const float *want, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(&got[i], &want[i], sizeof *got) != 0 && !(isnan(got[i]) && isnan(want[i])))
            return differs(c, "[%zu] is %.9g (%a), expected %.9g (%a)", i, (double)got[i],
                        (double)got[i], (double)want[i], (double)want[i]);
    for (size_t i = 0; i < n; i++) {
        uint32_t word;
        memcpy(&word, &want[i], sizeof word);
        digest(c, isnan(want[i]) ? 0x7fc00000 : word);
    }
    return canaries(c);
}

/* The bits of a half, those of any NaN replaced. */
static unsigned half_bits(uint16_t h)
{
    return (h & 0x7fff) > 0x7c00 ? 0x7e00 : h;
}

bool mn_check_f16(mn_check *c, const uint16_t *got, const uint16_t *want, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (half_bits(got[i]) != half_bits(want[i]))
            return differs(c, "[%zu] is 0x%04x, expected 0x%04x", i, got[i], want[i]);
        digest(c, half_bits(want[i]));
    }
    return canaries(c);
}

bool mn_check_i8(mn_check *c, const int8_t *got, const int8_t *want, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (got[i] != want[i]) return differs(c, "[%zu] is %d, expected %d", i, got[i], want[i]);
        digest(c, (uint8_t)want[i]);
    }
    return canaries(c);
}

bool mn_check_size(mn_check *c, size_t got, size_t want)
{
    if (got != want) return differs(c, "is %zu, expected %zu", got, want);
    digest(c, want);
    return canaries(c);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

bool mn_bench_more(mn_bench *b, double *ns)
{
    enum { BATCHES = 15 };   // of at least a millisecond each, after the size is found
    const double enough = 0.5;   // seconds

    const double now = seconds(), took = now - b->start;
    if (b->rounds == 0) {
        b->rounds = 1;
        b->first = now;
    } else if (b->batch == 0 && took < 1e-3) {
        b->rounds *= 2;
    } else {
        const double each = took / (double)b->rounds * 1e9;
        if (b->batch == 0 || each < *ns) *ns = each;
        if (++b->batch > BATCHES || now - b->first > enough) return false;
    }
    b->start = seconds();
    return true;
}

void mn_bench_show(mn_check *c, const char *label, double amount, const char *unit,
                   const double ns[2])
{
    const bool   bytes = strcmp(unit, "B") == 0, int8 = strcmp(unit, "i8") == 0;
    const double rate = amount / ns[1], limit = bytes ? c->read : int8 ? c->int8 : 0;
    printf("%-8s%-12s bench    %-28s %10.0f ns %8.2f %-5s %7.2f %s/cycle", c->tier, c->slot, label, ns[1], rate,
           bytes ? "GB/s" : "GOP/s", c->clock > 0 ? rate / c->clock : 0, bytes ? "B" : "op");
    if (limit > 0) printf(" %4.0f%% of %s", 100 * rate / limit, bytes ? "read" : "peak");
    printf(" %6.1fx scalar\n", ns[0] / ns[1]);
    fflush(stdout);
}
