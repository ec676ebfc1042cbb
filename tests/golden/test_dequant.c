/* SPDX-License-Identifier: Apache-2.0
 *
 * test_dequant.c - the meaning of every weight type's bytes, against the `gguf` package.
 */
#include "test.h"

#include "kernel/kernels.h"

enum { LINE_MAX_CHARS = 8 * 256 + 64 };

static size_t read_hex(const char *line, uint8_t *out)
{
    size_t   n = 0;
    unsigned byte;
    for (; sscanf(line + 2 * n, "%2x", &byte) == 1; n++) out[n] = (uint8_t)byte;
    return n;
}

/* Each block of a vector file expands to exactly the values that follow it. */
static void check_file(const mn_dtype *t)
{
    char path[512], line[LINE_MAX_CHARS];
    snprintf(path, sizeof path, TEST_DIR "/golden/dequant/%s.vec", t->name);
    FILE *f = fopen(path, "r");
    if (!f) fail_msg("cannot open %s", path);
    int blocks = 0;
    while (fgets(line, sizeof line, f)) {
        if (line[0] == '#') continue;
        uint8_t block[256], bytes[1024];
        EQ(read_hex(line, block), t->block_bytes);
        YES(fgets(line, sizeof line, f) != NULL);
        EQ(read_hex(line, bytes), 4 * t->block);

        float y[256];
        mn_dequantize(y, block, t->id, t->block);
        for (size_t i = 0; i < t->block; i++) {
            const uint8_t *b = bytes + 4 * i;
            const uint32_t want = (uint32_t)b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3];
            uint32_t       got;
            memcpy(&got, y + i, 4);
            if (got != want && (got | want) != 0x80000000) {   // the sign of zero is nobody's
                fail_msg("%s, block %d, value %zu: %08x, expected %08x", t->name, blocks, i, got,
                         want);
            }
        }
        blocks++;
    }
    fclose(f);
    YES(blocks >= 8);
}

TEST(every_type_expands_as_the_gguf_package_expands_it)
{
    static const mn_dtype_id types[] = { MN_F16,  MN_BF16, MN_Q4_0, MN_Q4_1, MN_Q5_0,
                                         MN_Q5_1, MN_Q8_0, MN_Q4_K, MN_Q5_K, MN_Q6_K };
    for (size_t i = 0; i < LEN(types); i++) check_file(mn_dtype_from_id(types[i]));
}

TEST(integers_and_floats_expand_to_themselves)
{
    const float   f[3] = { -1.5f, 0.0f, 3e38f };
    const int8_t  i8[3] = { -128, 0, 127 };
    const int32_t i32[3] = { INT32_MIN, 7, 1 << 24 };
    float         y[3];
    mn_dequantize(y, f, MN_F32, 3);
    EQ_MEM(y, f, sizeof f);
    mn_dequantize(y, i8, MN_I8, 3);
    YES(y[0] == -128.0f && y[1] == 0.0f && y[2] == 127.0f);
    mn_dequantize(y, i32, MN_I32, 3);
    YES(y[0] == -2147483648.0f && y[1] == 7.0f && y[2] == 16777216.0f);
}

int main(void)
{
    return RUN(T(every_type_expands_as_the_gguf_package_expands_it),
               T(integers_and_floats_expand_to_themselves));
}
