/* SPDX-License-Identifier: Apache-2.0
 *
 * template_run.h - the state of one rendering.
 */
#ifndef MN_TEXT_TEMPLATE_RUN_H
#define MN_TEXT_TEMPLATE_RUN_H

#include "text/template_code.h"

enum {
    MN_TPL_STACK_MAX = 4096,    // values
    MN_TPL_SCOPES_MAX = 512,
    MN_TPL_LOOPS_MAX = 256,
    MN_TPL_MARKS_MAX = 256,     // captures
};

typedef struct mn_tpl_binding {
    mn_tpl_value value;
    uint32_t     name;
    uint32_t     before_1;   // the binding of that name it hides, + 1; 0 = none
} mn_tpl_binding;

typedef struct mn_tpl_frame {   // of a macro being run
    uint32_t back;              // instruction to return to
    size_t   bindings;          // its own begin here
    size_t   scopes, loops;
    size_t   mark;              // output before it
    uint32_t given;             // parameters, a bit each
} mn_tpl_frame;

struct mn_tpl_run {
    const mn_template *t;
    mn_pages           pages;
    mn_err            *err;
    uint32_t           line;
    uint64_t           steps;         // still allowed
    uint64_t           scanned;       // bytes not yet paid for
    int64_t            now;
    mn_tpl_buf         out;
    mn_tpl_value       stack[MN_TPL_STACK_MAX];
    size_t             n_stack;
    mn_tpl_binding    *binding;
    size_t             n_bindings, cap_bindings;
    size_t             n_globals;     // bindings made outside all scopes
    uint32_t          *bound_1;       // [names] the newest binding, + 1
    size_t             scope[MN_TPL_SCOPES_MAX];
    size_t             n_scopes;
    mn_tpl_loop       *loop[MN_TPL_LOOPS_MAX];
    size_t             n_loops;
    size_t             mark[MN_TPL_MARKS_MAX];
    size_t             n_marks;
    mn_tpl_frame       frame[MN_TEMPLATE_DEPTH_MAX];
    size_t             n_frames;
};

/* Bind a name in the scope that is open. */
mnw_status mn_tpl_bind(mn_tpl_run *r, uint32_t name, mn_tpl_value v);

/* Run the program to its end. */
mnw_status mn_tpl_execute(mn_tpl_run *r);

#endif
