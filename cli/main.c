/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c - the table of commands.
 */
#include <locale.h>
#include <minnow/base.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/say.h"

const cli_cmd *const CLI_COMMANDS[] = {
    &cmd_run,      &cmd_chat,        &cmd_info,       &cmd_check,   &cmd_tokenize, &cmd_template,
    &cmd_logits,   &cmd_pull,        &cmd_convert,    &cmd_quantize,
    &cmd_eval_ppl, &cmd_eval_choice, &cmd_completion, &cmd_version, NULL,
};

static int unknown(int argc, char **argv)
{
    enum { MAX = 64 };
    const char *words[MAX];
    char name[128];
    const bool group = cli_is_group(argv[0], strlen(argv[0]));
    snprintf(name, sizeof name, "%s%s%s", argv[0], group && argc > 1 ? " " : "",
             group && argc > 1 ? argv[1] : "");
    if (group && argc < 2) {
        cli_error("%s what? minnow --help lists its commands", name);
        return CLI_MISUSED;
    }
    size_t n = 0;
    while (n < MAX && CLI_COMMANDS[n]) {
        words[n] = CLI_COMMANDS[n]->name;
        n++;
    }
    const char *near = cli_nearest(name, words, n);
    if (near)
        cli_error("no command %s; did you mean %s?", name, near);
    else
        cli_error("no command %s; minnow --help lists them", name);
    return CLI_MISUSED;
}

static int command(const cli_cmd *cmd, int argc, char **argv)
{
    char label[64];
    snprintf(label, sizeof label, "minnow %s", cmd->name);
    cli_name(label);

    void *args = cli_alloc(cmd->args_size);
    bool help = false;
    memset(args, 0, cmd->args_size);
    int rc = cli_parse(cmd, argc, argv, args, &help);
    if (help)
        cli_help_command(cmd);
    else if (!rc)
        rc = cmd->run(args);
    free(args);
    cli_name("minnow");
    return rc;
}

int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, "");
    const char *name = argc > 1 ? argv[1] : NULL;
    int rc = CLI_DONE;
    if (!name) {
        cli_error("a command is missing; minnow --help lists them");
        return CLI_MISUSED;
    }
    int used = 0;
    const cli_cmd *cmd = cli_find(argc - 1, argv + 1, &used);
    const bool help = strcmp(name, "help") == 0;
    if (help && argc > 2) {
        cmd = cli_find(argc - 2, argv + 2, &used);
        if (cmd)
            cli_help_command(cmd);
        else
            rc = unknown(argc - 2, argv + 2);
    } else if (help || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        cli_help();
    } else if (strcmp(name, "--version") == 0) {
        printf("minnow %s\n", mnw_version());
    } else if (strcmp(name, "--man") == 0) {
        cli_man();
    } else if (cmd) {
        rc = command(cmd, argc - 1 - used, argv + 1 + used);
    } else {
        rc = unknown(argc - 1, argv + 1);
    }
    const int flushed = cli_flush();
    return rc ? rc : flushed;
}
