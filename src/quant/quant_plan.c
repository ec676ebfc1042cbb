/* SPDX-License-Identifier: Apache-2.0
 *
 * quant_plan.c - which tensor gets which type, and in which order they lie in the new file.
 *
 * Execution order, so that reading ahead reads what comes next: what is needed first, then layer by layer in
 * the order of model/weights.def, then what is needed last.  An embedding that is the head as well is needed
 * whole only there.
 */
#include "quant/quant.h"

#include <inttypes.h>
#include <string.h>

#include "base/native.h"
#include "kernel/quantize.h"
#include "model/config.h"

/* X(type, better, instead): what an upgrade makes of it; what a matrix gets whose rows are no whole blocks, or
 * which is no matrix of two dimensions. */
#define TYPES(X)              \
    X(Q4X, Q8X, Q4_0)         \
    X(Q8X, Q8_0, Q8_0)        \
    X(Q8_0, Q8_0, F16)        \
    X(Q4_0, Q8_0, F16)        \
    X(Q4_1, Q8_0, F16)        \
    X(Q4_K, Q6_K, Q5_0)       \
    X(Q5_K, Q6_K, Q5_1)       \
    X(Q6_K, Q6_K, Q8_0)       \
    X(Q5_0, Q8_0, F16)        \
    X(Q5_1, Q8_0, F16)        \
    X(F16, F16, F16)          \
    X(BF16, BF16, BF16)       \
    X(F32, F32, F32)

typedef struct row {
    mn_dtype_id type, better, instead;
} row;

static const row ROWS[] = {
#define X(type, better, instead) { MN_##type, MN_##better, MN_##instead },
    TYPES(X)
#undef X
};
#define N_ROWS (sizeof ROWS / sizeof *ROWS)

static const row *row_of(mn_dtype_id type)
{
    for (size_t i = 0; i < N_ROWS; i++) {
        if (ROWS[i].type == type) return &ROWS[i];
    }
    return NULL;
}

const char *mnw_quantize_types(void)
{
    return "q4x q8x q8_0 q4_0 q4_1 q4_k q5_k q6_k q5_0 q5_1 f16 bf16 f32";
}

const mn_dtype *mn_quant_type(const char *name)
{
    for (size_t i = 0; i < N_ROWS; i++) {
        const mn_dtype *t = mn_dtype_of(ROWS[i].type);
        if (strcmp(t->name, name) == 0) return t;
    }
    return NULL;
}

const mn_dtype *mn_quant_better(const mn_dtype *t)
{
    const row *r = row_of(t->id);
    return r && r->better != t->id ? mn_dtype_of(r->better) : NULL;
}

bool mn_quant_match(const char *glob, mn_str name)
{
    size_t      i = 0, star_at = 0;
    const char *star = NULL;
    while (i < name.n) {
        if (*glob == '*') {
            star = ++glob;
            star_at = i;
        } else if (*glob == '?' || (*glob && *glob == name.p[i])) {
            glob++;
            i++;
        } else if (star) {   // let the last star take one more
            glob = star;
            i = ++star_at;
        } else {
            return false;
        }
    }
    while (*glob == '*') glob++;
    return !*glob;
}

static bool is_vector(const mn_quant_item *it)
{
    return it->rows == 1;
}

static bool is_float(const mn_dtype *t)
{
    return t->id == MN_F32 || t->id == MN_F16 || t->id == MN_BF16;
}

static bool fits(const mn_quant_item *it, const mn_dtype *t)
{
    uint64_t bytes;
    if (t->native && it->from->n_dims != 2) return false;
    return mn_dtype_matrix_bytes(t, it->rows, it->cols, &bytes);
}

void mn_quant_set_type(mn_quant_item *it, const mn_dtype *type)
{
    it->wanted = NULL;
    const mn_dtype *t = type;
    while (!fits(it, t)) t = mn_dtype_of(row_of(t->id)->instead);
    if (t != type) it->wanted = type;
    it->type = t;
    mn_dtype_matrix_bytes(t, it->rows, it->cols, &it->bytes);   // the source's size did not overflow: nor
                                                                // does this, at 4 bytes a value at most
}

/* Does a rule speak of this tensor?  One that asks for a type of matrices does not of vectors. */
static bool applies(const mnw_quantize_rule *r, const mn_tensor *t)
{
    const bool vector = t->dim[1] * t->dim[2] * t->dim[3] == 1;
    if (!mn_quant_match(r->glob, t->name)) return false;
    return !vector || !*r->type || is_float(mn_quant_type(r->type));
}

/* The rule for a tensor; NULL if there is none. */
static const mnw_quantize_rule *rule_for(const mn_quant *q, const mn_tensor *t)
{
    for (size_t i = 0; i < q->opts.n_rules; i++) {
        if (applies(&q->opts.rules[i], t)) return &q->opts.rules[i];
    }
    return NULL;
}

static void choose(mn_quant *q, mn_quant_item *it)
{
    const mnw_quantize_rule *rule = rule_for(q, it->from);
    const mn_dtype          *now = it->from->type;
    it->fixed = true;
    if (now->id == MN_I8 || now->id == MN_I32 || (rule && !*rule->type)) {
        it->type = now;
        it->bytes = it->from->bytes;
    } else if (rule) {
        mn_quant_set_type(it, mn_quant_type(rule->type));
    } else if (is_vector(it)) {
        mn_quant_set_type(it, mn_dtype_of(MN_F32));
    } else {
        mn_quant_set_type(it, mn_quant_type(q->opts.type));
        it->fixed = false;
    }
}

static mnw_status check_rules(const mn_quant *q, mn_err *err)
{
    for (size_t i = 0; i < q->opts.n_rules; i++) {
        const mnw_quantize_rule *r = &q->opts.rules[i];
        bool                     used = false;
        MN_FAIL_IF(!r->glob || !r->type, err, MNW_E_ARG, "rule %zu: NULL", i);
        MN_FAIL_IF(*r->type && !mn_quant_type(r->type), err, MNW_E_ARG,
                   "rule %s: type %s, expected one of: %s", r->glob, r->type, mnw_quantize_types());
        for (size_t t = 0; t < q->content.n_tensors && !used; t++)
            used = applies(r, &q->content.tensor[t]);
        MN_FAIL_IF(!used, err, MNW_E_ARG, "rule %s: no %s has such a name", r->glob,
                   *r->type && !is_float(mn_quant_type(r->type)) ? "matrix" : "tensor");
    }
    return MNW_OK;
}

/* Execution order.  A key is place * RANKS + rank: places are segments, ranks are inside a layer. */
enum { RANKS = 64, FIRST = 0, LAYERS = 1, LAST = LAYERS + (int)MN_MAX_LAYERS, TIED, PLACES };

static const char *const ORDER[] = {
#define W(field, need, rows, cols, gguf) gguf,
#include "model/weights.def"
};
#define N_ORDER (sizeof ORDER / sizeof *ORDER)
_Static_assert(N_ORDER < 64, "a rank for each weight of a layer, and one for others");

bool mn_layer_of(mn_str name, uint32_t *layer, mn_str *rest)
{
    static const char PREFIX[] = "blk.";
    size_t            i = sizeof PREFIX - 1;
    uint32_t          n = 0;
    if (name.n < i || memcmp(name.p, PREFIX, i) != 0) return false;
    for (; i < name.n && name.p[i] >= '0' && name.p[i] <= '9' && n < MN_MAX_LAYERS; i++)
        n = 10 * n + (uint32_t)(name.p[i] - '0');
    if (i == sizeof PREFIX - 1 || i >= name.n || name.p[i] != '.' || n >= MN_MAX_LAYERS) return false;
    *layer = n;
    *rest = (mn_str){ name.p + i, name.n - i };
    return true;
}

static uint32_t key_of(const mn_content *c, mn_str name)
{
    uint32_t layer;
    mn_str   rest;
    if (mn_str_is(name, "rope_freqs.weight")) return FIRST * RANKS;
    if (mn_str_is(name, "token_embd.weight"))
        return (mn_tensor_find(c, mn_str_of("output.weight")) ? FIRST : TIED) * RANKS;
    if (!mn_layer_of(name, &layer, &rest)) return LAST * RANKS;
    uint32_t rank = 0;
    while (rank < N_ORDER && !mn_str_is(rest, strchr(ORDER[rank], '#') + 1)) rank++;
    return (LAYERS + layer) * RANKS + rank;
}

/* Counting sort: order of the file among equals. */
static mnw_status order(mn_quant *q, mn_err *err)
{
    const mn_content *c = &q->content;
    const size_t      keys = (size_t)PLACES * RANKS;
    uint32_t         *first = mn_pages_push_zero(&q->mem, keys + 1, sizeof *first);
    q->item = mn_pages_push_zero(&q->mem, c->n_tensors, sizeof *q->item);
    MN_FAIL_IF(!first || !q->item, err, MNW_E_NOMEM, "no memory for a list of %zu tensors", c->n_tensors);
    q->n = c->n_tensors;
    for (size_t i = 0; i < q->n; i++) first[key_of(c, c->tensor[i].name) + 1]++;
    for (size_t k = 0; k < keys; k++) first[k + 1] += first[k];
    for (size_t i = 0; i < q->n; i++) {
        const uint32_t key = key_of(c, c->tensor[i].name);
        mn_quant_item *it = &q->item[first[key]++];
        it->from = &c->tensor[i];
        it->segment = key / RANKS;
    }
    uint32_t last = UINT32_MAX, segment = 0;   // number them without gaps
    for (size_t i = 0; i < q->n; i++) {
        const uint32_t place = q->item[i].segment;
        if (i > 0 && place != last) segment++;
        last = place;
        q->item[i].segment = segment;
    }
    return MNW_OK;
}

mnw_status mn_quant_plan(mn_quant *q, mn_err *err)
{
    MN_TRY(check_rules(q, err));
    MN_TRY(order(q, err));
    for (size_t i = 0; i < q->n; i++) {
        mn_quant_item *it = &q->item[i];
        it->cols = it->from->dim[0];
        it->rows = it->from->dim[1] * it->from->dim[2] * it->from->dim[3];
        choose(q, it);
        if (!it->wanted) continue;
        MN_TRY(mn_warn(q->ctx, MNW_WARNING_TYPE_FALLBACK, err,
                       "%.*s: %s instead of %s, which takes %s; this is [%" PRIu64 ", %" PRIu64 "]",
                       MN_STR(it->from->name), it->type->name, it->wanted->name,
                       it->wanted->native ? "matrices of two dimensions"
                       : it->wanted->block == 256 ? "rows of a multiple of 256"
                                                  : "rows of a multiple of 32",
                       it->rows, it->cols));
    }
    return MNW_OK;
}
