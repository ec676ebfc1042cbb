/* SPDX-License-Identifier: Apache-2.0
 *
 * gguf_bytes.h - put together GGUF files byte by byte, also wrong ones, without our own writer.
 */
#ifndef MN_TEST_GGUF_BYTES_H
#define MN_TEST_GGUF_BYTES_H

#include "test.h"

#include "format/gguf.h"

typedef struct blob {
    uint8_t *p;
    size_t   n, cap;
} blob;

static inline uint8_t *blob_add(blob *b, const void *p, size_t n)
{
    if (b->n + n > b->cap) {
        b->cap = 2 * (b->n + n);
        b->p = realloc(b->p, b->cap);
        if (!b->p) abort();
    }
    if (p) memcpy(b->p + b->n, p, n);
    else memset(b->p + b->n, 0, n);
    b->n += n;
    return b->p + b->n - n;
}

static inline void blob_int(blob *b, uint64_t v, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++, v >>= 8) blob_add(b, &(uint8_t){ (uint8_t)v }, 1);
}

static inline void blob_text(blob *b, const char *z)
{
    blob_int(b, strlen(z), 8);
    blob_add(b, z, strlen(z));
}

static inline void blob_start(blob *b, uint32_t version, uint64_t tensors, uint64_t items)
{
    b->n = 0;
    blob_add(b, "GGUF", 4);
    blob_int(b, version, 4);
    blob_int(b, tensors, 8);
    blob_int(b, items, 8);
}

/* A key and the number of its type; the value follows. */
static inline void blob_key(blob *b, const char *key, uint32_t type)
{
    blob_text(b, key);
    blob_int(b, type, 4);
}

static inline void blob_array(blob *b, const char *key, uint32_t elem, uint64_t count)
{
    blob_key(b, key, MN_META_ARRAY);
    blob_int(b, elem, 4);
    blob_int(b, count, 8);
}

static inline void blob_tensor(blob *b, const char *name, uint32_t type, uint32_t n_dims,
                               const uint64_t *dim, uint64_t offset)
{
    blob_text(b, name);
    blob_int(b, n_dims, 4);
    for (uint32_t i = 0; i < n_dims; i++) blob_int(b, dim[i], 8);
    blob_int(b, type, 4);
    blob_int(b, offset, 8);
}

/* Zeros to the alignment, then n zeros of data. */
static inline void blob_data(blob *b, size_t alignment, size_t n)
{
    blob_add(b, NULL, (0 - b->n) & (alignment - 1));
    blob_add(b, NULL, n);
}

/* A read file and what came of it.  Read from a copy of the exact size, so that a sanitizer sees
 * each byte too far. */
typedef struct opened {
    mn_mem     mem;
    mn_pages   pages;
    uint8_t   *copy;
    mn_content c;
    mn_err     err;
    mnw_status st;
} opened;

static inline void open_blob(opened *o, const blob *b)
{
    *o = (opened){ 0 };
    mn_mem_init(&o->mem, NULL, NULL);
    mn_pages_init(&o->pages, &o->mem);
    o->copy = malloc(b->n ? b->n : 1);
    if (!o->copy) abort();
    if (b->n) memcpy(o->copy, b->p, b->n);
    o->st = mn_gguf_read((mn_bytes){ o->copy, b->n }, &o->pages, &o->c, &o->err);
}

static inline void close_blob(opened *o)
{
    mn_pages_done(&o->pages);
    free(o->copy);
}

/* The file is refused with this status and a text that has these parts. */
static inline void refused(const blob *b, mnw_status st, const char *part, const char *other)
{
    opened o;
    open_blob(&o, b);
    if (o.st != st) fail_msg("status %d (%s), expected %d", o.st, o.err.text, st);
    HAS(o.err.text, part);
    HAS(o.err.text, other);
    close_blob(&o);
}

static inline void accepted(const blob *b)
{
    opened o;
    open_blob(&o, b);
    if (o.st != MNW_OK) fail_msg("refused: %s", o.err.text);
    close_blob(&o);
}

#endif
