/* SPDX-License-Identifier: Apache-2.0
 *
 * Typed reading: any width that fits, and a clear refusal when it does not.
 */
#include "gguf_bytes.h"

static blob   b;
static opened o;

/* A file with one value of a fixed size. */
static void value(mn_meta_type type, uint64_t v, size_t bytes)
{
    blob_start(&b, 3, 0, 1);
    blob_key(&b, "k", type);
    blob_int(&b, v, bytes);
    open_blob(&o, &b);
    OK(o.st);
}

static void done(void)
{
    close_blob(&o);
    free(b.p);
    b = (blob){ 0 };
}

TEST(missing_keys_give_the_fallback)
{
    value(MN_META_U8, 0, 1);
    uint64_t u;
    double   d;
    bool     flag;
    mn_str   s;
    const mn_meta_item *item;
    OK(mn_meta_u64(&o.c, "no", 9, 7, &u, &o.err));
    EQ(u, 7);
    OK(mn_meta_f64(&o.c, "no", 2.5, &d, &o.err));
    YES(d == 2.5);
    OK(mn_meta_bool(&o.c, "no", true, &flag, &o.err));
    YES(flag);
    OK(mn_meta_str(&o.c, "no", mn_str_of("x"), &s, &o.err));
    YES(mn_str_is(s, "x"));
    OK(mn_meta_strings(&o.c, "no", &item, &o.err));
    YES(item == NULL);
    done();
}

TEST(a_negative_or_too_large_integer_is_refused_with_its_value)
{
    uint64_t u;
    value(MN_META_I32, (uint64_t)-1, 4);
    EQ(mn_meta_u64(&o.c, "k", 512, 0, &u, &o.err), MNW_E_FORMAT);
    EQ_STR(o.err.text, "k: value -1, expected 0 to 512");
    done();
    value(MN_META_U32, 513, 4);
    EQ(mn_meta_u64(&o.c, "k", 512, 0, &u, &o.err), MNW_E_FORMAT);
    EQ_STR(o.err.text, "k: value 513, expected 0 to 512");
    mn_err_clear(&o.err);
    OK(mn_meta_u64(&o.c, "k", 513, 0, &u, &o.err));
    EQ(u, 513);
    done();
}

TEST(types_are_not_mixed_up)
{
    uint64_t u;
    double   d;
    bool     flag;
    mn_str   s;
    value(MN_META_F32, 0x3F800000, 4);
    EQ(mn_meta_u64(&o.c, "k", 9, 0, &u, &o.err), MNW_E_FORMAT);
    EQ_STR(o.err.text, "k: type is f32, expected an integer");
    mn_err_clear(&o.err);
    EQ(mn_meta_str(&o.c, "k", (mn_str){ 0 }, &s, &o.err), MNW_E_FORMAT);
    mn_err_clear(&o.err);
    EQ(mn_meta_bool(&o.c, "k", false, &flag, &o.err), MNW_E_FORMAT);
    EQ_STR(o.err.text, "k: type is f32, expected bool");
    done();
    value(MN_META_BOOL, 1, 1);
    EQ(mn_meta_f64(&o.c, "k", 0, &d, &o.err), MNW_E_FORMAT);
    EQ_STR(o.err.text, "k: type is bool, expected a number");
    mn_err_clear(&o.err);
    EQ(mn_meta_u64(&o.c, "k", 9, 0, &u, &o.err), MNW_E_FORMAT);
    done();
}

TEST(a_float_must_be_finite)
{
    double d;
    value(MN_META_F32, 0x7F800000, 4);
    EQ(mn_meta_f64(&o.c, "k", 0, &d, &o.err), MNW_E_FORMAT);
    HAS(o.err.text, "k: value inf, expected a finite number");
    done();
    value(MN_META_F64, 0x7FF8000000000000u, 8);
    EQ(mn_meta_f64(&o.c, "k", 0, &d, &o.err), MNW_E_FORMAT);
    done();
}

TEST(array_elements_of_every_width_are_read)
{
    static const struct {
        mn_meta_type type;
        size_t       size;
        int64_t      least, most;
    } INTS[] = { { MN_META_U8, 1, 0, 255 },           { MN_META_I8, 1, -128, 127 },
                 { MN_META_U16, 2, 0, 65535 },        { MN_META_I16, 2, -32768, 32767 },
                 { MN_META_U32, 4, 0, UINT32_MAX },   { MN_META_I32, 4, INT32_MIN, INT32_MAX },
                 { MN_META_I64, 8, INT64_MIN, INT64_MAX }, { MN_META_U64, 8, 0, INT64_MAX },
                 { MN_META_BOOL, 1, 0, 1 } };
    const mn_meta_item *item;
    for (size_t i = 0; i < LEN(INTS); i++) {
        blob_start(&b, 3, 0, 1);
        blob_array(&b, "k", INTS[i].type, 2);
        blob_int(&b, (uint64_t)INTS[i].least, INTS[i].size);
        blob_int(&b, (uint64_t)INTS[i].most, INTS[i].size);
        open_blob(&o, &b);
        OK(mn_meta_ints(&o.c, "k", &item, &o.err));
        YES(mn_meta_int_at(item, 0) == INTS[i].least);
        YES(mn_meta_int_at(item, 1) == INTS[i].most);
        EQ(mn_meta_floats(&o.c, "k", &item, &o.err), MNW_E_FORMAT);
        close_blob(&o);
    }
    blob_start(&b, 3, 0, 1);
    blob_array(&b, "k", MN_META_F64, 2);
    blob_int(&b, 0x3FF0000000000000u, 8);
    blob_int(&b, 0xC000000000000000u, 8);
    open_blob(&o, &b);
    OK(mn_meta_floats(&o.c, "k", &item, &o.err));
    YES(mn_meta_float_at(item, 0) == 1.0);
    YES(mn_meta_float_at(item, 1) == -2.0);
    done();
}

int main(void)
{
    return RUN(T(missing_keys_give_the_fallback),
               T(a_negative_or_too_large_integer_is_refused_with_its_value),
               T(types_are_not_mixed_up), T(a_float_must_be_finite),
               T(array_elements_of_every_width_are_read));
}
