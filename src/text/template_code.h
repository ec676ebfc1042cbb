/* SPDX-License-Identifier: Apache-2.0
 *
 * template_code.h - a compiled template, and the compiler's inside: lexer, code buffer, parser.
 *
 * The program is an array of small instructions for a stack machine.  Jumps are relative, so the
 * compiler may put an instruction in front of a finished expression, which is how `a if b else c`
 * and `a, b` are compiled without a tree.
 */
#ifndef MN_TEXT_TEMPLATE_CODE_H
#define MN_TEXT_TEMPLATE_CODE_H

#include "base/map.h"
#include "text/template_value.h"

typedef enum mn_tpl_opcode {
    // stack effect                        arg
    MN_DO_TEXT,       //        ->        constant to print
    MN_DO_PRINT,      // v      ->
    MN_DO_CONST,      //        -> v      constant
    MN_DO_NAME,       //        -> v      name
    MN_DO_STORE,      // v      ->        name
    MN_DO_STORE_ATTR, // v      ->        name, sub constant: name.attr = v
    MN_DO_UNPACK,     // v      -> v1..   how many; the first is on top
    MN_DO_ATTR,       // v      -> v      constant
    MN_DO_ITEM,       // v k    -> v
    MN_DO_SLICE,      // v a b c -> v
    MN_DO_NEW_LIST,   //        -> l
    MN_DO_ADD,        // l v    -> l
    MN_DO_AS_TUPLE,   // l      -> t
    MN_DO_NEW_DICT,   //        -> d
    MN_DO_ENTRY,      // d k v  -> d
    MN_DO_NOT,        // v      -> b
    MN_DO_NEG,        // v      -> v
    MN_DO_POS,        // v      -> v
    MN_DO_BINARY,     // a b    -> v      operator
    MN_DO_CHAIN,      // a b    -> b      jump with false on the stack if not a op b
    MN_DO_JUMP,       //        ->        jump
    MN_DO_JUMP_FALSE, // v      ->        jump
    MN_DO_AND,        // v      ->        jump, keeping v, if it is false
    MN_DO_OR,         // v      ->        jump, keeping v, if it is true
    MN_DO_FILTER,     // v args -> v      call
    MN_DO_TEST,       // v args -> b      call
    MN_DO_CALL,       // f args -> v      call
    MN_DO_FOR,        // v      ->        open a loop
    MN_DO_NEXT,       //        -> item   jump at the end; new scope, `loop` bound if sub
    MN_DO_KEEP,       // b      ->        keep the item if b
    MN_DO_KEPT,       //        -> l      close the sifting loop
    MN_DO_FOR_END,    //        ->        close; jump if it ran
    MN_DO_MACRO,      //        -> m      macro
    MN_DO_PARAM,      //        ->        jump if parameter sub was given
    MN_DO_RETURN,     //        -> text   of the macro
    MN_DO_CAPTURE,    //        ->
    MN_DO_CAPTURED,   //        -> text
    MN_DO_SCOPE,      //        ->
    MN_DO_SCOPE_END,  //        ->
    MN_DO_END,
} mn_tpl_opcode;

typedef struct mn_tpl_instr {
    uint8_t  op;
    uint32_t line;
    int32_t  arg;
    int32_t  sub;
} mn_tpl_instr;

/* A call site: how many arguments, and the names of the last ones. */
typedef struct mn_tpl_site {
    const mn_tpl_native      *native;    // of a filter or test
    uint32_t                  n_pos, n_kw;
    const mn_tpl_text *const *kw_name;
} mn_tpl_site;

struct mn_tpl_macro {
    const mn_tpl_text *name;
    uint32_t           entry;     // instruction
    uint32_t           n_params;
    uint32_t          *param;     // names
};

typedef struct mn_tpl_name {
    const mn_tpl_text   *text;
    const mn_tpl_native *function;   // the built-in one of that name, or NULL
} mn_tpl_name;

struct mn_template {
    mn_pages      pages;
    mn_tpl_instr *code;
    size_t        n_code;
    mn_tpl_value *constant;
    mn_tpl_site  *site;
    mn_tpl_macro *macro;
    mn_tpl_name  *name;
    size_t        n_names;
    mn_map        name_id;
};

typedef enum mn_tpl_token_type {
    MN_TPL_TOK_DATA, MN_TPL_TOK_VAR_BEGIN, MN_TPL_TOK_VAR_END, MN_TPL_TOK_BLOCK_BEGIN,
    MN_TPL_TOK_BLOCK_END, MN_TPL_TOK_NAME, MN_TPL_TOK_STRING, MN_TPL_TOK_INT, MN_TPL_TOK_FLOAT,
    MN_TPL_TOK_OP, MN_TPL_TOK_EOF,
} mn_tpl_token_type;

typedef struct mn_tpl_token {
    mn_tpl_token_type type;
    uint32_t          line;
    mn_str            text;    // as written; STRING: between its quotes
} mn_tpl_token;

typedef struct mn_tpl_lex {
    const char *p;
    size_t      n, at;
    uint32_t    line;
    uint32_t    brackets;        // open ones inside a tag
    uint8_t     mode;            // 0 text, else the type of the tag that is open
    bool        line_starting;   // what came before ended in a newline
    bool        pending;         // a tag begins at `at`, its text was handed out
    bool        raw;
} mn_tpl_lex;

enum { MN_TPL_MODE_TEXT, MN_TPL_MODE_VAR, MN_TPL_MODE_BLOCK };

/* The next token of the source. */
mnw_status mn_tpl_lex_next(mn_tpl_lex *lex, mn_tpl_token *out, mn_err *err);

typedef struct mn_tpl_parser {
    mn_template *t;
    mn_err      *err;
    mn_tpl_lex   lex;
    mn_tpl_token tok;                   // the current one
    size_t       cap_code, cap_constants, cap_sites, cap_macros, cap_names;
    size_t       n_constants, n_sites, n_macros;
    uint32_t     depth;                 // of the expression
    char         missing[160];          // filters and tests we do not know, with their lines
    size_t       n_missing;
} mn_tpl_parser;

mnw_status mn_tpl_parse_fail(mn_tpl_parser *p, uint32_t line, const char *fmt, ...) MN_PRINTF(3, 4);
mnw_status mn_tpl_advance(mn_tpl_parser *p);
bool       mn_tpl_at_name(const mn_tpl_parser *p, const char *name);
bool       mn_tpl_at_op(const mn_tpl_parser *p, const char *op);
mnw_status mn_tpl_expect_op(mn_tpl_parser *p, const char *op);
/* "'x'" or "end of the tag", for messages; in `buf`. */
const char *mn_tpl_describe(const mn_tpl_parser *p, char buf[64]);

mnw_status mn_tpl_emit(mn_tpl_parser *p, mn_tpl_opcode op, int32_t arg, int32_t sub, uint32_t line);
/* Put an instruction in front of those from `at` on. */
mnw_status mn_tpl_insert(mn_tpl_parser *p, size_t at, mn_tpl_opcode op, int32_t arg, uint32_t line);
/* Let the jump at `at` go to the end of the code. */
void       mn_tpl_land(mn_tpl_parser *p, size_t at);
mnw_status mn_tpl_constant(mn_tpl_parser *p, mn_tpl_value v, int32_t *id);
mnw_status mn_tpl_constant_text(mn_tpl_parser *p, mn_str s, int32_t *id);
mnw_status mn_tpl_name_of(mn_tpl_parser *p, mn_str name, int32_t *id);
/* Make room for one more of *n elements. */
mnw_status mn_tpl_grow(mn_tpl_parser *p, void *array, size_t n, size_t *cap, size_t size);

/* Compile an expression; `ternary`: "a if b else c" may stand here. */
mnw_status mn_tpl_expression(mn_tpl_parser *p, bool ternary);
/* Compile "a" or "a, b, ...". */
mnw_status mn_tpl_tuple(mn_tpl_parser *p, bool ternary);
/* Compile "| filter(args) | ..." applied to what is on the stack. */
mnw_status mn_tpl_filters(mn_tpl_parser *p);
/* Compile one filter, its name being the current token. */
mnw_status mn_tpl_filter_named(mn_tpl_parser *p);

/* Decode the escapes of a string literal into `out` (lit.n bytes are enough); false for a bad one. */
bool mn_tpl_unescape(mn_str lit, char *out, size_t *n);

#endif
