/* SPDX-License-Identifier: Apache-2.0
 *
 * test_sampler.c - the sampler draws what its options say, and draws it again.
 */
#include <math.h>
#include <minnow/sampler.h>

#include "base/rng.h"
#include "test.h"

static mnw_ctx *CTX;

static int setup(void **state)
{
    return mnw_ctx_open(&(mnw_ctx_opts){ .threads = 1 }, &CTX);
}

static int teardown(void **state)
{
    mnw_ctx_close(CTX);
    return 0;
}

static mnw_sampler *open_sampler(mnw_sampler_opts o)
{
    mnw_sampler *sp;
    if (mnw_sampler_open(CTX, &o, &sp) != MNW_OK) fail_msg("%s", mnw_ctx_error(CTX));
    return sp;
}

static int32_t pick_once(mnw_sampler_opts o, const float *logits, size_t n)
{
    mnw_sampler  *sp = open_sampler(o);
    const int32_t id = mnw_sampler_pick_from(sp, logits, n, NULL, 0, 0);
    mnw_sampler_close(sp);
    return id;
}

TEST(greedy_takes_the_highest_and_the_lowest_id_of_equals)
{
    EQ(pick_once((mnw_sampler_opts){ 0 }, (float[]){ 1, 3, 2, 3 }, 4), 1);
    EQ(pick_once((mnw_sampler_opts){ 0 }, (float[]){ NAN, -INFINITY, -5, NAN }, 4), 2);
    EQ(pick_once((mnw_sampler_opts){ 0 }, (float[]){ NAN, NAN }, 2), 0);
}

TEST(logits_that_are_no_numbers_never_win_a_draw)
{
    const mnw_sampler_opts warm = { .temperature = 1 };
    EQ(pick_once(warm, (float[]){ NAN, -INFINITY, 0, NAN }, 4), 2);
    EQ(pick_once(warm, (float[]){ 1, INFINITY, 2, INFINITY }, 4), 1);
    EQ(pick_once(warm, (float[]){ NAN, NAN }, 2), 0);
    EQ(pick_once(warm, (float[]){ -INFINITY, -INFINITY }, 2), 0);
    EQ(pick_once((mnw_sampler_opts){ .temperature = 1e-30f }, (float[]){ 1, 3, 2 }, 3), 1);
}

TEST(draws_follow_the_softmax)
{
    const float  logits[] = { 2.0f, 1.5f, 1.0f, 0.5f };
    const double p[] = { 0.4551, 0.2760, 0.1674, 0.1015 };
    enum { N = 40000 };
    int          count[4] = { 0 };
    mnw_sampler *sp = open_sampler((mnw_sampler_opts){ .temperature = 1, .seed = 17 });
    for (uint64_t i = 0; i < N; i++) count[mnw_sampler_pick_from(sp, logits, 4, NULL, 0, i)]++;
    mnw_sampler_close(sp);
    double chi2 = 0;
    for (int i = 0; i < 4; i++) chi2 += (count[i] - N * p[i]) * (count[i] - N * p[i]) / (N * p[i]);
    YES(chi2 < 16.27);   // 3 degrees of freedom, p = 0.001
}

/* The set of tokens that can come out, as bits, from many draws. */
static unsigned support(mnw_sampler_opts o, const float *logits, size_t n)
{
    unsigned     seen = 0;
    mnw_sampler *sp = open_sampler(o);
    for (uint64_t i = 0; i < 5000; i++) seen |= 1u << mnw_sampler_pick_from(sp, logits, n, NULL, 0, i);
    mnw_sampler_close(sp);
    return seen;
}

TEST(top_k_top_p_and_min_p_keep_what_they_say)
{
    /* probabilities 0.4, 0.3, 0.2, 0.1 out of order */
    const float x[] = { logf(0.1f), logf(0.4f), logf(0.2f), logf(0.3f) };
    EQ(support((mnw_sampler_opts){ .temperature = 1 }, x, 4), 15);
    EQ(support((mnw_sampler_opts){ .temperature = 1, .top_k = 1 }, x, 4), 2);
    EQ(support((mnw_sampler_opts){ .temperature = 1, .top_k = 2 }, x, 4), 2 + 8);
    EQ(support((mnw_sampler_opts){ .temperature = 1, .top_k = 99 }, x, 4), 15);
    EQ(support((mnw_sampler_opts){ .temperature = 1, .top_p = 0.39f }, x, 4), 2);
    EQ(support((mnw_sampler_opts){ .temperature = 1, .top_p = 0.65f }, x, 4), 2 + 8);
    EQ(support((mnw_sampler_opts){ .temperature = 1, .top_p = 0.75f }, x, 4), 2 + 8 + 4);
    EQ(support((mnw_sampler_opts){ .temperature = 1, .top_p = 1 }, x, 4), 15);
    EQ(support((mnw_sampler_opts){ .temperature = 1, .min_p = 0.6f }, x, 4), 2 + 8);
    EQ(support((mnw_sampler_opts){ .temperature = 1, .min_p = 1 }, x, 4), 2);
    /* top-p is a share of what top-k left: 0.4 / 0.9 and 0.7 / 0.9 */
    EQ(support((mnw_sampler_opts){ .temperature = 1, .top_k = 3, .top_p = 0.7f }, x, 4), 2 + 8);
    EQ(support((mnw_sampler_opts){ .temperature = 1, .top_k = 3, .min_p = 0.6f }, x, 4), 2 + 8);
}

/* The rule of the header, naively: sort, cut to k, to the smallest head with share p, to min_p. */
static void naive_kept(const mnw_sampler_opts *o, const float *x, size_t n, bool *kept)
{
    size_t order[64];
    double p[64], total = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = i;
        for (; at > 0 && x[order[at - 1]] < x[i]; at--) order[at] = order[at - 1];
        order[at] = i;
        kept[i] = false;
    }
    const size_t k = o->top_k && o->top_k < n ? o->top_k : n;
    for (size_t i = 0; i < k; i++) {
        p[i] = exp(((double)x[order[i]] - (double)x[order[0]]) / (double)o->temperature);
        total += p[i];
    }
    for (size_t i = 0; i < k; i++) {
        if (i && o->top_p > 0 && o->top_p < 1 && sum >= (double)o->top_p * total) break;
        if (p[i] < (double)o->min_p) break;
        kept[order[i]] = true;
        sum += p[i];
    }
}

TEST(what_comes_out_is_what_a_naive_reference_keeps)
{
    for (uint64_t round = 0; round < 400; round++) {
        float  x[64];
        bool   kept[64], seen[64] = { false };
        size_t n = 1 + mn_rng_u64(21, round, 100) % 64;
        for (size_t i = 0; i < n; i++) x[i] = (float)(6 * mn_rng_uniform(21, round, i));
        const uint64_t         pick = mn_rng_u64(21, round, 101);
        const mnw_sampler_opts o = {
            .temperature = 0.5f + (float)mn_rng_uniform(21, round, 102),
            .top_k = pick & 1 ? 1 + (uint32_t)(pick >> 8) % 70 : 0,
            .top_p = pick & 2 ? 0.05f + 0.9f * (float)mn_rng_uniform(21, round, 103) : 0,
            .min_p = pick & 4 ? 0.5f * (float)mn_rng_uniform(21, round, 104) : 0,
        };
        naive_kept(&o, x, n, kept);
        mnw_sampler *sp = open_sampler(o);
        for (uint64_t i = 0; i < 300; i++) {
            const int32_t id = mnw_sampler_pick_from(sp, x, n, NULL, 0, i);
            if (!kept[id]) {
                fail_msg("round %d: token %d of %d came out: top_k %u, top_p %g, min_p %g",
                         (int)round, (int)id, (int)n, o.top_k, (double)o.top_p, (double)o.min_p);
            }
            seen[id] = true;
        }
        mnw_sampler_close(sp);
        size_t n_kept = 0, n_seen = 0;
        for (size_t i = 0; i < n; i++) {
            n_kept += kept[i];
            n_seen += seen[i];
        }
        if (n_kept <= 3 && o.min_p > 0.2f) EQ(n_seen, n_kept);   // each has a share of 1/15 or more
    }
}

TEST(a_heap_draw_has_the_same_distribution_as_a_plain_one)
{
    enum { V = 64, N = 20000 };
    float x[V];
    for (size_t i = 0; i < V; i++) x[i] = (float)(4 * mn_rng_uniform(3, 0, i));
    int          plain[V] = { 0 }, heap[V] = { 0 };
    mnw_sampler *a = open_sampler((mnw_sampler_opts){ .temperature = 0.7f });
    mnw_sampler *b = open_sampler((mnw_sampler_opts){ .temperature = 0.7f, .top_k = V });
    for (uint64_t i = 0; i < N; i++) {
        plain[mnw_sampler_pick_from(a, x, V, NULL, 0, i)]++;
        heap[mnw_sampler_pick_from(b, x, V, NULL, 0, N + i)]++;
    }
    mnw_sampler_close(a);
    mnw_sampler_close(b);
    double chi2 = 0;
    for (int i = 0; i < V; i++) {
        const double both = plain[i] + heap[i], d = plain[i] - heap[i];
        if (both > 0) chi2 += d * d / both;
    }
    YES(chi2 < 103.4);   // 63 degrees of freedom, p = 0.001
}

TEST(the_same_seed_and_position_give_the_same_token)
{
    float x[100];
    for (size_t i = 0; i < LEN(x); i++) x[i] = (float)mn_rng_uniform(4, 0, i);
    mnw_sampler *a = open_sampler((mnw_sampler_opts){ .temperature = 1, .seed = 5 });
    mnw_sampler *b = open_sampler((mnw_sampler_opts){ .temperature = 1, .seed = 5 });
    mnw_sampler *c = open_sampler((mnw_sampler_opts){ .temperature = 1, .seed = 6 });
    int          differ = 0;
    for (uint64_t i = 0; i < 100; i++) {
        const int32_t t = mnw_sampler_pick_from(a, x, LEN(x), NULL, 0, 99 - i);
        (void)mnw_sampler_pick_from(b, x, LEN(x), NULL, 0, i);   // draws do not depend on earlier ones
        EQ(t, mnw_sampler_pick_from(b, x, LEN(x), NULL, 0, 99 - i));
        differ += t != mnw_sampler_pick_from(c, x, LEN(x), NULL, 0, 99 - i);
    }
    YES(differ > 50);
    mnw_sampler_close(a);
    mnw_sampler_close(b);
    mnw_sampler_close(c);
}

TEST(the_seed_in_use_is_told_and_replays)
{
    mnw_sampler   *a = open_sampler((mnw_sampler_opts){ .temperature = 1 });
    const uint64_t seed = mnw_sampler_seed(a);
    NE(seed, 0);
    mnw_sampler *b = open_sampler((mnw_sampler_opts){ .temperature = 1, .seed = seed });
    const float  x[] = { 1, 1, 1, 1 };
    for (uint64_t i = 0; i < 50; i++)
        EQ(mnw_sampler_pick_from(a, x, 4, NULL, 0, i), mnw_sampler_pick_from(b, x, 4, NULL, 0, i));
    mnw_sampler_close(a);
    mnw_sampler_close(b);
}

TEST(penalties_lower_what_was_said_lately)
{
    const float   x[] = { 2.0f, 1.9f, -1.0f };
    const int32_t said[] = { 0, 0, 2 };
    mnw_sampler  *sp = open_sampler((mnw_sampler_opts){ .repeat_penalty = 1.5f });
    EQ(mnw_sampler_pick_from(sp, x, 3, said, 3, 0), 1);
    EQ(mnw_sampler_pick_from(sp, x, 3, NULL, 0, 0), 0);   // the count is clean again
    mnw_sampler_close(sp);

    sp = open_sampler((mnw_sampler_opts){ .frequency_penalty = 0.06f });
    EQ(mnw_sampler_pick_from(sp, x, 3, said, 1, 0), 0);   // 2.0 - 0.06
    EQ(mnw_sampler_pick_from(sp, x, 3, said, 2, 0), 1);   // 2.0 - 0.12
    mnw_sampler_close(sp);

    sp = open_sampler((mnw_sampler_opts){ .presence_penalty = 0.2f, .penalty_last_n = 1 });
    EQ(mnw_sampler_pick_from(sp, x, 3, said, 2, 0), 1);
    EQ(mnw_sampler_pick_from(sp, x, 3, said, 3, 0), 0);   // token 0 is out of the window
    mnw_sampler_close(sp);
}

TEST(a_bias_forbids_or_favours)
{
    const float          x[] = { 3, 2, 1 };
    const mnw_logit_bias bias[] = { { 0, -INFINITY }, { 2, 1.5f }, { 99, 50 } };
    EQ(pick_once((mnw_sampler_opts){ .bias = bias, .n_bias = 3 }, x, 3), 2);
    EQ(support((mnw_sampler_opts){ .temperature = 5, .bias = bias, .n_bias = 1 }, x, 3), 6);
}

TEST(picking_does_not_allocate_after_the_first_time)
{
    enum { V = 1000 };
    float x[V];
    for (size_t i = 0; i < V; i++) x[i] = (float)i / V;
    mnw_sampler *sp = open_sampler((mnw_sampler_opts){ .temperature = 1, .top_p = 0.9f });
    (void)mnw_sampler_pick_from(sp, x, V, NULL, 0, 0);
    size_t       peak_before, peak_after;
    const size_t live = mnw_ctx_memory(CTX, &peak_before);
    for (uint64_t i = 1; i < 50; i++) (void)mnw_sampler_pick_from(sp, x, V, NULL, 0, i);
    EQ(mnw_ctx_memory(CTX, &peak_after), live);
    EQ(peak_after, peak_before);
    mnw_sampler_close(sp);
}

static void refused(mnw_sampler_opts o, const char *why)
{
    mnw_sampler *sp = NULL;
    EQ(mnw_sampler_open(CTX, &o, &sp), MNW_E_ARG);
    HAS(mnw_ctx_error(CTX), why);
    assert_null(sp);
}

TEST(options_out_of_range_are_named)
{
    refused((mnw_sampler_opts){ .temperature = -1 }, "temperature -1");
    refused((mnw_sampler_opts){ .temperature = NAN }, "temperature");
    refused((mnw_sampler_opts){ .temperature = 100.5f }, "temperature");
    refused((mnw_sampler_opts){ .top_p = 1.01f }, "top_p");
    refused((mnw_sampler_opts){ .min_p = -0.1f }, "min_p");
    refused((mnw_sampler_opts){ .repeat_penalty = -1 }, "repeat_penalty");
    refused((mnw_sampler_opts){ .frequency_penalty = 11 }, "frequency_penalty");
    refused((mnw_sampler_opts){ .presence_penalty = -11 }, "presence_penalty");
    refused((mnw_sampler_opts){ .n_bias = 1 }, "bias");
    mnw_sampler_close(open_sampler((mnw_sampler_opts){ .temperature = 100, .top_p = 1, .min_p = 1 }));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(greedy_takes_the_highest_and_the_lowest_id_of_equals),
        T(logits_that_are_no_numbers_never_win_a_draw),
        T(draws_follow_the_softmax),
        T(top_k_top_p_and_min_p_keep_what_they_say),
        T(what_comes_out_is_what_a_naive_reference_keeps),
        T(a_heap_draw_has_the_same_distribution_as_a_plain_one),
        T(the_same_seed_and_position_give_the_same_token),
        T(the_seed_in_use_is_told_and_replays),
        T(penalties_lower_what_was_said_lately),
        T(a_bias_forbids_or_favours),
        T(picking_does_not_allocate_after_the_first_time),
        T(options_out_of_range_are_named),
    };
    return cmocka_run_group_tests_name(__FILE__, tests, setup, teardown);
}
