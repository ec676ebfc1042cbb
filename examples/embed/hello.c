/* SPDX-License-Identifier: Apache-2.0
 *
 * hello.c - the smallest application: open a model, ask it something, print as it comes.
 *
 *     cc hello.c $(pkg-config --cflags --libs --static minnow) -o hello
 *     ./hello model.gguf "Why is the sky blue?"
 */
#include <minnow/minnow.h>
#include <stdio.h>
#include <string.h>

static bool print(void *user, const mnw_event *event)
{
    (void)user;
    if (event->kind == MNW_EVENT_TEXT) fwrite(event->text, 1, event->text_len, stdout);
    fflush(stdout);
    return true; // false would stop the answer
}

static mnw_status ask(mnw_ctx *ctx, mnw_model *model, const char *messages)
{
    int32_t ids[2048];
    size_t n = 0;
    mnw_session *session = NULL;
    mnw_sampler *sampler = NULL;

    mnw_status st = mnw_chat_encode(model, messages, strlen(messages), NULL, ids, 2048, &n);
    if (st == MNW_OK) st = mnw_session_open(model, NULL, &session);
    if (st == MNW_OK) st = mnw_sampler_open(ctx, NULL, &sampler);
    if (st == MNW_OK) {
        const mnw_generate_opts opts = { .size = sizeof opts, .max_tokens = 64 };
        st = mnw_generate(session, sampler, ids, n, &opts, print, NULL, NULL);
    }
    mnw_sampler_close(sampler);
    mnw_session_close(session);
    return st;
}

int main(int argc, char **argv)
{
    mnw_ctx *ctx = NULL;
    mnw_model *model = NULL;
    char messages[1024];
    if (argc != 3 || strpbrk(argv[2], "\"\\\n")) {
        fprintf(stderr, "usage: hello MODEL PROMPT (without quotes or backslashes: it goes into "
                        "JSON as it is)\n");
        return 2;
    }
    snprintf(messages, sizeof messages, "[{\"role\": \"user\", \"content\": \"%s\"}]", argv[2]);

    mnw_status st = mnw_ctx_open(NULL, &ctx);
    if (st == MNW_OK) st = mnw_model_open(ctx, argv[1], NULL, &model);
    if (st == MNW_OK) st = ask(ctx, model, messages);
    if (st != MNW_OK)
        fprintf(stderr, "hello: %s\n", ctx ? mnw_ctx_error(ctx) : mnw_status_text(st));
    putchar('\n');
    mnw_model_close(model);
    mnw_ctx_close(ctx);
    return st != MNW_OK;
}
