/* SPDX-License-Identifier: Apache-2.0
 *
 * test_tokenizer_faults.c - what if memory ends while a tokenizer is opened or encodes?
 */
#include "tok.h"
#include "tok_small.h"

typedef struct countdown {
    size_t left;       // allocations until one fails; SIZE_MAX = never
    size_t failed;
} countdown;

static void *failing(void *user, void *ptr, size_t old_size, size_t new_size)
{
    countdown *c = user;
    (void)old_size;
    if (!new_size) {
        free(ptr);
        return NULL;
    }
    if (c->left != SIZE_MAX && c->left-- == 0) {
        c->left = SIZE_MAX;
        c->failed++;
        return NULL;
    }
    return realloc(ptr, new_size);
}

/* Documents that between them use every table. */
static size_t document(int which, char *json)
{
    static const char unigram[] =
        "{\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"\xE2\x96\x81\"},\"model\":{"
        "\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":[[\"<unk>\",0],[\"\xE2\x96\x81\",-2],[\"a\",-3]]}}";
    if (which == 0) {
        return small_json(json, "{\"type\":\"NFC\"}", SMALL_GPT2,
                          "{\"id\":263,\"content\":\"<x>\",\"normalized\":true}");
    }
    memcpy(json, unigram, sizeof unigram);
    return sizeof unigram - 1;
}

TEST(every_failing_allocation_of_open_is_reported_and_nothing_leaks)
{
    for (int which = 0; which < 2; which++) {
        char         json[SMALL_JSON];
        const size_t n = document(which, json);
        size_t       k = 0;
        for (mnw_status st = MNW_E_NOMEM; st != MNW_OK; k++) {
            tok_bench b;
            countdown c = { .left = k };
            tok_init(&b);
            mn_mem_init(&b.ctx.mem, failing, &c);
            st = mn_tokenizer_from_json(&b.ctx, (mn_bytes){ (uint8_t *)json, n },
                                        (mn_bytes){ NULL, 0 }, &b.tok, &b.err);
            if (st != MNW_OK) {
                EQ(st, MNW_E_NOMEM);
                YES(b.err.text[0] != '\0');
                assert_null(b.tok);
            }
            EQ(c.failed, st != MNW_OK);
            tok_done(&b);
        }
        YES(k > 2);
    }
}

/* The cache of words may fail in silence: without it the same ids come, later. */
TEST(every_failing_allocation_of_encode_is_reported_or_changes_nothing)
{
    static char text[4000];
    for (size_t i = 0; i + 8 <= sizeof text; i += 8) memcpy(text + i, "a<x>e\xCC\x81\xFF", 8);
    memset(text + 800, 'a', 1000);          // a long word
    for (int which = 0; which < 2; which++) {
        char         json[SMALL_JSON];
        const size_t n = document(which, json);
        tok_bench    b;
        countdown    c = { .left = SIZE_MAX };
        size_t       n_want, n_ids, k = 0, reported = 0;
        tok_init(&b);
        mn_mem_init(&b.ctx.mem, failing, &c);
        OK(mn_tokenizer_from_json(&b.ctx, (mn_bytes){ (uint8_t *)json, n }, (mn_bytes){ NULL, 0 },
                                  &b.tok, &b.err));
        const size_t live = atomic_load(&b.ctx.mem.live);
        static int32_t want[3 * sizeof text], ids[3 * sizeof text];
        OK(mnw_tokenizer_encode(b.tok, text, sizeof text, 0, want, LEN(want), &n_want));
        do {
            c = (countdown){ .left = k++ };
            const mnw_status st = mnw_tokenizer_encode(b.tok, text, sizeof text, 0, ids, LEN(ids), &n_ids);
            EQ(atomic_load(&b.ctx.mem.live), live);
            if (st == MNW_OK) {
                EQ(n_ids, n_want);
                EQ_MEM(ids, want, n_want * sizeof *ids);
            } else {
                EQ(st, MNW_E_NOMEM);
                reported++;
            }
        } while (c.failed);
        YES(reported > 0);
        tok_done(&b);
    }
}

int main(void)
{
    return RUN(T(every_failing_allocation_of_open_is_reported_and_nothing_leaks),
               T(every_failing_allocation_of_encode_is_reported_or_changes_nothing));
}
