#include "target/cpu/cpu.h"

#include "os/file.h"
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Linux's seals on shared memory (fcntl(2)); POSIX headers do not have them. */
enum {
    ADD_SEALS = 1033,
    SEAL_SEAL = 0x1,
    SEAL_SHRINK = 0x2,
    SEAL_GROW = 0x4,
    SEAL_FUTURE_WRITE = 0x10 /* the mapping that is there stays writable, no other can be */
};

/* Copies of the descriptors lie here until the child has them, out of the way of the numbers that
 * it expects. */
enum { HIGH_FD = 64 };

struct handover {
    int control, image, buffers[SESSION_MAX_BUFFERS];
};

static void handover_close(struct handover *h)
{
    os_close(&h->control);
    os_close(&h->image);
    for (size_t i = 0; i < SESSION_MAX_BUFFERS; i++)
        os_close(&h->buffers[i]);
}

static size_t page_up(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return bytes == 0 ? page : (bytes + page - 1) / page * page;
}

/* Shared memory of `bytes`, mapped for this process and sealed against the other. */
static bool share(const char *label, size_t bytes, bool writable, int *out_fd, void **out,
                  struct err *err)
{
    CLEANUP(os_close) int small = -1;
    if (!os_memfd(label, bytes, &small, err))
        return false;
    const int fd = fcntl(small, F_DUPFD_CLOEXEC, HIGH_FD);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot copy a descriptor");
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) {
        (void)close(fd);
        return err_set_errno(err, errno, "cannot map %zu bytes of shared memory", bytes);
    }
    const int seals = SEAL_SEAL | SEAL_SHRINK | SEAL_GROW | (writable ? 0 : SEAL_FUTURE_WRITE);
    if (fcntl(fd, ADD_SEALS, seals) != 0) {
        (void)err_set_errno(err, errno, "cannot seal shared memory '%s'", label);
        (void)err_hint(err, "kope needs Linux 5.1 or later");
        (void)munmap(at, bytes);
        (void)close(fd);
        return false;
    }
    *out_fd = fd;
    *out = at;
    return true;
}

static void fill_config(const struct cpu_session *s, const struct session_opts *opts)
{
    struct runner_config *config = &s->control->config;
    const size_t default_memory = (size_t)1 << 30;
    config->magic = RUNNER_MAGIC;
    config->version = RUNNER_VERSION;
    config->image_room = s->image_room;
    config->memory_limit_bytes =
        opts->memory_limit_bytes ? opts->memory_limit_bytes : default_memory;
    config->buffer_count = (uint32_t)s->buffer_count;
    config->int_count = (uint32_t)opts->int_count;
    config->real_count = (uint32_t)opts->real_count;
    config->threads = (uint32_t)s->threads;
    config->yields = s->yields;
    config->processor_count = (uint32_t)s->processor_count;
    for (size_t i = 0; i < s->processor_count; i++)
        config->processors[i] = s->processors[i];
    config->parent = getpid();
    config->is_watched = opts->sample_period_ns > 0;
    for (size_t i = 0; i < s->buffer_count; i++)
        config->buffers[i] = (struct runner_buffer){.bytes = s->buffers[i].bytes,
                                                    .writable = s->buffers[i].writable};
    for (size_t i = 0; i < opts->int_count; i++)
        config->ints[i] = opts->ints[i];
    for (size_t i = 0; i < opts->real_count; i++)
        config->reals[i] = opts->reals[i];
}

/* The last processors that this process may use, one for each thread: whoever pins a parent takes
 * the first. Several threads get a core each where there are as many, since hyper-threads would
 * take each other's time. Where there are not enough for all, they share what there is and give it
 * up in turn. A child that is not timed keeps them all, and gives way too: on a busy host its
 * spinning would take the time of whoever has something to do, the parent first. */
static void choose_processors(struct cpu_session *s, int wanted)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    const size_t threads = (size_t)s->threads;
    const size_t count = os_cpus_allowed(NULL, 0);
    s->yields = s->is_untimed || count < threads + 1;
    s->processor_count = 0;
    s->processor = -1;
    if (wanted >= 0 && threads == 1)
        s->processors[s->processor_count++] = (uint16_t)wanted;
    if (wanted >= 0 || s->is_untimed || count < 2 || count < threads)
        return;
    int *cpus = arena_array(&scratch, count, sizeof *cpus);
    (void)os_cpus_allowed(cpus, count);
    cpus[0] = cpus[count - 1];
    if (threads > 1)
        (void)os_cpus_by_core(cpus, threads, &scratch);
    for (size_t i = 0; i < threads; i++)
        s->processors[s->processor_count++] = (uint16_t)cpus[i];
    s->processor = cpus[0];
}

static bool share_buffers(struct cpu_session *s, const struct session_opts *opts,
                          struct handover *h, struct err *err)
{
    s->buffer_count = opts->buffer_count;
    for (size_t i = 0; i < opts->buffer_count; i++) {
        struct session_buffer *asked = &opts->buffers[i];
        struct shared_buffer *buffer = &s->buffers[i];
        const size_t bytes = page_up(asked->bytes);
        if (!share("kope-buffer", bytes, asked->writable, &h->buffers[i], &buffer->host, err))
            return false;
        buffer->bytes = bytes;
        buffer->writable = asked->writable;
        buffer->label = asked->label ? arena_printf(&s->base.arena, "'%s'", asked->label)
                                     : arena_printf(&s->base.arena, "buffer %zu", i);
        asked->bytes = bytes;
        asked->host = buffer->host;
    }
    return true;
}

/* Stays mapped here until the image is there. */
static bool share_image(struct cpu_session *s, const struct session_opts *opts, struct handover *h,
                        struct err *err)
{
    s->image_room = page_up(opts->image_bytes);
    return share("kope-image", s->image_room, false, &h->image, &s->image, err);
}

static void unmap_image(struct cpu_session *s)
{
    if (s->image)
        (void)munmap(s->image, s->image_room);
    s->image = NULL;
}

bool launch_give_image(struct cpu_session *s, const void *image, size_t bytes, struct err *err)
{
    if (bytes == 0)
        return err_set(err, ERR_BAD_INPUT, "the image is empty");
    if (bytes > s->image_room)
        return err_set(err, ERR_LIMIT, "an image of %zu bytes for a child that has room for %zu",
                       bytes, s->image_room);
    memcpy(s->image, image, bytes);
    unmap_image(s);
    s->control->config.image_bytes = bytes;
    (void)sem_post(&s->control->wake);
    return true;
}

/* 0, or an errno. */
static int spawn(const char *path, const struct handover *h, size_t buffer_count, pid_t *out)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    char *const argv[] = {(char[]){"kope-runner"}, NULL};
    char *const environment[] = {NULL};
    if (posix_spawn_file_actions_init(&files) != 0 || posix_spawnattr_init(&attributes) != 0)
        BUG("out of memory");
    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                    POSIX_SPAWN_SETSIGDEF);
    (void)posix_spawnattr_setpgroup(&attributes, 0);
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    (void)posix_spawnattr_setsigdefault(&attributes, &all);
    int failed = posix_spawn_file_actions_adddup2(&files, h->control, RUNNER_FD_CONTROL);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(&files, h->image, RUNNER_FD_IMAGE);
    for (size_t i = 0; !failed && i < buffer_count; i++)
        failed =
            posix_spawn_file_actions_adddup2(&files, h->buffers[i], RUNNER_FD_BUFFERS + (int)i);
    if (!failed)
        failed = posix_spawn(out, path, &files, &attributes, argv, environment);
    (void)posix_spawn_file_actions_destroy(&files);
    (void)posix_spawnattr_destroy(&attributes);
    return failed;
}

static bool check_opts(const struct session_opts *opts, struct err *err)
{
    if (opts->int_count > RUNNER_MAX_INTS || opts->real_count > RUNNER_MAX_REALS)
        return err_set(err, ERR_LIMIT, "a call has more than %d integers or %d reals",
                       RUNNER_MAX_INTS, RUNNER_MAX_REALS);
    if (opts->threads > RUNNER_MAX_THREADS)
        return err_set(err, ERR_LIMIT, "a call has more than %d threads", RUNNER_MAX_THREADS);
    return true;
}

bool launch(struct cpu_session *s, const struct session_opts *opts, struct err *err)
{
    CLEANUP(handover_close) struct handover h = {.control = -1, .image = -1};
    for (size_t i = 0; i < SESSION_MAX_BUFFERS; i++)
        h.buffers[i] = -1;
    void *control = NULL;
    if (!check_opts(opts, err) || !share_buffers(s, opts, &h, err) ||
        !share_image(s, opts, &h, err) ||
        !share("kope-control", page_up(sizeof *s->control), true, &h.control, &control, err))
        return false;
    launch_reap(s->base.target, !opts->is_untimed);
    s->control = control;
    s->threads = opts->threads > 1 ? opts->threads : 1;
    s->is_untimed = opts->is_untimed;
    choose_processors(s, opts->cpu);
    fill_config(s, opts);
    if (sem_init(&s->control->wake, 1, 0) != 0 || sem_init(&s->control->done, 1, 0) != 0)
        return err_set_errno(err, errno, "cannot make a shared semaphore");
    const char *runner = cpu_state_of(s->base.target)->runner;
    const int failed = spawn(runner, &h, s->buffer_count, &s->pid);
    if (failed) {
        s->pid = 0;
        return err_set_errno(err, failed, "cannot start '%s'", runner);
    }
    s->status_fd = watch_open(s->pid);
    if (opts->sample_period_ns > 0) {
        sampled_open(s, opts->sample_period_ns);
        (void)sem_post(&s->control->wake);
    }
    return true;
}

bool launch_ended(struct cpu_session *s, int *wait_status)
{
    if (s->pid == 0)
        return false;
    if (waitpid(s->pid, wait_status, WNOHANG) != s->pid)
        return false;
    (void)kill(-s->pid, SIGKILL); /* whatever of its group is left */
    s->pid = 0;
    return true;
}

enum launch_state launch_look(struct cpu_session *s, int *wait_status)
{
    if (waitpid(s->pid, wait_status, WNOHANG | WUNTRACED) != s->pid)
        return LAUNCH_RUNS;
    if (WIFSTOPPED(*wait_status))
        return LAUNCH_STOPPED;
    (void)kill(-s->pid, SIGKILL);
    s->pid = 0;
    return LAUNCH_ENDED;
}

void launch_kill(struct cpu_session *s)
{
    if (s->pid == 0)
        return;
    (void)kill(-s->pid, SIGKILL);
    (void)kill(s->pid, SIGKILL); /* before it has its own group */
    while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    s->pid = 0;
}

void launch_reap(const struct target *target, bool all)
{
    struct cpu_state *state = cpu_state_of(target);
    size_t left = 0;
    for (size_t i = 0; i < state->dying_count; i++) {
        pid_t ended;
        while ((ended = waitpid(state->dying[i], NULL, all ? 0 : WNOHANG)) < 0 && errno == EINTR)
            ;
        if (ended == 0)
            state->dying[left++] = state->dying[i];
    }
    state->dying_count = left;
}

/* The kernel needs longer to take a child apart than the gate to judge the next call. */
static void let_die(struct cpu_session *s)
{
    struct cpu_state *state = cpu_state_of(s->base.target);
    if (s->pid == 0)
        return;
    launch_reap(s->base.target, state->dying_count == CPU_MOST_DYING);
    (void)kill(-s->pid, SIGKILL);
    (void)kill(s->pid, SIGKILL);
    state->dying[state->dying_count++] = s->pid;
    s->pid = 0;
}

void launch_end(struct cpu_session *s)
{
    if (s->is_untimed)
        let_die(s);
    else
        launch_kill(s);
}

void launch_release(struct cpu_session *s)
{
    launch_end(s);
    sampled_close(s);
    if (s->status_fd >= 0)
        (void)close(s->status_fd);
    s->status_fd = -1;
    for (size_t i = 0; i < s->buffer_count; i++) {
        if (s->buffers[i].host)
            (void)munmap(s->buffers[i].host, s->buffers[i].bytes);
        s->buffers[i].host = NULL;
    }
    unmap_image(s);
    if (s->control)
        (void)munmap(s->control, page_up(sizeof *s->control));
    s->control = NULL;
}
