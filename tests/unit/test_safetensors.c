/* SPDX-License-Identifier: Apache-2.0
 *
 * A safetensors file says what it holds, wrong ones are refused in words, what is written is read back,
 * and a folder of shards is one list.
 */
#include "tmpdir.h"

#include "format/limits.h"
#include "format/safetensors.h"
#include "format/safetensors_write.h"

typedef struct opened {
    mn_mem     mem;
    mn_pages   pages;
    mn_content c;
    mn_err     err;
    mnw_status st;
    uint8_t   *file;
} opened;

/* `head` and n bytes of data that count up. */
static uint8_t *make_file(const char *head, size_t head_bytes, size_t n, size_t *size)
{
    uint8_t *p = malloc(8 + head_bytes + n);
    if (!p) abort();
    for (int i = 0; i < 8; i++) p[i] = (uint8_t)((uint64_t)head_bytes >> (8 * i));
    memcpy(p + 8, head, head_bytes);
    for (size_t i = 0; i < n; i++) p[8 + head_bytes + i] = (uint8_t)i;
    *size = 8 + head_bytes + n;
    return p;
}

static void open_head(opened *o, const char *head, size_t n)
{
    size_t size;
    memset(o, 0, sizeof *o);
    mn_mem_init(&o->mem, NULL, NULL);
    mn_pages_init(&o->pages, &o->mem);
    o->file = make_file(head, strlen(head), n, &size);
    o->st = mn_safetensors_read((mn_bytes){ o->file, size }, &o->pages, &o->c, &o->err);
}

static void close_head(opened *o)
{
    mn_pages_done(&o->pages);
    EQ(o->mem.live, 0);
    free(o->file);
}

static void refused(const char *head, size_t n, mnw_status st, const char *text)
{
    opened o;
    open_head(&o, head, n);
    if (o.st != st || !strstr(o.err.text, text)) {
        fail_msg("%s: status %d \"%s\", expected %d \"%s\"", head, o.st, o.err.text, st, text);
    }
    EQ(o.c.n_tensors, 0);
    close_head(&o);
}

TEST(tensors_have_their_type_shape_and_place)
{
    opened o;
    open_head(&o, "{\"b\":{\"dtype\":\"BF16\",\"shape\":[2,3],\"data_offsets\":[4,16]},"
                  "\"a\":{\"data_offsets\":[0,4],\"other\":[{}],\"shape\":[],\"dtype\":\"F32\"}}  ", 16);
    EQ(o.st, MNW_OK);
    EQ(o.c.n_tensors, 2);
    const mn_tensor *a = mn_tensor_find(&o.c, mn_str_of("a")), *b = mn_tensor_find(&o.c, mn_str_of("b"));
    EQ(a->type->id, MN_F32);
    EQ(a->n_dims, 1);
    EQ(a->dim[0], 1);
    EQ(b->type->id, MN_BF16);
    EQ(b->n_dims, 2);
    EQ(b->dim[0], 3);   // contiguous first
    EQ(b->dim[1], 2);
    EQ(b->dim[2], 1);
    EQ(b->bytes, 12);
    EQ(b->data[0], 4);
    EQ(a->data[0], 0);
    EQ(b->offset, a->offset + 4);
    EQ(a->offset, o.c.head_bytes);
    close_head(&o);
}

TEST(metadata_becomes_text_items)
{
    opened o;
    open_head(&o, "{\"__metadata__\":{\"format\":\"pt\",\"\\u0061b\":\"x\\ny\"}}", 0);
    EQ(o.st, MNW_OK);
    mn_str s;
    OK(mn_meta_str(&o.c, "ab", mn_str_of(""), &s, &o.err));
    YES(mn_str_is(s, "x\ny"));
    OK(mn_meta_str(&o.c, "format", mn_str_of(""), &s, &o.err));
    YES(mn_str_is(s, "pt"));
    close_head(&o);
}

#define T1 "\"a\":{\"dtype\":\"I8\",\"shape\":[2],\"data_offsets\":[0,2]}"

TEST(a_wrong_head_is_refused_in_words)
{
    refused("", 0, MNW_E_FORMAT, "column 1");
    refused("[]", 0, MNW_E_FORMAT, "expected an object");
    refused("{", 0, MNW_E_FORMAT, "head: line 1, column 2");
    refused("{}{}", 0, MNW_E_FORMAT, "more text after the value");
    refused("{\"\":{}}", 0, MNW_E_FORMAT, "empty name");
    refused("{\"a\":1}", 0, MNW_E_FORMAT, "a: expected an object");
    refused("{\"a\":{}}", 0, MNW_E_FORMAT, "a: dtype is missing");
    refused("{\"a\":{\"dtype\":\"I8\"}}", 0, MNW_E_FORMAT, "a: shape is missing");
    refused("{\"a\":{\"dtype\":\"I8\",\"shape\":[2],\"data_offsets\":[0]}}", 2, MNW_E_FORMAT,
            "data_offsets is missing or incomplete");
    refused("{\"a\":{\"dtype\":\"I8\",\"dtype\":\"I8\"}}", 0, MNW_E_FORMAT, "dtype appears twice");
    refused("{\"a\":{\"dtype\":8}}", 0, MNW_E_FORMAT, "dtype: expected a text");
    refused("{\"a\":{\"dtype\":\"F8_E4M3\"}}", 0, MNW_E_UNSUPPORTED, "dtype F8_E4M3 is not supported");
    refused("{\"a\":{\"shape\":{}}}", 0, MNW_E_FORMAT, "shape: expected a list");
    refused("{\"a\":{\"shape\":[1.5]}}", 0, MNW_E_FORMAT, "shape: entry 0 is not a whole number");
    refused("{\"a\":{\"shape\":[1,-1]}}", 0, MNW_E_FORMAT, "shape: entry 1 is not a whole number");
    refused("{\"a\":{\"shape\":[1,1,1,1,1]}}", 0, MNW_E_LIMIT, "shape: more than 4 entries");
    refused("{\"a\":{\"data_offsets\":[1,2,3]}}", 0, MNW_E_LIMIT, "data_offsets: more than 2 entries");
    refused("{\"a\":{\"x\":[1,}}", 0, MNW_E_FORMAT, "line 1, column");
    refused("{\"__metadata__\":[]}", 0, MNW_E_FORMAT, "__metadata__: expected an object");
    refused("{\"__metadata__\":{\"a\":1}}", 0, MNW_E_FORMAT, "__metadata__: a: expected a text");
    refused("{\"__metadata__\":{},\"__metadata__\":{}}", 0, MNW_E_FORMAT, "__metadata__ appears twice");
    refused("{\"__metadata__\":{\"a\":\"\",\"a\":\"\"}}", 0, MNW_E_FORMAT, "a appears twice");
    refused("{" T1 "," T1 "}", 2, MNW_E_FORMAT, "a: the tensor appears twice");
}

TEST(sizes_and_offsets_that_do_not_fit_are_refused)
{
    refused("{\"a\":{\"dtype\":\"I8\",\"shape\":[0],\"data_offsets\":[0,0]}}", 0, MNW_E_UNSUPPORTED,
            "an empty tensor, dimension 0 is 0");
    refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}", 0,
            MNW_E_FORMAT, "the number of elements overflows");
    refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904],\"data_offsets\":[0,0]}}", 0,
            MNW_E_FORMAT, "the size of 4611686018427387904 f32 elements overflows");
    refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4, MNW_E_FORMAT,
            "data_offsets 0 to 4, but 2 f32 elements take 8 bytes");
    refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", 4, MNW_E_FORMAT,
            "data_offsets 4 to 0");
    refused("{" T1 "}", 1, MNW_E_FORMAT, "go beyond the data's 1 bytes");
    refused("{" T1 "}", 3, MNW_E_FORMAT, "1 bytes after the last tensor");
    refused("{" T1 ",\"b\":{\"dtype\":\"I8\",\"shape\":[2],\"data_offsets\":[3,5]}}", 5, MNW_E_FORMAT,
            "b: a hole of 1 bytes in front of it");
    refused("{\"b\":{\"dtype\":\"I8\",\"shape\":[2],\"data_offsets\":[1,3]}," T1 "}", 3, MNW_E_FORMAT,
            "b at offset");
}

TEST(what_is_no_safetensors_file_is_refused)
{
    static const uint8_t short_file[7] = { 0 }, long_head[16] = { 200 }, huge[16] = { [3] = 6 };
    mn_mem     mem;
    mn_pages   pages;
    mn_content c;
    mn_err     err = { 0 };
    mn_mem_init(&mem, NULL, NULL);
    mn_pages_init(&pages, &mem);
    EQ(mn_safetensors_read((mn_bytes){ short_file, 7 }, &pages, &c, &err), MNW_E_FORMAT);
    HAS(err.text, "7 bytes, too few");
    mn_err_clear(&err);
    EQ(mn_safetensors_read((mn_bytes){ long_head, 16 }, &pages, &c, &err), MNW_E_FORMAT);
    HAS(err.text, "head of 200 bytes in a file of 16");
    mn_err_clear(&err);
    EQ(mn_safetensors_read((mn_bytes){ huge, 16 }, &pages, &c, &err), MNW_E_LIMIT);
    HAS(err.text, "at most 100000000");
    EQ(mem.live, 0);
}

TEST(names_may_be_256_bytes_and_not_257)
{
    for (int n = MN_MAX_NAME; n <= (int)MN_MAX_NAME + 1; n++) {
        char   head[400], name[300];
        opened o;
        memset(name, 'x', sizeof name);
        snprintf(head, sizeof head, "{\"%.*s\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[0,1]}}",
                 n, name);
        open_head(&o, head, 1);
        EQ(o.st, n > (int)MN_MAX_NAME ? MNW_E_LIMIT : MNW_OK);
        close_head(&o);
    }
}

static const mn_dtype *type(mn_dtype_id id)
{
    return mn_dtype_from_id(id);
}

static mn_tensor tensor(const char *name, mn_dtype_id id, uint32_t n_dims, uint64_t d0, uint64_t d1,
                        uint64_t d3)
{
    return (mn_tensor){ .name = mn_str_of(name), .type = type(id), .n_dims = n_dims,
                        .dim = { d0, d1, 1, d3 } };
}

/* Three tensors, and data that count up, in pieces of `step` bytes. */
static void write_three(const char *path, size_t step)
{
    const mn_tensor       t[] = { tensor("w", MN_BF16, 2, 3, 2, 1), tensor("v\"\n", MN_F32, 1, 2, 1, 1),
                                  tensor("u", MN_I8, 4, 1, 2, 3) };
    mn_safetensors_writer w = { 0 };
    mn_mem                mem;
    mn_err                err = { 0 };
    uint8_t               data[26];
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)i;
    mn_mem_init(&mem, NULL, NULL);
    OK(mn_safetensors_begin(&w, &mem, path, t, LEN(t), &err));
    EQ(mn_safetensors_finish(&w, &err), MNW_E_STATE);
    HAS(err.text, "26 bytes of data are missing");
    mn_err_clear(&err);
    for (size_t at = 0; at < sizeof data; at += step) {
        OK(mn_safetensors_put(&w, data + at, at + step < sizeof data ? step : sizeof data - at, &err));
    }
    EQ(mn_safetensors_put(&w, data, 1, &err), MNW_E_ARG);
    mn_err_clear(&err);
    OK(mn_safetensors_finish(&w, &err));
    mn_safetensors_done(&w);
    EQ(mem.live, 0);
}

TEST(what_is_written_is_read_back)
{
    write_three(tmp_path("a.safetensors"), 26);
    write_three(tmp_path("b.safetensors"), 1);
    size_t   n, m;
    uint8_t *a = tmp_read(tmp_path("a.safetensors"), &n), *b = tmp_read(tmp_path("b.safetensors"), &m);
    EQ(n, m);
    EQ_MEM(a, b, n);

    mn_mem     mem;
    mn_pages   pages;
    mn_content c;
    mn_err     err = { 0 };
    mn_mem_init(&mem, NULL, NULL);
    mn_pages_init(&pages, &mem);
    OK(mn_safetensors_read((mn_bytes){ a, n }, &pages, &c, &err));
    EQ(c.n_tensors, 3);
    EQ(c.head_bytes % 64, 0);
    const mn_tensor *v = mn_tensor_find(&c, mn_str_of("v\"\n")), *u = mn_tensor_find(&c, mn_str_of("u"));
    EQ(v->data[0], 12);
    EQ(u->dim[0], 1);
    EQ(u->dim[3], 3);
    EQ(u->n_dims, 4);
    mn_pages_done(&pages);
    free(a);
    free(b);
    tmp_files(1);
}

TEST(the_writer_refuses_what_no_reader_would_take)
{
    const mn_tensor good = tensor("w", MN_F32, 1, 1, 1, 1);
    mn_tensor       t[2];
    mn_mem          mem;
    mn_mem_init(&mem, NULL, NULL);
    static const char *const text[] = { "name of 0 bytes", "no type q8_0", "bad shape", "bad shape",
                                        "listed twice" };
    for (size_t i = 0; i < LEN(text); i++) {
        mn_safetensors_writer w = { 0 };
        mn_err                err = { 0 };
        t[0] = t[1] = good;
        if (i == 0) t[1].name.n = 0;
        if (i == 1) t[1].type = type(MN_Q8_0);
        if (i == 2) t[1].dim[0] = 0;
        if (i == 3) t[1].n_dims = 5;
        EQ(mn_safetensors_begin(&w, &mem, tmp_path("x"), t, 2, &err), MNW_E_ARG);
        HAS(err.text, text[i]);
        mn_safetensors_done(&w);
    }
    EQ(tmp_files(0), 0);
    EQ(mem.live, 0);
}

TEST(an_abandoned_file_leaves_nothing)
{
    const mn_tensor       t = tensor("w", MN_F32, 1, 1, 1, 1);
    mn_safetensors_writer w = { 0 };
    mn_mem                mem;
    mn_err                err = { 0 };
    mn_mem_init(&mem, NULL, NULL);
    OK(mn_safetensors_begin(&w, &mem, tmp_path("x"), &t, 1, &err));
    EQ(tmp_files(0), 1);
    mn_safetensors_done(&w);
    EQ(tmp_files(0), 0);
}

static void write_head(const char *name, const char *head, size_t n)
{
    size_t   size;
    uint8_t *p = make_file(head, strlen(head), n, &size);
    tmp_write(tmp_path(name), p, size);
    free(p);
}

static void write_index(const char *map)
{
    char text[1024];
    snprintf(text, sizeof text, "{\"metadata\":{\"total_size\":3},\"weight_map\":{%s}}", map);
    tmp_write(tmp_path("model.safetensors.index.json"), text, strlen(text));
}

/* Open the folder; `text` NULL: two tensors, else it is refused with that text. */
static void open_folder(mnw_status expected, const char *text)
{
    mn_mem    mem;
    mn_pages  pages;
    mn_shards s;
    mn_err    err = { 0 };
    mn_mem_init(&mem, NULL, NULL);
    mn_pages_init(&pages, &mem);
    const mnw_status st = mn_shards_open(tmp_dir, &pages, &s, &err);
    if (st != expected) fail_msg("status %d \"%s\", expected %d", st, err.text, expected);
    if (text) {
        HAS(err.text, text);
    } else {
        EQ(s.content.n_tensors, 2);
        EQ(mn_tensor_find(&s.content, mn_str_of("a"))->data[1], 1);
        EQ(mn_tensor_find(&s.content, mn_str_of("b"))->data[0], 0);
    }
    EQ(s.n_files > 0, !text);
    mn_shards_close(&s);
    mn_pages_done(&pages);
    EQ(mem.live, 0);
}

#define T2 "\"b\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[0,1]}"

TEST(shards_are_one_list)
{
    open_folder(MNW_E_NOENT, "model.safetensors");
    write_head("1.safetensors", "{" T1 "}", 2);
    write_head("2.safetensors", "{" T2 "}", 1);
    write_index("\"a\":\"1.safetensors\",\"\\u0062\":\"\\u0032.safetensors\"");
    open_folder(MNW_OK, NULL);
    write_index("\"a\":\"1.safetensors\"");
    write_head("1.safetensors", "{" T1 ",\"b\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[2,3]}}", 3);
    open_folder(MNW_E_FORMAT, "b: in the files, but not listed");
    write_index("\"a\":\"1.safetensors\",\"b\":\"2.safetensors\"");
    open_folder(MNW_E_FORMAT, "b: in 2.safetensors and in an earlier file");
    write_head("1.safetensors", "{" T1 "}", 2);
    write_index("\"b\":\"1.safetensors\",\"a\":\"2.safetensors\"");
    open_folder(MNW_E_FORMAT, "b: not in 1.safetensors");
    write_index("\"a\":\"1.safetensors\",\"a\":\"1.safetensors\"");
    open_folder(MNW_E_FORMAT, "a: listed twice");
    write_index("\"a\":\"../1.safetensors\"");
    open_folder(MNW_E_FORMAT, "expected a name of this folder");
    write_index("\"a\":\"1.bin\"");
    open_folder(MNW_E_FORMAT, "expected a name of this folder");
    write_index("\"a\":\"3.safetensors\"");
    open_folder(MNW_E_NOENT, "3.safetensors");
    write_index("\"a\":1");
    open_folder(MNW_E_FORMAT, "weight_map: line 1");
    tmp_write(tmp_path("model.safetensors.index.json"), "{\"a\":1}", 7);
    open_folder(MNW_E_FORMAT, "weight_map: missing");
    tmp_write(tmp_path("model.safetensors.index.json"), "{\"a\":", 5);
    open_folder(MNW_E_FORMAT, "line 1, column 6");
    tmp_files(1);
    write_head("model.safetensors", "{" T1 "}", 1);
    open_folder(MNW_E_FORMAT, "model.safetensors: a: data_offsets");
    tmp_files(1);
}

int main(void)
{
    tmp_open();
    const int failed = RUN(T(tensors_have_their_type_shape_and_place), T(metadata_becomes_text_items),
                           T(a_wrong_head_is_refused_in_words),
                           T(sizes_and_offsets_that_do_not_fit_are_refused),
                           T(what_is_no_safetensors_file_is_refused),
                           T(names_may_be_256_bytes_and_not_257), T(what_is_written_is_read_back),
                           T(the_writer_refuses_what_no_reader_would_take),
                           T(an_abandoned_file_leaves_nothing), T(shards_are_one_list));
    tmp_close();
    return failed;
}
