/* SPDX-License-Identifier: Apache-2.0
 *
 * opt.c - options of a command, from the command line and the environment, into its struct.
 */
#include "cli/opt.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"

#define AT(field) offsetof(cli_common, field)

const cli_opt CLI_COMMON[] = {
    CLI_VALUE('t', "threads", CLI_U32, AT(threads), "N", "threads to use, the calling one included",
              .min = 1, .max = 256, .env = "MINNOW_THREADS"),
    CLI_VALUE(0, "cpu", CLI_STR, AT(cpu), "TIER",
              "highest instruction set to use: scalar avx2 avxvnni avx512 amx neon dotprod i8mm",
              .env = "MINNOW_CPU"),
    CLI_SWITCH(0, "json", AT(json), "print JSON"),
    CLI_SWITCH(0, "strict", AT(strict), "treat warnings as errors"),
    CLI_SWITCH('q', "quiet", AT(quiet), "no figures and no progress on stderr"),
    CLI_SWITCH('v', "verbose", AT(verbose), "say more on stderr"),
    { 0 },
};

/* Edit distance of two short words; a swap of neighbours counts one. */
static size_t distance(const char *a, const char *b)
{
    enum { MAX = 32 };
    const size_t n = strlen(a), m = strlen(b);
    if (n >= MAX || m >= MAX) return MAX;
    size_t d[MAX + 1][MAX + 1];
    for (size_t i = 0; i <= n; i++) d[i][0] = i;
    for (size_t j = 0; j <= m; j++) d[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        for (size_t j = 1; j <= m; j++) {
            size_t best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (d[i - 1][j] + 1 < best) best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    }
    return d[n][m];
}

const char *cli_nearest(const char *given, const char *const *words, size_t n)
{
    const char *best = NULL;
    size_t least = strlen(given) < 5 ? 2 : 4; // farther is not a slip of the finger
    for (size_t i = 0; i < n; i++) {
        const size_t d = distance(given, words[i]);
        if (d < least) {
            least = d;
            best = words[i];
        }
    }
    return best;
}

/* The k-th option of a command, its own first; NULL after the last. */
static const cli_opt *nth(const cli_cmd *cmd, size_t k)
{
    const cli_opt *o = cmd->opts;
    for (; !cli_opt_end(o); o++)
        if (k-- == 0) return o;
    for (o = CLI_COMMON; !cli_opt_end(o); o++)
        if (k-- == 0) return o;
    return NULL;
}

static const cli_opt *by_name(const cli_cmd *cmd, const char *name, size_t len)
{
    const cli_opt *o;
    for (size_t k = 0; (o = nth(cmd, k)); k++)
        if (o->name && strlen(o->name) == len && memcmp(o->name, name, len) == 0) return o;
    return NULL;
}

static const cli_opt *by_letter(const cli_cmd *cmd, char letter)
{
    const cli_opt *o;
    for (size_t k = 0; (o = nth(cmd, k)); k++)
        if (o->letter == letter) return o;
    return NULL;
}

static int unknown(const cli_cmd *cmd, const char *name)
{
    enum { MAX = 64 };
    const char *words[MAX];
    size_t n = 0;
    const cli_opt *o;
    for (size_t k = 0; n < MAX && (o = nth(cmd, k)); k++)
        if (o->name) words[n++] = o->name;

    const char *near = cli_nearest(name, words, n);
    if (near)
        cli_error("unknown option --%s; did you mean --%s?", name, near);
    else
        cli_error("unknown option --%s; minnow %s --help lists them", name, cmd->name);
    return CLI_MISUSED;
}

static int word_number(const cli_opt *o, const char *text, uint32_t *out)
{
    const char *w = o->words;
    for (uint32_t i = 1; *w; i++) {
        const size_t n = strcspn(w, " ");
        if (strlen(text) == n && memcmp(w, text, n) == 0) {
            *out = i;
            return CLI_DONE;
        }
        w += n + (w[n] == ' ');
    }
    cli_error("--%s %s: expected one of: %s", o->name, text, o->words);
    return CLI_MISUSED;
}

static int number(const cli_opt *o, const char *text, void *field)
{
    char *end = NULL;
    errno = 0;
    if (o->kind == CLI_F32) {
        const double x = strtod(text, &end);
        if (end == text || *end || !isfinite(x)) {
            cli_error("--%s %s: expected a number", o->name, text);
            return CLI_MISUSED;
        }
        if (x < o->min || (o->max != 0 && x > o->max)) {
            cli_error("--%s %s: expected %g to %g", o->name, text, o->min, o->max);
            return CLI_MISUSED;
        }
        *(float *)field = (float)x;
        return CLI_DONE;
    }
    const unsigned long long x = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || (o->kind == CLI_U32 && x > UINT32_MAX)) {
        cli_error("--%s %s: expected a whole number", o->name, text);
        return CLI_MISUSED;
    }
    if ((double)x < o->min || (o->max != 0 && (double)x > o->max)) {
        cli_error("--%s %s: expected %.0f to %.0f", o->name, text, o->min, o->max);
        return CLI_MISUSED;
    }
    if (o->kind == CLI_U64)
        *(uint64_t *)field = x;
    else
        *(uint32_t *)field = (uint32_t)x;
    return CLI_DONE;
}

static int set(const cli_opt *o, const char *text, void *args)
{
    void *field = (char *)args + o->at;
    switch (o->kind) {
    case CLI_FLAG: *(bool *)field = true; return CLI_DONE;
    case CLI_ARG:
    case CLI_STR: *(const char **)field = text; return CLI_DONE;
    case CLI_WORD: return word_number(o, text, field);
    case CLI_LIST: {
        cli_list *list = field;
        if (list->n == CLI_LIST_MAX) {
            cli_error("--%s: given more than %d times", o->name, CLI_LIST_MAX);
            return CLI_MISUSED;
        }
        list->item[list->n++] = text;
        return CLI_DONE;
    }
    case CLI_U32:
    case CLI_U64:
    case CLI_F32: return number(o, text, field);
    }
    return CLI_INTERNAL;
}

static int positional(const cli_cmd *cmd, size_t *seen, const char *text, void *args)
{
    size_t at = 0;
    for (const cli_opt *o = cmd->opts; !cli_opt_end(o); o++) {
        if (o->kind != CLI_ARG) continue;
        if (at++ == *seen) {
            (*seen)++;
            return set(o, text, args);
        }
    }
    cli_error("%s: one argument too many", text);
    return CLI_MISUSED;
}

/* One option at argv[i]; *i is left on the last word used. */
static int option(const cli_cmd *cmd, int argc, char **argv, int *i, void *args)
{
    const char *a = argv[*i];
    const char *value = NULL;
    const cli_opt *o;
    if (a[1] == '-') {
        const size_t len = strcspn(a + 2, "=");
        if (a[2 + len] == '=') value = a + 2 + len + 1;
        o = by_name(cmd, a + 2, len);
        if (!o) return unknown(cmd, a + 2);
        if (o->kind == CLI_FLAG && value) {
            cli_error("--%s takes no value", o->name);
            return CLI_MISUSED;
        }
    } else {
        o = by_letter(cmd, a[1]);
        if (!o) {
            cli_error("unknown option %s; minnow %s --help lists them", a, cmd->name);
            return CLI_MISUSED;
        }
        if (a[2]) value = a + 2;
        if (o->kind == CLI_FLAG && value) {
            cli_error("-%c takes no value", o->letter);
            return CLI_MISUSED;
        }
    }
    if (o->kind != CLI_FLAG && !value) {
        if (*i + 1 >= argc) {
            cli_error("--%s needs a value: %s", o->name, o->value);
            return CLI_MISUSED;
        }
        value = argv[++*i];
    }
    return set(o, value, args);
}

int cli_parse(const cli_cmd *cmd, int argc, char **argv, void *args, bool *help)
{
    const cli_opt *o;
    for (size_t k = 0; (o = nth(cmd, k)); k++) {
        const char *text = o->env ? getenv(o->env) : NULL;
        if (!text || !*text) continue;
        const int rc = set(o, text, args);
        if (rc) {
            cli_error("(from the environment variable %s)", o->env);
            return rc;
        }
    }
    size_t seen = 0;
    bool only_words = false;
    for (int i = 0; i < argc; i++) {
        const char *a = argv[i];
        int rc;
        if (!only_words && strcmp(a, "--") == 0) {
            only_words = true;
            continue;
        }
        if (!only_words && (strcmp(a, "--help") == 0 || strcmp(a, "-h") == 0)) {
            *help = true;
            return CLI_DONE;
        }
        if (!only_words && a[0] == '-' && a[1])
            rc = option(cmd, argc, argv, &i, args);
        else
            rc = positional(cmd, &seen, a, args);
        if (rc) return rc;
    }
    for (size_t k = 0; (o = nth(cmd, k)); k++) {
        if (!(o->flags & CLI_NEED) || *(const char **)((char *)args + o->at)) continue;
        if (o->kind == CLI_ARG)
            cli_error("%s is missing; minnow %s --help", o->value, cmd->name);
        else
            cli_error("--%s %s is missing", o->name, o->value);
        return CLI_MISUSED;
    }
    return CLI_DONE;
}

const cli_cmd *cli_find(int argc, char **argv, int *used)
{
    for (size_t i = 0; CLI_COMMANDS[i]; i++) {
        const char *name = CLI_COMMANDS[i]->name, *space = strchr(name, ' ');
        const size_t n = space ? (size_t)(space - name) : strlen(name);
        if (argc < 1 || strlen(argv[0]) != n || memcmp(argv[0], name, n) != 0) continue;
        if (space && (argc < 2 || strcmp(argv[1], space + 1) != 0)) continue;
        *used = space ? 2 : 1;
        return CLI_COMMANDS[i];
    }
    return NULL;
}

bool cli_is_group(const char *word, size_t n)
{
    for (size_t i = 0; CLI_COMMANDS[i]; i++) {
        const char *name = CLI_COMMANDS[i]->name;
        if (strncmp(name, word, n) == 0 && name[n] == ' ') return true;
    }
    return false;
}
