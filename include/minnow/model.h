/* SPDX-License-Identifier: Apache-2.0
 *
 * minnow/model.h - a model file, opened and ready: immutable, shareable between threads.
 *
 * Weights are used where mmap puts them, in the type they have in the file; opening reads the
 * metadata only.  A model may be used by many sessions on many threads at once.
 *
 *     mnw_model *m;
 *     if (mnw_model_open(ctx, "model.gguf", NULL, &m) != MNW_OK) puts(mnw_ctx_error(ctx));
 *     ...
 *     mnw_model_close(m);                      // after its sessions
 */
#ifndef MINNOW_MODEL_H
#define MINNOW_MODEL_H

#include <minnow/ctx.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mnw_model     mnw_model;
typedef struct mnw_tokenizer mnw_tokenizer;

typedef enum mnw_backend {
    MNW_BACKEND_DEFAULT = 0,   // cpu
    MNW_BACKEND_CPU = 1,       // fused, threaded, vectorised
    MNW_BACKEND_REF = 2,       // the readable scalar specification: slow, for comparison
} mnw_backend;

typedef struct mnw_model_opts {
    size_t      size;      // sizeof(mnw_model_opts)
    mnw_backend backend;   // [cpu]
    bool        no_map;    // read the file into memory instead of mapping it
} mnw_model_opts;

/* Open a model file (GGUF).
 *
 * Owns:   *out belongs to the caller; NULL on error.
 * Errors: MNW_E_NOENT, MNW_E_IO; MNW_E_FORMAT, MNW_E_LIMIT for a damaged file;
 *         MNW_E_UNSUPPORTED for an architecture or type minnow does not run; MNW_E_NOMEM;
 *         MNW_E_CANCELLED.  mnw_ctx_error() names the place.
 * Allocs: metadata and the tokenizer's tables. */
MNW_API mnw_status mnw_model_open(mnw_ctx *ctx, const char *path, const mnw_model_opts *opts,
                                  mnw_model **out);

/* The same for `length` bytes at `offset` of an open file (an Android asset, say).
 *
 * The descriptor stays the caller's and may be closed afterwards.  length 0 = to the end. */
MNW_API mnw_status mnw_model_open_fd(mnw_ctx *ctx, int fd, uint64_t offset, uint64_t length,
                                     const mnw_model_opts *opts, mnw_model **out);

/* The same for bytes in memory, 64-byte aligned, which must outlive the model. */
MNW_API mnw_status mnw_model_open_memory(mnw_ctx *ctx, const void *data, size_t size,
                                         const mnw_model_opts *opts, mnw_model **out);

/* Numbers of a model.  Filled up to the caller's `size`. */
typedef struct mnw_model_info {
    size_t      size;              // in: sizeof(mnw_model_info)
    const char *architecture;      // "llama"; lives as long as the model, like all text here
    const char *name;              // general.name, "" if absent
    uint64_t    n_params;
    uint64_t    weight_bytes;      // tensor data
    uint64_t    file_bytes;
    uint32_t    n_layers, n_embd, n_heads, n_kv_heads, head_dim, n_ff, n_vocab;
    uint32_t    n_ctx_train;
    uint64_t    kv_bytes_per_token_f16, kv_bytes_per_token_i8;
    bool        tied;              // the head is the embedding
    bool        mapped;            // weights are in a file mapping
    uint8_t     hash[32];          // SHA-256 of metadata and tensor directory: the identity
} mnw_model_info;

/* Describe the model. */
MNW_API mnw_status mnw_model_describe(const mnw_model *m, mnw_model_info *info);

/* Write a full description as JSON: configuration, tokenizer, every tensor.
 *
 * Writes at most `cap` bytes and a NUL to `buf`, sets *len to the length needed without NUL.
 * Errors: MNW_E_BUFFER if it did not fit; call again with *len + 1 bytes. */
MNW_API mnw_status mnw_model_json(const mnw_model *m, char *buf, size_t cap, size_t *len);

/* The model's tokenizer, owned by the model; NULL if the file has none. */
MNW_API const mnw_tokenizer *mnw_model_tokenizer(const mnw_model *m);

/* The model's chat template, NUL-terminated, owned by the model; NULL if the file has none. */
MNW_API const char *mnw_model_template(const mnw_model *m);

/* Verify a model file completely: structure, limits, tokenizer, shapes, checksums if it has any,
 * and that every scale is finite.  Reads all of it.
 *
 * Errors: the first fault, named by mnw_ctx_error(). */
MNW_API mnw_status mnw_model_check(mnw_ctx *ctx, const char *path);

/* Close.  Its sessions must be closed before.  NULL is allowed. */
MNW_API void mnw_model_close(mnw_model *m);

#ifdef __cplusplus
}
#endif
#endif
