/* SPDX-License-Identifier: Apache-2.0
 *
 * test_tokenizer_threads.c - threads that share a tokenizer get what one gets alone.
 */
#include <pthread.h>

#include "tok.h"
#include "tok_small.h"

enum { THREADS = 4, TEXT = 20000 };

typedef struct shared {
    const mnw_tokenizer *tok;
    const char          *text;
    int32_t              ids[TEXT];
    size_t               n;
    mnw_status           st;
} shared;

static void *encode(void *user)
{
    shared *s = user;
    for (int i = 0; i < 5 && s->st == MNW_OK; i++) {
        s->st = mnw_tokenizer_encode(s->tok, s->text, TEXT, 0, s->ids, TEXT, &s->n);
    }
    return NULL;
}

TEST(threads_that_share_a_tokenizer_get_the_same_ids)
{
    static char   json[SMALL_JSON], text[TEXT];
    static shared alone, s[THREADS];
    tok_bench     b;
    pthread_t     thread[THREADS];
    for (size_t i = 0; i < TEXT; i++) text[i] = "the aaaaa thethe 12 x"[i * i % 97 % 21];
    tok_init(&b);
    const size_t n = small_json(json, "{\"type\":\"NFC\"}", SMALL_GPT2, "");
    OK(mn_tokenizer_from_json(&b.ctx, (mn_bytes){ (uint8_t *)json, n }, (mn_bytes){ NULL, 0 }, &b.tok,
                              &b.err));
    alone = (shared){ .tok = b.tok, .text = text };
    encode(&alone);
    OK(alone.st);
    for (int i = 0; i < THREADS; i++) {
        s[i] = (shared){ .tok = b.tok, .text = text };
        OK(pthread_create(&thread[i], NULL, encode, &s[i]));
    }
    for (int i = 0; i < THREADS; i++) {
        OK(pthread_join(thread[i], NULL));
        OK(s[i].st);
        EQ(s[i].n, alone.n);
        EQ_MEM(s[i].ids, alone.ids, alone.n * sizeof *alone.ids);
    }
    tok_done(&b);
}

int main(void)
{
    return RUN(T(threads_that_share_a_tokenizer_get_the_same_ids));
}
