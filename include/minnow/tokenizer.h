/* SPDX-License-Identifier: Apache-2.0
 *
 * minnow/tokenizer.h - text to token ids and back.
 *
 * A tokenizer is immutable: share it between threads freely.  A model brings its own
 * (mnw_model_tokenizer); it can also be opened alone.
 *
 *     size_t n;
 *     int32_t ids[64];
 *     mnw_tokenizer_encode(tok, "Hello", 5, 0, ids, 64, &n);
 *
 * Text from people is encoded without MNW_ENCODE_SPECIAL: then no id of a control token such as
 * <|im_end|> can come out of it, whatever it contains.
 */
#ifndef MINNOW_TOKENIZER_H
#define MINNOW_TOKENIZER_H

#include <minnow/model.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MNW_ENCODE_SPECIAL = 1,   // control tokens written in the text become their ids
    MNW_ENCODE_BOS = 2,       // put the model's BOS first, and EOS last, where the model asks
};

/* Open a tokenizer: a GGUF file, a Hugging Face tokenizer.json, or a folder with one.
 *
 * Owns:   *out belongs to the caller; NULL on error.
 * Errors: as mnw_model_open; MNW_E_UNSUPPORTED names an unknown pre-tokenizer. */
MNW_API mnw_status mnw_tokenizer_open(mnw_ctx *ctx, const char *path, mnw_tokenizer **out);

/* Close a tokenizer opened with mnw_tokenizer_open (not a model's).  NULL is allowed. */
MNW_API void mnw_tokenizer_close(mnw_tokenizer *tok);

/* Encode `len` bytes of text.  Invalid UTF-8 is read as U+FFFD.
 *
 * Sets *n to the number of ids needed; writes at most `cap`.
 * Errors: MNW_E_BUFFER if cap was too small (`ids` may be NULL with cap 0); MNW_E_LIMIT over
 *         2^31-1 bytes; MNW_E_NOMEM.  Some vocabularies lack bytes that text hardly has; those are left
 *         out with the warning MNW_WARNING_TRUNCATED.
 * Threads: any number at once.
 * Allocs: working memory in proportion to the text, freed on return. */
MNW_API mnw_status mnw_tokenizer_encode(const mnw_tokenizer *tok, const char *text, size_t len,
                                        unsigned flags, int32_t *ids, size_t cap, size_t *n);

enum {
    MNW_DECODE_SPECIAL = 1,   // control tokens are written out
    MNW_DECODE_START = 2,     // the ids begin a text: leave out the space SentencePiece put in front
};

/* Decode ids to the bytes they stand for.  Control tokens give nothing unless
 * MNW_DECODE_SPECIAL is set.  The bytes may be cut inside a code point.
 *
 * Sets *len to the bytes needed; writes at most `cap`, no NUL.
 * Errors: MNW_E_BUFFER; MNW_E_ARG for an id outside the vocabulary. */
MNW_API mnw_status mnw_tokenizer_decode(const mnw_tokenizer *tok, const int32_t *ids, size_t n,
                                        unsigned flags, char *text, size_t cap, size_t *len);

/* Number of ids: 0 .. count-1. */
MNW_API uint32_t mnw_tokenizer_count(const mnw_tokenizer *tok);

/* Special ids; -1 if the model has none. */
MNW_API int32_t mnw_tokenizer_bos(const mnw_tokenizer *tok);
MNW_API int32_t mnw_tokenizer_eos(const mnw_tokenizer *tok);

/* Does this id end a reply (eos, end of turn, end of text)? */
MNW_API bool mnw_tokenizer_is_end(const mnw_tokenizer *tok, int32_t id);

/* Is this id a control token, never to be made from user text? */
MNW_API bool mnw_tokenizer_is_special(const mnw_tokenizer *tok, int32_t id);

/* The id of a token by its exact text ("<|im_end|>"); -1 if there is none. */
MNW_API int32_t mnw_tokenizer_find(const mnw_tokenizer *tok, const char *text, size_t len);

/* What kind it is: "bpe", "spm" or "unigram", and the pre-tokenizer's name ("" if it has none). */
MNW_API const char *mnw_tokenizer_kind(const mnw_tokenizer *tok);
MNW_API const char *mnw_tokenizer_pre(const mnw_tokenizer *tok);

#ifdef __cplusplus
}
#endif
#endif
