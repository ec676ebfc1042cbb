/* SPDX-License-Identifier: Apache-2.0
 *
 * answer.c - generate: text streams out, Ctrl-C stops it, figures follow.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/engine.h"
#include "cli/say.h"

static mnw_session *volatile watched;
static volatile sig_atomic_t interrupts, idle_now;

static void on_interrupt(int number)
{
    (void)number;
    interrupts++;
    if (idle_now || interrupts > 1) _exit(CLI_INTERRUPTED);
    if (watched) mnw_session_cancel(watched);
}

void cli_interrupt_watch(mnw_session *s, bool idle)
{
    static bool installed;
    watched = s;
    idle_now = idle;
    interrupts = 0;
    if (installed) return;
    installed = true;
    struct sigaction a = { .sa_handler = on_interrupt };
    sigemptyset(&a.sa_mask);
    sigaction(SIGINT, &a, NULL);
}

bool cli_interrupted(void)
{
    return interrupts > 0;
}

/* A model may not steer the reader's terminal: control characters but newline and tab are shown. */
static void print(const char *text, size_t n, bool terminal)
{
    if (!terminal) {
        fwrite(text, 1, n, stdout);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)text[i];
        if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F)
            fputs("\xEF\xBF\xBD", stdout);
        else
            putchar(c);
    }
}

static bool on_event(void *user, const mnw_event *event)
{
    cli_answer *a = user;
    if (event->kind != MNW_EVENT_TEXT) return true;
    if (a->len + event->text_len + 1 > a->cap) {
        a->cap = 2 * (a->len + event->text_len + 1);
        a->text = cli_grow(a->text, a->cap);
    }
    memcpy(a->text + a->len, event->text, event->text_len);
    a->len += event->text_len;
    a->text[a->len] = 0;
    if (!a->print) return true;
    print(event->text, event->text_len, a->terminal);
    a->broken = fflush(stdout) != 0;
    return !a->broken;
}

int cli_generate(cli_engine *e, const cli_sample_args *a, const int32_t *ids, size_t n,
                 cli_answer *answer, mnw_generate_stats *stats)
{
    const mnw_generate_opts o = {
        .size = sizeof o,
        .max_tokens = a->max_tokens,
        .stop = a->stop.item,
        .n_stop = a->stop.n,
    };
    answer->terminal = isatty(STDOUT_FILENO);
    answer->text = cli_copy("", 0);
    *stats = (mnw_generate_stats){ .size = sizeof *stats };

    cli_interrupt_watch(e->session, false);
    const mnw_status st = mnw_generate(e->session, e->sampler, ids, n, &o, on_event, answer, stats);
    if (answer->print && answer->len && answer->text[answer->len - 1] != '\n') putchar('\n');

    int rc = answer->print ? cli_flush() : CLI_DONE;
    if (st) {
        const int why = cli_fail(e, st, "generate");
        if (!rc) rc = why;
    } else if (!rc && stats->reason == MNW_REASON_CANCELLED) {
        rc = CLI_INTERRUPTED;
    }
    return rc;
}

static double rate(double count, double seconds)
{
    return seconds > 0 && count > 0 ? count / seconds : 0;
}

void cli_figures(const mnw_generate_stats *s)
{
    uint64_t anonymous, file;
    const double fed = (double)s->prompt_tokens - (double)s->cached_tokens;
    cli_memory(&anonymous, &file);
    fprintf(stderr, "prompt %" PRIu32 " tokens", s->prompt_tokens);
    if (s->cached_tokens) fprintf(stderr, " (%" PRIu32 " cached)", s->cached_tokens);
    fprintf(stderr, " %.0f tok/s, answer %" PRIu32 " tokens %.1f tok/s, first token %.3f s",
            rate(fed, s->prompt_s), s->generated_tokens, rate(s->generated_tokens, s->generate_s),
            s->first_token_s);
    if (anonymous)
        fprintf(stderr, ", memory %.0f MB + %.0f MB of files", (double)anonymous / 1e6,
                (double)file / 1e6);
    fprintf(stderr, ", end: %s\n", mnw_reason_id(s->reason));
}

void cli_figures_json(json_t *object, const cli_engine *e, const mnw_generate_stats *s)
{
    uint64_t anonymous, file;
    const double fed = (double)s->prompt_tokens - (double)s->cached_tokens;
    cli_memory(&anonymous, &file);
    json_object_set_new(object, "reason", json_string(mnw_reason_id(s->reason)));
    json_object_set_new(object, "prompt_tokens", json_integer(s->prompt_tokens));
    json_object_set_new(object, "cached_tokens", json_integer(s->cached_tokens));
    json_object_set_new(object, "generated_tokens", json_integer(s->generated_tokens));
    json_object_set_new(object, "prompt_s", json_real(s->prompt_s));
    json_object_set_new(object, "generate_s", json_real(s->generate_s));
    json_object_set_new(object, "first_token_s", json_real(s->first_token_s));
    json_object_set_new(object, "prompt_tok_per_s", json_real(rate(fed, s->prompt_s)));
    json_object_set_new(object, "generate_tok_per_s",
                        json_real(rate(s->generated_tokens, s->generate_s)));
    json_object_set_new(object, "context",
                        json_integer((json_int_t)mnw_session_capacity(e->session)));
    json_object_set_new(object, "seed", json_integer((json_int_t)mnw_sampler_seed(e->sampler)));
    json_object_set_new(object, "threads", json_integer(mnw_ctx_threads(e->ctx)));
    json_object_set_new(object, "tier", json_string(mnw_ctx_cpu(e->ctx)));
    json_object_set_new(object, "memory",
                        json_pack("{s:I, s:I}", "anonymous_bytes", (json_int_t)anonymous,
                                  "file_bytes", (json_int_t)file));
    json_object_set(object, "warnings", e->warnings);
}
