/* SPDX-License-Identifier: Apache-2.0
 *
 * hf_arch.h - names: of architectures and tensors in Hugging Face folders and in GGUF files.
 */
#ifndef MN_CONVERT_HF_ARCH_H
#define MN_CONVERT_HF_ARCH_H

#include "convert/transfer.h"
#include "text/json_slot.h"

typedef struct mn_hf_arch {
    const char *arch, *model_type, *class_name;
} mn_hf_arch;

/* The row for a model_type, or for an architecture of GGUF (the first that has it); NULL if none. */
const mn_hf_arch *mn_hf_arch_of_type(const mn_json *model_type);
const mn_hf_arch *mn_hf_arch_of(const char *arch);

/* "llama, mistral, qwen2, qwen3" */
const char *mn_hf_arch_types(void);

typedef enum mn_hf_rows {   // whose order may differ
    MN_HF_ROWS_ANY,
    MN_HF_ROWS_Q,
    MN_HF_ROWS_K,
} mn_hf_rows;

typedef struct mn_hf_name {
    const char *gguf, *hf;   // '#' is the layer
    mn_hf_rows  rows;
} mn_hf_name;

/* The Hugging Face name for a pattern of model/weights.def; NULL if there is none. */
const mn_hf_name *mn_hf_name_of(const char *gguf);

#endif
