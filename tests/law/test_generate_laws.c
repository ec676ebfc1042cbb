/* SPDX-License-Identifier: Apache-2.0
 *
 * test_generate_laws.c - the same seed gives the same reply, whichever way the session got there.
 */
#include <minnow/generate.h>

#include "lab.h"

enum { N_PROMPT = 40, N_REPLY = 48 };

static const tiny MODEL = { .arch = "qwen3", .type = MN_Q4_0, .embd_type = MN_Q8_0 };

typedef struct reply {
    int32_t token[N_REPLY];
    size_t  n;
} reply;

static bool keep_token(void *user, const mnw_event *e)
{
    reply *r = user;
    if (e->kind == MNW_EVENT_TOKEN) r->token[r->n++] = e->token;
    return true;
}

static reply ask(lab *b, mnw_sampler *sp)
{
    int32_t                 prompt[N_PROMPT];
    reply                   r = { 0 };
    const mnw_generate_opts o = { .size = sizeof o, .max_tokens = N_REPLY, .tokens = true,
                                  .ignore_end = true, .no_loop_guard = true };
    for (size_t i = 0; i < N_PROMPT; i++) prompt[i] = lab_token(i);
    if (mnw_generate(b->session, sp, prompt, N_PROMPT, &o, keep_token, &r, NULL) != MNW_OK)
        fail_msg("%s", mnw_session_error(b->session));
    EQ(r.n, N_REPLY);
    return r;
}

static mnw_sampler *sampler(lab *b, uint64_t seed)
{
    mnw_sampler           *sp;
    const mnw_sampler_opts o = { .size = sizeof o, .temperature = 1.5f, .top_p = 0.95f,
                                 .repeat_penalty = 1.1f, .seed = seed };
    OK(mnw_sampler_open(b->ctx, &o, &sp));
    return sp;
}

TEST(the_same_seed_gives_the_same_reply_at_any_thread_count_and_batch)
{
    reply first = { 0 };
    for (uint32_t threads = 1; threads <= 4; threads++) {
        lab b;
        lab_open(&b, &MODEL, &(lab_opts){ .threads = threads, .n_ctx = 128,
                                          .n_batch = threads == 3 ? 1 : 16 });
        mnw_sampler *sp = sampler(&b, 7);
        const reply  r = ask(&b, sp);
        if (threads == 1) first = r;
        EQ_MEM(r.token, first.token, sizeof r.token);
        mnw_sampler_close(sp);
        lab_close(&b);
    }
}

TEST(a_seed_read_back_replays_and_another_does_not)
{
    lab b;
    lab_open(&b, &MODEL, &(lab_opts){ .n_ctx = 128 });
    mnw_sampler *a = sampler(&b, 0), *other = sampler(&b, 8);
    const reply  r = ask(&b, a);
    mnw_sampler *again = sampler(&b, mnw_sampler_seed(a));
    const reply  r2 = ask(&b, again), r3 = ask(&b, other);
    EQ_MEM(r2.token, r.token, sizeof r.token);
    YES(memcmp(r3.token, r.token, sizeof r.token) != 0);
    mnw_sampler_close(a);
    mnw_sampler_close(again);
    mnw_sampler_close(other);
    lab_close(&b);
}

TEST(a_reused_prefix_and_earlier_draws_change_nothing)
{
    lab b;
    lab_open(&b, &MODEL, &(lab_opts){ .threads = 2, .n_ctx = 128 });
    mnw_sampler *sp = sampler(&b, 9);
    const reply  r = ask(&b, sp);
    reply        r2 = ask(&b, sp);   // all of the prompt is there
    EQ_MEM(r2.token, r.token, sizeof r.token);
    OK(mnw_session_rewind(b.session, 13));
    lab_feed(b.session, 30, 60, 30);   // something else after 13 common tokens
    r2 = ask(&b, sp);
    EQ_MEM(r2.token, r.token, sizeof r.token);
    mnw_sampler_close(sp);
    lab_close(&b);
}

TEST(a_second_reply_allocates_nothing)
{
    lab b;
    lab_open(&b, &MODEL, &(lab_opts){ .threads = 2, .n_ctx = 128 });
    mnw_sampler *sp = sampler(&b, 1);
    (void)ask(&b, sp);
    const size_t calls = b.memory.calls;
    (void)ask(&b, sp);
    EQ(b.memory.calls, calls);
    mnw_sampler_close(sp);
    lab_close(&b);
}

TEST(without_memory_for_the_vocabulary_a_reply_fails_and_the_next_succeeds)
{
    for (size_t fail = 1; fail <= 2; fail++) {
        lab b;
        lab_open(&b, &MODEL, &(lab_opts){ .n_ctx = 128 });
        mnw_sampler            *sp = sampler(&b, 1);
        const int32_t           prompt = 5;
        const mnw_generate_opts o = { .size = sizeof o, .max_tokens = 1 };
        b.memory.fail_at = fail;
        EQ(mnw_generate(b.session, sp, &prompt, 1, &o, NULL, NULL, NULL), MNW_E_NOMEM);
        HAS(mnw_session_error(b.session), "vocabulary");
        b.memory.fail_at = 0;
        OK(mnw_generate(b.session, sp, &prompt, 1, &o, NULL, NULL, NULL));
        mnw_sampler_close(sp);
        lab_close(&b);
    }
}

int main(void)
{
    return RUN(T(the_same_seed_gives_the_same_reply_at_any_thread_count_and_batch),
               T(a_seed_read_back_replays_and_another_does_not),
               T(a_reused_prefix_and_earlier_draws_change_nothing),
               T(a_second_reply_allocates_nothing),
               T(without_memory_for_the_vocabulary_a_reply_fails_and_the_next_succeeds));
}
