/*
 * Where another process of this user is, each time its CPU clock has gone on by a period: samples
 * of perf_event_open(2), user mode only. The kernel delivers them to this process; the other one
 * needs no descriptor, no system call and no memory for it, and sees nothing of it but interrupts.
 *
 * Who may look is decided when it is opened: a process that has hidden itself (PR_SET_DUMPABLE) by
 * then, a kernel that forbids it (kernel.perf_event_paranoid of 3 and more) or a container's filter
 * is an error in words. Threads: each structure belongs to one.
 */
#ifndef KOPE_OS_SAMPLING_H
#define KOPE_OS_SAMPLING_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct os_sampling; /* opaque */

/* Of the first thread of process `pid`, off at first. The period is 10 us or more; shorter ones are
 * lengthened by the kernel. */
bool os_sampling_open(pid_t pid, int64_t period_ns, struct os_sampling **out, struct err *err);
void os_sampling_close(struct os_sampling **sampling);

void os_sampling_set(struct os_sampling *sampling, bool is_on);

/* What the kernel's buffer holds, at least. */
enum { OS_SAMPLING_ROOM = 16000 };

/* Addresses of instructions that have not been read yet, at most `capacity`, in order of time:
 * where it is that many there may be more, which the next call gives. What did not fit in the
 * kernel's buffer is counted in `*lost`. */
size_t os_sampling_read(struct os_sampling *sampling, uint64_t *addresses, size_t capacity,
                        uint64_t *lost);

#endif
