/* SPDX-License-Identifier: Apache-2.0
 *
 * The GGUF reader: what it hands out, and what it refuses in which words.
 */
#include "gguf_bytes.h"

#include "base/cursor.h"

static const uint64_t D4[4] = { 4, 1, 1, 1 };

TEST(a_file_with_nothing_in_it_opens)
{
    blob b = { 0 };
    for (uint32_t version = 2; version <= 3; version++) {
        blob_start(&b, version, 0, 0);
        opened o;
        open_blob(&o, &b);
        OK(o.st);
        EQ(o.c.n_items, 0);
        EQ(o.c.n_tensors, 0);
        EQ(o.c.head_bytes, 24);
        YES(mn_meta_find(&o.c, "general.architecture") == NULL);
        close_blob(&o);
    }
    free(b.p);
}

TEST(an_empty_key_is_refused_with_its_offset)
{
    blob b = { 0 };
    blob_start(&b, 3, 0, 1);
    blob_key(&b, "", MN_META_U8);
    blob_int(&b, 0, 1);
    EQ(b.n, 37);
    refused(&b, MNW_E_FORMAT, "empty key", "offset 24");
    free(b.p);
}

TEST(other_files_versions_and_byte_orders_are_named)
{
    blob b = { 0 };
    refused(&b, MNW_E_FORMAT, "0 bytes", "too few");
    blob_start(&b, 3, 0, 0);
    b.p[0] = 'g';
    refused(&b, MNW_E_FORMAT, "67 47 55 46", "\"GGUF\"");
    blob_start(&b, 1, 0, 0);
    refused(&b, MNW_E_UNSUPPORTED, "version 1", "2 or 3");
    blob_start(&b, 4, 0, 0);
    refused(&b, MNW_E_UNSUPPORTED, "version 4", "2 or 3");
    blob_start(&b, 0x03000000, 0, 0);
    refused(&b, MNW_E_UNSUPPORTED, "big-endian", "little-endian");
    free(b.p);
}

TEST(a_value_of_every_type_is_read)
{
    blob b = { 0 };
    blob_start(&b, 3, 0, 13);
    blob_key(&b, "u8", MN_META_U8), blob_int(&b, 200, 1);
    blob_key(&b, "i8", MN_META_I8), blob_int(&b, (uint64_t)-3, 1);
    blob_key(&b, "u16", MN_META_U16), blob_int(&b, 60000, 2);
    blob_key(&b, "i16", MN_META_I16), blob_int(&b, 300, 2);
    blob_key(&b, "u32", MN_META_U32), blob_int(&b, 4000000000u, 4);
    blob_key(&b, "i32", MN_META_I32), blob_int(&b, 70000, 4);
    blob_key(&b, "f32", MN_META_F32), blob_int(&b, 0x3FC00000, 4);
    blob_key(&b, "bool", MN_META_BOOL), blob_int(&b, 1, 1);
    blob_key(&b, "str", MN_META_STR), blob_text(&b, "text");
    blob_key(&b, "u64", MN_META_U64), blob_int(&b, UINT64_MAX, 8);
    blob_key(&b, "i64", MN_META_I64), blob_int(&b, (uint64_t)INT64_MAX, 8);
    blob_key(&b, "f64", MN_META_F64), blob_int(&b, 0xBFF8000000000000u, 8);
    blob_array(&b, "words", MN_META_STR, 3), blob_text(&b, "a"), blob_text(&b, ""),
        blob_text(&b, "bcd");

    opened o;
    open_blob(&o, &b);
    OK(o.st);
    EQ(o.c.n_items, 13);
    EQ(o.c.head_bytes, b.n);
    static const struct {
        const char *key;
        uint64_t    value;
    } INTS[] = { { "u8", 200 }, { "u16", 60000 }, { "i16", 300 }, { "u32", 4000000000u },
                 { "i32", 70000 }, { "u64", UINT64_MAX }, { "i64", INT64_MAX } };
    for (size_t i = 0; i < LEN(INTS); i++) {
        uint64_t v;
        OK(mn_meta_u64(&o.c, INTS[i].key, UINT64_MAX, 0, &v, &o.err));
        YES(v == INTS[i].value);
    }
    double d;
    OK(mn_meta_f64(&o.c, "f32", 0, &d, &o.err));
    YES(d == 1.5);
    OK(mn_meta_f64(&o.c, "f64", 0, &d, &o.err));
    YES(d == -1.5);
    OK(mn_meta_f64(&o.c, "i8", 0, &d, &o.err));
    YES(d == -3.0);
    bool flag = false;
    OK(mn_meta_bool(&o.c, "bool", false, &flag, &o.err));
    YES(flag);
    mn_str s;
    OK(mn_meta_str(&o.c, "str", (mn_str){ 0 }, &s, &o.err));
    YES(mn_str_is(s, "text"));
    const mn_meta_item *words;
    OK(mn_meta_strings(&o.c, "words", &words, &o.err));
    EQ(words->count, 3);
    const uint8_t *at = words->data;
    YES(mn_str_is(mn_meta_next_str(words, &at), "a"));
    YES(mn_str_is(mn_meta_next_str(words, &at), ""));
    YES(mn_str_is(mn_meta_next_str(words, &at), "bcd"));
    YES(at == words->data + words->bytes);
    close_blob(&o);
    free(b.p);
}

TEST(a_typed_read_refuses_another_type_and_names_the_key)
{
    blob b = { 0 };
    blob_start(&b, 3, 0, 3);
    blob_array(&b, "tokenizer.ggml.scores", MN_META_I8, 4), blob_add(&b, NULL, 4);
    blob_array(&b, "tokenizer.ggml.tokens", MN_META_U8, 4), blob_add(&b, NULL, 4);
    blob_key(&b, "name", MN_META_STR), blob_text(&b, "x");
    opened o;
    open_blob(&o, &b);
    OK(o.st);
    const mn_meta_item *item;
    EQ(mn_meta_floats(&o.c, "tokenizer.ggml.scores", &item, &o.err), MNW_E_FORMAT);
    YES(item == NULL);
    EQ_STR(o.err.text, "tokenizer.ggml.scores: type is array of i8, expected array of f32 or f64");
    mn_err_clear(&o.err);
    EQ(mn_meta_strings(&o.c, "tokenizer.ggml.tokens", &item, &o.err), MNW_E_FORMAT);
    HAS(o.err.text, "tokenizer.ggml.tokens");
    mn_err_clear(&o.err);
    EQ(mn_meta_ints(&o.c, "name", &item, &o.err), MNW_E_FORMAT);
    EQ_STR(o.err.text, "name: type is str, expected array of integers");
    close_blob(&o);
    free(b.p);
}

TEST(a_key_or_tensor_that_appears_twice_is_refused)
{
    blob b = { 0 };
    blob_start(&b, 3, 0, 2);
    blob_key(&b, "twice", MN_META_U8), blob_int(&b, 0, 1);
    blob_key(&b, "twice", MN_META_U8), blob_int(&b, 0, 1);
    refused(&b, MNW_E_FORMAT, "twice: the key appears twice", "offset 42");
    blob_start(&b, 3, 2, 0);
    blob_tensor(&b, "t", MN_F32, 1, D4, 0);
    blob_tensor(&b, "t", MN_F32, 1, D4, 32);
    blob_data(&b, 32, 64);
    refused(&b, MNW_E_FORMAT, "t: the tensor appears twice", "offset 57");
    free(b.p);
}

TEST(bad_values_are_refused)
{
    blob b = { 0 };
    blob_start(&b, 3, 0, 1);
    blob_key(&b, "k", 13), blob_int(&b, 0, 8);
    refused(&b, MNW_E_FORMAT, "k: unknown value type 13", "offset 33");
    blob_start(&b, 3, 0, 1);
    blob_array(&b, "k", 99, 1), blob_int(&b, 0, 8);
    refused(&b, MNW_E_FORMAT, "k: array of unknown type 99", "offset 33");
    blob_start(&b, 3, 0, 1);
    blob_array(&b, "k", MN_META_ARRAY, 1), blob_int(&b, 0, 12);
    refused(&b, MNW_E_UNSUPPORTED, "k: array of arrays", "offset 33");
    blob_start(&b, 3, 0, 1);
    blob_key(&b, "k", MN_META_BOOL), blob_int(&b, 2, 1);
    refused(&b, MNW_E_FORMAT, "k: bool at offset 37 is 2", "0 or 1");
    blob_start(&b, 3, 0, 1);
    blob_array(&b, "k", MN_META_BOOL, 3), blob_int(&b, 0x030001, 3);
    refused(&b, MNW_E_FORMAT, "k: bool at offset 51 is 3", "0 or 1");
    free(b.p);
}

TEST(lengths_beyond_the_file_are_refused_before_anything_is_read)
{
    static const uint64_t TOO_LONG[] = { 5, 1000, (uint64_t)1 << 60, UINT64_MAX };
    blob                  b = { 0 };
    for (size_t i = 0; i < LEN(TOO_LONG); i++) {
        blob_start(&b, 3, 0, 1);
        blob_key(&b, "k", MN_META_STR), blob_int(&b, TOO_LONG[i], 8), blob_add(&b, "abcd", 4);
        const bool limit = TOO_LONG[i] > 16u << 20;
        refused(&b, limit ? MNW_E_LIMIT : MNW_E_FORMAT, "k: text 0", "offset 37");

        blob_start(&b, 3, 0, 1);
        blob_array(&b, "k", MN_META_U8, TOO_LONG[i]), blob_add(&b, "abcd", 4);
        refused(&b, limit ? MNW_E_LIMIT : MNW_E_FORMAT, "k: ", "offset ");

        blob_start(&b, 3, 0, 1);
        blob_array(&b, "k", MN_META_STR, TOO_LONG[i]), blob_text(&b, "ab");
        refused(&b, limit ? MNW_E_LIMIT : MNW_E_FORMAT, "k: ", "offset ");
    }
    free(b.p);
}

TEST(counts_that_cannot_be_true_are_refused)
{
    blob b = { 0 };
    blob_start(&b, 3, 100, 0);
    refused(&b, MNW_E_FORMAT, "100 tensors", "24 bytes");
    blob_start(&b, 3, 0, 100);
    refused(&b, MNW_E_FORMAT, "100 metadata items", "24 bytes");
    blob_start(&b, 3, (uint64_t)1 << 60, 0);
    refused(&b, MNW_E_LIMIT, "1152921504606846976 tensors", "at most 65536");
    blob_start(&b, 3, 0, UINT64_MAX);
    refused(&b, MNW_E_LIMIT, "18446744073709551615 metadata items", "at most 65536");
    free(b.p);
}

/* One tensor of these dimensions in a file with 64 bytes of data. */
static void one_tensor(blob *b, uint32_t type, uint32_t n_dims, const uint64_t *dim)
{
    blob_start(b, 3, 1, 0);
    blob_tensor(b, "blk.0.w", type, n_dims, dim, 0);
    blob_data(b, 32, 64);
}

TEST(impossible_dimensions_are_refused)
{
    const uint64_t none[9] = { 0 }, zero[2] = { 4, 0 };
    const uint64_t wraps[2] = { (uint64_t)1 << 32, (uint64_t)1 << 32 };
    const uint64_t bytes_wrap[2] = { (uint64_t)1 << 31, (uint64_t)1 << 31 };
    const uint64_t exabytes[2] = { (uint64_t)1 << 32, (uint64_t)1 << 31 };
    blob           b = { 0 };
    one_tensor(&b, MN_F32, 1, none);
    refused(&b, MNW_E_FORMAT, "blk.0.w: dimension 0 is 0", "offset 39");
    one_tensor(&b, MN_F32, 2, zero);
    refused(&b, MNW_E_FORMAT, "blk.0.w: dimension 1 is 0", "offset 39");
    one_tensor(&b, MN_F32, 0, none);
    refused(&b, MNW_E_FORMAT, "blk.0.w: no dimensions", "offset 39");
    one_tensor(&b, MN_F32, 9, none);
    refused(&b, MNW_E_LIMIT, "blk.0.w: 9 dimensions", "at most 4");
    one_tensor(&b, MN_F32, 2, wraps);
    refused(&b, MNW_E_FORMAT, "blk.0.w: the number of elements overflows", "offset 39");
    one_tensor(&b, MN_F32, 2, exabytes);
    refused(&b, MNW_E_FORMAT, "blk.0.w: the size of", "overflows");
    one_tensor(&b, MN_F32, 2, bytes_wrap);   // 2^64 bytes: 0 when it wraps
    refused(&b, MNW_E_FORMAT, "blk.0.w: the size of", "overflows");
    free(b.p);
}

TEST(tensor_types_are_named_when_they_are_not_supported)
{
    const uint64_t dim[1] = { 48 }, one[1] = { 33 };
    blob           b = { 0 };
    one_tensor(&b, 20, 1, dim);
    refused(&b, MNW_E_UNSUPPORTED, "blk.0.w: tensor type iq4_nl (number 20)", "not supported");
    one_tensor(&b, 4711, 1, dim);
    refused(&b, MNW_E_UNSUPPORTED, "blk.0.w: tensor type ? (number 4711)", "not supported");
    one_tensor(&b, MN_Q4_0, 1, one);
    refused(&b, MNW_E_FORMAT, "blk.0.w: rows of 33 elements", "q4_0 needs a multiple of 32");
    free(b.p);
}

TEST(a_row_must_be_whole_blocks_even_if_the_tensor_is)
{
    const uint64_t dim[2] = { 16, 2 };
    blob           b = { 0 };
    one_tensor(&b, MN_Q4_0, 2, dim);
    refused(&b, MNW_E_FORMAT, "rows of 16", "multiple of 32");
    free(b.p);
}

TEST(a_tensor_is_where_the_file_says)
{
    const uint64_t dim[3] = { 32, 2, 3 };
    blob           b = { 0 };
    blob_start(&b, 3, 1, 1);
    blob_key(&b, "general.alignment", MN_META_U32), blob_int(&b, 64, 4);
    blob_tensor(&b, "w", MN_Q8_0, 3, dim, 64);
    blob_data(&b, 64, 64 + 6 * 34);
    b.p[128 + 64] = 0xAB;
    opened o;
    open_blob(&o, &b);
    OK(o.st);
    const mn_tensor *t = mn_tensor_find(&o.c, mn_str_of("w"));
    YES(t != NULL);
    EQ(t->type->id, MN_Q8_0);
    EQ(t->n_dims, 3);
    EQ(t->dim[2], 3);
    EQ(t->dim[3], 1);
    EQ(t->bytes, 6 * 34);
    EQ(t->offset, 192);
    EQ(t->data[0], 0xAB);
    YES(mn_tensor_find(&o.c, mn_str_of("v")) == NULL);
    close_blob(&o);
    free(b.p);
}

TEST(the_alignment_must_be_a_power_of_two)
{
    static const struct {
        uint64_t   value;
        mnw_status st;
    } CASES[] = { { 0, MNW_E_FORMAT }, { 4, MNW_E_FORMAT }, { 48, MNW_E_FORMAT },
                  { 1 << 21, MNW_E_LIMIT }, { (uint64_t)1 << 40, MNW_E_LIMIT } };
    blob b = { 0 };
    for (size_t i = 0; i < LEN(CASES); i++) {
        blob_start(&b, 3, 0, 1);
        blob_key(&b, "general.alignment", MN_META_U64), blob_int(&b, CASES[i].value, 8);
        refused(&b, CASES[i].st, "general.alignment", "");
    }
    for (uint32_t a = 8; a <= 1 << 20; a *= 2) {
        blob_start(&b, 3, 0, 1);
        blob_key(&b, "general.alignment", MN_META_U32), blob_int(&b, a, 4);
        accepted(&b);
    }
    blob_start(&b, 3, 0, 1);
    blob_key(&b, "general.alignment", MN_META_STR), blob_text(&b, "32");
    refused(&b, MNW_E_FORMAT, "general.alignment: type is str", "expected an integer");
    free(b.p);
}

/* Two tensors of 32 bytes at these offsets, `data` bytes of data. */
static void two_tensors(blob *b, uint64_t first, uint64_t second, size_t data)
{
    const uint64_t dim[1] = { 8 };
    blob_start(b, 3, 2, 0);
    blob_tensor(b, "first", MN_F32, 1, dim, first);
    blob_tensor(b, "second", MN_F32, 1, dim, second);
    blob_data(b, 32, data);
}

TEST(tensors_lie_aligned_apart_and_inside_the_file)
{
    blob b = { 0 };
    two_tensors(&b, 0, 32, 64);
    accepted(&b);
    two_tensors(&b, 32, 0, 64);      // any order
    accepted(&b);
    two_tensors(&b, 0, 128, 160);    // gaps are fine
    accepted(&b);
    two_tensors(&b, 0, 32, 63);
    refused(&b, MNW_E_FORMAT, "second: 32 bytes at data offset 32", "beyond the file's");
    two_tensors(&b, 0, 36, 96);
    refused(&b, MNW_E_FORMAT, "second: data offset 36", "alignment 32");
    two_tensors(&b, 0, 0, 64);
    refused(&b, MNW_E_FORMAT, "overlaps", "first");
    two_tensors(&b, 0, UINT64_MAX - 31, 64);
    refused(&b, MNW_E_FORMAT, "second: 32 bytes at data offset 18446744073709551584", "beyond");
    free(b.p);
}

TEST(overlap_is_found_among_many_tensors_in_any_order)
{
    enum { N = 1000 };
    blob b = { 0 };
    for (int bad = 0; bad < 2; bad++) {
        blob_start(&b, 3, N, 0);
        for (uint64_t i = 0; i < N; i++) {
            char           name[16];
            const uint64_t dim[1] = { bad && i == 700 ? 9 : 8 };
            snprintf(name, sizeof name, "t%d", (int)i);
            blob_tensor(&b, name, MN_F32, 1, dim, i * 377 % N * 32);   // 377 and 1000: coprime
        }
        blob_data(&b, 32, 32 * N + 32);
        if (bad) refused(&b, MNW_E_FORMAT, "t700", "overlaps");
        else accepted(&b);
    }
    free(b.p);
}

int main(void)
{
    return RUN(T(a_file_with_nothing_in_it_opens), T(an_empty_key_is_refused_with_its_offset),
               T(other_files_versions_and_byte_orders_are_named), T(a_value_of_every_type_is_read),
               T(a_typed_read_refuses_another_type_and_names_the_key),
               T(a_key_or_tensor_that_appears_twice_is_refused), T(bad_values_are_refused),
               T(lengths_beyond_the_file_are_refused_before_anything_is_read),
               T(counts_that_cannot_be_true_are_refused), T(impossible_dimensions_are_refused),
               T(tensor_types_are_named_when_they_are_not_supported),
               T(a_row_must_be_whole_blocks_even_if_the_tensor_is),
               T(a_tensor_is_where_the_file_says), T(the_alignment_must_be_a_power_of_two),
               T(tensors_lie_aligned_apart_and_inside_the_file),
               T(overlap_is_found_among_many_tensors_in_any_order));
}
