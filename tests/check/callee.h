/* SPDX-License-Identifier: Apache-2.0
 *
 * callee.h - does a kernel leave the caller's registers and the floating-point mode as it found them?
 *
 * A guarded table calls the same kernels through a few instructions that fill the registers a callee
 * must preserve, and look at them afterwards.
 */
#ifndef MN_TESTS_CALLEE_H
#define MN_TESTS_CALLEE_H

#include <stdbool.h>

#include "kernel/kernels.h"

/* to: a table that calls what `from` holds; there is one at a time. */
void mn_callee_table(mn_kernels *to, const mn_kernels *from);

/* What a kernel called since the last question did not preserve; NULL if all is well. */
const char *mn_callee_complaint(void);

/* Does the guard notice a function that spoils everything?  True also where there is none. */
bool mn_callee_works(void);

#endif
