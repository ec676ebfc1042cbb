/* SPDX-License-Identifier: Apache-2.0
 *
 * pages.c - memory that only grows and is freed together.
 */
#include "base/pages.h"

#include "base/check.h"

enum { PAGE = 64 * 1024, SMALL = PAGE / 4 };

struct mn_page {
    mn_page *next;
};

void mn_pages_init(mn_pages *p, mn_mem *mem)
{
    *p = (mn_pages){ .mem = mem };
}

static uint8_t *new_page(mn_pages *p, size_t size)
{
    size_t total;
    if (!mn_add_size(size, MN_ALIGN, &total)) return NULL;
    mn_page *page = mn_alloc(p->mem, total);
    if (!page) return NULL;
    page->next = p->head;
    p->head = page;
    p->total += total;
    return (uint8_t *)page + MN_ALIGN;
}

void *mn_pages_push(mn_pages *p, size_t count, size_t size)
{
    size_t bytes;
    if (!mn_mul_size(count, size, &bytes)) return NULL;
    if (bytes > SMALL) return new_page(p, bytes);

    const size_t align = bytes >= MN_ALIGN ? MN_ALIGN : 16;
    size_t       skip = (size_t)(-(uintptr_t)p->at & (align - 1));
    if (!p->at || bytes + skip > p->left) {
        uint8_t *fresh = new_page(p, PAGE);
        if (!fresh) return NULL;
        p->at = fresh;
        p->left = PAGE;
        skip = 0;
    }
    uint8_t *out = p->at + skip;
    p->at += skip + bytes;
    p->left -= skip + bytes;
    return out;
}

void *mn_pages_push_zero(mn_pages *p, size_t count, size_t size)
{
    void *out = mn_pages_push(p, count, size);
    if (out) memset(out, 0, count * size);
    return out;
}

char *mn_pages_text(mn_pages *p, mn_str s)
{
    size_t bytes;
    if (!mn_add_size(s.n, 1, &bytes)) return NULL;
    char *out = mn_pages_push(p, bytes, 1);
    if (!out) return NULL;
    if (s.n) memcpy(out, s.p, s.n);
    out[s.n] = '\0';
    return out;
}

void mn_pages_done(mn_pages *p)
{
    for (mn_page *page = p->head; page;) {
        mn_page *next = page->next;
        mn_free(p->mem, page);
        page = next;
    }
    *p = (mn_pages){ .mem = p->mem };
}
