/* SPDX-License-Identifier: Apache-2.0
 *
 * The JSON reader: RFC 8259 and nothing else, faults with line and column.
 */
#include "test.h"

#include <locale.h>

#include "base/json.h"

static mn_json reader(const char *text)
{
    mn_json j;
    mn_json_init(&j, (mn_bytes){ (const uint8_t *)text, strlen(text) });
    return j;
}

/* The events of a document as letters, '!' for a fault. */
static const char *events(const char *text, size_t n)
{
    static char       out[256];
    static const char LETTER[] = "!{}[]ksntf0.";
    mn_json           j;
    size_t            len = 0;
    mn_json_init(&j, (mn_bytes){ (const uint8_t *)text, n });
    for (;;) {
        const mn_json_event e = mn_json_next(&j);
        if (len < sizeof out - 1) out[len++] = LETTER[e];
        if (e == MN_JSON_ERROR || e == MN_JSON_END) break;
    }
    out[len] = '\0';
    return out;
}

#define EVENTS(text) events("" text, sizeof(text) - 1)

TEST(documents_become_events)
{
    EQ_STR(EVENTS("{}"), "{}.");
    EQ_STR(EVENTS(" [ ] "), "[].");
    EQ_STR(EVENTS("{\"a\": [1, -2.5e3, \"x\"], \"b\":{\"c\":null},\n\t\"d\" : true, \"e\":false}"),
           "{k[nns]k{k0}ktkf}.");
    EQ_STR(EVENTS("\"text\""), "s.");
    EQ_STR(EVENTS("0"), "n.");
    EQ_STR(EVENTS("[[],{},[[]]]"), "[[]{}[[]]].");
}

TEST(what_is_not_json_is_refused)
{
    static const char *const BAD[] = {
        "", " ", "{", "[", "]", "}", "[1,]", "[,1]", "{,}", "{\"a\":1,}", "{\"a\"}", "{\"a\":}",
        "{\"a\" 1}", "{a:1}", "{1:2}", "[1 2]", "[1}", "{\"a\":1]", "1 2", "{} {}", "nul", "nulL",
        "True", "tru", "NaN", "Infinity", "-Infinity", "+1", "01", "-01", "-", "1.", ".5", "1e",
        "1e+", "1.e1", "0x10", "'a'", "\"", "\"a", "\"\\", "\"\\\"", "\"\\x41\"", "\"\\u12\"",
        "\"\\u12g4\"", "\"a\nb\"", "\"a\tb\"", "\"\x01\"", "// c\n1", "/* c */1", "[1]//",
        "\xEF\xBB\xBF[]", "\"\xFF\"", "\"\xC0\x80\"", "\"\xED\xA0\x80\"", "\"\xF5\x80\x80\x80\"", "\"\xE2\x82\"",
        "[\xC3\xA9]", "\f1", "[1,,2]", "{\"a\":1 \"b\":2}", "{\"a\":1,,\"b\":2}", "[\"a\":1]", ":", ",",
    };
    for (size_t i = 0; i < LEN(BAD); i++) {
        const char *got = events(BAD[i], strlen(BAD[i]));
        if (got[strlen(got) - 1] != '!') fail_msg("accepted: %s", BAD[i]);
    }
    const char *got = EVENTS("[1]\0");
    EQ_STR(got, "[n]!");
}

TEST(a_document_cut_anywhere_is_refused)
{
    static const char TEXT[] = "{\"k\\u00e9\": [1.5e2, \"\xC3\xA9\\n\", true, null, {\"z\": []}]}";
    for (size_t n = 0; n < sizeof TEXT - 1; n++) {
        const char *got = events(TEXT, n);
        if (got[strlen(got) - 1] != '!') fail_msg("accepted the first %zu bytes", n);
    }
    EQ_STR(EVENTS("{\"k\\u00e9\": [1.5e2, \"\xC3\xA9\\n\", true, null, {\"z\": []}]}"),
           "{k[nst0{k[]}]}.");
}

TEST(a_fault_is_sticky_and_has_line_and_column)
{
    mn_json j = reader("{\n  \"a\": [1,\n    \xC3\xA9]\n}");
    while (mn_json_next(&j) != MN_JSON_ERROR) continue;
    EQ(mn_json_next(&j), MN_JSON_ERROR);
    NO(mn_json_skip(&j));
    mn_err err = { 0 };
    EQ(mn_json_fail(&j, "tokenizer.json", &err), MNW_E_FORMAT);
    EQ_STR(err.text, "tokenizer.json: line 3, column 5: not the start of a value");

    j = reader("[\"\xC3\xA9\xC3\xA9\", x]");   // columns count characters
    while (mn_json_next(&j) != MN_JSON_ERROR) continue;
    err = (mn_err){ 0 };
    mn_json_fail(&j, "t", &err);
    HAS(err.text, "line 1, column 8");
}

TEST(an_unexpected_event_is_a_fault)
{
    mn_json j = reader("[1]");
    mn_err  err = { 0 };
    EQ(mn_json_expect(&j, MN_JSON_OBJECT, &err), MNW_E_FORMAT);
    HAS(err.text, "expected an object");
    EQ(mn_json_next(&j), MN_JSON_ERROR);
    j = reader("{}");
    err = (mn_err){ 0 };
    OK(mn_json_expect(&j, MN_JSON_OBJECT, &err));
    OK(mn_json_expect(&j, MN_JSON_OBJECT_END, &err));
    OK(mn_json_expect(&j, MN_JSON_END, &err));
    EQ(mn_json_next(&j), MN_JSON_END);
}

TEST(depth_is_limited_to_64_levels)
{
    char text[2 * 65 + 1];
    for (size_t depth = 64; depth <= 65; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        const char *got = events(text, 2 * depth);
        EQ(got[strlen(got) - 1], depth <= 64 ? '.' : '!');
    }
    char bomb[10000];
    memset(bomb, '[', sizeof bomb);
    EQ(strlen(events(bomb, sizeof bomb)), 65);
}

TEST(skip_steps_over_whole_values)
{
    mn_json j = reader("{\"a\":[1,[2,{\"x\":[]}],3],\"b\":\"s\",\"c\":{\"d\":{}},\"e\":7}");
    EQ(mn_json_next(&j), MN_JSON_OBJECT);
    for (int i = 0; i < 3; i++) {
        EQ(mn_json_next(&j), MN_JSON_KEY);
        YES(mn_json_skip(&j));
    }
    EQ(mn_json_next(&j), MN_JSON_KEY);
    YES(mn_json_key_is(&j, "e"));
    EQ(mn_json_next(&j), MN_JSON_NUMBER);
    EQ(mn_json_next(&j), MN_JSON_OBJECT_END);

    j = reader("[[1,2],[3]]");
    EQ(mn_json_next(&j), MN_JSON_ARRAY);
    EQ(mn_json_next(&j), MN_JSON_ARRAY);
    YES(mn_json_skip(&j));   // an array that was entered
    EQ(mn_json_next(&j), MN_JSON_ARRAY);
    EQ(mn_json_next(&j), MN_JSON_NUMBER);

    j = reader("{\"a\":[1,");
    EQ(mn_json_next(&j), MN_JSON_OBJECT);
    EQ(mn_json_next(&j), MN_JSON_KEY);
    NO(mn_json_skip(&j));
}

static const char *text_of(const char *document)
{
    static char buf[256];
    mn_json     j = reader(document);
    EQ(mn_json_next(&j), MN_JSON_STRING);
    const size_t n = mn_json_text(&j, buf, sizeof buf - 1);
    YES(n <= j.raw.n);
    buf[n] = '\0';
    return buf;
}

TEST(escapes_are_resolved)
{
    EQ_STR(text_of("\"plain \xE4\xB8\xAD\""), "plain \xE4\xB8\xAD");
    EQ_STR(text_of("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), "\"\\/\b\f\n\r\t");
    EQ_STR(text_of("\"\\u0041\\u00E9\\u4e2d\""), "A\xC3\xA9\xE4\xB8\xAD");
    EQ_STR(text_of("\"\\uD83D\\uDE0A\""), "\xF0\x9F\x98\x8A");
    EQ_STR(text_of("\"\\uD83D\""), "\xEF\xBF\xBD");
    EQ_STR(text_of("\"\\uDE0A\\uD83Dx\""), "\xEF\xBF\xBD\xEF\xBF\xBDx");
    EQ_STR(text_of("\"\\uD83D\\u0041\""), "\xEF\xBF\xBD" "A");
    EQ_STR(text_of("\"\\uD83D\\uD83D\\uDE0A\""), "\xEF\xBF\xBD\xF0\x9F\x98\x8A");
    EQ_STR(text_of("\"\""), "");
}

TEST(keys_are_compared_unescaped)
{
    mn_json j = reader("{\"v\\u006fcab\":1,\"vocab\":2,\"voca\":3,\"v\\u006fcabs\":4}");
    mn_json_next(&j);
    mn_json_next(&j);
    YES(mn_json_key_is(&j, "vocab"));
    NO(mn_json_key_is(&j, "voca"));
    mn_json_skip(&j), mn_json_next(&j);
    YES(mn_json_key_is(&j, "vocab"));
    mn_json_skip(&j), mn_json_next(&j);
    NO(mn_json_key_is(&j, "vocab"));
    mn_json_skip(&j), mn_json_next(&j);
    NO(mn_json_key_is(&j, "vocab"));
}

static mn_json number(const char *text)
{
    mn_json j = reader(text);
    EQ(mn_json_next(&j), MN_JSON_NUMBER);
    return j;
}

TEST(integers_are_exact_or_refused)
{
    static const struct {
        const char *text;
        int64_t     value;
    } GOOD[] = { { "0", 0 }, { "-0", 0 }, { "42", 42 }, { "-7", -7 },
                 { "9223372036854775807", INT64_MAX }, { "-9223372036854775808", INT64_MIN } };
    static const char *const BAD[] = { "9223372036854775808", "-9223372036854775809", "1.0", "1e3",
                                       "99999999999999999999999" };
    int64_t v;
    for (size_t i = 0; i < LEN(GOOD); i++) {
        const mn_json j = number(GOOD[i].text);
        YES(mn_json_i64(&j, &v));
        YES(v == GOOD[i].value);
    }
    for (size_t i = 0; i < LEN(BAD); i++) {
        const mn_json j = number(BAD[i]);
        NO(mn_json_i64(&j, &v));
    }
}

TEST(doubles_are_read_to_the_last_bit)
{
    static const char *const TEXTS[] = {
        "0", "-0.0", "1", "0.1", "-3.4657359027997265", "12.302340507507324", "1e22", "1e23",
        "123456789012345678901234567890", "4.9e-324", "2.2250738585072011e-308", "1e400", "-1e400",
        "1e-400", "1.7976931348623157e308", "0.000001", "9007199254740993", "1E+2", "1e00000000005",
        "100000000000000000000e-20", "0e999999999999", "0.5e-99999999999999999999",
    };
    for (size_t i = 0; i < LEN(TEXTS); i++) {
        const mn_json j = number(TEXTS[i]);
        const double  got = mn_json_f64(&j), want = strtod(TEXTS[i], NULL);
        if (memcmp(&got, &want, sizeof got) != 0) {
            fail_msg("%s gives %.17g, expected %.17g", TEXTS[i], got, want);
        }
    }
}

TEST(long_numbers_are_rounded_by_all_of_their_digits)
{
    /* 1 + 2^-53 is half way between two doubles; one digit far behind decides. */
    static const char HALF[] = "1.00000000000000011102230246251565404236316680908203125";
    char              text[2000];
    snprintf(text, sizeof text, "%s%0*d", HALF, 1500, 1);
    mn_json j = number(HALF);
    YES(mn_json_f64(&j) == 1.0);
    j = number(text);
    YES(mn_json_f64(&j) == 1.0000000000000002);

    memset(text, '0', 1500);          // 0.000...0001 with 1497 zeros
    memcpy(text + 1500, "1e1498", 7);
    text[1] = '.';
    j = number(text);
    YES(mn_json_f64(&j) == 0.1);
}

TEST(the_locale_does_not_matter)
{
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8")) {
        SKIP("no locale with a decimal comma is installed");
    }
    const mn_json j = number("1.5");
    const double  d = mn_json_f64(&j);
    setlocale(LC_NUMERIC, "C");
    YES(d == 1.5);
}

int main(void)
{
    return RUN(T(documents_become_events), T(what_is_not_json_is_refused),
               T(a_document_cut_anywhere_is_refused), T(a_fault_is_sticky_and_has_line_and_column),
               T(an_unexpected_event_is_a_fault), T(depth_is_limited_to_64_levels),
               T(skip_steps_over_whole_values), T(escapes_are_resolved),
               T(keys_are_compared_unescaped), T(integers_are_exact_or_refused),
               T(doubles_are_read_to_the_last_bit),
               T(long_numbers_are_rounded_by_all_of_their_digits), T(the_locale_does_not_matter));
}
