#include "os/worker.h"

#include "os/file.h"
#include "os/os.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static_assert(OS_WORKER_REPORT_BYTES <= PIPE_BUF, "a report is written in one piece");

enum { POLLED_MAX = 1024, NOT_PINNED = 3 /* exit status */ };

_Noreturn static void work_and_end(const struct os_work *work, pid_t parent, int report_fd)
{
    _Alignas(max_align_t) unsigned char report[OS_WORKER_REPORT_BYTES] = {0};
    (void)prctl(PR_SET_PDEATHSIG, (unsigned long)SIGKILL, 0UL, 0UL, 0UL);
    if (getppid() != parent)
        _exit(1); /* it ended before it could be watched */
    (void)setpgid(0, 0);
    if (work->cpu >= 0 && !os_pin_thread(work->cpu))
        _exit(NOT_PINNED);
    work->run(work->context, report);
    ssize_t written;
    do {
        written = write(report_fd, report, work->report_bytes);
    } while (written < 0 && errno == EINTR);
    _exit(written == (ssize_t)work->report_bytes ? 0 : 1);
}

bool os_worker_start(const struct os_work *work, struct os_worker *out, struct err *err)
{
    int ends[2];
    assert(work->report_bytes > 0 && work->report_bytes <= OS_WORKER_REPORT_BYTES);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_set_errno(err, errno, "cannot start a worker");
    CLEANUP(os_close) int report_read = ends[0];
    CLEANUP(os_close) int report_write = ends[1];
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0)
        return err_set_errno(err, errno, "cannot start a worker");
    if (pid == 0) {
        os_close(&report_read);
        work_and_end(work, parent, report_write);
    }
    (void)setpgid(pid, pid); /* in both, so that the group exists whoever runs first */
    *out = (struct os_worker){.pid = pid, .report_fd = os_take_fd(&report_read)};
    return true;
}

bool os_worker_wait(const struct os_worker *workers, size_t count, int64_t duration_ns, size_t *out)
{
    struct pollfd polled[POLLED_MAX];
    assert(count <= POLLED_MAX);
    for (size_t i = 0; i < count; i++)
        polled[i] =
            (struct pollfd){.fd = workers[i].pid > 0 ? workers[i].report_fd : -1, .events = POLLIN};
    if (poll(polled, (nfds_t)count, (int)(duration_ns / 1000000)) <= 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (polled[i].revents != 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

bool os_worker_finish(struct os_worker *worker, void *report, size_t report_bytes, struct err *err)
{
    unsigned char told[OS_WORKER_REPORT_BYTES];
    int status = 0;
    ssize_t got;
    do {
        got = read(worker->report_fd, told, report_bytes);
    } while (got < 0 && errno == EINTR);
    while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    const pid_t pid = worker->pid;
    os_close(&worker->report_fd);
    *worker = (struct os_worker){0};
    if (got == (ssize_t)report_bytes) {
        memcpy(report, told, report_bytes);
        return true;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_PINNED) {
        (void)err_set(err, ERR_IO, "worker %ld may not use the processor that it was given",
                      (long)pid);
        return err_hint(err,
                        "the processors of this process have changed since it began; run again");
    }
    if (WIFSIGNALED(status))
        return err_set(err, ERR_IO, "worker %ld was ended by signal %d", (long)pid,
                       WTERMSIG(status));
    return err_set(err, ERR_IO, "worker %ld ended with %d and without a report", (long)pid,
                   WEXITSTATUS(status));
}

void os_worker_stop(const struct os_worker *worker)
{
    if (worker->pid > 0)
        (void)kill(worker->pid, SIGTERM);
}
