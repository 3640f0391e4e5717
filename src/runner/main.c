#include "runner/runner.h"
#include "runner/team.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void runner_fail(struct runner_control *control, const char *what, int error_number)
{
    (void)snprintf(control->error, sizeof control->error, "%s%s%s", what, error_number ? ": " : "",
                   error_number ? strerror(error_number) : "");
    atomic_store(&control->phase, RUNNER_FAILED);
    _exit(1);
}

void runner_refuse(struct runner_control *control, const char *why)
{
    (void)snprintf(control->error, sizeof control->error, "%s", why);
    atomic_store(&control->phase, RUNNER_REFUSED);
    _exit(1);
}

static struct runner_control *map_control(void)
{
    struct stat status;
    if (fstat(RUNNER_FD_CONTROL, &status) != 0 ||
        (uint64_t)status.st_size < sizeof(struct runner_control))
        return NULL;
    struct runner_control *control = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE,
                                          MAP_SHARED | MAP_POPULATE, RUNNER_FD_CONTROL, 0);
    if (control == MAP_FAILED)
        return NULL;
    const struct runner_config *config = &control->config;
    if (config->magic != RUNNER_MAGIC || config->version != RUNNER_VERSION ||
        config->buffer_count > RUNNER_MAX_BUFFERS || config->threads > RUNNER_MAX_THREADS ||
        config->processor_count > RUNNER_MAX_THREADS)
        return NULL;
    control->address = (uint64_t)(uintptr_t)control;
    return control;
}

/* A buffer between two guards that nothing may touch. */
static void *map_buffer(struct runner_control *control, uint32_t index)
{
    const struct runner_buffer *buffer = &control->config.buffers[index];
    char *room = mmap(NULL, buffer->bytes + 2 * (size_t)RUNNER_GUARD_BYTES, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        runner_fail(control, "no room for a buffer", errno);
    void *at = room + RUNNER_GUARD_BYTES;
    const int access = buffer->writable ? PROT_READ | PROT_WRITE : PROT_READ;
    if (mmap(at, buffer->bytes, access, MAP_SHARED | MAP_FIXED | MAP_POPULATE,
             RUNNER_FD_BUFFERS + (int)index, 0) == MAP_FAILED)
        runner_fail(control, "a buffer cannot be mapped", errno);
    control->buffer_address[index] = (uint64_t)(uintptr_t)at;
    return at;
}

static const uint8_t *map_image(struct runner_control *control)
{
    const uint8_t *image =
        mmap(NULL, control->config.image_room, PROT_READ, MAP_PRIVATE, RUNNER_FD_IMAGE, 0);
    if (image == MAP_FAILED)
        runner_fail(control, "the image cannot be mapped", errno);
    return image;
}

static uint64_t mapped_bytes(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return 0;
    if (fscanf(file, "%lu", &pages) != 1)
        pages = 0;
    (void)fclose(file);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* A process that is hidden cannot be asked about any more. Nothing of a candidate is here yet. A
 * parent that is gone never answers. */
static void wait_for_watcher(struct runner_control *control)
{
    enum { LIMIT_S = 10 };
    struct timespec until = {0};
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LIMIT_S;
    while (sem_timedwait(&control->wake, &until) != 0) {
        if (errno != EINTR)
            runner_fail(control, "nobody came to watch", errno);
    }
}

/* Those that need /proc come before those that take it away. */
static bool enter_layers(int64_t parent, uint32_t *missing)
{
    *missing = box_hide_clock();
    box_close_descriptors();
    if (!box_give_up_privileges())
        return false;
    *missing |= box_enter_namespaces();
    *missing |= box_enter_landlock();
    *missing |= box_hide_process(parent);
    return true;
}

static void enter_box(struct runner_control *control)
{
    const struct runner_config *config = &control->config;
    /* The loaded image and the main thread's stack come on top of what is mapped. */
    const uint64_t limit = mapped_bytes() + config->memory_limit_bytes +
                           (uint64_t)RUNNER_STACK_BYTES + 4 * config->image_room +
                           (UINT64_C(1) << 20) + team_bytes(config);
    uint32_t missing = 0;
    if (!enter_layers(config->parent, &missing))
        runner_fail(control, "privileges cannot be given up", errno);
    /* Namespaces are entered by one thread, limits and filters then hold for all. */
    if (!team_make(control))
        runner_fail(control, "the task's threads cannot be made", errno);
    if (!box_limit(limit))
        runner_fail(control, "limits cannot be set", errno);
    control->missing_layers = missing;
    if (!fault_install(control))
        runner_fail(control, "signal handlers cannot be set", errno);
    if (!filter_for_loading())
        runner_fail(control, "no seccomp filters on this kernel", errno);
}

/* Started ahead of the candidate: the parent fills the image's memory in when it has been built. */
static void wait_for_image(struct runner_control *control)
{
    atomic_store(&control->phase, RUNNER_BOXED);
    while (sem_wait(&control->wake) != 0 && errno == EINTR)
        ;
    if (control->config.image_bytes > control->config.image_room)
        runner_refuse(control, "it is larger than its memory");
}

/* 'kope-runner --describe': what an image may use and which layers the box lacks here. The box
 * cannot be left again: it is tried in a child, which tells by its exit status. */
static int describe(void)
{
    enum { NO_FILTER = 0x40 };
    int status = 0;
    if (!symbol_list())
        return 1;
    const pid_t child = fork();
    if (child == 0) {
        uint32_t missing = 0;
        const bool boxed = enter_layers(0, &missing) && filter_for_loading();
        _exit(boxed ? (int)(missing & (NO_FILTER - 1)) : NO_FILTER);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return 1;
    return printf("missing %d\n", WEXITSTATUS(status)) < 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--describe") == 0)
        return describe();
    struct runner_control *control = map_control();
    if (!control) {
        (void)fputs("kope-runner: started by kope, not by hand\n", stderr);
        return 2;
    }
    void *buffers[RUNNER_MAX_BUFFERS] = {NULL};
    for (uint32_t i = 0; i < control->config.buffer_count; i++)
        buffers[i] = map_buffer(control, i);
    const uint8_t *file = map_image(control);
    team_pin(&control->config, 0);
    if (control->config.is_watched)
        wait_for_watcher(control);
    enter_box(control);
    wait_for_image(control);

    struct image image;
    const char *why = "";
    if (!image_load(file, control->config.image_bytes, &image, &why))
        runner_refuse(control, why);
    fault_set_image(&image);
    control->image_address = (uint64_t)(uintptr_t)image.base;
    if (!filter_for_candidate())
        runner_fail(control, "the second filter cannot be set", errno);
    serve(control, buffers, &image);
}
