/* SPDX-License-Identifier: Apache-2.0
 *
 * harness.h - what a kernel's check is made of: cases, inputs, outputs, comparisons, a bench.
 *
 * A check is named check_<slot>; kernels.def demands one for each slot.  It announces each case, asks for
 * fresh buffers, runs c->ref and c->isa on the same inputs and compares:
 *
 *     void check_add(mn_check *c)
 *     {
 *         for (size_t n = 1; n <= 70; n++) {
 *             mn_check_case(c, "n=%zu", n);
 *             const float *y = mn_check_in(c, n, MN_FILL_UNIFORM);
 *             float *want = mn_check_copy(c, y, n * sizeof *y), *got = mn_check_copy(c, y, n * sizeof *y);
 *             c->ref->add(want, y, n);
 *             c->isa->add(got, y, n);
 *             if (!mn_check_f32(c, got, want, n)) return;
 *         }
 *     }
 *
 * Every buffer ends at a page that cannot be touched and begins after bytes that must not change.
 */
#ifndef MN_TESTS_CHECK_H
#define MN_TESTS_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/kernels.h"

typedef enum mn_fill {
    MN_FILL_UNIFORM,    // -1 to 1
    MN_FILL_TINY,       // about 1e-20: squares vanish
    MN_FILL_LARGE,      // about 1e8
    MN_FILL_ZEROS,
    MN_FILL_DENORMAL,
    MN_FILL_MIXED,      // any exponent from 2^-60 to 2^60, some zeros
    MN_FILL_COUNT,
    MN_FILL_WILD = MN_FILL_COUNT,   // any bits: infinities, NaN
    MN_FILL_COUNT_WILD,
} mn_fill;

enum { MN_CHECK_BUFFERS = 24 };

typedef struct mn_check_buffer {
    uint8_t *base;     // first writable byte
    size_t   size;     // writable bytes; a forbidden page follows
    uint8_t *at;       // what the case was given, ends at the forbidden page
} mn_check_buffer;

typedef struct mn_check {
    const mn_kernels *ref, *isa;   // scalar, and the tier on trial, its calls guarded
    const mn_kernels *bare;        // the same without the guard
    const char       *tier, *slot;
    bool              bench, failed;
    double            clock, read, int8;   // a bench's limits: cycles, bytes, operations in a nanosecond
    uint64_t          seed;
    unsigned          cases;
    uint64_t          digest;      // of all expected results: equal on every machine
    char              what[160];   // parameters of this case
    unsigned          used;        // buffers taken by this case
    mn_check_buffer   buffer[MN_CHECK_BUFFERS];
} mn_check;

/* Begin a case; what it printed is shown if it fails or crashes.  Takes back all buffers. */
void mn_check_case(mn_check *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* 64 random bits; the sequence depends on the seed, the slot and the number of cases before. */
uint64_t mn_check_random(mn_check *c);

/* n floats; n random bytes; n bytes for output; a writable copy of n bytes. */
float *mn_check_in(mn_check *c, size_t n, mn_fill fill);
void  *mn_check_bytes(mn_check *c, size_t n);
void  *mn_check_out(mn_check *c, size_t n);
void  *mn_check_copy(mn_check *c, const void *from, size_t n);

/* Is got equal to want to the bit (NaN equals NaN) and nothing before any buffer changed?  Says what
 * differs. */
bool mn_check_f32(mn_check *c, const float *got, const float *want, size_t n);
bool mn_check_f16(mn_check *c, const uint16_t *got, const uint16_t *want, size_t n);
bool mn_check_i8(mn_check *c, const int8_t *got, const int8_t *want, size_t n);
bool mn_check_size(mn_check *c, size_t got, size_t want);

/* Time `call`, an expression in which `k` is the table, on both tables.
 * amount: what one call moves or computes; unit: "B", "op", or "i8" for operations on int8. */
#define MN_BENCH(c, label, amount, unit, call)                                                     \
    do {                                                                                           \
        if ((c)->bench) {                                                                          \
            double ns_[2] = { 0, 0 };                                                              \
            for (int i_ = 0; i_ < 2; i_++) {                                                       \
                const mn_kernels *k = i_ ? (c)->bare : (c)->ref;                                    \
                for (mn_bench b_ = { 0 }; mn_bench_more(&b_, &ns_[i_]);)                           \
                    for (uint64_t r_ = 0; r_ < b_.rounds; r_++) { call; }                          \
            }                                                                                      \
            mn_bench_show((c), (label), (double)(amount), (unit), ns_);                            \
        }                                                                                          \
    } while (0)

/* The amx tier on tiles in plain C, over a table of the avx512 tier. */
void mn_check_tiles(mn_kernels *k);

#define K(slot, type) void check_##slot(mn_check *c);
#include "kernel/kernels.def"
#undef K

typedef struct mn_bench {
    uint64_t rounds;    // calls in this batch
    int      batch;
    double   start, first;
} mn_bench;

/* Begin the next batch, or return false with the nanoseconds a call took in the best one. */
bool mn_bench_more(mn_bench *b, double *ns);
void mn_bench_show(mn_check *c, const char *label, double amount, const char *unit,
                   const double ns[2]);

#endif
