/* SPDX-License-Identifier: Apache-2.0
 *
 * The GGUF writer: what it writes can be read, and nothing half-written is ever left under a name.
 */
#include "gguf_bytes.h"
#include "tmpdir.h"

#include <signal.h>
#include <sys/wait.h>

#include "base/cursor.h"
#include "format/gguf_write.h"
#include "format/limits.h"

static mn_mem mem;
static mn_err err;

static void begin(mn_gguf_writer *w)
{
    err = (mn_err){ 0 };
    mn_mem_init(&mem, NULL, NULL);
    mn_gguf_init(w, &mem);
}

/* Free the writer; nothing may be left in memory or, unless `files` are expected, on disk. */
static void end(mn_gguf_writer *w, int files)
{
    mn_gguf_done(w);
    EQ(mem.live, 0);
    EQ(tmp_files(1), files);
}

static const mn_dtype *type(mn_dtype_id id)
{
    return mn_dtype_from_id(id);
}

/* Items of every kind and three tensors. */
static void write_sample(mn_gguf_writer *w, const char *path)
{
    const uint8_t  u8[3] = { 1, 2, 255 }, flags[2] = { 1, 0 };
    const int16_t  i16[2] = { -300, 300 };
    const uint32_t u32 = 4000000000u;
    const int64_t  i64[2] = { INT64_MIN, INT64_MAX };
    const double   f64 = -1.5e300;
    const float    f32[2] = { 0.1f, -2.0f };
    const mn_str   words[3] = { { "a", 1 }, { "", 0 }, { "\xE4\xB8\xAD", 3 } };
    mn_gguf_set_str(w, "general.architecture", mn_str_of("sample"));
    mn_gguf_align(w, 64);
    mn_gguf_set(w, "u8", MN_META_U8, &u8[2]);
    mn_gguf_set(w, "i16", MN_META_I16, &i16[0]);
    mn_gguf_set_u32(w, "u32", u32);
    mn_gguf_set(w, "i64", MN_META_I64, &i64[0]);
    mn_gguf_set(w, "f64", MN_META_F64, &f64);
    mn_gguf_set_f32(w, "f32", 1e-5f);
    mn_gguf_set_bool(w, "bool", true);
    mn_gguf_set_array(w, "u8s", MN_META_U8, u8, 3);
    mn_gguf_set_array(w, "flags", MN_META_BOOL, flags, 2);
    mn_gguf_set_array(w, "i16s", MN_META_I16, i16, 2);
    mn_gguf_set_array(w, "i64s", MN_META_I64, i64, 2);
    mn_gguf_set_array(w, "f32s", MN_META_F32, f32, 2);
    mn_gguf_set_array(w, "words", MN_META_STR, words, 3);
    mn_gguf_set_array(w, "nothing", MN_META_STR, NULL, 0);
    mn_gguf_declare(w, mn_str_of("a"), type(MN_F32), 1, (const uint64_t[]){ 3 });
    mn_gguf_declare(w, mn_str_of("b"), type(MN_Q4_0), 2, (const uint64_t[]){ 64, 5 });
    mn_gguf_declare(w, mn_str_of("c"), type(MN_I8), 4, (const uint64_t[]){ 2, 2, 2, 8 });
    OK(mn_gguf_begin(w, path, &err));
    uint8_t data[5 * 36];
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * 7 + 1);
    OK(mn_gguf_put(w, data, 12, &err));
    OK(mn_gguf_put(w, data, 1, &err));             // in pieces
    OK(mn_gguf_put(w, data + 1, 0, &err));
    OK(mn_gguf_put(w, data + 1, sizeof data - 1, &err));
    OK(mn_gguf_put(w, data, 64, &err));
    OK(mn_gguf_finish(w, &err));
}

static void load(const char *path, opened *o)
{
    blob b = { 0 };
    b.p = tmp_read(path, &b.n);
    YES(b.p != NULL);
    open_blob(o, &b);
    if (o->st != MNW_OK) fail_msg("cannot read what was written: %s", o->err.text);
    free(b.p);
}

TEST(every_kind_of_value_is_written_and_read_back)
{
    mn_gguf_writer w;
    opened         o;
    begin(&w);
    write_sample(&w, tmp_path("sample.gguf"));
    load(tmp_path("sample.gguf"), &o);
    end(&w, 1);
    EQ(o.c.n_items, 16);

    uint64_t u;
    double   d;
    bool     flag;
    mn_str   s;
    OK(mn_meta_u64(&o.c, "u8", 255, 0, &u, &o.err));
    EQ(u, 255);
    OK(mn_meta_f64(&o.c, "i16", 0, &d, &o.err));
    YES(d == -300);
    OK(mn_meta_u64(&o.c, "u32", UINT64_MAX, 0, &u, &o.err));
    YES(u == 4000000000u);
    OK(mn_meta_f64(&o.c, "f64", 0, &d, &o.err));
    YES(d == -1.5e300);
    OK(mn_meta_f64(&o.c, "f32", 0, &d, &o.err));
    YES(d == (double)1e-5f);
    OK(mn_meta_bool(&o.c, "bool", false, &flag, &o.err));
    YES(flag);
    OK(mn_meta_str(&o.c, "general.architecture", (mn_str){ 0 }, &s, &o.err));
    YES(mn_str_is(s, "sample"));

    const mn_meta_item *item;
    OK(mn_meta_ints(&o.c, "u8s", &item, &o.err));
    EQ(item->count, 3);
    EQ(mn_meta_int_at(item, 2), 255);
    OK(mn_meta_ints(&o.c, "flags", &item, &o.err));
    EQ(mn_meta_int_at(item, 0), 1);
    OK(mn_meta_ints(&o.c, "i16s", &item, &o.err));
    EQ(mn_meta_int_at(item, 0), -300);
    OK(mn_meta_ints(&o.c, "i64s", &item, &o.err));
    YES(mn_meta_int_at(item, 0) == INT64_MIN && mn_meta_int_at(item, 1) == INT64_MAX);
    OK(mn_meta_floats(&o.c, "f32s", &item, &o.err));
    YES(mn_meta_float_at(item, 1) == -2.0);
    OK(mn_meta_strings(&o.c, "nothing", &item, &o.err));
    EQ(item->count, 0);
    OK(mn_meta_strings(&o.c, "words", &item, &o.err));
    const uint8_t *at = item->data;
    YES(mn_str_is(mn_meta_next_str(item, &at), "a"));
    YES(mn_str_is(mn_meta_next_str(item, &at), ""));
    YES(mn_str_is(mn_meta_next_str(item, &at), "\xE4\xB8\xAD"));

    EQ(o.c.n_tensors, 3);
    const mn_tensor *t = mn_tensor_find(&o.c, mn_str_of("b"));
    EQ(t->type->id, MN_Q4_0);
    EQ(t->bytes, 180);
    EQ(t->offset % 64, 0);
    EQ(t->data[179], (uint8_t)(179 * 7 + 1));
    EQ(mn_tensor_find(&o.c, mn_str_of("c"))->dim[3], 8);
    close_blob(&o);
}

TEST(what_was_read_is_written_again_byte_for_byte)
{
    mn_gguf_writer w;
    opened         o;
    begin(&w);
    write_sample(&w, tmp_path("one.gguf"));
    mn_gguf_done(&w);
    load(tmp_path("one.gguf"), &o);

    begin(&w);
    for (size_t i = 0; i < o.c.n_items; i++) mn_gguf_copy(&w, &o.c.item[i]);
    for (size_t i = 0; i < o.c.n_tensors; i++) {
        const mn_tensor *t = &o.c.tensor[i];
        mn_gguf_declare(&w, t->name, t->type, t->n_dims, t->dim);
    }
    OK(mn_gguf_begin(&w, tmp_path("two.gguf"), &err));
    for (size_t i = 0; i < o.c.n_tensors; i++) {
        OK(mn_gguf_put(&w, o.c.tensor[i].data, (size_t)o.c.tensor[i].bytes, &err));
    }
    OK(mn_gguf_finish(&w, &err));
    close_blob(&o);

    size_t   n1, n2;
    uint8_t *one = tmp_read(tmp_path("one.gguf"), &n1), *two = tmp_read(tmp_path("two.gguf"), &n2);
    EQ(n1, n2);
    EQ_MEM(one, two, n1);
    free(one);
    free(two);
    end(&w, 2);
}

TEST(too_much_or_too_little_data_leaves_no_file)
{
    mn_gguf_writer w;
    const float    data[4] = { 0 };
    for (int more = 0; more < 2; more++) {
        begin(&w);
        mn_gguf_declare(&w, mn_str_of("a"), type(MN_F32), 1, (const uint64_t[]){ 3 });
        OK(mn_gguf_begin(&w, tmp_path("x.gguf"), &err));
        NO(access(tmp_path("x.gguf"), F_OK) == 0);
        if (more) {
            EQ(mn_gguf_put(&w, data, 16, &err), MNW_E_ARG);
            HAS(err.text, "16 bytes more, expected at most 12");
        } else {
            OK(mn_gguf_put(&w, data, 8, &err));
            EQ(mn_gguf_finish(&w, &err), MNW_E_STATE);
            HAS(err.text, "tensor 0 of 1 has 8 of 12 bytes");
        }
        end(&w, 0);
    }
    begin(&w);
    mn_gguf_declare(&w, mn_str_of("a"), type(MN_F32), 1, (const uint64_t[]){ 3 });
    OK(mn_gguf_begin(&w, tmp_path("x.gguf"), &err));
    OK(mn_gguf_put(&w, data, 12, &err));
    EQ(mn_gguf_put(&w, data, 1, &err), MNW_E_ARG);   // after the last tensor
    end(&w, 0);
}

TEST(data_before_the_beginning_is_refused)
{
    mn_gguf_writer w;
    begin(&w);
    EQ(mn_gguf_put(&w, "x", 1, &err), MNW_E_STATE);
    err = (mn_err){ 0 };
    EQ(mn_gguf_finish(&w, &err), MNW_E_STATE);
    end(&w, 0);
    mn_gguf_done(&(mn_gguf_writer){ 0 });
}

/* Does beginning fail with this code, and with this text? */
static void begin_fails(mn_gguf_writer *w, mnw_status st, const char *part)
{
    EQ(mn_gguf_begin(w, tmp_path("x.gguf"), &err), st);
    HAS(err.text, part);
    end(w, 0);
    begin(w);
}

TEST(what_a_reader_would_refuse_is_not_written)
{
    mn_gguf_writer w;
    char           name[258] = "";
    const mn_str   no_text = { "", 0 };
    const uint64_t dim[4] = { 32, 1, 1, 0 }, huge[2] = { (uint64_t)1 << 40, (uint64_t)1 << 40 };
    begin(&w);
    mn_gguf_set_u32(&w, "twice", 1), mn_gguf_set_u32(&w, "twice", 2);
    begin_fails(&w, MNW_E_ARG, "twice: set twice");
    mn_gguf_declare(&w, mn_str_of("t"), type(MN_F32), 1, dim);
    mn_gguf_declare(&w, mn_str_of("t"), type(MN_F16), 1, dim);
    begin_fails(&w, MNW_E_ARG, "t: set twice");
    mn_gguf_set_u32(&w, "", 1);
    begin_fails(&w, MNW_E_ARG, "key \"\" has 0 bytes");
    memset(name, 'n', 257);
    mn_gguf_set_u32(&w, name, 1);
    begin_fails(&w, MNW_E_ARG, "has 257 bytes, expected 1 to 256");
    mn_gguf_declare(&w, no_text, type(MN_F32), 1, dim);
    begin_fails(&w, MNW_E_ARG, "tensor \"\"");
    mn_gguf_declare(&w, mn_str_of("t"), type(MN_F32), 4, dim);
    begin_fails(&w, MNW_E_ARG, "t: bad shape");
    mn_gguf_declare(&w, mn_str_of("t"), type(MN_F32), 0, dim);
    begin_fails(&w, MNW_E_ARG, "t: bad shape");
    mn_gguf_declare(&w, mn_str_of("t"), type(MN_Q4_K), 1, dim);
    begin_fails(&w, MNW_E_ARG, "t: bad shape for q4_k");
    mn_gguf_declare(&w, mn_str_of("t"), type(MN_F32), 2, huge);
    begin_fails(&w, MNW_E_ARG, "t: bad shape");
    mn_gguf_align(&w, 48);
    begin_fails(&w, MNW_E_ARG, "general.alignment: 48");
    mn_gguf_declare(&w, mn_str_of("t"), type(MN_F32), 1, dim), mn_gguf_align(&w, 64);
    begin_fails(&w, MNW_E_ARG, "before the tensors");
    mn_gguf_set_array(&w, "k", MN_META_ARRAY, NULL, 0);
    begin_fails(&w, MNW_E_ARG, "k: no array of array");
    mn_gguf_set_array(&w, "k", MN_META_U8, NULL, MN_MAX_ARRAY + 1);
    begin_fails(&w, MNW_E_LIMIT, "k: array of 8388609 elements");
    mn_gguf_set_str(&w, "k", (mn_str){ name, MN_MAX_STRING + 1 });
    begin_fails(&w, MNW_E_LIMIT, "k: text of 16777217 bytes");
    end(&w, 0);
}

TEST(names_of_256_bytes_are_written)
{
    mn_gguf_writer w;
    opened         o;
    char           name[257] = "";
    memset(name, 'n', 256);
    begin(&w);
    mn_gguf_set_u32(&w, name, 7);
    OK(mn_gguf_begin(&w, tmp_path("x.gguf"), &err));
    OK(mn_gguf_finish(&w, &err));
    load(tmp_path("x.gguf"), &o);
    YES(mn_meta_find(&o.c, name) != NULL);
    close_blob(&o);
    end(&w, 1);
}

TEST(a_writer_killed_half_way_leaves_no_file_under_the_name)
{
    enum { ROWS = 1024 };
    static float data[ROWS];
    for (int stage = 0; stage < 3; stage++) {
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0) {
            mn_gguf_writer w;
            begin(&w);
            mn_gguf_declare(&w, mn_str_of("t"), type(MN_F32), 2, (const uint64_t[]){ ROWS, 64 });
            if (mn_gguf_begin(&w, tmp_path("x.gguf"), &err) != MNW_OK) _exit(1);
            for (int i = 0; i < stage * 32; i++) {
                if (mn_gguf_put(&w, data, sizeof data, &err) != MNW_OK) _exit(1);
            }
            kill(getpid(), SIGKILL);
        }
        int status;
        EQ(waitpid(child, &status, 0), child);
        YES(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        YES(access(tmp_path("x.gguf"), F_OK) != 0);
        tmp_files(1);
    }
}

TEST(an_old_file_stays_whole_until_the_new_one_is)
{
    mn_gguf_writer w;
    tmp_write(tmp_path("x.gguf"), "old", 3);
    begin(&w);
    mn_gguf_declare(&w, mn_str_of("t"), type(MN_I8), 1, (const uint64_t[]){ 8 });
    OK(mn_gguf_begin(&w, tmp_path("x.gguf"), &err));
    OK(mn_gguf_put(&w, "1234", 4, &err));
    size_t   n;
    uint8_t *p = tmp_read(tmp_path("x.gguf"), &n);
    EQ(n, 3);
    EQ_MEM(p, "old", 3);
    free(p);
    OK(mn_gguf_put(&w, "5678", 4, &err));
    OK(mn_gguf_finish(&w, &err));
    p = tmp_read(tmp_path("x.gguf"), &n);
    EQ_MEM(p, "GGUF", 4);
    free(p);
    end(&w, 1);
}

TEST(a_folder_that_is_not_there_is_an_error)
{
    mn_gguf_writer w;
    begin(&w);
    NE(mn_gguf_begin(&w, tmp_path("no/such/x.gguf"), &err), MNW_OK);
    HAS(err.text, "no/such");
    end(&w, 0);
}

int main(void)
{
    tmp_open();
    const int failed =
        RUN(T(every_kind_of_value_is_written_and_read_back),
            T(what_was_read_is_written_again_byte_for_byte),
            T(too_much_or_too_little_data_leaves_no_file), T(data_before_the_beginning_is_refused),
            T(what_a_reader_would_refuse_is_not_written), T(names_of_256_bytes_are_written),
            T(a_writer_killed_half_way_leaves_no_file_under_the_name),
            T(an_old_file_stays_whole_until_the_new_one_is),
            T(a_folder_that_is_not_there_is_an_error));
    tmp_close();
    return failed;
}
