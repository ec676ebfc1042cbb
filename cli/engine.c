/* SPDX-License-Identifier: Apache-2.0
 *
 * engine.c - open what a command needs, and explain what could not be opened.
 */
#include "cli/engine.h"

#include <stdlib.h>
#include <string.h>

#include "cli/say.h"

static void on_log(void *user, mnw_log_level level, const char *line)
{
    (void)user;
    (void)level;
    cli_error("%s", line);
}

static void on_warning(void *user, mnw_warning w, const char *text)
{
    cli_engine *e = user;
    cli_error("warning: %s [%s]", text, mnw_warning_id(w));
    json_array_append_new(e->warnings, json_pack("{s:s, s:o}", "id", mnw_warning_id(w), "text",
                                                 cli_json_text(text, strlen(text))));
}

/* A bar for each piece of work, told apart by its name. */
static bool on_progress(void *user, const char *what, uint64_t done, uint64_t total)
{
    cli_engine *e = user;
    if (e->bars && strcmp(e->doing, what) != 0) {
        cli_progress_end(e);
        snprintf(e->doing, sizeof e->doing, "%s", what);
        cli_bar_start(&e->bar, e->doing, e->common->quiet, done, total);
    }
    if (e->bars) cli_bar_move(&e->bar, done);
    return !cli_interrupted();
}

void cli_progress_end(cli_engine *e)
{
    cli_bar_end(&e->bar);
    e->doing[0] = 0;
}

int cli_open_ctx(cli_engine *e, const cli_common *common)
{
    *e = (cli_engine){ .common = common, .warnings = json_array() };
    const mnw_ctx_opts o = {
        .size = sizeof o,
        .threads = common->threads,
        .cpu = common->cpu,
        .strict = common->strict,
        .log = on_log,
        .log_level = common->verbose ? MNW_LOG_INFO : MNW_LOG_WARN,
        .warn = on_warning,
        .warn_user = e,
        .progress = on_progress,
        .progress_user = e,
    };
    const mnw_status st = mnw_ctx_open(&o, &e->ctx);
    if (st == MNW_E_ARG && common->cpu)
        cli_error("--cpu %s: expected one of: scalar avx2 avxvnni avx512 amx neon dotprod i8mm",
                  common->cpu);
    else if (st)
        cli_error("%s", mnw_status_text(st));
    return cli_exit(st);
}

int cli_fail(const cli_engine *e, mnw_status st, const char *what)
{
    const char *text = e->session ? mnw_session_error(e->session) : "";
    if (!*text && e->ctx) text = mnw_ctx_error(e->ctx);
    if (!*text) text = mnw_status_text(st);
    if (strncmp(text, what, strlen(what)) == 0)
        cli_error("%s", text); // it names the place itself
    else
        cli_error("%s: %s", what, text);
    return cli_exit(st);
}

int cli_open_model(cli_engine *e, const char *path, const cli_model_args *a)
{
    const mnw_model_opts o = { .size = sizeof o, .backend = (mnw_backend)a->backend };
    const mnw_status st = mnw_model_open(e->ctx, path, &o, &e->model);
    return st ? cli_fail(e, st, path) : CLI_DONE;
}

int cli_open_session(cli_engine *e, const cli_model_args *a)
{
    const mnw_session_opts o = { .size = sizeof o,
                                 .n_ctx = a->n_ctx,
                                 .kv_type = (mnw_kv_type)a->kv,
                                 .precision = (mnw_precision)a->precision };
    const mnw_status st = mnw_session_open(e->model, &o, &e->session);
    return st ? cli_fail(e, st, "session") : CLI_DONE;
}

int cli_open_sampler(cli_engine *e, const cli_sample_args *a)
{
    const mnw_sampler_opts o = {
        .size = sizeof o,
        .temperature = a->temp,
        .top_k = a->top_k,
        .top_p = a->top_p,
        .min_p = a->min_p,
        .repeat_penalty = a->repeat_penalty,
        .seed = a->seed,
    };
    const mnw_status st = mnw_sampler_open(e->ctx, &o, &e->sampler);
    return st ? cli_fail(e, st, "sampler") : CLI_DONE;
}

void cli_close(cli_engine *e)
{
    cli_interrupt_watch(NULL, false);
    mnw_sampler_close(e->sampler);
    mnw_session_close(e->session);
    mnw_model_close(e->model);
    mnw_ctx_close(e->ctx);
    json_decref(e->warnings);
    *e = (cli_engine){ 0 };
}

mnw_thinking cli_thinking(const cli_sample_args *a)
{
    return a->no_think ? MNW_THINKING_OFF : a->think ? MNW_THINKING_ON : MNW_THINKING_DEFAULT;
}

int cli_encode(const cli_engine *e, const mnw_tokenizer *tok, const char *text, size_t len,
               unsigned flags, int32_t **ids, size_t *n)
{
    size_t cap = len / 2 + 16;
    *ids = cli_alloc(cap * sizeof **ids);
    mnw_status st = mnw_tokenizer_encode(tok, text, len, flags, *ids, cap, n);
    if (st == MNW_E_BUFFER) {
        cap = *n;
        *ids = cli_grow(*ids, cap * sizeof **ids);
        st = mnw_tokenizer_encode(tok, text, len, flags, *ids, cap, n);
    }
    return st ? cli_fail(e, st, "text") : CLI_DONE;
}

int cli_encode_chat(const cli_engine *e, const json_t *messages, const mnw_chat_opts *opts,
                    int32_t **ids, size_t *n)
{
    char *text = json_dumps(messages, JSON_COMPACT);
    if (!text) {
        cli_error("messages: out of memory");
        return CLI_INTERNAL;
    }
    const size_t len = strlen(text);
    size_t cap = len / 2 + 64;
    *ids = cli_alloc(cap * sizeof **ids);
    mnw_status st = mnw_chat_encode(e->model, text, len, opts, *ids, cap, n);
    if (st == MNW_E_BUFFER) {
        cap = *n;
        *ids = cli_grow(*ids, cap * sizeof **ids);
        st = mnw_chat_encode(e->model, text, len, opts, *ids, cap, n);
    }
    free(text);
    return st ? cli_fail(e, st, "chat template") : CLI_DONE;
}

int cli_encode_prompt(const cli_engine *e, const char *prompt, const char *system, bool raw,
                      mnw_thinking thinking, int32_t **ids, size_t *n)
{
    size_t len = strlen(prompt);
    char *read = NULL;
    int rc;
    if (strcmp(prompt, "-") == 0) {
        read = cli_read("-", &len);
        if (!read) return CLI_IO;
        prompt = read;
    }
    if (raw) {
        const mnw_tokenizer *tok = mnw_model_tokenizer(e->model);
        if (tok) {
            rc = cli_encode(e, tok, prompt, len, MNW_ENCODE_BOS | MNW_ENCODE_SPECIAL, ids, n);
        } else {
            cli_error("the model file has no tokenizer");
            rc = CLI_BAD_DATA;
        }
    } else {
        json_t *messages = json_array();
        if (system)
            json_array_append_new(messages, json_pack("{s:s, s:o}", "role", "system", "content",
                                                      cli_json_text(system, strlen(system))));
        json_array_append_new(messages, json_pack("{s:s, s:o}", "role", "user", "content",
                                                  cli_json_text(prompt, len)));
        const mnw_chat_opts o = { .size = sizeof o, .thinking = thinking };
        rc = cli_encode_chat(e, messages, &o, ids, n);
        json_decref(messages);
    }
    free(read);
    return rc;
}

/* Length of the well-formed UTF-8 sequence at p, 0 if there is none. */
static size_t sequence(const unsigned char *p, size_t n)
{
    if (p[0] < 0x80) return 1;
    const size_t want = p[0] >= 0xC2 && p[0] <= 0xDF   ? 2
                        : p[0] >= 0xE0 && p[0] <= 0xEF ? 3
                        : p[0] >= 0xF0 && p[0] <= 0xF4 ? 4
                                                       : 0;
    if (!want || want > n) return 0;
    for (size_t i = 1; i < want; i++)
        if ((p[i] & 0xC0) != 0x80) return 0;
    if (p[0] == 0xE0 && p[1] < 0xA0) return 0; // overlong
    if (p[0] == 0xED && p[1] > 0x9F) return 0; // surrogate
    if (p[0] == 0xF0 && p[1] < 0x90) return 0; // overlong
    if (p[0] == 0xF4 && p[1] > 0x8F) return 0; // beyond U+10FFFF
    return want;
}

json_t *cli_json_text(const char *bytes, size_t n)
{
    char *clean = cli_alloc(3 * n + 1);
    size_t len = 0;
    for (size_t i = 0; i < n;) {
        const size_t k = sequence((const unsigned char *)bytes + i, n - i);
        memcpy(clean + len, k ? bytes + i : "\xEF\xBF\xBD", k ? k : 3);
        len += k ? k : 3;
        i += k ? k : 1;
    }
    json_t *s = json_stringn(clean, len);
    free(clean);
    return s;
}

int cli_print_json(json_t *value)
{
    const int bad = json_dumpf(value, stdout,
                               JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));
    json_decref(value);
    putchar('\n');
    const int rc = cli_flush();
    return rc ? rc : bad ? CLI_INTERNAL : CLI_DONE;
}
