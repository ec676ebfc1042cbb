/* SPDX-License-Identifier: Apache-2.0
 *
 * test_template.c - limits, faults and origins of chat templates.  What they mean is a golden test.
 */
#include "test.h"

#include "text/template.h"

static mn_mem           mem;
static mn_err           err;
static mn_template_text out;

static mnw_status render_with(const char *source, size_t n, const char *json, mn_template_args args)
{
    mn_template *t;
    mn_mem_init(&mem, NULL, NULL);
    mn_err_clear(&err);
    out = (mn_template_text){ 0 };
    args.messages = mn_str_of(json);
    mnw_status st = mn_template_compile(&mem, (mn_str){ source, n }, &t, &err);
    if (st == MNW_OK) st = mn_template_render(t, &mem, &args, &out, &err);
    mn_template_free(&mem, t);
    return st;
}

static mnw_status render(const char *source, const char *json)
{
    return render_with(source, strlen(source), json, (mn_template_args){ .bos = mn_str_of("<s>") });
}

static void done(void)
{
    mn_template_text_done(&mem, &out);
    EQ(atomic_load(&mem.live), 0);
}

static void fails(const char *source, const char *json, mnw_status code, const char *part)
{
    EQ(render(source, json), code);
    HAS(err.text, part);
    done();
}

/* The result with each foreign byte as '#'. */
static void origin(const char *source, const char *json, const char *want)
{
    if (render(source, json) != MNW_OK) fail_msg("%s: %s", source, err.text);
    for (size_t i = 0; i < out.len; i++) {
        if (!out.trusted[i]) out.text[i] = '#';
    }
    EQ_STR(out.text, want);
    done();
}

/* `part` repeated between `head` and `tail`; the caller frees. */
static char *many(const char *head, const char *part, size_t times, const char *tail)
{
    char *s = malloc(strlen(head) + strlen(part) * times + strlen(tail) + 1), *at = s;
    at = stpcpy(at, head);
    while (times--) at = stpcpy(at, part);
    stpcpy(at, tail);
    return s;
}

TEST(a_tag_without_end_is_an_error_with_its_line)
{
    fails("a\nb {% if x", "[]", MNW_E_TEMPLATE, "line 2");
    fails("a\n\n{{ x", "[]", MNW_E_TEMPLATE, "line 3");
    fails("a\n{% for x in y %}\n", "[]", MNW_E_TEMPLATE, "line 2");
}

TEST(what_the_template_raises_reaches_the_caller)
{
    fails("\n{{ raise_exception('only users: ' + messages[0].role) }}", "[{\"role\":\"cat\"}]",
          MNW_E_TEMPLATE, "line 2: only users: cat");
}

TEST(everything_unsupported_is_listed_with_its_line)
{
    fails("{{ x | wordwrap }}\n{{ x is module }}", "[]", MNW_E_TEMPLATE,
          "filter 'wordwrap' (line 1), test 'module' (line 2)");
    fails("\n{% include 'x' %}", "[]", MNW_E_TEMPLATE, "line 2: tag 'include'");
}

TEST(endless_work_ends_at_the_step_limit)
{
    fails("{% for i in range(10**9) %}{% endfor %}", "[]", MNW_E_LIMIT, "1000000 steps");
    fails("{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}", "[]",
          MNW_E_LIMIT, "steps");
    fails("{{ 'a' * 10**12 }}", "[]", MNW_E_LIMIT, "");
    OK(render("{% for i in range(50000) %}{% endfor %}", "[]"));
    done();
}

TEST(a_search_through_long_repeats_is_paid_for)
{
    fails("{% set x = 'a' * 400000 %}{% set y = 'a' * 200000 ~ 'b' %}{{ y in x }}", "[]",
          MNW_E_LIMIT, "steps");
}

TEST(blocks_nest_64_deep_and_no_deeper)
{
    char *open = many("", "{% if 1 %}", 64, "x"), *good = many(open, "{% endif %}", 64, "");
    OK(render(good, "[]"));
    EQ_STR(out.text, "x");
    done();
    char *bad = many("", "{% if 1 %}", 65, "");
    fails(bad, "[]", MNW_E_LIMIT, "more than 64 deep");
    free(open);
    free(good);
    free(bad);
}

TEST(expressions_nest_64_deep_and_no_deeper)
{
    char *open = many("{{ ", "(", 63, "1"), *good = many(open, ")", 63, " }}");
    OK(render(good, "[]"));
    EQ_STR(out.text, "1");
    done();
    char *bad = many("{{ ", "[", 64, "1"), *minus = many("{{ ", "- ", 65, "1 }}");
    fails(bad, "[]", MNW_E_LIMIT, "more than 64 deep");
    fails(minus, "[]", MNW_E_LIMIT, "more than 64 deep");
    free(open);
    free(good);
    free(bad);
    free(minus);
}

TEST(values_and_macros_nest_64_deep_and_no_deeper)
{
    OK(render("{% set ns = namespace(x=1) %}{% for i in range(64) %}{% set ns.x = [ns.x] %}"
              "{% endfor %}{{ ns.x == 1 }}{{ ns.x | tojson | length }}", "[]"));
    EQ_STR(out.text, "False129");
    done();
    fails("{% set ns = namespace(x=1) %}{% for i in range(65) %}{% set ns.x = [ns.x] %}{% endfor %}"
          "{{ ns.x | tojson }}", "[]", MNW_E_LIMIT, "more than 64 deep");
    fails("{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}", "[]", MNW_E_LIMIT, "64 deep");
    fails("{% set ns = namespace() %}{% set ns.a = [ns] %}{{ ns.a }}", "[]", MNW_E_TEMPLATE,
          "namespace");
}

TEST(a_result_may_have_4_mib_and_no_more)
{
    OK(render("{% set x = 'aaaaaaaaaaaaaaaa' * 65536 %}{{ x }}{{ x }}{{ x }}{{ x }}", "[]"));
    EQ(out.len, 4 << 20);
    done();
    fails("{% set x = 'aaaaaaaaaaaaaaaa' * 65536 %}{{ x }}{{ x }}{{ x }}{{ x }}b", "[]", MNW_E_LIMIT,
          "longer than 4194304 bytes");
}

TEST(working_memory_is_bounded)
{
    fails("{% set x = 'abababababababababababababababab' * 65536 %}"
          "{% for i in range(40) %}{% set y = x ~ i %}{% endfor %}",
          "[]", MNW_E_LIMIT, "64 MiB");
}

TEST(a_template_may_have_1_mib_and_no_more)
{
    char *s = many("", "a", MN_TEMPLATE_SOURCE_MAX + 1, "");
    mn_template *t;
    mn_mem_init(&mem, NULL, NULL);
    mn_err_clear(&err);
    OK(mn_template_compile(&mem, (mn_str){ s, MN_TEMPLATE_SOURCE_MAX }, &t, &err));
    mn_template_free(&mem, t);
    EQ(mn_template_compile(&mem, (mn_str){ s, MN_TEMPLATE_SOURCE_MAX + 1 }, &t, &err), MNW_E_LIMIT);
    HAS(err.text, "1048577 bytes");
    free(s);
}

TEST(the_inside_of_python_is_not_there)
{
    fails("{{ ''.__class__ }}", "[]", MNW_E_TEMPLATE, "attribute not found");
    fails("{{ messages['__class__'] }}", "[]", MNW_E_TEMPLATE, "attribute not found");
    fails("{{ [].append(1) }}", "[]", MNW_E_TEMPLATE, "'append' is undefined");
}

TEST(bad_messages_are_a_format_error)
{
    fails("x", "[{", MNW_E_FORMAT, "messages");
    fails("x", "3", MNW_E_FORMAT, "expected an array or an object, got a integer");
    fails("x", "{\"message\":[]}", MNW_E_FORMAT, "no array \"messages\"");
    fails("x", "", MNW_E_FORMAT, "messages");
}

TEST(null_content_reads_as_empty_text)
{
    OK(render("{% set c = messages[0].content %}[{{ c }}]{{ c + 'x' }}{{ 'y' in c }}{{ c.strip() }}"
              "{{ c is none }}{{ c | length }}{{ c[:2] }}{{ c | tojson }}",
              "[{\"content\":null}]"));
    EQ_STR(out.text, "[]xFalseTrue0null");
    done();
    fails("{{ messages[0].other + 'x' }}", "[{\"other\":null}]", MNW_E_TEMPLATE, "none");
}

TEST(extra_keys_become_variables)
{
    OK(render("{{ a }}{{ add_generation_prompt }}{{ tools is none }}{{ bos_token }}{{ eos_token }}",
              "{\"messages\":[],\"a\":\"b\"}"));
    EQ_STR(out.text, "bTrueTrue<s>");
    done();
}

TEST(every_byte_knows_where_it_came_from)
{
    const char *j = "[{\"role\":\"user\",\"content\":\" ab,c\\u00e9 \",\"n\":12}]";
    origin("<{{ messages[0].content }}>", j, "<########>");
    origin("{{ '<' + messages[0].content | trim + '>' }}", j, "<######>");
    origin("{{ ('x' ~ messages[0].content ~ 'y')[3:5] }}{{ ('x' ~ messages[0].content)[::-1] }}", j,
           "##########x");
    origin("{{ ('x,' ~ messages[0].content).split(',') | join('+') }}", j, "x+###+####");
    origin("{{ messages[0].content.upper() }}{{ messages[0].content.replace('b', 'B') }}", j,
           "##########B#####");
    origin("{{ {'k': messages[0].content} | tojson }}", j, "{\"k\": \"########\"}");
    origin("{{ messages[0].n }}{{ messages[0].n + 1 }}{{ 7 }}", j, "####7");
    origin("{% set x %}<{{ messages[0].content }}>{% endset %}{{ x[1:] }}", j, "########>");
    origin("{% macro m(a) %}<{{ a }}>{% endmacro %}{{ m(messages[0].content) | upper }}", j,
           "<########>");
    origin("{{ bos_token }}{% for c in messages[0].content %}{{ c }}.{% endfor %}", j,
           "<s>#.#.#.#.#.##.#.");
}

TEST(known_roles_count_as_the_templates_text)
{
    origin("<|{{ messages[0].role }}|>", "[{\"role\":\"assistant\"}]", "<|assistant|>");
    origin("<|{{ messages[0].role }}|>", "[{\"role\":\"im_end\"}]", "<|######|>");
    origin("<|{{ messages[0].content }}|>", "[{\"content\":\"user\"}]", "<|####|>");
}

TEST(switched_off_thinking_is_seen_by_the_template)
{
    const char *s = "{% if enable_thinking is defined %}{{ enable_thinking }}{% endif %}"
                    "{{ add_generation_prompt }}";
    OK(render_with(s, strlen(s), "[]", (mn_template_args){ .thinking = 1 }));
    EQ_STR(out.text, "FalseTrue");
    done();
    OK(render_with(s, strlen(s), "{\"messages\":[],\"enable_thinking\":false}",
                   (mn_template_args){ .thinking = 2, .no_generation_prompt = true }));
    EQ_STR(out.text, "TrueFalse");
    done();
}

TEST(strftime_now_reads_the_given_clock_as_utc)
{
    const char *s = "{{ strftime_now('%Y-%m-%d %H:%M:%S %a %j %-d') }}";
    OK(render_with(s, strlen(s), "[]", (mn_template_args){ .now = 951782399 }));
    EQ_STR(out.text, "2000-02-28 23:59:59 Mon 059 28");
    done();
    OK(render_with(s, strlen(s), "[]", (mn_template_args){ .now = 978220800 }));
    EQ_STR(out.text, "2000-12-31 00:00:00 Sun 366 31");
    done();
    fails("{{ strftime_now('%Q') }}", "[]", MNW_E_TEMPLATE, "%Q is not supported");
}

TEST(text_that_is_no_utf8_is_no_template)
{
    EQ(render_with("a\xff", 2, "[]", (mn_template_args){ 0 }), MNW_E_TEMPLATE);
    HAS(err.text, "not UTF-8");
    done();
}

int main(void)
{
    return RUN(T(a_tag_without_end_is_an_error_with_its_line),
               T(what_the_template_raises_reaches_the_caller),
               T(everything_unsupported_is_listed_with_its_line),
               T(endless_work_ends_at_the_step_limit), T(a_search_through_long_repeats_is_paid_for),
               T(blocks_nest_64_deep_and_no_deeper), T(expressions_nest_64_deep_and_no_deeper),
               T(values_and_macros_nest_64_deep_and_no_deeper),
               T(a_result_may_have_4_mib_and_no_more), T(working_memory_is_bounded),
               T(a_template_may_have_1_mib_and_no_more), T(the_inside_of_python_is_not_there),
               T(bad_messages_are_a_format_error), T(null_content_reads_as_empty_text),
               T(extra_keys_become_variables), T(every_byte_knows_where_it_came_from),
               T(known_roles_count_as_the_templates_text),
               T(switched_off_thinking_is_seen_by_the_template),
               T(strftime_now_reads_the_given_clock_as_utc),
               T(text_that_is_no_utf8_is_no_template));
}
