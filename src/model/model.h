/* SPDX-License-Identifier: Apache-2.0
 *
 * model.h - the inside of mnw_model: a mapped file, what it says, and where its weights are.
 */
#ifndef MN_MODEL_MODEL_H
#define MN_MODEL_MODEL_H

#include <minnow/model.h>

#include "base/context.h"
#include "kernel/kernels.h"
#include "model/weights.h"

struct mnw_model {
    mnw_ctx       *ctx;
    mn_map_file    file;       // the mapping, or memory of our own
    mn_bytes       bytes;      // the whole file, wherever it is
    mn_pages       mem;        // everything below that is not in the file
    mn_content     content;
    mn_config      config;
    mn_weights     weights;
    mn_kernels     kernels;    // for the context's processor
    mnw_tokenizer *tokenizer;  // NULL if the file has none
    const char    *name, *chat_template;   // "" and NULL if absent
    mnw_backend    backend;    // never DEFAULT
};

/* The context a model was opened with. */
mnw_ctx *mn_model_ctx(const mnw_model *m);

/* The model's identity: SHA-256 of its metadata and tensor directory.  Computed each time, because
 * hashing a large vocabulary takes longer than opening the file. */
void mn_model_hash(const mnw_model *m, uint8_t hash[32]);

#endif
