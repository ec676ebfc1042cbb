/* SPDX-License-Identifier: Apache-2.0
 *
 * test_eval_laws.c - evaluations agree with a naive reading of their definitions, and sharing, windows
 * and journals change nothing.
 */
#include <math.h>
#include <minnow/eval.h>

#include "lab.h"
#include "tmpdir.h"

static const tiny MODEL = { .arch = "qwen3", .type = MN_Q4_0, .embd_type = MN_Q8_0, .n_ctx = 512 };

static const char TEXT[] =
    "The pond was still. A minnow came up, looked at the moon, and went down again; the moon stayed "
    "where it was, and the pond was still. Nobody had seen it but the heron, who does not tell.";

/* Negative log-probabilities of tokens 1 .. n-1 after those before them, straight from the logits. */
typedef struct naive {
    const int32_t *ids;
    size_t         n;
    double         nll[512];
    uint32_t       V;
} naive;

static bool softmax(void *user, size_t pos, const float *logits)
{
    naive *n = user;
    if (pos + 1 >= n->n) return true;
    double sum = 0;
    for (uint32_t i = 0; i < n->V; i++) sum += exp((double)logits[i]);
    n->nll[pos + 1] = log(sum) - (double)logits[n->ids[pos + 1]];
    return true;
}

static void naive_run(const lab *b, const int32_t *ids, size_t n, naive *out)
{
    mnw_session *s;
    *out = (naive){ .ids = ids, .n = n, .V = b->V };
    OK(mnw_session_open(b->model, &(mnw_session_opts){ .n_ctx = 512 }, &s));
    OK(mnw_session_feed_each(s, ids, n, softmax, out));
    mnw_session_close(s);
}

/* The tiny tokenizer has a token for each byte. */
static size_t bytes_as_ids(const char *text, int32_t *ids)
{
    const size_t n = strlen(text);
    for (size_t i = 0; i < n; i++) ids[i] = (int32_t)(uint8_t)text[i];
    return n;
}

TEST(perplexity_is_what_its_definition_says)
{
    lab b;
    lab_open(&b, &MODEL, &(lab_opts){ .no_session = true });
    int32_t      ids[512];
    const size_t n = bytes_as_ids(TEXT, ids);
    enum { W = 32 };
    double all = 0, half = 0;
    size_t windows = n / W;
    for (size_t w = 0; w < windows; w++) {
        naive x;
        naive_run(&b, ids + w * W, W, &x);
        for (size_t i = 1; i < W; i++) all += x.nll[i];
        for (size_t i = W / 2 + 1; i < W; i++) half += x.nll[i];
    }
    mnw_ppl_result r = { .size = sizeof r };
    OK(mnw_eval_ppl(b.model, TEXT, strlen(TEXT), &(mnw_ppl_opts){ .window = W }, &r));
    EQ(r.windows, windows);
    EQ(r.tokens, windows * (W - 1));
    EQ(r.bytes, windows * (W - 1));
    EQ(r.text_tokens, n);
    NEAR(r.nll, all, 1e-4);
    NEAR(r.ppl, exp(all / (double)(windows * (W - 1))), 1e-3);
    NEAR(r.ppl_half, exp(half / (double)(windows * (W / 2 - 1))), 1e-3);
    NEAR(r.bits_per_byte, all / log(2.0) / (double)r.bytes, 1e-6);
    lab_close(&b);
}

TEST(a_stride_counts_each_token_once)
{
    lab b;
    lab_open(&b, &MODEL, &(lab_opts){ .no_session = true });
    int32_t      ids[512];
    const size_t n = bytes_as_ids(TEXT, ids);
    enum { W = 32, S = 12 };
    double all = 0;
    size_t counted = 0, windows = 0;
    for (size_t at = 0; at + W <= n; at += S, windows++) {
        naive x;
        naive_run(&b, ids + at, W, &x);
        for (size_t i = at ? W - S : 1; i < W; i++, counted++) all += x.nll[i];
    }
    mnw_ppl_result     r = { .size = sizeof r };
    const mnw_ppl_opts o = { .window = W, .stride = S };
    OK(mnw_eval_ppl(b.model, TEXT, strlen(TEXT), &o, &r));
    EQ(r.windows, windows);
    EQ(r.tokens, counted);
    EQ(counted, W - 1 + (windows - 1) * S);
    NEAR(r.nll, all, 1e-4);
    YES(isnan(r.ppl_half));
    lab_close(&b);
}

TEST(windows_and_strides_are_judged_on_both_sides_of_their_limits)
{
    lab b;
    lab_open(&b, &MODEL, &(lab_opts){ .no_session = true });
    const struct {
        mnw_ppl_opts o;
        size_t       len;
        mnw_status   expected;
        const char  *text;
    } CASES[] = {
        { { .window = 2 }, 9, MNW_OK, "" },
        { { .window = 1 }, 9, MNW_E_ARG, "window 1: expected 2 to 512" },
        { { .window = 512 }, 9, MNW_OK, "" },   // the text is shorter: one window of all of it
        { { .window = 513 }, 9, MNW_E_ARG, "window 513" },
        { { .window = 8, .stride = 8 }, 9, MNW_OK, "" },
        { { .window = 8, .stride = 9 }, 9, MNW_E_ARG, "stride 9" },
        { { 0 }, 2, MNW_OK, "" },
        { { 0 }, 1, MNW_E_FORMAT, "the text has 1 tokens" },
        { { 0 }, 0, MNW_E_FORMAT, "the text has 0 tokens" },
    };
    for (size_t i = 0; i < LEN(CASES); i++) {
        mnw_ppl_result r = { .size = sizeof r };
        EQ(mnw_eval_ppl(b.model, TEXT, CASES[i].len, &CASES[i].o, &r), CASES[i].expected);
        HAS(mnw_ctx_error(b.ctx), CASES[i].text);
    }
    mnw_ppl_result r = { .size = sizeof r };
    OK(mnw_eval_ppl(b.model, TEXT, 40, &(mnw_ppl_opts){ .window = 10, .limit = 3 }, &r));
    EQ(r.windows, 3);
    OK(mnw_eval_ppl(b.model, TEXT, 39, &(mnw_ppl_opts){ .window = 10 }, &r));
    EQ(r.windows, 3);   // a rest of nine tokens is left out
    lab_close(&b);
}

static bool stop_at_two(void *user, const char *what, uint64_t done, uint64_t total)
{
    EQ_STR(what, "perplexity");
    EQ(total, 4);
    *(uint64_t *)user = done;
    return done < 2;
}

TEST(progress_can_cancel)
{
    lab b;
    lab_open(&b, &MODEL, &(lab_opts){ .no_session = true });
    uint64_t           seen = 99;
    const mnw_ppl_opts o = { .window = 10, .progress = stop_at_two, .progress_user = &seen };
    mnw_ppl_result     r = { .size = sizeof r };
    EQ(mnw_eval_ppl(b.model, TEXT, 40, &o, &r), MNW_E_CANCELLED);
    EQ(seen, 2);
    lab_close(&b);
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(tmp_path(name), "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* Questions whose choices begin alike, and contexts that end in a blank or begin alike. */
static void put_task(void)
{
    put("task.json", "{\"data\": [{\"file\": \"q.jsonl\"}], \"format\": \"jsonl\", "
                     "\"context\": \"{{ q }}\", \"choices\": \"{{ c | tojson }}\", \"right\": \"{{ r }}\"}");
    put("q.jsonl",
        "{\"q\": \"The moon is \", \"c\": [\"up\", \"upon us\", \"down\"], \"r\": 1}\n"
        "{\"q\": \"The moon was\", \"c\": [\"the same\", \"the sage\", \"the same\"], \"r\": \"B\"}\n"
        "{\"q\": \"The moon\", \"c\": [\"x\", \"yz\"], \"r\": 0}\n"
        "{\"q\": \"月\", \"c\": [\"亮\", \"光很亮\"], \"r\": \"AB\"}\n");
}

enum { MOST = 8 };

typedef struct seen {
    size_t          n;
    mnw_choice_item item[MOST];
    double          ll[MOST][4];
    uint32_t        chars[MOST][4];
    size_t          known;      // pretend to know the first so many
    const struct seen *from;    // from this run
    size_t          stop_after;
} seen;

static bool keep(void *user, const mnw_choice_item *item)
{
    seen *s = user;
    s->item[s->n] = *item;
    memcpy(s->ll[s->n], item->ll, item->n * sizeof *item->ll);
    memcpy(s->chars[s->n], item->chars, item->n * sizeof *item->chars);
    s->n++;
    return s->n != s->stop_after;
}

static bool known(void *user, const mnw_choice_item *item, double *ll)
{
    const seen *s = user;
    if (item->index >= s->known) return false;
    EQ(item->fingerprint, s->from->item[item->index].fingerprint);
    memcpy(ll, s->from->ll[item->index], item->n * sizeof *ll);
    return true;
}

static mnw_status choose(const lab *b, mnw_choice_opts o, seen *s, mnw_choice_result *r)
{
    o.data = tmp_dir;
    o.item = keep;
    o.known = known;
    o.user = s;
    *r = (mnw_choice_result){ .size = sizeof *r };
    return mnw_eval_choice(b->model, tmp_path("task.json"), &o, r);
}

TEST(choices_score_what_the_logits_of_the_whole_text_say)
{
    lab b;
    tmp_open();
    put_task();
    lab_open(&b, &MODEL, &(lab_opts){ .no_session = true });
    seen              s = { 0 };
    mnw_choice_result r;
    OK(choose(&b, (mnw_choice_opts){ 0 }, &s, &r));
    EQ(s.n, 4);
    EQ(r.n, 4);

    static const struct {
        size_t      item, choice, chars;
        const char *context, *continuation;
    } CASES[] = {
        { 0, 0, 2, "The moon is", "  up" },   // the context's blank, and the delimiter
        { 0, 1, 7, "The moon is", "  upon us" },
        { 0, 2, 4, "The moon is", "  down" },
        { 1, 0, 8, "The moon was", " the same" },
        { 1, 1, 8, "The moon was", " the sage" },
        { 1, 2, 8, "The moon was", " the same" },
        { 2, 0, 1, "The moon", " x" },
        { 2, 1, 2, "The moon", " yz" },
        { 3, 0, 1, "月", " 亮" },
        { 3, 1, 3, "月", " 光很亮" },
    };
    uint64_t scored = 0, full = 0;
    double   ll[MOST][4];
    for (size_t i = 0; i < LEN(CASES); i++) {
        int32_t      ids[512];
        char         text[256];
        const size_t head = strlen(CASES[i].context);
        snprintf(text, sizeof text, "%s%s", CASES[i].context, CASES[i].continuation);
        const size_t n = bytes_as_ids(text, ids);
        naive        x;
        naive_run(&b, ids, n, &x);
        double want = 0;
        for (size_t k = head; k < n; k++) want -= x.nll[k];
        NEAR(s.ll[CASES[i].item][CASES[i].choice], want, 1e-4);
        EQ(s.chars[CASES[i].item][CASES[i].choice], CASES[i].chars);
        ll[CASES[i].item][CASES[i].choice] = want;
        scored += n - head;
        full += n - 1;
    }
    EQ(r.tokens_scored, scored);
    EQ(r.tokens_full, full);
    YES(r.tokens_fed < full);

    static const uint32_t RIGHT[] = { 2, 2, 1, 3 };
    double                acc = 0, norm = 0;
    for (size_t i = 0; i < 4; i++) {
        const mnw_choice_item *x = &s.item[i];
        uint32_t               best = 0, best_norm = 0;
        EQ(x->index, i);
        EQ(x->right, RIGHT[i]);
        for (uint32_t k = 1; k < x->n; k++) {
            if (ll[i][k] > ll[i][best] + 1e-9) best = k;
            if (ll[i][k] / s.chars[i][k] > ll[i][best_norm] / s.chars[i][best_norm] + 1e-9) best_norm = k;
        }
        acc += RIGHT[i] >> best & 1;
        norm += RIGHT[i] >> best_norm & 1;
    }
    NEAR(r.acc, acc / 4, 1e-12);
    NEAR(r.acc_norm, norm / 4, 1e-12);
    NEAR(r.acc_stderr, sqrt(r.acc * (1 - r.acc) / 3), 1e-12);
    lab_close(&b);
    tmp_close();
}

static void same_scores(const seen *a, const seen *b)
{
    EQ(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        EQ(a->item[i].fingerprint, b->item[i].fingerprint);
        EQ_MEM(a->ll[i], b->ll[i], a->item[i].n * sizeof a->ll[i][0]);
    }
}

TEST(sharing_prefixes_does_not_change_a_bit)
{
    lab b;
    tmp_open();
    put_task();
    lab_open(&b, &MODEL, &(lab_opts){ .no_session = true, .threads = 2 });
    seen              shared = { 0 }, full = { 0 };
    mnw_choice_result rs, rf;
    OK(choose(&b, (mnw_choice_opts){ 0 }, &shared, &rs));
    OK(choose(&b, (mnw_choice_opts){ .no_sharing = true }, &full, &rf));
    same_scores(&shared, &full);
    EQ(rf.tokens_fed, rf.tokens_full);
    EQ(rs.tokens_full, rf.tokens_full);
    YES(rs.tokens_fed < rf.tokens_fed);
    NEAR(rs.acc, rf.acc, 0);
    lab_close(&b);
    tmp_close();
}

TEST(a_run_that_continues_another_ends_alike)
{
    lab b;
    tmp_open();
    put_task();
    lab_open(&b, &MODEL, &(lab_opts){ .no_session = true });
    seen              whole = { 0 }, first = { .stop_after = 2 };
    mnw_choice_result r, rr;
    OK(choose(&b, (mnw_choice_opts){ 0 }, &whole, &r));
    EQ(choose(&b, (mnw_choice_opts){ 0 }, &first, &rr), MNW_E_CANCELLED);
    EQ(first.n, 2);
    seen rest = { .known = 2, .from = &first };
    OK(choose(&b, (mnw_choice_opts){ 0 }, &rest, &rr));
    same_scores(&whole, &rest);
    EQ(rr.known, 2);
    EQ(rr.n, 4);
    NEAR(rr.acc, r.acc, 0);
    NEAR(rr.acc_norm, r.acc_norm, 0);
    lab_close(&b);
    tmp_close();
}


TEST(a_context_that_does_not_fit_loses_its_beginning)
{
    lab b;
    tmp_open();
    put_task();
    lab_open(&b, &MODEL, &(lab_opts){ .no_session = true });
    seen              cut = { 0 };
    mnw_choice_result r;
    /* "The moon was the same": 21 tokens, of which the last is only predicted. */
    const mnw_choice_opts exact = { .n_ctx = 20, .limit = 2, };
    OK(choose(&b, exact, &cut, &r));
    EQ(r.truncated, 0);
    const mnw_choice_opts less = { .n_ctx = 19, .limit = 2 };
    cut.n = 0;
    OK(choose(&b, less, &cut, &r));
    EQ(r.truncated, 1);

    int32_t      ids[512];
    const size_t n = bytes_as_ids("he moon was the same", ids);
    naive        x;
    naive_run(&b, ids, n, &x);
    double want = 0;
    for (size_t k = n - 9; k < n; k++) want -= x.nll[k];
    NEAR(cut.ll[1][0], want, 1e-4);

    cut.n = 0;
    EQ(choose(&b, (mnw_choice_opts){ .n_ctx = 6 }, &cut, &r), MNW_E_LIMIT);
    HAS(mnw_ctx_error(b.ctx), "n_ctx is 6");
    lab_close(&b);
    tmp_close();
}

int main(void)
{
    return RUN(T(perplexity_is_what_its_definition_says), T(a_stride_counts_each_token_once),
               T(windows_and_strides_are_judged_on_both_sides_of_their_limits), T(progress_can_cancel),
               T(choices_score_what_the_logits_of_the_whole_text_say),
               T(sharing_prefixes_does_not_change_a_bit), T(a_run_that_continues_another_ends_alike),
               T(a_context_that_does_not_fit_loses_its_beginning));
}
