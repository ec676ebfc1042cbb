/* SPDX-License-Identifier: Apache-2.0
 *
 * commands.h - the commands there are: a line here and one in main.c for each cmd_*.c.
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/opt.h"

extern const cli_cmd cmd_run, cmd_chat, cmd_info, cmd_check, cmd_tokenize, cmd_template, cmd_logits,
    cmd_pull, cmd_convert, cmd_quantize, cmd_completion, cmd_version,
    cmd_eval_ppl, cmd_eval_choice;

#endif
