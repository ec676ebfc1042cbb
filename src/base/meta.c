/* SPDX-License-Identifier: Apache-2.0
 *
 * meta.c - typed reading of metadata that stays where the file has it.
 */
#include "base/meta.h"

#include <inttypes.h>
#include <math.h>

#include "base/cursor.h"

static const struct {
    const char *name;
    uint8_t     size;   // 0: no fixed size
    enum { SIGNED = 1, UNSIGNED, FLOAT, OTHER } kind;
} TYPES[MN_META_TYPES] = {
    [MN_META_U8] = { "u8", 1, UNSIGNED },   [MN_META_I8] = { "i8", 1, SIGNED },
    [MN_META_U16] = { "u16", 2, UNSIGNED }, [MN_META_I16] = { "i16", 2, SIGNED },
    [MN_META_U32] = { "u32", 4, UNSIGNED }, [MN_META_I32] = { "i32", 4, SIGNED },
    [MN_META_U64] = { "u64", 8, UNSIGNED }, [MN_META_I64] = { "i64", 8, SIGNED },
    [MN_META_F32] = { "f32", 4, FLOAT },    [MN_META_F64] = { "f64", 8, FLOAT },
    [MN_META_BOOL] = { "bool", 1, OTHER },  [MN_META_STR] = { "str", 0, OTHER },
    [MN_META_ARRAY] = { "array", 0, OTHER },
};

const char *mn_meta_type_name(mn_meta_type t)
{
    return (unsigned)t < MN_META_TYPES ? TYPES[t].name : "?";
}

unsigned mn_meta_type_bytes(mn_meta_type t)
{
    return (unsigned)t < MN_META_TYPES ? TYPES[t].size : 0;
}

const mn_meta_item *mn_meta_find(const mn_content *c, const char *key)
{
    uint32_t i;
    return mn_map_find(&c->item_by_key, mn_str_of(key), &i) ? &c->item[i] : NULL;
}

const mn_tensor *mn_tensor_find(const mn_content *c, mn_str name)
{
    uint32_t i;
    return mn_map_find(&c->tensor_by_name, name, &i) ? &c->tensor[i] : NULL;
}

static bool is_int(mn_meta_type t)
{
    return TYPES[t].kind == SIGNED || TYPES[t].kind == UNSIGNED;
}

/* The bits of an integer, sign-extended where it has a sign. */
static uint64_t load_int(mn_meta_type t, const uint8_t *p)
{
    switch (t) {
    case MN_META_I8: return (uint64_t)(int8_t)p[0];
    case MN_META_U16: return mn_load_u16(p);
    case MN_META_I16: return (uint64_t)(int16_t)mn_load_u16(p);
    case MN_META_U32: return mn_load_u32(p);
    case MN_META_I32: return (uint64_t)(int32_t)mn_load_u32(p);
    case MN_META_U64: case MN_META_I64: return mn_load_u64(p);
    default: return p[0];   // U8, BOOL
    }
}

static double load_float(mn_meta_type t, const uint8_t *p)
{
    if (t == MN_META_F32) return (double)mn_load_f32(p);
    const uint64_t u = mn_load_u64(p);
    double         d;
    memcpy(&d, &u, sizeof d);
    return d;
}

static mnw_status wrong_type(const mn_meta_item *m, const char *want, mn_err *err)
{
    if (m->type == MN_META_ARRAY) {
        MN_FAIL(err, MNW_E_FORMAT, "%.*s: type is array of %s, expected %s", MN_STR(m->key),
                mn_meta_type_name(m->elem), want);
    }
    MN_FAIL(err, MNW_E_FORMAT, "%.*s: type is %s, expected %s", MN_STR(m->key),
            mn_meta_type_name(m->type), want);
}

mnw_status mn_meta_u64(const mn_content *c, const char *key, uint64_t max, uint64_t fallback,
                       uint64_t *out, mn_err *err)
{
    const mn_meta_item *m = mn_meta_find(c, key);
    *out = fallback;
    if (!m) return MNW_OK;
    if (!is_int(m->type)) return wrong_type(m, "an integer", err);
    const uint64_t v = load_int(m->type, m->data);
    MN_FAIL_IF(TYPES[m->type].kind == SIGNED && (int64_t)v < 0, err, MNW_E_FORMAT,
               "%s: value %" PRId64 ", expected 0 to %" PRIu64, key, (int64_t)v, max);
    MN_FAIL_IF(v > max, err, MNW_E_FORMAT, "%s: value %" PRIu64 ", expected 0 to %" PRIu64, key, v,
               max);
    *out = v;
    return MNW_OK;
}

mnw_status mn_meta_f64(const mn_content *c, const char *key, double fallback, double *out,
                       mn_err *err)
{
    const mn_meta_item *m = mn_meta_find(c, key);
    *out = fallback;
    if (!m) return MNW_OK;
    if (is_int(m->type)) {
        const uint64_t v = load_int(m->type, m->data);
        *out = TYPES[m->type].kind == SIGNED ? (double)(int64_t)v : (double)v;
        return MNW_OK;
    }
    if (TYPES[m->type].kind != FLOAT) return wrong_type(m, "a number", err);
    const double v = load_float(m->type, m->data);
    MN_FAIL_IF(!isfinite(v), err, MNW_E_FORMAT, "%s: value %g, expected a finite number", key, v);
    *out = v;
    return MNW_OK;
}

mnw_status mn_meta_bool(const mn_content *c, const char *key, bool fallback, bool *out, mn_err *err)
{
    const mn_meta_item *m = mn_meta_find(c, key);
    *out = fallback;
    if (!m) return MNW_OK;
    if (m->type != MN_META_BOOL) return wrong_type(m, "bool", err);
    *out = m->data[0] != 0;
    return MNW_OK;
}

mnw_status mn_meta_str(const mn_content *c, const char *key, mn_str fallback, mn_str *out,
                       mn_err *err)
{
    const mn_meta_item *m = mn_meta_find(c, key);
    *out = fallback;
    if (!m) return MNW_OK;
    if (m->type != MN_META_STR) return wrong_type(m, "str", err);
    const uint8_t *at = m->data;
    *out = mn_meta_next_str(m, &at);
    return MNW_OK;
}

mnw_status mn_meta_strings(const mn_content *c, const char *key, const mn_meta_item **out,
                           mn_err *err)
{
    const mn_meta_item *m = *out = mn_meta_find(c, key);
    if (!m || (m->type == MN_META_ARRAY && m->elem == MN_META_STR)) return MNW_OK;
    *out = NULL;
    return wrong_type(m, "array of str", err);
}

mnw_status mn_meta_ints(const mn_content *c, const char *key, const mn_meta_item **out, mn_err *err)
{
    const mn_meta_item *m = *out = mn_meta_find(c, key);
    if (!m || (m->type == MN_META_ARRAY && (is_int(m->elem) || m->elem == MN_META_BOOL))) {
        return MNW_OK;
    }
    *out = NULL;
    return wrong_type(m, "array of integers", err);
}

mnw_status mn_meta_floats(const mn_content *c, const char *key, const mn_meta_item **out,
                          mn_err *err)
{
    const mn_meta_item *m = *out = mn_meta_find(c, key);
    if (!m || (m->type == MN_META_ARRAY && TYPES[m->elem].kind == FLOAT)) return MNW_OK;
    *out = NULL;
    return wrong_type(m, "array of f32 or f64", err);
}

int64_t mn_meta_int_at(const mn_meta_item *m, uint64_t i)
{
    return (int64_t)load_int(m->elem, m->data + i * TYPES[m->elem].size);
}

double mn_meta_float_at(const mn_meta_item *m, uint64_t i)
{
    return load_float(m->elem, m->data + i * TYPES[m->elem].size);
}

mn_str mn_meta_next_str(const mn_meta_item *item, const uint8_t **at)
{
    const size_t n = (size_t)mn_load_u64(*at);
    const mn_str s = { (const char *)*at + 8, n };
    *at += 8 + n;
    return s;
}
