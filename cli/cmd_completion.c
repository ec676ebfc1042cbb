/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_completion.c - completion for a shell, from the option tables.
 */
#include "cli/commands.h"
#include "cli/say.h"

typedef struct args {
    cli_common common;
    const char *shell;
} args;

static int run(const void *argp)
{
    const args *a = argp;
    if (cli_completion(a->shell)) return cli_flush();
    cli_error("%s: expected bash, zsh or fish", a->shell);
    return CLI_MISUSED;
}

static const cli_opt OPTS[] = {
    CLI_ARGUMENT(offsetof(args, shell), "SHELL", "bash, zsh or fish"),
    { 0 },
};

const cli_cmd cmd_completion = {
    .name = "completion",
    .about = "print completion for a shell",
    .more =
        "For bash: source <(minnow completion bash).  For fish: minnow completion fish | source.",
    .opts = OPTS,
    .args_size = sizeof(args),
    .run = run,
};
