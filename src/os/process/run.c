#include "os/process.h"

#include "base/buf.h"
#include "base/vec.h"
#include "os/file.h"
#include "os/os.h"
#include "os/process/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    CHUNK_BYTES = 16 * 1024,
    DEFAULT_OUTPUT_BYTES = 1024 * 1024,
    TICK_MS = 20, /* how long an interruption may go unseen */
};
static const int64_t default_timeout_ns = INT64_C(60) * 1000000000;
/* What is left in the pipes after the end; a process that left the group may hold them open. */
static const int64_t drain_ns = INT64_C(200) * 1000000;

/* One stream of the child, read into a capped buffer; what goes past the cap is thrown away. */
struct stream {
    int fd; /* -1 at its end */
    struct buf text;
};

struct watch {
    pid_t pid;
    int pid_fd; /* readable at the end of the process; -1 where the kernel has no pidfd */
    struct stream out;
    struct stream errors;
    int64_t started_ns;
    int64_t deadline_ns;
    int64_t ended_ns; /* 0 while it runs */
    bool killed;
};

static void watch_release(struct watch *watch)
{
    os_close(&watch->pid_fd);
    os_close(&watch->out.fd);
    os_close(&watch->errors.fd);
    buf_free(&watch->out.text);
    buf_free(&watch->errors.text);
}

static void stream_read(struct stream *stream)
{
    char chunk[CHUNK_BYTES];
    const ssize_t got = stream->fd < 0 ? 0 : read(stream->fd, chunk, sizeof chunk);
    if (got > 0)
        (void)buf_append(&stream->text, chunk, (size_t)got);
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
        os_close(&stream->fd);
}

static bool has_ended(pid_t pid)
{
    /* WNOWAIT: a zombie keeps its number, so that the group can still be killed by it. */
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid;
}

static void kill_group(struct watch *watch)
{
    (void)kill(-watch->pid, SIGKILL);
    watch->killed = true;
}

/* Ends the group at the limit, at an interruption, and after its leader. */
static void enforce(struct watch *watch, struct process_result *result)
{
    const int64_t now_ns = os_now_ns();
    if (!watch->ended_ns && has_ended(watch->pid)) {
        watch->ended_ns = now_ns;
        kill_group(watch);
    }
    if (watch->killed)
        return;
    result->timed_out = now_ns >= watch->deadline_ns;
    result->interrupted = !result->timed_out && os_interrupted();
    if (result->timed_out || result->interrupted)
        kill_group(watch);
}

static bool is_over(const struct watch *watch)
{
    if (!watch->ended_ns)
        return false;
    return (watch->out.fd < 0 && watch->errors.fd < 0) || os_now_ns() >= watch->ended_ns + drain_ns;
}

static void watch_until_end(struct watch *watch, struct process_result *result)
{
    for (;;) {
        enforce(watch, result);
        if (is_over(watch))
            return;
        struct pollfd ready[] = {
            {.fd = watch->out.fd, .events = POLLIN},
            {.fd = watch->errors.fd, .events = POLLIN},
            {.fd = watch->ended_ns ? -1 : watch->pid_fd, .events = POLLIN},
        };
        if (poll(ready, sizeof ready / sizeof *ready, TICK_MS) <= 0)
            continue;
        if (ready[0].revents)
            stream_read(&watch->out);
        if (ready[1].revents)
            stream_read(&watch->errors);
    }
}

/* Takes the end of the process from the kernel. */
static bool reap(struct watch *watch, struct process_result *result, struct err *err)
{
    int status = 0;
    struct rusage usage;
    while (wait4(watch->pid, &status, 0, &usage) < 0) {
        if (errno != EINTR)
            return err_set_errno(err, errno, "cannot wait for process %ld", (long)watch->pid);
    }
    result->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    result->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    const struct timeval times[] = {usage.ru_utime, usage.ru_stime};
    for (size_t i = 0; i < 2; i++)
        result->cpu_ns += ((int64_t)times[i].tv_sec * 1000000 + times[i].tv_usec) * 1000;
    return true;
}

/* The environment of a child. */
struct environment {
    char **entries; /* NULL-terminated once finished; malloc */
    size_t count;
    size_t capacity;
};

static void environment_free(struct environment *environment)
{
    free(environment->entries);
}

/* Adds "NAME=value", in place of an earlier one of that name. */
static void put(struct environment *environment, char *entry)
{
    const size_t name_length = strcspn(entry, "=") + 1;
    for (size_t i = 0; i < environment->count; i++) {
        if (strncmp(environment->entries[i], entry, name_length) == 0) {
            environment->entries[i] = entry;
            return;
        }
    }
    environment->entries = vec_reserve_one(environment->entries, environment->count,
                                           &environment->capacity, sizeof entry);
    environment->entries[environment->count++] = entry;
}

static void put_value(struct environment *environment, struct arena *arena, const char *name,
                      const char *value)
{
    put(environment, arena_printf(arena, "%s=%s", name, value));
}

/* Its folder for temporary files: one that it may write. */
static const char *temporary_dir(const struct process_opts *opts, struct arena *arena)
{
    struct err ignored;
    char *real = NULL;
    if (opts->confine && opts->write_paths && opts->write_paths[0] &&
        os_path_real(opts->write_paths[0], arena, &real, &ignored))
        return real;
    const char *own = os_env("TMPDIR");
    return own ? own : "/tmp";
}

static void environment_build(struct environment *out, const struct process_opts *opts,
                              struct arena *arena)
{
    const char *path = os_env("PATH");
    put_value(out, arena, "PATH", path ? path : "/usr/local/bin:/usr/bin:/bin");
    put_value(out, arena, "LANG", "C.UTF-8");
    put_value(out, arena, "TMPDIR", temporary_dir(opts, arena));
    for (const char *const *name = opts->keep_env; name && *name; name++) {
        const char *value = getenv(*name);
        if (value)
            put_value(out, arena, *name, value);
    }
    for (const char *const *entry = opts->env; entry && *entry; entry++)
        put(out, arena_strdup(arena, *entry));
    out->entries = vec_reserve_one(out->entries, out->count, &out->capacity, sizeof *out->entries);
    out->entries[out->count] = NULL;
}

/* Its standard input: the text in memory without a name, or /dev/null. */
static bool open_input(const char *input, int *out_fd, struct err *err)
{
    if (!input) {
        *out_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        return *out_fd >= 0 || err_set_errno(err, errno, "cannot open '/dev/null'");
    }
    CLEANUP(os_close) int fd = -1;
    const size_t length = strlen(input);
    if (!os_memfd("kope-input", 0, &fd, err))
        return false;
    for (size_t done = 0; done < length;) {
        const ssize_t put_bytes = pwrite(fd, input + done, length - done, (off_t)done);
        if (put_bytes < 0 && errno != EINTR)
            return err_set_errno(err, errno, "cannot hold the input of a program");
        done += put_bytes > 0 ? (size_t)put_bytes : 0;
    }
    *out_fd = os_take_fd(&fd);
    return true;
}

/* A pipe whose end for reading does not block. */
static bool open_pipe(int *read_fd, int *write_fd, struct err *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_set_errno(err, errno, "cannot create a pipe");
    *read_fd = ends[0];
    *write_fd = ends[1];
    if (fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0 || !child_lift_fd(write_fd))
        return err_set_errno(err, errno, "cannot create a pipe");
    return true;
}

/* Starts the program of `plan` with its three streams; `watch` holds our ends of them. */
static bool start(const struct process_opts *opts, struct child_plan *plan, struct watch *watch,
                  struct err *err)
{
    CLEANUP(os_close) int input_fd = -1;
    CLEANUP(os_close) int output_fd = -1;
    CLEANUP(os_close) int error_fd = -1;
    if (!open_input(opts->input, &input_fd, err) || !open_pipe(&watch->out.fd, &output_fd, err) ||
        !open_pipe(&watch->errors.fd, &error_fd, err))
        return false;
    if (!child_lift_fd(&input_fd))
        return err_set_errno(err, errno, "cannot start '%s'", opts->argv[0]);
    plan->input_fd = input_fd;
    plan->output_fd = output_fd;
    plan->error_fd = error_fd;

    watch->started_ns = os_now_ns();
    if (!child_start(plan, &watch->pid, err))
        return false;
    const int64_t limit_ns = opts->timeout_ns > 0 ? opts->timeout_ns : default_timeout_ns;
    watch->deadline_ns =
        limit_ns < INT64_MAX - watch->started_ns ? watch->started_ns + limit_ns : INT64_MAX;
    watch->pid_fd = (int)syscall(SYS_pidfd_open, watch->pid, 0);
    return true;
}

/* Where the program is and what it is told; everything lives in `scratch`. */
static bool make_plan(const struct process_opts *opts, struct arena *scratch,
                      struct environment *environment, struct child_plan *out, struct err *err)
{
    size_t count = 0;
    while (opts->argv[count])
        count++;
    if (count == 0)
        BUG("os_run without a program");
    char **argv = arena_array(scratch, count + 1, sizeof *argv);
    for (size_t i = 0; i < count; i++)
        argv[i] = arena_strdup(scratch, opts->argv[i]);

    const char *path = argv[0];
    if (!strchr(path, '/'))
        path = os_find_program(argv[0], scratch);
    if (!path) {
        (void)err_set(err, ERR_MISSING_TOOL, "cannot find '%s' on PATH", argv[0]);
        return err_hint(err, "install it, or put its folder on PATH");
    }
    environment_build(environment, opts, scratch);
    *out = (struct child_plan){
        .path = path,
        .argv = argv,
        .env = environment->entries,
        .dir = opts->dir,
        .memory_limit_bytes = opts->memory_limit_bytes,
    };
    return true;
}

bool os_run(const struct process_opts *opts, struct arena *arena, struct process_result *out,
            struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    CLEANUP(environment_free) struct environment environment = {0};
    CLEANUP(confine_release) struct confinement confinement = {.ruleset_fd = -1};
    struct child_plan plan;
    if (!make_plan(opts, &scratch, &environment, &plan, err))
        return false;
    if (opts->confine) {
        if (!confine_prepare(opts->read_paths, opts->write_paths, &confinement, err))
            return err_within(err, "confining '%s'", opts->argv[0]);
        confinement.reads_own_proc = opts->reads_own_proc;
        plan.confinement = &confinement;
    }

    const size_t limit =
        opts->output_limit_bytes ? opts->output_limit_bytes : (size_t)DEFAULT_OUTPUT_BYTES;
    CLEANUP(watch_release)
    struct watch watch = {
        .pid_fd = -1,
        .out = {.fd = -1, .text = {.limit = limit}},
        .errors = {.fd = -1, .text = {.limit = limit}},
    };
    struct process_result result = {0};
    if (!start(opts, &plan, &watch, err))
        return false;
    watch_until_end(&watch, &result);
    if (!reap(&watch, &result, err))
        return false;
    result.truncated = watch.out.text.truncated || watch.errors.text.truncated;
    result.out = arena_strndup(arena, buf_text(&watch.out.text), watch.out.text.length);
    result.errors = arena_strndup(arena, buf_text(&watch.errors.text), watch.errors.text.length);
    result.wall_ns = watch.ended_ns - watch.started_ns;
    *out = result;
    return true;
}
