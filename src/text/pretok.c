/* SPDX-License-Identifier: Apache-2.0
 *
 * pretok.c - the published pre-tokenizers as lists of stages, and the walk through them.
 */
#include "text/pretok.h"

static const mn_pretok table[] = {
    { "gpt-2", { mn_stage_gpt2 }, false, false },
    { "qwen2", { mn_stage_qwen2 }, true, false },
    { "qwen35", { mn_stage_qwen35 }, true, false },
    { "llama-bpe", { mn_stage_llama3 }, false, true },
    { "smollm", { mn_stage_digit, mn_stage_gpt2 }, false, false },
    { "starcoder", { mn_stage_digit, mn_stage_gpt2 }, false, false },
    { "refact", { mn_stage_digit, mn_stage_gpt2 }, false, false },
    { "command-r", { mn_stage_digit, mn_stage_gpt2 }, true, false },
    { "gpt-neox", { mn_stage_gpt2 }, true, false },
    { "mpt", { mn_stage_gpt2 }, true, false },
    { "falcon",
      { mn_stage_punct, mn_stage_gpt2, mn_stage_byte_digits, mn_stage_3digits },
      false, false },
    { "deepseek-llm",
      { mn_stage_newline, mn_stage_latin, mn_stage_fullwidth, mn_stage_tail_space, mn_stage_cjk,
        mn_stage_digit },
      false, false },
    { "deepseek-coder",
      { mn_stage_newline, mn_stage_letters, mn_stage_puncts, mn_stage_cjk, mn_stage_digit },
      false, false },
};

/* Other names under which converters write the same thing. */
static const struct {
    const char *alias, *name;
} alias[] = {
    { "gpt2", "gpt-2" },         { "phi-2", "gpt-2" },      { "llama3", "llama-bpe" },
    { "llama-v3", "llama-bpe" }, { "gptneox", "gpt-neox" },
};

const mn_pretok *mn_pretok_find(mn_str name)
{
    for (size_t i = 0; i < sizeof alias / sizeof *alias; i++) {
        if (mn_str_is(name, alias[i].alias)) name = mn_str_of(alias[i].name);
    }
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (mn_str_is(name, table[i].name)) return &table[i];
    }
    return NULL;
}

const char *mn_pretok_name(mn_stage_fn *const stage[MN_STAGES])
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (memcmp(stage, table[i].stage, sizeof table[i].stage) == 0) return table[i].name;
    }
    return "";
}

/* GPT-2's, as ByteLevel has it built in, is listed too: some files spell it out. */
static const struct {
    const char  *text;
    mn_stage_fn *stage;
} regex_list[] = {
    { "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
      mn_stage_gpt2 },
    { "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"
      "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
      mn_stage_qwen2 },
    { "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}"
      "| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
      mn_stage_qwen35 },
    { "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}"
      "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
      mn_stage_llama3 },
    { "[\r\n]", mn_stage_newline },
    { "[\\r\\n]", mn_stage_newline },
    { "\\s?\\p{L}+", mn_stage_letters },
    { "\\s?\\p{P}+", mn_stage_puncts },
    { "\\s+$", mn_stage_tail_space },
    { "[一-龥ࠀ-一가-퟿]+", mn_stage_cjk },
    { "\\s?[!-/:-~！-／：-～‘-‟　-。]+", mn_stage_fullwidth },
    { "\\p{N}", mn_stage_digit },
    { "\\p{N}+", mn_stage_digits },
    { "[0-9][0-9][0-9]", mn_stage_3digits },
};

mn_stage_fn *mn_stage_of_regex(mn_str regex)
{
    for (size_t i = 0; i < sizeof regex_list / sizeof *regex_list; i++) {
        if (mn_str_is(regex, regex_list[i].text)) return regex_list[i].stage;
    }
    /* The list of all cased letters is long; its head tells it from every other known one. */
    if (mn_str_starts(regex, mn_str_of("\\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿ"))) return mn_stage_latin;
    return NULL;
}

const char *mn_regex_of_stage(mn_stage_fn *stage)
{
    for (size_t i = 0; i < sizeof regex_list / sizeof *regex_list; i++) {
        if (regex_list[i].stage == stage) return regex_list[i].text;
    }
    return NULL;
}

void mn_words_init(mn_words *w, mn_stage_fn *const stage[MN_STAGES], mn_str text)
{
    *w = (mn_words){ .stage = stage, .at = text.p, .end = text.p + text.n };
    while (w->n_stages < MN_STAGES && stage[w->n_stages]) w->piece_end[w->n_stages++] = text.p;
}

bool mn_words_next(mn_words *w, mn_str *word)
{
    if (w->at == w->end) return false;
    const char *end = w->end;
    for (size_t i = 0; i < w->n_stages; i++) {
        if (w->piece_end[i] == w->at) w->piece_end[i] = w->at + w->stage[i](w->at, end);
        end = w->piece_end[i];
    }
    *word = (mn_str){ w->at, (size_t)(end - w->at) };
    w->at = end;
    return true;
}
