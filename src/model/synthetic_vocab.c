/* SPDX-License-Identifier: Apache-2.0
 *
 * synthetic_vocab.c - a byte-level vocabulary of any size, without any text to learn it from.
 *
 *      0 .. 255             the bytes, from 'a' on, so that a small vocabulary has pairs of letters
 *      256 ..               pair j:     byte j / 256, byte j % 256
 *      65,792 ..            triple j:   pair j % 65,536, byte j / 65,536
 *      the last 26          control tokens
 */
#include "base/out.h"
#include "model/synthetic.h"
#include "text/bytelevel.h"

enum { BYTES = 256, PAIRS = BYTES * BYTES, NORMAL = 1, CONTROL = 3, TEXT = 32 };

static const char CHAT[] =
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

typedef struct vocab {
    mn_str  *token;    // [V]
    mn_str  *merge;    // [V - BYTES - MN_CONTROLS]
    int32_t *kind;     // [V]
} vocab;

static bool add(mn_pages *mem, mn_str *to, mn_str a, const char *between, mn_str b)
{
    char   text[TEXT];
    mn_out o = { .buf = text, .cap = sizeof text };
    mn_out_bytes(&o, a.p, a.n);
    mn_out_text(&o, between);
    mn_out_bytes(&o, b.p, b.n);
    to->p = mn_pages_text(mem, (mn_str){ text, o.len });
    to->n = o.len;
    return to->p != NULL;
}

static bool add_bytes(vocab *v, mn_pages *mem)
{
    for (uint32_t i = 0; i < BYTES; i++) {
        char         c[2];
        const size_t n = mn_bytelevel_put((uint8_t)('a' + i), c);
        if (!add(mem, &v->token[i], (mn_str){ c, n }, "", mn_str_of(""))) return false;
    }
    return true;
}

static bool add_merges(vocab *v, uint32_t n, mn_pages *mem)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t j = i - PAIRS;   // of a triple
        const mn_str   a = v->token[i < PAIRS ? i / BYTES : BYTES + j % PAIRS];
        const mn_str   b = v->token[i < PAIRS ? i % BYTES : j / PAIRS];
        if (!add(mem, &v->token[BYTES + i], a, "", b) || !add(mem, &v->merge[i], a, " ", b))
            return false;
    }
    return true;
}

static bool add_controls(vocab *v, uint32_t first, mn_pages *mem)
{
    static const char *const NAME[] = { "<|endoftext|>", "<|im_start|>", "<|im_end|>" };
    for (uint32_t i = 0; i < MN_CONTROLS; i++) {
        char   text[TEXT];
        mn_out o = { .buf = text, .cap = sizeof text };
        if (i < sizeof NAME / sizeof *NAME) mn_out_text(&o, NAME[i]);
        else mn_out_fmt(&o, "<|spare_%u|>", i);
        v->kind[first + i] = CONTROL;
        if (!add(mem, &v->token[first + i], (mn_str){ text, o.len }, "", mn_str_of(""))) return false;
    }
    return true;
}

mnw_status mn_synthetic_vocab(mn_gguf_writer *w, const mn_shape *s, mn_pages *mem, mn_err *err)
{
    const uint32_t controls = s->V - MN_CONTROLS, merges = controls - BYTES;
    vocab          v = {
                 .token = mn_pages_push(mem, s->V, sizeof *v.token),
                 .merge = mn_pages_push(mem, merges, sizeof *v.merge),
                 .kind = mn_pages_push(mem, s->V, sizeof *v.kind),
    };
    bool ok = v.token && v.merge && v.kind;
    for (uint32_t i = 0; ok && i < s->V; i++) v.kind[i] = NORMAL;
    ok = ok && add_bytes(&v, mem) && add_merges(&v, merges, mem) && add_controls(&v, controls, mem);
    MN_FAIL_IF(!ok, err, MNW_E_NOMEM, "no memory for %u tokens", s->V);

    mn_gguf_set_str(w, "tokenizer.ggml.model", mn_str_of("gpt2"));
    mn_gguf_set_str(w, "tokenizer.ggml.pre", mn_str_of(s->pre));
    mn_gguf_set_array(w, "tokenizer.ggml.tokens", MN_META_STR, v.token, s->V);
    mn_gguf_set_array(w, "tokenizer.ggml.token_type", MN_META_I32, v.kind, s->V);
    mn_gguf_set_array(w, "tokenizer.ggml.merges", MN_META_STR, v.merge, merges);
    mn_gguf_set_u32(w, "tokenizer.ggml.bos_token_id", controls);
    mn_gguf_set_u32(w, "tokenizer.ggml.eos_token_id", controls + 2);
    mn_gguf_set_u32(w, "tokenizer.ggml.padding_token_id", controls);
    mn_gguf_set_bool(w, "tokenizer.ggml.add_bos_token", false);
    mn_gguf_set_str(w, "tokenizer.chat_template", mn_str_of(CHAT));
    return MNW_OK;
}
