/*
 * Workers: copies of this process, each with one piece of work and a processor of its own.
 *
 * A worker is a fork: it has all that its parent had in memory, also what its parent held open,
 * locks included, which are free when parent and workers are gone. Its work ends it; what it has to
 * say to its parent is a report of fixed size. It leads a process group of its own, so that Ctrl-C
 * reaches its parent alone, who asks it to stop; it is killed when the thread that started it ends.
 * It never returns into the parent's code and flushes none of the parent's streams.
 *
 * Threads: who starts a worker is the only thread that holds anything, since the worker has no
 * other; several parents at once are fine.
 */
#ifndef KOPE_OS_WORKER_H
#define KOPE_OS_WORKER_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { OS_WORKER_REPORT_BYTES = 4096 /* a pipe takes so many at once (PIPE_BUF) */ };

/* Zeroed: none. */
struct os_worker {
    pid_t pid;
    int report_fd;
};

struct os_work {
    /* Called in the worker with `report` zeroed; os_interrupted() there tells that it shall stop.
     */
    void (*run)(void *context, void *report);
    void *context;
    size_t report_bytes; /* at most OS_WORKER_REPORT_BYTES */
    int cpu; /* that it is pinned to; -1: none. Where the kernel refuses it does not run, and
                os_worker_finish says so: unpinned it would disturb others. */
};
bool os_worker_start(const struct os_work *work, struct os_worker *out, struct err *err);

/* Waits until a worker has something to say or has ended, and which: os_worker_finish does not wait
 * long then. False after so long, and sooner where a signal came. */
bool os_worker_wait(const struct os_worker *workers, size_t count, int64_t duration_ns,
                    size_t *out);

/* Waits for the end of a worker, after which it is none. ERR_IO where it left no report: it was
 * killed, or it died. */
bool os_worker_finish(struct os_worker *worker, void *report, size_t report_bytes, struct err *err);

/* Sets os_interrupted() in the worker. */
void os_worker_stop(const struct os_worker *worker);

#endif
