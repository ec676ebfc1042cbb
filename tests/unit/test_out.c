/* SPDX-License-Identifier: Apache-2.0
 *
 * Bounded output counts what it would have needed and never writes beyond the buffer.
 */
#include "test.h"

#include <math.h>

#include "base/json.h"
#include "base/out.h"

TEST(text_that_fits_ends_in_nul)
{
    char   buf[16];
    size_t len;
    mn_out o = { .buf = buf, .cap = sizeof buf };
    mn_out_text(&o, "ab");
    mn_out_fmt(&o, "%d-%s", 42, "x");
    mn_out_bytes(&o, "cd", 2);
    OK(mn_out_end(&o, &len, NULL));
    EQ_STR(buf, "ab42-xcd");
    EQ(len, 8);
}

TEST(a_buffer_at_its_limit_refuses_one_more_byte)
{
    char   buf[9] = "........";
    size_t len;
    mn_err err = { 0 };
    mn_out o = { .buf = buf, .cap = 8 };
    mn_out_text(&o, "1234567");
    OK(mn_out_end(&o, &len, &err));
    EQ_STR(buf, "1234567");
    mn_out_text(&o, "8");
    EQ(mn_out_end(&o, &len, &err), MNW_E_BUFFER);
    EQ(len, 8);
    EQ_STR(err.text, "the buffer has 8 bytes, the text needs 8 and a NUL");
    EQ_STR(buf, "1234567");
    EQ(buf[8], '\0');
}

TEST(without_a_buffer_the_length_is_counted)
{
    size_t len;
    mn_out o = { 0 };
    mn_out_text(&o, "hello");
    mn_out_json(&o, mn_str_of("a\n"));
    EQ(mn_out_end(&o, &len, NULL), MNW_E_BUFFER);
    EQ(len, 5 + 5);
}

TEST(an_absurd_length_does_not_wrap)
{
    mn_out o = { .len = SIZE_MAX - 1 };
    mn_out_text(&o, "abc");
    YES(o.len == SIZE_MAX);
}

static const char *json_of(const char *p, size_t n)
{
    static char buf[256];
    size_t      len;
    mn_out      o = { .buf = buf, .cap = sizeof buf };
    mn_out_json(&o, (mn_str){ p, n });
    OK(mn_out_end(&o, &len, NULL));
    return buf;
}

TEST(json_strings_are_escaped_and_repaired)
{
    EQ_STR(json_of("", 0), "\"\"");
    EQ_STR(json_of("a\"b\\c/d", 7), "\"a\\\"b\\\\c/d\"");
    EQ_STR(json_of("\b\f\n\r\t\x01\x1f\x7f", 8), "\"\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\"");
    EQ_STR(json_of("a\0b", 3), "\"a\\u0000b\"");
    EQ_STR(json_of("\xE8\xB5\x8B\xF0\x9F\x98\x8A", 7), "\"\xE8\xB5\x8B\xF0\x9F\x98\x8A\"");
    EQ_STR(json_of("x\xFFy", 3), "\"x\xEF\xBF\xBDy\"");
    EQ_STR(json_of("\xC3(", 2), "\"\xEF\xBF\xBD(\"");
    EQ_STR(json_of("\xE8\xB5", 2), "\"\xEF\xBF\xBD\"");
}

TEST(what_is_written_as_json_is_read_back)
{
    char all[127];
    for (int i = 0; i < 127; i++) all[i] = (char)(i + 1);
    char    buf[512], back[512];
    size_t  len;
    mn_out  o = { .buf = buf, .cap = sizeof buf };
    mn_json j;
    mn_out_json(&o, (mn_str){ all, sizeof all });
    OK(mn_out_end(&o, &len, NULL));
    mn_json_init(&j, (mn_bytes){ (const uint8_t *)buf, len });
    EQ(mn_json_next(&j), MN_JSON_STRING);
    EQ(mn_json_text(&j, back, sizeof back), sizeof all);
    EQ_MEM(back, all, sizeof all);
}

static void number(double v, bool single, const char *expected)
{
    char   buf[64];
    size_t len;
    mn_out o = { .buf = buf, .cap = sizeof buf };
    mn_out_number(&o, v, single);
    OK(mn_out_end(&o, &len, NULL));
    EQ_STR(buf, expected);
}

TEST(numbers_take_the_fewest_digits_that_read_back)
{
    number(0.0, false, "0.0");
    number(0.1, false, "0.1");
    number((double)0.1f, true, "0.1");
    number((double)0.1f, false, "0.10000000149011612");
    number((double)1e-6f, true, "1e-06");
    number(1e6, true, "1e+06");
    number(-512, false, "-512.0");
    number(1.0 / 3.0, false, "0.3333333333333333");
    number(INFINITY, false, "null");
    number(NAN, true, "null");
}

int main(void)
{
    return RUN(T(text_that_fits_ends_in_nul), T(a_buffer_at_its_limit_refuses_one_more_byte),
               T(without_a_buffer_the_length_is_counted), T(an_absurd_length_does_not_wrap),
               T(numbers_take_the_fewest_digits_that_read_back),
               T(json_strings_are_escaped_and_repaired), T(what_is_written_as_json_is_read_back));
}
