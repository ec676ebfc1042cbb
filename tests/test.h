/* SPDX-License-Identifier: Apache-2.0
 *
 * test.h - tests are sentences: a thin layer over cmocka.
 *
 *     TEST(a_short_read_is_sticky) { ...; EQ(c.bad, true); }
 *     int main(void) { return RUN(T(a_short_read_is_sticky), T(another)); }
 *
 * TEST_DIR is the tests/ folder.  Data that is not in the repository is looked for in the folder
 * named by MINNOW_TEST_DATA, else in ../shared/data beside the repository; SKIP says so when absent.
 */
#ifndef MN_TEST_H
#define MN_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TEST(name) static void name(void **state_)
#define T(name) cmocka_unit_test(name)
#define RUN(...)                                                                                   \
    cmocka_run_group_tests_name(__FILE__, ((const struct CMUnitTest[]){ __VA_ARGS__ }), NULL, NULL)

#define EQ(a, b) assert_int_equal((a), (b))
#define NE(a, b) assert_int_not_equal((a), (b))
#define YES(a) assert_true(a)
#define NO(a) assert_false(a)
#define EQ_STR(a, b) assert_string_equal((a), (b))
#define EQ_MEM(a, b, n) assert_memory_equal((a), (b), (n))
#define HAS(text, part)                                                                            \
    do {                                                                                           \
        if (!strstr((text), (part))) fail_msg("\"%s\" does not contain \"%s\"", (text), (part));   \
    } while (0)
#define NEAR(a, b, tolerance)                                                                      \
    do {                                                                                           \
        const double a_ = (a), b_ = (b);                                                           \
        if (!(a_ - b_ <= (tolerance) && b_ - a_ <= (tolerance)))                                   \
            fail_msg("%s = %.9g, expected %.9g +- %g", #a, a_, b_, (double)(tolerance));           \
    } while (0)
#define OK(expr) EQ((expr), 0)
#define LEN(array) (sizeof(array) / sizeof *(array))
#define SKIP(...)                                                                                  \
    do {                                                                                           \
        print_message("skipped: " __VA_ARGS__);                                                    \
        print_message("\n");                                                                       \
        skip();                                                                                    \
    } while (0)

/* Path of a file in the data folder; NULL if it is not there. */
static inline const char *test_data(const char *name)
{
    static char path[1024];
    const char *dir = getenv("MINNOW_TEST_DATA");
    snprintf(path, sizeof path, "%s/%s", dir ? dir : TEST_DIR "/../../shared/data", name);
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    fclose(f);
    return path;
}

#endif
