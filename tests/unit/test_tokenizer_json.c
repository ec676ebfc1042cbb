/* SPDX-License-Identifier: Apache-2.0
 *
 * test_tokenizer_json.c - tokenizer.json: what is understood, and what is refused by name.
 */
#include "tok.h"
#include "tok_small.h"

static mnw_status open_json(tok_bench *b, const char *json, const char *config)
{
    tok_init(b);
    const mn_bytes text = { (const uint8_t *)json, strlen(json) };
    const mn_bytes more = { (const uint8_t *)config, config ? strlen(config) : 0 };
    b->file = malloc(text.n ? text.n : 1);   // of the exact size, so that a sanitizer sees each byte too far
    memcpy(b->file, json, text.n);
    return mn_tokenizer_from_json(&b->ctx, (mn_bytes){ (uint8_t *)b->file, text.n }, more, &b->tok,
                                  &b->err);
}

static void refuse(const char *json, mnw_status want, const char *part, const char *other)
{
    tok_bench        b;
    const mnw_status st = open_json(&b, json, NULL);
    if (st != want) fail_msg("status %d (%s), expected %d", st, b.err.text, want);
    HAS(b.err.text, part);
    HAS(b.err.text, other);
    assert_null(b.tok);
    tok_done(&b);
}

static void accept(tok_bench *b, const char *json, const char *config)
{
    const mnw_status st = open_json(b, json, config);
    if (st != MNW_OK) fail_msg("refused: %s", b->err.text);
}

static void refuse_small(const char *normalizer, const char *pre, const char *part)
{
    char json[SMALL_JSON];
    small_json(json, normalizer, pre, "");
    refuse(json, MNW_E_UNSUPPORTED, part, "tokenizer.json");
}

#define EXPECT(b, text, flags, ...)                                                                \
    tok_expect((b).tok, text, sizeof text - 1, flags, (const int32_t[]){ __VA_ARGS__ },            \
               LEN(((const int32_t[]){ __VA_ARGS__ })))

TEST(what_is_not_known_is_refused_by_name)
{
    refuse_small("{\"type\":\"Lowercase\"}", SMALL_GPT2, "Lowercase");
    refuse_small("{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFC\"},{\"type\":\"NFKD\"}]}",
                 SMALL_GPT2, "NFKD");
    refuse_small("null", "{\"type\":\"BertPreTokenizer\"}", "BertPreTokenizer");
    refuse_small("null",
                 "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"x+y\"},\"behavior\":\"Isolated\"}",
                 "x+y");
    refuse_small("null",
                 "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"\\\\p{N}\"},\"behavior\":\"Removed\"}",
                 "isolate");
    refuse_small("null", "{\"type\":\"ByteLevel\",\"add_prefix_space\":true}", "add_prefix_space");
#define AFTER_BYTES(part) \
    refuse_small("null", "{\"type\":\"Sequence\",\"pretokenizers\":[" SMALL_GPT2 "," part "]}", \
                 "after ByteLevel")
    AFTER_BYTES(SMALL_GPT2);   // text in the alphabet for bytes has no code points to look at
    AFTER_BYTES("{\"type\":\"Digits\",\"individual_digits\":true}");
    AFTER_BYTES("{\"type\":\"Split\",\"pattern\":{\"Regex\":\"\\\\p{N}\"},\"behavior\":\"Isolated\"}");
#undef AFTER_BYTES
    refuse_small("{\"type\":\"Prepend\",\"prepend\":\"\xE2\x96\x81\"}", "null", "Prepend");
    refuse("{\"model\":{\"type\":\"WordPiece\",\"vocab\":{\"a\":0}}}", MNW_E_UNSUPPORTED,
           "WordPiece", "model");
    refuse("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[],"
           "\"continuing_subword_prefix\":\"##\"}}",
           MNW_E_UNSUPPORTED, "continuing_subword_prefix", "model");
}

TEST(damaged_documents_are_refused_with_the_place)
{
    refuse("", MNW_E_FORMAT, "tokenizer.json", "");
    refuse("{\"model\":{\"vocab\":{\"a\":0}}", MNW_E_FORMAT, "line", "");
    refuse("{\"model\":{\"type\":\"BPE\",\"merges\":[]}}", MNW_E_FORMAT, "vocab", "missing");
    refuse("{\"model\":{\"type\":\"BPE\",\"vocab\":{},\"merges\":[]}}", MNW_E_FORMAT, "vocab", "empty");
    refuse("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0}}}", MNW_E_FORMAT, "merges", "missing");
    refuse("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":-1},\"merges\":[]}}", MNW_E_FORMAT, "id",
           "vocab");
    refuse("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":\"0\"},\"merges\":[]}}", MNW_E_FORMAT, "id",
           "vocab");
    refuse("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":0},\"merges\":[]}}", MNW_E_FORMAT,
           "twice", "vocab");
    refuse("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[\"a\"]}}", MNW_E_FORMAT,
           "entry 0", "merges");
    refuse("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[[\"a\",\"a\"]]}}",
           MNW_E_FORMAT, "entry 0", "vocabulary");
    refuse("{\"added_tokens\":[{\"id\":1}],\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},"
           "\"merges\":[]}}",
           MNW_E_FORMAT, "added_tokens", "content");
    refuse("{\"model\":{\"type\":\"Unigram\",\"unk_id\":5,\"vocab\":[[\"a\",0]]}}", MNW_E_FORMAT,
           "unknown id is 5", "1 tokens");
    refuse("{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"a\"]]}}", MNW_E_FORMAT, "score", "id 0");
    refuse("{\"model\":{\"type\":\"Unigram\",\"vocab\":{\"a\":0}}}", MNW_E_FORMAT, "unigram", "score");
}

TEST(ids_end_at_the_limit)
{
    tok_bench b;
    accept(&b, "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":1048575},\"merges\":[]}}", NULL);
    EQ(mnw_tokenizer_count(b.tok), 1048576);
    EQ(mnw_tokenizer_find(b.tok, "a", 1), 1048575);
    EXPECT(b, "aa", 0, 1048575, 1048575);
    tok_done(&b);
    refuse("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":1048576},\"merges\":[]}}", MNW_E_LIMIT,
           "1048576", "at most 1048575");
}

TEST(both_forms_of_merges_are_read)
{
    static const char *const form[] = { "\"a b\",\"ab c\"", "[\"a\",\"b\"],[\"ab\",\"c\"]",
                                        "\"\\u0061 b\",[\"a\\u0062\",\"c\"]" };
    for (int i = 0; i < 3; i++) {
        char      json[512];
        tok_bench b;
        snprintf(json, sizeof json,
                 "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"c\":2,\"\\u0061b\":3,"
                 "\"abc\":4},\"merges\":[%s]}}",
                 form[i]);
        accept(&b, json, NULL);
        EXPECT(b, "abcab", 0, 4, 3);
        tok_done(&b);
    }
}

TEST(ignore_merges_takes_a_word_that_is_a_token_whole)
{
    static const char json[] = "{\"pre_tokenizer\":" SMALL_GPT2 ",\"model\":{\"type\":\"BPE\",%s"
                               "\"vocab\":{\"a\":0,\"b\":1,\"ab\":2},\"merges\":[]}}";
    char      text[512];
    tok_bench b;
    snprintf(text, sizeof text, json, "");
    accept(&b, text, NULL);
    EXPECT(b, "ab", 0, 0, 1);
    tok_done(&b);
    snprintf(text, sizeof text, json, "\"ignore_merges\":true,");
    accept(&b, text, NULL);
    EXPECT(b, "ab", 0, 2);
    EXPECT(b, "abb", 0, 0, 1, 1);
    tok_done(&b);
}

TEST(added_tokens_are_found_as_their_flags_say)
{
    char      json[SMALL_JSON];
    tok_bench b;
    small_json(json, "{\"type\":\"NFC\"}", SMALL_GPT2,
               "{\"id\":263,\"content\":\"cat\",\"single_word\":true},"
               "{\"id\":264,\"content\":\"<l>\",\"lstrip\":true},"
               "{\"id\":265,\"content\":\"<r>\",\"rstrip\":true},"
               "{\"id\":266,\"content\":\"\xC3\xA9\xC3\xA9\",\"normalized\":true},"
               "{\"id\":267,\"content\":\"<l><l>\",\"normalized\":false}");
    accept(&b, json, NULL);
    EXPECT(b, "cat", 0, 263);
    EXPECT(b, "cats", 0, 'c', 'a', 't', 's');
    EXPECT(b, "!cat!", 0, '!', 263, '!');
    EXPECT(b, "_cat", 0, '_', 'c', 'a', 't');
    EXPECT(b, "b  <l>c", 0, 'b', 264, 'c');
    EXPECT(b, "b<r> \n c", 0, 'b', 265, 'c');
    EXPECT(b, "e\xCC\x81" "e\xCC\x81", 0, 266);
    EXPECT(b, "<l><l>", 0, 267);           // the longest
    tok_done(&b);
}

TEST(the_template_and_the_configuration_name_bos_and_eos)
{
    static const char json[] =
        "{\"added_tokens\":[{\"id\":1,\"content\":\"<s>\",\"special\":true},"
        "{\"id\":2,\"content\":\"</s>\",\"special\":true}],"
        "\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":["
        "{\"SpecialToken\":{\"id\":\"<s>\",\"type_id\":0}},{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}]},"
        "\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[]}}";
    tok_bench b;
    accept(&b, json, NULL);
    EQ(mnw_tokenizer_bos(b.tok), 1);
    EQ(mnw_tokenizer_eos(b.tok), -1);
    EXPECT(b, "a", MNW_ENCODE_BOS, 1, 0);
    EXPECT(b, "a", 0, 0);
    tok_done(&b);
    accept(&b, json, "{\"eos_token\":{\"content\":\"</s>\"},\"add_bos_token\":false}");
    EQ(mnw_tokenizer_eos(b.tok), 2);
    EXPECT(b, "a", MNW_ENCODE_BOS, 0);
    tok_done(&b);
    EQ(open_json(&b, json, "{\"eos_token\""), MNW_E_FORMAT);
    HAS(b.err.text, "tokenizer_config.json");
    tok_done(&b);
}

TEST(metaspace_may_split_and_prepend_or_not)
{
    static const char json[] =
        "{\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"\xE2\x96\x81\","
        "\"prepend_scheme\":\"%s\",\"split\":%s},\"model\":{\"type\":\"BPE\",\"vocab\":{"
        "\"\xE2\x96\x81\":0,\"a\":1,\"\xE2\x96\x81" "a\":2,\"\xE2\x96\x81\xE2\x96\x81\":3},"
        "\"merges\":[\"\xE2\x96\x81 \xE2\x96\x81\",\"\xE2\x96\x81 a\"]}}";
    char      text[512];
    tok_bench b;
    snprintf(text, sizeof text, json, "always", "true");
    accept(&b, text, NULL);
    EXPECT(b, "a  a", 0, 2, 0, 2);
    EXPECT(b, " a", 0, 2);
    tok_done(&b);
    snprintf(text, sizeof text, json, "never", "false");
    accept(&b, text, NULL);
    EXPECT(b, "a  a", 0, 1, 3, 1);
    tok_done(&b);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

TEST(a_folder_is_opened_with_its_configuration_and_a_file_without)
{
    char           dir[] = "/tmp/minnow-tok-XXXXXX", path[128], config[128];
    mnw_ctx       *ctx;
    mnw_tokenizer *tok;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/tokenizer.json", dir);
    snprintf(config, sizeof config, "%s/tokenizer_config.json", dir);
    OK(mnw_ctx_open(&(mnw_ctx_opts){ .threads = 1 }, &ctx));

    EQ(mnw_tokenizer_open(ctx, dir, &tok), MNW_E_NOENT);
    HAS(mnw_ctx_error(ctx), "tokenizer.json");
    write_file(path, "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1},\"merges\":[]}}");
    write_file(config, "{\"eos_token\":\"b\"}");
    OK(mnw_tokenizer_open(ctx, dir, &tok));
    EQ(mnw_tokenizer_eos(tok), 1);
    mnw_tokenizer_close(tok);
    OK(mnw_tokenizer_open(ctx, path, &tok));
    EQ(mnw_tokenizer_eos(tok), -1);
    mnw_tokenizer_close(tok);

    write_file(path, "GGUF");
    EQ(mnw_tokenizer_open(ctx, path, &tok), MNW_E_FORMAT);
    HAS(mnw_ctx_error(ctx), path);
    assert_null(tok);
    mnw_tokenizer_close(NULL);
    mnw_ctx_close(ctx);
    remove(path);
    remove(config);
    remove(dir);
}

int main(void)
{
    return RUN(T(what_is_not_known_is_refused_by_name),
               T(damaged_documents_are_refused_with_the_place), T(ids_end_at_the_limit),
               T(both_forms_of_merges_are_read),
               T(ignore_merges_takes_a_word_that_is_a_token_whole),
               T(added_tokens_are_found_as_their_flags_say),
               T(the_template_and_the_configuration_name_bos_and_eos),
               T(metaspace_may_split_and_prepend_or_not),
               T(a_folder_is_opened_with_its_configuration_and_a_file_without));
}
