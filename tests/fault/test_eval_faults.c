/* SPDX-License-Identifier: Apache-2.0
 *
 * test_eval_faults.c - an evaluation that runs out of memory says so and leaves nothing behind.
 */
#include <minnow/eval.h>

#include "lab.h"
#include "tmpdir.h"

static const tiny MODEL = { .type = MN_Q4_0, .L = 1, .n_ctx = 64 };

/* Run with allocation 1, 2, 3 ... failing until it succeeds; returns how many failed. */
static size_t until_it_succeeds(mnw_status (*run)(mnw_model *m))
{
    lab b;
    lab_open(&b, &MODEL, &(lab_opts){ .no_session = true });
    const size_t before = b.memory.live;
    size_t       n = 1;
    for (mnw_status st = MNW_E_NOMEM; st != MNW_OK; n++) {
        b.memory.fail_at = n;
        st = run(b.model);
        b.memory.fail_at = 0;
        if (st != MNW_OK) {
            EQ(st, MNW_E_NOMEM);
            YES(mnw_ctx_error(b.ctx)[0] != '\0');
        }
        EQ(b.memory.live, before);
        YES(n < 2000);
    }
    lab_close(&b);
    return n - 2;
}

static mnw_status perplexity(mnw_model *m)
{
    mnw_ppl_result r = { .size = sizeof r };
    return mnw_eval_ppl(m, "the pond was still", 18, &(mnw_ppl_opts){ .window = 6 }, &r);
}

static mnw_status choice(mnw_model *m)
{
    mnw_choice_result    r = { .size = sizeof r };
    const mnw_choice_opts o = { .data = tmp_dir };
    return mnw_eval_choice(m, tmp_path("t.json"), &o, &r);
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(tmp_path(name), "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

TEST(every_failing_allocation_of_a_perplexity_is_reported)
{
    YES(until_it_succeeds(perplexity) > 5);
}

TEST(every_failing_allocation_of_a_choice_is_reported)
{
    tmp_open();
    put("t.json", "{\"data\": [{\"file\": \"q.csv\"}], \"format\": \"csv\", \"context\": \"{{ q }}\", "
                  "\"choices\": \"{{ [a, b] | tojson }}\", \"right\": \"{{ r }}\", "
                  "\"description\": \"x\", \"skip\": \"{% if r == '' %}x{% endif %}\"}");
    put("q.csv", "q,a,b,r\nup,or,down,0\nno,x,y,\n");
    YES(until_it_succeeds(choice) > 20);
    tmp_close();
}

int main(void)
{
    return RUN(T(every_failing_allocation_of_a_perplexity_is_reported),
               T(every_failing_allocation_of_a_choice_is_reported));
}
