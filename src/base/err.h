/* SPDX-License-Identifier: Apache-2.0
 *
 * err.h - one status and one sentence, and the three macros that make the error path a straight line.
 *
 * The text says what, where, got, expected.  The first failure wins; callers may add a prefix.
 */
#ifndef MN_BASE_ERR_H
#define MN_BASE_ERR_H

#include <minnow/base.h>
#include <stdarg.h>

enum { MN_ERR_TEXT = 256 };

typedef struct mn_err {
    mnw_status code;
    char       text[MN_ERR_TEXT];
} mn_err;

#if defined(__GNUC__)
#define MN_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define MN_PRINTF(fmt, args)
#endif

/* Record a failure, unless one is recorded already, and return the code recorded.  `err` may be
 * NULL.  Bytes that are no printable UTF-8 are replaced by '?': names from files end up here. */
mnw_status mn_err_set(mn_err *err, mnw_status code, const char *fmt, ...) MN_PRINTF(3, 4);

/* Put "prefix: " in front of a recorded text. */
void mn_err_prefix(mn_err *err, const char *fmt, ...) MN_PRINTF(2, 3);

void mn_err_clear(mn_err *err);

/* Record a failure in `err` (keeping an earlier one) and return its code. */
#define MN_FAIL(err, code, ...) return mn_err_set((err), (code), __VA_ARGS__)

#define MN_FAIL_IF(cond, err, code, ...)                   \
    do {                                                   \
        if (cond) MN_FAIL(err, code, __VA_ARGS__);         \
    } while (0)

/* Pass a callee's failure up unchanged. */
#define MN_TRY(expr)                                       \
    do {                                                   \
        mnw_status st_ = (expr);                           \
        if (st_ != MNW_OK) return st_;                     \
    } while (0)

#endif
