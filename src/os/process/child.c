#include "os/process/child.h"

#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SET_CLOEXEC = 4 /* CLOSE_RANGE_CLOEXEC */, NOT_STARTED = 127 };

/* What the child says through a pipe when it cannot become the program. */
enum stage { STAGE_SETUP, STAGE_DIR, STAGE_LIMITS, STAGE_CONFINE, STAGE_EXEC };
struct report {
    enum stage stage;
    int number; /* errno */
};

bool child_lift_fd(int *fd)
{
    if (*fd > STDERR_FILENO)
        return true;
    const int lifted = fcntl(*fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (lifted < 0)
        return false;
    os_close(fd);
    *fd = lifted;
    return true;
}

/* From here on to become(): in the child, async-signal-safe calls only. */

static _Noreturn void give_up(int report_fd, enum stage stage)
{
    const struct report report = {stage, errno};
    /* Shorter than PIPE_BUF, so written whole or not at all. */
    (void)!write(report_fd, &report, sizeof report);
    _exit(NOT_STARTED);
}

static void reset_signals(void)
{
    const struct sigaction action = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (int number = 1; number < NSIG; number++)
        (void)sigaction(number, &action, NULL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Dies when the thread that started it does; false where that thread has gone already. */
static bool follow_parent(pid_t parent)
{
    return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 && getppid() == parent;
}

static bool redirect(const struct child_plan *plan)
{
    return dup2(plan->input_fd, STDIN_FILENO) >= 0 && dup2(plan->output_fd, STDOUT_FILENO) >= 0 &&
           dup2(plan->error_fd, STDERR_FILENO) >= 0;
}

/* Nothing above 2 survives the exec. */
static bool close_others_on_exec(void)
{
    if (syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, SET_CLOEXEC) == 0)
        return true;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return false;
    for (int fd = STDERR_FILENO + 1; (rlim_t)fd < limit.rlim_max && fd < 1 << 20; fd++)
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    return true;
}

static bool set_limits(size_t memory_limit_bytes)
{
    const struct rlimit none = {0, 0};
    const struct rlimit memory = {memory_limit_bytes, memory_limit_bytes};
    return setrlimit(RLIMIT_CORE, &none) == 0 &&
           (memory_limit_bytes == 0 || setrlimit(RLIMIT_AS, &memory) == 0);
}

static _Noreturn void become(const struct child_plan *plan, pid_t parent, int report_fd)
{
    reset_signals();
    if (setpgid(0, 0) != 0 || !follow_parent(parent) || !redirect(plan) || !close_others_on_exec())
        give_up(report_fd, STAGE_SETUP);
    if (plan->dir && chdir(plan->dir) != 0)
        give_up(report_fd, STAGE_DIR);
    if (!set_limits(plan->memory_limit_bytes))
        give_up(report_fd, STAGE_LIMITS);
    if (plan->confinement && !confine_self(plan->confinement))
        give_up(report_fd, STAGE_CONFINE);
    (void)execve(plan->path, plan->argv, plan->env);
    give_up(report_fd, STAGE_EXEC);
}

static bool explain(const struct child_plan *plan, const struct report *report, struct err *err)
{
    const char *name = plan->argv[0];
    switch (report->stage) {
    case STAGE_DIR:
        return err_set_errno(err, report->number, "cannot enter the folder '%s'", plan->dir);
    case STAGE_LIMITS:
        return err_set_errno(err, report->number, "cannot set the limits of '%s'", name);
    case STAGE_CONFINE:
        return err_set_errno(err, report->number, "cannot confine '%s'", name);
    case STAGE_EXEC:
        (void)err_set_errno(err, report->number, "cannot run '%s'", name);
        if (report->number == ENOENT || report->number == ENOTDIR)
            err->kind = ERR_MISSING_TOOL;
        else if (report->number == EACCES && plan->confinement)
            (void)err_hint(err, "its folder must be among those that it may read");
        return false;
    case STAGE_SETUP:
        break;
    }
    return err_set_errno(err, report->number, "cannot set up '%s'", name);
}

/* Waits for the child to report or to become the program, which closes the pipe. */
static bool has_report(int report_fd, struct report *report)
{
    ssize_t got;
    do {
        got = read(report_fd, report, sizeof *report);
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof *report;
}

bool child_start(const struct child_plan *plan, pid_t *out_pid, struct err *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_set_errno(err, errno, "cannot start '%s'", plan->argv[0]);
    CLEANUP(os_close) int report_read = ends[0];
    CLEANUP(os_close) int report_write = ends[1];
    if (!child_lift_fd(&report_read) || !child_lift_fd(&report_write))
        return err_set_errno(err, errno, "cannot start '%s'", plan->argv[0]);

    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0)
        return err_set_errno(err, errno, "cannot start '%s'", plan->argv[0]);
    if (pid == 0)
        become(plan, parent, report_write);

    (void)setpgid(pid, pid); /* in both, so that the group exists whoever runs first */
    os_close(&report_write);
    struct report report;
    if (has_report(report_read, &report)) {
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            continue;
        return explain(plan, &report, err);
    }
    *out_pid = pid;
    return true;
}
