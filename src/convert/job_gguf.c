/* SPDX-License-Identifier: Apache-2.0
 *
 * job_gguf.c - write a GGUF file from a list of moves; and from another GGUF file.
 */
#include <inttypes.h>

#include "convert/job.h"
#include "format/gguf.h"
#include "format/limits.h"
#include "format/native_dir.h"

static mnw_status put(void *user, const void *p, size_t n, mn_err *err)
{
    return mn_gguf_put(user, p, n, err);
}

mnw_status mn_job_write_gguf(mn_job *j, mn_gguf_writer *w, mn_err *err)
{
    mn_mover m;
    for (size_t i = 0; i < j->n_moves; i++) {
        const mn_tensor *t = &j->move[i].to;
        mn_gguf_declare(w, t->name, t->type, t->n_dims, t->dim);
    }
    MN_TRY(mn_gguf_begin(w, j->out, err));
    mnw_status st = mn_mover_init(&m, j->ctx, put, w, err);
    for (size_t i = 0; i < j->n_moves; i++) m.total += mn_transfer_bytes(&j->move[i]);
    for (size_t i = 0; i < j->n_moves && st == MNW_OK; i++) st = mn_mover_run(&m, &j->move[i], err);
    mn_mover_done(&m);
    return st == MNW_OK ? mn_gguf_finish(w, err) : st;
}

bool mn_job_has_native(const mn_job *j)
{
    for (size_t i = 0; i < j->n_moves; i++) {
        if (j->move[i].to.type->native) return true;
    }
    return false;
}

/* A tensor whose shape does not suit keeps its type. */
mnw_status mn_job_retype(mn_job *j, mn_transfer *m, mn_err *err)
{
    const mn_tensor *t = m->from;
    if (!j->type) return MNW_OK;
    if (mn_transfer_fits(t, j->type)) {
        m->to.type = j->type;
        return MNW_OK;
    }
    return mn_warn(j->ctx, MNW_WARNING_TYPE_FALLBACK, err,
                   "%.*s: stays %s, its rows of %" PRIu64 " values do not suit %s", MN_STR(t->name),
                   t->type->name, t->dim[0], j->type->name);
}

/* Numbers that other programs show: of the first matrix in a layer, which names the rest. */
uint32_t mn_job_file_type(const mn_job *j)
{
    static const struct {
        mn_dtype_id id;
        uint32_t    number;
    } TABLE[] = { { MN_F32, 0 },  { MN_F16, 1 },  { MN_Q4_0, 2 },  { MN_Q4_1, 3 },  { MN_Q8_0, 7 },
                  { MN_Q5_0, 8 }, { MN_Q5_1, 9 }, { MN_Q4_K, 15 }, { MN_Q5_K, 17 }, { MN_Q6_K, 18 },
                  { MN_BF16, 32 } };
    const mn_dtype *type = mn_dtype_from_id(MN_F32);
    for (size_t i = j->n_moves; i-- > 0;) {
        const mn_tensor *t = &j->move[i].to;
        if (t->dim[1] > 1 && mn_str_starts(t->name, mn_str_of("blk."))) type = t->type;
    }
    for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE; i++) {
        if (TABLE[i].id == type->id) return TABLE[i].number;
    }
    return 1024;   // ours: no other program knows it
}

static mnw_status plan(mn_job *j, const mn_content *c, mn_err *err)
{
    j->move = mn_pages_push(&j->mem, c->n_tensors, sizeof *j->move);
    MN_FAIL_IF(!j->move, err, MNW_E_NOMEM, "the list of %zu tensors", c->n_tensors);
    for (size_t i = 0; i < c->n_tensors; i++) {
        const mn_tensor *t = &c->tensor[i];
        mn_transfer     *m = &j->move[j->n_moves++];
        *m = (mn_transfer){ .from = t, .to = *t };
        const bool number = t->type->id != MN_I8 && t->type->id != MN_I32;
        if (t->n_dims > 1 && number) MN_TRY(mn_job_retype(j, m, err));
    }
    return MNW_OK;
}

/* Items as they are, but for what the types change. */
static mnw_status copy_items(const mn_job *j, const mn_content *c, mn_gguf_writer *w, mn_err *err)
{
    const mn_meta_item *item = mn_meta_find(c, "general.alignment");
    const bool          native = mn_job_has_native(j);
    uint64_t            alignment;
    MN_TRY(mn_meta_u64(c, "general.alignment", MN_MAX_FILE_ALIGNMENT, MN_GGUF_ALIGNMENT, &alignment, err));
    if (native && alignment < MN_NATIVE_ALIGNMENT) alignment = MN_NATIVE_ALIGNMENT;
    if (item || native) mn_gguf_align(w, (uint32_t)alignment);
    for (size_t i = 0; i < c->n_items; i++) {
        const mn_meta_item *m = &c->item[i];
        if (m == item) continue;
        if (j->type && mn_str_is(m->key, "general.file_type")) continue;
        if (j->type && mn_str_is(m->key, "general.quantization_version")) continue;
        mn_gguf_copy(w, m);
    }
    if (j->type) mn_gguf_set_u32(w, "general.file_type", mn_job_file_type(j));
    return MNW_OK;
}

mnw_status mn_job_gguf_to_gguf(mn_job *j, mn_err *err)
{
    mn_map_file    file;
    mn_content     c;
    mn_gguf_writer w;
    MN_TRY(mn_os_map(j->in, false, &j->ctx->mem, &file, err));
    mn_gguf_init(&w, &j->ctx->mem);
    mnw_status st = mn_gguf_read(file.bytes, &j->mem, &c, err);
    if (st == MNW_OK) st = plan(j, &c, err);
    if (st == MNW_OK) st = copy_items(j, &c, &w, err);
    if (st == MNW_OK) st = mn_job_write_gguf(j, &w, err);
    mn_gguf_done(&w);
    mn_os_unmap(&file);
    return st;
}
