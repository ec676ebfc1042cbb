/* SPDX-License-Identifier: Apache-2.0
 *
 * test_quantize_file.c - mnw_quantize(): types, fallbacks, budgets, the layout, and what a failure leaves.
 */
#include "lab.h"
#include "tmpdir.h"

#include "format/gguf.h"
#include "format/segments.h"

enum { MOST = 64 };

/* What a job told. */
typedef struct told {
    mnw_quantize_result row[MOST];
    char                name[MOST][64];
    size_t              n;
    mnw_warning         warning;
    char                text[256];
    int                 warnings;
    uint64_t            high;       // of the progress
    bool                back;       // it went back
    uint64_t            cancel_at;  // 0 = never
} told;

static void on_result(void *user, const mnw_quantize_result *r)
{
    told *t = user;
    t->row[t->n] = *r;
    snprintf(t->name[t->n], sizeof t->name[0], "%s", r->name);
    t->n++;
}

static void on_warning(void *user, mnw_warning w, const char *text)
{
    told *t = user;
    t->warning = w;
    t->warnings++;
    snprintf(t->text, sizeof t->text, "%s", text);
}

static bool on_progress(void *user, const char *what, uint64_t done, uint64_t total)
{
    told *t = user;
    if (strcmp(what, "quantize") != 0) return true;
    t->back = t->back || done < t->high || done > total;
    t->high = done;
    return !t->cancel_at || done < t->cancel_at;
}

typedef struct bench {
    told       told;
    lab_memory memory;
    mnw_ctx   *ctx;
} bench;

static void bench_open(bench *b, uint32_t threads, bool strict)
{
    memset(b, 0, sizeof *b);
    OK(mnw_ctx_open(&(mnw_ctx_opts){ .size = sizeof(mnw_ctx_opts), .threads = threads, .strict = strict,
                                     .warn = on_warning, .warn_user = &b->told, .progress = on_progress,
                                     .progress_user = &b->told, .mem = lab_hook, .mem_user = &b->memory },
                    &b->ctx));
}

static void bench_close(bench *b)
{
    mnw_ctx_close(b->ctx);
    EQ(b->memory.live, 0);
}

static const char *model(const char *name, const tiny *t)
{
    const char *path = tmp_path(name);
    tiny_file   f = tiny_build(t);
    tmp_write(path, f.data, f.size);
    tiny_free(&f);
    return path;
}

/* Quantise a.gguf to `out`; the rows are in b->told. */
static mnw_status quantize(bench *b, const char *out, mnw_quantize_opts o)
{
    b->told = (told){ .cancel_at = b->told.cancel_at };
    o.size = sizeof o;
    o.report = on_result;
    o.report_user = &b->told;
    return mnw_quantize(b->ctx, tmp_path("a.gguf"), tmp_path(out), &o);
}

static const mnw_quantize_result *row(const bench *b, const char *name)
{
    for (size_t i = 0; i < b->told.n; i++) {
        if (!strcmp(b->told.name[i], name)) return &b->told.row[i];
    }
    fail_msg("no tensor %s", name);
    return NULL;
}

TEST(every_type_is_written_checked_and_run)
{
    bench b;
    bench_open(&b, 1, false);
    model("a.gguf", &(tiny){ .L = 1 });
    char types[128];
    snprintf(types, sizeof types, "%s", mnw_quantize_types());
    for (char *save = NULL, *type = strtok_r(types, " ", &save); type; type = strtok_r(NULL, " ", &save)) {
        if (quantize(&b, "b.gguf", (mnw_quantize_opts){ .type = type }) != MNW_OK)
            fail_msg("%s: %s", type, mnw_ctx_error(b.ctx));
        EQ(b.told.warnings, 0);
        NO(b.told.back);
        if (mnw_model_check(b.ctx, tmp_path("b.gguf")) != MNW_OK) fail_msg("%s: %s", type, mnw_ctx_error(b.ctx));
        const mnw_quantize_result *q = row(&b, "blk.0.attn_q.weight");
        EQ_STR(q->to, type);
        EQ_STR(q->from, "f32");
        EQ(q->rows, 256);
        EQ(q->cols, 256);
        YES(q->wanted == NULL);
        NEAR(q->bits, 8.0 * (double)q->bytes / 65536, 1e-9);
        YES(q->error_db < (strchr("fb", *type) ? -40 : -18));
        EQ_STR(row(&b, "blk.0.ffn_norm.weight")->to, "f32");
        mnw_model   *m;
        mnw_session *s;
        OK(mnw_model_open(b.ctx, tmp_path("b.gguf"), NULL, &m));
        OK(mnw_session_open(m, &(mnw_session_opts){ .size = sizeof(mnw_session_opts), .n_ctx = 32 }, &s));
        lab_feed(s, 0, 20, 20);
        YES(isfinite(mnw_session_logits(s)[0]));
        mnw_session_close(s);
        mnw_model_close(m);
    }
    bench_close(&b);
}

TEST(a_tensor_that_cannot_have_its_type_gets_the_nearest_and_a_warning)
{
    bench b;
    bench_open(&b, 1, false);
    model("a.gguf", &(tiny){ .D = 128, .H = 4, .F = 256 });
    OK(quantize(&b, "b.gguf", (mnw_quantize_opts){ .type = "q4_k" }));
    EQ(b.told.warning, MNW_WARNING_TYPE_FALLBACK);
    EQ(b.told.warnings, 13);
    HAS(b.told.text, "token_embd.weight: q5_0 instead of q4_k, which takes rows of a multiple of 256");
    HAS(b.told.text, "this is [320, 128]");
    EQ_STR(row(&b, "blk.0.attn_q.weight")->to, "q5_0");
    EQ_STR(row(&b, "blk.0.attn_q.weight")->wanted, "q4_k");
    EQ_STR(row(&b, "blk.0.ffn_down.weight")->to, "q4_k");
    OK(mnw_model_check(b.ctx, tmp_path("b.gguf")));
    OK(quantize(&b, "b.gguf", (mnw_quantize_opts){ .type = "q5_k" }));
    EQ_STR(row(&b, "blk.0.attn_q.weight")->to, "q5_1");
    OK(quantize(&b, "b.gguf", (mnw_quantize_opts){ .type = "q6_k" }));
    EQ_STR(row(&b, "blk.0.attn_q.weight")->to, "q8_0");

    model("a.gguf", &(tiny){ .D = 48, .H = 2, .K = 1, .P = 24, .F = 80 });
    OK(quantize(&b, "b.gguf", (mnw_quantize_opts){ .type = "q4_0" }));
    EQ_STR(row(&b, "blk.0.attn_q.weight")->to, "f16");
    OK(quantize(&b, "b.gguf", (mnw_quantize_opts){ .type = "q4x" }));   // any number of columns
    EQ(b.told.warnings, 0);
    EQ_STR(row(&b, "blk.0.attn_q.weight")->to, "q4x");
    bench_close(&b);

    bench_open(&b, 1, true);
    EQ(quantize(&b, "strict.gguf", (mnw_quantize_opts){ .type = "q4_0" }), MNW_E_STRICT);
    HAS(mnw_ctx_error(b.ctx), "f16 instead of q4_0");
    YES(access(tmp_path("strict.gguf"), F_OK) != 0);
    bench_close(&b);
}

TEST(a_rule_chooses_for_the_tensors_it_names)
{
    bench b;
    bench_open(&b, 1, false);
    model("a.gguf", &(tiny){ .type = MN_F16, .embd_type = MN_Q8_0 });
    const mnw_quantize_rule rules[] = { { "blk.0.attn_?.weight", "q8x" }, { "blk.*.attn_*.weight", "q8_0" },
                                        { "token_embd.weight", "" },      { "*.ffn_norm.weight", "f16" } };
    OK(quantize(&b, "b.gguf", (mnw_quantize_opts){ .type = "q4x", .rules = rules, .n_rules = 4 }));
    EQ_STR(row(&b, "blk.0.attn_q.weight")->to, "q8x");
    EQ_STR(row(&b, "blk.1.attn_q.weight")->to, "q8_0");
    EQ_STR(row(&b, "blk.0.attn_output.weight")->to, "q8_0");
    EQ_STR(row(&b, "blk.0.ffn_up.weight")->to, "q4x");
    EQ_STR(row(&b, "token_embd.weight")->to, "q8_0");
    YES(row(&b, "token_embd.weight")->error_db == -INFINITY);
    EQ_STR(row(&b, "blk.1.ffn_norm.weight")->to, "f16");
    EQ_STR(row(&b, "blk.1.attn_norm.weight")->to, "f32");   // the rule speaks of matrices
    EQ(b.told.warnings, 0);
    OK(mnw_model_check(b.ctx, tmp_path("b.gguf")));
    bench_close(&b);
}

static void same_files(const char *one, const char *two)
{
    size_t   n = 0, m = 0;
    uint8_t *a = tmp_read(tmp_path(one), &n), *c = tmp_read(tmp_path(two), &m);
    EQ(n, m);
    EQ_MEM(a, c, n);
    free(a);
    free(c);
}

TEST(the_file_does_not_depend_on_the_number_of_threads)
{
    static const char text[] = "A text to see the inputs with. It need not be long, nor sensible.";
    model("a.gguf", &(tiny){ .L = 1, .V = 700 });
    static const mnw_quantize_opts how[] = {
        { .type = "q4x" },
        { .type = "q4_k" },
        { .type = "q4x", .target_bpw = 5.5, .calibration = text },
    };
    for (size_t i = 0; i < LEN(how); i++) {
        bench b;
        bench_open(&b, 1, false);
        if (quantize(&b, "one.gguf", how[i]) != MNW_OK) fail_msg("%s", mnw_ctx_error(b.ctx));
        const told first = b.told;
        bench_close(&b);
        bench_open(&b, 3, false);
        OK(quantize(&b, "three.gguf", how[i]));
        for (size_t k = 0; k < first.n; k++) EQ_MEM(&first.row[k].error_db, &b.told.row[k].error_db, sizeof(double));
        bench_close(&b);
        same_files("one.gguf", "three.gguf");
    }
}

TEST(quantising_a_file_to_its_own_types_copies_it)
{
    bench b;
    bench_open(&b, 2, false);
    model("a.gguf", &(tiny){ 0 });
    OK(quantize(&b, "b.gguf", (mnw_quantize_opts){ .type = "q4x" }));
    size_t   n = 0;
    uint8_t *p = tmp_read(tmp_path("b.gguf"), &n);
    tmp_write(tmp_path("a.gguf"), p, n);
    free(p);
    OK(quantize(&b, "c.gguf", (mnw_quantize_opts){ .type = "q4x" }));
    same_files("b.gguf", "c.gguf");
    bench_close(&b);
}

/* One group of 16 columns is fifty times the others, and its inputs are as much smaller.  It takes all the steps
 * of Q4X, and its own errors cost nothing: those of the other columns do. */
TEST(a_tensor_with_outliers_is_the_first_to_get_more_bits)
{
    static const char text[] = "The quick brown fox jumps over the lazy dog, again and again.";
    bench             b;
    bench_open(&b, 2, false);
    tiny_file  f = tiny_build(&(tiny){ .L = 2 });
    mn_mem     mem;
    mn_pages   pages;
    mn_content c;
    mn_err     err = { 0 };
    mn_mem_init(&mem, NULL, NULL);
    mn_pages_init(&pages, &mem);
    OK(mn_gguf_read((mn_bytes){ f.data, f.size }, &pages, &c, &err));
    const mn_tensor *t = mn_tensor_find(&c, mn_str_of("blk.1.ffn_up.weight"));
    const mn_tensor *norm = mn_tensor_find(&c, mn_str_of("blk.1.ffn_norm.weight"));
    float           *w = (float *)(f.data + t->offset), *scale = (float *)(f.data + norm->offset);
    for (size_t k = 0; k < 16; k++) scale[32 + k] *= 0.02f;
    for (size_t r = 0; r < t->dim[1]; r++)
        for (size_t k = 0; k < 16; k++) w[r * t->dim[0] + 32 + k] *= 50.0f;
    tmp_write(tmp_path("a.gguf"), f.data, f.size);
    mn_pages_done(&pages);
    tiny_free(&f);

    OK(quantize(&b, "b.gguf", (mnw_quantize_opts){ .type = "q4x", .calibration = text }));
    size_t   n = 0;
    uint8_t *p = tmp_read(tmp_path("b.gguf"), &n);
    free(p);
    const double alone = row(&b, "blk.1.ffn_up.weight")->error_db;
    double       all = 0, values = 0;
    for (size_t i = 0; i < b.told.n; i++) {
        all += 8.0 * (double)b.told.row[i].bytes;
        values += (double)b.told.row[i].rows * (double)b.told.row[i].cols;
    }

    // About what Q8X takes more for this one, after the small ones of attention, which give more for a byte.
    const uint64_t more = (512 * 256 * 17 / 15 + 2 * (2 * 256 + 2 * 64) * 256 + 320 * 256) / 2;
    for (int by_size = 0; by_size < 2; by_size++) {
        mnw_quantize_opts o = { .type = "q4x", .calibration = text };
        if (by_size) o.target_bytes = n + more;
        else o.target_bpw = (all + 8.0 * (double)more) / values;
        OK(quantize(&b, "c.gguf", o));
        EQ_STR(row(&b, "blk.1.ffn_up.weight")->to, "q8_0");   // q8x would have one scale for all columns
        YES(row(&b, "blk.1.ffn_up.weight")->error_db < alone - 10);
        EQ_STR(row(&b, "blk.0.ffn_up.weight")->to, "q4x");
        EQ_STR(row(&b, "blk.1.ffn_gate.weight")->to, "q4x");
        double bits = 0;
        for (size_t i = 0; i < b.told.n; i++) bits += 8.0 * (double)b.told.row[i].bytes;
        if (!by_size) YES(bits <= o.target_bpw * values);
        size_t size = 0;
        free(tmp_read(tmp_path("c.gguf"), &size));
        if (by_size) YES(size <= o.target_bytes);
    }
    mnw_quantize_opts o = { .type = "q4x", .calibration = text, .target_bytes = n - 1 };
    EQ(quantize(&b, "d.gguf", o), MNW_E_ARG);
    HAS(mnw_ctx_error(b.ctx), "with q4x the file has");
    o.target_bytes = n;
    OK(quantize(&b, "d.gguf", o));
    same_files("b.gguf", "d.gguf");
    o.target_bytes = 0;
    o.target_bpw = 4;
    EQ(quantize(&b, "e.gguf", o), MNW_E_ARG);
    HAS(mnw_ctx_error(b.ctx), "target of 4 bits a weight: q4x and what stays");
    bench_close(&b);
}

TEST(calibration_weights_errors_by_what_the_inputs_are)
{
    static const char text[] = "The quick brown fox jumps over the lazy dog, again and again and again.";
    bench             b;
    bench_open(&b, 2, false);
    model("a.gguf", &(tiny){ 0 });
    OK(quantize(&b, "b.gguf", (mnw_quantize_opts){ .type = "q4_0" }));
    const double plain = row(&b, "blk.1.attn_q.weight")->error_db;
    OK(quantize(&b, "c.gguf", (mnw_quantize_opts){ .type = "q4_0", .calibration = text, .calibration_tokens = 20 }));
    YES(row(&b, "blk.1.attn_q.weight")->error_db != plain);
    EQ(quantize(&b, "d.gguf", (mnw_quantize_opts){ .type = "q4_0", .calibration = "" }), MNW_E_ARG);
    HAS(mnw_ctx_error(b.ctx), "the text has no tokens");
    model("a.gguf", &(tiny){ .no_tokenizer = true });
    EQ(quantize(&b, "d.gguf", (mnw_quantize_opts){ .type = "q4_0", .calibration = text }), MNW_E_UNSUPPORTED);
    HAS(mnw_ctx_error(b.ctx), "has no tokenizer");
    bench_close(&b);
}

TEST(a_native_file_is_laid_out_in_execution_order_at_pages)
{
    bench b;
    bench_open(&b, 1, false);
    model("a.gguf", &(tiny){ .arch = "qwen2", .L = 3 });
    OK(quantize(&b, "b.gguf", (mnw_quantize_opts){ .type = "q4x" }));
    size_t     n = 0;
    uint8_t   *p = tmp_read(tmp_path("b.gguf"), &n);
    mn_mem     mem;
    mn_pages   pages;
    mn_content c;
    mn_err     err = { 0 };
    mn_mem_init(&mem, NULL, NULL);
    mn_pages_init(&pages, &mem);
    OK(mn_gguf_read((mn_bytes){ p, n }, &pages, &c, &err));

    static const char *const ORDER[] = { "attn_norm.weight", "attn_q.weight", "attn_k.weight",
                                         "attn_v.weight",    "attn_q.bias",   "attn_k.bias",
                                         "attn_v.bias",      "attn_output.weight", "ffn_norm.weight",
                                         "ffn_gate.weight",  "ffn_up.weight", "ffn_down.weight" };
    uint64_t end = 0;
    size_t   i = 0;
    for (int l = 0; l < 3; l++) {
        for (size_t k = 0; k < LEN(ORDER); k++, i++) {
            char name[64];
            snprintf(name, sizeof name, "blk.%d.%s", l, ORDER[k]);
            const mn_tensor *t = &c.tensor[i];
            if (!mn_str_is(t->name, name)) fail_msg("%.*s, expected %s", MN_STR(t->name), name);
            YES(t->offset >= end);
            EQ(t->offset % (k == 0 ? 16384 : 128), 0);
            if (l + k > 0) YES(t->offset - end >= (c.tensor[i - 1].type->native ? 64 : 0));
            end = t->offset + t->bytes;
        }
    }
    YES(mn_str_is(c.tensor[i].name, "output_norm.weight"));
    EQ(c.tensor[i].offset % 16384, 0);
    YES(mn_str_is(c.tensor[i + 1].name, "token_embd.weight"));   // the head, too
    EQ(c.tensor[i + 1].offset % 16384, 0);
    EQ(c.n_tensors, i + 2);
    YES(n - c.tensor[i + 1].offset - c.tensor[i + 1].bytes >= 64);

    mn_segments s;
    OK(mn_segments_read(&c, n, &s, &err));
    EQ(s.n, 5);
    for (size_t k = 0; k < s.n; k++) OK(mn_segments_check(&s, k, (mn_bytes){ p, n }, &err));

    /* any byte of the data that changes is found, and by nobody but the check */
    for (uint64_t at = c.tensor[0].offset; at < n; at += 20011) {
        p[at] ^= 0x10;
        tmp_write(tmp_path("c.gguf"), p, n);
        mnw_model *m;
        OK(mnw_model_open(b.ctx, tmp_path("c.gguf"), NULL, &m));
        mnw_model_close(m);
        const mnw_status st = mnw_model_check(b.ctx, tmp_path("c.gguf"));
        YES(st == MNW_E_CORRUPT || st == MNW_E_FORMAT);   // the latter: a scale that is not finite
        p[at] ^= 0x10;
    }
    mn_pages_done(&pages);
    free(p);
    bench_close(&b);
}

TEST(a_failure_or_a_cancelled_job_leaves_no_file)
{
    bench b;
    bench_open(&b, 1, false);
    tmp_files(1);
    model("a.gguf", &(tiny){ 0 });
    b.told.cancel_at = 100000;
    EQ(quantize(&b, "b.gguf", (mnw_quantize_opts){ 0 }), MNW_E_CANCELLED);
    b.told.cancel_at = 0;
    EQ(tmp_files(0), 1);
    EQ(quantize(&b, "b.gguf", (mnw_quantize_opts){ .type = "q3x" }), MNW_E_ARG);
    HAS(mnw_ctx_error(b.ctx), "type q3x: expected one of: q4x q8x");
    EQ(quantize(&b, "b.gguf", (mnw_quantize_opts){ .rules = &(mnw_quantize_rule){ "nobody*", "q8x" }, .n_rules = 1 }),
       MNW_E_ARG);
    HAS(mnw_ctx_error(b.ctx), "rule nobody*: no matrix has such a name");
    EQ(quantize(&b, "b.gguf", (mnw_quantize_opts){ .rules = &(mnw_quantize_rule){ "*", "x" }, .n_rules = 1 }),
       MNW_E_ARG);
    EQ(quantize(&b, "b.gguf", (mnw_quantize_opts){ .rules = &(mnw_quantize_rule){ "output_norm.weight", "q8x" },
                                                   .n_rules = 1 }), MNW_E_ARG);
    EQ(quantize(&b, "b.gguf", (mnw_quantize_opts){ .target_bpw = 33 }), MNW_E_ARG);
    EQ(quantize(&b, "b.gguf", (mnw_quantize_opts){ .target_bpw = NAN }), MNW_E_ARG);
    EQ(mnw_quantize(b.ctx, tmp_path("none.gguf"), tmp_path("b.gguf"), NULL), MNW_E_NOENT);
    EQ(mnw_quantize(b.ctx, NULL, tmp_path("b.gguf"), NULL), MNW_E_ARG);
    EQ(mnw_quantize(NULL, "a", "b", NULL), MNW_E_ARG);
    tmp_write(tmp_path("a.gguf"), "GGUF but no more than that", 26);
    EQ(quantize(&b, "b.gguf", (mnw_quantize_opts){ 0 }), MNW_E_UNSUPPORTED);
    HAS(mnw_ctx_error(b.ctx), "a.gguf: ");
    EQ(tmp_files(0), 1);
    bench_close(&b);
}

TEST(any_allocation_may_fail)
{
    static const char text[] = "some words";
    model("a.gguf", &(tiny){ .L = 1, .D = 64, .H = 2, .K = 1, .F = 64 });
    for (size_t n = 1;; n++) {
        bench b;
        bench_open(&b, 1, false);
        b.memory.fail_at = n;
        const mnw_quantize_opts o = { .type = "q4_0", .target_bpw = 14, .calibration = text };
        const mnw_status        st = quantize(&b, "b.gguf", o);
        const bool              reached = b.memory.fail_at == 0;
        b.memory.fail_at = 0;
        if (reached && st != MNW_E_NOMEM) fail_msg("allocation %zu: %d %s", n, (int)st, mnw_ctx_error(b.ctx));
        bench_close(&b);
        if (!reached) {
            OK(st);
            YES(n > 20);
            break;
        }
    }
}

/* The model is 11 MB of f32; what is taken does not grow with it. */
TEST(memory_holds_some_rows_not_the_model)
{
    bench b;
    bench_open(&b, 1, false);
    model("a.gguf", &(tiny){ .L = 2, .F = 4096, .V = 4096 });
    const size_t before = mnw_ctx_memory(b.ctx, NULL);
    OK(quantize(&b, "b.gguf", (mnw_quantize_opts){ .type = "q8_0" }));
    size_t peak;
    mnw_ctx_memory(b.ctx, &peak);
    YES(peak - before < (size_t)6 << 20);
    bench_close(&b);
}

int main(void)
{
    tmp_open();
    const int failed = RUN(
        T(every_type_is_written_checked_and_run), T(a_tensor_that_cannot_have_its_type_gets_the_nearest_and_a_warning),
        T(a_rule_chooses_for_the_tensors_it_names), T(the_file_does_not_depend_on_the_number_of_threads),
        T(quantising_a_file_to_its_own_types_copies_it), T(a_tensor_with_outliers_is_the_first_to_get_more_bits),
        T(calibration_weights_errors_by_what_the_inputs_are), T(a_native_file_is_laid_out_in_execution_order_at_pages),
        T(a_failure_or_a_cancelled_job_leaves_no_file), T(any_allocation_may_fail),
        T(memory_holds_some_rows_not_the_model));
    tmp_close();
    return failed;
}
