/* SPDX-License-Identifier: Apache-2.0
 *
 * test_score_laws.c - log-probabilities are those the logits give, whatever the way to them.
 */
#include <math.h>

#include "lab.h"

enum { N = 70 };

static const tiny MODEL = { .arch = "qwen3", .type = MN_Q4_0, .embd_type = MN_Q8_0, .V = 700 };

/* What a naive reading of the logits says about the next token. */
typedef struct naive {
    double   said[N];
    uint32_t V;
} naive;

static bool softmax(void *user, size_t pos, const float *logits)
{
    naive *n = user;
    double sum = 0;
    for (uint32_t i = 0; i < n->V; i++) sum += exp((double)logits[i]);
    n->said[pos] = (double)logits[lab_token(pos + 1)] - log(sum);
    return true;
}

static void tokens_and_targets(int32_t *tokens, int32_t *targets)
{
    for (size_t i = 0; i < N; i++) {
        tokens[i] = lab_token(i);
        targets[i] = lab_token(i + 1);
    }
}

/* Score [0, N) in calls of `step` tokens. */
static void score(mnw_session *s, float *out, size_t step)
{
    int32_t tokens[N], targets[N];
    tokens_and_targets(tokens, targets);
    OK(mnw_session_rewind(s, 0));
    for (size_t at = 0; at < N; at += step) {
        const size_t n = N - at < step ? N - at : step;
        if (mnw_session_score(s, tokens + at, n, targets + at, out + at) != MNW_OK)
            fail_msg("%s", mnw_session_error(s));
    }
    EQ(mnw_session_count(s), N);
    YES(mnw_session_logits(s) == NULL);
}

TEST(scores_are_the_logarithms_of_the_softmax)
{
    for (int backend = MNW_BACKEND_CPU; backend <= MNW_BACKEND_REF; backend++) {
        lab b;
        lab_open(&b, &MODEL, &(lab_opts){ .n_ctx = 128, .backend = (mnw_backend)backend });
        float   got[N];
        int32_t tokens[N], targets[N];
        naive   n = { .V = b.V };
        tokens_and_targets(tokens, targets);
        score(b.session, got, N);
        OK(mnw_session_rewind(b.session, 0));
        OK(mnw_session_feed_each(b.session, tokens, N, softmax, &n));
        for (size_t i = 0; i < N; i++) NEAR((double)got[i], n.said[i], 2e-6);
        lab_close(&b);
    }
}

TEST(calls_batches_threads_and_instruction_sets_do_not_change_a_bit)
{
    static const char *const TIERS[] = { "scalar", NULL };
    static const size_t      STEPS[] = { 1, 31, 33, N };
    float                    want[N], got[N];
    bool                     first = true;
    for (size_t tier = 0; tier < LEN(TIERS); tier++) {
        for (uint32_t threads = 1; threads <= 3; threads += 2) {
            for (uint32_t batch = 5; batch <= 45; batch += 40) {
                lab b;
                lab_open(&b, &MODEL, &(lab_opts){ .threads = threads, .cpu = TIERS[tier],
                                                  .n_ctx = 128, .n_batch = batch });
                for (size_t i = 0; i < LEN(STEPS); i++) {
                    score(b.session, first ? want : got, STEPS[i]);
                    if (!first) EQ_MEM(got, want, sizeof want);
                    first = false;
                }
                lab_close(&b);
            }
        }
    }
}

TEST(the_logits_of_one_position_say_the_same_to_the_bit)
{
    lab b;
    lab_open(&b, &MODEL, &(lab_opts){ .threads = 2, .n_ctx = 128 });
    float scored[N];
    score(b.session, scored, N);
    for (size_t i = 0; i < N; i += 23) {
        OK(mnw_session_rewind(b.session, 0));
        lab_feed(b.session, 0, i + 1, N);
        const float said = mnw_session_logprob(b.session, lab_token(i + 1));
        EQ_MEM(&said, &scored[i], sizeof said);
    }
    YES(isnan(mnw_session_logprob(b.session, -1)));
    YES(isnan(mnw_session_logprob(b.session, (int32_t)b.V)));
    NO(isnan(mnw_session_logprob(b.session, (int32_t)b.V - 1)));
    OK(mnw_session_rewind(b.session, 3));
    YES(isnan(mnw_session_logprob(b.session, 1)));   // nothing is current
    lab_close(&b);
}

TEST(a_branch_scores_like_the_whole_text)
{
    lab b;
    lab_open(&b, &MODEL, &(lab_opts){ .n_ctx = 128 });
    int32_t tokens[N], targets[N];
    float   whole[N], branch[N];
    tokens_and_targets(tokens, targets);
    score(b.session, whole, N);
    OK(mnw_session_rewind(b.session, 40));
    lab_feed(b.session, 90, 110, 20);   // another ending, forgotten again
    OK(mnw_session_rewind(b.session, 40));
    OK(mnw_session_score(b.session, tokens + 40, N - 40, targets + 40, branch));
    EQ_MEM(branch, whole + 40, (N - 40) * sizeof *whole);
    lab_close(&b);
}

TEST(targets_that_ask_for_nothing_change_nothing_else)
{
    lab b;
    lab_open(&b, &MODEL, &(lab_opts){ .threads = 2, .n_ctx = 128 });
    int32_t tokens[N], targets[N];
    float   whole[N], some[N];
    tokens_and_targets(tokens, targets);
    score(b.session, whole, N);
    for (size_t i = 0; i < N; i++)
        if (i % 7 < 3 || i > 60) targets[i] = -1;
    OK(mnw_session_rewind(b.session, 0));
    OK(mnw_session_score(b.session, tokens, N, targets, some));
    for (size_t i = 0; i < N; i++) {
        const float want = targets[i] < 0 ? 0.0f : whole[i];
        EQ_MEM(&some[i], &want, sizeof want);
    }
    lab_close(&b);
}

TEST(bad_targets_are_refused_and_nothing_is_consumed)
{
    lab b;
    lab_open(&b, &MODEL, &(lab_opts){ .n_ctx = 64 });
    int32_t tokens[65] = { 0 }, targets[65] = { 699, 700 };
    float   out[65];
    const size_t calls = b.memory.calls;
    EQ(mnw_session_score(b.session, tokens, 2, targets, out), MNW_E_ARG);
    HAS(mnw_session_error(b.session), "target 1: id 700, expected 0 to 699");
    EQ(mnw_session_score(b.session, tokens, 1, NULL, out), MNW_E_ARG);
    HAS(mnw_session_error(b.session), "targets: NULL");
    EQ(mnw_session_score(b.session, tokens, 1, targets, NULL), MNW_E_ARG);
    HAS(mnw_session_error(b.session), "logprobs: NULL");
    targets[1] = 0;
    EQ(mnw_session_score(b.session, tokens, 65, targets, out), MNW_E_FULL);
    EQ(mnw_session_count(b.session), 0);
    OK(mnw_session_score(b.session, tokens, 64, targets, out));
    EQ(mnw_session_count(b.session), 64);
    OK(mnw_session_score(b.session, NULL, 0, NULL, NULL));
    EQ(b.memory.calls, calls);   // nothing was allocated
    lab_close(&b);
}

int main(void)
{
    return RUN(T(scores_are_the_logarithms_of_the_softmax),
               T(calls_batches_threads_and_instruction_sets_do_not_change_a_bit),
               T(the_logits_of_one_position_say_the_same_to_the_bit),
               T(a_branch_scores_like_the_whole_text),
               T(targets_that_ask_for_nothing_change_nothing_else),
               T(bad_targets_are_refused_and_nothing_is_consumed));
}
