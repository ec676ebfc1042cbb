/* SPDX-License-Identifier: Apache-2.0
 *
 * tokenizer.h (internal) - the inside of a tokenizer, and how one is made from what a file says.
 *
 * The way of a text to ids:
 *
 *      text --added tokens--> gaps --normalise--> --split into words--> words --merge--> ids
 *               |                                                                        ^
 *               +------------------------------------------------------------------------+
 */
#ifndef MN_TEXT_TOKENIZER_H
#define MN_TEXT_TOKENIZER_H

#include <minnow/tokenizer.h>

#include "base/context.h"
#include "base/json.h"
#include "base/meta.h"
#include "base/os.h"
#include "base/pages.h"
#include "text/bpe.h"
#include "text/prefix.h"
#include "text/pretok.h"

typedef enum mn_tok_kind {
    MN_TOK_BPE = 1,
    MN_TOK_SPM = 2,
    MN_TOK_UNIGRAM = 3,
} mn_tok_kind;

typedef enum mn_space_prefix {   // is a space put in front of a text?
    MN_PREFIX_NEVER,
    MN_PREFIX_FIRST,             // of the whole text only
    MN_PREFIX_ALWAYS,            // of each part between added tokens
} mn_space_prefix;

enum { MN_TOK_ENDS = 32 };

struct mnw_tokenizer {
    mnw_ctx    *ctx;
    mn_pages    pages;          // all tables
    mn_map_file file;           // the mapping its pieces are in, if it is the tokenizer's own
    mn_tok_kind kind;
    mn_vocab    vocab;
    mn_merges   merges;
    mn_bpe      bpe;
    uint32_t   *order;          // SPM: [count]
    float      *score;          // UNIGRAM: [count]
    float       unknown_score;
    mn_prefix   pieces;         // UNIGRAM: all pieces text may become
    mn_prefix   raw, normal;    // added tokens: looked for before and after normalisation
    int32_t     byte_id[256];

    const char  *pre_name;
    mn_stage_fn *stage[MN_STAGES];
    bool         nfc;
    bool         ignore_merges;

    bool            spaces;     // U+2581 stands for a space in the pieces
    mn_space_prefix prefix;
    bool            prefix_unless;    // not where there is a space already
    bool            squeeze;          // runs of spaces become one, at the ends none
    bool            split_spaces;     // each U+2581 begins a word
    bool            words_at_spaces;  // no piece spans one, so words may be cut there: it is faster

    int32_t  bos, eos, eot, eom, unknown;
    bool     add_bos, add_eos;
    int32_t  end[MN_TOK_ENDS];
    unsigned n_ends;
};

/* Make a tokenizer from a file's metadata (tokenizer.ggml.*), whose bytes must outlive it.  *out is
 * NULL, and all is well, if there is none.
 *
 * Errors: MNW_E_FORMAT, MNW_E_LIMIT, MNW_E_UNSUPPORTED, MNW_E_NOMEM, MNW_E_STRICT. */
mnw_status mn_tokenizer_from_content(mnw_ctx *ctx, const mn_content *c, mnw_tokenizer **out,
                                     mn_err *err);

/* The same from a Hugging Face tokenizer.json, and tokenizer_config.json ({ NULL, 0 } if absent). */
mnw_status mn_tokenizer_from_json(mnw_ctx *ctx, mn_bytes tokenizer, mn_bytes config,
                                  mnw_tokenizer **out, mn_err *err);

/* A byte-level BPE tokenizer with some of another's pieces: id i is old[i] there, each at most once.  Merges are
 * kept where all three pieces are.
 *
 * Errors: MNW_E_UNSUPPORTED for other kinds, MNW_E_ARG for a count it cannot have, MNW_E_NOMEM. */
mnw_status mn_tokenizer_subset(const mnw_tokenizer *from, const uint32_t *old, uint32_t count,
                               mnw_tokenizer **out, mn_err *err);

/* Close a tokenizer of one of these.  NULL is allowed. */
void mn_tokenizer_close(mnw_tokenizer *tok);

/* A part of a text that came from people: no control token may touch it. */
typedef struct mn_span {
    size_t begin, end;
} mn_span;

/* Encode as mnw_tokenizer_encode does, control tokens everywhere but in `span` (in order, apart). */
mnw_status mn_tokenizer_encode_spans(const mnw_tokenizer *tok, const char *text, size_t len,
                                     unsigned flags, const mn_span *span, size_t n_spans,
                                     int32_t *ids, size_t cap, size_t *n);

/* Steps the heap took while encoding: tests see that long words stay near-linear. */
mnw_status mn_tokenizer_count_steps(const mnw_tokenizer *tok, const char *text, size_t len,
                                    uint64_t *steps);

/* For the two makers above (tokenizer.c): a zeroed handle; when pieces are filled in, the way from text
 * to id; when special ids are, their check and the ends of a reply; when all is, the tables that
 * follow. */
mnw_status mn_tokenizer_new(mnw_ctx *ctx, mnw_tokenizer **out, mn_err *err);
mnw_status mn_tokenizer_index(mnw_tokenizer *tok, mn_err *err);
mnw_status mn_tokenizer_special(mnw_tokenizer *tok, mn_err *err);
mnw_status mn_tokenizer_finish(mnw_tokenizer *tok, mn_err *err);

/* Add the merge of two pieces (in between).  *guess starts at 0 and helps to find the result.  False
 * if one of the three is not in the vocabulary. */
bool mn_tokenizer_add_merge(mnw_tokenizer *tok, mn_str left, mn_str right, uint32_t *guess);

/* "left right" in two; false if there is no space, or nothing beside it. */
bool mn_merge_split(mn_str merge, mn_str *left, mn_str *right);

/* The order of SentencePiece merges for a score: lower is better. */
uint32_t mn_spm_order(float score);

/* normalizer and pre_tokenizer of a tokenizer.json (tokenizer_json_pre.c). */
mnw_status mn_tokenizer_json_pipeline(mnw_tokenizer *tok, const mn_json *normalizer,
                                      const mn_json *pre_tokenizer, mn_err *err);

/* Viterbi over a normalised part (unigram.c). */
mnw_status mn_unigram(const mnw_tokenizer *tok, mn_work *w, mn_str text);

/* NFC, and U+2581 for spaces, where the tokenizer has them (normalize.c).  `first`: the text begins here.
 * *out borrows `text` or *block, which is to be freed. */
mnw_status mn_tokenizer_compose(const mnw_tokenizer *tok, mn_mem *mem, mn_str text, mn_str *out,
                                void **block);
mnw_status mn_tokenizer_mark_spaces(const mnw_tokenizer *tok, mn_mem *mem, mn_str text, bool first,
                                    mn_str *out, void **block);

#endif
