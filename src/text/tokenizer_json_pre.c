/* SPDX-License-Identifier: Apache-2.0
 *
 * tokenizer_json_pre.c - what a tokenizer.json does to text before the model sees it.
 *
 * Normalizer and pre-tokenizer are trees of named parts.  Each part that minnow knows sets a switch or
 * adds a stage; one that it does not know is an error that names it, since guessing gives wrong ids.
 */
#include "text/json_slot.h"
#include "text/tokenizer.h"

enum { NAME = 64, REGEX = 2048 };

/* A short text of the document for an error, "?" if it is none. */
static const char *show(const mn_json *slot, char buf[NAME])
{
    mn_json v;
    if (mn_json_value(slot, &v) != MN_JSON_STRING || v.raw.n >= NAME) return "?";
    buf[mn_json_text(&v, buf, NAME - 1)] = '\0';
    return buf;
}

static mnw_status unknown(const char *where, const mn_json *part, mn_err *err)
{
    char          buf[NAME];
    const mn_json type = mn_json_field(part, "type");
    MN_FAIL(err, MNW_E_UNSUPPORTED, "tokenizer.json: %s of type \"%s\" is not supported", where,
            show(&type, buf));
}

typedef mnw_status part_fn(mnw_tokenizer *tok, const mn_json *part, mn_err *err);

/* Do `fn` for the part, or for each part of a Sequence. */
static mnw_status each_part(mnw_tokenizer *tok, const mn_json *root, const char *list, part_fn *fn,
                            mn_err *err)
{
    mn_json v;
    if (mn_json_value(root, &v) == MN_JSON_NULL) return MNW_OK;
    const mn_json type = mn_json_field(root, "type");
    if (!mn_json_is(&type, "Sequence")) return fn(tok, root, err);
    const mn_json parts = mn_json_field(root, list);
    mn_json       part;
    if (mn_json_value(&parts, &v) != MN_JSON_ARRAY) return MNW_OK;
    while (mn_json_element(&v, &part)) MN_TRY(fn(tok, &part, err));
    return MNW_OK;
}

static mnw_status normalizer_part(mnw_tokenizer *tok, const mn_json *part, mn_err *err)
{
    const mn_json type = mn_json_field(part, "type");
    if (mn_json_is(&type, "NFC")) {
        tok->nfc = true;
        return MNW_OK;
    }
    if (mn_json_is(&type, "Prepend")) {
        const mn_json text = mn_json_field(part, "prepend");
        if (mn_json_is(&text, "▁")) {
            tok->prefix = MN_PREFIX_ALWAYS;
            return MNW_OK;
        }
    }
    if (mn_json_is(&type, "Replace")) {
        const mn_json pattern = mn_json_field(part, "pattern");
        const mn_json from = mn_json_field(&pattern, "String"), to = mn_json_field(part, "content");
        if (mn_json_is(&from, " ") && mn_json_is(&to, "▁")) {
            tok->spaces = true;
            return MNW_OK;
        }
    }
    return unknown("normalizer", part, err);
}

static mnw_status add_stage(mnw_tokenizer *tok, mn_stage_fn *fn, mn_err *err)
{
    for (size_t i = 0; i < MN_STAGES; i++) {
        if (tok->stage[i]) continue;
        tok->stage[i] = fn;
        return MNW_OK;
    }
    MN_FAIL(err, MNW_E_UNSUPPORTED, "tokenizer.json: pre_tokenizer of more than %d stages",
            MN_STAGES);
}

/* Expressions that match every text from end to end: "keep the matches" is the same as "cut around
 * them". */
static bool covers_all(mn_stage_fn *fn)
{
    return fn == mn_stage_gpt2 || fn == mn_stage_qwen2 || fn == mn_stage_qwen35 ||
           fn == mn_stage_llama3;
}

static mnw_status split(mnw_tokenizer *tok, const mn_json *part, mn_err *err)
{
    const mn_json pattern = mn_json_field(part, "pattern"), regex = mn_json_field(&pattern, "Regex");
    const mn_json behavior = mn_json_field(part, "behavior");
    const mn_json invert_slot = mn_json_field(part, "invert");
    const bool    invert = mn_json_bool(&invert_slot, false);
    mn_json       v;
    if (mn_json_value(&regex, &v) != MN_JSON_STRING) {
        const mn_json string = mn_json_field(&pattern, "String");
        if (tok->spaces && mn_json_is(&string, " ")) return MNW_OK;   // there are none left
        return unknown("pre_tokenizer with such a pattern", part, err);
    }
    char buf[REGEX];
    MN_FAIL_IF(v.raw.n > sizeof buf, err, MNW_E_UNSUPPORTED,
               "tokenizer.json: pre_tokenizer: expression of %zu bytes", v.raw.n);
    const mn_str text = { buf, mn_json_text(&v, buf, sizeof buf) };
    mn_stage_fn *fn = mn_stage_of_regex(text);
    MN_FAIL_IF(!fn, err, MNW_E_UNSUPPORTED,
               "tokenizer.json: pre_tokenizer: unknown expression %.*s", MN_STR(text));
    const bool isolated = mn_json_is(&behavior, "Isolated") && !invert;
    const bool kept = mn_json_is(&behavior, "Removed") && invert && covers_all(fn);
    MN_FAIL_IF(!isolated && !kept, err, MNW_E_UNSUPPORTED,
               "tokenizer.json: pre_tokenizer: Split that does not isolate");
    return add_stage(tok, fn, err);
}

static mnw_status byte_level(mnw_tokenizer *tok, const mn_json *part, mn_err *err)
{
    const mn_json space = mn_json_field(part, "add_prefix_space");
    const mn_json regex = mn_json_field(part, "use_regex");
    MN_FAIL_IF(mn_json_bool(&space, true), err, MNW_E_UNSUPPORTED,
               "tokenizer.json: pre_tokenizer: ByteLevel with add_prefix_space");
    if (tok->bpe.bytes) return unknown("pre_tokenizer after ByteLevel", part, err);
    tok->bpe.bytes = true;
    return mn_json_bool(&regex, true) ? add_stage(tok, mn_stage_gpt2, err) : MNW_OK;
}

static mnw_status metaspace(mnw_tokenizer *tok, const mn_json *part, mn_err *err)
{
    static const char *const name[] = { "replacement", "prepend_scheme", "add_prefix_space",
                                        "split" };
    mn_json slot[4];
    mn_json_fields(part, name, slot, 4);
    if (!mn_json_is(&slot[0], "▁")) return unknown("pre_tokenizer with such a replacement", part, err);
    tok->spaces = true;
    tok->prefix_unless = true;
    if (mn_json_is(&slot[1], "never")) tok->prefix = MN_PREFIX_NEVER;
    else if (mn_json_is(&slot[1], "first")) tok->prefix = MN_PREFIX_FIRST;
    else tok->prefix = mn_json_bool(&slot[2], true) ? MN_PREFIX_ALWAYS : MN_PREFIX_NEVER;
    tok->split_spaces = mn_json_bool(&slot[3], true);
    return MNW_OK;
}

static mnw_status pre_tokenizer_part(mnw_tokenizer *tok, const mn_json *part, mn_err *err)
{
    const mn_json type = mn_json_field(part, "type");
    if (mn_json_is(&type, "ByteLevel")) return byte_level(tok, part, err);
    if (mn_json_is(&type, "Metaspace")) return metaspace(tok, part, err);
    if (mn_json_is(&type, "Split") && !tok->bpe.bytes) return split(tok, part, err);
    if (mn_json_is(&type, "Split")) {   // on the alphabet for bytes, where digits are still digits
        MN_TRY(split(tok, part, err));
        for (size_t i = MN_STAGES; i-- > 0;) {
            if (tok->stage[i]) return tok->stage[i] == mn_stage_3digits
                                          ? MNW_OK
                                          : unknown("pre_tokenizer after ByteLevel", part, err);
        }
    }
    if (mn_json_is(&type, "Digits")) {
        const mn_json each = mn_json_field(part, "individual_digits");
        const bool    one = mn_json_bool(&each, false);
        if (one && tok->bpe.bytes) return unknown("pre_tokenizer after ByteLevel", part, err);
        return add_stage(tok, tok->bpe.bytes ? mn_stage_byte_digits
                              : one          ? mn_stage_digit
                                             : mn_stage_digits, err);
    }
    if (mn_json_is(&type, "Punctuation") && !tok->bpe.bytes) {
        const mn_json behavior = mn_json_field(part, "behavior");
        if (mn_json_is(&behavior, "Contiguous")) return add_stage(tok, mn_stage_punct, err);
    }
    return unknown("pre_tokenizer", part, err);
}

mnw_status mn_tokenizer_json_pipeline(mnw_tokenizer *tok, const mn_json *normalizer,
                                      const mn_json *pre_tokenizer, mn_err *err)
{
    MN_TRY(each_part(tok, normalizer, "normalizers", normalizer_part, err));
    MN_FAIL_IF(tok->prefix != MN_PREFIX_NEVER && !tok->spaces, err, MNW_E_UNSUPPORTED,
               "tokenizer.json: normalizer: Prepend without Replace");
    MN_TRY(each_part(tok, pre_tokenizer, "pretokenizers", pre_tokenizer_part, err));
    MN_FAIL_IF(tok->spaces && tok->bpe.bytes, err, MNW_E_UNSUPPORTED,
               "tokenizer.json: ByteLevel after spaces were replaced");
    MN_FAIL_IF(tok->spaces && tok->stage[0], err, MNW_E_UNSUPPORTED,
               "tokenizer.json: expressions after spaces were replaced");
    tok->pre_name = tok->bpe.bytes ? mn_pretok_name(tok->stage) : "";
    return MNW_OK;
}
