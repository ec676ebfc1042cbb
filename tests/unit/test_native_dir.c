/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensors in native formats are bytes to others and matrices to us, and a file that lies about them is
 * refused.
 */
#include "gguf_bytes.h"
#include "tmpdir.h"

#include "base/native.h"
#include "format/gguf_write.h"
#include "format/native_dir.h"

enum { ROWS = 20, COLS = 40, Q4X_BYTES = 2 * (64 + 64 + 8 * 64), Q8X_BYTES = 2 * (64 + 16 * 64) };

TEST(sizes_of_native_matrices_are_those_of_their_layout)
{
    uint64_t n;
    YES(mn_dtype_matrix_bytes(mn_dtype_of(MN_Q4X), ROWS, COLS, &n));
    EQ(n, Q4X_BYTES);
    YES(mn_dtype_matrix_bytes(mn_dtype_of(MN_Q8X), ROWS, COLS, &n));
    EQ(n, Q8X_BYTES);
    YES(mn_dtype_matrix_bytes(mn_dtype_of(MN_Q4_0), 3, 64, &n));
    EQ(n, 3 * 2 * 18);
    NO(mn_dtype_matrix_bytes(mn_dtype_of(MN_Q4_0), 3, 40, &n));
    NO(mn_dtype_matrix_bytes(mn_dtype_of(MN_Q4X), 0, COLS, &n));
    NO(mn_dtype_bytes(mn_dtype_of(MN_Q4X), 64, &n));
    YES(mn_dtype_from_id(MN_Q4X) == NULL);
}

TEST(native_tensors_are_written_as_bytes_and_read_as_matrices)
{
    mn_mem         mem;
    mn_gguf_writer w;
    mn_err         err = { 0 };
    const uint64_t dim[2] = { COLS, ROWS };
    static uint8_t data[Q8X_BYTES];
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * 13 + 5);
    mn_mem_init(&mem, NULL, NULL);
    mn_gguf_init(&w, &mem);
    mn_gguf_align(&w, 64);
    mn_gguf_declare(&w, mn_str_of("a"), mn_dtype_of(MN_Q4X), 2, dim);
    mn_gguf_declare(&w, mn_str_of("b"), mn_dtype_of(MN_F32), 1, &(uint64_t){ 3 });
    mn_gguf_declare(&w, mn_str_of("c"), mn_dtype_of(MN_Q8X), 2, dim);
    OK(mn_gguf_begin(&w, tmp_path("n.gguf"), &err));
    OK(mn_gguf_put(&w, data, Q4X_BYTES, &err));
    OK(mn_gguf_put(&w, data, 12, &err));
    OK(mn_gguf_put(&w, data, Q8X_BYTES, &err));
    OK(mn_gguf_finish(&w, &err));
    mn_gguf_done(&w);
    EQ(mem.live, 0);

    blob   b = { 0 };
    opened o;
    b.p = tmp_read(tmp_path("n.gguf"), &b.n);
    open_blob(&o, &b);
    if (o.st != MNW_OK) fail_msg("%s", o.err.text);
    const mn_tensor *a = mn_tensor_find(&o.c, mn_str_of("a")), *c = mn_tensor_find(&o.c, mn_str_of("c"));
    EQ(a->type->id, MN_Q4X);
    EQ(a->n_dims, 2);
    EQ(a->dim[0], COLS);
    EQ(a->dim[1], ROWS);
    EQ(a->bytes, Q4X_BYTES);
    EQ(c->type->id, MN_Q8X);
    EQ(c->bytes, Q8X_BYTES);
    EQ(c->offset % MN_NATIVE_ALIGNMENT, 0);
    EQ_MEM(c->data, data, Q8X_BYTES);
    YES(b.n - c->offset - c->bytes >= MN_QX_PAD);

    /* copied items leave the directory to the new file */
    mn_gguf_init(&w, &mem);
    for (size_t i = 0; i < o.c.n_items; i++) mn_gguf_copy(&w, &o.c.item[i]);
    EQ(w.n_items, 1);   // general.alignment
    mn_gguf_done(&w);
    close_blob(&o);
    free(b.p);
}

TEST(a_native_tensor_needs_two_dimensions_and_an_aligned_file)
{
    mn_mem         mem;
    mn_gguf_writer w;
    mn_err         err = { 0 };
    const uint64_t dim[2] = { COLS, ROWS };
    mn_mem_init(&mem, NULL, NULL);
    mn_gguf_init(&w, &mem);
    mn_gguf_declare(&w, mn_str_of("a"), mn_dtype_of(MN_Q4X), 2, dim);
    EQ(mn_gguf_begin(&w, tmp_path("x.gguf"), &err), MNW_E_ARG);
    HAS(err.text, "a: q4x in a file aligned to 32, expected 64");
    mn_gguf_done(&w);
    err = (mn_err){ 0 };
    mn_gguf_init(&w, &mem);
    mn_gguf_align(&w, 64);
    mn_gguf_declare(&w, mn_str_of("a"), mn_dtype_of(MN_Q4X), 1, dim);
    EQ(mn_gguf_begin(&w, tmp_path("x.gguf"), &err), MNW_E_ARG);
    HAS(err.text, "expected 2 dimensions");
    mn_gguf_done(&w);
    EQ(mem.live, 0);
}

typedef struct lie {
    uint64_t    version, kind, rows, cols, bytes, shift, behind, type, numbers;
    const char *name, *second;
} lie;

static const lie TRUTH = { .version = 1, .kind = 4, .rows = ROWS, .cols = COLS, .bytes = Q4X_BYTES,
                           .behind = 64, .type = MN_I8, .numbers = 3, .name = "a" };

/* A file with one native tensor "a" in native words, as told. */
static void build(blob *b, const lie *l)
{
    blob_start(b, 3, 1, 4);
    blob_key(b, "general.alignment", MN_META_U32);
    blob_int(b, 32, 4);
    blob_key(b, MN_NATIVE_VERSION, MN_META_U32);
    blob_int(b, l->version, 4);
    blob_array(b, MN_NATIVE_NAMES, MN_META_STR, l->second ? 2 : 1);
    blob_text(b, l->name);
    if (l->second) blob_text(b, l->second);
    blob_array(b, MN_NATIVE_SHAPES, MN_META_U64, l->second ? 2 * l->numbers : l->numbers);
    const uint64_t shape[4] = { l->kind, l->rows, l->cols, 0 };
    for (int twice = 0; twice < (l->second ? 2 : 1); twice++)
        for (uint64_t i = 0; i < l->numbers; i++) blob_int(b, shape[i], 8);
    const uint64_t head = b->n + 8 + 1 + 4 + 8 + 4 + 8, data = (head + 31) / 32 * 32;
    const uint64_t offset = (64 - data % 64) % 64 + l->shift;
    blob_tensor(b, "a", (uint32_t)l->type, 1, &l->bytes, offset);
    blob_data(b, 32, (size_t)(offset + l->bytes + l->behind));
}

TEST(a_directory_that_lies_is_refused_with_what_it_says)
{
    blob b = { 0 };
    lie  l = TRUTH;
    build(&b, &l);
    accepted(&b);
#define LIE(field, value, status, part)     \
    l = TRUTH, l.field = (value);           \
    build(&b, &l);                          \
    refused(&b, status, part, "")
    LIE(version, 2, MNW_E_UNSUPPORTED, "q4x.version is 2, expected 1");
    LIE(kind, 5, MNW_E_UNSUPPORTED, "a: native kind 5");
    LIE(rows, 33, MNW_E_FORMAT, "a: 1280 bytes, expected 1920 or more for q4x [33, 40]");
    LIE(rows, 0, MNW_E_FORMAT, "a: 1280 bytes");
    LIE(rows, UINT64_MAX, MNW_E_FORMAT, "a: 1280 bytes");
    LIE(cols, (uint64_t)1 << 40, MNW_E_FORMAT, "a: 1280 bytes");
    LIE(bytes, Q4X_BYTES - 1, MNW_E_FORMAT, "a: 1279 bytes, expected 1280 or more");
    LIE(shift, 32, MNW_E_FORMAT, "expected a multiple of 64");
    LIE(behind, 63, MNW_E_FORMAT, "a: ends 63 bytes before the end of the file, expected at least 64");
    LIE(numbers, 2, MNW_E_FORMAT, "q4x.shapes: 2 numbers, expected 3 for each of the 1");
    LIE(numbers, 4, MNW_E_FORMAT, "q4x.shapes: 4 numbers");
    LIE(name, "z", MNW_E_FORMAT, "there is no tensor z");
    LIE(second, "a", MNW_E_FORMAT, "a: q4x with 2 dimensions, expected i8 with 1");
#undef LIE
    free(b.p);
}

int main(void)
{
    tmp_open();
    const int failed = RUN(T(sizes_of_native_matrices_are_those_of_their_layout),
                           T(native_tensors_are_written_as_bytes_and_read_as_matrices),
                           T(a_native_tensor_needs_two_dimensions_and_an_aligned_file),
                           T(a_directory_that_lies_is_refused_with_what_it_says));
    tmp_close();
    return failed;
}
