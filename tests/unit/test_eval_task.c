/* SPDX-License-Identifier: Apache-2.0
 *
 * test_eval_task.c - test data of four formats, packed or not, becomes the questions its definition says.
 */
#include <minnow/eval.h>

#include "eval/data.h"
#include "eval/record.h"
#include "eval/task.h"
#include "lab.h"
#include "tmpdir.h"

static mnw_ctx *open_ctx(void)
{
    mnw_ctx *ctx;
    OK(mnw_ctx_open(&(mnw_ctx_opts){ .threads = 1 }, &ctx));
    return ctx;
}

/* Records of a text as compact JSON, or the error. */
static const char *records(const char *format, const char *fields, const char *element,
                           const char *text, const char *labels)
{
    static char said[1024];
    mn_err      err = { 0 };
    json_t     *names = fields ? json_loads(fields, 0, NULL) : NULL, *out = NULL;
    mnw_ctx    *ctx = open_ctx();
    mnw_status  st = mn_records_read(&ctx->mem, format, names, element, mn_str_of(text), &out, &err);
    if (st == MNW_OK && labels) st = mn_records_label(out, mn_str_of(labels), &err);
    if (st == MNW_OK) said[json_dumpb(out, said, sizeof said - 1, JSON_COMPACT)] = 0;
    else snprintf(said, sizeof said, "%s", err.text);
    json_decref(out);
    json_decref(names);
    mnw_ctx_close(ctx);
    return said;
}

TEST(lines_of_json_are_records)
{
    EQ_STR(records("jsonl", NULL, NULL, "{\"a\":1}\n\n{\"b\":\"x\"}", NULL), "[{\"a\":1},{\"b\":\"x\"}]");
    EQ_STR(records("jsonl", NULL, NULL, "{\"a\":1}\n{\"a\":2}\n", "x\ny\r\n"),
           "[{\"a\":1,\"label\":\"x\"},{\"a\":2,\"label\":\"y\"}]");
    EQ_STR(records("jsonl", NULL, NULL, "", NULL), "[]");
    HAS(records("jsonl", NULL, NULL, "{}\n{\"a\":}", NULL), "line 2, column");
    HAS(records("jsonl", NULL, NULL, "[1]", NULL), "line 1: expected an object");
    HAS(records("jsonl", NULL, NULL, "{}\n{}", "1\n"), "1 labels for 2 records");
    HAS(records("jsonl", NULL, NULL, "{}", "1\n2\n"), "more labels than the 1 records");
    HAS(records("yaml", NULL, NULL, "", NULL), "format yaml: expected jsonl, csv, lines or xml");
}

TEST(tables_have_quotes_commas_and_line_ends_in_cells)
{
    EQ_STR(records("csv", NULL, NULL, "q,a\n\"x, \"\"y\"\"\nz\",1\r\n,2", NULL),
           "[{\"q\":\"x, \\\"y\\\"\\nz\",\"a\":\"1\"},{\"q\":\"\",\"a\":\"2\"}]");
    EQ_STR(records("csv", NULL, NULL, "\xEF\xBB\xBF,q\r\n0,x\r\n", NULL), "[{\"q\":\"x\"}]");
    EQ_STR(records("csv", NULL, NULL, "q\n\"\"\n", NULL), "[{\"q\":\"\"}]");
    HAS(records("csv", NULL, NULL, "q,a\n1,2\n1\n", NULL), "line 3: 1 cells, expected 2");
    HAS(records("csv", NULL, NULL, "q,a\n1,2,3\n", NULL), "line 2: 3 cells, expected 2");
    HAS(records("csv", NULL, NULL, "q\n\"abc", NULL), "line 2: a quoted cell does not end");
    HAS(records("csv", NULL, NULL, "q\n\"a\"b\n", NULL), "expected a comma");
    HAS(records("csv", NULL, NULL, "q\n\xff\n", NULL), "line 2: q is not UTF-8");
}

TEST(groups_of_lines_are_records)
{
    EQ_STR(records("lines", "[\"q\",\"a\"]", NULL, "one\n1\ntwo\n2", NULL),
           "[{\"q\":\"one\",\"a\":\"1\"},{\"q\":\"two\",\"a\":\"2\"}]");
    HAS(records("lines", "[\"q\",\"a\"]", NULL, "one\n1\ntwo\n", NULL), "the last record has 1 lines, expected 2");
    HAS(records("lines", "[]", NULL, "one", NULL), "0 fields, expected 1 to 64");
    HAS(records("lines", "[7]", NULL, "one", NULL), "field 0: expected a name");
}

TEST(flat_elements_are_records)
{
    EQ_STR(records("xml", NULL, "item",
                   "<?xml version=\"1.0\"?>\n<!DOCTYPE x SYSTEM \"x\">\n<x>\n<item id=\"1\" asks-for=\"c\">\n"
                   " <p>a &lt; b &amp; c</p><q></q>\n</item><item id=\"2\"></item></x>", NULL),
           "[{\"id\":\"1\",\"asks_for\":\"c\",\"p\":\"a < b & c\",\"q\":\"\"},{\"id\":\"2\"}]");
    HAS(records("xml", NULL, NULL, "", NULL), "no \"element\"");
    HAS(records("xml", NULL, "item", "<item id=1>", NULL), "line 1: expected name=\"value\"");
    HAS(records("xml", NULL, "item", "<item>\n<p>a</q></item>", NULL), "line 2: expected <name>text</name>");
    HAS(records("xml", NULL, "item", "<item", NULL), "does not end");
    HAS(records("xml", NULL, "item", "<item><p>x</p>", NULL), "expected <name>");
    HAS(records("xml", NULL, "item", "<item></x>", NULL), "expected </item>");
}

TEST(every_cut_of_a_record_is_an_error_or_fewer_records)
{
    static const char *const TEXT[] = { "<x><item id=\"1\"><p>a&lt;</p></item></x>", "q,a\n\"x,\"\"\",1\n2,3\n" };
    for (size_t k = 0; k < LEN(TEXT); k++)
        for (size_t n = 0; n <= strlen(TEXT[k]); n++) {
            char *cut = malloc(n + 1);   // exact, so that a sanitizer sees each step too far
            memcpy(cut, TEXT[k], n);
            cut[n] = 0;
            records(k ? "csv" : "xml", NULL, "item", cut, NULL);
            free(cut);
        }
}

TEST(patterns_have_one_star)
{
    mn_str star;
    YES(mn_data_match("a/*_test.csv", "a/law_test.csv", &star));
    YES(mn_str_is(star, "law"));
    NO(mn_data_match("a/*_test.csv", "a/_tes.csv", &star));
    YES(mn_data_match("a/*_test.csv", "a/_test.csv", &star));
    NO(mn_data_match("a*a", "a", &star));
    YES(mn_data_match("", "", &star));
    NO(mn_data_match("x", "xy", &star));
}

static void put(const char *name, const void *data, size_t n)
{
    FILE *f = fopen(tmp_path(name), "wb");
    assert_non_null(f);
    EQ(fwrite(data, 1, n, f), n);
    fclose(f);
}

static void put_text(const char *name, const char *text)
{
    put(name, text, strlen(text));
}

/* Open the task file "t.json" of the folder; its error, "" if none. */
static const char *open_task(mnw_ctx *ctx, uint32_t shots_1, mn_task *t)
{
    static mn_err err;
    mn_err_clear(&err);
    mn_task_open(ctx, tmp_path("t.json"), tmp_dir, shots_1, t, &err);
    return err.text;
}

static void put_task(const char *more)
{
    char text[2048];
    snprintf(text, sizeof text, "{\"data\": [{\"file\": \"q.csv\"}], \"format\": \"csv\", \"context\": "
             "\"{{ subject }}Q: {{ q }}\\nA:\", \"choices\": \"{{ [a, b] | tojson }}\", \"right\": "
             "\"{{ r }}\"%s}", more);
    put_text("t.json", text);
}

TEST(a_record_becomes_a_question)
{
    tmp_open();
    mnw_ctx *ctx = open_ctx();
    put_text("q.csv", "q,a,b,r\n1+1?,2,\"\xE4\xB8\x89\xC3\xA9\",0\nmore?,\"a \\ \"\"q\"\"\",n,B\nno?,x,y,\n");
    put_task(", \"skip\": \"{% if q == 'no?' %}x{% endif %}\", \"description\": \"Answer.{{ '\\\\n\\\\n' }}\"");
    mn_task     t;
    mn_question q;
    mn_err      err = { 0 };
    char       *preamble;
    EQ_STR(open_task(ctx, 0, &t), "");
    EQ_STR(t.name, "t");
    EQ(t.n_parts, 1);
    OK(mn_task_preamble(&t, 0, &preamble, &err));
    EQ_STR(preamble, "Answer.\n\n");
    OK(mn_task_question(&t, 0, 0, preamble, &q, &err));
    EQ_STR(q.context, "Answer.\n\nQ: 1+1?\nA:");
    EQ(q.n, 2);
    EQ_STR(q.choice[1], "\xE4\xB8\x89\xC3\xA9");
    EQ(q.chars[1], 2);
    EQ(q.right, 1);
    NO(q.skip);
    mn_question_done(&t, &q);
    OK(mn_task_question(&t, 0, 1, "", &q, &err));
    EQ_STR(q.choice[0], "a \\ \"q\"");
    EQ(q.right, 2);
    mn_question_done(&t, &q);
    OK(mn_task_question(&t, 0, 2, "", &q, &err));
    YES(q.skip);
    mn_question_done(&t, &q);
    mn_free(&ctx->mem, preamble);
    mn_task_done(&t);
    mnw_ctx_close(ctx);
    tmp_close();
}

TEST(a_definition_that_is_wrong_is_refused_with_the_place)
{
    static const struct {
        const char *json, *text;
    } CASES[] = {
        { "{", "line 1" },
        { "[]", "expected an object" },
        { "{\"colour\": 1}", "\"colour\" is not known" },
        { "{\"context\": \"x\", \"choices\": \"[]\"}", "\"right\" is missing" },
        { "{\"context\": 1}", "\"context\": expected text" },
        { "{\"context\": \"{{\", \"choices\": \"\", \"right\": \"\"}", "\"context\"" },
        { "{\"context\": \"x\", \"choices\": \"[]\", \"right\": \"0\"}", "\"data\": expected a list of files" },
        { "{\"context\": \"x\", \"choices\": \"[]\", \"right\": \"0\", \"data\": [{}]}", "no \"file\"" },
        { "{\"context\": \"x\", \"choices\": \"[]\", \"right\": \"0\", \"data\": [{\"file\": \"none\"}]}",
          "cannot open" },
        { "{\"context\": \"x\", \"choices\": \"[]\", \"right\": \"0\", \"data\": [{\"file\": \"q.csv\"}]}",
          "\"format\" is missing" },
        { "{\"context\": \"x\", \"choices\": \"[]\", \"right\": \"0\", \"format\": \"csv\", \"data\": "
          "[{\"file\": \"q.csv\", \"member\": \"m\"}]}", "m is not inside" },
        { "{\"context\": \"x\", \"choices\": \"[]\", \"right\": \"0\", \"shots\": 65}",
          "65 shots, expected 0 to 64" },
    };
    tmp_open();
    mnw_ctx *ctx = open_ctx();
    put_text("q.csv", "q,a,b,r\n1,2,3,0\n");
    for (size_t i = 0; i < LEN(CASES); i++) {
        mn_task t;
        put_text("t.json", CASES[i].json);
        const char *said = open_task(ctx, 0, &t);
        HAS(said, "t.json");
        HAS(said, CASES[i].text);
        mn_task_done(&t);
    }
    mn_task t;
    put_task("");
    HAS(open_task(ctx, 3, &t), "2 examples are asked for, the task has none");
    mn_task_done(&t);
    EQ_STR(open_task(ctx, 1, &t), "");
    mn_task_done(&t);
    mnw_ctx_close(ctx);
    tmp_close();
}

TEST(a_record_that_is_no_question_is_refused)
{
    static const struct {
        const char *csv, *text;
    } CASES[] = {
        { "q,a,b,r\nx,y,z,2\n", "\"right\": 2, expected 0 to 1" },
        { "q,a,b,r\nx,y,z,C\n", "\"C\", expected an index or letters of 2 choices" },
        { "q,a,b,r\nx,y,z,-1\n", "\"-1\"" },
        { "q,a,b,r\nx,,z,0\n", "choice 0 is empty" },
        { "q,a,r\nx,y,0\n", "\"choices\"" },   // b is undefined, and cannot be JSON
    };
    tmp_open();
    mnw_ctx *ctx = open_ctx();
    put_task("");
    for (size_t i = 0; i < LEN(CASES); i++) {
        mn_task     t;
        mn_question q;
        mn_err      err = { 0 };
        put_text("q.csv", CASES[i].csv);
        EQ_STR(open_task(ctx, 0, &t), "");
        NE(mn_task_question(&t, 0, 0, "", &q, &err), MNW_OK);
        HAS(err.text, "task t, record 0");
        HAS(err.text, CASES[i].text);
        mn_question_done(&t, &q);
        mn_task_done(&t);
    }
    mnw_ctx_close(ctx);
    tmp_close();
}

/* A tar archive of empty-handed headers: enough of the format for this. */
static size_t tar_add(char *at, const char *name, const char *text)
{
    const size_t n = strlen(text);
    memset(at, 0, 512);
    snprintf(at, 100, "%s", name);
    snprintf(at + 100, 8, "%07o", 0644);
    snprintf(at + 124, 12, "%011o", (unsigned)n & 07777);
    memcpy(at + 257, "ustar\00000", 8);
    at[156] = '0';
    memset(at + 148, ' ', 8);
    unsigned sum = 0;
    for (int i = 0; i < 512; i++) sum += (uint8_t)at[i];
    snprintf(at + 148, 8, "%06o", sum);
    memset(at + 512, 0, 512);
    memcpy(at + 512, text, n);
    return 1024;
}

TEST(subjects_of_an_archive_have_their_own_examples)
{
    static char tar[16 * 1024];
    size_t      n = 0;
    n += tar_add(tar + n, "test/law_t.csv", "q,a,b,r\nq1,x,y,0\nq2,x,y,1\n");
    n += tar_add(tar + n, "dev/law_d.csv", "q,a,b,r\ne1,u,v,1\ne2,u,v,0\n");
    n += tar_add(tar + n, "test/art_t.csv", "q,a,b,r\nq3,x,y,0\n");
    n += tar_add(tar + n, "dev/art_d.csv", "q,a,b,r\ne3,u,v,0\ne4,u,v,0\n");
    n += 1024;
    tmp_open();
    mnw_ctx *ctx = open_ctx();
    put("x.tar", tar, n);
    put_text("t.json", "{\"data\": [{\"file\": \"x.tar\", \"member\": \"test/*_t.csv\", \"shots\": \"dev/*_d.csv\"}], "
                       "\"format\": \"csv\", \"context\": \"{{ q }}:\", \"choices\": \"{{ [a, b] | tojson }}\", "
                       "\"right\": \"{{ r }}\", \"shots\": 2, \"description\": \"On {{ subject_name }}. \", "
                       "\"subjects\": {\"law\": \"the law\"}}");
    mn_task     t;
    mn_err      err = { 0 };
    char       *preamble;
    const char *said = open_task(ctx, 0, &t);
    if (strstr(said, "\"test/*_t.csv\"") || strstr(said, "test/*_t.csv is not inside")) {
        mn_task_done(&t);   // without libarchive a tar is one file
        mnw_ctx_close(ctx);
        tmp_close();
        SKIP("this build has no libarchive");
    }
    EQ_STR(said, "");
    EQ(t.n_parts, 2);   // by name
    EQ_STR(t.part[0].subject, "art");
    OK(mn_task_preamble(&t, 0, &preamble, &err));
    EQ_STR(preamble, "On art. e3: u\n\ne4: u\n\n");
    mn_free(&ctx->mem, preamble);
    OK(mn_task_preamble(&t, 1, &preamble, &err));
    EQ_STR(preamble, "On the law. e1: v\n\ne2: u\n\n");
    mn_free(&ctx->mem, preamble);
    mn_task_done(&t);
    HAS(open_task(ctx, 4, &t), "has 2 examples, 3 are asked for");
    mn_task_done(&t);
    EQ_STR(open_task(ctx, 1, &t), "");
    OK(mn_task_preamble(&t, 1, &preamble, &err));
    EQ_STR(preamble, "On the law. ");
    mn_free(&ctx->mem, preamble);
    mn_task_done(&t);
    mnw_ctx_close(ctx);
    tmp_close();
}

TEST(the_built_in_tasks_read_the_published_data)
{
    static const struct {
        const char *name;
        size_t      parts, records;
        const char *context, *choice;   // of the first record: how it ends, choice 0
        uint32_t    right;
    } CASES[] = {
        { "piqa", 1, 1838, "new occupants?\nAnswer:", "Provide the guinea pig", 1 },
        { "hellaswag", 1, 10042, "on a roof. he", "is using wrap", 1 << 3 },
        { "arc_challenge", 1, 1150, "increase in rotation?\nAnswer:", "Planetary density", 1 << 2 },
        { "siqa", 1, 1954, "before this?\nA:", "make a new plan", 1 << 2 },
        { "csqa", 1, 1221, "D. mall\nE. new york\nAnswer:", "A", 1 },
        { "copa", 1, 1000, "over the grass because", " the sun was rising.", 1 },
        { "xcopa_zh", 1, 500, "包装纸包着 因为", "它很易碎。", 1 },
        { "mmlu", 57, 100, "D. 6\nAnswer:", "A", 2 },
        { "cmmlu", 67, 169, "资金\n答案：", "A", 2 },
        { "agieval_en", 9, 254, "Among A through E, the answer is", "(A)", 1 },
        { "agieval_zh", 10, 210, "从A到D, 我们应选择", "(A)", 0 },
    };
    if (!test_data("eval/reasoning/hellaswag_val_full.txt.bz2")) SKIP("the test data is not here");
    char dir[1024];
    snprintf(dir, sizeof dir, "%s", test_data("eval/reasoning/hellaswag_val_full.txt.bz2"));
    *strstr(dir, "/reasoning/") = 0;
    mnw_ctx *ctx = open_ctx();
    for (size_t i = 0; i < LEN(CASES); i++) {
        mn_task     t;
        mn_question q;
        mn_err      err = { 0 };
        char       *preamble;
        if (mn_task_open(ctx, CASES[i].name, dir, 0, &t, &err) == MNW_E_UNSUPPORTED) {
            mn_task_done(&t);
            mnw_ctx_close(ctx);
            SKIP("this build has no libarchive");
        }
        EQ_STR(err.text, "");
        EQ(t.n_parts, CASES[i].parts);
        EQ(json_array_size(t.part[0].records), CASES[i].records);
        OK(mn_task_preamble(&t, 0, &preamble, &err));
        OK(mn_task_question(&t, 0, 0, preamble, &q, &err));
        const size_t n = strlen(q.context), tail = strlen(CASES[i].context);
        YES(n > tail);
        EQ_STR(q.context + n - tail, CASES[i].context);
        EQ_MEM(q.choice[0], CASES[i].choice, strlen(CASES[i].choice));
        if (CASES[i].right) EQ(q.right, CASES[i].right);
        mn_question_done(&t, &q);
        mn_free(&ctx->mem, preamble);
        mn_task_done(&t);
    }
    mnw_ctx_close(ctx);
}

TEST(the_list_of_tasks_ends)
{
    size_t n = 0;
    while (mnw_eval_task_name(n)) {
        assert_non_null(mnw_eval_task_about(n));
        n++;
    }
    EQ(n, 11);
    YES(mnw_eval_task_name(n + 1) == NULL);
    YES(mnw_eval_task_about(n) == NULL);
}

int main(void)
{
    return RUN(T(lines_of_json_are_records), T(tables_have_quotes_commas_and_line_ends_in_cells),
               T(groups_of_lines_are_records), T(flat_elements_are_records),
               T(every_cut_of_a_record_is_an_error_or_fewer_records), T(patterns_have_one_star),
               T(a_record_becomes_a_question), T(a_definition_that_is_wrong_is_refused_with_the_place),
               T(a_record_that_is_no_question_is_refused),
               T(subjects_of_an_archive_have_their_own_examples),
               T(the_built_in_tasks_read_the_published_data), T(the_list_of_tasks_ends));
}
