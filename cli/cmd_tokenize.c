/* SPDX-License-Identifier: Apache-2.0
 *
 * cmd_tokenize.c - text on stdin to token ids, and back.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/engine.h"
#include "cli/say.h"

typedef struct args {
    cli_common common;
    const char *model;
    bool bos, special, pieces, decode;
} args;

#define AT(field) offsetof(args, field)

static const cli_opt OPTS[] = {
    CLI_ARGUMENT(AT(model), "MODEL", "GGUF file, tokenizer.json or a folder with one"),
    CLI_SWITCH(0, "bos", AT(bos),
               "put the model's first token in front (and its last behind) where it asks"),
    CLI_SWITCH(0, "parse-special", AT(special),
               "control tokens in the text become their ids; with --decode they are shown"),
    CLI_SWITCH(0, "pieces", AT(pieces), "print each token's text after its id"),
    CLI_SWITCH(0, "decode", AT(decode), "read ids, print text"),
    { 0 },
};

/* Bytes of ids, in memory the caller frees. */
static int decode(const cli_engine *e, const mnw_tokenizer *tok, const int32_t *ids, size_t n,
                  unsigned flags, char **text, size_t *len)
{
    size_t cap = 8 * n + 16;
    *text = cli_alloc(cap);
    mnw_status st = mnw_tokenizer_decode(tok, ids, n, flags, *text, cap, len);
    if (st == MNW_E_BUFFER) {
        cap = *len;
        *text = cli_grow(*text, cap);
        st = mnw_tokenizer_decode(tok, ids, n, flags, *text, cap, len);
    }
    return st ? cli_fail(e, st, "ids") : CLI_DONE;
}

static int print_ids(const cli_engine *e, const args *a, const mnw_tokenizer *tok,
                     const int32_t *ids, size_t n)
{
    if (a->common.json) {
        json_t *list = json_array();
        for (size_t i = 0; i < n; i++) {
            json_t *id = json_integer(ids[i]);
            if (a->pieces) {
                char *text = NULL;
                size_t len = 0;
                const int rc = decode(e, tok, ids + i, 1, MNW_DECODE_SPECIAL, &text, &len);
                id = rc ? id : json_pack("{s:o, s:o}", "id", id, "text", cli_json_text(text, len));
                free(text);
            }
            json_array_append_new(list, id);
        }
        return cli_print_json(list);
    }
    for (size_t i = 0; i < n; i++) {
        printf("%" PRId32, ids[i]);
        if (a->pieces) {
            char *text = NULL;
            size_t len = 0;
            if (!decode(e, tok, ids + i, 1, MNW_DECODE_SPECIAL, &text, &len)) {
                json_t *s = cli_json_text(text, len);
                putchar('\t');
                json_dumpf(s, stdout, JSON_ENCODE_ANY);
                json_decref(s);
            }
            free(text);
        }
        putchar('\n');
    }
    return cli_flush();
}

/* Ids separated by blanks, commas or the brackets of a JSON array. */
static int read_ids(const char *text, int32_t **ids, size_t *n)
{
    size_t cap = 256;
    *ids = cli_alloc(cap * sizeof **ids);
    *n = 0;
    for (const char *p = text; *p;) {
        if (strchr(" \t\r\n,[]", *p)) {
            p++;
            continue;
        }
        char *end;
        const long id = strtol(p, &end, 10);
        if (end == p || id < 0 || id > INT32_MAX || !(*end == 0 || strchr(" \t\r\n,[]", *end))) {
            cli_error("stdin, byte %zu: expected token ids", (size_t)(p - text));
            return CLI_BAD_DATA;
        }
        if (*n == cap) *ids = cli_grow(*ids, (cap *= 2) * sizeof **ids);
        (*ids)[(*n)++] = (int32_t)id;
        p = end;
    }
    return CLI_DONE;
}

static int print_text(const args *a, const char *text, size_t len)
{
    if (a->common.json) return cli_print_json(cli_json_text(text, len));
    fwrite(text, 1, len, stdout);
    return cli_flush();
}

static int run(const void *argp)
{
    const args *a = argp;
    cli_engine e = { 0 };
    mnw_tokenizer *tok = NULL;
    int32_t *ids = NULL;
    size_t n = 0, len = 0;
    char *input = NULL, *text = NULL;

    int rc = cli_open_ctx(&e, &a->common);
    if (!rc) {
        const mnw_status st = mnw_tokenizer_open(e.ctx, a->model, &tok);
        if (st) rc = cli_fail(&e, st, a->model);
    }
    if (!rc && !(input = cli_read("-", &len))) rc = CLI_IO;
    if (!rc && a->decode) {
        rc = read_ids(input, &ids, &n);
        const unsigned flags = MNW_DECODE_START | (a->special ? MNW_DECODE_SPECIAL : 0u);
        if (!rc) rc = decode(&e, tok, ids, n, flags, &text, &len);
        if (!rc) rc = print_text(a, text, len);
    } else if (!rc) {
        const unsigned flags = (a->bos ? MNW_ENCODE_BOS : 0) |
                               (a->special ? MNW_ENCODE_SPECIAL : 0);
        rc = cli_encode(&e, tok, input, len, flags, &ids, &n);
        if (!rc) rc = print_ids(&e, a, tok, ids, n);
    }
    free(input);
    free(text);
    free(ids);
    mnw_tokenizer_close(tok);
    cli_close(&e);
    return rc;
}

const cli_cmd cmd_tokenize = {
    .name = "tokenize",
    .about = "turn text from stdin into token ids, or back",
    .more = "One id a line; --json prints one array.",
    .opts = OPTS,
    .args_size = sizeof(args),
    .run = run,
};
