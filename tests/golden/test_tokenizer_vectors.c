/* SPDX-License-Identifier: Apache-2.0
 *
 * test_tokenizer_vectors.c - ids frozen from the PyPI package tokenizers, for three published models.
 *
 * The vectors are in tokenizer/NAME.vec, made by tools/golden_tokenizer.py.  The vocabularies are not in
 * the repository; SmolLM2's file is named by MINNOW_TEST_SMOLLM2, else where `make demo` keeps it.
 */
#include "tok.h"

static size_t unhex(const char **at, char *out)
{
    size_t n = 0;
    unsigned byte;
    if (**at == '-') ++*at;
    for (; sscanf(*at, "%2x", &byte) == 1 && **at != ' '; *at += 2) out[n++] = (char)byte;
    return n;
}

static void check_vectors(const mnw_tokenizer *tok, const char *name, bool normalised)
{
    char path[1024], line[1 << 16], text[1 << 14];
    snprintf(path, sizeof path, "%s/golden/tokenizer/%s.vec", TEST_DIR, name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    int count = 0;
    while (fgets(line, sizeof line, f)) {
        if (line[0] == '#') continue;
        line[strcspn(line, "\n")] = '\0';
        const char  *at = line;
        const size_t len = unhex(&at, text);
        int32_t      want[4096];
        size_t       n = 0;
        char        *stop;
        for (long id; (id = strtol(at, &stop, 10), stop != at); at = stop) want[n++] = (int32_t)id;
        tok_expect(tok, text, len, MNW_ENCODE_SPECIAL, want, n);
        if (!normalised) tok_expect_round_trip(tok, text, len);
        count++;
    }
    fclose(f);
    YES(count > 300);
}

static mnw_status from_json(tok_bench *b)
{
    return mn_tokenizer_from_json(&b->ctx, (mn_bytes){ (uint8_t *)b->file, b->file_bytes },
                                  (mn_bytes){ NULL, 0 }, &b->tok, &b->err);
}

TEST(qwen3_ids_agree)
{
    tok_bench b;
    tok_init(&b);
    if (!tok_read_qwen3(&b)) {
        tok_done(&b);
        SKIP("tokenizers/qwen3/tokenizer.json.xz or xz is not here");
    }
    OK(from_json(&b));
    EQ_STR(mnw_tokenizer_pre(b.tok), "qwen2");
    check_vectors(b.tok, "qwen3", true);
    tok_done(&b);
}

TEST(minimind_ids_agree)
{
    tok_bench   b;
    const char *path = test_data("tokenizers/minimind-tokenizer.json");
    if (!path) SKIP("tokenizers/minimind-tokenizer.json is not here");
    tok_init(&b);
    YES(tok_read_file(&b, path));
    OK(from_json(&b));
    EQ_STR(mnw_tokenizer_pre(b.tok), "gpt-2");
    check_vectors(b.tok, "minimind", false);
    tok_done(&b);
}

static bool read_smollm2(tok_bench *b)
{
    static const char name[] = "minnow/SmolLM2-135M-Instruct.Q4_1.gguf";
    const char *given = getenv("MINNOW_TEST_SMOLLM2"), *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    char        path[1024];
    if (given) snprintf(path, sizeof path, "%s", given);
    else if (cache && *cache) snprintf(path, sizeof path, "%s/%s", cache, name);
    else snprintf(path, sizeof path, "%s/.cache/%s", home ? home : "", name);
    return tok_read_file(b, path);
}

TEST(smollm2_ids_agree_and_its_tables_are_small)
{
    tok_bench b;
    tok_init(&b);
    if (!read_smollm2(&b)) {
        tok_done(&b);
        SKIP("SmolLM2's file is not here");
    }
    OK(tok_from_gguf(&b));
    EQ(b.warnings, 0);
    YES(atomic_load(&b.ctx.mem.live) < 5 << 19);   // 2.5 MiB, the reading of the file included
    EQ_STR(mnw_tokenizer_pre(b.tok), "smollm");
    EQ(mnw_tokenizer_bos(b.tok), 1);
    EQ(mnw_tokenizer_eos(b.tok), 2);
    YES(mnw_tokenizer_is_end(b.tok, 2));
    YES(mnw_tokenizer_is_end(b.tok, 0));
    check_vectors(b.tok, "smollm2", false);
    tok_done(&b);
}

int main(void)
{
    return RUN(T(qwen3_ids_agree), T(minimind_ids_agree), T(smollm2_ids_agree_and_its_tables_are_small));
}
