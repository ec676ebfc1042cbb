/* SPDX-License-Identifier: Apache-2.0
 *
 * test_check_harness.c - mncheck is worth what its harness notices.
 */
#include "test.h"

#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../check/callee.c"   // on trial themselves, so not part of a library
#include "../check/harness.c"

static mn_check fresh(void)
{
    return (mn_check){ .tier = "a tier", .slot = "a slot", .seed = 1 };
}

TEST(one_bit_of_difference_is_a_failure)
{
    mn_check c = fresh();
    mn_check_case(&c, "a bit");
    float *want = mn_check_in(&c, 9, MN_FILL_UNIFORM), *got = mn_check_copy(&c, want, 9 * 4);
    YES(mn_check_f32(&c, got, want, 9));
    NO(c.failed);
    got[8] = nextafterf(got[8], 10.0f);
    NO(mn_check_f32(&c, got, want, 9));
    YES(c.failed);
}

TEST(a_kernel_that_spoils_registers_and_rounding_is_noticed)
{
    YES(mn_callee_works());
    YES(mn_callee_complaint() == NULL);
}

TEST(zeros_of_different_sign_differ_and_nans_do_not)
{
    mn_check    c = fresh();
    const float zero = 0.0f, minus = -0.0f, nan = NAN, other = -NAN;
    mn_check_case(&c, "zeros");
    NO(mn_check_f32(&c, &zero, &minus, 1));
    YES(mn_check_f32(&c, &nan, &other, 1));
    NO(mn_check_f32(&c, &nan, &zero, 1));
}

TEST(a_byte_before_the_output_is_noticed)
{
    mn_check c = fresh();
    mn_check_case(&c, "before");
    int8_t *x = mn_check_out(&c, 5);
    YES(mn_check_i8(&c, x, x, 5));
    x[-200] ^= 1;
    NO(mn_check_i8(&c, x, x, 5));
}

TEST(a_byte_behind_any_buffer_is_forbidden)
{
    for (int write_it = 0; write_it < 2; write_it++) {
        mn_check c = fresh();
        mn_check_case(&c, "behind");
        volatile uint8_t *x = mn_check_bytes(&c, 4096 + 17);
        const pid_t       child = fork();
        if (child == 0) {
            signal(SIGSEGV, SIG_DFL);   // a sanitizer would print a page
            if (write_it) x[4096 + 17] = 1;
            _exit(x[4096 + 17] == 0 ? 1 : 2);
        }
        int status;
        EQ(waitpid(child, &status, 0), child);
        YES(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    }
}

TEST(the_same_seed_draws_the_same_inputs)
{
    mn_check a = fresh(), b = fresh();
    for (int fill = 0; fill < MN_FILL_COUNT_WILD; fill++) {
        mn_check_case(&a, "a");
        mn_check_case(&b, "b");
        EQ_MEM(mn_check_in(&a, 100, (mn_fill)fill), mn_check_in(&b, 100, (mn_fill)fill), 400);
    }
    b.seed ^= 1;
    mn_check_case(&a, "a");
    mn_check_case(&b, "b");
    YES(memcmp(mn_check_bytes(&a, 64), mn_check_bytes(&b, 64), 64) != 0);
}

int main(void)
{
    return RUN(T(one_bit_of_difference_is_a_failure),
               T(a_kernel_that_spoils_registers_and_rounding_is_noticed),
               T(zeros_of_different_sign_differ_and_nans_do_not),
               T(a_byte_before_the_output_is_noticed), T(a_byte_behind_any_buffer_is_forbidden),
               T(the_same_seed_draws_the_same_inputs));
}
