/* SPDX-License-Identifier: Apache-2.0
 *
 * The published stories260K checkpoint, if it is at hand, is converted without losing a bit.
 */
#include "gguf_bytes.h"
#include "tmpdir.h"

#include <minnow/convert.h>

TEST(stories260k_keeps_every_weight)
{
    char        model[1024];
    const char *path = test_data("weights/stories260K.bin");
    if (!path) SKIP("weights/stories260K.bin is not there");
    snprintf(model, sizeof model, "%s", path);
    path = test_data("weights/tok512.bin");
    if (!path) SKIP("weights/tok512.bin is not there");
    mnw_ctx *ctx;
    OK(mnw_ctx_open(&(mnw_ctx_opts){ .threads = 1 }, &ctx));
    const size_t before = mnw_ctx_memory(ctx, NULL);
    if (mnw_convert_llama2c(ctx, model, path, tmp_path("s.gguf")) != MNW_OK) {
        fail_msg("%s", mnw_ctx_error(ctx));
    }
    EQ(mnw_ctx_memory(ctx, NULL), before);
    mnw_ctx_close(ctx);

    blob     b = { 0 };
    size_t   n;
    opened   o;
    uint8_t *old = tmp_read(model, &n);
    b.p = tmp_read(tmp_path("s.gguf"), &b.n);
    open_blob(&o, &b);
    OK(o.st);

    /* D 64, F 172, 5 layers, 8 and 4 heads of 8, 512 tokens, 512 positions, head tied. */
    enum { D = 64, F = 172, L = 5, KP = 32, V = 512, HEADER = 28 };
    uint64_t v;
    OK(mn_meta_u64(&o.c, "llama.feed_forward_length", 1000, 0, &v, &o.err));
    EQ(v, F);
    EQ(o.c.n_tensors, 2 + 9 * L);
    EQ_MEM(mn_tensor_find(&o.c, mn_str_of("token_embd.weight"))->data, old + HEADER, 4 * V * D);
    const size_t wk = HEADER + 4 * (V * D + L * D + L * D * D);
    EQ_MEM(mn_tensor_find(&o.c, mn_str_of("blk.3.attn_k.weight"))->data, old + wk + 4 * 3 * KP * D,
           4 * KP * D);
    const size_t w3 = wk + 4 * (2 * L * KP * D + L * D * D + L * D + 2 * L * F * D);
    EQ_MEM(mn_tensor_find(&o.c, mn_str_of("blk.4.ffn_up.weight"))->data, old + w3 + 4 * 4 * F * D,
           4 * F * D);
    EQ_MEM(mn_tensor_find(&o.c, mn_str_of("output_norm.weight"))->data, old + w3 + 4 * L * F * D,
           4 * D);

    const mn_meta_item *type;
    OK(mn_meta_ints(&o.c, "tokenizer.ggml.token_type", &type, &o.err));
    for (uint64_t i = 3; i < 259; i++) EQ(mn_meta_int_at(type, i), 6);   // one token a byte
    EQ(mn_meta_int_at(type, 259), 1);
    close_blob(&o);
    free(old);
    free(b.p);
}

int main(void)
{
    tmp_open();
    const int failed = RUN(T(stories260k_keeps_every_weight));
    tmp_close();
    return failed;
}
