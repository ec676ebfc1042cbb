/* SPDX-License-Identifier: Apache-2.0
 *
 * test_golden_hf.c - a folder of transformers and its GGUF file are the same model: same ids, same chat,
 * logits as transformers has them in float64; and the way back gives the folder's tensors to the bit.
 * The folders in tests/golden/hf were made by tools/mkhf.py (origin in each vector's head).
 */
#include "vectors.h"
#include "tmpdir.h"

#include "base/json.h"
#include "format/safetensors.h"

static const char *const FOLDERS[] = { "llama", "qwen2", "qwen3" };
static const char        TEXT[] = "hello world, the hint\n an 1234 order \xC3\xA9\xE4\xB8\xAD ok<|im_end|>";
static const char        CHAT[] = "[{\"role\": \"user\", \"content\": \"hello <|im_end|> world\"}]";

static mnw_ctx *ctx;

static void convert(const char *in, const char *out, mnw_form to, mnw_type type)
{
    const mnw_convert_opts o = { .size = sizeof o, .to = to, .type = type };
    if (mnw_convert(ctx, in, out, &o) != MNW_OK) fail_msg("%s: %s", in, mnw_ctx_error(ctx));
}

static const char *folder(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, TEST_DIR "/golden/hf/%s", name);
    return path;
}

/* The line of a vector that starts with `key`, behind it. */
static void vector_line(const char *name, const char *key, char line[4096])
{
    char path[512];
    snprintf(path, sizeof path, TEST_DIR "/golden/hf/%s.vec", name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, 4096, f) && strncmp(line, key, strlen(key)) != 0) {}
    fclose(f);
    YES(strncmp(line, key, strlen(key)) == 0);
    memmove(line, line + strlen(key), strlen(line + strlen(key)) + 1);
}

/* Ids of the text and the rendered chat are those of the vector. */
static void check_text(const char *path, const char *name)
{
    mnw_model *m;
    char       line[4096], chat[1024], expected[1024];
    int32_t    ids[128];
    size_t     n, len;
    if (mnw_model_open(ctx, path, NULL, &m) != MNW_OK) fail_msg("%s", mnw_ctx_error(ctx));
    OK(mnw_tokenizer_encode(mnw_model_tokenizer(m), TEXT, strlen(TEXT), MNW_ENCODE_SPECIAL | MNW_ENCODE_BOS,
                            ids, LEN(ids), &n));
    vector_line(name, "ids ", line);
    char *at = line;
    for (size_t i = 0; i < n; i++) EQ(strtol(at, &at, 10), ids[i]);
    EQ(*at, '\n');

    OK(mnw_chat_render(m, CHAT, strlen(CHAT), NULL, chat, sizeof chat, &len));
    vector_line(name, "chat ", line);
    mn_json j;
    mn_json_init(&j, (mn_bytes){ (const uint8_t *)line, strlen(line) });
    EQ(mn_json_next(&j), MN_JSON_STRING);
    EQ(mn_json_text(&j, expected, sizeof expected), len);
    EQ_MEM(chat, expected, len);
    mnw_model_close(m);
}

TEST(a_folder_and_its_gguf_file_are_the_same_model)
{
    for (size_t i = 0; i < LEN(FOLDERS); i++) {
        const char *out = tmp_path("m.gguf");
        convert(folder(FOLDERS[i]), out, MNW_FORM_GGUF, MNW_TYPE_KEEP);
        check_text(out, FOLDERS[i]);
        check_vector(out, "hf", FOLDERS[i]);
        convert(folder(FOLDERS[i]), out, MNW_FORM_GGUF, MNW_TYPE_F32);
        check_vector(out, "hf", FOLDERS[i]);
        tmp_files(1);
    }
}

static void same_tensors(const char *a, const char *b)
{
    mn_mem    mem;
    mn_pages  pages;
    mn_shards x, y;
    mn_err    err = { 0 };
    mn_mem_init(&mem, NULL, NULL);
    mn_pages_init(&pages, &mem);
    OK(mn_shards_open(a, &pages, &x, &err));
    OK(mn_shards_open(b, &pages, &y, &err));
    EQ(x.content.n_tensors, y.content.n_tensors);
    for (size_t i = 0; i < x.content.n_tensors; i++) {
        const mn_tensor *t = &x.content.tensor[i], *u = mn_tensor_find(&y.content, t->name);
        assert_non_null(u);
        EQ(u->type->id, t->type->id);
        EQ(u->n_dims, t->n_dims);
        EQ_MEM(u->dim, t->dim, sizeof u->dim);
        EQ_MEM(u->data, t->data, t->bytes);
    }
    mn_shards_close(&x);
    mn_shards_close(&y);
    mn_pages_done(&pages);
}

/* The name of a folder is the name of the model, so the way back leads to one of the same name. */
TEST(the_way_back_leads_to_the_same_bytes)
{
    for (size_t i = 0; i < LEN(FOLDERS); i++) {
        const char *first = tmp_path("m.gguf"), *back = tmp_path(FOLDERS[i]), *again = tmp_path("n.gguf");
        size_t      n, m;
        convert(folder(FOLDERS[i]), first, MNW_FORM_GGUF, MNW_TYPE_KEEP);
        convert(first, back, MNW_FORM_HF, MNW_TYPE_KEEP);
        same_tensors(folder(FOLDERS[i]), back);
        convert(back, again, MNW_FORM_GGUF, MNW_TYPE_KEEP);
        uint8_t *a = tmp_read(first, &n), *b = tmp_read(again, &m);
        EQ(n, m);
        EQ_MEM(a, b, n);
        free(a);
        free(b);
        tmp_forget_dir(back);
        tmp_files(1);
    }
}

/* Models of other converters, all kinds of rotary scaling, matrices of mixed types: through a folder
 * and back they say what they said. */
TEST(foreign_gguf_files_survive_the_way_through_a_folder)
{
    static const char *const MODELS[] = { "llama", "llama-untied", "llama-linear", "llama-llama3", "qwen2",
                                          "qwen2-yarn", "qwen3" };
    for (size_t i = 0; i < LEN(MODELS); i++) {
        char        path[512];
        const char *back = tmp_path("folder"), *again = tmp_path("n.gguf");
        if (strcmp(MODELS[i], "llama-llama3") == 0) continue;   // see the next test
        snprintf(path, sizeof path, TEST_DIR "/golden/tiny/%s.gguf", MODELS[i]);
        convert(path, back, MNW_FORM_HF, MNW_TYPE_KEEP);
        convert(back, again, MNW_FORM_GGUF, MNW_TYPE_KEEP);
        check_vector(again, "tiny", MODELS[i]);
        tmp_forget_dir(back);
        convert(path, again, MNW_FORM_GGUF, MNW_TYPE_F32);
        check_vector(again, "tiny", MODELS[i]);
        tmp_files(1);
    }
}

/* That file has only the divisors, of numbers that are not the usual ones. */
TEST(divisors_of_unknown_origin_are_refused)
{
    const mnw_convert_opts o = { .size = sizeof o, .to = MNW_FORM_HF };
    EQ(mnw_convert(ctx, TEST_DIR "/golden/tiny/llama-llama3.gguf", tmp_path("folder"), &o),
       MNW_E_UNSUPPORTED);
    HAS(mnw_ctx_error(ctx), "rope_freqs.weight: value 1 is");
    EQ(tmp_files(0), 0);
}

int main(void)
{
    tmp_open();
    OK(mnw_ctx_open(&(mnw_ctx_opts){ .threads = 1 }, &ctx));
    const int failed = RUN(T(a_folder_and_its_gguf_file_are_the_same_model),
                           T(the_way_back_leads_to_the_same_bytes),
                           T(foreign_gguf_files_survive_the_way_through_a_folder),
                           T(divisors_of_unknown_origin_are_refused));
    mnw_ctx_close(ctx);
    tmp_close();
    return failed;
}
