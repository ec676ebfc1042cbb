/* SPDX-License-Identifier: Apache-2.0
 *
 * tiny.h - small models with random weights, built in memory as GGUF, so that no binary is kept.
 *
 *     tiny t = { .arch = "qwen3", .type = MN_Q4_0 };      // zero in any field: see tiny_defaults
 *     tiny_file f = tiny_build(&t);
 *     ... mnw_model_open_memory(ctx, f.data, f.size, NULL, &m) ...
 *     tiny_free(&f);
 *
 * A file can be damaged on purpose: one count replaced, one tensor left out or reshaped.
 */
#ifndef MN_TESTS_TINY_H
#define MN_TESTS_TINY_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/meta.h"
#include "base/native.h"

typedef struct tiny {
    const char *arch;                        // "llama", "qwen2" (with biases), "qwen3" (qk-norm)
    uint32_t    L, D, H, K, P, F, V, n_ctx;
    uint32_t    type;                        // of matrices, MN_F32 is 0
    uint32_t    embd_type;                   // of the embedding and the head
    bool        untied;                      // a head of its own
    bool        copied_head;                 // one with the embedding's values
    bool        f16_norms;
    bool        rope_freqs;                  // a tensor of divisors
    const char *scaling;                     // rope.scaling.type
    bool        no_tokenizer;
    uint64_t    seed;

    const char *set_key;                     // this key is written as set_type, set_value
    uint32_t    set_type;
    int64_t     set_value;                   // a key without the architecture's name in front
    const char *exact_inputs[4];             // minnow.exact_inputs, up to a NULL
    bool        says_inputs;                 // the item is there
    const char *skip;                        // this tensor is left out
    const char *widen;                       // this tensor gets 32 more rows
    const char *retype;                      // this tensor gets the type MN_I8
    const char *extra;                       // a tensor nobody asks for
} tiny;

typedef struct tiny_file {
    uint8_t *data;   // 64-byte aligned
    size_t   size;
} tiny_file;

static inline void tiny_defaults(tiny *t)
{
    if (!t->arch) t->arch = "llama";
    if (!t->L) t->L = 2;
    if (!t->D) t->D = 256;
    if (!t->H) t->H = 8;
    if (!t->K) t->K = 2;
    if (!t->P) t->P = 32;
    if (!t->F) t->F = 512;
    if (!t->V) t->V = 320;
    if (!t->n_ctx) t->n_ctx = 256;
    if (!t->seed) t->seed = 1;
}

/* The file is written twice: once to learn its size, once into memory.  (And first of all, how many
 * native tensors there are.) */
typedef struct tiny_out {
    uint8_t *at;      // NULL: only count
    size_t   n;
    uint64_t kv, tensors, native, offset;
    uint64_t rng;
} tiny_out;

static inline void tiny_bytes(tiny_out *o, const void *p, size_t n)
{
    if (o->at) memcpy(o->at + o->n, p, n);
    o->n += n;
}

static inline void tiny_uint(tiny_out *o, uint64_t v, size_t n)
{
    uint8_t b[8];
    for (size_t i = 0; i < n; i++) b[i] = (uint8_t)(v >> (8 * i));
    tiny_bytes(o, b, n);
}

static inline void tiny_str(tiny_out *o, const char *s)
{
    tiny_uint(o, strlen(s), 8);
    tiny_bytes(o, s, strlen(s));
}

static inline void tiny_key(tiny_out *o, const char *key, uint32_t type)
{
    tiny_str(o, key);
    tiny_uint(o, type, 4);
    o->kv++;
}

static inline void tiny_kv_str(tiny_out *o, const char *key, const char *value)
{
    tiny_key(o, key, MN_META_STR);
    tiny_str(o, value);
}

static inline void tiny_kv_f32(tiny_out *o, const char *key, float value)
{
    tiny_key(o, key, MN_META_F32);
    uint32_t u;
    memcpy(&u, &value, 4);
    tiny_uint(o, u, 4);
}

/* "<arch>.<name>" = value, unless the test wants another. */
static inline void tiny_count(tiny_out *o, const tiny *t, const char *name, uint32_t value)
{
    char key[128];
    snprintf(key, sizeof key, "%s.%s", t->arch, name);
    if (!t->set_key || strcmp(name, t->set_key) != 0) {
        tiny_key(o, key, MN_META_U32);
        tiny_uint(o, value, 4);
        return;
    }
    tiny_key(o, key, t->set_type);
    switch (t->set_type) {
    case MN_META_U32:
    case MN_META_I32: tiny_uint(o, (uint64_t)t->set_value, 4); break;
    case MN_META_U64:
    case MN_META_I64: tiny_uint(o, (uint64_t)t->set_value, 8); break;
    default:   // an array of two numbers
        tiny_uint(o, MN_META_U32, 4);
        tiny_uint(o, 2, 8);
        tiny_uint(o, (uint64_t)t->set_value, 4);
        tiny_uint(o, (uint64_t)t->set_value, 4);
    }
}

static inline uint32_t tiny_random(tiny_out *o)   // xorshift64*
{
    o->rng ^= o->rng >> 12;
    o->rng ^= o->rng << 25;
    o->rng ^= o->rng >> 27;
    return (uint32_t)(o->rng * 0x2545F4914F6CDD1Du >> 32);
}

static inline double tiny_uniform(tiny_out *o)   // (-1, 1)
{
    return ((double)tiny_random(o) + 0.5) / 2147483648.0 - 1.0;
}

/* One block of random weights whose standard deviation is about `std`. */
static inline void tiny_block(tiny_out *o, const mn_dtype *type, double std, double mean)
{
    /* per type: codes' deviation, where the scale is, where the minimum is and what it is in scales */
    static const struct {
        uint32_t id;
        double   deviation;
        size_t   scale, min;
        double   min_in_scales;
    } FORM[] = {
        { MN_Q4_0, 4.6, 0, 0, 0 },         { MN_Q4_1, 4.6, 0, 2, -7.5 },
        { MN_Q5_0, 9.2, 0, 0, 0 },         { MN_Q5_1, 9.2, 0, 2, -15.5 },
        { MN_Q8_0, 74, 0, 0, 0 },          { MN_Q4_K, 31 * 4.6, 0, 2, 7.5 },
        { MN_Q5_K, 31 * 9.2, 0, 2, 15.5 }, { MN_Q6_K, 73 * 18.5, 208, 0, 0 },
    };
    const double x = mean + std * 1.7 * tiny_uniform(o);
    const float  f = (float)x;
    uint8_t      b[256];
    uint16_t     h;
    switch (type->id) {
    case MN_F32: tiny_bytes(o, &f, 4); return;
    case MN_F16: h = mn_f32_to_f16(f); tiny_bytes(o, &h, 2); return;
    case MN_BF16: h = mn_f32_to_bf16(f); tiny_bytes(o, &h, 2); return;
    default: break;
    }
    for (size_t i = 0; i < type->block_bytes; i++) b[i] = (uint8_t)tiny_random(o);
    for (size_t i = 0; i < sizeof FORM / sizeof *FORM; i++) {
        if (FORM[i].id != (uint32_t)type->id) continue;
        /* either sign, because codes such as -8..7 are not centred: all rows would lean one way */
        const double sign = tiny_random(o) & 1 ? 1.0 : -1.0;
        const double d = sign * std / FORM[i].deviation * (1.0 + 0.5 * tiny_uniform(o));
        h = mn_f32_to_f16((float)d);
        memcpy(b + FORM[i].scale, &h, 2);
        h = mn_f32_to_f16((float)(d * FORM[i].min_in_scales));
        if (FORM[i].min) memcpy(b + FORM[i].min, &h, 2);
    }
    tiny_bytes(o, b, type->block_bytes);
}

/* A matrix in a native format: any codes, and scales of either sign, 0 for rows of padding. */
static inline void tiny_native(tiny_out *o, const mn_dtype *type, uint64_t rows, uint64_t bytes,
                               double std)
{
    const double   deviation = type->id == MN_Q4X ? 41 : 74;
    const uint64_t padded = (rows + 15) / 16 * 16;
    for (uint64_t r = 0; r < padded; r++) {
        const double sign = tiny_random(o) & 1 ? 1.0 : -1.0;
        const float  f = (float)(sign * std / deviation * (1.0 + 0.5 * tiny_uniform(o)));
        tiny_bytes(o, r < rows ? &f : &(float){ 0 }, 4);
    }
    for (uint64_t i = 4 * padded; i < bytes; i++) tiny_uint(o, tiny_random(o) & 255, 1);
}

/* A tensor is visited several times: for the directory, for its data, and if it is native for the items
 * that say so. */
typedef enum tiny_pass { TINY_NAMES, TINY_SHAPES, TINY_DIR, TINY_DATA } tiny_pass;

static inline void tiny_tensor(tiny_out *o, const tiny *t, tiny_pass pass, const char *name,
                               uint32_t id, uint64_t rows, uint64_t cols, double std, double mean)
{
    if (t->skip && strcmp(name, t->skip) == 0) return;
    if (t->widen && strcmp(name, t->widen) == 0) rows += 32;
    if (t->retype && strcmp(name, t->retype) == 0) id = MN_I8;
    const mn_dtype *type = mn_dtype_of((mn_dtype_id)id);
    const uint64_t  blocks = rows * cols / type->block;
    uint64_t        bytes = blocks * type->block_bytes;
    if (type->native) mn_dtype_matrix_bytes(type, rows, cols, &bytes);
    const uint64_t padded = (bytes + (type->native ? 64 : 0) + 63) / 64 * 64;
    switch (pass) {
    case TINY_NAMES:
        if (type->native) tiny_str(o, name);
        return;
    case TINY_SHAPES:
        if (!type->native) return;
        tiny_uint(o, id == MN_Q4X ? 4 : 8, 8);
        tiny_uint(o, rows, 8);
        tiny_uint(o, cols, 8);
        return;
    case TINY_DIR:
        tiny_str(o, name);
        tiny_uint(o, rows == 1 || type->native ? 1 : 2, 4);
        tiny_uint(o, type->native ? bytes : cols, 8);
        if (rows != 1 && !type->native) tiny_uint(o, rows, 8);
        tiny_uint(o, type->native ? MN_I8 : id, 4);
        tiny_uint(o, o->offset, 8);
        o->offset += padded;
        o->tensors++;
        if (type->native) o->native++;
        return;
    case TINY_DATA: break;
    }
    const uint64_t keep = o->rng;   // a tensor's values depend on its name only
    for (const char *c = strcmp(name, "output.weight") == 0 && t->copied_head ? "token_embd.weight"
                                                                              : name;
         *c; c++)
        o->rng = (o->rng ^ (uint64_t)(uint8_t)*c) * 0x9E3779B97F4A7C15u | 1;
    if (type->native && o->at) tiny_native(o, type, rows, bytes, std);
    for (uint64_t i = 0; i < blocks && o->at && !type->native; i++) tiny_block(o, type, std, mean);
    if (!o->at) o->n += (size_t)bytes;
    o->rng = keep;
    for (uint64_t i = bytes; i < padded; i++) tiny_uint(o, 0, 1);
}

static inline void tiny_tensors(tiny_out *o, const tiny *t, tiny_pass pass)
{
    const bool     qwen2 = strcmp(t->arch, "qwen2") == 0, qwen3 = strcmp(t->arch, "qwen3") == 0;
    const uint32_t HP = t->H * t->P, KP = t->K * t->P, norm = t->f16_norms ? MN_F16 : MN_F32;
    char           name[96];
    tiny_tensor(o, t, pass, "token_embd.weight", t->embd_type, t->V, t->D, 0.1, 0);
    tiny_tensor(o, t, pass, "output_norm.weight", norm, 1, t->D, 0.2, 1);
    if (t->untied || t->copied_head)
        tiny_tensor(o, t, pass, "output.weight", t->embd_type, t->V, t->D, 0.1, 0);
    if (t->rope_freqs) tiny_tensor(o, t, pass, "rope_freqs.weight", MN_F32, 1, t->P / 2, 0.5, 2);
    if (t->extra) tiny_tensor(o, t, pass, t->extra, MN_F32, 1, 32, 1, 0);
    for (uint32_t l = 0; l < t->L; l++) {
#define TENSOR(suffix, type, rows, cols, std, mean)                              \
    snprintf(name, sizeof name, "blk.%u." suffix, l);                            \
    tiny_tensor(o, t, pass, name, type, rows, cols, std, mean)
        TENSOR("attn_norm.weight", norm, 1, t->D, 0.2, 1);
        TENSOR("attn_q.weight", t->type, HP, t->D, 1.0 / sqrt(t->D), 0);
        TENSOR("attn_k.weight", t->type, KP, t->D, 1.0 / sqrt(t->D), 0);
        TENSOR("attn_v.weight", t->type, KP, t->D, 1.0 / sqrt(t->D), 0);
        if (qwen2) {
            TENSOR("attn_q.bias", MN_F32, 1, HP, 0.3, 0);
            TENSOR("attn_k.bias", MN_F32, 1, KP, 0.3, 0);
            TENSOR("attn_v.bias", MN_F32, 1, KP, 0.3, 0);
        }
        if (qwen3) {
            TENSOR("attn_q_norm.weight", MN_F32, 1, t->P, 0.2, 1);
            TENSOR("attn_k_norm.weight", MN_F32, 1, t->P, 0.2, 1);
        }
        TENSOR("attn_output.weight", t->type, t->D, HP, 1.0 / sqrt(HP), 0);
        TENSOR("ffn_norm.weight", norm, 1, t->D, 0.2, 1);
        TENSOR("ffn_gate.weight", t->type, t->F, t->D, 1.0 / sqrt(t->D), 0);
        TENSOR("ffn_up.weight", t->type, t->F, t->D, 1.0 / sqrt(t->D), 0);
        TENSOR("ffn_down.weight", t->type, t->D, t->F, 1.0 / sqrt(t->F), 0);
#undef TENSOR
    }
}

/* Byte-level BPE: one token per byte, then control tokens, then fillers up to V. */
static inline void tiny_tokenizer(tiny_out *o, const tiny *t)
{
    static const char *const CONTROL[] = { "<|endoftext|>", "<|im_start|>", "<|im_end|>" };
    tiny_kv_str(o, "tokenizer.ggml.model", "gpt2");
    tiny_kv_str(o, "tokenizer.ggml.pre", "gpt-2");
    tiny_key(o, "tokenizer.ggml.tokens", MN_META_ARRAY);
    tiny_uint(o, MN_META_STR, 4);
    tiny_uint(o, t->V, 8);
    for (uint32_t id = 0, other = 256; id < t->V; id++) {
        char s[32];
        if (id < 256) {   // the usual renaming of bytes to printable code points
            const bool     same = (id >= 33 && id <= 126) || (id >= 161 && id <= 172) || id >= 174;
            const uint32_t cp = same ? id : other++;
            if (cp < 128) snprintf(s, sizeof s, "%c", (int)cp);
            else snprintf(s, sizeof s, "%c%c", (int)(0xC0 | cp >> 6), (int)(0x80 | (cp & 63)));
        } else if (id < 259) {
            snprintf(s, sizeof s, "%s", CONTROL[id - 256]);
        } else {
            snprintf(s, sizeof s, "<|unused_%u|>", id);
        }
        tiny_str(o, s);
    }
    tiny_key(o, "tokenizer.ggml.token_type", MN_META_ARRAY);
    tiny_uint(o, MN_META_I32, 4);
    tiny_uint(o, t->V, 8);
    for (uint32_t id = 0; id < t->V; id++) tiny_uint(o, id < 256 ? 1 : 3, 4);
    tiny_key(o, "tokenizer.ggml.merges", MN_META_ARRAY);
    tiny_uint(o, MN_META_STR, 4);
    tiny_uint(o, 0, 8);
    tiny_key(o, "tokenizer.ggml.eos_token_id", MN_META_U32);
    tiny_uint(o, 258, 4);
}

static inline void tiny_meta(tiny_out *o, const tiny *t, uint64_t native)
{
    char key[128];
    tiny_kv_str(o, "general.architecture", t->arch);
    tiny_key(o, "general.alignment", MN_META_U32);
    tiny_uint(o, 64, 4);
    if (t->says_inputs) {
        uint64_t n = 0;
        while (t->exact_inputs[n]) n++;
        tiny_key(o, "minnow.exact_inputs", MN_META_ARRAY);
        tiny_uint(o, MN_META_STR, 4);
        tiny_uint(o, n, 8);
        for (uint64_t i = 0; i < n; i++) tiny_str(o, t->exact_inputs[i]);
    }
    if (native) {
        tiny_key(o, "q4x.version", MN_META_U32);
        tiny_uint(o, 1, 4);
        tiny_key(o, "q4x.names", MN_META_ARRAY);
        tiny_uint(o, MN_META_STR, 4);
        tiny_uint(o, native, 8);
        tiny_tensors(o, t, TINY_NAMES);
        tiny_key(o, "q4x.shapes", MN_META_ARRAY);
        tiny_uint(o, MN_META_U64, 4);
        tiny_uint(o, 3 * native, 8);
        tiny_tensors(o, t, TINY_SHAPES);
    }
    tiny_kv_str(o, "general.name", "tiny");
    tiny_count(o, t, "block_count", t->L);
    tiny_count(o, t, "context_length", t->n_ctx);
    tiny_count(o, t, "embedding_length", t->D);
    tiny_count(o, t, "feed_forward_length", t->F);
    tiny_count(o, t, "attention.head_count", t->H);
    tiny_count(o, t, "attention.head_count_kv", t->K);
    tiny_count(o, t, "attention.key_length", t->P);
    tiny_count(o, t, "expert_count", 0);
    snprintf(key, sizeof key, "%s.attention.layer_norm_rms_epsilon", t->arch);
    tiny_kv_f32(o, key, 1e-5f);
    snprintf(key, sizeof key, "%s.rope.freq_base", t->arch);
    tiny_kv_f32(o, key, 10000.0f);
    if (t->scaling) {
        snprintf(key, sizeof key, "%s.rope.scaling.type", t->arch);
        tiny_kv_str(o, key, t->scaling);
        snprintf(key, sizeof key, "%s.rope.scaling.factor", t->arch);
        tiny_kv_f32(o, key, 4.0f);
        tiny_count(o, t, "rope.scaling.original_context_length", 64);
    }
    if (!t->no_tokenizer) tiny_tokenizer(o, t);
}

static inline void tiny_write(tiny_out *o, const tiny *t, uint64_t tensors, uint64_t kv,
                              uint64_t native)
{
    tiny_bytes(o, "GGUF", 4);
    tiny_uint(o, 3, 4);
    tiny_uint(o, tensors, 8);
    tiny_uint(o, kv, 8);
    tiny_meta(o, t, native);
    tiny_tensors(o, t, TINY_DIR);
    while (o->n % 64 != 0) tiny_uint(o, 0, 1);
    tiny_tensors(o, t, TINY_DATA);
}

static inline tiny_file tiny_build(const tiny *wanted)
{
    tiny t = *wanted;
    tiny_defaults(&t);
    tiny_out count = { .rng = t.seed };
    tiny_tensors(&count, &t, TINY_DIR);
    const uint64_t native = count.native;
    count = (tiny_out){ .rng = t.seed };
    tiny_write(&count, &t, 0, 0, native);

    tiny_file f = { .size = count.n };
    f.data = aligned_alloc(64, (count.n + 63) / 64 * 64);
    if (!f.data) return (tiny_file){ 0 };
    tiny_out o = { .at = f.data, .rng = t.seed };
    tiny_write(&o, &t, count.tensors, count.kv, native);
    return f;
}

static inline void tiny_free(tiny_file *f)
{
    free(f->data);
    *f = (tiny_file){ 0 };
}

#endif
