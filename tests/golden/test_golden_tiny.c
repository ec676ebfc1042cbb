/* SPDX-License-Identifier: Apache-2.0
 *
 * test_golden_tiny.c - the readable backend agrees with transformers in float64, at every position
 * of every model in tests/golden/tiny (made by tools/mktiny.py; origin in each vector's head).
 */
#include "vectors.h"

static const char *const MODELS[] = { "llama", "llama-untied", "llama-linear", "llama-llama3",
                                      "qwen2", "qwen2-yarn", "qwen3" };

TEST(ref_agrees_with_transformers_in_float64)
{
    for (size_t i = 0; i < LEN(MODELS); i++) {
        char path[512];
        snprintf(path, sizeof path, TEST_DIR "/golden/tiny/%s.gguf", MODELS[i]);
        check_vector(path, "tiny", MODELS[i]);
    }
}

int main(void)
{
    return RUN(T(ref_agrees_with_transformers_in_float64));
}
