/* SPDX-License-Identifier: Apache-2.0
 *
 * test_base.c - errors, memory, plans, cursors, maps and random numbers do what their headers say.
 */
#include "base/arena.h"
#include "base/check.h"
#include "base/cursor.h"
#include "base/err.h"
#include "base/map.h"
#include "base/pages.h"
#include "base/plan.h"
#include "base/rng.h"
#include "base/utf8.h"
#include "test.h"

TEST(the_first_failure_wins_and_may_get_a_prefix)
{
    mn_err err = { 0 };
    EQ(mn_err_set(&err, MNW_E_FORMAT, "key %d", 7), MNW_E_FORMAT);
    EQ(mn_err_set(&err, MNW_E_NOMEM, "later"), MNW_E_FORMAT);
    mn_err_prefix(&err, "%s", "a.gguf");
    EQ_STR(err.text, "a.gguf: key 7");
    EQ(mn_err_set(NULL, MNW_E_IO, "nobody listens"), MNW_E_IO);
    mn_err_clear(&err);
    EQ_STR(err.text, "");
    mn_err_prefix(&err, "nothing to prefix");
    EQ_STR(err.text, "");
}

TEST(error_texts_are_cut_to_size_and_cleaned)
{
    mn_err err = { 0 };
    char   name[1000];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    mn_err_set(&err, MNW_E_FORMAT, "%s", name);
    EQ(strlen(err.text), MN_ERR_TEXT - 1);
    mn_err_prefix(&err, "%s", name);
    EQ(strlen(err.text), MN_ERR_TEXT - 1);

    mn_err_clear(&err);
    mn_err_set(&err, MNW_E_FORMAT, "%s", "a\x1b[31m\xFF\xC3\xA9\n");
    EQ_STR(err.text, "a?[31m?\xC3\xA9?");
}

TEST(every_status_and_warning_has_a_text)
{
    EQ_STR(mnw_status_text(MNW_OK), "ok");
    EQ_STR(mnw_status_text((mnw_status)12345), "unknown status");
    EQ_STR(mnw_warning_id(MNW_WARNING_THREADS), "threads");
    EQ_STR(mnw_warning_id((mnw_warning)12345), "unknown");
    EQ_STR(mnw_version(), "0.1.0");
}

typedef struct hook_state {
    size_t calls, live, fail_at;   // fail_at: number of the call that fails, 0 = none
} hook_state;

static void *hook(void *user, void *p, size_t old_size, size_t new_size)
{
    hook_state *h = user;
    h->calls++;
    if (new_size && h->calls == h->fail_at) return NULL;
    h->live += new_size - old_size;
    if (new_size) return realloc(p, new_size);
    free(p);
    return NULL;
}

TEST(blocks_are_aligned_counted_and_given_back)
{
    hook_state h = { 0 };
    mn_mem     m;
    mn_mem_init(&m, hook, &h);
    void *p[40];
    for (size_t i = 0; i < LEN(p); i++) {
        p[i] = mn_alloc(&m, i * 7);
        assert_non_null(p[i]);
        EQ((uintptr_t)p[i] % MN_ALIGN, 0);
        memset(p[i], 0xAA, i * 7);
    }
    EQ(h.live, m.live);
    YES(m.peak >= m.live);
    for (size_t i = 0; i < LEN(p); i++) mn_free(&m, p[i]);
    mn_free(&m, NULL);
    EQ(h.live, 0);
    EQ(m.live, 0);
    EQ(h.calls, 2 * LEN(p));
}

TEST(sizes_that_overflow_are_no_memory)
{
    mn_mem m;
    mn_mem_init(&m, NULL, NULL);
    assert_null(mn_alloc(&m, SIZE_MAX));
    assert_null(mn_alloc(&m, SIZE_MAX - MN_ALIGN));
    assert_null(mn_alloc_zero(&m, SIZE_MAX / 2, 3));
    EQ(m.live, 0);
}

TEST(resizing_keeps_the_bytes_and_survives_failure)
{
    hook_state h = { 0 };
    mn_mem     m;
    mn_mem_init(&m, hook, &h);
    char *p = mn_realloc(&m, NULL, 8);
    memcpy(p, "minnow!", 8);
    p = mn_realloc(&m, p, 4000);
    EQ_STR(p, "minnow!");
    h.fail_at = h.calls + 1;
    assert_null(mn_realloc(&m, p, 8000));
    EQ_STR(p, "minnow!");
    p = mn_realloc(&m, p, 4);
    EQ_MEM(p, "minn", 4);
    mn_free(&m, p);
    EQ(h.live, 0);
}

TEST(pages_hold_small_and_large_and_go_together)
{
    hook_state h = { 0 };
    mn_mem     m;
    mn_pages   pages;
    mn_mem_init(&m, hook, &h);
    mn_pages_init(&pages, &m);
    char *text = mn_pages_text(&pages, mn_str_of("stays"));
    for (size_t i = 0; i < 5000; i++) {
        uint8_t *p = mn_pages_push_zero(&pages, i % 300, 1);
        assert_non_null(p);
        EQ((uintptr_t)p % (i % 300 >= 64 ? 64 : 16), 0);
        for (size_t k = 0; k < i % 300; k++) EQ(p[k], 0);
        if (i % 300) memset(p, 0xFF, i % 300);
    }
    assert_non_null(mn_pages_push(&pages, 1 << 20, 1));
    EQ_STR(text, "stays");
    assert_null(mn_pages_push(&pages, SIZE_MAX, 2));
    mn_pages_done(&pages);
    EQ(h.live, 0);
    mn_pages_done(&pages);   // again is harmless
}

TEST(an_arena_at_its_limit_refuses_one_more_byte)
{
    _Alignas(64) static uint8_t block[256];
    mn_arena                    a;
    mn_arena_init(&a, block, sizeof block);
    const size_t mark = mn_arena_mark(&a);
    assert_non_null(mn_arena_push(&a, 65));
    assert_non_null(mn_arena_push(&a, 128));
    assert_null(mn_arena_push(&a, 1));
    assert_null(mn_arena_push(&a, SIZE_MAX));
    mn_arena_release(&a, mark);
    EQ(mn_arena_push(&a, 256), block);
    EQ(a.peak, 256);
    mn_arena_release(&a, 0);
    mn_arena_init(&a, block, 0);
    assert_null(mn_arena_push(&a, 1));
    mn_arena_init(&a, block, sizeof block);
    assert_non_null(mn_arena_push(&a, sizeof block));
}

TEST(a_plan_is_aligned_and_an_overflow_sticks)
{
    mn_plan p = { 0 };
    EQ(mn_plan_f32(&p, 3, 5).at, 0);
    EQ(mn_plan_take(&p, 1, 1, 1).at, 64);
    EQ(p.end, 128);
    (void)mn_plan_f32(&p, SIZE_MAX / 4, 2);
    EQ(p.end, SIZE_MAX);
    (void)mn_plan_f32(&p, 1, 1);
    EQ(p.end, SIZE_MAX);
    p = (mn_plan){ .end = SIZE_MAX - 100 };
    (void)mn_plan_take(&p, 100, 1, 1);
    EQ(p.end, SIZE_MAX);
}

TEST(checked_arithmetic_says_when_it_wraps)
{
    uint64_t v;
    size_t   z;
    YES(mn_add_u64(UINT64_MAX - 1, 1, &v));
    NO(mn_add_u64(UINT64_MAX, 1, &v));
    YES(mn_mul_u64(1ull << 32, (1ull << 32) - 1, &v));
    NO(mn_mul_u64(1ull << 32, 1ull << 32, &v));
    YES(mn_mul_u64(0, UINT64_MAX, &v));
    NO(mn_mul_size(SIZE_MAX, 2, &z));
    NO(mn_add_size(SIZE_MAX, 1, &z));
    YES(mn_round_up_u64(UINT64_MAX - 63, 64, &v));
    NO(mn_round_up_u64(UINT64_MAX - 62, 64, &v));
}

TEST(a_short_read_is_sticky_and_gives_zeros)
{
    const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7 };
    mn_cursor     c = mn_cursor_of((mn_bytes){ bytes, sizeof bytes });
    EQ(mn_cursor_u32(&c), 0x04030201);
    EQ(mn_cursor_u16(&c), 0x0605);
    EQ(mn_cursor_offset(&c), 6);
    EQ(mn_cursor_u16(&c), 0);
    YES(c.bad);
    EQ(mn_cursor_u8(&c), 0);   // although one byte is left
    EQ(mn_cursor_text(&c, 1).n, 0);

    c = mn_cursor_of((mn_bytes){ bytes, sizeof bytes });
    assert_null(mn_cursor_take(&c, UINT64_MAX));
    YES(c.bad);
}

TEST(a_map_finds_all_it_was_given)
{
    mn_mem   m;
    mn_pages pages;
    mn_map   map;
    enum { N = 20000 };
    static char key[N][12];
    mn_mem_init(&m, NULL, NULL);
    mn_pages_init(&pages, &m);
    YES(mn_map_init(&map, &pages, N));
    for (uint32_t i = 0; i < N; i++) {
        snprintf(key[i], sizeof key[i], "key%u", i);
        EQ(mn_map_add(&map, mn_str_of(key[i]), i), i);
    }
    EQ(mn_map_add(&map, mn_str_of("key7"), 99), 7);   // the first stays
    uint32_t v;
    for (uint32_t i = 0; i < N; i++) {
        YES(mn_map_find(&map, mn_str_of(key[i]), &v));
        EQ(v, i);
    }
    NO(mn_map_find(&map, mn_str_of("key20000"), &v));
    NO(mn_map_find(&map, (mn_str){ "", 0 }, &v));
    NO(mn_map_find(&(mn_map){ 0 }, mn_str_of("a"), &v));
    mn_pages_done(&pages);
}

TEST(utf8_takes_exactly_what_rfc_3629_allows)
{
    static const struct {
        const char *s;
        size_t      n, takes;
        uint32_t    cp;
    } CASES[] = {
        { "A", 1, 1, 'A' },
        { "\x00", 1, 1, 0 },
        { "\x7F", 1, 1, 0x7F },
        { "\xC2\x80", 2, 2, 0x80 },
        { "\xC1\xBF", 2, 1, MN_UTF8_BAD },             // overlong
        { "\xDF\xBF", 2, 2, 0x7FF },
        { "\xE0\xA0\x80", 3, 3, 0x800 },
        { "\xE0\x9F\xBF", 3, 1, MN_UTF8_BAD },         // overlong
        { "\xED\x9F\xBF", 3, 3, 0xD7FF },
        { "\xED\xA0\x80", 3, 1, MN_UTF8_BAD },         // surrogate
        { "\xEE\x80\x80", 3, 3, 0xE000 },
        { "\xEF\xBF\xBF", 3, 3, 0xFFFF },
        { "\xF0\x90\x80\x80", 4, 4, 0x10000 },
        { "\xF0\x8F\xBF\xBF", 4, 1, MN_UTF8_BAD },     // overlong
        { "\xF4\x8F\xBF\xBF", 4, 4, 0x10FFFF },
        { "\xF4\x90\x80\x80", 4, 1, MN_UTF8_BAD },     // beyond
        { "\xF5\x80\x80\x80", 4, 1, MN_UTF8_BAD },
        { "\x80", 1, 1, MN_UTF8_BAD },
        { "\xE2\x82", 2, 2, MN_UTF8_BAD },             // unfinished: one subpart
        { "\xE2\x82" "A", 3, 2, MN_UTF8_BAD },
        { "\xF0\x9F\x98", 3, 3, MN_UTF8_BAD },
    };
    for (size_t i = 0; i < LEN(CASES); i++) {
        uint32_t cp;
        EQ(mn_utf8_get(CASES[i].s, CASES[i].n, &cp), CASES[i].takes);
        EQ(cp, CASES[i].cp);
    }
}

TEST(every_scalar_value_survives_utf8)
{
    for (uint32_t cp = 0; cp <= 0x10FFFF; cp++) {
        char         s[MN_UTF8_MAX];
        uint32_t     back;
        const size_t n = mn_utf8_put(cp, s);
        EQ(mn_utf8_get(s, n, &back), n);
        EQ(back, cp >= 0xD800 && cp <= 0xDFFF ? MN_UTF8_BAD : cp);
        EQ(mn_utf8_whole(s, n), n);
        for (size_t k = 1; k < n; k++) EQ(mn_utf8_whole(s, k), 0);
    }
}

TEST(philox_gives_the_published_words)
{
    uint32_t w[4];
    mn_rng_block(0, 0, 0, w);
    EQ(w[0], 0x6627e8d5);
    EQ(w[1], 0xe169c58d);
    EQ(w[2], 0xbc57ac4c);
    EQ(w[3], 0x9b00dbd8);
    mn_rng_block(UINT64_MAX, UINT64_MAX, UINT64_MAX, w);
    EQ(w[0], 0x408f276d);
    EQ(w[1], 0x41c83b0e);
    EQ(w[2], 0xa20bc7c6);
    EQ(w[3], 0x6d5451fd);
}

TEST(uniform_draws_stay_below_one_and_spread)
{
    double sum = 0;
    for (uint64_t i = 0; i < 10000; i++) {
        const double u = mn_rng_uniform(1, 2, i);
        YES(u >= 0 && u < 1);
        sum += u;
    }
    NEAR(sum / 10000, 0.5, 0.015);
}

int main(void)
{
    return RUN(T(the_first_failure_wins_and_may_get_a_prefix),
               T(error_texts_are_cut_to_size_and_cleaned), T(every_status_and_warning_has_a_text),
               T(blocks_are_aligned_counted_and_given_back), T(sizes_that_overflow_are_no_memory),
               T(resizing_keeps_the_bytes_and_survives_failure),
               T(pages_hold_small_and_large_and_go_together),
               T(an_arena_at_its_limit_refuses_one_more_byte),
               T(a_plan_is_aligned_and_an_overflow_sticks),
               T(checked_arithmetic_says_when_it_wraps),
               T(a_short_read_is_sticky_and_gives_zeros), T(a_map_finds_all_it_was_given),
               T(utf8_takes_exactly_what_rfc_3629_allows), T(every_scalar_value_survives_utf8),
               T(philox_gives_the_published_words), T(uniform_draws_stay_below_one_and_spread));
}
