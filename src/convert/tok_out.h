/* SPDX-License-Identifier: Apache-2.0
 *
 * tok_out.h - a tokenizer, wherever it came from, written as items of a GGUF file or as
 * tokenizer.json.
 */
#ifndef MN_CONVERT_TOK_OUT_H
#define MN_CONVERT_TOK_OUT_H

#include "base/out.h"
#include "format/gguf_write.h"
#include "text/tokenizer.h"

/* Say it in items.  `rows`: of the embedding; ids without a piece are filled up to that number.
 *
 * Owns:   arrays are made in `mem`.
 * Errors: MNW_E_UNSUPPORTED for what GGUF cannot say, MNW_E_NOMEM, MNW_E_STRICT. */
mnw_status mn_tok_to_gguf(const mnw_tokenizer *tok, uint32_t rows, mn_pages *mem, mn_gguf_writer *w,
                          mn_err *err);

/* Prepare what tokenizer.json needs in `mem`, then write it, as often as wanted: once to count and once
 * for good.
 *
 * Errors: MNW_E_UNSUPPORTED for what tokenizer.json cannot say, MNW_E_NOMEM. */
typedef struct mn_tok_json {
    const mnw_tokenizer *tok;
    uint32_t            *left, *right;   // [n_merges]
    uint32_t             n_merges;
} mn_tok_json;

mnw_status mn_tok_json_init(mn_tok_json *j, const mnw_tokenizer *tok, mn_pages *mem, mn_err *err);
void       mn_tok_json_write(mn_out *o, const mn_tok_json *j);

/* Is there anything at this id?  Files are padded with pieces such as [PAD151669]. */
bool mn_tok_is_filler(const mnw_tokenizer *tok, uint32_t id);

/* Merges by score, best first, for a SentencePiece vocabulary (tok_merges.c). */
mnw_status mn_tok_merges_of_scores(const mnw_tokenizer *tok, mn_pages *mem, mn_tok_json *j,
                                   mn_err *err);

/* Scores that put pieces in the order of their merges: [count]. */
mnw_status mn_tok_scores_of_merges(const mnw_tokenizer *tok, mn_pages *mem, float **out, mn_err *err);

#endif
