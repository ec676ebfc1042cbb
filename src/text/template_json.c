/* SPDX-License-Identifier: Apache-2.0
 *
 * template_json.c - messages in JSON become values, all of foreign origin.
 *
 * Two keys are special.  A "role" that is one of the usual words counts as the template's own text:
 * it is chosen by the program, and some templates build control tokens from it ('<|' + role + '|>').
 * A null "content" reads as "" wherever text is needed: assistants that call tools send it.
 */
#include "base/json.h"
#include "text/template_run.h"

static bool is_known_role(mn_str s)
{
    static const char *const ROLES[] = { "system", "user", "assistant", "tool", "developer",
                                         "function", "ipython", "model", "observation" };
    for (size_t i = 0; i < sizeof ROLES / sizeof *ROLES; i++) {
        if (mn_str_is(s, ROLES[i])) return true;
    }
    return false;
}

static mnw_status read_text(mn_tpl_run *r, const mn_json *j, mn_tpl_value *out)
{
    mn_tpl_text t = { .p = j->raw.p, .n = j->raw.n };
    if (j->escaped) {
        char *p = mn_tpl_push(r, j->raw.n + 1, 1);
        if (!p) return mn_tpl_status(r);
        t = (mn_tpl_text){ .p = p, .n = mn_json_text(j, p, j->raw.n) };
    }
    return mn_tpl_new_text(r, t, out);
}

static mnw_status read_value(mn_tpl_run *r, const mn_json *j, mn_str key, mn_tpl_value *out)
{
    int64_t i;
    switch (j->event) {
    case MN_JSON_OBJECT: return mn_tpl_new_dict(r, MN_TPL_DICT, out);
    case MN_JSON_ARRAY: return mn_tpl_new_list(r, MN_TPL_LIST, 0, out);
    case MN_JSON_STRING: {
        MN_TRY(read_text(r, j, out));
        if (!mn_str_is(key, "role") || !is_known_role(mn_tpl_str(out->as.s))) return MNW_OK;
        mn_tpl_text t = *out->as.s;
        t.trusted = true;
        return mn_tpl_new_text(r, t, out);
    }
    case MN_JSON_NUMBER:
        *out = mn_json_i64(j, &i) ? mn_tpl_int(i) : mn_tpl_float(mn_json_f64(j));
        out->foreign = true;
        return MNW_OK;
    case MN_JSON_TRUE:
    case MN_JSON_FALSE: *out = mn_tpl_bool(j->event == MN_JSON_TRUE); return MNW_OK;
    default:
        *out = mn_tpl_none();
        out->blank = mn_str_is(key, "content");
        return MNW_OK;
    }
}

mnw_status mn_tpl_from_json(mn_tpl_run *r, mn_str json, mn_tpl_value *out)
{
    mn_tpl_value in[MN_JSON_DEPTH + 1], key[MN_JSON_DEPTH + 1], v;
    size_t       depth = 0;
    bool         done = false;
    mn_json      j;
    mn_json_init(&j, (mn_bytes){ (const uint8_t *)json.p, json.n });
    for (;;) {
        switch (mn_json_next(&j)) {
        case MN_JSON_ERROR: return mn_json_fail(&j, "messages", r->err);
        case MN_JSON_END:
            if (!done) return mn_json_fail(&j, "messages", r->err);
            return MNW_OK;
        case MN_JSON_KEY: MN_TRY(read_text(r, &j, &key[depth])); continue;
        case MN_JSON_OBJECT_END:
        case MN_JSON_ARRAY_END: depth--; continue;
        default: break;
        }
        const bool in_dict = depth && in[depth].type == MN_TPL_DICT;
        MN_TRY(read_value(r, &j, in_dict ? mn_tpl_str(key[depth].as.s) : mn_str_of(""), &v));
        if (!depth) {
            *out = v;
            done = true;
        } else if (in_dict) {
            MN_TRY(mn_tpl_set(r, in[depth].as.dict, key[depth], v));
        } else {
            MN_TRY(mn_tpl_add(r, in[depth].as.list, v));
        }
        if (j.event == MN_JSON_OBJECT || j.event == MN_JSON_ARRAY) in[++depth] = v;
    }
}
