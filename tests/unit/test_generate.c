/* SPDX-License-Identifier: Apache-2.0
 *
 * test_generate.c - what is reported while a reply is made, and when it ends.
 *
 * The sampler of this program follows a script, so a test says which tokens a model "wants"; ids
 * below 256 of the tiny model stand for one byte each.  The real sampler is in test_generate_laws.c.
 */
#include <math.h>
#include <minnow/generate.h>

#include "base/utf8.h"
#include "lab.h"

enum { IM_START = 257, IM_END = 258, N_CTX = 64 };

struct mnw_sampler {
    const int32_t *script;
    size_t         n, at;   // after the end it starts again
};

int32_t mnw_sampler_pick(mnw_sampler *sp, const mnw_session *s)
{
    return mnw_session_logits(s) ? sp->script[sp->at++ % sp->n] : -1;
}

static lab B;

static int setup(void **state)
{
    lab_open(&B, &(tiny){ 0 }, &(lab_opts){ .n_ctx = N_CTX });
    return 0;
}

static int teardown(void **state)
{
    lab_close(&B);
    return 0;
}

/* What one reply did. */
typedef struct reply {
    char               text[1024];    // pieces joined by '|'
    size_t             len;
    int32_t            token[128];
    float              logprob[128];
    size_t             n_tokens;
    uint64_t           progress[8];
    size_t             n_progress, n_done, after_false;
    mnw_reason         reason;
    mnw_generate_stats stats;
    size_t             decline_at;    // answer false to this event, counted from 1
    size_t             events;
    bool               declined, cancel;
} reply;

static bool on_event(void *user, const mnw_event *e)
{
    reply *r = user;
    r->events++;
    if (r->declined && e->kind != MNW_EVENT_DONE) r->after_false++;
    switch (e->kind) {
    case MNW_EVENT_TEXT:
        YES(mn_utf8_valid(e->text, e->text_len));
        if (r->len) r->text[r->len++] = '|';
        memcpy(r->text + r->len, e->text, e->text_len);
        r->len += e->text_len;
        break;
    case MNW_EVENT_TOKEN:
        r->token[r->n_tokens] = e->token;
        r->logprob[r->n_tokens++] = e->logprob;
        break;
    case MNW_EVENT_PROGRESS:
        r->progress[r->n_progress++] = e->done;
        break;
    case MNW_EVENT_DONE:
        r->reason = e->reason;
        r->n_done++;
        break;
    }
    if (r->cancel) mnw_session_cancel(B.session);
    r->declined |= r->events == r->decline_at;
    return r->events != r->decline_at;
}

static const int32_t PROMPT[] = { 'H', 'i', '?' };

static mnw_status ask(reply *r, const int32_t *script, size_t n, const mnw_generate_opts *o)
{
    mnw_sampler sp = { .script = script, .n = n };
    OK(mnw_session_rewind(B.session, 0));
    r->stats.size = sizeof r->stats;
    const mnw_status st =
        mnw_generate(B.session, &sp, PROMPT, LEN(PROMPT), o, on_event, r, &r->stats);
    EQ(r->n_done, 1);
    EQ(r->reason, r->stats.reason);
    EQ(r->after_false, 0);
    return st;
}

/* The text of a reply made of these bytes and then IM_END. */
static const char *say(const char *bytes, const char *const *stop, size_t n_stop)
{
    static reply r;
    int32_t      script[128];
    size_t       n = 0;
    for (; bytes[n]; n++) script[n] = (uint8_t)bytes[n];
    script[n] = IM_END;
    memset(&r, 0, sizeof r);
    OK(ask(&r, script, n + 1, &(mnw_generate_opts){ .stop = stop, .n_stop = n_stop }));
    EQ(r.reason, MNW_REASON_STOP);
    return r.text;
}

TEST(characters_come_whole_however_tokens_cut_them)
{
    EQ_STR(say("a\xE8\xB5\x8B!", NULL, 0), "a|\xE8\xB5\x8B|!");
    EQ_STR(say("\xF0\x9F\x98\x8A", NULL, 0), "\xF0\x9F\x98\x8A");
}

TEST(bad_bytes_are_shown_as_replacement_characters)
{
    EQ_STR(say("\xFFz", NULL, 0), "\xEF\xBF\xBD|z");
    EQ_STR(say("\xC3(", NULL, 0), "\xEF\xBF\xBD(");
    EQ_STR(say("z\xE4", NULL, 0), "z|\xEF\xBF\xBD");
    EQ_STR(say("z\xE4#", &(const char *){ "#" }, 1), "z|\xEF\xBF\xBD");
}

TEST(a_stop_string_is_neither_shown_nor_half_shown)
{
    EQ_STR(say("br own fox!", &(const char *){ "own fox" }, 1), "b|r| ");
    EQ_STR(say("ab<c", &(const char *){ "<|sep|>" }, 1), "a|b|<c");
    EQ_STR(say("x<|", &(const char *){ "<|sep|>" }, 1), "x|<|");   // released at the end

    reply r = { 0 };
    OK(ask(&r, (int32_t[]){ 'a', '#', 'b' }, 3,
           &(mnw_generate_opts){ .stop = (const char *const[]){ "zz", "#" }, .n_stop = 2 }));
    EQ_STR(r.text, "a");
    EQ(r.reason, MNW_REASON_STOP);
    EQ(r.stats.generated_tokens, 2);
}

TEST(an_end_token_ends_and_is_not_fed)
{
    reply r = { 0 };
    OK(ask(&r, (int32_t[]){ 'o', 'k', IM_END }, 3, &(mnw_generate_opts){ .tokens = true }));
    EQ_STR(r.text, "o|k");
    EQ(r.reason, MNW_REASON_STOP);
    EQ(r.stats.generated_tokens, 3);
    EQ(r.n_tokens, 3);
    EQ(r.token[2], IM_END);
    EQ(mnw_session_count(B.session), LEN(PROMPT) + 2);
    EQ(mnw_session_tokens(B.session)[LEN(PROMPT) + 1], 'k');
}

TEST(end_tokens_can_be_ignored_and_control_tokens_shown)
{
    const int32_t script[] = { 'a', IM_END, IM_START, 'b' };
    reply         r = { 0 };
    OK(ask(&r, script, LEN(script), &(mnw_generate_opts){ .ignore_end = true, .max_tokens = 4 }));
    EQ_STR(r.text, "a|b");
    EQ(r.reason, MNW_REASON_LENGTH);
    EQ(r.stats.generated_tokens, 4);

    r = (reply){ 0 };
    OK(ask(&r, (int32_t[]){ IM_START, IM_END }, 2, &(mnw_generate_opts){ .special = true }));
    EQ_STR(r.text, "<|im_start|>");
}

TEST(a_full_context_ends_a_reply_with_its_reason)
{
    reply   r = { 0 };
    int32_t script[100];
    for (size_t i = 0; i < LEN(script); i++) script[i] = (int32_t)('0' + i);
    OK(ask(&r, script, LEN(script), NULL));
    EQ(r.reason, MNW_REASON_CONTEXT);
    EQ(mnw_session_count(B.session), N_CTX);
    EQ(r.stats.generated_tokens, N_CTX - LEN(PROMPT) + 1);   // the last is known, but not fed
}

TEST(a_prompt_too_long_is_refused_with_both_numbers_before_any_work)
{
    int32_t     prompt[N_CTX + 1];
    mnw_sampler sp = { .script = &(int32_t){ 'x' }, .n = 1 };
    reply       r = { 0 };
    for (size_t i = 0; i < LEN(prompt); i++) prompt[i] = lab_token(i);
    OK(mnw_session_rewind(B.session, 0));
    OK(mnw_session_feed(B.session, PROMPT, 2));
    EQ(mnw_generate(B.session, &sp, prompt, N_CTX + 1, NULL, on_event, &r, NULL), MNW_E_FULL);
    HAS(mnw_session_error(B.session), "65");
    HAS(mnw_session_error(B.session), "64");
    EQ(r.reason, MNW_REASON_ERROR);
    EQ(r.n_progress, 0);
    EQ(mnw_session_count(B.session), 2);   // as it was

    r = (reply){ 0 };
    OK(mnw_generate(B.session, &sp, prompt, N_CTX, NULL, on_event, &r, &r.stats));
    EQ(r.reason, MNW_REASON_CONTEXT);
    EQ(r.stats.generated_tokens, 1);
}

TEST(bad_arguments_are_named_before_any_work)
{
    const char *many[17];
    reply       r = { 0 };
    mnw_sampler sp = { .script = &(int32_t){ 'x' }, .n = 1 };
    for (size_t i = 0; i < LEN(many); i++) many[i] = "stop";
    OK(ask(&r, (int32_t[]){ IM_END }, 1, &(mnw_generate_opts){ .stop = many, .n_stop = 16 }));
    r = (reply){ 0 };
    EQ(ask(&r, (int32_t[]){ IM_END }, 1, &(mnw_generate_opts){ .stop = many, .n_stop = 17 }),
       MNW_E_ARG);
    HAS(mnw_session_error(B.session), "17 stop strings");
    r = (reply){ 0 };
    EQ(ask(&r, (int32_t[]){ IM_END }, 1, &(mnw_generate_opts){ .n_stop = 1 }), MNW_E_ARG);

    const int32_t bad[] = { 'a', (int32_t)B.V };
    EQ(mnw_session_count(B.session), 0);
    EQ(mnw_generate(B.session, &sp, bad, 2, NULL, NULL, NULL, NULL), MNW_E_ARG);
    HAS(mnw_session_error(B.session), "prompt token 1");
    EQ(mnw_generate(B.session, &sp, bad, 0, NULL, NULL, NULL, NULL), MNW_E_ARG);
    HAS(mnw_session_error(B.session), "no tokens");
    EQ(mnw_generate(B.session, &sp, NULL, 1, NULL, NULL, NULL, NULL), MNW_E_ARG);
    EQ(mnw_session_count(B.session), 0);
}

static uint32_t cached(const int32_t *prompt, size_t n)
{
    mnw_generate_stats stats = { .size = sizeof stats };
    mnw_sampler        sp = { .script = (int32_t[]){ 'y', IM_END }, .n = 2 };
    OK(mnw_generate(B.session, &sp, prompt, n, NULL, NULL, NULL, &stats));
    EQ(stats.prompt_tokens, n);
    EQ(mnw_session_count(B.session), n + 1);
    return stats.cached_tokens;
}

TEST(the_longest_common_prefix_is_not_fed_again)
{
    const int32_t a[] = { 1, 2, 3, 4, 5 }, longer[] = { 1, 2, 3, 4, 5, 'y', 7 };
    const int32_t other[] = { 1, 2, 9, 4, 5 };
    OK(mnw_session_rewind(B.session, 0));
    EQ(cached(a, LEN(a)), 0);
    EQ(cached(longer, LEN(longer)), 6);   // the reply of before is part of it
    EQ(cached(other, LEN(other)), 2);
    EQ(cached(other, LEN(other)), 4);     // the last one again, for its logits
    EQ(cached(a, 1), 0);

    OK(mnw_session_rewind(B.session, 0));
    OK(mnw_session_feed(B.session, a, LEN(a)));
    EQ(cached(a, LEN(a)), LEN(a));        // its logits are there
}

TEST(progress_ends_at_the_whole_prompt)
{
    reply r = { 0 };
    OK(ask(&r, (int32_t[]){ IM_END }, 1, NULL));
    YES(r.n_progress >= 1);
    EQ(r.progress[r.n_progress - 1], LEN(PROMPT));
}

TEST(a_callback_that_says_no_hears_of_the_end_only)
{
    for (size_t at = 1; at <= 7; at++) {   // progress, then token and text three times
        reply r = { .decline_at = at };
        OK(ask(&r, (int32_t[]){ 'a', 'b', '\xE4' & 0xFF, 'c' }, 4,
               &(mnw_generate_opts){ .tokens = true, .max_tokens = 4 }));
        EQ(r.reason, MNW_REASON_CANCELLED);
        EQ(r.events, at + 1);
    }
}

TEST(a_cancelled_session_is_a_reason_and_no_error)
{
    reply r = { .cancel = true };
    OK(ask(&r, (int32_t[]){ 'a', 'b' }, 2, NULL));
    EQ(r.reason, MNW_REASON_CANCELLED);
    r = (reply){ 0 };   // the request to cancel that came with the last event was not used up
    OK(ask(&r, (int32_t[]){ 'a', IM_END }, 2, NULL));
    EQ(r.reason, MNW_REASON_CANCELLED);
    r = (reply){ 0 };
    OK(ask(&r, (int32_t[]){ 'a', IM_END }, 2, NULL));
    EQ(r.reason, MNW_REASON_STOP);
}

TEST(an_endless_phrase_ends_by_the_loop_guard)
{
    const char phrase[] = "czapki, ";
    int32_t    script[sizeof phrase - 1];
    for (size_t i = 0; i < LEN(script); i++) script[i] = phrase[i];
    reply r = { 0 };
    OK(ask(&r, script, LEN(script), NULL));
    EQ(r.reason, MNW_REASON_REPETITION);
    EQ(r.stats.generated_tokens, 6 * LEN(script));

    r = (reply){ 0 };
    OK(ask(&r, script, LEN(script), &(mnw_generate_opts){ .no_loop_guard = true }));
    EQ(r.reason, MNW_REASON_CONTEXT);
}

TEST(log_probabilities_are_those_of_the_raw_logits)
{
    reply r = { 0 };
    OK(ask(&r, (int32_t[]){ 200 }, 1, &(mnw_generate_opts){ .tokens = true, .max_tokens = 1 }));
    OK(mnw_session_rewind(B.session, 0));
    OK(mnw_session_feed(B.session, PROMPT, LEN(PROMPT)));
    const float *l = mnw_session_logits(B.session);
    double       sum = 0;
    for (uint32_t i = 0; i < B.V; i++) sum += exp((double)l[i]);
    NEAR((double)r.logprob[0], (double)l[200] - log(sum), 1e-5);
}

TEST(nothing_is_allocated)
{
    reply r = { 0 };
    const size_t calls = B.memory.calls;
    OK(ask(&r, (int32_t[]){ 'a', 'b', 'c', IM_END }, 4, &(mnw_generate_opts){ .tokens = true }));
    EQ(B.memory.calls, calls);
}

TEST(an_older_callers_statistics_are_filled_up_to_their_size)
{
    mnw_generate_stats stats;
    mnw_sampler        sp = { .script = &(int32_t){ IM_END }, .n = 1 };
    memset(&stats, 0xAB, sizeof stats);
    stats.size = offsetof(mnw_generate_stats, cached_tokens);
    OK(mnw_generate(B.session, &sp, PROMPT, LEN(PROMPT), NULL, NULL, NULL, &stats));
    EQ(stats.reason, MNW_REASON_STOP);
    EQ(stats.prompt_tokens, LEN(PROMPT));
    EQ(stats.cached_tokens, 0xABABABABu);
}

TEST(reasons_have_stable_names)
{
    EQ_STR(mnw_reason_id(MNW_REASON_STOP), "stop");
    EQ_STR(mnw_reason_id(MNW_REASON_LENGTH), "length");
    EQ_STR(mnw_reason_id(MNW_REASON_CONTEXT), "context");
    EQ_STR(mnw_reason_id(MNW_REASON_REPETITION), "repetition");
    EQ_STR(mnw_reason_id(MNW_REASON_CANCELLED), "cancelled");
    EQ_STR(mnw_reason_id(MNW_REASON_NONE), "none");
    EQ_STR(mnw_reason_id((mnw_reason)99), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(characters_come_whole_however_tokens_cut_them),
        T(bad_bytes_are_shown_as_replacement_characters),
        T(a_stop_string_is_neither_shown_nor_half_shown),
        T(an_end_token_ends_and_is_not_fed),
        T(end_tokens_can_be_ignored_and_control_tokens_shown),
        T(a_full_context_ends_a_reply_with_its_reason),
        T(a_prompt_too_long_is_refused_with_both_numbers_before_any_work),
        T(bad_arguments_are_named_before_any_work),
        T(the_longest_common_prefix_is_not_fed_again),
        T(progress_ends_at_the_whole_prompt),
        T(a_callback_that_says_no_hears_of_the_end_only),
        T(a_cancelled_session_is_a_reason_and_no_error),
        T(an_endless_phrase_ends_by_the_loop_guard),
        T(log_probabilities_are_those_of_the_raw_logits),
        T(nothing_is_allocated),
        T(an_older_callers_statistics_are_filled_up_to_their_size),
        T(reasons_have_stable_names),
    };
    return cmocka_run_group_tests_name(__FILE__, tests, setup, teardown);
}
