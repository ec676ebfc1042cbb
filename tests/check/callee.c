/* SPDX-License-Identifier: Apache-2.0
 *
 * callee.c - the instructions between a check and a kernel.
 *
 * Every pointer of a table is replaced by a stub that knows its number.  A stub takes the return address
 * off the stack (or out of the link register), so the arguments stay where the callee expects them.
 */
#include "callee.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif
#include <stdint.h>
#include <string.h>

enum { STUBS = 96, STUB_BYTES = 16 };

#if defined(__ELF__) && (defined(__x86_64__) || defined(__aarch64__))
#define GUARDED 1

/* The assembly below knows these offsets. */
struct mn_callee {
    uint64_t back, mode, broken;   // 0, 8, 16; broken: a bit per register, MODE for the mode
    uint64_t saved[24];            // 24
    uint64_t target[STUBS];        // 216
};
extern struct mn_callee mn_callee;
struct mn_callee        mn_callee;

extern const char mn_callee_stubs[];
void              mn_callee_spoiler(void);

#define MODE 63

#ifdef __x86_64__
static const char *const NAMES[] = { "rbx", "rbp", "r12", "r13", "r14", "r15" };

__asm__(".text\n"
        ".balign 16\n"
        ".globl mn_callee_stubs\n"
        ".hidden mn_callee_stubs\n"
        "mn_callee_stubs:\n"
        ".set i, 0\n"
        ".rept 96\n"
        "    .balign 16\n"
        "    movl $i, %r11d\n"
        "    jmp mn_callee_enter\n"
        "    .set i, i + 1\n"
        ".endr\n"

        ".macro each what\n"
        "    \\what rbx, 0\n"
        "    \\what rbp, 1\n"
        "    \\what r12, 2\n"
        "    \\what r13, 3\n"
        "    \\what r14, 4\n"
        "    \\what r15, 5\n"
        ".endm\n"
        ".macro fill reg, n\n"
        "    movq %\\reg, 24 + 8 * \\n(%r10)\n"
        "    movabsq $0x5afe0123456700 + \\n, %\\reg\n"
        ".endm\n"
        ".macro look reg, n\n"
        "    movabsq $0x5afe0123456700 + \\n, %r11\n"
        "    cmpq %r11, %\\reg\n"
        "    je 1f\n"
        "    btsq $\\n, 16(%r10)\n"
        "1:  movq 24 + 8 * \\n(%r10), %\\reg\n"
        ".endm\n"

        ".balign 16\n"
        "mn_callee_enter:\n"
        "    leaq mn_callee(%rip), %r10\n"
        "    popq (%r10)\n"
        "    stmxcsr 8(%r10)\n"
        "    each fill\n"
        "    call *216(%r10, %r11, 8)\n"
        "    leaq mn_callee(%rip), %r10\n"
        "    each look\n"
        "    pushq (%r10)\n"
        "    stmxcsr 12(%r10)\n"
        "    movl 12(%r10), %r11d\n"
        "    xorl 8(%r10), %r11d\n"
        "    testl $0xffc0, %r11d\n"   // flags of exceptions may rise
        "    je 1f\n"
        "    btsq $63, 16(%r10)\n"
        "    ldmxcsr 8(%r10)\n"
        "1:  ret\n"

        ".globl mn_callee_spoiler\n"
        ".hidden mn_callee_spoiler\n"
        "mn_callee_spoiler:\n"
        "    xorl %ebx, %ebx\n"
        "    xorl %ebp, %ebp\n"
        "    xorl %r12d, %r12d\n"
        "    xorl %r13d, %r13d\n"
        "    xorl %r14d, %r14d\n"
        "    xorl %r15d, %r15d\n"
        "    stmxcsr -8(%rsp)\n"
        "    xorl $0x8000, -8(%rsp)\n"   // flush to zero
        "    ldmxcsr -8(%rsp)\n"
        "    ret\n"
        ".previous\n");
#else
static const char *const NAMES[] = { "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28",
                                     "x29", "d8",  "d9",  "d10", "d11", "d12", "d13", "d14", "d15" };

__asm__(".text\n"
        ".balign 16\n"
        ".globl mn_callee_stubs\n"
        ".hidden mn_callee_stubs\n"
        "mn_callee_stubs:\n"
        ".set i, 0\n"
        ".rept 96\n"
        "    .balign 16\n"
        "    mov x16, #i\n"
        "    b mn_callee_enter\n"
        "    .set i, i + 1\n"
        ".endr\n"

        ".macro each what, whatd\n"
        "    .irp n, 0,1,2,3,4,5,6,7,8,9,10\n"
        "    .set r, \\n + 19\n"
        "    \\what %r, \\n\n"
        "    .endr\n"
        "    .irp n, 0,1,2,3,4,5,6,7\n"
        "    \\whatd \\n\n"
        "    .endr\n"
        ".endm\n"
        ".altmacro\n"
        ".macro fill r, n\n"
        "    str x\\r, [x17, #24 + 8 * \\n]\n"
        "    add x\\r, x17, #\\n\n"   // the address of mn_callee makes the values unusual
        ".endm\n"
        ".macro filld n\n"
        "    .irp r, %\\n + 8\n"
        "    str d\\r, [x17, #112 + 8 * \\n]\n"
        "    add x9, x17, #\\r\n"
        "    fmov d\\r, x9\n"
        "    .endr\n"
        ".endm\n"
        ".macro look r, n\n"
        "    add x9, x17, #\\n\n"
        "    cmp x9, x\\r\n"
        "    cset x9, ne\n"
        "    orr x10, x10, x9, lsl #\\n\n"
        "    ldr x\\r, [x17, #24 + 8 * \\n]\n"
        ".endm\n"
        ".macro lookd n\n"
        "    .irp r, %\\n + 8\n"
        "    add x9, x17, #\\r\n"
        "    fmov x11, d\\r\n"
        "    cmp x9, x11\n"
        "    cset x9, ne\n"
        "    orr x10, x10, x9, lsl #11 + \\n\n"
        "    ldr d\\r, [x17, #112 + 8 * \\n]\n"
        "    .endr\n"
        ".endm\n"

        ".balign 16\n"
        "mn_callee_enter:\n"
        "    adrp x17, mn_callee\n"
        "    add x17, x17, :lo12:mn_callee\n"
        "    str x30, [x17]\n"
        "    mrs x9, fpcr\n"
        "    str x9, [x17, #8]\n"
        "    add x9, x17, #216\n"
        "    ldr x16, [x9, x16, lsl #3]\n"
        "    each fill, filld\n"
        "    blr x16\n"
        "    adrp x17, mn_callee\n"
        "    add x17, x17, :lo12:mn_callee\n"
        "    ldr x10, [x17, #16]\n"
        "    each look, lookd\n"
        "    mrs x9, fpcr\n"
        "    ldr x11, [x17, #8]\n"
        "    cmp x9, x11\n"
        "    cset x9, ne\n"
        "    orr x10, x10, x9, lsl #63\n"
        "    msr fpcr, x11\n"
        "    str x10, [x17, #16]\n"
        "    ldr x30, [x17]\n"
        "    ret\n"
        ".noaltmacro\n"

        ".globl mn_callee_spoiler\n"
        ".hidden mn_callee_spoiler\n"
        "mn_callee_spoiler:\n"
        "    .irp n, 19,20,21,22,23,24,25,26,27,28,29\n"
        "    mov x\\n, #0\n"
        "    .endr\n"
        "    .irp n, 8,9,10,11,12,13,14,15\n"
        "    fmov d\\n, xzr\n"
        "    .endr\n"
        "    mrs x9, fpcr\n"
        "    eor x9, x9, #0x1000000\n"   // flush to zero
        "    msr fpcr, x9\n"
        "    ret\n"
        ".previous\n");
#endif

enum { REGISTERS = sizeof NAMES / sizeof *NAMES };

static void *stub(size_t i)
{
    return (void *)(uintptr_t)(mn_callee_stubs + STUB_BYTES * i);
}
#else
#define GUARDED 0
#endif

void mn_callee_table(mn_kernels *to, const mn_kernels *from)
{
    *to = *from;
#if GUARDED
    /* A table is pointers to functions and nothing else. */
    _Static_assert(sizeof *to % sizeof(uint64_t) == 0 && sizeof *to / sizeof(uint64_t) < STUBS,
                   "more slots than stubs");
    memcpy(mn_callee.target, from, sizeof *from);
    for (size_t i = 0; i < sizeof *to / sizeof(uint64_t); i++) {
        void *p = stub(i);
        memcpy((char *)to + i * sizeof p, &p, sizeof p);
    }
#endif
}

/* Is the state of AMX tiles anything but initial?  Each switch of tasks would save 8 KB. */
static bool tiles_in_use(void)
{
#ifdef __x86_64__
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return false;
    if (!__get_cpuid_count(13, 1, &a, &b, &c, &d) || !(a & 4)) return false;
    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(1));
    return a >> 18 & 1;
#else
    return false;
#endif
}

const char *mn_callee_complaint(void)
{
    if (tiles_in_use()) return "the initial state of tiles";
#if GUARDED
    const uint64_t broken = mn_callee.broken;
    mn_callee.broken = 0;
    for (size_t i = 0; i < REGISTERS; i++) {
        if (broken >> i & 1) return NAMES[i];
    }
    if (broken >> MODE & 1) return "the floating-point mode";
#endif
    return NULL;
}

bool mn_callee_works(void)
{
#if GUARDED
    void (*const spoiler)(void) = mn_callee_spoiler;
    void (*guarded)(void);
    void *const p = stub(STUBS - 1);
    memcpy(&mn_callee.target[STUBS - 1], &spoiler, sizeof spoiler);
    memcpy(&guarded, &p, sizeof guarded);
    guarded();
    const uint64_t all = (((uint64_t)1 << REGISTERS) - 1) | (uint64_t)1 << MODE;
    const uint64_t broken = mn_callee.broken;
    mn_callee.broken = 0;
    return broken == all;
#else
    return true;
#endif
}
