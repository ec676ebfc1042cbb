/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_session_file.c - a session file from anywhere: refused with a reason, or restored and usable.
 *
 * The digest at the end would stop every mutation, so half of the inputs get a right one.
 */
#include <minnow/minnow.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "run/snapshot.h"
#include "../tiny.h"

static struct {
    tiny_file    file;
    mnw_ctx     *ctx;
    mnw_model   *model;
    mnw_session *session;
} lab;

static void open_lab(void)
{
    const tiny t = { .L = 1, .D = 32, .H = 2, .K = 1, .P = 16, .F = 32, .no_tokenizer = true };
    const mnw_session_opts o = { .n_ctx = 16 };
    lab.file = tiny_build(&t);
    if (mnw_ctx_open(&(mnw_ctx_opts){ .threads = 1 }, &lab.ctx) != MNW_OK ||
        mnw_model_open_memory(lab.ctx, lab.file.data, lab.file.size, NULL, &lab.model) != MNW_OK ||
        mnw_session_open(lab.model, &o, &lab.session) != MNW_OK)
        abort();
}

/* Overwrite what an attacker who knows the format would get right. */
static void seal(uint8_t *p, size_t n, bool lengths)
{
    uint8_t hash[32];
    mn_sha256 sha;
    if (n < 104) return;
    mn_model_hash(lab.model, hash);
    memcpy(p, "MNWS\1\0\0\0\1\0\0\0\0\0\0\0", 16);
    memcpy(p + 16, hash, sizeof hash);
    if (lengths) {
        const uint64_t tokens = (n - 104) / (4 + mn_kv_token_bytes(&lab.model->config, MNW_KV_I8));
        const uint64_t section[3] = { tokens, 4 * tokens, n - 104 - 4 * tokens };
        memcpy(p + 48, section, sizeof section);
    }
    mn_sha256_init(&sha);
    mn_sha256_add(&sha, p, n - 32);
    mn_sha256_final(&sha, p + n - 32);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!lab.session) open_lab();
    if (size == 0) return 0;
    const unsigned mode = data[0] % 4;   // as it is (2 of 4), sealed, sealed with right lengths
    uint8_t       *copy = malloc(size);
    if (!copy) return 0;
    memcpy(copy, data + 1, size - 1);
    if (mode > 1) seal(copy, size - 1, mode == 3);

    mn_err_clear(&lab.session->err);
    if (mn_snapshot_apply(lab.session, (mn_bytes){ copy, size - 1 }) == MNW_OK) {
        if (mnw_session_count(lab.session) < mnw_session_capacity(lab.session))
            if (mnw_session_feed(lab.session, &(int32_t){ 1 }, 1) != MNW_OK) abort();
    } else if (mnw_session_error(lab.session)[0] == '\0') {
        abort();   // a refusal must explain itself
    }
    free(copy);
    return 0;
}
