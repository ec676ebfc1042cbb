/* SPDX-License-Identifier: Apache-2.0
 *
 * A safetensors file cut at every byte, with every byte of its head flipped, read without memory.
 */
#include "test.h"

#include "format/safetensors.h"

enum { TENSORS = 12, ROWS = 6, COLS = 4, BYTES = ROWS * COLS * 2 };

static uint8_t file[8 + 4096 + TENSORS * BYTES];
static size_t  size, head;

static void make(void)
{
    char  *p = (char *)file + 8;
    size_t n = 0;
    n += (size_t)snprintf(p, 4096, "{\"__metadata__\":{\"format\":\"pt\"}");
    for (int i = 0; i < TENSORS; i++) {
        n += (size_t)snprintf(p + n, 4096 - n,
                              ",\"model.layers.%d.w\":{\"dtype\":\"BF16\",\"shape\":[%d,%d],"
                              "\"data_offsets\":[%d,%d]}", i, ROWS, COLS, i * BYTES, (i + 1) * BYTES);
    }
    n += (size_t)snprintf(p + n, 4096 - n, "}");
    file[0] = (uint8_t)n;
    file[1] = (uint8_t)(n >> 8);
    head = 8 + n;
    size = head + TENSORS * BYTES;
}

typedef struct hook {
    size_t calls, fail_at, live;
} hook;

static void *count(void *user, void *p, size_t old_size, size_t new_size)
{
    hook *h = user;
    h->calls++;
    if (new_size == 0) {
        h->live -= old_size;
        free(p);
        return NULL;
    }
    if (h->fail_at && h->calls == h->fail_at) return NULL;
    h->live += new_size - old_size;
    return realloc(p, new_size);
}

/* Read n bytes; what is handed out is touched, a refusal explains itself. */
static mnw_status read_some(const uint8_t *p, size_t n, hook *h)
{
    mn_mem     mem;
    mn_pages   pages;
    mn_content c;
    mn_err     err = { 0 };
    mn_mem_init(&mem, count, h);
    mn_pages_init(&pages, &mem);
    const mnw_status st = mn_safetensors_read((mn_bytes){ p, n }, &pages, &c, &err);
    unsigned         sum = 0;
    for (size_t i = 0; i < c.n_tensors; i++) {
        for (uint64_t k = 0; k < c.tensor[i].bytes; k++) sum += c.tensor[i].data[k];
    }
    if (st != MNW_OK && !err.text[0]) fail_msg("refused without a word");
    if (mem.peak > 1 << 20) fail_msg("took %zu bytes", (size_t)mem.peak);
    mn_pages_done(&pages);
    EQ(h->live, 0);
    EQ(sum, 0);
    return st;
}

TEST(the_file_itself_opens)
{
    OK(read_some(file, size, &(hook){ 0 }));
}

TEST(a_file_cut_at_any_byte_is_refused)
{
    for (size_t n = 0; n < size; n++) {
        uint8_t *copy = malloc(n ? n : 1);   // so that a sanitizer sees where it ends
        YES(copy != NULL);
        memcpy(copy, file, n);
        NE(read_some(copy, n, &(hook){ 0 }), MNW_OK);
        free(copy);
    }
}

TEST(a_flipped_bit_of_the_head_is_survived)
{
    size_t accepted = 0;
    for (size_t i = 0; i < head; i++) {
        for (int bit = 0; bit < 8; bit++) {
            file[i] ^= (uint8_t)(1 << bit);
            accepted += read_some(file, size, &(hook){ 0 }) == MNW_OK;
            file[i] ^= (uint8_t)(1 << bit);
        }
    }
    YES(accepted > 0);   // another letter in a name is another name
    YES(accepted < head * 4);
}

TEST(each_allocation_may_fail)
{
    hook all = { 0 };
    OK(read_some(file, size, &all));
    for (size_t i = 1; i <= all.calls; i++) {
        hook             h = { .fail_at = i };
        const mnw_status st = read_some(file, size, &h);
        YES(st == MNW_E_NOMEM || st == MNW_OK);   // a free cannot fail
        if (i == 1) EQ(st, MNW_E_NOMEM);
    }
}

int main(void)
{
    make();
    return RUN(T(the_file_itself_opens), T(a_file_cut_at_any_byte_is_refused),
               T(a_flipped_bit_of_the_head_is_survived), T(each_allocation_may_fail));
}
