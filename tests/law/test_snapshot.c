/* SPDX-License-Identifier: Apache-2.0
 *
 * test_snapshot.c - a restored session goes on like the saved one; anything else is refused and
 * leaves the session untouched.
 */
#include <unistd.h>

#include "base/cursor.h"
#include "base/sha256.h"
#include "lab.h"
#include "run/snapshot.h"

enum { N = 45 };

static const tiny MODEL = { .arch = "qwen2", .type = MN_Q4_1, .L = 1, .D = 64, .F = 64, .P = 16 };

static char PATH[64];

static uint8_t *read_file(size_t *n)
{
    FILE *f = fopen(PATH, "rb");
    assert_non_null(f);
    static uint8_t bytes[1 << 16];
    *n = fread(bytes, 1, sizeof bytes, f);
    YES(*n < sizeof bytes);
    fclose(f);
    return bytes;
}

static void write_file(const uint8_t *bytes, size_t n)
{
    FILE *f = fopen(PATH, "wb");
    assert_non_null(f);
    EQ(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

TEST(a_restored_session_goes_on_like_the_saved_one)
{
    for (int type = MNW_KV_I8; type <= MNW_KV_F32; type++) {
        const lab_opts o = { .n_ctx = 100, .kv_type = (mnw_kv_type)type,
                             .backend = type == MNW_KV_F32 ? MNW_BACKEND_REF : MNW_BACKEND_CPU };
        lab            a, b;
        lab_open(&a, &MODEL, &o);
        lab_feed(a.session, 0, N, N);
        OK(mnw_session_save(a.session, PATH));
        lab_feed(a.session, N, N + 20, 1);
        float *expected = lab_logits(&a, a.session);
        lab_close(&a);

        lab_open(&b, &MODEL, &o);
        lab_feed(b.session, 7, 20, 13);   // to be replaced
        if (mnw_session_restore(b.session, PATH) != MNW_OK)
            fail_msg("%s", mnw_session_error(b.session));
        EQ(mnw_session_count(b.session), N);
        EQ(mnw_session_tokens(b.session)[N - 1], lab_token(N - 1));
        YES(mnw_session_logits(b.session) == NULL);
        lab_feed(b.session, N, N + 20, 20);
        lab_same_logits(&b, b.session, expected);
        free(expected);
        lab_close(&b);
    }
}

TEST(an_empty_session_can_be_saved_and_restored)
{
    lab b;
    lab_open(&b, &MODEL, &(lab_opts){ .n_ctx = 100 });
    OK(mnw_session_save(b.session, PATH));
    lab_feed(b.session, 0, 3, 3);
    OK(mnw_session_restore(b.session, PATH));
    EQ(mnw_session_count(b.session), 0);
    lab_close(&b);
}

/* A session at 10 positions that must not notice a refused restore. */
static void refuses(lab *b, mnw_status expected, const char *text)
{
    OK(mnw_session_rewind(b->session, 0));
    lab_feed(b->session, 0, 10, 10);
    float *before = lab_logits(b, b->session);
    EQ(mnw_session_restore(b->session, PATH), expected);
    HAS(mnw_session_error(b->session), text);
    EQ(mnw_session_count(b->session), 10);
    lab_same_logits(b, b->session, before);
    free(before);
    lab_feed(b->session, 10, 30, 20);
    float *after = lab_logits(b, b->session);
    OK(mnw_session_rewind(b->session, 0));
    lab_feed(b->session, 0, 30, 30);
    lab_same_logits(b, b->session, after);
    free(after);
}

TEST(a_flipped_bit_anywhere_is_refused)
{
    lab b;
    lab_open(&b, &MODEL, &(lab_opts){ .n_ctx = 100 });
    lab_feed(b.session, 0, 4, 4);
    OK(mnw_session_save(b.session, PATH));
    size_t   n;
    uint8_t *bytes = read_file(&n);
    for (size_t i = 0; i < n; i++) {
        bytes[i] ^= 0x10;
        const mnw_status st = mn_snapshot_apply(b.session, (mn_bytes){ bytes, n });
        if (st != MNW_E_CORRUPT && st != MNW_E_UNSUPPORTED) fail_msg("byte %zu: status %d", i, st);
        mn_err_clear(&b.session->err);
        bytes[i] ^= 0x10;
    }
    OK(mn_snapshot_apply(b.session, (mn_bytes){ bytes, n }));
    bytes[n / 2] ^= 1;
    write_file(bytes, n);
    refuses(&b, MNW_E_CORRUPT, "SHA-256");
    lab_close(&b);
}

TEST(a_shorter_or_longer_file_is_refused)
{
    lab b;
    lab_open(&b, &MODEL, &(lab_opts){ .n_ctx = 100 });
    lab_feed(b.session, 0, 4, 4);
    OK(mnw_session_save(b.session, PATH));
    size_t   n;
    uint8_t *bytes = read_file(&n);
    for (size_t cut = 0; cut < n; cut++) {
        EQ(mn_snapshot_apply(b.session, (mn_bytes){ bytes, cut }), MNW_E_CORRUPT);
        mn_err_clear(&b.session->err);
    }
    bytes[n] = 0;
    EQ(mn_snapshot_apply(b.session, (mn_bytes){ bytes, n + 1 }), MNW_E_CORRUPT);
    write_file(bytes, n - 1);
    refuses(&b, MNW_E_CORRUPT, "bytes, expected");
    write_file(bytes, 10);
    refuses(&b, MNW_E_CORRUPT, "expected at least");
    lab_close(&b);
}

/* What only somebody who computes a digest can do. */
static void seal(uint8_t *bytes, size_t n)
{
    mn_sha256 sha;
    mn_sha256_init(&sha);
    mn_sha256_add(&sha, bytes, n - 32);
    mn_sha256_final(&sha, bytes + n - 32);
}

TEST(a_sealed_lie_is_refused)
{
    lab b;
    lab_open(&b, &MODEL, &(lab_opts){ .n_ctx = 100 });
    lab_feed(b.session, 0, 4, 4);
    OK(mnw_session_save(b.session, PATH));
    size_t   n;
    uint8_t *bytes = read_file(&n);
    static const struct {
        size_t      at;
        uint64_t    value;
        mnw_status  expected;
        const char *text;
    } LIES[] = {
        { 48, 5, MNW_E_CORRUPT, "for 5 tokens" },            // more tokens than sections
        { 48, 101, MNW_E_FULL, "101 tokens, this session holds 100" },
        { 48, UINT64_MAX, MNW_E_FULL, "tokens" },
        { 56, UINT64_MAX, MNW_E_CORRUPT, "bytes, expected" },
        { 4, 2, MNW_E_UNSUPPORTED, "version 2" },
        { 72, 320, MNW_E_CORRUPT, "token 0 is 320" },         // and token 1 is 0
    };
    for (size_t i = 0; i < LEN(LIES); i++) {
        uint8_t keep[8];
        memcpy(keep, bytes + LIES[i].at, 8);
        if (LIES[i].at == 4) mn_store_u32(bytes + 4, (uint32_t)LIES[i].value);
        else mn_store_u64(bytes + LIES[i].at, LIES[i].value);
        seal(bytes, n);
        write_file(bytes, n);
        refuses(&b, LIES[i].expected, LIES[i].text);
        memcpy(bytes + LIES[i].at, keep, 8);
    }
    lab_close(&b);
}

TEST(another_model_cache_or_size_is_refused)
{
    lab a, b;
    lab_open(&a, &MODEL, &(lab_opts){ .n_ctx = 100 });
    lab_feed(a.session, 0, N, N);
    OK(mnw_session_save(a.session, PATH));
    lab_close(&a);

    lab_open(&b, &MODEL, &(lab_opts){ .n_ctx = 100, .kv_type = MNW_KV_I8 });
    refuses(&b, MNW_E_ARG, "kv_type 2, this session's is 1");
    lab_close(&b);
    lab_open(&b, &MODEL, &(lab_opts){ .n_ctx = N - 1 });
    refuses(&b, MNW_E_FULL, "45 tokens, this session holds 44");
    lab_close(&b);
    tiny other = MODEL;
    other.n_ctx = 128;
    lab_open(&b, &other, &(lab_opts){ .n_ctx = 100 });
    refuses(&b, MNW_E_CORRUPT, "another model");
    lab_close(&b);
}

TEST(a_file_that_cannot_be_opened_is_named)
{
    lab b;
    lab_open(&b, &MODEL, &(lab_opts){ .n_ctx = 100 });
    EQ(mnw_session_restore(b.session, "/no/such/file"), MNW_E_NOENT);
    HAS(mnw_session_error(b.session), "/no/such/file");
    NE(mnw_session_save(b.session, "/no/such/folder/file"), MNW_OK);
    HAS(mnw_session_error(b.session), "/no/such/folder/file");
    EQ(mnw_session_save(b.session, NULL), MNW_E_ARG);
    EQ(mnw_session_restore(b.session, NULL), MNW_E_ARG);
    lab_close(&b);
}

int main(void)
{
    snprintf(PATH, sizeof PATH, "/tmp/minnow-snapshot-%ld", (long)getpid());
    const int failed = RUN(
        T(a_restored_session_goes_on_like_the_saved_one),
        T(an_empty_session_can_be_saved_and_restored), T(a_flipped_bit_anywhere_is_refused),
        T(a_shorter_or_longer_file_is_refused), T(a_sealed_lie_is_refused),
        T(another_model_cache_or_size_is_refused), T(a_file_that_cannot_be_opened_is_named));
    unlink(PATH);
    return failed;
}
