/* SPDX-License-Identifier: Apache-2.0
 *
 * test_golden_template.c - templates render as jinja2 renders them, byte for byte.
 *
 * The vectors are made by tools/golden_template.py.  Where they have "error", jinja2 refused as well.
 */
#include "test.h"

#include "base/json.h"
#include "text/template.h"

static mn_mem mem;

static char *read_file(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    char *p = malloc(1 << 21);
    *n = fread(p, 1, (1 << 21) - 1, f);
    p[*n] = '\0';
    fclose(f);
    return p;
}

/* A JSON string at `s`, decoded; the caller frees. */
static char *decode(const char *s, size_t *n)
{
    mn_json j;
    mn_json_init(&j, (mn_bytes){ (const uint8_t *)s, strcspn(s, "\n") });
    EQ(mn_json_next(&j), MN_JSON_STRING);
    char *out = malloc(j.raw.n + 1);
    *n = mn_json_text(&j, out, j.raw.n);
    out[*n] = '\0';
    return out;
}

/* The template of a tokenizer_config.json. */
static char *from_config(char *config, size_t *n)
{
    mn_json j;
    mn_json_init(&j, (mn_bytes){ (const uint8_t *)config, *n });
    char *out = NULL;
    OK(mn_json_expect(&j, MN_JSON_OBJECT, NULL));
    while (mn_json_next(&j) == MN_JSON_KEY) {
        if (!mn_json_key_is(&j, "chat_template")) {
            mn_json_skip(&j);
            continue;
        }
        EQ(mn_json_next(&j), MN_JSON_STRING);
        out = malloc(j.raw.n + 1);
        *n = mn_json_text(&j, out, j.raw.n);
    }
    free(config);
    return out;
}

static char *load_template(const char *line, size_t *n)
{
    char name[64], path[1200];
    sscanf(line, "template %63s", name);
    snprintf(path, sizeof path, "%s/golden/template/%s", TEST_DIR, name);
    char *source = read_file(path, n);
    if (source) return source;
    const char *data = NULL;
    if (!strcmp(name, "qwen3.jinja")) data = test_data("tokenizers/qwen3/chat_template.jinja");
    if (!strcmp(name, "minimind.jinja")) data = test_data("tokenizers/minimind-tokenizer_config.json");
    if (!data) return NULL;
    source = read_file(data, n);
    return strcmp(name, "minimind.jinja") ? source : from_config(source, n);
}

/* Run every record of a file; false if the template is not there. */
static bool run_file(const char *name)
{
    char   path[1200];
    size_t n, n_source = 0, n_json = 0, records = 0;
    snprintf(path, sizeof path, "%s/golden/template/%s", TEST_DIR, name);
    char *text = read_file(path, &n), *source = NULL, *json = NULL;
    assert_non_null(text);
    int       generation = 1, thinking = 0;
    long long now = 0;
    for (char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        if (!strncmp(at, "template ", 9) || !strncmp(at, "source ", 7)) {
            free(source);
            source = *at == 't' ? load_template(at, &n_source) : decode(at + 7, &n_source);
            if (!source) {
                free(text);
                return false;
            }
        } else if (!strncmp(at, "json ", 5)) {
            free(json);
            json = decode(at + 5, &n_json);
        } else if (!strncmp(at, "flags ", 6)) {
            EQ(sscanf(at, "flags %d %d %lld", &generation, &thinking, &now), 3);
        } else if (!strncmp(at, "text ", 5) || !strncmp(at, "error", 5)) {
            mn_err           err = { 0 };
            mn_template     *t = NULL;
            mn_template_text out = { 0 };
            mnw_status       st = mn_template_compile(&mem, (mn_str){ source, n_source }, &t, &err);
            if (st == MNW_OK) {
                st = mn_template_render(t, &mem,
                                        &(mn_template_args){ .messages = { json, n_json },
                                                             .bos = mn_str_of("<s>"),
                                                             .eos = mn_str_of("</s>"),
                                                             .no_generation_prompt = !generation,
                                                             .thinking = thinking,
                                                             .now = now },
                                        &out, &err);
            }
            if (*at == 'e') {
                if (st == MNW_OK) fail_msg("%s: rendered, but jinja2 refused: %s", name, source);
                EQ(st, MNW_E_TEMPLATE);
                HAS(err.text, "chat template");
            } else {
                size_t want_n;
                char  *want = decode(at + 5, &want_n);
                if (st != MNW_OK) fail_msg("%s: %s: %s", name, source, err.text);
                if (want_n != out.len || memcmp(want, out.text, out.len)) {
                    fail_msg("%s: %s\ngot  %s\nwant %s", name, source, out.text, want);
                }
                free(want);
            }
            mn_template_text_done(&mem, &out);
            mn_template_free(&mem, t);
            records++;
        }
    }
    YES(records > 10);
    free(source);
    free(json);
    free(text);
    EQ(atomic_load(&mem.live), 0);
    return true;
}

#define GOLDEN(test, file)                                          \
    TEST(test)                                                      \
    {                                                               \
        mn_mem_init(&mem, NULL, NULL);                              \
        if (!run_file(file)) SKIP("the template of %s", file);      \
    }

GOLDEN(the_language_means_what_jinja2_says, "language.vec")
GOLDEN(qwen3_renders_as_published, "qwen3.vec")
GOLDEN(minimind_renders_as_published, "minimind.vec")
GOLDEN(chatml_renders_as_jinja2_does, "chatml.vec")
GOLDEN(header_templates_render_as_jinja2_does, "headers.vec")
GOLDEN(turn_templates_render_as_jinja2_does, "turns.vec")
GOLDEN(instruct_templates_render_as_jinja2_does, "instruct.vec")
GOLDEN(role_token_templates_render_as_jinja2_does, "bars.vec")
GOLDEN(macro_templates_render_as_jinja2_does, "macros.vec")

int main(void)
{
    return RUN(T(the_language_means_what_jinja2_says), T(qwen3_renders_as_published),
               T(minimind_renders_as_published), T(chatml_renders_as_jinja2_does),
               T(header_templates_render_as_jinja2_does), T(turn_templates_render_as_jinja2_does),
               T(instruct_templates_render_as_jinja2_does),
               T(role_token_templates_render_as_jinja2_does), T(macro_templates_render_as_jinja2_does));
}
