/* SPDX-License-Identifier: Apache-2.0
 *
 * Each limit of format/limits.h, from both sides.
 */
#include "gguf_bytes.h"

#include "format/limits.h"

TEST(names_have_at_most_256_bytes)
{
    blob           b = { 0 };
    const uint64_t dim[1] = { 1 };
    for (int over = 0; over < 2; over++) {
        char name[258] = "";
        memset(name, 'n', 256 + (size_t)over);
        blob_start(&b, 3, 0, 1);
        blob_key(&b, name, MN_META_U8), blob_int(&b, 0, 1);
        if (over) refused(&b, MNW_E_LIMIT, "key of 257 bytes", "at most 256");
        else accepted(&b);
        blob_start(&b, 3, 1, 0);
        blob_tensor(&b, name, MN_F32, 1, dim, 0);
        blob_data(&b, 32, 4);
        if (over) refused(&b, MNW_E_LIMIT, "name of 257 bytes", "at most 256");
        else accepted(&b);
    }
    free(b.p);
}

TEST(a_text_has_at_most_16_mib)
{
    blob b = { 0 };
    for (uint32_t over = 0; over < 2; over++) {
        blob_start(&b, 3, 0, 1);
        blob_key(&b, "k", MN_META_STR), blob_int(&b, MN_MAX_STRING + over, 8);
        blob_add(&b, NULL, MN_MAX_STRING + over);
        if (over) refused(&b, MNW_E_LIMIT, "16777217 bytes", "at most 16777216");
        else accepted(&b);
    }
    free(b.p);
}

TEST(an_array_has_at_most_8_mi_elements)
{
    blob b = { 0 };
    for (uint32_t over = 0; over < 2; over++) {
        blob_start(&b, 3, 0, 1);
        blob_array(&b, "k", MN_META_U8, MN_MAX_ARRAY + over);
        blob_add(&b, NULL, MN_MAX_ARRAY + over);
        if (over) refused(&b, MNW_E_LIMIT, "8388609 elements", "at most 8388608");
        else accepted(&b);
    }
    free(b.p);
}

TEST(there_are_at_most_65536_items_and_tensors)
{
    blob           b = { 0 };
    const uint64_t dim[1] = { 8 };
    for (uint32_t over = 0; over < 2; over++) {
        const uint32_t n = 65536 + over;
        char           name[16];
        blob_start(&b, 3, 0, n);
        for (uint32_t i = 0; i < n; i++) {
            snprintf(name, sizeof name, "k%u", i);
            blob_key(&b, name, MN_META_U8), blob_int(&b, 0, 1);
        }
        if (over) refused(&b, MNW_E_LIMIT, "65537 metadata items", "at most 65536");
        else accepted(&b);
        blob_start(&b, 3, n, 0);
        for (uint32_t i = 0; i < n; i++) {
            snprintf(name, sizeof name, "t%u", i);
            blob_tensor(&b, name, MN_I8, 1, dim, (uint64_t)(n - 1 - i) * 32);   // backwards: sorted
        }
        blob_data(&b, 32, (size_t)n * 32);
        if (over) refused(&b, MNW_E_LIMIT, "65537 tensors", "at most 65536");
        else accepted(&b);
    }
    free(b.p);
}

TEST(a_tensor_has_at_most_4_dimensions)
{
    blob           b = { 0 };
    const uint64_t dim[5] = { 2, 2, 2, 2, 1 };
    for (uint32_t n = 1; n <= 5; n++) {
        blob_start(&b, 3, 1, 0);
        blob_tensor(&b, "t", MN_F32, n, dim, 0);
        blob_data(&b, 32, 64);
        if (n > 4) refused(&b, MNW_E_LIMIT, "5 dimensions", "at most 4");
        else accepted(&b);
    }
    free(b.p);
}

/* Arrays of 8 MiB that nobody looks into: the pages of this file are never touched. */
TEST(the_head_has_at_most_256_mib)
{
    enum { ARRAYS = 32 };
    const size_t   cap = (size_t)MN_MAX_HEAD_BYTES + (1u << 20);
    uint8_t *const p = calloc(1, cap);
    if (!p) SKIP("no memory for a file of 257 MiB");
    for (uint32_t over = 0; over < 2; over++) {
        blob b = { p, 0, cap };
        blob_start(&b, 3, 0, ARRAYS);
        for (uint32_t i = 0; i < ARRAYS; i++) {
            const bool last = i == ARRAYS - 1;
            char       key[8];
            snprintf(key, sizeof key, "k%02u", i);
            size_t count = MN_MAX_ARRAY;
            if (last) count = (size_t)MN_MAX_HEAD_BYTES + over - b.n - (8 + 3 + 4 + 4 + 8);
            blob_array(&b, key, MN_META_U8, count);
            b.n += count;
        }
        EQ(b.n, MN_MAX_HEAD_BYTES + over);
        mn_mem     mem;
        mn_pages   pages;
        mn_content c;
        mn_err     err = { 0 };
        mn_mem_init(&mem, NULL, NULL);
        mn_pages_init(&pages, &mem);
        const mnw_status st = mn_gguf_read((mn_bytes){ p, b.n }, &pages, &c, &err);
        EQ(st, over ? MNW_E_LIMIT : MNW_OK);
        if (over) HAS(err.text, "k31");
        mn_pages_done(&pages);
    }
    free(p);
}

int main(void)
{
    return RUN(T(names_have_at_most_256_bytes), T(a_text_has_at_most_16_mib),
               T(an_array_has_at_most_8_mi_elements), T(there_are_at_most_65536_items_and_tensors),
               T(a_tensor_has_at_most_4_dimensions), T(the_head_has_at_most_256_mib));
}
