/* SPDX-License-Identifier: Apache-2.0
 *
 * template.h - chat templates: the Jinja subset that published model files use, run safely.
 *
 * A template is compiled once to a flat program and then rendered with messages in JSON.  The result
 * agrees byte for byte with jinja2 as transformers sets it up (trim_blocks, lstrip_blocks, loop
 * controls, the immutable sandbox, its own tojson).  docs/TEMPLATES.md lists what is understood.
 *
 * Every byte of the result knows where it came from: from the template (trusted) or from the
 * messages.  Concatenation, slices, filters and methods keep that knowledge, so the encoder can
 * recognise control tokens in the template's own text and nowhere else.
 *
 *     mn_template *t;
 *     mn_template_text out;
 *     MN_TRY(mn_template_compile(mem, mn_str_of(source), &t, err));
 *     MN_TRY(mn_template_render(t, mem, &(mn_template_args){ .messages = json }, &out, err));
 */
#ifndef MN_TEXT_TEMPLATE_H
#define MN_TEXT_TEMPLATE_H

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/err.h"

enum {
    MN_TEMPLATE_SOURCE_MAX = 1 << 20,   // bytes of a template
    MN_TEMPLATE_OUTPUT_MAX = 4 << 20,   // bytes of the result, and of any text on the way
    MN_TEMPLATE_MEMORY_MAX = 64 << 20,  // bytes a rendering may work with
    MN_TEMPLATE_STEPS_MAX = 1000000,    // instructions, and long loops inside them
    MN_TEMPLATE_DEPTH_MAX = 64,         // nested blocks, brackets, calls and values
};

typedef struct mn_template mn_template;

typedef struct mn_template_args {
    mn_str  messages;                // JSON: an array of messages, or an object of variables
    mn_str  bos, eos;                // bos_token and eos_token; p NULL = undefined
    bool    no_generation_prompt;    // add_generation_prompt=false
    int     thinking;                // enable_thinking: 0 = not given, 1 = false, 2 = true
    int64_t now;                     // for strftime_now: seconds since 1970, read as UTC
} mn_template_args;

typedef struct mn_template_text {
    char    *text;      // NUL-terminated
    uint8_t *trusted;   // [len] 1 = this byte is the template's own
    size_t   len;
} mn_template_text;

/* Compile.  Errors: MNW_E_TEMPLATE with line and reason; MNW_E_LIMIT; MNW_E_NOMEM. */
mnw_status mn_template_compile(mn_mem *mem, mn_str source, mn_template **out, mn_err *err);

/* Render.  *out is the caller's, and empty on error; a template may be shared between threads.
 *
 * Errors: as above, the text of raise_exception() included; MNW_E_FORMAT for bad JSON. */
mnw_status mn_template_render(const mn_template *t, mn_mem *mem, const mn_template_args *args,
                              mn_template_text *out, mn_err *err);

/* Free what a rendering gave.  Zeroed is fine. */
void mn_template_text_done(mn_mem *mem, mn_template_text *text);

/* NULL is allowed. */
void mn_template_free(mn_mem *mem, mn_template *t);

#endif
