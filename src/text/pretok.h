/* SPDX-License-Identifier: Apache-2.0
 *
 * pretok.h - cut text into words, which byte-pair merges never cross.
 *
 * Published tokenizers say where to cut with regular expressions, one or a sequence: each stage cuts
 * what the stage before left whole.  Here a stage is a function that looks at the front of a text and
 * says how long its first piece is.  Every stage is linear and none looks back.
 *
 *     mn_words w;
 *     mn_words_init(&w, pretok, text);
 *     while (mn_words_next(&w, &word)) ...
 */
#ifndef MN_TEXT_PRETOK_H
#define MN_TEXT_PRETOK_H

#include "base/bytes.h"

/* Bytes of the first piece of [s, end), valid UTF-8, s < end. */
typedef size_t mn_stage_fn(const char *s, const char *end);

enum { MN_STAGES = 6 };

typedef struct mn_pretok {
    const char  *name;               // as in tokenizer.ggml.pre
    mn_stage_fn *stage[MN_STAGES];   // the unused ones are NULL
    bool         nfc;                // the published normaliser
    bool         ignore_merges;      // a word that is a token is taken whole
} mn_pretok;

/* The pre-tokenizer with this name; NULL if minnow does not know it. */
const mn_pretok *mn_pretok_find(mn_str name);

/* The name of a list of stages, "" if no known pre-tokenizer has it. */
const char *mn_pretok_name(mn_stage_fn *const stage[MN_STAGES]);

/* The stage for a regular expression as tokenizer.json writes it; NULL if minnow does not know it. */
mn_stage_fn *mn_stage_of_regex(mn_str regex);

/* And back; NULL for a stage that has no expression of its own, or one minnow does not keep whole. */
const char *mn_regex_of_stage(mn_stage_fn *stage);

typedef struct mn_words {
    mn_stage_fn *const *stage;
    size_t              n_stages;
    const char         *at, *end;
    const char         *piece_end[MN_STAGES];   // of the piece each stage is in
} mn_words;

void mn_words_init(mn_words *w, mn_stage_fn *const stage[MN_STAGES], mn_str text);

/* The next word; false at the end. */
bool mn_words_next(mn_words *w, mn_str *word);

/* The stages.  Their comments in pretok_scan.c and pretok_split.c give the expressions. */
mn_stage_fn mn_stage_gpt2, mn_stage_qwen2, mn_stage_qwen35, mn_stage_llama3;
mn_stage_fn mn_stage_digit, mn_stage_digits, mn_stage_byte_digits, mn_stage_3digits;
mn_stage_fn mn_stage_punct, mn_stage_newline, mn_stage_letters, mn_stage_puncts, mn_stage_tail_space;
mn_stage_fn mn_stage_cjk, mn_stage_latin, mn_stage_fullwidth;

#endif
