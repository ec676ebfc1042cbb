/* SPDX-License-Identifier: Apache-2.0
 *
 * job_plan.c - which tensor becomes which, between a Hugging Face folder and a GGUF file.
 *
 * model/weights.def says what a model has; one walk over it serves both directions.
 */
#include <inttypes.h>

#include "convert/hf_arch.h"
#include "convert/job.h"
#include "model/weights.h"

typedef enum need { MUST, MAY, NORM } need;

typedef struct planner {
    mn_job             *j;
    const mn_hf_config *h;
    const mn_content   *from;
    bool                to_gguf;
    bool               *used;     // [from->n_tensors]
    mn_err             *err;
} planner;

static mnw_status keep_name(planner *p, const char *pattern, uint32_t layer, mn_str *out)
{
    char         text[MN_WEIGHT_NAME];
    const mn_str s = mn_weight_name(text, pattern, layer);
    out->p = mn_pages_text(&p->j->mem, s);
    out->n = s.n;
    MN_FAIL_IF(!out->p, p->err, MNW_E_NOMEM, "%s", text);
    return MNW_OK;
}

static mn_move move_of(const planner *p, mn_hf_rows rows)
{
    if (p->h->c.arch->rope != MN_ROPE_PAIR || rows == MN_HF_ROWS_ANY) return MN_MOVE_PLAIN;
    return p->to_gguf ? MN_MOVE_TO_PAIRS : MN_MOVE_TO_HALVES;
}

static mnw_status add(planner *p, const char *pattern, uint32_t layer, need n, uint64_t rows,
                      uint64_t cols)
{
    const mn_hf_name *name = mn_hf_name_of(pattern);
    const bool        head = strcmp(pattern, "output.weight") == 0;
    mn_str            gguf, hf;
    MN_FAIL_IF(!name, p->err, MNW_E_INTERNAL, "%s: has no name outside", pattern);
    MN_TRY(keep_name(p, name->gguf, layer, &gguf));
    MN_TRY(keep_name(p, name->hf, layer, &hf));
    if (head && p->to_gguf) n = p->h->tied ? MAY : MUST;
    if (n == NORM && !p->h->c.arch->qk_norm) return MNW_OK;

    const mn_tensor *t = mn_tensor_find(p->from, p->to_gguf ? hf : gguf);
    MN_FAIL_IF(!t && n != MAY, p->err, MNW_E_FORMAT, "%s: missing, %s needs it",
               p->to_gguf ? hf.p : gguf.p, p->h->c.arch->name);
    if (!t) return MNW_OK;
    p->used[t - p->from->tensor] = true;
    if (head && p->h->tied) return MNW_OK;   // a copy of the embedding
    MN_FAIL_IF(t->dim[0] != cols || t->dim[1] != rows || t->dim[2] != 1 || t->dim[3] != 1, p->err,
               MNW_E_FORMAT, "%.*s: shape [%" PRIu64 ", %" PRIu64 "], expected [%" PRIu64 ", %" PRIu64
               "]", MN_STR(t->name), t->dim[1], t->dim[0], rows, cols);

    mn_transfer *m = &p->j->move[p->j->n_moves++];
    *m = (mn_transfer){ .from = t, .to = *t, .move = move_of(p, name->rows) };
    m->to.name = p->to_gguf ? gguf : hf;
    m->heads = name->rows == MN_HF_ROWS_Q ? p->h->c.H : p->h->c.K;
    if (p->to_gguf && t->dim[1] == 1) m->to.type = mn_dtype_from_id(MN_F32);   // for all readers
    else if (p->to_gguf) MN_TRY(mn_job_retype(p->j, m, p->err));
    MN_FAIL_IF(p->to_gguf && !mn_transfer_possible(t->type, m->to.type), p->err, MNW_E_UNSUPPORTED,
               "%.*s: type %s does not become %s", MN_STR(t->name), t->type->name, m->to.type->name);
    return MNW_OK;
}

static mnw_status walk(planner *p)
{
    const mn_config *c = &p->h->c;
    const size_t     n = p->from->n_tensors;
    p->used = mn_pages_push_zero(&p->j->mem, n, sizeof *p->used);
    p->j->move = mn_pages_push(&p->j->mem, n + 1, sizeof *p->j->move);   // one more: rope_freqs
    MN_FAIL_IF(!p->used || !p->j->move, p->err, MNW_E_NOMEM, "the list of %zu tensors", n);
#define G(field, need, rows, cols, gguf) MN_TRY(add(p, gguf, 0, need, rows, cols));
#include "model/weights.def"
    for (uint32_t l = 0; l < c->L; l++) {
#define W(field, need, rows, cols, gguf) MN_TRY(add(p, gguf, l, need, rows, cols));
#include "model/weights.def"
    }
    return MNW_OK;
}

static bool ends_in(mn_str s, const char *end)
{
    const size_t n = strlen(end);
    return s.n >= n && memcmp(s.p + s.n - n, end, n) == 0;
}

/* Some tensors only repeat what the configuration says. */
static mnw_status refuse_unknown(const planner *p)
{
    for (size_t i = 0; i < p->from->n_tensors; i++) {
        const mn_str name = p->from->tensor[i].name;
        if (p->used[i] || ends_in(name, "rotary_emb.inv_freq") || mn_str_is(name, "rope_freqs.weight")) {
            continue;
        }
        MN_FAIL(p->err, MNW_E_UNSUPPORTED, "%.*s: %s as minnow runs it has no such tensor",
                MN_STR(name), p->h->c.arch->name);
    }
    return MNW_OK;
}

static mnw_status add_rope_freqs(planner *p)
{
    const uint32_t n = p->h->c.rope.n / 2;
    mn_tensor     *t = mn_pages_push(&p->j->mem, 1, sizeof *t);
    float         *value = mn_pages_push(&p->j->mem, n, sizeof *value);
    MN_FAIL_IF(!t || !value, p->err, MNW_E_NOMEM, "rope_freqs.weight");
    mn_hf_rope_divisors(p->h, value);
    *t = (mn_tensor){ .name = mn_str_of("rope_freqs.weight"), .type = mn_dtype_from_id(MN_F32),
                      .n_dims = 1, .dim = { n, 1, 1, 1 }, .bytes = n * sizeof *value,
                      .data = (const uint8_t *)value };
    p->j->move[p->j->n_moves++] = (mn_transfer){ .from = t, .to = *t };
    return MNW_OK;
}

mnw_status mn_job_plan_to_gguf(mn_job *j, const mn_hf_config *h, const mn_content *from, mn_err *err)
{
    planner p = { .j = j, .h = h, .from = from, .to_gguf = true, .err = err };
    MN_TRY(walk(&p));
    MN_TRY(refuse_unknown(&p));
    return strcmp(h->rope.scaling, "llama3") == 0 ? add_rope_freqs(&p) : MNW_OK;
}

/* The type of a folder's matrices: what all of them have, else f32, which holds all that minnow reads. */
static const mn_dtype *type_in_folder(const mn_job *j)
{
    const mn_dtype *type = j->type;
    for (size_t i = 0; i < j->n_moves && !j->type; i++) {
        const mn_dtype *t = j->move[i].from->type;
        if (j->move[i].from->dim[1] == 1) continue;
        if (!type) type = t;
        const bool plain = t->id == MN_F32 || t->id == MN_F16 || t->id == MN_BF16;
        if (t != type || !plain) return mn_dtype_from_id(MN_F32);
    }
    return type ? type : mn_dtype_from_id(MN_F32);
}

mnw_status mn_job_plan_to_hf(mn_job *j, const mn_hf_config *h, const mn_content *from, mn_err *err)
{
    planner p = { .j = j, .h = h, .from = from, .err = err };
    MN_TRY(walk(&p));
    MN_TRY(refuse_unknown(&p));
    j->type = type_in_folder(j);
    for (size_t i = 0; i < j->n_moves; i++) {
        mn_transfer *m = &j->move[i];
        const bool   vector = m->from->dim[1] == 1;
        MN_FAIL_IF(!mn_transfer_possible(m->from->type, j->type), err, MNW_E_UNSUPPORTED,
                   "%.*s: type %s does not become %s", MN_STR(m->from->name), m->from->type->name,
                   j->type->name);
        m->to.type = vector && !mn_transfer_exact(m, j->type->id) ? mn_dtype_from_id(MN_F32) : j->type;
    }
    return MNW_OK;
}
