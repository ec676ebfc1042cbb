/* SPDX-License-Identifier: Apache-2.0
 *
 * opt.h - a command is a table of options and a function.
 *
 * The table is the only description there is: parsing, --help, the manual page and shell completion
 * all read it.  Values land in the command's own struct, whose first member is cli_common.
 */
#ifndef CLI_OPT_H
#define CLI_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit codes, those of sysexits.h where it has one. */
enum {
    CLI_DONE = 0,
    CLI_MISUSED = 2,
    CLI_BAD_DATA = 65,
    CLI_CANNOT_OPEN = 66,
    CLI_UNAVAILABLE = 69,
    CLI_INTERNAL = 70,
    CLI_IO = 74,
    CLI_TRY_LATER = 75,
    CLI_INTERRUPTED = 130,
};

typedef enum cli_kind {
    CLI_FLAG, // bool
    CLI_STR,  // const char *
    CLI_U32,  // uint32_t, min .. max
    CLI_U64,  // uint64_t
    CLI_F32,  // float, min .. max
    CLI_LIST, // cli_list, may be given CLI_LIST_MAX times
    CLI_WORD, // uint32_t: 1 + the place of the word in `words`; 0 = not given
    CLI_ARG,  // const char *, by position
} cli_kind;

enum { CLI_LIST_MAX = 16, CLI_NEED = 1 };

typedef struct cli_list {
    const char *item[CLI_LIST_MAX];
    size_t n;
} cli_list;

typedef struct cli_opt {
    char letter;      // 0 = none
    const char *name; // of the option; NULL for CLI_ARG
    cli_kind kind;
    size_t at;         // offset in the command's struct
    const char *value; // what --help calls the value; NULL for flags
    const char *about;
    unsigned flags;    // CLI_NEED
    double min, max;   // for numbers; max 0 = no bound
    const char *words; // for CLI_WORD: "cpu ref"
    const char *env;   // environment variable that gives a default
} cli_opt;

/* Rows of a table; a value may go on with .min, .max, .words, .env. */
#define CLI_ARGUMENT(where, shown, text)                                                           \
    {                                                                                              \
        .kind = CLI_ARG, .at = where, .value = shown, .about = text, .flags = CLI_NEED             \
    }
#define CLI_SWITCH(key, word, where, text)                                                         \
    {                                                                                              \
        .letter = key, .name = word, .kind = CLI_FLAG, .at = where, .about = text                  \
    }
#define CLI_VALUE(key, word, type, where, shown, ...)                                              \
    {                                                                                              \
        .letter = key, .name = word, .kind = type, .at = where, .value = shown,                    \
        .about = __VA_ARGS__                                                                       \
    }

/* What every command understands. */
typedef struct cli_common {
    bool json, strict, quiet, verbose;
    uint32_t threads;
    const char *cpu;
} cli_common;

typedef struct cli_cmd {
    const char *name, *about; // a name may have two words
    const char *more;    // a paragraph for --help and the manual, or NULL
    const cli_opt *opts; // ends with a zeroed one
    size_t args_size;
    int (*run)(const void *args); // returns an exit code
} cli_cmd;

extern const cli_opt CLI_COMMON[];          // ends with a zeroed one
extern const cli_cmd *const CLI_COMMANDS[]; // ends with NULL

/* Is an option entry the end of its table? */
static inline bool cli_opt_end(const cli_opt *o)
{
    return !o->about;
}

/* Parse argv[0..argc) (after the command's name) into `args`, zeroed by the caller.  Returns
 * CLI_DONE, or CLI_MISUSED after saying why; *help is set if --help was asked for. */
int cli_parse(const cli_cmd *cmd, int argc, char **argv, void *args, bool *help);

/* The command that the first words name, one or two ("eval ppl"): *used of them.  NULL if there is
 * none. */
const cli_cmd *cli_find(int argc, char **argv, int *used);

/* Do commands of two words begin with this one, of n bytes? */
bool cli_is_group(const char *word, size_t n);

/* The word of `n` that is nearest to `given`, NULL if none is near. */
const char *cli_nearest(const char *given, const char *const *words, size_t n);

/* Write to stdout: help for all or one command, the manual page in roff, completion for a shell
 * (false if it is not bash, zsh or fish). */
void cli_help(void);
void cli_help_command(const cli_cmd *cmd);
void cli_man(void);
bool cli_completion(const char *shell);

#endif
