/* SPDX-License-Identifier: Apache-2.0
 *
 * minnow/chat.h - chat templates: messages to the exact prompt a model was trained on.
 *
 * Messages are the JSON everybody uses: an array of {"role": ..., "content": ...}, or an object
 * {"messages": [...], "tools": [...]}.  The template comes from the model file; it is run by a small
 * interpreter with limits on steps, depth and output.  Text from the messages is marked as such all
 * the way, so it can never turn into a control token.
 *
 *     const char *msgs = "[{\"role\":\"user\",\"content\":\"Hi\"}]";
 *     mnw_chat_encode(model, msgs, strlen(msgs), NULL, ids, cap, &n);
 */
#ifndef MINNOW_CHAT_H
#define MINNOW_CHAT_H

#include <minnow/tokenizer.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mnw_thinking {
    MNW_THINKING_DEFAULT = 0,   // whatever the template does by itself
    MNW_THINKING_OFF = 1,       // enable_thinking=false
    MNW_THINKING_ON = 2,        // enable_thinking=true
} mnw_thinking;

typedef struct mnw_chat_opts {
    size_t       size;                    // sizeof(mnw_chat_opts)
    bool         no_generation_prompt;    // do not open the assistant's turn at the end
    mnw_thinking thinking;
    const char  *chat_template;           // use this one               [the model's]
    int64_t      now;                     // seconds since 1970 for strftime_now, 0 = the clock
} mnw_chat_opts;

/* Render messages to prompt text.
 *
 * Writes at most `cap` bytes and a NUL to `buf`; sets *len to the length without NUL.
 * Errors: MNW_E_BUFFER; MNW_E_FORMAT for bad JSON; MNW_E_TEMPLATE with line and reason (also
 *         what the template raises itself); MNW_E_LIMIT for steps, depth or size.
 *         mnw_ctx_error() of the model's context has the text.
 * Allocs: working memory, freed on return. */
MNW_API mnw_status mnw_chat_render(mnw_model *m, const char *messages, size_t messages_len,
                                   const mnw_chat_opts *opts, char *buf, size_t cap, size_t *len);

/* Render and encode messages: the template's own text with control tokens, text from the messages
 * without.  One BOS at most.
 *
 * Sets *n to the ids needed; writes at most `cap`.  Errors: as mnw_chat_render. */
MNW_API mnw_status mnw_chat_encode(mnw_model *m, const char *messages, size_t messages_len,
                                   const mnw_chat_opts *opts, int32_t *ids, size_t cap, size_t *n);

#ifdef __cplusplus
}
#endif
#endif
