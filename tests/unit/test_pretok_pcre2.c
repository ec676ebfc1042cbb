/* SPDX-License-Identifier: Apache-2.0
 *
 * test_pretok_pcre2.c - every pre-tokenizer cuts random text as PCRE2 does with its expressions.
 *
 * The only change to an expression is \s, spelled out as the property White_Space, which is what the
 * published tokenizers' engine takes it for.
 */
#include "tok.h"

#include "base/utf8.h"
#include "text/unicode.h"

#ifdef HAVE_PCRE2
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define SP "\\p{Z}\\x09-\\x0d\\x{85}"
#define S "[" SP "]"
#define TAIL S "+(?![^" SP "])|" S "+"
#define GPT2 "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^" SP "\\p{L}\\p{N}]+|" TAIL
#define QWEN(letter, rest, number)                                                                 \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?" letter "+|" number "| ?[^" SP rest           \
    "]+[\\r\\n]*|" S "*[\\r\\n]+|" TAIL
#define QWEN2 QWEN("\\p{L}", "\\p{L}\\p{N}", "\\p{N}")
#define QWEN35 QWEN("[\\p{L}\\p{M}]", "\\p{L}\\p{M}\\p{N}", "\\p{N}")
#define LLAMA3 QWEN("\\p{L}", "\\p{L}\\p{N}", "\\p{N}{1,3}")
#define CJK "[\\x{4e00}-\\x{9fa5}\\x{800}-\\x{4e00}\\x{ac00}-\\x{d7ff}]+"
#define WIDE                                                                                       \
    S "?[!-/:-~\\x{ff01}-\\x{ff0f}\\x{ff1a}-\\x{ff5e}\\x{2018}-\\x{201f}\\x{3000}-\\x{3002}]+"
#define LATIN                                                                                      \
    S "?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅ"     \
    "ὐ-ὗὙὛὝὟ-\\x{1f7d}ᾀ-ᾴᾶ-ᾼ\\x{1fbe}ῂ-ῄῆ-ῌῐ-\\x{1fd3}ῖ-\\x{1fdb}ῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤ\\x{2126}ℨ\\x{212a}-ℭℯ-ℴℹ"  \
    "ℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ\\x{10400}-\\x{1044f}\\x{104b0}-\\x{104d3}"             \
    "\\x{104d8}-\\x{104fb}\\x{10c80}-\\x{10cb2}\\x{10cc0}-\\x{10cf2}\\x{118a0}-\\x{118df}"              \
    "\\x{1e900}-\\x{1e943}]+"

/* A stage that is no expression on text but one on bytes starts with '#'. */
static const struct {
    const char *name, *regex[MN_STAGES];
} published[] = {
    { "gpt-2", { GPT2 } },
    { "gpt-neox", { GPT2 } },
    { "mpt", { GPT2 } },
    { "qwen2", { QWEN2 } },
    { "qwen35", { QWEN35 } },
    { "llama-bpe", { LLAMA3 } },
    { "smollm", { "\\p{N}", GPT2 } },
    { "starcoder", { "\\p{N}", GPT2 } },
    { "refact", { "\\p{N}", GPT2 } },
    { "command-r", { "\\p{N}", GPT2 } },
    { "falcon",
      { "[\\p{P}$+<=>^~|`]+", GPT2, "#[0-9\\xb2\\xb3\\xb9\\xbc\\xbd\\xbe]+", "#[0-9][0-9][0-9]" } },
    { "deepseek-llm", { "[\\r\\n]", LATIN, WIDE, S "+$", CJK, "\\p{N}" } },
    { "deepseek-coder", { "[\\r\\n]", S "?\\p{L}+", S "?\\p{P}+", CJK, "\\p{N}" } },
};

enum { TEXT = 256 };

typedef struct cuts {
    size_t at[TEXT + 1], n;   // ends of pieces
} cuts;

/* Cut each piece of `c` around the matches of the expression. */
static void cut(cuts *c, const char *text, const pcre2_code *code, pcre2_match_data *m)
{
    cuts   out = { .n = 0 };
    size_t from = 0;
    for (size_t i = 0; i < c->n; from = c->at[i++]) {
        const size_t len = c->at[i] - from;
        for (size_t at = 0; at < len;) {
            const int got = pcre2_match(code, (PCRE2_SPTR)text + from, len, at, PCRE2_NO_UTF_CHECK,
                                        m, NULL);
            if (got < 0) break;
            const PCRE2_SIZE *v = pcre2_get_ovector_pointer(m);
            if (v[0] > 0 && (out.n == 0 || out.at[out.n - 1] < from + v[0])) {
                out.at[out.n++] = from + v[0];
            }
            out.at[out.n++] = from + v[1];
            at = v[1];
        }
        if (out.n == 0 || out.at[out.n - 1] < from + len) out.at[out.n++] = from + len;
    }
    *c = out;
}

static uint32_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static uint32_t random_code_point(uint64_t *r)
{
    static const char ascii[] = " \t\r\n'aZsS tTrReEvVmMlLdD019.,!?<=>+$^~|`_";
    static const uint32_t odd[] = { 0x17F, 0x85,   0xA0,   0x180E, 0x2003,  0x2028,  0x3000,  0x301,
                                    0xBD,  0xB2,   0x660,  0x2160, 0x4E2D,  0x9FA6,  0xAC00,  0xFF01,
                                    0xE9,  0x2126, 0x212A, 0x1F600, 0x10400, 0x1E900, 0x20D0, 0x0F3F };
    switch (draw(r) % 8) {
    case 0: return 0x80 + draw(r) % 0x780;
    case 1: return odd[draw(r) % LEN(odd)];
    case 2: {
        const uint32_t cp = draw(r) % 0x30000;
        if (cp >= 0xD800 && cp < 0xE000) return ' ';
        /* What has no class here may have one in a later version of Unicode. */
        return (mn_unicode_info(cp) & MN_CLASS_BITS) == MN_CLASS_OTHER ? ' ' : cp;
    }
    case 3: return ' ';
    default: return (uint8_t)ascii[draw(r) % (sizeof ascii - 1)];
    }
}

static void check(size_t which, int texts)
{
    const mn_pretok  *pre = mn_pretok_find(mn_str_of(published[which].name));
    pcre2_code       *code[MN_STAGES] = { NULL };
    pcre2_match_data *m = pcre2_match_data_create(1, NULL);
    assert_non_null(pre);
    for (int i = 0; i < MN_STAGES && published[which].regex[i]; i++) {
        const char *regex = published[which].regex[i];
        const bool  bytes = *regex == '#';
        int         bad;
        PCRE2_SIZE  at;
        code[i] = pcre2_compile((PCRE2_SPTR)regex + bytes, PCRE2_ZERO_TERMINATED,
                                PCRE2_DOLLAR_ENDONLY | (bytes ? 0 : PCRE2_UTF), &bad, &at, NULL);
        if (!code[i]) fail_msg("%s: expression %d: fault %d at %zu", pre->name, i, bad, at);
        pcre2_jit_compile(code[i], PCRE2_JIT_COMPLETE);
    }
    uint64_t r = 20261201 + which;
    for (int t = 0; t < texts; t++) {
        char   text[TEXT];
        size_t len = 0;
        for (uint32_t want = 1 + draw(&r) % 24; want > 0; want--) {
            len += mn_utf8_put(random_code_point(&r), text + len);
        }
        cuts c = { .at = { len }, .n = 1 };
        for (int i = 0; i < MN_STAGES && code[i]; i++) cut(&c, text, code[i], m);
        mn_words w;
        mn_str   word;
        size_t   n = 0;
        mn_words_init(&w, pre->stage, (mn_str){ text, len });
        while (mn_words_next(&w, &word)) {
            const size_t end = (size_t)(word.p + word.n - text);
            if (n >= c.n || c.at[n] != end) {
                fail_msg("%s: text %d \"%.*s\": piece %zu ends at %zu, expected %zu", pre->name, t,
                         (int)len, text, n, end, n < c.n ? c.at[n] : 0);
            }
            n++;
        }
        EQ(n, c.n);
    }
    for (int i = 0; i < MN_STAGES; i++) pcre2_code_free(code[i]);
    pcre2_match_data_free(m);
}

TEST(every_pre_tokenizer_cuts_random_text_as_pcre2_does)
{
    for (size_t i = 0; i < LEN(published); i++) check(i, 20000);
}

TEST(classes_are_those_of_pcre2)
{
    char version[64] = "";
    pcre2_config(PCRE2_CONFIG_UNICODE_VERSION, version);
    if (strcmp(version, "14.0.0") != 0) SKIP("PCRE2 has Unicode %s, the table 14.0.0", version);
    static const char *const regex[] = { "\\p{L}", "\\p{N}", "\\p{P}", "\\p{S}", "\\p{M}", S };
    static const unsigned    class[] = { MN_CLASS_LETTER, MN_CLASS_NUMBER, MN_CLASS_PUNCT,
                                         MN_CLASS_SYMBOL, MN_CLASS_MARK,   MN_CLASS_SPACE };
    pcre2_match_data *m = pcre2_match_data_create(1, NULL);
    for (size_t i = 0; i < LEN(regex); i++) {
        int         bad;
        PCRE2_SIZE  at;
        pcre2_code *code = pcre2_compile((PCRE2_SPTR)regex[i], PCRE2_ZERO_TERMINATED, PCRE2_UTF,
                                         &bad, &at, NULL);
        assert_non_null(code);
        for (uint32_t cp = 1; cp < 0x110000; cp++) {
            if (cp >= 0xD800 && cp < 0xE000) continue;
            char         s[4];
            const size_t n = mn_utf8_put(cp, s);
            const bool   theirs = pcre2_match(code, (PCRE2_SPTR)s, n, 0, PCRE2_NO_UTF_CHECK, m, NULL) > 0;
            const bool   ours = (mn_unicode_info(cp) & MN_CLASS_BITS) == class[i];
            if (theirs != ours) fail_msg("U+%04X %s: ours %d, theirs %d", cp, regex[i], ours, theirs);
        }
        pcre2_code_free(code);
    }
    pcre2_match_data_free(m);
}

int main(void)
{
    return RUN(T(classes_are_those_of_pcre2), T(every_pre_tokenizer_cuts_random_text_as_pcre2_does));
}
#else
TEST(every_pre_tokenizer_cuts_random_text_as_pcre2_does)
{
    SKIP("built without PCRE2");
}

int main(void)
{
    return RUN(T(every_pre_tokenizer_cuts_random_text_as_pcre2_does));
}
#endif
