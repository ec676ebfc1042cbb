/* SPDX-License-Identifier: Apache-2.0
 *
 * help.c - what the option tables say, as --help, as a manual page and as shell completion.
 */
#include <minnow/base.h>
#include <stdio.h>
#include <string.h>

#include "cli/opt.h"

static void usage(const cli_cmd *cmd, const char *before)
{
    printf("%sminnow %s", before, cmd->name);
    for (const cli_opt *o = cmd->opts; !cli_opt_end(o); o++)
        if (o->kind == CLI_ARG) printf(o->flags & CLI_NEED ? " %s" : " [%s]", o->value);
    printf(" [options]\n");
}

static void options(const cli_opt *opts)
{
    for (const cli_opt *o = opts; !cli_opt_end(o); o++) {
        char left[64];
        if (o->kind == CLI_ARG)
            snprintf(left, sizeof left, "%s", o->value);
        else if (o->letter)
            snprintf(left, sizeof left, "-%c, --%s %s", o->letter, o->name,
                     o->value ? o->value : "");
        else
            snprintf(left, sizeof left, "    --%s %s", o->name, o->value ? o->value : "");
        printf("  %-24s %s", left, o->about);
        if (o->words) printf(": %s", o->words);
        if (o->env) printf(" [%s]", o->env);
        putchar('\n');
    }
}

void cli_help(void)
{
    printf("minnow %s - language models on phones and small computers\n\n", mnw_version());
    printf("usage: minnow COMMAND [arguments] [options]\n\n");
    for (size_t i = 0; CLI_COMMANDS[i]; i++)
        printf("  %-12s %s\n", CLI_COMMANDS[i]->name, CLI_COMMANDS[i]->about);
    printf("\nminnow COMMAND --help says more; minnow --man prints the manual page.\n"
           "stdout has the data, stderr the talk.\n");
}

void cli_help_command(const cli_cmd *cmd)
{
    usage(cmd, "usage: ");
    printf("\n%s.\n", cmd->about);
    if (cmd->more) printf("%s\n", cmd->more);
    putchar('\n');
    options(cmd->opts);
    printf("\nfor every command:\n");
    options(CLI_COMMON);
}

/* Text into roff: a backslash and a leading dot or quote would be commands. */
static void roff(const char *text)
{
    bool start = true;
    for (; *text; text++) {
        if (start && (*text == '.' || *text == '\'')) fputs("\\&", stdout);
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else
            putchar(*text);
        start = *text == '\n';
    }
}

static void roff_options(const cli_opt *opts)
{
    for (const cli_opt *o = opts; !cli_opt_end(o); o++) {
        printf(".TP\n");
        if (o->kind == CLI_ARG) {
            printf("\\fI%s\\fR\n", o->value);
        } else {
            if (o->letter) printf("\\fB\\-%c\\fR, ", o->letter);
            printf("\\fB\\-\\-");
            roff(o->name);
            printf("\\fR");
            if (o->value) printf(" \\fI%s\\fR", o->value);
            putchar('\n');
        }
        roff(o->about);
        if (o->words) printf(": %s", o->words);
        if (o->env) printf(" (default from the environment variable \\fB%s\\fR)", o->env);
        putchar('\n');
    }
}

void cli_man(void)
{
    printf(".TH MINNOW 1 \"\" \"minnow %s\" \"User Commands\"\n", mnw_version());
    printf(".SH NAME\nminnow \\- language models on phones and small computers\n");
    printf(".SH SYNOPSIS\n.B minnow\n\\fICOMMAND\\fR [\\fIarguments\\fR] [\\fIoptions\\fR]\n.SH "
           "COMMANDS\n");
    for (size_t i = 0; CLI_COMMANDS[i]; i++) {
        const cli_cmd *c = CLI_COMMANDS[i];
        printf(".SS ");
        usage(c, "");
        roff(c->about);
        printf(".\n");
        if (c->more) {
            roff(c->more);
            putchar('\n');
        }
        roff_options(c->opts);
    }
    printf(".SH OPTIONS OF EVERY COMMAND\n");
    roff_options(CLI_COMMON);
    printf(".SH EXIT STATUS\n"
           "0 done, 2 misused, 65 bad data, 66 cannot open, 69 unavailable, 70 internal error, 74 "
           "input or output\n"
           "failed, 75 try later, 130 interrupted.\n");
}

/* Every option name of a command, each with `before` in front. */
static void names(const cli_cmd *c, const char *before)
{
    for (const cli_opt *o = c->opts; !cli_opt_end(o); o++)
        if (o->name) printf(" %s%s", before, o->name);
    for (const cli_opt *o = CLI_COMMON; !cli_opt_end(o); o++) printf(" %s%s", before, o->name);
}

/* Is this the first command that begins with its first word?  *n is that word's length, *second the
 * second word, NULL if there is none. */
static bool first_of_word(size_t i, size_t *n, const char **second)
{
    const char *name = CLI_COMMANDS[i]->name, *space = strchr(name, ' ');
    *n = space ? (size_t)(space - name) : strlen(name);
    *second = space ? space + 1 : NULL;
    for (size_t k = 0; k < i; k++)
        if (strncmp(CLI_COMMANDS[k]->name, name, *n) == 0 && CLI_COMMANDS[k]->name[*n] == ' ')
            return false;
    return true;
}

/* The second words of a group, each with `before` in front. */
static void second_words(const char *group, size_t n, const char *before)
{
    for (size_t i = 0; CLI_COMMANDS[i]; i++) {
        const char *name = CLI_COMMANDS[i]->name;
        if (strncmp(name, group, n) == 0 && name[n] == ' ') printf("%s%s", before, name + n + 1);
    }
}

static void bash(void)
{
    const char *second;
    size_t n;
    printf(
        "_minnow() {\n    local cur=${COMP_WORDS[COMP_CWORD]} words='' cmd=${COMP_WORDS[1]} at=1\n"
        "    if [ \"$COMP_CWORD\" = 1 ]; then words='");
    for (size_t i = 0; CLI_COMMANDS[i]; i++)
        if (first_of_word(i, &n, &second)) printf("%.*s ", (int)n, CLI_COMMANDS[i]->name);
    printf("--help --man --version'\n    else case $cmd in\n");
    for (size_t i = 0; CLI_COMMANDS[i]; i++) {
        if (!first_of_word(i, &n, &second) || !second) continue;
        printf("        %.*s) cmd=\"$cmd ${COMP_WORDS[2]}\"; at=2; words='", (int)n,
               CLI_COMMANDS[i]->name);
        second_words(CLI_COMMANDS[i]->name, n, " ");
        printf("' ;;\n");
    }
    printf("        esac; [ \"$COMP_CWORD\" = \"$at\" ] || case $cmd in\n");
    for (size_t i = 0; CLI_COMMANDS[i]; i++) {
        printf("        '%s') words='", CLI_COMMANDS[i]->name);
        names(CLI_COMMANDS[i], "--");
        printf("' ;;\n");
    }
    printf("    esac; fi\n    case $cur in\n        -*) COMPREPLY=($(compgen -W \"$words\" -- "
           "\"$cur\")) ;;\n"
           "        *) [ \"$COMP_CWORD\" -le \"$at\" ] && COMPREPLY=($(compgen -W \"$words\" -- "
           "\"$cur\")) ||\n"
           "           COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n    esac\n}\n"
           "complete -o filenames -F _minnow minnow\n");
}

/* Inside single quotes of a shell: no quote may appear. */
static void plain(const char *text)
{
    for (; *text; text++)
        if (*text != '\'' && *text != '[' && *text != ']' && *text != ':') putchar(*text);
}

static void zsh_options(const cli_cmd *c)
{
    printf("_arguments '*:file:_files'");
    for (int common = 0; common < 2; common++)
        for (const cli_opt *o = common ? CLI_COMMON : c->opts; !cli_opt_end(o); o++) {
            if (!o->name) continue;
            printf(" \\\n            '--%s[", o->name);
            plain(o->about);
            printf("]%s'", o->value ? ":value:_files" : "");
        }
    printf(" ;;\n");
}

static void zsh(void)
{
    const char *second;
    size_t n;
    printf(
        "#compdef minnow\n_minnow() {\n    local cmd=$words[2]\n    if (( CURRENT == 2 )); then\n"
        "        local -a commands=(\n");
    for (size_t i = 0; CLI_COMMANDS[i]; i++) {
        if (!first_of_word(i, &n, &second)) continue;
        printf("            '%.*s:", (int)n, CLI_COMMANDS[i]->name);
        plain(CLI_COMMANDS[i]->about);
        printf("'\n");
    }
    printf("        )\n        _describe command commands\n        return\n    fi\n    case "
           "$cmd in\n");
    for (size_t i = 0; CLI_COMMANDS[i]; i++) {
        if (!first_of_word(i, &n, &second) || !second) continue;
        printf("        %.*s) cmd=\"$cmd $words[3]\"; (( CURRENT == 3 )) && { compadd", (int)n,
               CLI_COMMANDS[i]->name);
        second_words(CLI_COMMANDS[i]->name, n, " ");
        printf("; return } ;;\n");
    }
    printf("    esac\n    case $cmd in\n");
    for (size_t i = 0; CLI_COMMANDS[i]; i++) {
        printf("        '%s') ", CLI_COMMANDS[i]->name);
        zsh_options(CLI_COMMANDS[i]);
    }
    printf("    esac\n}\ncompdef _minnow minnow\n");
}

/* What fish asks before it offers an option of a command. */
static void fish_seen(const char *name, size_t n, const char *second)
{
    printf("'__fish_seen_subcommand_from %.*s", (int)n, name);
    if (second) printf("; and __fish_seen_subcommand_from %s", second);
    printf("'");
}

static void fish_options(const cli_cmd *c, size_t n, const char *second)
{
    for (int common = 0; common < 2; common++)
        for (const cli_opt *o = common ? CLI_COMMON : c->opts; !cli_opt_end(o); o++) {
            if (!o->name) continue;
            printf("complete -c minnow -n ");
            fish_seen(c->name, n, second);
            printf(" -l %s", o->name);
            if (o->letter) printf(" -s %c", o->letter);
            printf("%s -d '", o->value ? " -r" : "");
            plain(o->about);
            printf("'\n");
        }
}

static void fish(void)
{
    const char *second;
    size_t n;
    for (size_t i = 0; CLI_COMMANDS[i]; i++) {
        const cli_cmd *c = CLI_COMMANDS[i];
        if (first_of_word(i, &n, &second)) {
            printf("complete -c minnow -n __fish_use_subcommand -f -a %.*s -d '", (int)n, c->name);
            plain(c->about);
            printf("'\n");
        }
        if (second) {
            printf("complete -c minnow -n ");
            fish_seen(c->name, n, NULL);
            printf(" -f -a %s -d '", second);
            plain(c->about);
            printf("'\n");
        }
        fish_options(c, n, second);
    }
}

bool cli_completion(const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        bash();
    else if (strcmp(shell, "zsh") == 0)
        zsh();
    else if (strcmp(shell, "fish") == 0)
        fish();
    else
        return false;
    return true;
}
