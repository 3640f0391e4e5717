#include "target/cpu/cpu.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/*
 * How a child died, in words. The signal comes from the kernel; the rest is what the child's
 * handler noted, which a hostile child can forge: it decides no verdict but which instruction or
 * system call is named.
 */
enum {
    SENT_BY_KERNEL = 128, /* si_code of a fault without an address */
    WRITE_BIT = 2,        /* in the error code of an x86 page fault */
    NULL_BYTES = 64 * 1024,
    STACK_NEAR_BYTES = 1024 * 1024
};

/* The fault record, read once. */
struct fault {
    int32_t code;
    uint64_t address, stack;
    bool is_write;
    uint8_t bytes[8];
};

static const struct {
    long number;
    const char *name;
} call_names[] = {
    {SYS_read, "read"},
    {SYS_write, "write"},
    {SYS_openat, "openat"},
    {SYS_close, "close"},
    {SYS_socket, "socket"},
    {SYS_connect, "connect"},
    {SYS_clone, "clone"},
    {SYS_execve, "execve"},
    {SYS_kill, "kill"},
    {SYS_tgkill, "tgkill"},
    {SYS_ptrace, "ptrace"},
    {SYS_prctl, "prctl"},
    {SYS_mmap, "mmap, for code or a file"},
    {SYS_mprotect, "mprotect, for code"},
    {SYS_rt_sigaction, "rt_sigaction"},
    {SYS_clock_gettime, "clock_gettime"},
    {SYS_nanosleep, "nanosleep"},
    {SYS_process_vm_readv, "process_vm_readv"},
    {SYS_process_vm_writev, "process_vm_writev"},
    {SYS_madvise, "madvise"},
    {SYS_futex, "futex"},
#ifdef SYS_open
    {SYS_open, "open"},
    {SYS_fork, "fork"},
    {SYS_vfork, "vfork"},
#endif
};

static const char *call_name(uint64_t number)
{
    for (size_t i = 0; i < sizeof call_names / sizeof *call_names; i++) {
        if ((uint64_t)call_names[i].number == number)
            return call_names[i].name;
    }
    return "not one that kernels need";
}

static bool say_buffer(struct cpu_session *s, const struct fault *fault)
{
    const char *verb = fault->is_write ? "wrote" : "read";
    for (size_t i = 0; i < s->buffer_count; i++) {
        const struct shared_buffer *b = &s->buffers[i];
        const uint64_t first = b->child_address, end = first + b->bytes, at = fault->address;
        char *out = s->evidence;
        const size_t room = sizeof s->evidence;
        if (at >= first && at < end)
            (void)snprintf(out, room, "%s byte %" PRIu64 " of %s%s", verb, at - first, b->label,
                           b->writable ? "" : ", which is read-only");
        else if (at == end)
            (void)snprintf(out, room, "%s just past the end of %s", verb, b->label);
        else if (at > end && at < end + RUNNER_GUARD_BYTES)
            (void)snprintf(out, room, "%s %" PRIu64 " bytes past the end of %s", verb, at - end,
                           b->label);
        else if (at < first && first - at <= RUNNER_GUARD_BYTES)
            (void)snprintf(out, room, "%s %" PRIu64 " bytes before the start of %s", verb,
                           first - at, b->label);
        else
            continue;
        return true;
    }
    return false;
}

static void say_segmentation(struct cpu_session *s, const struct fault *fault)
{
    const char *verb = fault->is_write ? "wrote" : "read";
    const uint64_t distance = fault->address > fault->stack ? fault->address - fault->stack
                                                            : fault->stack - fault->address;
    char *out = s->evidence;
    const size_t room = sizeof s->evidence;
    if (fault->code == SENT_BY_KERNEL)
        (void)snprintf(out, room,
                       "signal 11 without an address: a misaligned vector access, a pointer that "
                       "is none, or a privileged instruction");
    else if (say_buffer(s, fault))
        return;
    else if (fault->address < NULL_BYTES)
        (void)snprintf(out, room, "%s address 0x%" PRIx64 ": a null pointer", verb, fault->address);
    else if (distance < STACK_NEAR_BYTES)
        (void)snprintf(out, room, "the stack overflowed: more than %d MiB",
                       RUNNER_STACK_BYTES >> 20);
    else
        (void)snprintf(out, room, "%s address 0x%" PRIx64 ", which belongs to no buffer", verb,
                       fault->address);
}

static bool reads_clock(const struct fault *fault)
{
    static const uint8_t rdtsc[] = {0x0f, 0x31}, rdtscp[] = {0x0f, 0x01, 0xf9},
                         rdpru[] = {0x0f, 0x01, 0xfd}, rdpmc[] = {0x0f, 0x33};
    return memcmp(fault->bytes, rdtsc, sizeof rdtsc) == 0 ||
           memcmp(fault->bytes, rdtscp, sizeof rdtscp) == 0 ||
           memcmp(fault->bytes, rdpru, sizeof rdpru) == 0 ||
           memcmp(fault->bytes, rdpmc, sizeof rdpmc) == 0;
}

static struct fault read_fault(const struct cpu_session *s)
{
    const struct runner_fault *record = &s->control->fault;
    struct fault fault = {.code = record->code,
                          .address = record->address,
                          .stack = record->stack,
                          .is_write = (record->error & WRITE_BIT) != 0};
    memcpy(fault.bytes, record->bytes, sizeof fault.bytes);
    return fault;
}

static void say_signal(struct cpu_session *s, int number, const struct fault *fault, bool noted)
{
    const bool aborted = atomic_load(&s->control->fault.signal) == SIGABRT;
    char *out = s->evidence;
    const size_t room = sizeof s->evidence;
    if (number == SIGSEGV && noted)
        say_segmentation(s, fault);
    else if (number == SIGFPE)
        (void)snprintf(out, room, "signal 8: an integer division by zero, or one that overflows");
    else if (number == SIGILL && aborted)
        (void)snprintf(out, room, "it aborted: its heap was corrupted, or it called abort");
    else if (number == SIGILL)
        (void)snprintf(out, room, "signal 4: an instruction that this processor does not have");
    else if (number == SIGBUS)
        (void)snprintf(out, room, "signal 7: memory that is not there, or misaligned");
    else if (number == SIGKILL)
        (void)snprintf(out, room, "signal 9: killed from outside, most likely for memory");
    else
        (void)snprintf(out, room, "signal %d", number);
}

/* What the filter kills at once leaves no note. */
static void say_system_call(struct cpu_session *s, const struct fault *fault, bool noted)
{
    if (noted)
        (void)snprintf(s->evidence, sizeof s->evidence,
                       "it made system call %" PRIu64 " (%s), which the box does not allow",
                       fault->address, call_name(fault->address));
    else
        (void)snprintf(s->evidence, sizeof s->evidence,
                       "it made a system call of another machine (i386, x32), which the box does "
                       "not allow");
}

void evidence_of_death(struct cpu_session *s, int wait_status, struct session_report *report)
{
    const struct fault fault = read_fault(s);
    const int number = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
    const bool noted = atomic_load(&s->control->fault.signal) == (uint32_t)number;
    report->evidence = s->evidence;
    report->status = SESSION_CRASHED;
    report->mechanism = "signal";
    if (number == SIGSYS) {
        report->status = SESSION_REJECTED;
        report->mechanism = "seccomp";
        say_system_call(s, &fault, noted);
    } else if ((number == SIGSEGV || number == SIGILL) && noted && reads_clock(&fault)) {
        report->status = SESSION_REJECTED;
        report->mechanism = "M12-clock";
        (void)snprintf(s->evidence, sizeof s->evidence, "it read the processor's clock");
    } else if (number != 0) {
        say_signal(s, number, &fault, noted);
    } else {
        report->mechanism = "exit";
        (void)snprintf(s->evidence, sizeof s->evidence,
                       "it left with status %d in the middle of a call",
                       WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1);
    }
}
