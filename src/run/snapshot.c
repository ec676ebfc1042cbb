/* SPDX-License-Identifier: Apache-2.0
 *
 * snapshot.c - save a session to a file and restore it.
 *
 *      +--------+---------------+-----------------------------------+---------+
 *      | header | tokens i32[n] | per layer and head: K V ks vs [n] | SHA-256 |
 *      +--------+---------------+-----------------------------------+---------+
 *
 * The digest covers all before it.  A restored session goes on exactly as the saved one would have,
 * so the header names the model by its hash, and the type of the cache.  Logits are not kept.
 */
#include "run/snapshot.h"

#include <inttypes.h>

#include "base/check.h"
#include "base/cursor.h"
#include "base/os.h"
#include "base/sha256.h"

enum { VERSION = 1, HEADER_BYTES = 72 };

static const char MAGIC[4] = { 'M', 'N', 'W', 'S' };

typedef struct header {
    uint32_t version, kv_type;
    uint8_t  model[32];
    uint64_t n, token_bytes, cache_bytes;
} header;

static void encode_header(uint8_t out[HEADER_BYTES], const header *h)
{
    memcpy(out, MAGIC, 4);
    mn_store_u32(out + 4, h->version);
    mn_store_u32(out + 8, h->kv_type);
    mn_store_u32(out + 12, 0);
    memcpy(out + 16, h->model, 32);
    mn_store_u64(out + 48, h->n);
    mn_store_u64(out + 56, h->token_bytes);
    mn_store_u64(out + 64, h->cache_bytes);
}

static header header_of(const mnw_session *s)
{
    header h = {
        .version = VERSION,
        .kv_type = s->opts.kv_type,
        .n = s->count,
        .token_bytes = s->count * sizeof *s->tokens,
        .cache_bytes = s->count * mn_kv_token_bytes(&s->model->config, s->opts.kv_type),
    };
    mn_model_hash(s->model, h.model);
    return h;
}

/* A file being written, and the digest so far. */
typedef struct writer {
    mn_out_file file;
    mn_sha256   sha;
    mn_err     *err;
} writer;

static mnw_status put(writer *w, const void *p, size_t n)
{
    mn_sha256_add(&w->sha, p, n);
    return mn_out_write(&w->file, p, n, w->err);
}

static mnw_status write_all(writer *w, mnw_session *s)
{
    const header h = header_of(s);
    uint8_t      bytes[HEADER_BYTES], digest[MN_SHA256_BYTES];
    encode_header(bytes, &h);
    MN_TRY(put(w, bytes, sizeof bytes));
    MN_TRY(put(w, s->tokens, (size_t)h.token_bytes));

    const mn_kv *kv = &s->step.kv;
    for (size_t l = 0; l < kv->L; l++) {
        for (size_t head = 0; head < kv->K; head++) {
            mn_kv_run run[MN_KV_RUNS];
            mn_kv_runs(kv, s->step.block, l, head, run);
            for (int i = 0; i < MN_KV_RUNS; i++)
                MN_TRY(put(w, run[i].data, s->count * run[i].bytes));
        }
    }
    mn_sha256_final(&w->sha, digest);
    return mn_out_write(&w->file, digest, sizeof digest, w->err);
}

mnw_status mnw_session_save(mnw_session *s, const char *path)
{
    if (!s) return MNW_E_ARG;
    mn_err_clear(&s->err);
    MN_FAIL_IF(!path, &s->err, MNW_E_ARG, "path: NULL");

    writer w = { .err = &s->err };
    mn_sha256_init(&w.sha);
    MN_TRY(mn_out_open(path, &w.file, &s->err));
    mnw_status st = write_all(&w, s);
    if (st == MNW_OK) st = mn_out_commit(&w.file, &s->err);
    if (st != MNW_OK) mn_out_abandon(&w.file);
    return st;
}

/* Magic, version and lengths: enough to know where the digest is. */
static mnw_status read_header(mn_cursor *c, size_t size, header *h, mn_err *err)
{
    const mn_str magic = mn_cursor_text(c, sizeof MAGIC);
    h->version = mn_cursor_u32(c);
    h->kv_type = mn_cursor_u32(c);
    const uint32_t zero = mn_cursor_u32(c);
    const uint8_t *model = mn_cursor_take(c, sizeof h->model);
    h->n = mn_cursor_u64(c);
    h->token_bytes = mn_cursor_u64(c);
    h->cache_bytes = mn_cursor_u64(c);
    MN_FAIL_IF(c->bad, err, MNW_E_CORRUPT, "session file: %zu bytes, expected at least %d", size,
               HEADER_BYTES + MN_SHA256_BYTES);
    MN_FAIL_IF(memcmp(magic.p, MAGIC, sizeof MAGIC) != 0 || zero != 0, err, MNW_E_CORRUPT,
               "session file: does not begin with MNWS");
    MN_FAIL_IF(h->version != VERSION, err, MNW_E_UNSUPPORTED,
               "session file: version %u, minnow reads %d", h->version, VERSION);
    memcpy(h->model, model, sizeof h->model);

    uint64_t expected = HEADER_BYTES + MN_SHA256_BYTES;
    MN_FAIL_IF(!mn_add_u64(expected, h->token_bytes, &expected) ||
                   !mn_add_u64(expected, h->cache_bytes, &expected) || expected != size,
               err, MNW_E_CORRUPT,
               "session file: %zu bytes, expected %" PRIu64 " of tokens, %" PRIu64
               " of cache and %d",
               size, h->token_bytes, h->cache_bytes, HEADER_BYTES + MN_SHA256_BYTES);
    return MNW_OK;
}

static mnw_status check_digest(mn_bytes file, mn_err *err)
{
    const size_t covered = file.n - MN_SHA256_BYTES;
    uint8_t      digest[MN_SHA256_BYTES];
    mn_sha256    sha;
    mn_sha256_init(&sha);
    mn_sha256_add(&sha, file.p, covered);
    mn_sha256_final(&sha, digest);
    MN_FAIL_IF(memcmp(digest, file.p + covered, sizeof digest) != 0, err, MNW_E_CORRUPT,
               "session file: SHA-256 does not match, the file is damaged");
    return MNW_OK;
}

/* Does an intact snapshot belong to this session? */
static mnw_status check_fit(const mnw_session *s, const header *h, const uint8_t *tokens,
                            mn_err *err)
{
    const header own = header_of(s);
    MN_FAIL_IF(memcmp(h->model, own.model, sizeof own.model) != 0, err, MNW_E_CORRUPT,
               "session file: saved with another model");
    MN_FAIL_IF(h->kv_type != own.kv_type, err, MNW_E_ARG,
               "session file: cache of kv_type %u, this session's is %u", h->kv_type, own.kv_type);
    MN_FAIL_IF(h->n > s->opts.n_ctx, err, MNW_E_FULL,
               "session file: %" PRIu64 " tokens, this session holds %u", h->n, s->opts.n_ctx);
    const uint64_t per_token = mn_kv_token_bytes(&s->model->config, s->opts.kv_type);
    MN_FAIL_IF(h->token_bytes != h->n * sizeof(int32_t) || h->cache_bytes != h->n * per_token, err,
               MNW_E_CORRUPT, "session file: sections of %" PRIu64 " and %" PRIu64
               " bytes, expected %" PRIu64 " and %" PRIu64 " for %" PRIu64 " tokens",
               h->token_bytes, h->cache_bytes, h->n * sizeof(int32_t), h->n * per_token, h->n);
    for (uint64_t i = 0; i < h->n; i++) {
        const uint32_t id = mn_load_u32(tokens + 4 * i);
        MN_FAIL_IF(id >= s->model->config.V, err, MNW_E_CORRUPT,
                   "session file: token %" PRIu64 " is %u, expected less than %u", i, id,
                   s->model->config.V);
    }
    return MNW_OK;
}

mnw_status mn_snapshot_apply(mnw_session *s, mn_bytes file)
{
    header    h;
    mn_cursor c = mn_cursor_of(file);
    MN_TRY(read_header(&c, file.n, &h, &s->err));
    MN_TRY(check_digest(file, &s->err));
    const uint8_t *tokens = mn_cursor_take(&c, h.token_bytes);
    MN_TRY(check_fit(s, &h, tokens, &s->err));

    const mn_kv *kv = &s->step.kv;
    const size_t n = (size_t)h.n;
    for (size_t i = 0; i < n; i++) s->tokens[i] = (int32_t)mn_load_u32(tokens + 4 * i);
    for (size_t l = 0; l < kv->L && n > 0; l++) {
        for (size_t head = 0; head < kv->K; head++) {
            mn_kv_run run[MN_KV_RUNS];
            mn_kv_runs(kv, s->step.block, l, head, run);
            for (int i = 0; i < MN_KV_RUNS; i++)
                memcpy(run[i].data, mn_cursor_take(&c, n * run[i].bytes), n * run[i].bytes);
        }
    }
    s->count = n;
    s->has_logits = false;
    return MNW_OK;
}

mnw_status mnw_session_restore(mnw_session *s, const char *path)
{
    if (!s) return MNW_E_ARG;
    mn_err_clear(&s->err);
    MN_FAIL_IF(!path, &s->err, MNW_E_ARG, "path: NULL");

    mn_map_file file = { 0 };   // read, not mapped: what was verified must be what is copied
    MN_TRY(mn_os_map(path, true, &s->model->ctx->mem, &file, &s->err));
    const mnw_status st = mn_snapshot_apply(s, file.bytes);
    mn_os_unmap(&file);
    return st;
}
