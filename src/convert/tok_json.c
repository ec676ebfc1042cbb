/* SPDX-License-Identifier: Apache-2.0
 *
 * tok_json.c - a tokenizer as tokenizer.json.
 */
#include <inttypes.h>

#include "base/utf8.h"
#include "convert/tok_out.h"
#include "text/merges.h"

bool mn_tok_is_filler(const mnw_tokenizer *tok, uint32_t id)
{
    const mn_str text = mn_vocab_text(&tok->vocab, id);
    return text.n == 0 || (tok->vocab.piece[id].kind == MN_PIECE_UNUSED &&
                           mn_str_starts(text, mn_str_of("[PAD")));
}

/* Is this the id that its own text leads to?  A vocabulary in JSON has each text once. */
static bool is_first(const mnw_tokenizer *tok, uint32_t id)
{
    return tok->vocab.n_repeated == 0 ||
           mn_vocab_find(&tok->vocab, mn_vocab_text(&tok->vocab, id)) == (int32_t)id;
}

static mnw_status check(const mnw_tokenizer *tok, mn_err *err)
{
    MN_FAIL_IF(tok->kind == MN_TOK_UNIGRAM, err, MNW_E_UNSUPPORTED,
               "tokenizer: unigram models are not converted");
    for (uint32_t id = 0; id < tok->vocab.count; id++) {
        const mn_str text = mn_vocab_text(&tok->vocab, id);
        MN_FAIL_IF(!mn_utf8_valid(text.p, text.n), err, MNW_E_UNSUPPORTED,
                   "tokenizer: the piece of id %u is no UTF-8, which JSON cannot say", id);
    }
    for (size_t i = 0; i < MN_STAGES && tok->stage[i]; i++) {
        MN_FAIL_IF(!mn_regex_of_stage(tok->stage[i]), err, MNW_E_UNSUPPORTED,
                   "tokenizer: pre-tokenizer \"%s\" is not one minnow writes to tokenizer.json",
                   tok->pre_name);
    }
    MN_FAIL_IF(tok->squeeze, err, MNW_E_UNSUPPORTED,
               "tokenizer: runs of spaces become one, which minnow does not write to tokenizer.json");
    return MNW_OK;
}

mnw_status mn_tok_json_init(mn_tok_json *j, const mnw_tokenizer *tok, mn_pages *mem, mn_err *err)
{
    *j = (mn_tok_json){ .tok = tok };
    MN_TRY(check(tok, err));
    if (tok->kind == MN_TOK_SPM) return mn_tok_merges_of_scores(tok, mem, j, err);
    j->n_merges = tok->merges.count;
    j->left = mn_pages_push(mem, j->n_merges, sizeof *j->left);
    j->right = mn_pages_push(mem, j->n_merges, sizeof *j->right);
    MN_FAIL_IF(!j->left || !j->right, err, MNW_E_NOMEM, "tokenizer: %u merges", j->n_merges);
    mn_merges_list(&tok->merges, j->left, j->right);
    return MNW_OK;
}

static const char *boolean(bool b)
{
    return b ? "true" : "false";
}

static void write_added(mn_out *o, const mnw_tokenizer *tok)
{
    bool first = true;
    mn_out_text(o, "  \"added_tokens\": [");
    for (uint32_t id = 0; id < tok->vocab.count; id++) {
        const mn_piece *p = &tok->vocab.piece[id];
        const bool      special = p->kind == MN_PIECE_CONTROL || p->kind == MN_PIECE_UNKNOWN;
        if ((!special && p->kind != MN_PIECE_USER) || p->len == 0 || !is_first(tok, id)) continue;
        mn_out_fmt(o, "%s\n    {\"id\": %" PRIu32 ", \"content\": ", first ? "" : ",", id);
        mn_out_json(o, mn_vocab_text(&tok->vocab, id));
        mn_out_fmt(o, ", \"single_word\": %s, \"lstrip\": %s, \"rstrip\": %s, \"normalized\": %s, "
                      "\"special\": %s}",
                   boolean(p->added & MN_ADDED_SINGLE_WORD), boolean(p->added & MN_ADDED_LSTRIP),
                   boolean(p->added & MN_ADDED_RSTRIP), boolean(p->added & MN_ADDED_NORMALIZED),
                   boolean(special));
        first = false;
    }
    mn_out_text(o, "\n  ],\n");
}

static void write_normalizer(mn_out *o, const mnw_tokenizer *tok)
{
    mn_out_text(o, "  \"normalizer\": ");
    if (!tok->spaces) {
        mn_out_text(o, tok->nfc ? "{\"type\": \"NFC\"},\n" : "null,\n");
        return;
    }
    mn_out_text(o, "{\"type\": \"Sequence\", \"normalizers\": [");
    if (tok->nfc) mn_out_text(o, "{\"type\": \"NFC\"}, ");
    if (tok->prefix != MN_PREFIX_NEVER) {
        mn_out_text(o, "{\"type\": \"Prepend\", \"prepend\": \"\xE2\x96\x81\"}, ");
    }
    mn_out_text(o, "{\"type\": \"Replace\", \"pattern\": {\"String\": \" \"}, \"content\": "
                   "\"\xE2\x96\x81\"}]},\n");
}

static void write_pre(mn_out *o, const mnw_tokenizer *tok)
{
    mn_out_text(o, "  \"pre_tokenizer\": ");
    if (!tok->bpe.bytes) {
        mn_out_text(o, "null,\n");
        return;
    }
    mn_out_text(o, "{\"type\": \"Sequence\", \"pretokenizers\": [");
    for (size_t i = 0; i < MN_STAGES && tok->stage[i]; i++) {
        mn_out_text(o, "\n    {\"type\": \"Split\", \"pattern\": {\"Regex\": ");
        mn_out_json(o, mn_str_of(mn_regex_of_stage(tok->stage[i])));
        mn_out_text(o, "}, \"behavior\": \"Isolated\", \"invert\": false},");
    }
    mn_out_text(o, "\n    {\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"trim_offsets\": false, "
                   "\"use_regex\": false}]},\n");
}

static void write_special(mn_out *o, const mnw_tokenizer *tok, int32_t id)
{
    mn_out_text(o, "{\"SpecialToken\": {\"id\": ");
    mn_out_json(o, mn_vocab_text(&tok->vocab, (uint32_t)id));
    mn_out_text(o, ", \"type_id\": 0}}");
}

static void write_special_id(mn_out *o, const mnw_tokenizer *tok, int32_t id)
{
    const mn_str text = mn_vocab_text(&tok->vocab, (uint32_t)id);
    mn_out_json(o, text);
    mn_out_text(o, ": {\"id\": ");
    mn_out_json(o, text);
    mn_out_fmt(o, ", \"ids\": [%d], \"tokens\": [", id);
    mn_out_json(o, text);
    mn_out_text(o, "]}");
}

/* One text, or two: BOS in front and EOS behind each. */
static void write_sides(mn_out *o, const mnw_tokenizer *tok, const char *name, int n)
{
    mn_out_fmt(o, "\n    \"%s\": [", name);
    for (int i = 0; i < n; i++) {
        if (i) mn_out_text(o, ", ");
        if (tok->add_bos) write_special(o, tok, tok->bos);
        mn_out_fmt(o, "%s{\"Sequence\": {\"id\": \"%c\", \"type_id\": %d}}%s", tok->add_bos ? ", " : "",
                   'A' + i, i, tok->add_eos ? ", " : "");
        if (tok->add_eos) write_special(o, tok, tok->eos);
    }
    mn_out_text(o, "],");
}

static void write_post(mn_out *o, const mnw_tokenizer *tok)
{
    mn_out_text(o, "  \"post_processor\": ");
    if (!tok->add_bos && !tok->add_eos) {
        mn_out_text(o, "null,\n");
        return;
    }
    mn_out_text(o, "{\"type\": \"TemplateProcessing\",");
    write_sides(o, tok, "single", 1);
    write_sides(o, tok, "pair", 2);
    mn_out_text(o, "\n    \"special_tokens\": {");
    if (tok->add_bos) write_special_id(o, tok, tok->bos);
    if (tok->add_bos && tok->add_eos && tok->bos != tok->eos) mn_out_text(o, ", ");
    if (tok->add_eos && !(tok->add_bos && tok->bos == tok->eos)) write_special_id(o, tok, tok->eos);
    mn_out_text(o, "}},\n");
}

static void write_decoder(mn_out *o, const mnw_tokenizer *tok)
{
    mn_out_text(o, "  \"decoder\": ");
    if (tok->bpe.bytes) {
        mn_out_text(o, "{\"type\": \"ByteLevel\", \"add_prefix_space\": true, \"trim_offsets\": true, "
                       "\"use_regex\": true},\n");
        return;
    }
    mn_out_text(o, "{\"type\": \"Sequence\", \"decoders\": [{\"type\": \"Replace\", \"pattern\": {\"String\": "
                   "\"\xE2\x96\x81\"}, \"content\": \" \"}, {\"type\": \"ByteFallback\"}, {\"type\": \"Fuse\"}");
    if (tok->prefix != MN_PREFIX_NEVER) {
        mn_out_text(o, ", {\"type\": \"Strip\", \"content\": \" \", \"start\": 1, \"stop\": 0}");
    }
    mn_out_text(o, "]},\n");
}

static void write_model(mn_out *o, const mn_tok_json *j)
{
    const mnw_tokenizer *tok = j->tok;
    const bool           spm = !tok->bpe.bytes;
    mn_out_text(o, "  \"model\": {\"type\": \"BPE\", \"dropout\": null, \"unk_token\": ");
    if (spm && tok->unknown >= 0) mn_out_json(o, mn_vocab_text(&tok->vocab, (uint32_t)tok->unknown));
    else mn_out_text(o, "null");
    mn_out_fmt(o, ", \"continuing_subword_prefix\": null, \"end_of_word_suffix\": null, \"fuse_unk\": %s, "
                  "\"byte_fallback\": %s, \"ignore_merges\": %s,\n    \"vocab\": {",
               boolean(tok->bpe.fuse_unknown), boolean(tok->bpe.fallback), boolean(tok->ignore_merges));
    bool first = true;
    for (uint32_t id = 0; id < tok->vocab.count; id++) {
        if (mn_tok_is_filler(tok, id) || !is_first(tok, id)) continue;
        mn_out_text(o, first ? "\n      " : ",\n      ");
        mn_out_json(o, mn_vocab_text(&tok->vocab, id));
        mn_out_fmt(o, ": %" PRIu32, id);
        first = false;
    }
    mn_out_text(o, "\n    },\n    \"merges\": [");
    first = true;
    for (uint32_t r = 0; r < j->n_merges; r++) {
        if (j->left[r] == UINT32_MAX) continue;
        mn_out_text(o, first ? "\n      [" : ",\n      [");
        mn_out_json(o, mn_vocab_text(&tok->vocab, j->left[r]));
        mn_out_text(o, ", ");
        mn_out_json(o, mn_vocab_text(&tok->vocab, j->right[r]));
        mn_out_text(o, "]");
        first = false;
    }
    mn_out_text(o, "\n    ]\n  }\n");
}

void mn_tok_json_write(mn_out *o, const mn_tok_json *j)
{
    mn_out_text(o, "{\n  \"version\": \"1.0\",\n  \"truncation\": null,\n  \"padding\": null,\n");
    write_added(o, j->tok);
    write_normalizer(o, j->tok);
    write_pre(o, j->tok);
    write_post(o, j->tok);
    write_decoder(o, j->tok);
    write_model(o, j);
    mn_out_text(o, "}\n");
}
