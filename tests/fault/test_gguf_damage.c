/* SPDX-License-Identifier: Apache-2.0
 *
 * A model file cut at every byte, with every early byte flipped, read without memory: the reader
 * answers each time, soon, and takes little.
 */
#include "gguf_bytes.h"
#include "tmpdir.h"

#include <time.h>

#include "base/out.h"
#include "format/gguf_write.h"
#include "format/scan.h"

enum { TOKENS = 300, LAYERS = 4, D = 96, FLIPPED = 4096 };

static blob model;   // about 200 KB

static void make_model(void)
{
    static char          text[TOKENS][8];
    static mn_str        words[TOKENS];
    static float         scores[TOKENS];
    static const uint8_t zeros[4 * D * D];
    const mn_dtype      *f32 = mn_dtype_from_id(MN_F32), *q8 = mn_dtype_from_id(MN_Q8_0);
    mn_mem               mem;
    mn_err               err = { 0 };
    mn_gguf_writer       w;
    mn_mem_init(&mem, NULL, NULL);
    mn_gguf_init(&w, &mem);
    for (int i = 0; i < TOKENS; i++) {
        snprintf(text[i], sizeof text[i], "t%d", i);
        words[i] = mn_str_of(text[i]);
        scores[i] = (float)-i;
    }
    mn_gguf_set_str(&w, "general.architecture", mn_str_of("llama"));
    mn_gguf_set_u32(&w, "llama.block_count", LAYERS);
    mn_gguf_set_bool(&w, "tokenizer.ggml.add_bos_token", true);
    mn_gguf_set_array(&w, "tokenizer.ggml.tokens", MN_META_STR, words, TOKENS);
    mn_gguf_set_array(&w, "tokenizer.ggml.scores", MN_META_F32, scores, TOKENS);
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1) OK(mn_gguf_begin(&w, tmp_path("model.gguf"), &err));
        for (int i = 0; i < LAYERS * 4; i++) {
            char           name[32];
            const mn_dtype *t = i % 4 == 0 ? f32 : q8;
            uint64_t       bytes;
            snprintf(name, sizeof name, "blk.%d.w%d", i / 4, i % 4);
            YES(mn_dtype_bytes(t, D * D, &bytes));
            if (pass == 0) mn_gguf_declare(&w, mn_str_of(name), t, 2, (const uint64_t[]){ D, D });
            else OK(mn_gguf_put(&w, zeros, (size_t)bytes, &err));
        }
    }
    OK(mn_gguf_finish(&w, &err));
    mn_gguf_done(&w);
    model.p = tmp_read(tmp_path("model.gguf"), &model.n);
}

/* Touch what was handed out: a sanitizer sees a slice that leaves the file. */
static unsigned touch(const mn_content *c)
{
    unsigned sum = 0;
    for (size_t i = 0; i < c->n_items; i++) {
        const mn_meta_item *m = &c->item[i];
        for (uint64_t k = 0; k < m->bytes; k++) sum += m->data[k];
        if (m->type != MN_META_ARRAY || m->elem != MN_META_STR) continue;
        const uint8_t *at = m->data;
        for (uint64_t k = 0; k < m->count; k++) sum += (unsigned)mn_meta_next_str(m, &at).n;
    }
    for (size_t i = 0; i < c->n_tensors; i++) sum += mn_scan_tensor(&c->tensor[i], NULL);
    return sum;
}

/* Read n bytes of p; a refusal explains itself, memory stays below twice the file. */
static mnw_status read_some(const uint8_t *p, size_t n, bool look)
{
    mn_mem     mem;
    mn_pages   pages;
    mn_content c;
    mn_err     err = { 0 };
    mn_mem_init(&mem, NULL, NULL);
    mn_pages_init(&pages, &mem);
    const mnw_status st = mn_gguf_read((mn_bytes){ p, n }, &pages, &c, &err);
    if (st == MNW_OK && look) touch(&c);
    if (st != MNW_OK && !err.text[0]) fail_msg("refused without a word");
    if (mem.peak > 2 * model.n) fail_msg("took %zu bytes", (size_t)mem.peak);
    mn_pages_done(&pages);
    EQ(mem.live, 0);
    return st;
}

static size_t head_bytes(void)
{
    opened o;
    open_blob(&o, &model);
    OK(o.st);
    const size_t n = (size_t)o.c.head_bytes;
    close_blob(&o);
    return n;
}

TEST(the_model_itself_opens)
{
    YES(model.n > 150000 && model.n < 300000);
    OK(read_some(model.p, model.n, true));
    YES(head_bytes() > FLIPPED / 2);
}

TEST(a_file_cut_at_any_byte_is_refused)
{
    const size_t head = head_bytes();
    for (size_t n = 0; n < model.n; n++) {
        uint8_t *copy = NULL;
        if (n < head + 64) {   // beyond the head nothing is read, so the exact size shows nothing
            copy = malloc(n ? n : 1);
            YES(copy != NULL);
            memcpy(copy, model.p, n);
        }
        if (read_some(copy ? copy : model.p, n, false) == MNW_OK) {
            /* What may be missing is the padding behind the last tensor. */
            YES(n + 32 > model.n);
        }
        free(copy);
    }
}

TEST(a_flipped_byte_gives_an_answer_at_once)
{
    const clock_t start = clock();
    for (size_t i = 0; i < FLIPPED; i++) {
        static const uint8_t FLIPS[] = { 0xFF, 1, 2, 4, 8, 16, 32, 64, 128 };
        for (size_t k = 0; k < LEN(FLIPS); k++) {
            model.p[i] ^= FLIPS[k];
            read_some(model.p, model.n, i % 64 == 0);
            model.p[i] ^= FLIPS[k];
        }
    }
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    YES(seconds / (FLIPPED * 9) < 0.1);
    OK(read_some(model.p, model.n, true));
}

typedef struct budget {
    int left;   // allocations that succeed
} budget;

static void *limited(void *user, void *p, size_t old_size, size_t new_size)
{
    budget *b = user;
    if (new_size == 0) {
        free(p);
        return NULL;
    }
    return b->left-- > 0 ? realloc(p, new_size) : NULL;
}

TEST(without_memory_the_reader_says_so_and_leaks_nothing)
{
    int n = 0;
    for (;; n++) {
        budget     b = { n };
        mn_mem     mem;
        mn_pages   pages;
        mn_content c;
        mn_err     err = { 0 };
        mn_mem_init(&mem, limited, &b);
        mn_pages_init(&pages, &mem);
        const mnw_status st = mn_gguf_read((mn_bytes){ model.p, model.n }, &pages, &c, &err);
        mn_pages_done(&pages);
        EQ(mem.live, 0);
        if (st == MNW_OK) break;
        EQ(st, MNW_E_NOMEM);
        HAS(err.text, "no memory");
        EQ(c.n_tensors, 0);
    }
    YES(n >= 1);
}

TEST(without_memory_the_writer_says_so_and_leaves_nothing)
{
    int n = 0;
    for (;; n++) {
        budget         b = { n };
        mn_mem         mem;
        mn_err         err = { 0 };
        mn_gguf_writer w;
        mn_mem_init(&mem, limited, &b);
        mn_gguf_init(&w, &mem);
        mn_gguf_set_u32(&w, "k", 1);
        mn_gguf_declare(&w, mn_str_of("t"), mn_dtype_from_id(MN_I8), 1, (const uint64_t[]){ 8 });
        mnw_status st = mn_gguf_begin(&w, tmp_path("w.gguf"), &err);
        if (st == MNW_OK) st = mn_gguf_put(&w, "12345678", 8, &err);
        if (st == MNW_OK) st = mn_gguf_finish(&w, &err);
        mn_gguf_done(&w);
        EQ(mem.live, 0);
        if (st == MNW_OK) break;
        EQ(st, MNW_E_NOMEM);
        HAS(err.text, "no memory");
        YES(access(tmp_path("w.gguf"), F_OK) != 0);
    }
    YES(n >= 4);
}

int main(void)
{
    tmp_open();
    make_model();
    const int failed = RUN(T(the_model_itself_opens), T(a_file_cut_at_any_byte_is_refused),
                           T(a_flipped_byte_gives_an_answer_at_once),
                           T(without_memory_the_reader_says_so_and_leaks_nothing),
                           T(without_memory_the_writer_says_so_and_leaves_nothing));
    free(model.p);
    tmp_close();
    return failed;
}
