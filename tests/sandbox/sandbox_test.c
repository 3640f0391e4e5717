/*
 * use: sandbox_test DIR. Runs every attempt of attempts.h in children of sandbox-runner-full,
 * -none and of one layer each, which lie in DIR beside hostile.so, and prints the table.
 *
 * Exit status 1 where anything worked in the full box, where a layer that should stop an attempt by
 * itself does not, or where an attempt does not work without any layer, so that its being stopped
 * says nothing.
 */
#include "attempts.h"

#include "base/arena.h"
#include "base/err.h"
#include "os/file.h"
#include "os/os.h"
#include "target/cpu/cpu.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, MOST_RUNS = 200, SKIPPED = 77, TEXT = 200 };
#define LIMIT_NS INT64_C(10000000000)
#define NAP_NS INT64_C(20000)

static const struct {
    const char *group, *name, *layers, *needs;
} attempts[] = {
#define ROW(group, name, layers, needs) {#group, #name, layers, needs},
    ATTEMPTS(ROW)
#undef ROW
};

/* Boxes in the order of the columns; the letter is that of attempts.h. */
static const struct {
    const char *name;
    char letter;      /* 0: the full box, '-': none of the layers */
    const char *word; /* of it in target_missing_layers */
} boxes[] = {
    {"full", 0, NULL},
    {"none", '-', NULL},
    {"seccomp", 's', NULL},
    {"landlock", 'l', "landlock"},
    {"namespaces", 'n', "namespaces"},
    {"limits", 'r', NULL},
    {"descriptors", 'd', NULL},
    {"process", 'p', "hidden process"},
    {"clock", 'c', "hidden clock"},
    {"clock", 'v', "hidden vdso clock"}, /* the same box: of one only is what the other stops */
};
enum { BOX_COUNT = sizeof boxes / sizeof *boxes, BOX_FULL = 0, BOX_NONE = 1 };

struct outcome {
    bool is_tried, has_worked;
    long value;
    char how[TEXT]; /* what ended the child; "" where it lived */
};

struct test {
    const char *dir;
    char *image;
    size_t image_bytes;
    struct told told;
    struct target *target;
    struct cpu_session child, sibling; /* without a control page: none */
    struct arena arena;
    struct err err;
    struct outcome outcomes[BOX_COUNT][ATTEMPT_COUNT];
    bool is_there[BOX_COUNT]; /* this host has the layer */
    char missing[TEXT];       /* layers that the full box lacks here */
};

static long secret_word = 4711; /* that the child tries to read */

static _Noreturn void stop(const char *format, ...) __attribute__((format(printf, 1, 2)));
static _Noreturn void stop(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fputc('\n', stderr);
    exit(EXIT_FAILURE);
}

/* --- what there is to reach ------------------------------------------------------------------ */

static int bound(int family, int kind, const void *address, socklen_t bytes)
{
    const int fd = socket(family, kind | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, address, bytes) != 0 || (kind == SOCK_STREAM && listen(fd, 64) != 0))
        return -1;
    return fd;
}

static long port_of(int fd)
{
    struct sockaddr_in6 address = {0};
    socklen_t bytes = sizeof address;
    if (fd < 0 || getsockname(fd, (struct sockaddr *)&address, &bytes) != 0)
        return 0;
    return ntohs(address.sin6_port); /* the same place as in sockaddr_in */
}

static void open_doors(struct test *t)
{
    struct told *told = &t->told;
    const struct sockaddr_in four = {.sin_family = AF_INET,
                                     .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    const struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_un path = {.sun_family = AF_UNIX}, abstract = {.sun_family = AF_UNIX};
    told->tcp4_port = port_of(bound(AF_INET, SOCK_STREAM, &four, sizeof four));
    told->tcp6_port = port_of(bound(AF_INET6, SOCK_STREAM, &six, sizeof six));
    told->udp4_port = port_of(bound(AF_INET, SOCK_DGRAM, &four, sizeof four));
    (void)snprintf(told->unix_path, sizeof told->unix_path, "%.90s/socket", told->folder);
    (void)snprintf(told->unix_abstract, sizeof told->unix_abstract, "kope-sandbox-%ld",
                   (long)getpid());
    memcpy(path.sun_path, told->unix_path, sizeof path.sun_path);
    memcpy(abstract.sun_path + 1, told->unix_abstract, sizeof abstract.sun_path - 1);
    const size_t length = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(told->unix_abstract);
    if (!told->tcp4_port || !told->udp4_port ||
        bound(AF_UNIX, SOCK_STREAM, &path, sizeof path) < 0 ||
        bound(AF_UNIX, SOCK_STREAM, &abstract, (socklen_t)length) < 0)
        stop("sandbox_test: cannot open sockets to be reached: %s", strerror(errno));
}

static void write_file(const char *folder, const char *name)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "we");
    if (!file || fputs("to be left alone\n", file) < 0 || fclose(file) != 0)
        stop("sandbox_test: cannot write '%s'", path);
}

/* What attempts that work change is made new for each box. */
static void renew_files(struct test *t)
{
    static const char *const made[] = {"created", "link", "symlink", "made", "pipe", "renamed"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        char path[PATH_MAX];
        (void)snprintf(path, sizeof path, "%s/%s", t->told.folder, made[i]);
        (void)remove(path);
    }
    (void)unlink("/dev/shm/kope-sandbox-test");
    write_file(t->told.folder, "file");
    write_file(t->told.folder, "to-rename");
    write_file(t->told.folder, "to-unlink");
}

static void prepare(struct test *t)
{
    char *folder = NULL;
    if (!os_make_temp_dir("kope-sandbox-files", &t->arena, &folder, &t->err) ||
        !os_read_file(os_path_join(&t->arena, t->dir, "hostile.so"), 1 << 20, &t->arena, &t->image,
                      &t->image_bytes, &t->err))
        stop("sandbox_test: %s", t->err.message);
    (void)snprintf(t->told.folder, sizeof t->told.folder, "%s", folder);
    (void)snprintf(t->told.file, sizeof t->told.file, "%s/file", folder);
    t->told.parent = getpid();
    t->told.parent_word = &secret_word;
    open_doors(t);
}

/* --- one attempt -------------------------------------------------------------------------------
 */

/* A child of the runner, rung by hand: a session of target.h also measures what a bell costs, which
 * takes longer than all the rest of an attempt. */
static void start(struct test *t, struct cpu_session *s)
{
    struct session_buffer buffers[2] = {{.label = "told", .bytes = PAGE},
                                        {.label = "found", .bytes = PAGE, .writable = true}};
    const struct session_opts opts = {.image = t->image,
                                      .image_bytes = t->image_bytes,
                                      .buffers = buffers,
                                      .buffer_count = 2,
                                      .cpu = -1};
    const int64_t deadline = os_now_ns() + LIMIT_NS;
    *s = (struct cpu_session){.base.target = t->target, .status_fd = -1};
    if (!launch(s, &opts, &t->err) || !launch_give_image(s, t->image, t->image_bytes, &t->err))
        stop("sandbox_test: %s; %s", t->err.message, t->err.hint);
    while (atomic_load(&s->control->phase) < RUNNER_IDLE && os_now_ns() < deadline)
        os_sleep_ns(NAP_NS);
    if (atomic_load(&s->control->phase) != RUNNER_IDLE)
        stop("sandbox_test: no child: %s", s->control->error);
    for (size_t i = 0; i < s->buffer_count; i++)
        s->buffers[i].child_address = s->control->buffer_address[i];
    memcpy(s->buffers[0].host, &t->told, sizeof t->told);
}

static void end(struct cpu_session *s)
{
    launch_release(s);
    arena_free(&s->base.arena);
    *s = (struct cpu_session){.status_fd = -1};
}

/* One call; false with a report where the child died of it. */
static bool ring(struct cpu_session *s, struct session_report *report)
{
    struct runner_control *control = s->control;
    const uint64_t sequence = ++s->sequence;
    const int64_t deadline = os_now_ns() + LIMIT_NS;
    int wait_status = 0;
    memset(control->offsets, 0, sizeof control->offsets);
    control->count = 1;
    control->touch = 0;
    atomic_store(&control->sequence, sequence);
    atomic_store(&control->bell, runner_word(sequence, RUNNER_RING));
    (void)sem_post(&control->wake);
    while (atomic_load(&control->ack) != runner_word(sequence, RUNNER_PARKED)) {
        if (launch_ended(s, &wait_status)) {
            evidence_of_death(s, wait_status, report);
            return false;
        }
        if (os_now_ns() > deadline) {
            *report = (struct session_report){.mechanism = "limit", .evidence = "no answer"};
            launch_kill(s);
            return false;
        }
        os_sleep_ns(NAP_NS);
    }
    return true;
}

/* Did it change what this process has in the input? */
static bool input_changed(const struct test *t)
{
    return memcmp(t->child.buffers[0].host, &t->told, sizeof t->told) != 0;
}

static void try_one(struct test *t, size_t which, struct outcome *out)
{
    struct session_report report = {0};
    if (strchr(attempts[which].needs, 'b'))
        end(&t->child);
    if (!t->child.control)
        start(t, &t->child);
    struct found *found = t->child.buffers[1].host;
    *found = (struct found){.value = (long)which};
    const bool is_alive = ring(&t->child, &report);
    *out = (struct outcome){.is_tried = found->is_tried != 0,
                            .has_worked = found->has_worked != 0,
                            .value = found->value};
    out->has_worked = out->has_worked || input_changed(t);
    if (!is_alive)
        (void)snprintf(out->how, sizeof out->how, "%s: %s", report.mechanism, report.evidence);
    /* A program that it became has left. */
    if (!is_alive && strcmp(report.mechanism, "exit") == 0 &&
        strcmp(attempts[which].group, "exec") == 0)
        out->has_worked = true;
    if (!is_alive || strchr(attempts[which].needs, 'f') || input_changed(t))
        end(&t->child);
}

/* A child must say itself what its box lacks: one that has not entered a layer, and only that one.
 */
static void check_missing(struct test *t, size_t box)
{
    const char *missing = target_missing_layers(t->target);
    for (size_t i = BOX_NONE + 1; i < BOX_COUNT; i++) {
        if (!boxes[i].word)
            continue;
        const bool has_it = strcmp(boxes[box].name, boxes[i].name) == 0 || box == BOX_FULL;
        const bool is_missing = strstr(missing, boxes[i].word) != NULL;
        if (box == BOX_FULL)
            t->is_there[i] = !is_missing;
        else if (is_missing == has_it && t->is_there[i])
            stop("sandbox_test: the box '%s' says that it lacks '%s'", boxes[box].name, missing);
    }
    if (box == BOX_FULL)
        (void)snprintf(t->missing, sizeof t->missing, "%s", missing);
}

static void try_all(struct test *t, size_t box)
{
    const char *name = os_path_join(&t->arena, t->dir,
                                    arena_printf(&t->arena, "sandbox-runner-%s", boxes[box].name));
    if (setenv("KOPE_RUNNER", name, 1) != 0 ||
        !target_open("cpu", t->told.folder, &t->target, &t->err))
        stop("sandbox_test: %s", t->err.message);
    renew_files(t);
    check_missing(t, box);
    start(t, &t->sibling);
    t->told.sibling = t->sibling.pid;
    t->told.sibling_word = (void *)(uintptr_t)t->sibling.buffers[1].child_address;
    for (size_t i = 0; i < ATTEMPT_COUNT; i++)
        try_one(t, i, &t->outcomes[box][i]);
    end(&t->child);
    end(&t->sibling);
    target_close(&t->target);
}

/* --- the table -----------------------------------------------------------------------------------
 */

/* How the full box ended it, in a few words. */
static const char *in_words(const struct outcome *o, char *room, size_t bytes)
{
    if (o->has_worked)
        (void)snprintf(room, bytes, "WORKED");
    else if (o->how[0])
        (void)snprintf(room, bytes, "%s", o->how);
    else if (o->value < 0)
        (void)snprintf(room, bytes, "error: %s", strerror((int)-o->value));
    else
        (void)snprintf(room, bytes, "no effect");
    return room;
}

/* Letters of the layers that stopped it alone, and whether the ones it lists are among them. */
static bool layers_hold(const struct test *t, size_t which, char *alone)
{
    bool hold = true;
    for (size_t box = BOX_NONE + 1; box < BOX_COUNT; box++) {
        const bool stopped = !t->outcomes[box][which].has_worked;
        const bool is_listed = strchr(attempts[which].layers, boxes[box].letter) &&
                               !(boxes[box].letter == 'p' && getuid() == 0);
        if (stopped && !t->outcomes[BOX_NONE][which].has_worked)
            continue; /* nothing to be stopped */
        if (stopped)
            *alone++ = boxes[box].letter;
        if (is_listed && !stopped && t->is_there[box])
            hold = false;
    }
    *alone = '\0';
    return hold;
}

/* It worked, and no layer is here of those that stop it: what that means docs/security.md says. */
static bool lacks_its_layers(const struct test *t, size_t which)
{
    bool lacks = false;
    for (size_t box = BOX_NONE + 1; box < BOX_COUNT; box++) {
        if (!strchr(attempts[which].layers, boxes[box].letter))
            continue;
        if (t->is_there[box])
            return false;
        lacks = true;
    }
    return lacks;
}

struct tally {
    size_t worked, real, unproven, broken, unguarded;
};

static void print_row(const struct test *t, size_t which, struct tally *tally)
{
    char alone[BOX_COUNT + 1], words[TEXT + 32];
    const struct outcome *full = &t->outcomes[BOX_FULL][which];
    const bool always = strchr(attempts[which].layers, 'm') != NULL;
    const bool is_real = t->outcomes[BOX_NONE][which].has_worked;
    const bool may_fail = always || strchr(attempts[which].needs, 'k') != NULL;
    const bool hold = layers_hold(t, which, alone);
    const bool is_unguarded = full->has_worked && lacks_its_layers(t, which);
    tally->worked += full->has_worked && !is_unguarded;
    tally->unguarded += is_unguarded;
    tally->real += is_real;
    tally->unproven += !is_real && !may_fail;
    tally->broken += !hold || !full->is_tried;
    printf("%-11s %-26s %-8s %-9s %-5s %.90s\n", attempts[which].group, attempts[which].name,
           is_real  ? "works"
           : always ? "sealed"
                    : "refused",
           alone, hold && (is_real || may_fail) ? "" : "FAIL",
           is_unguarded ? "works: this host lacks the layer" : in_words(full, words, sizeof words));
}

static int print_table(const struct test *t)
{
    struct tally tally = {0};
    printf("As user %ld, in the box with all layers%s%s\n\n", (long)getuid(),
           t->missing[0] ? ", but this host lacks: " : "", t->missing);
    printf("%-11s %-26s %-8s %-9s %-5s %s\n", "group", "attempt", "no layer", "alone", "",
           "in the full box");
    for (size_t i = 0; i < ATTEMPT_COUNT; i++)
        print_row(t, i, &tally);
    printf("\nlayers that stop it alone: s seccomp, l Landlock, n namespaces, r limits, d closed "
           "descriptors,\np hidden process, c hidden clock, v hidden vdso clock; 'sealed': stopped "
           "without any of them\n");
    printf("%zu attempts, %zu worked; without the layers %zu work\n", (size_t)ATTEMPT_COUNT,
           tally.worked, tally.real);
    if (tally.unguarded)
        printf("%zu of the others work because this host lacks the layer that stops them: %s\n",
               tally.unguarded, t->missing);
    if (tally.unproven || tally.broken)
        printf("%zu do nothing without layers either, of %zu a layer does not stop its share\n",
               tally.unproven, tally.broken);
    return tally.worked || tally.unproven || tally.broken ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    static struct test t;
    struct err ignored;
    if (argc != 2)
        stop("use: sandbox_test DIR");
    t.dir = argv[1];
    /* ctest kills the script that started this; the runners die with their parent in turn. */
    (void)prctl(PR_SET_PDEATHSIG, (long)SIGKILL, 0L, 0L, 0L);
    (void)signal(SIGURG, SIG_IGN);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    prepare(&t);
    for (size_t box = 0; box < BOX_COUNT; box++)
        t.is_there[box] = true;
    for (size_t box = 0; box < BOX_COUNT; box++)
        try_all(&t, box);
    const int status = print_table(&t);
    renew_files(&t);
    (void)os_remove_tree(t.told.folder, &ignored);
    arena_free(&t.arena);
    return status;
}
