/* SPDX-License-Identifier: Apache-2.0
 *
 * test_stream.c - what people see while a reply is made: whole characters, and no stop strings.
 */
#include "base/rng.h"
#include "test.h"
#include "text/stop.h"
#include "text/stream.h"

/* The output of each push, joined by '|', and that of the end after '#'. */
static const char *stream(const char *const *piece, size_t n)
{
    static char all[512];
    char        out[256];
    mn_stream   s = { 0 };
    size_t      used = 0;
    for (size_t i = 0; i < n; i++) {
        if (i) all[used++] = '|';
        const size_t m = mn_stream_push(&s, piece[i], strlen(piece[i]), out);
        memcpy(all + used, out, m);
        used += m;
    }
    all[used++] = '#';
    const size_t m = mn_stream_end(&s, out);
    memcpy(all + used, out, m);
    all[used + m] = '\0';
    return all;
}

#define STREAM(...) stream((const char *const[]){ __VA_ARGS__ }, LEN(((const char *[]){ __VA_ARGS__ })))

TEST(a_split_character_is_held_back_until_it_is_whole)
{
    EQ_STR(STREAM("\xE2\x82", "\xAC!"), "|\xE2\x82\xAC!#");
    EQ_STR(STREAM("\xE8\xB5", "\x8B"), "|\xE8\xB5\x8B#");
    EQ_STR(STREAM("\xF0\x9F", "\x98", "\x8A"), "||\xF0\x9F\x98\x8A#");
    EQ_STR(STREAM("a\xC3", "\xA9" "b"), "a|\xC3\xA9" "b#");
}

TEST(bad_bytes_become_replacement_characters_at_once)
{
    EQ_STR(STREAM("\xFF"), "\xEF\xBF\xBD#");
    EQ_STR(STREAM("\xC3\x28"), "\xEF\xBF\xBD(#");
    EQ_STR(STREAM("\xC3", "\x28"), "|\xEF\xBF\xBD(#");
    EQ_STR(STREAM("\xE4"), "#\xEF\xBF\xBD");
    EQ_STR(STREAM("\xF0\x9F\x98"), "#\xEF\xBF\xBD");
    EQ_STR(STREAM("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD#");   // a surrogate
}

TEST(any_bytes_cut_anywhere_come_out_as_the_same_valid_text)
{
    for (uint64_t round = 0; round < 2000; round++) {
        char   text[64], whole[512], cut[512], out[256];
        size_t n = 1 + mn_rng_u64(1, round, 0) % sizeof text;
        for (size_t i = 0; i < n; i++) {
            const uint64_t r = mn_rng_u64(2, round, i);
            static const uint8_t LIKELY[] = { 'a', 0xC3, 0xA9, 0xE2, 0x82, 0xAC, 0xF0, 0x9F, 0x98, 0x80 };
            text[i] = (char)(r % 4 ? LIKELY[r / 4 % sizeof LIKELY] : r >> 8);
        }
        mn_stream a = { 0 }, b = { 0 };
        size_t    na = mn_stream_push(&a, text, n, whole);
        na += mn_stream_end(&a, whole + na);
        size_t nb = 0;
        for (size_t i = 0; i < n;) {
            size_t step = 1 + mn_rng_u64(3, round, i) % 4;
            if (step > n - i) step = n - i;
            const size_t m = mn_stream_push(&b, text + i, step, out);
            YES(mn_utf8_valid(out, m));
            memcpy(cut + nb, out, m);
            nb += m;
            i += step;
        }
        nb += mn_stream_end(&b, cut + nb);
        EQ(na, nb);
        EQ_MEM(whole, cut, na);
    }
}

static const char *stopped(const char *const *stop, size_t n_stop, const char *const *piece, size_t n)
{
    static char all[4096];
    char        out[2048];
    mn_stop     s;
    size_t      used = 0;
    OK(mn_stop_init(&s, stop, n_stop, NULL));
    for (size_t i = 0; i < n; i++) {
        if (i) all[used++] = '|';
        const size_t m = mn_stop_push(&s, piece[i], strlen(piece[i]), out);
        memcpy(all + used, out, m);
        used += m;
    }
    all[used++] = s.hit ? '!' : '#';
    const size_t m = mn_stop_end(&s, out);
    memcpy(all + used, out, m);
    all[used + m] = '\0';
    return all;
}

#define STOPS(...) ((const char *const[]){ __VA_ARGS__ }), LEN(((const char *[]){ __VA_ARGS__ }))

TEST(a_stop_string_over_several_tokens_is_cut_off)
{
    EQ_STR(stopped(STOPS("own fox"), STOPS("The quick br", "own", " fox", "!")),
           "The quick br|||!");
    EQ_STR(stopped(STOPS("\n"), STOPS("?\n")), "?!");
    EQ_STR(stopped(STOPS("<|sep|>"), STOPS("hello")), "hello#");
}

TEST(only_what_may_become_a_stop_string_is_held_back)
{
    EQ_STR(stopped(STOPS("<|sep|>"), STOPS("a<|", "b")), "a|<|b#");
    EQ_STR(stopped(STOPS("aab"), STOPS("aaa", "a", "c")), "a|a|aac#");
    EQ_STR(stopped(STOPS("END"), STOPS("xE", "N")), "x|#EN");
}

TEST(of_stop_strings_that_end_together_the_longest_cuts)
{
    EQ_STR(stopped(STOPS("b", "ab"), STOPS("xab")), "x!");
    EQ_STR(stopped(STOPS("abcX", "bc"), STOPS("zabc")), "za!");
}

TEST(stop_strings_are_counted_and_measured)
{
    mn_stop     s;
    mn_err      err = { 0 };
    char        longest[MN_MAX_STOP_BYTES + 2];
    const char *one = longest, *many[MN_MAX_STOPS + 1];
    memset(longest, 'x', sizeof longest);
    longest[MN_MAX_STOP_BYTES] = '\0';
    OK(mn_stop_init(&s, &one, 1, &err));
    longest[MN_MAX_STOP_BYTES] = 'x';
    longest[MN_MAX_STOP_BYTES + 1] = '\0';
    EQ(mn_stop_init(&s, &one, 1, &err), MNW_E_ARG);
    HAS(err.text, "too long");

    for (size_t i = 0; i < LEN(many); i++) many[i] = "stop";
    OK(mn_stop_init(&s, many, MN_MAX_STOPS, NULL));
    EQ(mn_stop_init(&s, many, MN_MAX_STOPS + 1, NULL), MNW_E_ARG);
    EQ(mn_stop_init(&s, &(const char *){ "" }, 1, NULL), MNW_E_ARG);
}

TEST(the_longest_stop_string_is_found_bytewise)
{
    char        longest[MN_MAX_STOP_BYTES + 1], out[2 * MN_MAX_STOP_BYTES];
    const char *one = longest;
    mn_stop     s;
    memset(longest, 'x', sizeof longest);
    longest[MN_MAX_STOP_BYTES] = '\0';
    OK(mn_stop_init(&s, &one, 1, NULL));
    for (int i = 0; i < MN_MAX_STOP_BYTES - 1; i++) EQ(mn_stop_push(&s, "x", 1, out), 0);
    NO(s.hit);
    EQ(mn_stop_push(&s, "x", 1, out), 0);
    YES(s.hit);
}

int main(void)
{
    return RUN(T(a_split_character_is_held_back_until_it_is_whole),
               T(bad_bytes_become_replacement_characters_at_once),
               T(any_bytes_cut_anywhere_come_out_as_the_same_valid_text),
               T(a_stop_string_over_several_tokens_is_cut_off),
               T(only_what_may_become_a_stop_string_is_held_back),
               T(of_stop_strings_that_end_together_the_longest_cuts),
               T(stop_strings_are_counted_and_measured),
               T(the_longest_stop_string_is_found_bytewise));
}
