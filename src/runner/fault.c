#include "runner/runner.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

/* What the handlers need; set once, before the candidate can run. */
static struct {
    struct runner_control *control;
    const uint8_t *image;
    size_t image_bytes;
    volatile sig_atomic_t aborted;
} shared;

static _Alignas(16) uint8_t handler_stack[FAULT_STACK_BYTES];

#if defined(__x86_64__)
static void note_registers(struct runner_fault *fault, const ucontext_t *context)
{
    fault->error = (uint64_t)context->uc_mcontext.gregs[REG_ERR];
    fault->instruction = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    fault->stack = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
}
#else
static void note_registers(struct runner_fault *fault, const ucontext_t *context)
{
    (void)fault;
    (void)context;
}
#endif

static void note_bytes(struct runner_fault *fault)
{
    const uint64_t first = (uint64_t)(uintptr_t)shared.image;
    if (fault->instruction < first ||
        fault->instruction + sizeof fault->bytes > first + shared.image_bytes)
        return;
    memcpy(fault->bytes, shared.image + (fault->instruction - first), sizeof fault->bytes);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    struct runner_fault *fault = &shared.control->fault;
    fault->code = info->si_code;
    fault->address = (uint64_t)(uintptr_t)info->si_addr;
    note_registers(fault, context);
    if (number == SIGSYS)
        fault->address = (uint64_t)(uint32_t)info->si_syscall;
    atomic_store(&fault->signal, (uint32_t)(shared.aborted ? SIGABRT : number));
    if (number == SIGSYS)
        filter_die();
    /* A page that was declared but is not there would fault here: the note is already made. */
    note_bytes(fault);
    /* The handler is gone (SA_RESETHAND): the instruction faults again and ends the process. */
}

bool fault_use_stack(void *room)
{
    const stack_t stack = {.ss_sp = room, .ss_size = FAULT_STACK_BYTES};
    return sigaltstack(&stack, NULL) == 0;
}

bool fault_install(struct runner_control *control)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGTRAP};
    shared.control = control;
    if (!fault_use_stack(handler_stack))
        return false;
    struct sigaction action = {.sa_sigaction = on_fault,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND};
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        if (sigaction(signals[i], &action, NULL) != 0)
            return false;
    }
    return true;
}

void fault_set_image(const struct image *image)
{
    shared.image = image->base;
    shared.image_bytes = image->bytes;
}

_Noreturn void fault_abort(void)
{
    shared.aborted = 1;
    __builtin_trap();
}

/* In the place of the C library's abort (--wrap in CMakeLists.txt), for its own calls too (a
 * corrupted heap): that one needs system calls which the box refuses, and a crash would look like
 * an attempt to break out. */
_Noreturn void __wrap_abort(void);
_Noreturn void __wrap_abort(void)
{
    fault_abort();
}
