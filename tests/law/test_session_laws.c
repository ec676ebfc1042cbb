/* SPDX-License-Identifier: Apache-2.0
 *
 * test_session_laws.c - different ways to the same position give the same logits, to the bit.
 */
#include <pthread.h>
#include <unistd.h>

#include "lab.h"

enum { N = 70 };   // positions most tests feed

static const tiny MODEL = { .arch = "qwen3", .type = MN_Q4_0, .embd_type = MN_Q8_0 };

static const uint32_t WIDTHS[] = { 1, 2, 3, 8, 16, 32, N };

/* What a fresh session says after `n` positions, fed at once. */
static float *fresh(const lab *b, size_t n)
{
    mnw_session           *s;
    const mnw_session_opts o = { .size = sizeof o, .n_ctx = 128 };
    OK(mnw_session_open(b->model, &o, &s));
    lab_feed(s, 0, n, n);
    float *l = lab_logits(b, s);
    mnw_session_close(s);
    return l;
}

TEST(feeding_in_one_call_or_in_many_gives_the_same_bits)
{
    lab b;
    lab_open(&b, &MODEL, &(lab_opts){ .threads = 2, .n_ctx = 128 });
    float *expected = fresh(&b, N);
    for (size_t i = 0; i < LEN(WIDTHS); i++) {
        OK(mnw_session_rewind(b.session, 0));
        lab_feed(b.session, 0, N, WIDTHS[i]);
        lab_same_logits(&b, b.session, expected);
    }
    free(expected);
    lab_close(&b);
}

TEST(the_batch_size_does_not_change_a_bit)
{
    float *expected = NULL;
    for (size_t i = 0; i < LEN(WIDTHS); i++) {
        lab b;
        lab_open(&b, &MODEL, &(lab_opts){ .threads = 2, .n_ctx = 128, .n_batch = WIDTHS[i] });
        lab_feed(b.session, 0, N, N);
        if (!expected) expected = lab_logits(&b, b.session);
        lab_same_logits(&b, b.session, expected);
        lab_close(&b);
    }
    free(expected);
}

TEST(rewind_then_feed_equals_a_fresh_session)
{
    lab b;
    lab_open(&b, &MODEL, &(lab_opts){ .n_ctx = 128 });
    float *expected = fresh(&b, N);
    lab_feed(b.session, 0, 20, 20);
    lab_feed(b.session, 90, 120, 30);   // other tokens, to be forgotten
    OK(mnw_session_rewind(b.session, 20));
    YES(mnw_session_logits(b.session) == NULL);
    lab_feed(b.session, 20, N, 9);
    EQ(mnw_session_count(b.session), N);
    EQ(mnw_session_tokens(b.session)[N - 1], lab_token(N - 1));
    lab_same_logits(&b, b.session, expected);

    OK(mnw_session_rewind(b.session, N));   // nothing is forgotten
    lab_same_logits(&b, b.session, expected);
    EQ(mnw_session_rewind(b.session, N + 1), MNW_E_ARG);
    HAS(mnw_session_error(b.session), "71");
    free(expected);
    lab_close(&b);
}

TEST(a_fork_goes_on_like_the_original)
{
    for (int type = MNW_KV_I8; type <= MNW_KV_F16; type++) {
        lab b;
        lab_open(&b, &MODEL, &(lab_opts){ .n_ctx = 128, .kv_type = (mnw_kv_type)type });
        lab_feed(b.session, 0, 30, 30);
        mnw_session *copy;
        OK(mnw_session_fork(b.session, &copy));
        float *at_fork = lab_logits(&b, b.session);
        lab_same_logits(&b, copy, at_fork);

        lab_feed(b.session, 30, N, 40);
        EQ(mnw_session_count(copy), 30);
        lab_feed(copy, 30, N, 7);
        float *expected = lab_logits(&b, b.session);
        lab_same_logits(&b, copy, expected);
        free(at_fork);
        free(expected);
        mnw_session_close(copy);
        lab_close(&b);
    }
}

typedef struct each {
    lab   *b;
    size_t calls, stop_at;
} each;

/* Compares with a session that was fed up to there. */
static bool compare(void *user, size_t pos, const float *logits)
{
    each *e = user;
    EQ(pos, e->calls);
    e->calls++;
    float *expected = fresh(e->b, pos + 1);
    EQ_MEM(logits, expected, e->b->V * sizeof *logits);
    free(expected);
    return e->calls != e->stop_at;
}

TEST(feed_each_hands_out_the_logits_of_every_prefix)
{
    lab b;
    lab_open(&b, &MODEL, &(lab_opts){ .threads = 2, .n_ctx = 128, .n_batch = 5 });
    int32_t tokens[12];
    for (size_t i = 0; i < LEN(tokens); i++) tokens[i] = lab_token(i);
    each e = { .b = &b };
    OK(mnw_session_feed_each(b.session, tokens, LEN(tokens), compare, &e));
    EQ(e.calls, LEN(tokens));

    each stop = { .b = &b, .stop_at = 7 };
    OK(mnw_session_rewind(b.session, 0));
    EQ(mnw_session_feed_each(b.session, tokens, LEN(tokens), compare, &stop), MNW_E_CANCELLED);
    EQ(stop.calls, 7);
    EQ(mnw_session_count(b.session), 0);
    EQ(mnw_session_feed_each(b.session, tokens, LEN(tokens), NULL, NULL), MNW_E_ARG);
    lab_close(&b);
}

TEST(a_full_context_is_refused_with_both_numbers_and_nothing_consumed)
{
    lab b;
    lab_open(&b, &MODEL, &(lab_opts){ .n_ctx = 64 });
    lab_feed(b.session, 0, 60, 60);
    float        *before = lab_logits(&b, b.session);
    const int32_t five[5] = { 1, 2, 3, 4, 5 };
    EQ(mnw_session_feed(b.session, five, 5), MNW_E_FULL);
    HAS(mnw_session_error(b.session), "60");
    HAS(mnw_session_error(b.session), "64");
    EQ(mnw_session_count(b.session), 60);
    lab_same_logits(&b, b.session, before);

    OK(mnw_session_feed(b.session, five, 4));   // exactly full
    EQ_STR(mnw_session_error(b.session), "");
    EQ(mnw_session_count(b.session), mnw_session_capacity(b.session));
    EQ(mnw_session_feed(b.session, five, 1), MNW_E_FULL);
    free(before);
    lab_close(&b);
}

TEST(a_token_outside_the_vocabulary_is_refused_and_named)
{
    lab b;
    lab_open(&b, &MODEL, &(lab_opts){ .n_ctx = 64 });
    const int32_t high[2] = { 1, 320 }, low[1] = { -1 }, last[1] = { 319 };
    EQ(mnw_session_feed(b.session, high, 2), MNW_E_ARG);
    HAS(mnw_session_error(b.session), "token 1: id 320, expected 0 to 319");
    EQ(mnw_session_feed(b.session, low, 1), MNW_E_ARG);
    EQ(mnw_session_feed(b.session, NULL, 1), MNW_E_ARG);
    EQ(mnw_session_count(b.session), 0);
    OK(mnw_session_feed(b.session, last, 1));
    OK(mnw_session_feed(b.session, NULL, 0));
    EQ(mnw_session_count(b.session), 1);
    lab_close(&b);
}

TEST(decoding_never_touches_the_memory_hook)
{
    lab b;
    lab_open(&b, &MODEL, &(lab_opts){ .threads = 2, .n_ctx = 128 });
    const size_t before = b.memory.calls;
    lab_feed(b.session, 0, 30, 30);
    for (size_t i = 30; i < 100; i++) lab_feed(b.session, i, i + 1, 1);
    OK(mnw_session_rewind(b.session, 3));
    EQ(b.memory.calls, before);
    lab_close(&b);
}

TEST(a_session_takes_the_bytes_it_announces)
{
    lab b;
    lab_open(&b, &MODEL, &(lab_opts){ .no_session = true });
    for (int type = MNW_KV_I8; type <= MNW_KV_F16; type++) {
        const mnw_session_opts o = { .size = sizeof o, .n_ctx = 100, .kv_type = (mnw_kv_type)type };
        const size_t           bytes = mnw_session_bytes(b.model, &o), before = b.memory.live;
        mnw_session           *s;
        OK(mnw_session_open(b.model, &o, &s));
        YES(b.memory.live - before >= bytes);
        YES(b.memory.live - before <= bytes + 4096);   // the handle
        mnw_session_close(s);
    }
    lab_close(&b);
}

static size_t resident_bytes(void)
{
    unsigned long pages = 0, resident = 0;
    FILE         *f = fopen("/proc/self/statm", "r");
    if (!f) return 0;
    if (fscanf(f, "%lu %lu", &pages, &resident) != 2) resident = 0;
    fclose(f);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

TEST(an_open_session_costs_only_what_it_has_used)
{
    const tiny long_one = { .type = MN_Q4_0, .n_ctx = 1 << 20 };
    lab        b;
    lab_open(&b, &long_one, &(lab_opts){ .no_session = true });
    const mnw_session_opts o = { .n_ctx = 1 << 20 };
    const size_t           bytes = mnw_session_bytes(b.model, &o), before = resident_bytes();
    YES(bytes > 256u << 20);
    if (before == 0) {
        lab_close(&b);
        SKIP("no /proc/self/statm here");
    }
    OK(mnw_session_open(b.model, &o, &b.session));
    lab_feed(b.session, 0, 5, 5);
    YES(resident_bytes() < before + bytes / 4);   // a quarter leaves room for a sanitizer's shadow
    lab_close(&b);
}

TEST(logits_take_one_row_whatever_the_batch)
{
    size_t extra[2];
    for (int large = 0; large <= 1; large++) {
        const tiny t = { .L = 1, .D = 32, .H = 1, .K = 1, .P = 32, .F = 32, .embd_type = MN_Q8_0,
                         .V = large ? 151936 : 320, .no_tokenizer = true, .n_ctx = 512 };
        lab        b;
        lab_open(&b, &t, &(lab_opts){ .no_session = true });
        extra[large] = mnw_session_bytes(b.model, &(mnw_session_opts){ .n_batch = 512 }) -
                       mnw_session_bytes(b.model, &(mnw_session_opts){ .n_batch = 1 });
        YES(mnw_session_bytes(b.model, NULL) < (large ? 8u << 20 : 1u << 20));
        lab_close(&b);
    }
    EQ(extra[0], extra[1]);   // 512 rows of 151,936 logits would be 297 MiB
}

TEST(options_are_judged_on_both_sides_of_each_limit)
{
    lab b;
    lab_open(&b, &MODEL, &(lab_opts){ .no_session = true });   // trained on 256 positions
    const struct {
        mnw_session_opts o;
        mnw_status       expected;
        const char      *text;
    } CASES[] = {
        { { .n_ctx = 256 }, MNW_OK, "" },
        { { .n_ctx = 257 }, MNW_E_ARG, "n_ctx 257" },
        { { .n_batch = 4096 }, MNW_OK, "" },
        { { .n_batch = 4097 }, MNW_E_ARG, "n_batch 4097" },
        { { .kv_type = (mnw_kv_type)4 }, MNW_E_ARG, "kv_type 4" },
        { { .kv_type = MNW_KV_F32 }, MNW_E_UNSUPPORTED, "only the reference backend" },
        { { .precision = MNW_PRECISION_EXACT }, MNW_OK, "" },
        { { .precision = MNW_PRECISION_AUTO }, MNW_OK, "" },
        { { .precision = (mnw_precision)4 }, MNW_E_ARG, "precision 4" },
    };
    for (size_t i = 0; i < LEN(CASES); i++) {
        mnw_session *s;
        EQ(mnw_session_open(b.model, &CASES[i].o, &s), CASES[i].expected);
        HAS(mnw_ctx_error(b.ctx), CASES[i].text);
        YES((s != NULL) == (CASES[i].expected == MNW_OK));
        YES((mnw_session_bytes(b.model, &CASES[i].o) != 0) == (CASES[i].expected == MNW_OK));
        mnw_session_close(s);
    }
    mnw_session *s;
    OK(mnw_session_open(b.model, NULL, &s));
    EQ(mnw_session_capacity(s), 256);   // what it was trained on, being less than 4096
    mnw_session_close(s);
    lab_close(&b);
}

TEST(a_cancelled_feed_leaves_the_session_where_it_was)
{
    lab b;
    lab_open(&b, &MODEL, &(lab_opts){ .threads = 2, .n_ctx = 128 });
    float *expected = fresh(&b, N);
    lab_feed(b.session, 0, 40, 40);
    float *before = lab_logits(&b, b.session);

    mnw_session_cancel(b.session);
    const int32_t other[3] = { 9, 8, 7 };
    EQ(mnw_session_feed(b.session, other, 3), MNW_E_CANCELLED);
    EQ(mnw_session_count(b.session), 40);
    lab_same_logits(&b, b.session, before);
    lab_feed(b.session, 40, N, 30);   // asked once, cancelled once
    lab_same_logits(&b, b.session, expected);
    free(before);
    free(expected);
    lab_close(&b);
}

static void *cancel_soon(void *session)
{
    usleep(2000);
    mnw_session_cancel(session);
    return NULL;
}

TEST(another_thread_can_stop_a_running_feed)
{
    const tiny big = {
        .arch = "llama", .L = 64, .type = MN_Q8_0, .embd_type = MN_Q8_0, .n_ctx = 512
    };
    lab        b;
    lab_open(&b, &big, &(lab_opts){ .threads = 2, .n_ctx = 512, .backend = MNW_BACKEND_REF });
    int32_t tokens[512];   // seconds of work for this backend
    for (size_t i = 0; i < LEN(tokens); i++) tokens[i] = lab_token(i);
    pthread_t other;
    EQ(pthread_create(&other, NULL, cancel_soon, b.session), 0);
    EQ(mnw_session_feed(b.session, tokens, LEN(tokens)), MNW_E_CANCELLED);
    EQ(pthread_join(other, NULL), 0);
    EQ(mnw_session_count(b.session), 0);
    YES(mnw_session_logits(b.session) == NULL);
    OK(mnw_session_feed(b.session, tokens, 1));
    lab_close(&b);
}

int main(void)
{
    return RUN(T(feeding_in_one_call_or_in_many_gives_the_same_bits),
               T(the_batch_size_does_not_change_a_bit), T(rewind_then_feed_equals_a_fresh_session),
               T(a_fork_goes_on_like_the_original),
               T(feed_each_hands_out_the_logits_of_every_prefix),
               T(a_full_context_is_refused_with_both_numbers_and_nothing_consumed),
               T(a_token_outside_the_vocabulary_is_refused_and_named),
               T(decoding_never_touches_the_memory_hook), T(a_session_takes_the_bytes_it_announces),
               T(an_open_session_costs_only_what_it_has_used),
               T(logits_take_one_row_whatever_the_batch),
               T(options_are_judged_on_both_sides_of_each_limit),
               T(a_cancelled_feed_leaves_the_session_where_it_was),
               T(another_thread_can_stop_a_running_feed));
}
