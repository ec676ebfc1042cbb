/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_info.c - what a model file holds.
 *
 * The library describes a model as JSON; here it is either passed on or laid out for reading: one
 * line per number or text, nested names joined by dots, lists of objects as rows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/engine.h"
#include "cli/say.h"

typedef struct args {
    cli_common common;
    const char *model;
    bool tensors;
} args;

#define AT(field) offsetof(args, field)

static const cli_opt OPTS[] = {
    CLI_ARGUMENT(AT(model), "MODEL", "model file (GGUF)"),
    CLI_SWITCH(0, "tensors", AT(tensors), "list every tensor as well"),
    { 0 },
};

enum { LONGEST_TEXT = 72 };

static void print_value(const json_t *v)
{
    if (json_is_string(v)) {
        const char *s = json_string_value(v);
        const size_t n = json_string_length(v);
        for (size_t i = 0; i < n && i < LONGEST_TEXT; i++)
            putchar((unsigned char)s[i] < 0x20 ? ' ' : s[i]);
        if (n > LONGEST_TEXT) printf("... (%zu bytes)", n);
    } else {
        char *s = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(7));
        if (s) fputs(s, stdout);
        free(s);
    }
}

/* One tensor or other list entry: its values side by side. */
static void print_row(json_t *row)
{
    const char *key;
    json_t *v;
    json_object_foreach(row, key, v)
    {
        printf(" ");
        print_value(v);
    }
    putchar('\n');
}

static bool is_rows(const json_t *v)
{
    return json_is_array(v) && json_array_size(v) > 0 && json_is_object(json_array_get(v, 0));
}

static void print_members(const char *prefix, json_t *object, bool rows)
{
    const char *key;
    json_t *v;
    json_object_foreach(object, key, v)
    {
        char name[128];
        snprintf(name, sizeof name, "%s%s", prefix, key);
        if (is_rows(v)) {
            printf("%-28s %zu%s\n", name, json_array_size(v),
                   rows || strcmp(key, "tensors") ? "" : " (--tensors lists them)");
            for (size_t i = 0; rows && i < json_array_size(v); i++) print_row(json_array_get(v, i));
        } else if (!json_is_object(v)) {
            printf("%-28s ", name);
            print_value(v);
            putchar('\n');
        }
    }
}

static int print_readable(const char *text, bool tensors)
{
    json_error_t err;
    json_t *top = json_loads(text, 0, &err);
    if (!top) {
        cli_error("the description is not JSON: %s, line %d (please report)", err.text, err.line);
        return CLI_INTERNAL;
    }
    const char *key;
    json_t *v;
    print_members("", top, tensors);
    json_object_foreach(top, key, v)
    {
        if (!json_is_object(v)) continue;
        char prefix[96];
        snprintf(prefix, sizeof prefix, "%s.", key);
        print_members(prefix, v, tensors);
    }
    json_decref(top);
    return cli_flush();
}

static int run(const void *argp)
{
    const args *a = argp;
    cli_engine e = { 0 };
    int rc = cli_open_ctx(&e, &a->common);
    if (!rc) rc = cli_open_model(&e, a->model, &(cli_model_args){ 0 });
    if (!rc) {
        char none;
        size_t len = 0;
        mnw_status st = mnw_model_json(e.model, &none, 0, &len);
        char *text = NULL;
        if (st == MNW_E_BUFFER) {
            text = cli_alloc(len + 1);
            st = mnw_model_json(e.model, text, len + 1, &len);
        }
        if (st)
            rc = cli_fail(&e, st, a->model);
        else if (a->common.json)
            rc = puts(text) < 0 ? CLI_IO : cli_flush();
        else
            rc = print_readable(text, a->tensors);
        free(text);
    }
    cli_close(&e);
    return rc;
}

const cli_cmd cmd_info = {
    .name = "info",
    .about = "describe a model file: sizes, configuration, tokenizer, tensors",
    .opts = OPTS,
    .args_size = sizeof(args),
    .run = run,
};
