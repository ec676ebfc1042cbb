/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_chat.c - a conversation.
 *
 * The messages are kept as JSON and rendered anew each turn; the session recognises the part it has
 * already seen, so a turn costs its own tokens only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/engine.h"
#include "cli/line.h"
#include "cli/say.h"

typedef struct args {
    cli_common common;
    cli_model_args engine;
    cli_sample_args sample;
    const char *model, *system;
} args;

#define AT(field) offsetof(args, field)

static const cli_opt OPTS[] = {
    CLI_ARGUMENT(AT(model), "MODEL", "model file (GGUF)"),
    CLI_VALUE(0, "system", CLI_STR, AT(system), "TEXT", "system message"),
    CLI_SAMPLE_OPTS(args),
    CLI_MODEL_OPTS(args),
    { 0 },
};

typedef struct chat {
    cli_engine e;
    const args *a;
    json_t *messages;
    mnw_generate_stats stats; // of the last answer
    bool answered, quit;
} chat;

static void add(chat *c, const char *role, const char *text, size_t len)
{
    json_array_append_new(
        c->messages, json_pack("{s:s, s:o}", "role", role, "content", cli_json_text(text, len)));
}

static void set_system(chat *c, const char *text)
{
    json_t *first = json_array_get(c->messages, 0);
    if (first && strcmp(json_string_value(json_object_get(first, "role")), "system") == 0)
        json_array_remove(c->messages, 0);
    if (*text)
        json_array_insert_new(c->messages, 0,
                              json_pack("{s:s, s:o}", "role", "system", "content",
                                        cli_json_text(text, strlen(text))));
}

static void do_help(chat *c, const char *rest)
{
    (void)c;
    (void)rest;
    fputs("/help            this list\n"
          "/reset           forget the conversation, keep the system message\n"
          "/system [TEXT]   set the system message; without TEXT remove it\n"
          "/stats           figures of the last answer\n"
          "/save FILE       write the conversation as JSON\n"
          "/load FILE       go on with a conversation\n"
          "/quit            leave; so does Ctrl-D.  Ctrl-C stops an answer\n",
          stderr);
}

static void do_reset(chat *c, const char *rest)
{
    (void)rest;
    json_t *first = json_array_get(c->messages, 0);
    const bool keep = first &&
                      strcmp(json_string_value(json_object_get(first, "role")), "system") == 0;
    while (json_array_size(c->messages) > (keep ? 1 : 0))
        json_array_remove(c->messages, json_array_size(c->messages) - 1);
}

static void do_system(chat *c, const char *rest)
{
    set_system(c, rest);
}

static void do_stats(chat *c, const char *rest)
{
    (void)rest;
    if (!c->answered) {
        cli_error("no answer yet");
        return;
    }
    cli_figures(&c->stats);
    fprintf(stderr, "context %zu of %zu tokens\n", mnw_session_count(c->e.session),
            mnw_session_capacity(c->e.session));
}

static void do_save(chat *c, const char *rest)
{
    if (!*rest)
        cli_error("/save needs a file name");
    else if (json_dump_file(c->messages, rest, JSON_INDENT(2)))
        cli_error("%s: cannot write", rest);
    else
        fprintf(stderr, "saved %zu messages to %s\n", json_array_size(c->messages), rest);
}

/* A list of {"role": text, "content": text}? */
static bool well_formed(const json_t *messages)
{
    size_t i;
    json_t *m;
    if (!json_is_array(messages)) return false;
    json_array_foreach(messages, i, m)
    {
        if (!json_is_string(json_object_get(m, "role")) ||
            !json_is_string(json_object_get(m, "content")))
            return false;
    }
    return true;
}

static void do_load(chat *c, const char *rest)
{
    json_error_t err;
    if (!*rest) {
        cli_error("/load needs a file name");
        return;
    }
    json_t *m = json_load_file(rest, JSON_REJECT_DUPLICATES, &err);
    if (!m) {
        cli_error("%s: %s (line %d)", rest, err.text, err.line);
    } else if (!well_formed(m)) {
        cli_error("%s: expected a list of {\"role\": text, \"content\": text}", rest);
        json_decref(m);
    } else {
        json_decref(c->messages);
        c->messages = m;
        fprintf(stderr, "loaded %zu messages\n", json_array_size(m));
    }
}

static void do_quit(chat *c, const char *rest)
{
    (void)rest;
    c->quit = true;
}

static const struct {
    const char *name;
    void (*run)(chat *, const char *rest);
} COMMANDS[] = {
    { "/help", do_help }, { "/reset", do_reset }, { "/system", do_system }, { "/stats", do_stats },
    { "/save", do_save }, { "/load", do_load },   { "/quit", do_quit },     { "/exit", do_quit },
};

static void command(chat *c, const char *line)
{
    enum { N = sizeof COMMANDS / sizeof *COMMANDS };
    const size_t len = strcspn(line, " \t");
    const char *rest = line + len + strspn(line + len, " \t");
    const char *names[N];
    for (size_t i = 0; i < N; i++) {
        names[i] = COMMANDS[i].name;
        if (strlen(names[i]) == len && memcmp(names[i], line, len) == 0) {
            COMMANDS[i].run(c, rest);
            return;
        }
    }
    const char *near = cli_nearest(line, names, N);
    if (near)
        cli_error("%.*s is not a command; did you mean %s?", (int)len, line, near);
    else
        cli_error("%.*s is not a command; /help lists them", (int)len, line);
}

/* One turn; a turn that fails before any text is taken back, so that the next one may succeed. */
static int turn(chat *c, const char *line)
{
    int32_t *ids = NULL;
    size_t n = 0;
    cli_answer out = { .print = true };
    const mnw_chat_opts o = { .size = sizeof o, .thinking = cli_thinking(&c->a->sample) };

    add(c, "user", line, strlen(line));
    int rc = cli_encode_chat(&c->e, c->messages, &o, &ids, &n);
    if (!rc) {
        rc = cli_generate(&c->e, &c->a->sample, ids, n, &out, &c->stats);
        c->answered = true;
    }
    if (rc && !out.len)
        json_array_remove(c->messages, json_array_size(c->messages) - 1);
    else
        add(c, "assistant", out.text, out.len);
    if (rc == CLI_BAD_DATA && n > mnw_session_capacity(c->e.session))
        cli_error(
            "the conversation is longer than the context: /reset, or start with a larger --ctx");
    if (c->answered && c->a->common.verbose) cli_figures(&c->stats);
    free(out.text);
    free(ids);
    return rc;
}

static int converse(chat *c)
{
    int rc = CLI_DONE;
    const bool person = isatty(STDIN_FILENO);
    cli_line *in = cli_line_open();
    if (person && !c->a->common.quiet)
        fputs("/help lists what you can do, Ctrl-D leaves\n", stderr);
    while (!c->quit) {
        cli_interrupt_watch(NULL, true);
        const char *line = cli_line_read(in);
        if (!line) break;
        if (line[0] == '/') {
            command(c, line);
        } else if (line[strspn(line, " \t")]) {
            rc = turn(c, line);
            if (rc == CLI_IO) break; // nobody reads the answers
        }
    }
    cli_line_close(in);
    return person && rc != CLI_IO ? CLI_DONE : rc; // a script wants to know, a person saw it
}

static int run(const void *argp)
{
    chat c = { .a = argp, .messages = json_array() };
    int rc = cli_open_ctx(&c.e, &c.a->common);
    if (!rc) rc = cli_open_model(&c.e, c.a->model, &c.a->engine);
    if (!rc) rc = cli_open_session(&c.e, &c.a->engine);
    if (!rc) rc = cli_open_sampler(&c.e, &c.a->sample);
    if (!rc) {
        set_system(&c, c.a->system ? c.a->system : "");
        rc = converse(&c);
    }
    json_decref(c.messages);
    cli_close(&c.e);
    return rc;
}

const cli_cmd cmd_chat = {
    .name = "chat",
    .about = "talk with a model",
    .more = "On a terminal lines can be edited and history is kept; /help lists what else can be "
            "said.\n"
            "From a pipe each line is a turn.",
    .opts = OPTS,
    .args_size = sizeof(args),
    .run = run,
};
