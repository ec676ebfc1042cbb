/* SPDX-License-Identifier: Apache-2.0
 *
 * hf_config.h - what a model says about itself, apart from the form in which it says it.
 *
 *      config.json, generation_config.json  <-->  mn_hf_config  <-->  items of a GGUF file
 */
#ifndef MN_CONVERT_HF_CONFIG_H
#define MN_CONVERT_HF_CONFIG_H

#include "base/out.h"
#include "format/gguf_write.h"
#include "model/config.h"

enum { MN_HF_ENDS = 16 };

typedef struct mn_hf_rope {
    const char *scaling;             // "none", "linear", "llama3", "yarn"
    double      factor, original;    // original context; 0 = not given
    double      low, high;           // llama3
    double      fast, slow;          // yarn
    double      attention;           // yarn: on top of 1 + ln(factor) / 10
} mn_hf_rope;

typedef struct mn_hf_config {
    mn_config   c;                   // but for the table of frequencies
    mn_hf_rope  rope;
    bool        tied;
    int64_t     bos, pad;            // -1 = not given
    int64_t     eos[MN_HF_ENDS];
    unsigned    n_eos;
    double      temp, top_k, top_p, min_p, repeat;   // defaults of sampling; NaN = not given
} mn_hf_config;

/* Read config.json and, unless it is empty, generation_config.json.
 *
 * Errors: MNW_E_FORMAT for what is missing or impossible, MNW_E_UNSUPPORTED for an architecture or a
 *         variant minnow does not run; both name the key. */
mnw_status mn_hf_config_read(mn_bytes config, mn_bytes generation, mn_hf_config *h, mn_err *err);

/* Write them; `dtype` is "float32", "float16" or "bfloat16". */
void mn_hf_config_write(mn_out *o, const mn_hf_config *h, const char *dtype, bool biases);
void mn_hf_generation_write(mn_out *o, const mn_hf_config *h);

/* Say it in items: everything but the tokenizer. */
void mn_hf_config_to_gguf(const mn_hf_config *h, mn_gguf_writer *w);

/* The divisors of llama3's frequencies, rope_freqs.weight: [c.rope.n / 2]. */
void mn_hf_rope_divisors(const mn_hf_config *h, float *out);

/* Read it from items and rope_freqs.weight; tables go to `mem`.  Errors: as mn_config_read. */
mnw_status mn_hf_config_from_gguf(const mn_content *content, mn_pages *mem, mn_hf_config *h,
                                  mn_err *err);

#endif
