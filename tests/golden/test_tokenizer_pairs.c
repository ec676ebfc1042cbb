/* SPDX-License-Identifier: Apache-2.0
 *
 * test_tokenizer_pairs.c - published pairs of text and ids, with the vocabulary they were made from.
 *
 * Each pair is NAME.inp, texts between lines "__ggml_vocab_test__", and NAME.out, a line of ids for
 * each.  No special tokens are added.
 */
#include "tok.h"

static const char separator[] = "\n__ggml_vocab_test__\n";

/* Ids of one line; moves *at behind it. */
static size_t read_line(const char **at, int32_t *ids, size_t cap)
{
    const char *end = strchr(*at, '\n');
    size_t      n = 0;
    for (char *p = (char *)*at; p < end;) {
        char      *stop;
        const long id = strtol(p, &stop, 10);
        if (stop == p) break;
        assert_true(n < cap);
        ids[n++] = (int32_t)id;
        p = stop;
    }
    *at = end + 1;
    return n;
}

static char *read_text(const char *name)
{
    const char *path = test_data(name);
    if (!path) return NULL;
    FILE  *f = fopen(path, "rb");
    size_t n;
    char  *p = tok_slurp(f, &n);
    fclose(f);
    p = realloc(p, n + 1);
    p[n] = '\0';
    return p;
}

static void check_pairs(const mnw_tokenizer *tok, const char *inp_name, const char *out_name)
{
    char *inp = read_text(inp_name), *out = read_text(out_name);
    assert_non_null(inp);
    assert_non_null(out);
    const char *line = out;
    int         count = 0;
    for (const char *text = inp; text;) {
        const char  *stop = strstr(text, separator);
        const size_t len = stop ? (size_t)(stop - text) : strlen(text);
        if (!stop && len == 0) break;
        int32_t      want[1024];
        const size_t n = read_line(&line, want, LEN(want));
        tok_expect(tok, text, len, 0, want, n);
        count++;
        text = stop ? stop + sizeof separator - 1 : NULL;
    }
    YES(count > 40);
    EQ(*line, '\0');
    free(inp);
    free(out);
}

static void check_gguf(const char *stem)
{
    char name[128], inp[160], out[160];
    snprintf(name, sizeof name, "tokenizers/ggml-vocab/%s", stem);
    snprintf(inp, sizeof inp, "%s.inp", name);
    snprintf(out, sizeof out, "%s.out", name);
    const char *path = test_data(name);
    if (!path) SKIP("%s is not here", name);
    tok_bench b;
    tok_init(&b);
    YES(tok_read_file(&b, path));
    OK(tok_from_gguf(&b));
    check_pairs(b.tok, inp, out);
    tok_done(&b);
}

TEST(gpt_2_pairs_agree)
{
    check_gguf("ggml-vocab-gpt-2.gguf");
}

TEST(falcon_pairs_agree)
{
    check_gguf("ggml-vocab-falcon.gguf");
}

TEST(phi_3_pairs_agree)
{
    check_gguf("ggml-vocab-phi-3.gguf");
}

/* The pair is Qwen2's; Qwen3 has the same pieces. */
TEST(qwen2_pairs_agree_with_the_real_qwen3_vocabulary)
{
    tok_bench b;
    tok_init(&b);
    if (!tok_read_qwen3(&b)) {
        tok_done(&b);
        SKIP("tokenizers/qwen3/tokenizer.json.xz or xz is not here");
    }
    OK(mn_tokenizer_from_json(&b.ctx, (mn_bytes){ (uint8_t *)b.file, b.file_bytes },
                              (mn_bytes){ NULL, 0 }, &b.tok, &b.err));
    check_pairs(b.tok, "tokenizers/ggml-vocab/ggml-vocab-qwen2.gguf.inp",
                "tokenizers/ggml-vocab/ggml-vocab-qwen2.gguf.out");
    tok_done(&b);
}

int main(void)
{
    return RUN(T(gpt_2_pairs_agree), T(falcon_pairs_agree), T(phi_3_pairs_agree),
               T(qwen2_pairs_agree_with_the_real_qwen3_vocabulary));
}
