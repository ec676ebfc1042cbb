/* SPDX-License-Identifier: Apache-2.0
 *
 * machine.h - what one thread of this machine can do: the rates that a bench is compared with.
 *
 * Measured in the same run as the kernels, best of several tries, because clocks and neighbours change.
 */
#ifndef MN_TESTS_MACHINE_H
#define MN_TESTS_MACHINE_H

/* Cycles of the core in a nanosecond, under a chain of operations of known latency. */
double mn_machine_clock(void);

/* Bytes in a nanosecond out of 32 MB, four streams side by side. */
double mn_machine_read(void);

/* Operations (a multiplication and an addition are two) on int8 in a nanosecond, between registers, with the
 * instructions of a tier; 0 for a tier without any.  avx2: four VPMADDUBSW summed in words to one VPMADDWD. */
double mn_machine_int8(const char *tier);

#endif
