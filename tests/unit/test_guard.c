/* SPDX-License-Identifier: Apache-2.0
 *
 * test_guard.c - the loop guard stops loops, and nothing else.
 */
#include "base/rng.h"
#include "run/guard.h"
#include "test.h"

/* Tokens pushed until the guard speaks; 0 if it never does. */
static size_t stops_after(const int32_t *t, size_t n, size_t repeats)
{
    mn_guard g = { 0 };
    for (size_t i = 0; i < n * repeats; i++)
        if (mn_guard_push(&g, t[i % n])) return i + 1;
    return 0;
}

TEST(an_endless_phrase_is_stopped_within_six_periods)
{
    const int32_t phrase[] = { 11, 12, 13, 14 };   // "cz" "ap" "ki" ", "
    EQ(stops_after(phrase, LEN(phrase), 100), 6 * LEN(phrase));

    int32_t paragraph[MN_GUARD_MAX_PERIOD];
    for (size_t i = 0; i < LEN(paragraph); i++) paragraph[i] = (int32_t)i;
    EQ(stops_after(paragraph, LEN(paragraph), 100), 6 * LEN(paragraph));
}

TEST(one_token_for_ever_is_stopped)
{
    EQ(stops_after(&(int32_t){ 5 }, 1, 100), MN_GUARD_MIN_TOKENS);
}

TEST(a_loop_is_found_behind_any_text)
{
    mn_guard g = { 0 };
    for (int i = 0; i < 1000; i++) NO(mn_guard_push(&g, 1000 + i));
    int n = 0;
    while (n < 100 && !mn_guard_push(&g, 7 + n % 5)) n++;
    EQ(n + 1, 30);
}

TEST(a_table_with_repeated_cells_goes_on)
{
    mn_guard g = { 0 };
    for (int row = 0; row < 200; row++) {
        NO(mn_guard_push(&g, 1));             // "|"
        NO(mn_guard_push(&g, 5000 + row));    // a name that differs
        for (int cell = 0; cell < 10; cell++) {
            NO(mn_guard_push(&g, 1));
            NO(mn_guard_push(&g, 2));         // " yes "
        }
        NO(mn_guard_push(&g, 3));             // "|\n"
    }
}

TEST(random_tokens_go_on)
{
    mn_guard g = { 0 };
    for (uint64_t i = 0; i < 100000; i++) NO(mn_guard_push(&g, (int32_t)(mn_rng_u64(9, 0, i) % 4)));
}

int main(void)
{
    return RUN(T(an_endless_phrase_is_stopped_within_six_periods), T(one_token_for_ever_is_stopped),
               T(a_loop_is_found_behind_any_text), T(a_table_with_repeated_cells_goes_on),
               T(random_tokens_go_on));
}
