/*
 * The parent's side of the runner's protocol: a control page of hostile bytes, and how the child
 * ended. The words of the evidence may be any, but they end, lie in the session, and the verdict is
 * that of the kernel's account: a forged note makes no signal a rejection but the two that it may.
 */
#include "base/arena.h"
#include "target/cpu/cpu.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct cpu_session *session, const struct session_report *report,
                  int wait_status)
{
    const int number = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
    if (report->status != SESSION_CRASHED && report->status != SESSION_REJECTED)
        abort();
    if (!report->mechanism || report->evidence != session->evidence ||
        !memchr(session->evidence, '\0', sizeof session->evidence) || !*session->evidence)
        abort();
    if (number == SIGSYS && report->status != SESSION_REJECTED)
        abort();
    if (report->status == SESSION_REJECTED && number != SIGSYS && number != SIGSEGV &&
        number != SIGILL)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct runner_control control;
    static struct cpu_session session;
    uint16_t wait_status = 0;
    if (size < sizeof wait_status)
        return 0;
    memcpy(&wait_status, data, sizeof wait_status);
    data += sizeof wait_status;
    size -= sizeof wait_status;
    /* What a candidate can reach is filled from the fault record on, then the rest. */
    const size_t first = offsetof(struct runner_control, fault);
    const size_t fault = size < sizeof control.fault ? size : sizeof control.fault;
    memset(&control, 0, sizeof control);
    memcpy((char *)&control + first, data, fault);
    memcpy(&control, data, size - fault < first ? size - fault : first);
    session = (struct cpu_session){.control = &control, .threads = 1, .buffer_count = 3};
    for (size_t i = 0; i < session.buffer_count; i++)
        session.buffers[i] = (struct shared_buffer){.label = "buffer",
                                                    .bytes = 4096,
                                                    .writable = i > 0,
                                                    .child_address = control.buffer_address[i]};
    struct session_report report = {0};
    evidence_of_death(&session, wait_status, &report);
    check(&session, &report, wait_status);
    return 0;
}
