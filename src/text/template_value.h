/* SPDX-License-Identifier: Apache-2.0
 *
 * template_value.h - the values a template computes with, and what it takes to make them.
 *
 * Values are immutable, except namespaces, and live in the pages of one rendering; nothing is freed
 * before its end.  Text is UTF-8 and carries its origin: alike for all bytes, or a mask.
 */
#ifndef MN_TEXT_TEMPLATE_VALUE_H
#define MN_TEXT_TEMPLATE_VALUE_H

#include "base/pages.h"
#include "text/template.h"

typedef enum mn_tpl_type {
    MN_TPL_ABSENT,       // an argument that was not given; never seen by templates
    MN_TPL_UNDEFINED,
    MN_TPL_NONE,
    MN_TPL_BOOL,
    MN_TPL_INT,
    MN_TPL_FLOAT,
    MN_TPL_STR,
    MN_TPL_LIST,
    MN_TPL_TUPLE,
    MN_TPL_DICT,
    MN_TPL_SPACE,        // namespace()
    MN_TPL_LOOP,
    MN_TPL_MACRO,
    MN_TPL_FUNCTION,
    MN_TPL_METHOD,
} mn_tpl_type;

typedef struct mn_tpl_text {
    const char    *p;
    size_t         n;
    const uint8_t *mask;      // [n] 1 = trusted; NULL = all alike
    bool           trusted;   // if they are
} mn_tpl_text;

typedef struct mn_tpl_list   mn_tpl_list;
typedef struct mn_tpl_dict   mn_tpl_dict;
typedef struct mn_tpl_loop   mn_tpl_loop;
typedef struct mn_tpl_macro  mn_tpl_macro;
typedef struct mn_tpl_bound  mn_tpl_bound;
typedef struct mn_tpl_native mn_tpl_native;
typedef struct mn_tpl_run    mn_tpl_run;

typedef struct mn_tpl_value {
    uint8_t type;
    bool    foreign;   // a number that came from the messages: its digits are not trusted
    bool    blank;     // a null "content": reads as "" where text is needed
    union {
        bool                 b;
        int64_t              i;
        double               f;
        const mn_tpl_text   *s;       // also the name of an UNDEFINED, or NULL
        mn_tpl_list         *list;    // LIST, TUPLE
        mn_tpl_dict         *dict;    // DICT, SPACE
        mn_tpl_loop         *loop;
        const mn_tpl_macro  *macro;
        const mn_tpl_native *function;
        mn_tpl_bound        *method;
    } as;
} mn_tpl_value;

struct mn_tpl_list {
    mn_tpl_value *at;
    size_t        n, cap;
};

typedef struct mn_tpl_entry {
    mn_tpl_value key, value;
    uint32_t     hash;
} mn_tpl_entry;

struct mn_tpl_dict {         // in order of insertion
    mn_tpl_entry *at;
    size_t        n, cap;
    uint32_t     *slot;      // index + 1 by hash; NULL while it is small
    size_t        n_slots;   // a power of two
};

struct mn_tpl_loop {
    const mn_tpl_list *items;
    size_t             next;        // the current item is next - 1
    size_t             scope;       // scopes open around the loop
    mn_tpl_list       *kept;        // while `for .. if` is sifting
    mn_tpl_value       last;        // of changed()
};

struct mn_tpl_bound {
    mn_tpl_value         self;
    const mn_tpl_native *method;
};

/* One call of a filter, test, method or function, with its arguments sorted out. */
enum { MN_TPL_PARAMS_MAX = 6 };

typedef struct mn_tpl_call {
    mn_tpl_value        self;                     // what it is applied to
    mn_tpl_value        arg[MN_TPL_PARAMS_MAX];   // by the native's parameter list
    const mn_tpl_value *pos, *kw;                 // as written, for those that take any
    size_t              n_pos, n_kw;
    const mn_tpl_text *const *kw_name;            // [n_kw]
} mn_tpl_call;

typedef mnw_status mn_tpl_fn(mn_tpl_run *r, const mn_tpl_call *c, mn_tpl_value *out);

struct mn_tpl_native {
    const char *name;
    mn_tpl_fn  *fn;
    uint8_t     required;     // parameters that must be given
    const char *params;       // their names, separated by spaces; NULL = takes any
    uint8_t     types;        // methods: bit set of MN_TPL_ON_*
};

enum { MN_TPL_ON_STR = 1, MN_TPL_ON_DICT = 2, MN_TPL_ON_LIST = 4, MN_TPL_ON_LOOP = 8 };

/* Text that is being put together. */
typedef struct mn_tpl_buf {
    char    *p;
    uint8_t *mask;      // valid when mixed
    size_t   n, cap;
    bool     mixed;
    bool     trusted;   // all of it, when not mixed
} mn_tpl_buf;

/* Record a failure with the line being run. */
mnw_status mn_tpl_fail(mn_tpl_run *r, mnw_status code, const char *fmt, ...) MN_PRINTF(3, 4);

/* Pay for work in proportion to `units`; MNW_E_LIMIT when the budget is gone. */
mnw_status mn_tpl_work(mn_tpl_run *r, uint64_t units);
/* The same for bytes looked at. */
mnw_status mn_tpl_scan(mn_tpl_run *r, uint64_t bytes);

/* Memory of this rendering; NULL with the failure recorded. */
void *mn_tpl_push(mn_tpl_run *r, size_t count, size_t size);
/* The code of the failure recorded. */
mnw_status mn_tpl_status(const mn_tpl_run *r);

/* Make values. */
static inline mn_tpl_value mn_tpl_bool(bool b)
{
    return (mn_tpl_value){ .type = MN_TPL_BOOL, .as.b = b };
}

static inline mn_tpl_value mn_tpl_int(int64_t i)
{
    return (mn_tpl_value){ .type = MN_TPL_INT, .as.i = i };
}

static inline mn_tpl_value mn_tpl_float(double f)
{
    return (mn_tpl_value){ .type = MN_TPL_FLOAT, .as.f = f };
}

static inline mn_tpl_value mn_tpl_none(void)
{
    return (mn_tpl_value){ .type = MN_TPL_NONE };
}

static inline mn_tpl_value mn_tpl_undefined(const mn_tpl_text *name)
{
    return (mn_tpl_value){ .type = MN_TPL_UNDEFINED, .as.s = name };
}

static inline mn_str mn_tpl_str(const mn_tpl_text *t)
{
    return (mn_str){ t->p, t->n };
}

mnw_status mn_tpl_new_text(mn_tpl_run *r, mn_tpl_text text, mn_tpl_value *out);
mnw_status mn_tpl_new_list(mn_tpl_run *r, mn_tpl_type type, size_t cap, mn_tpl_value *out);
mnw_status mn_tpl_new_dict(mn_tpl_run *r, mn_tpl_type type, mn_tpl_value *out);
mnw_status mn_tpl_add(mn_tpl_run *r, mn_tpl_list *list, mn_tpl_value v);
mnw_status mn_tpl_set(mn_tpl_run *r, mn_tpl_dict *d, mn_tpl_value key, mn_tpl_value v);

/* Find a key; *out NULL if it is not there. */
mnw_status mn_tpl_find(mn_tpl_run *r, const mn_tpl_dict *d, mn_tpl_value key, mn_tpl_value **out);
/* The same for a key that is text. */
mn_tpl_value *mn_tpl_find_str(const mn_tpl_dict *d, mn_str key);

/* Ask about values, as Python does. */
const char *mn_tpl_type_name(mn_tpl_value v);
bool        mn_tpl_true(mn_tpl_value v);
bool        mn_tpl_is_number(mn_tpl_value v);   // bool, int, float
double      mn_tpl_number(mn_tpl_value v);
mnw_status  mn_tpl_equal(mn_tpl_run *r, mn_tpl_value a, mn_tpl_value b, bool *out);
mnw_status  mn_tpl_less(mn_tpl_run *r, mn_tpl_value a, mn_tpl_value b, bool *out);
mnw_status  mn_tpl_length(mn_tpl_run *r, mn_tpl_value v, int64_t *out);
/* The items iteration gives: keys of a dict, characters of text. */
mnw_status  mn_tpl_items(mn_tpl_run *r, mn_tpl_value v, const mn_tpl_list **out);
/* An integer argument; `fallback` if it is absent. */
mnw_status  mn_tpl_want_int(mn_tpl_run *r, mn_tpl_value v, int64_t fallback, int64_t *out);
/* A text argument (a blank null is ""). */
mnw_status  mn_tpl_want_text(mn_tpl_run *r, mn_tpl_value v, const mn_tpl_text **out);

/* Text. */
mnw_status mn_tpl_put(mn_tpl_run *r, mn_tpl_buf *b, mn_tpl_text t);
mnw_status mn_tpl_put_z(mn_tpl_run *r, mn_tpl_buf *b, const char *z, bool trusted);
/* Take the buffer's bytes from `from` on as text; they must not be written to again. */
mn_tpl_text mn_tpl_buf_text(const mn_tpl_buf *b, size_t from);
mnw_status  mn_tpl_buf_value(mn_tpl_run *r, const mn_tpl_buf *b, mn_tpl_value *out);
/* A part of a text, by bytes. */
mn_tpl_text mn_tpl_part(const mn_tpl_text *t, size_t at, size_t n);
bool        mn_tpl_is_space(uint32_t cp);
/* Find `what` from byte `at` on; *pos = hay.n if it is not there. */
mnw_status  mn_tpl_search(mn_tpl_run *r, mn_str hay, size_t at, mn_str what, size_t *pos);
/* Strip white space (chars NULL) or any of `chars` at the left (1) and right (2). */
mn_tpl_text mn_tpl_strip(const mn_tpl_text *t, const mn_tpl_text *chars, int sides);
mnw_status  mn_tpl_replace(mn_tpl_run *r, const mn_tpl_text *t, const mn_tpl_text *from,
                           const mn_tpl_text *to, int64_t most, mn_tpl_value *out);
typedef enum mn_tpl_case { MN_TPL_UPPER, MN_TPL_LOWER, MN_TPL_CAPITAL, MN_TPL_TITLE,
                           MN_TPL_TITLE_METHOD } mn_tpl_case;
mnw_status  mn_tpl_recase(mn_tpl_run *r, const mn_tpl_text *t, mn_tpl_case how, mn_tpl_value *out);
size_t      mn_tpl_chars(const mn_tpl_text *t);

/* Write a value as str(), repr() and json.dumps() do. */
mnw_status mn_tpl_print(mn_tpl_run *r, mn_tpl_buf *b, mn_tpl_value v);
mnw_status mn_tpl_to_text(mn_tpl_run *r, mn_tpl_value v, mn_tpl_value *out);
typedef struct mn_tpl_json_style {
    bool         ascii, sort;
    mn_tpl_text  indent;            // p NULL: all on one line
    mn_tpl_text  item, key;         // separators
} mn_tpl_json_style;
mnw_status mn_tpl_to_json(mn_tpl_run *r, mn_tpl_buf *b, mn_tpl_value v,
                          const mn_tpl_json_style *style);

/* Operators. */
typedef enum mn_tpl_op {
    MN_TPL_OP_ADD, MN_TPL_OP_SUB, MN_TPL_OP_MUL, MN_TPL_OP_DIV, MN_TPL_OP_FLOORDIV, MN_TPL_OP_MOD,
    MN_TPL_OP_POW, MN_TPL_OP_CONCAT,
    MN_TPL_OP_EQ, MN_TPL_OP_NE, MN_TPL_OP_LT, MN_TPL_OP_LE, MN_TPL_OP_GT, MN_TPL_OP_GE,
    MN_TPL_OP_IN, MN_TPL_OP_NOT_IN,
} mn_tpl_op;
mnw_status mn_tpl_binary(mn_tpl_run *r, mn_tpl_op op, mn_tpl_value a, mn_tpl_value b,
                         mn_tpl_value *out);
mnw_status mn_tpl_compare(mn_tpl_run *r, mn_tpl_op op, mn_tpl_value a, mn_tpl_value b, bool *out);
mnw_status mn_tpl_negate(mn_tpl_run *r, mn_tpl_value v, bool minus, mn_tpl_value *out);
mnw_status mn_tpl_attr(mn_tpl_run *r, mn_tpl_value v, const mn_tpl_text *name, mn_tpl_value *out);
mnw_status mn_tpl_item(mn_tpl_run *r, mn_tpl_value v, mn_tpl_value key, mn_tpl_value *out);
mnw_status mn_tpl_slice(mn_tpl_run *r, mn_tpl_value v, const mn_tpl_value part[3],
                        mn_tpl_value *out);
/* Follow "a.b.0", as the attribute= of map, sort and selectattr does. */
mnw_status mn_tpl_path(mn_tpl_run *r, mn_tpl_value v, mn_tpl_value path, mn_tpl_value *out);

/* Natives by name; NULL if there is none. */
const mn_tpl_native *mn_tpl_filter(mn_str name);
const mn_tpl_native *mn_tpl_filter_of_lists(mn_str name);
const mn_tpl_native *mn_tpl_filter_of_text(mn_str name);
const mn_tpl_native *mn_tpl_test(mn_str name);
const mn_tpl_native *mn_tpl_function(mn_str name);
const mn_tpl_native *mn_tpl_method(mn_tpl_value self, mn_str name);
const mn_tpl_native *mn_tpl_native_in(const mn_tpl_native *table, size_t n, mn_str name);
/* Sort the arguments out and call; `c` has self, pos, kw. */
mnw_status mn_tpl_invoke(mn_tpl_run *r, const mn_tpl_native *f, mn_tpl_call *c, mn_tpl_value *out);

/* Read JSON as a value of the messages. */
mnw_status mn_tpl_from_json(mn_tpl_run *r, mn_str json, mn_tpl_value *out);

#endif
