/* SPDX-License-Identifier: Apache-2.0
 *
 * line.c - libedit on a terminal, getline elsewhere.
 */
#include "cli/line.h"

#include <errno.h>
#include <histedit.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/say.h"

enum { HISTORY_LENGTH = 1000 };

struct cli_line {
    EditLine *el; // NULL: not a terminal
    History *history;
    char file[PATH_MAX]; // of the history, "" if there is no place for it
    char *text;
    size_t cap;
};

static char *prompt(EditLine *el)
{
    static char text[] = "> ";
    (void)el;
    return text;
}

/* Make each folder of a path that ends in a file name. */
static void make_folders(const char *path)
{
    char part[PATH_MAX];
    for (size_t i = 1; path[i] && i < sizeof part; i++) {
        if (path[i] != '/') continue;
        memcpy(part, path, i);
        part[i] = 0;
        if (mkdir(part, 0700) && errno != EEXIST) return;
    }
}

static void find_history(cli_line *l)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int n = 0;
    if (state && state[0] == '/')
        n = snprintf(l->file, sizeof l->file, "%s/minnow/history", state);
    else if (home && home[0] == '/')
        n = snprintf(l->file, sizeof l->file, "%s/.local/state/minnow/history", home);
    if (n <= 0 || n >= (int)sizeof l->file)
        l->file[0] = 0;
    else
        make_folders(l->file);
}

cli_line *cli_line_open(void)
{
    cli_line *l = cli_alloc(sizeof *l);
    *l = (cli_line){ 0 };
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) return l;

    HistEvent event;
    l->el = el_init("minnow", stdin, stdout, stderr);
    if (!l->el) return l;
    l->history = history_init();
    find_history(l);
    el_set(l->el, EL_PROMPT, prompt);
    el_set(l->el, EL_EDITOR, "emacs");
    el_set(l->el, EL_SIGNAL, 1); // the terminal is put back before a signal is acted on
    if (l->history) {
        history(l->history, &event, H_SETSIZE, HISTORY_LENGTH);
        history(l->history, &event, H_SETUNIQUE, 1);
        if (l->file[0]) history(l->history, &event, H_LOAD, l->file);
        el_set(l->el, EL_HIST, history, l->history);
    }
    el_source(l->el, NULL);
    return l;
}

static void remember(cli_line *l, const char *text)
{
    HistEvent event;
    if (!l->history || !text[strspn(text, " \t\n")]) return;
    history(l->history, &event, H_ENTER, text);
    if (!l->file[0]) return;
    const mode_t before = umask(077); // what people write to a model is theirs
    history(l->history, &event, H_SAVE, l->file);
    umask(before);
}

const char *cli_line_read(cli_line *l)
{
    if (l->el) {
        int n = 0;
        const char *text = el_gets(l->el, &n);
        if (!text || n <= 0) return NULL;
        remember(l, text);
        if ((size_t)n + 1 > l->cap) l->text = cli_grow(l->text, l->cap = (size_t)n + 1);
        memcpy(l->text, text, (size_t)n);
        if (l->text[n - 1] == '\n') n--;
        l->text[n] = 0;
        return l->text;
    }
    const ssize_t n = getline(&l->text, &l->cap, stdin);
    if (n < 0) return NULL;
    if (n > 0 && l->text[n - 1] == '\n') l->text[n - 1] = 0;
    return l->text;
}

void cli_line_close(cli_line *l)
{
    if (l->history) history_end(l->history);
    if (l->el) el_end(l->el);
    free(l->text);
    free(l);
}
