/* SPDX-License-Identifier: Apache-2.0
 *
 * test_segments.c - checksums of segments, and items about them that lie; the writer's places and padding.
 */
#include "gguf_bytes.h"
#include "tmpdir.h"

#include "base/native.h"
#include "format/gguf_write.h"
#include "format/segments.h"

/* A file with items about segments: `n` numbers and `m` bytes of digests of type `elem`. */
static void build(blob *b, const uint64_t *place, size_t n, size_t m, uint32_t elem)
{
    blob_start(b, 3, 0, 2);
    blob_array(b, MN_SEGMENTS, MN_META_U64, n);
    for (size_t i = 0; i < n; i++) blob_int(b, place[i], 8);
    blob_array(b, MN_SEGMENTS_SHA256, elem, m);
    for (size_t i = 0; i < m; i++) blob_int(b, i, 1);
}

static void lies(const uint64_t *place, size_t n, size_t m, uint32_t elem, const char *part)
{
    blob        b = { 0 };
    opened      o;
    mn_segments s;
    mn_err      err = { 0 };
    build(&b, place, n, m, elem);
    open_blob(&o, &b);
    OK(o.st);
    EQ(mn_segments_read(&o.c, b.n, &s, &err), MNW_E_FORMAT);
    HAS(err.text, part);
    close_blob(&o);
    free(b.p);
}

TEST(segments_that_lie_are_refused)
{
    lies((uint64_t[]){ 0, 8, 1 }, 3, 32, MN_META_U8, "minnow.segments: 3 numbers, expected two for each");
    lies((uint64_t[]){ 0, 8 }, 2, 31, MN_META_U8, "31 values of type u8, expected 32 u8 for each of 1");
    lies((uint64_t[]){ 0, 8 }, 2, 32, MN_META_I8, "32 values of type i8");
    lies((uint64_t[]){ 0, 8 }, 2, 64, MN_META_U8, "64 values of type u8");
    lies((uint64_t[]){ 1 << 20, 1 }, 2, 32, MN_META_U8, "segment 0 is 1 bytes at offset 1048576, the file has");
    lies((uint64_t[]){ 0, 8, 1, UINT64_MAX }, 4, 64, MN_META_U8, "segment 1 is 18446744073709551615 bytes");
}

TEST(a_file_without_segments_has_none)
{
    blob        b = { 0 };
    opened      o;
    mn_segments s;
    blob_start(&b, 3, 0, 0);
    open_blob(&o, &b);
    OK(o.st);
    OK(mn_segments_read(&o.c, b.n, &s, NULL));
    EQ(s.n, 0);
    close_blob(&o);
    free(b.p);
}

TEST(places_leave_no_gap_after_a_native_tensor)
{
    enum { ROWS = 16, COLS = 32, BYTES = 64 + 64 + 4 * 64, PAGE = 4096 };
    static const uint8_t data[BYTES];
    const uint64_t       dim[2] = { COLS, ROWS };
    mn_mem               mem;
    mn_gguf_writer       w;
    mn_err               err = { 0 };
    uint64_t             bytes;
    mn_mem_init(&mem, NULL, NULL);
    mn_gguf_init(&w, &mem);
    mn_gguf_align(&w, 128);
    const uint64_t at = mn_gguf_reserve(&w, "later", MN_META_U32, 2);
    mn_gguf_declare(&w, mn_str_of("a"), mn_dtype_of(MN_Q4X), 2, dim);
    mn_gguf_place(&w, PAGE);
    mn_gguf_declare(&w, mn_str_of("b"), mn_dtype_of(MN_Q4X), 2, dim);
    mn_gguf_place_data(&w, 2 * PAGE);
    OK(mn_gguf_bytes(&w, &bytes, &err));
    OK(mn_gguf_begin(&w, tmp_path("p.gguf"), &err));
    OK(mn_gguf_put(&w, data, BYTES, &err));
    OK(mn_gguf_put(&w, data, BYTES, &err));
    OK(mn_out_write_at(&w.file, at, (uint8_t[]){ 1, 2, 0, 0, 3 }, 5, &err));
    OK(mn_gguf_finish(&w, &err));
    mn_gguf_done(&w);
    EQ(mem.live, 0);

    blob   b = { 0 };
    opened o;
    b.p = tmp_read(tmp_path("p.gguf"), &b.n);
    EQ(b.n, bytes);
    open_blob(&o, &b);
    if (o.st != MNW_OK) fail_msg("%s", o.err.text);
    EQ(o.c.tensor[0].offset, 2 * PAGE);
    EQ(o.c.tensor[1].offset, 3 * PAGE);
    EQ(o.c.tensor[0].bytes, BYTES);
    const mn_meta_item *later = mn_meta_find(&o.c, "later");
    EQ(mn_meta_int_at(later, 0), 0x201);
    EQ(mn_meta_int_at(later, 1), 3);
    /* what others see: a is all of the page */
    const uint64_t room = PAGE;
    bool           seen = false;
    for (size_t i = 0; i + 8 < o.c.head_bytes; i++) seen = seen || memcmp(b.p + i, &room, 8) == 0;
    YES(seen);
    close_blob(&o);
    free(b.p);
}

TEST(places_must_be_powers_of_two_and_aligned)
{
    mn_mem mem;
    mn_mem_init(&mem, NULL, NULL);
    for (int i = 0; i < 4; i++) {
        mn_gguf_writer w;
        mn_err         err = { 0 };
        mn_gguf_init(&w, &mem);
        (i < 2 ? mn_gguf_place : mn_gguf_place_data)(&w, i % 2 ? 48 : 16);
        EQ(mn_gguf_begin(&w, tmp_path("q.gguf"), &err), MNW_E_ARG);
        HAS(err.text, "expected a power of two from 32");
        mn_gguf_done(&w);
    }
    mn_gguf_writer w;
    mn_err         err = { 0 };
    mn_gguf_init(&w, &mem);
    mn_gguf_reserve(&w, "text", MN_META_STR, 1);
    EQ(mn_gguf_begin(&w, tmp_path("q.gguf"), &err), MNW_E_ARG);
    mn_gguf_done(&w);
    EQ(mem.live, 0);
}

int main(void)
{
    tmp_open();
    const int failed = RUN(T(segments_that_lie_are_refused), T(a_file_without_segments_has_none),
                           T(places_leave_no_gap_after_a_native_tensor),
                           T(places_must_be_powers_of_two_and_aligned));
    tmp_close();
    return failed;
}
