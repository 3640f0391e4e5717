/*
 * The box and the doorbell: what a hostile or broken kernel does in a session, and what the session
 * says about it. The kernels are compiled by the cpu target as candidates are.
 */
#include "os/os.h"
#include "runner/protocol.h"
#include "target/cpu/cpu.h"
#include "target/target.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { ELEMENTS = 1024, BYTES = ELEMENTS * sizeof(float), PATIENCE = 400, TRIES = 20 };
#define LIMIT_NS INT64_C(5000000000)

/* void k(const real *x, real *y, int64_t *z, int64_t n) */
static const char task_text[] = "name: k\n"
                                "family: elementwise\n"
                                "dtype: float32\n"
                                "axes: [n]\n"
                                "args:\n"
                                "  - {name: x, role: in, shape: [n]}\n"
                                "  - {name: y, role: out, shape: [n]}\n"
                                "  - {name: z, role: inout, dtype: int64, shape: [n]}\n"
                                "cases:\n"
                                "  - {n: 1024}\n"
                                "held_out:\n"
                                "  - {n: 57}\n";

#define KERNEL(body)                                                                               \
    "#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n#include <immintrin.h>\n"      \
    "void k(const real *x, real *y, int64_t *z, int64_t n)\n{\n"                                   \
    "    (void)x, (void)y, (void)z, (void)n;\n" body "\n}\n"

struct fixture {
    struct target *target;
    const struct task *task;
    struct arena arena;
    struct session *session;
    struct session_buffer buffers[3];
    struct session_report report;
    int64_t threads;
    bool is_timed;
    size_t stopped, others; /* threads of the child, before the bell */
    struct err err;
};

static int set_up(void **state)
{
    static struct fixture f;
    *state = &f;
    if (!target_open("cpu", NULL, &f.target, &f.err)) {
        print_error("%s (%s)\n", f.err.message, f.err.hint);
        return -1;
    }
    static const char reference[] = KERNEL("");
    if (!task_parse(task_text, strlen(task_text), reference, "", &f.arena, &f.task, &f.err)) {
        print_error("%s (%s)\n", f.err.message, f.err.hint);
        return -1;
    }
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    target_close(&f->target);
    arena_free(&f->arena);
    return 0;
}

static int after_each(void **state)
{
    struct fixture *f = *state;
    session_stop(&f->session);
    return 0;
}

static struct build_result build(struct fixture *f, const char *source, bool trusted)
{
    static const char *const flags[] = {"-O1", "-march=native"};
    struct candidate candidate = {.source = source, .flag_count = 2};
    struct build_result result;
    candidate.flags[0] = flags[0];
    candidate.flags[1] = flags[1];
    const struct build_request request = {
        .task = f->task, .candidate = &candidate, .real_name = "float", .is_trusted = trusted};
    if (!target_build(f->target, &request, &f->arena, &result, &f->err))
        fail_msg("%s", f->err.message);
    return result;
}

static void start_with(struct fixture *f, const struct build_result *built, size_t memory,
                       void (*before_bell)(void *), void *ctx)
{
    static const int64_t n = ELEMENTS;
    f->buffers[0] = (struct session_buffer){.label = "x", .bytes = BYTES};
    f->buffers[1] = (struct session_buffer){.label = "y", .bytes = BYTES, .writable = true};
    f->buffers[2] = (struct session_buffer){.bytes = 2 * BYTES, .writable = true};
    const struct session_opts opts = {.image = built->image,
                                      .image_bytes = built->image_bytes,
                                      .buffers = f->buffers,
                                      .buffer_count = 3,
                                      .ints = &n,
                                      .int_count = 1,
                                      .threads = f->threads,
                                      .memory_limit_bytes = memory,
                                      .before_bell = before_bell,
                                      .before_bell_ctx = ctx,
                                      .by_account = f->is_timed,
                                      .cpu = -1};
    if (!session_start(f->target, &opts, &f->session, &f->report, &f->err))
        fail_msg("%s (%s)", f->err.message, f->err.hint);
    assert_int_equal(f->report.status, SESSION_OK);
    assert_non_null(f->session);
}

/* Builds as a trusted source, so that only the box stands in the way, and starts. */
static void start(struct fixture *f, const char *source)
{
    const struct build_result built = build(f, source, true);
    if (built.status != BUILD_OK)
        fail_msg("%s: %s\n%s", built.mechanism, built.evidence, built.diagnostics);
    start_with(f, &built, 0, NULL, NULL);
}

/* Until the host lets a run through undisturbed. */
static void run(struct fixture *f, int64_t limit_ns)
{
    const struct session_call call = {{0}};
    for (int i = 0; i < PATIENCE; i++) {
        if (!session_run(f->session, &call, 1, true, limit_ns, &f->report, &f->err))
            fail_msg("%s", f->err.message);
        if (f->report.status != SESSION_NOISY)
            return;
    }
    print_message("the host is too noisy for this test\n");
    skip();
}

static void assert_report(const struct fixture *f, enum session_status status,
                          const char *mechanism, const char *evidence)
{
    if (f->report.status != status || strcmp(f->report.mechanism, mechanism) != 0 ||
        !strstr(f->report.evidence, evidence))
        fail_msg("status %d [%s] %s", (int)f->report.status, f->report.mechanism,
                 f->report.evidence);
}

static void session_run__good_kernel__writes_and_is_timed(void **state)
{
    struct fixture *f = *state;
    start(f, KERNEL("for (int64_t i = 0; i < n; i++) y[i] = 2 * x[i];"));
    float *x = f->buffers[0].host;
    const float *y = f->buffers[1].host;
    for (int i = 0; i < ELEMENTS; i++)
        x[i] = (float)i;
    run(f, LIMIT_NS);
    assert_report(f, SESSION_OK, "", "");
    for (int i = 0; i < ELEMENTS; i++)
        assert_true(y[i] == 2 * x[i]);
    assert_in_range(f->report.elapsed_ns, 0, 1000000);
}

static void session_run__empty_kernel__takes_no_time(void **state)
{
    struct fixture *f = *state;
    int64_t best = INT64_MAX;
    int cpus[2];
    const bool shared = os_cpus_allowed(cpus, 2) < 2; /* one processor for parent and child */
    start(f, KERNEL(""));
    for (int i = 0; i < 10; i++) {
        run(f, LIMIT_NS);
        best = f->report.elapsed_ns < best ? f->report.elapsed_ns : best;
    }
    assert_in_range(best, 0, shared ? 100000 : 2000);
}

static void session_run__many_calls__each_at_its_offsets(void **state)
{
    enum { CALLS = 64, BLOCK = 16 };
    struct fixture *f = *state;
    struct session_call calls[CALLS];
    start(f, KERNEL("y[0] = x[0]; y[1] = (float)n;"));
    float *x = f->buffers[0].host;
    const float *y = f->buffers[1].host;
    for (size_t i = 0; i < CALLS; i++) {
        x[i * BLOCK] = (float)i;
        calls[i] = (struct session_call){
            {i * BLOCK * sizeof(float), (CALLS - 1 - i) * BLOCK * sizeof(float)}};
    }
    assert_true(session_run(f->session, calls, CALLS, false, LIMIT_NS, &f->report, &f->err));
    for (size_t i = 0; i < CALLS; i++) {
        assert_true(y[(CALLS - 1 - i) * BLOCK] == (float)i);
        assert_true(y[(CALLS - 1 - i) * BLOCK + 1] == (float)ELEMENTS);
    }
}

static void session_run__libm_and_malloc__work(void **state)
{
    struct fixture *f = *state;
    start(f, "#include <math.h>\n" KERNEL("float *t = malloc(4096 * 1024); memset(t, 0, 4096);\n"
                                          "t[0] = expf(x[0]); y[0] = t[0] + sinf(x[1]); free(t);\n"
                                          "t = aligned_alloc(64, 64 * 1024); y[1] = !t; free(t);"));
    ((float *)f->buffers[0].host)[0] = 1;
    run(f, LIMIT_NS);
    assert_report(f, SESSION_OK, "", "");
    assert_true(fabsf(((const float *)f->buffers[1].host)[0] - expf(1)) < 1e-5F);
    assert_true(((const float *)f->buffers[1].host)[1] == 0);
}

static void session_run__endless_loop__timed_out(void **state)
{
    struct fixture *f = *state;
    start(f, KERNEL("volatile int64_t i = n; while (i) i = n;"));
    const int64_t before = os_now_ns();
    run(f, INT64_C(200000000));
    assert_report(f, SESSION_TIMED_OUT, "limit", "still running");
    assert_true(os_now_ns() - before < INT64_C(60000000000)); /* a busy host: not how soon */
}

static void session_run__null_pointer__crashed_with_evidence(void **state)
{
    struct fixture *f = *state;
    start(f, KERNEL("volatile int *p = (volatile int *)(uintptr_t)(n - 1024); *p = 1;"));
    run(f, LIMIT_NS);
    assert_report(f, SESSION_CRASHED, "signal", "wrote address 0x0: a null pointer");
}

static void session_run__one_past_the_end__names_the_buffer(void **state)
{
    struct fixture *f = *state;
    start(f, KERNEL("for (int64_t i = 0; i <= n; i++) y[i] = 1;"));
    run(f, LIMIT_NS);
    assert_report(f, SESSION_CRASHED, "signal", "past the end of 'y'");
}

static void session_run__second_element_past_the_end__says_how_far(void **state)
{
    struct fixture *f = *state;
    start(f, KERNEL("volatile real *v = y; v[n + 1] = 1;"));
    run(f, LIMIT_NS);
    assert_report(f, SESSION_CRASHED, "signal", "wrote 4 bytes past the end of 'y'");
}

static void session_run__before_the_start__names_the_buffer(void **state)
{
    struct fixture *f = *state;
    start(f, KERNEL("volatile int64_t *v = z; v[-1] = v[0];"));
    run(f, LIMIT_NS);
    assert_report(f, SESSION_CRASHED, "signal", "wrote 8 bytes before the start of buffer 2");
}

static void session_run__writes_an_input__crashed(void **state)
{
    struct fixture *f = *state;
    start(f, KERNEL("((volatile real *)(uintptr_t)x)[32] = 0;"));
    run(f, LIMIT_NS);
    assert_report(f, SESSION_CRASHED, "signal", "wrote byte 128 of 'x', which is read-only");
}

static void session_run__division_by_zero__crashed(void **state)
{
    struct fixture *f = *state;
    start(f, KERNEL("volatile int64_t zero = 0; z[0] = n / zero;"));
    run(f, LIMIT_NS);
    assert_report(f, SESSION_CRASHED, "signal", "division by zero");
}

static void session_run__stack_overflow__crashed(void **state)
{
    struct fixture *f = *state;
    start(f, "#include <stdint.h>\n"
             "__attribute__((noinline)) static int64_t deep(int64_t n)\n"
             "{ volatile char room[4096]; room[0] = (char)n;\n"
             "  return n == 0 ? 0 : deep(n - 1) + room[0]; }\n" KERNEL("z[0] = deep(1000000);"));
    run(f, LIMIT_NS);
    assert_report(f, SESSION_CRASHED, "signal", "stack overflowed");
}

static void session_run__frees_twice__crashed_not_rejected(void **state)
{
    struct fixture *f = *state;
    start(f, KERNEL("void *volatile p = malloc(40); free(p); free(p); y[0] = 1;"));
    run(f, LIMIT_NS);
    assert_report(f, SESSION_CRASHED, "signal", "heap");
}

static void session_run__huge_malloc__gives_null(void **state)
{
    struct fixture *f = *state;
    start(f, KERNEL("volatile size_t huge = (size_t)100 << 30; y[0] = malloc(huge) == NULL;"));
    run(f, LIMIT_NS);
    assert_report(f, SESSION_OK, "", "");
    assert_true(((const float *)f->buffers[1].host)[0] == 1);
}

static void session_run__allocates_without_bound__ends_at_the_limit(void **state)
{
    struct fixture *f = *state;
    const struct build_result built = build(
        f, KERNEL("for (;;) { char *p = malloc(1 << 20); memset(p, 1, 1 << 20); *z += p[77]; }"),
        true);
    start_with(f, &built, (size_t)64 << 20, NULL, NULL);
    run(f, LIMIT_NS);
    assert_report(f, SESSION_CRASHED, "signal", "null pointer");
}

/* The bytes of instructions hidden in a constant; entered by a changed return address, so that no
 * disassembly shows a jump. */
#define HIDDEN(constant)                                                                           \
    "#include <stdint.h>\n"                                                                        \
    "__attribute__((noinline, noclone)) static int64_t hide(void)\n"                               \
    "{ return INT64_C(" constant "); }\n"                                                          \
    "__attribute__((noinline, noclone)) static long return_to(uintptr_t to)\n"                     \
    "{ ((volatile uintptr_t *)__builtin_frame_address(0))[1] = to; return 41; }\n" KERNEL(         \
        "const unsigned char *p = (const unsigned char *)(uintptr_t)hide;\n"                       \
        "while (p[0] != 0x0f || (p[1] != 0x05 && p[1] != 0x31)) p++;\n"                            \
        "y[0] = (real)return_to((uintptr_t)p);")

static void session_run__hidden_system_call__killed_and_rejected(void **state)
{
    struct fixture *f = *state;
    const struct build_result built = build(f, HIDDEN("0x1234567800c3050f"), false);
    assert_int_equal(built.status, BUILD_OK); /* the scan of the object does not see it */
    start_with(f, &built, 0, NULL, NULL);
    run(f, LIMIT_NS);
    assert_report(f, SESSION_REJECTED, "seccomp", "system call 41");
}

static void session_run__hidden_clock__rejected(void **state)
{
    struct fixture *f = *state;
    const struct build_result built = build(f, HIDDEN("0x1234567800c3310f"), false);
    assert_int_equal(built.status, BUILD_OK);
    start_with(f, &built, 0, NULL, NULL);
    run(f, LIMIT_NS);
    if (strstr(target_missing_layers(f->target), "hidden clock")) {
        print_message("not run to its end: this host does not trap its clock\n");
        skip();
    }
    assert_report(f, SESSION_REJECTED, "M12-clock", "clock");
}

/* ldmxcsr (%rdi); ret: changes the rounding behind the scan's back. */
static void session_run__hidden_change_of_rounding__rejected(void **state)
{
    struct fixture *f = *state;
    const struct build_result built =
        build(f,
              "#include <stdint.h>\n"
              "__attribute__((noinline, noclone)) static int64_t hide(void)\n"
              "{ return INT64_C(0x12345678c317ae0f); }\n" KERNEL(
                  "const unsigned char *p = (const unsigned char *)(uintptr_t)hide;\n"
                  "while (p[0] != 0x0f || p[1] != 0xae) p++;\n"
                  "static uint32_t zeros = 0x9fc0;\n"
                  "((void (*)(uint32_t *))(uintptr_t)p)(&zeros); y[0] = 1;"),
              false);
    assert_int_equal(built.status, BUILD_OK);
    start_with(f, &built, 0, NULL, NULL);
    run(f, LIMIT_NS);
    assert_report(f, SESSION_REJECTED, "M13-fpenv", "floating-point environment");
}

/* A kernel that knows where the doorbell is (the test tells it, through z): it acknowledges before
 * it works. */
static void session_run__rings_before_it_works__rejected(void **state)
{
    struct fixture *f = *state;
    char source[2048];
    (void)snprintf(source, sizeof source,
                   KERNEL("volatile uint64_t *ack = (volatile uint64_t *)(uintptr_t)(z[0] + %zu);\n"
                          "uint64_t *sequence = (uint64_t *)(uintptr_t)(z[0] + %zu);\n"
                          "*ack = *sequence * 8 + %d;\n"
                          "for (volatile int64_t i = 0; i < 3000000; i++) ;\n"
                          "y[0] = 1;"),
                   offsetof(struct runner_control, ack), offsetof(struct runner_control, sequence),
                   (int)RUNNER_DONE);
    start(f, source);
    ((int64_t *)f->buffers[2].host)[0] =
        (int64_t)((struct cpu_session *)f->session)->control->address;
    run(f, LIMIT_NS);
    /* With one processor for both, the parent sees the bell when the work is done: it is timed. */
    if (f->report.status == SESSION_OK)
        assert_true(f->report.elapsed_ns > 500000);
    else
        assert_report(f, SESSION_REJECTED, "M8-quiesce", "after the bell");
}

/* A child that is told of its image once it runs, and what it does with x = 21. What a busy host
 * charges it for falling asleep looks like work between two calls: then it is done again. */
static void run_prepared(struct fixture *f, const struct session_opts *opts,
                         const struct build_result *built)
{
    for (int i = 0; i < TRIES; i++) {
        if (!session_prepare(f->target, opts, &f->session, &f->err))
            fail_msg("%s (%s)", f->err.message, f->err.hint);
        ((float *)f->buffers[0].host)[0] = 21;
        assert_true(
            session_load(&f->session, built->image, built->image_bytes, &f->report, &f->err));
        assert_int_equal(f->report.status, SESSION_OK);
        run(f, LIMIT_NS);
        if (f->report.status == SESSION_OK)
            return;
        assert_report(f, SESSION_REJECTED, "M8-quiesce", "between two calls");
        session_stop(&f->session);
    }
    fail_msg("%s: %s", f->report.mechanism, f->report.evidence);
}

/* Started before its image is there; a larger image than was announced is refused. */
static void session_prepare__image_comes_later__runs(void **state)
{
    struct fixture *f = *state;
    static const int64_t n = ELEMENTS;
    const struct build_result built = build(f, KERNEL("y[0] = 2 * x[0];"), false);
    assert_int_equal(built.status, BUILD_OK);
    f->buffers[0] = (struct session_buffer){.label = "x", .bytes = BYTES};
    f->buffers[1] = (struct session_buffer){.label = "y", .bytes = BYTES, .writable = true};
    f->buffers[2] = (struct session_buffer){.bytes = 2 * BYTES, .writable = true};
    const struct session_opts opts = {.image_bytes = built.image_bytes + 100,
                                      .buffers = f->buffers,
                                      .buffer_count = 3,
                                      .ints = &n,
                                      .int_count = 1,
                                      .threads = f->threads,
                                      .cpu = -1,
                                      .is_untimed = true};
    run_prepared(f, &opts, &built);
    assert_true(((const float *)f->buffers[1].host)[0] == 42);
    session_stop(&f->session);

    /* One that never gets an image is stopped like any other. */
    assert_true(session_prepare(f->target, &opts, &f->session, &f->err));
    session_stop(&f->session);

    assert_true(session_prepare(f->target, &opts, &f->session, &f->err));
    assert_false(session_load(&f->session, built.image, (size_t)1 << 24, &f->report, &f->err));
    assert_int_equal(f->err.kind, ERR_LIMIT);
    assert_null(f->session);
}

static void session_start__task_with_threads__threads_work(void **state)
{
    struct fixture *f = *state;
    struct task task = *f->task;
    task.threads = 2;
    const struct task *one = f->task;
    f->task = &task;
    const struct build_result built =
        build(f,
              "#include <pthread.h>\n"
              "static void *work(void *at) { *(float *)at = 5; return 0; }\n" KERNEL(
                  "pthread_t t; y[1] = (float)pthread_create(&t, 0, work, y);\n"
                  "if (y[1] == 0) pthread_join(t, 0);"),
              false);
    f->task = one;
    if (built.status != BUILD_OK)
        fail_msg("%s: %s", built.mechanism, built.evidence);
    f->threads = 2;
    start_with(f, &built, 0, NULL, NULL);
    f->threads = 1;
    run(f, LIMIT_NS);
    assert_report(f, SESSION_OK, "", "");
    assert_true(((const float *)f->buffers[1].host)[1] == 0);
    assert_true(((const float *)f->buffers[1].host)[0] == 5);
}

/* What of a core's processors the kernel names first. */
static int core_of(int cpu)
{
    char path[96];
    int first = cpu;
    (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
                   cpu);
    FILE *file = fopen(path, "r");
    if (file) {
        if (fscanf(file, "%d", &first) != 1)
            first = cpu;
        (void)fclose(file);
    }
    return first;
}

static void session_start__cores_for_all_threads__a_core_each(void **state)
{
    struct fixture *f = *state;
    int cpus[256];
    bool has_two = false;
    const size_t count = os_cpus_allowed(cpus, 256);
    for (size_t i = 1; i < count; i++)
        has_two = has_two || core_of(cpus[i]) != core_of(cpus[0]);
    if (!has_two)
        skip();
    const struct build_result built = build(f, KERNEL("y[0] = 1;"), false);
    f->threads = 2;
    start_with(f, &built, 0, NULL, NULL);
    f->threads = 1;
    const struct cpu_session *s = (const struct cpu_session *)f->session;
    assert_int_equal(s->processor_count, 2);
    assert_int_not_equal(core_of(s->processors[0]), core_of(s->processors[1]));
    assert_int_equal(s->processor, s->processors[0]);
}

/* Builds for a task with two threads and starts; NULL flags: OpenMP's. Leaves what was refused. */
static struct build_result build_threads(struct fixture *f, const char *compiler,
                                         const char *source)
{
    struct task task = *f->task;
    task.threads = 2;
    const struct candidate candidate = {
        .source = source, .compiler = compiler, .flags = {"-O2", "-fopenmp"}, .flag_count = 2};
    const struct build_request request = {
        .task = &task, .candidate = &candidate, .real_name = "float"};
    struct build_result built;
    if (!target_build(f->target, &request, &f->arena, &built, &f->err))
        fail_msg("%s", f->err.message);
    return built;
}

static void start_threads(struct fixture *f, const char *compiler, const char *source)
{
    const struct build_result built = build_threads(f, compiler, source);
    if (built.status != BUILD_OK)
        fail_msg("%s: %s: %s", compiler, built.mechanism, built.evidence);
    f->threads = 2;
    start_with(f, &built, 0, NULL, NULL);
    f->threads = 1;
}

/* Whatever a loop is scheduled as, each element is written once and the sum is right. y[i] counts
 * how often, z[0] is the sum of 0 .. n - 1, z[1] the most threads seen, z[2] how often 'single'
 * ran. */
#define LOOPS                                                                                      \
    "int64_t sum = 0, most = 0, once = 0;\n"                                                       \
    "for (int64_t i = 0; i < n; i++) y[i] = 0;\n"                                                  \
    "#pragma omp parallel reduction(+:sum) reduction(max:most)\n{\n"                               \
    "    most = omp_get_num_threads();\n"                                                          \
    "    #pragma omp for schedule(static)\n"                                                       \
    "    for (int64_t i = 0; i < n; i++) { y[i] += 1; sum += i; }\n"                               \
    "    #pragma omp for schedule(static, 7)\n"                                                    \
    "    for (int i = 0; i < (int)n; i++) { y[i] += 1; sum += i; }\n"                              \
    "    #pragma omp for schedule(dynamic, 5)\n"                                                   \
    "    for (int64_t i = n - 1; i >= 0; i--) { y[i] += 1; sum += i; }\n"                          \
    "    #pragma omp for schedule(guided) nowait\n"                                                \
    "    for (uint64_t i = 0; i < (uint64_t)n; i++) { y[i] += 1; sum += (int64_t)i; }\n"           \
    "    #pragma omp for schedule(runtime) nowait\n"                                               \
    "    for (unsigned i = 0; i < (unsigned)n; i += 2) { sum += i + i + 1; }\n"                    \
    "    #pragma omp barrier\n"                                                                    \
    "    #pragma omp single\n    once++;\n"                                                        \
    "    #pragma omp sections\n    {\n    #pragma omp section\n    z[3] = 7;\n"                    \
    "    #pragma omp section\n    z[4] = 8;\n    }\n"                                              \
    "    #pragma omp critical\n    once++;\n"                                                      \
    "    #pragma omp atomic\n    once++;\n"                                                        \
    "}\n"                                                                                          \
    "#pragma omp parallel for schedule(dynamic)\n"                                                 \
    "for (int64_t i = 0; i < n; i++) y[i] += 1;\n"                                                 \
    "z[0] = sum; z[1] = most; z[2] = once;\n"

static void check_loops(struct fixture *f, const char *compiler)
{
    /* Declared here: clang may be installed without its omp.h. */
    start_threads(f, compiler, "int omp_get_num_threads(void);\n" KERNEL(LOOPS));
    for (int again = 0; again < 3; again++) {
        run(f, LIMIT_NS);
        assert_report(f, SESSION_OK, "", "");
        const float *y = f->buffers[1].host;
        const int64_t *z = f->buffers[2].host;
        for (int i = 0; i < ELEMENTS; i++) {
            if (y[i] != 5)
                fail_msg("%s: y[%d] is %g, should be 5", compiler, i, (double)y[i]);
        }
        assert_int_equal(z[0], 5 * ELEMENTS * (ELEMENTS - 1) / 2);
        assert_int_equal(z[1], 2);
        assert_int_equal(z[2], 1 + 2 + 2);
        assert_int_equal(z[3] * z[4], 56);
    }
}

static const char *compiler_of(const struct fixture *f, const char *family)
{
    const struct target_features *features = target_features(f->target);
    for (size_t i = 0; i < features->compiler_count; i++) {
        if (strcmp(features->compilers[i].family, family) == 0)
            return features->compilers[i].name;
    }
    print_message("there is no %s here\n", family);
    skip();
    return NULL;
}

static void session_run__openmp_of_gcc__every_schedule_works(void **state)
{
    struct fixture *f = *state;
    check_loops(f, compiler_of(f, "gcc"));
}

static void session_run__openmp_of_clang__every_schedule_works(void **state)
{
    struct fixture *f = *state;
    check_loops(f, compiler_of(f, "clang"));
}

static void target_build__openmp_in_a_task_of_one_thread__refused(void **state)
{
    struct fixture *f = *state;
    struct candidate candidate = {.source = KERNEL(""), .flags = {"-fopenmp"}, .flag_count = 1};
    const struct build_request request = {
        .task = f->task, .candidate = &candidate, .real_name = "float"};
    struct build_result built;
    assert_true(target_build(f->target, &request, &f->arena, &built, &f->err));
    assert_int_equal(built.status, BUILD_REJECTED);
    assert_string_equal(built.mechanism, "flags");
    candidate = (struct candidate){.source = "extern int omp_get_max_threads(void);\n" KERNEL(
                                       "z[0] = omp_get_max_threads();")};
    assert_true(target_build(f->target, &request, &f->arena, &built, &f->err));
    assert_int_equal(built.status, BUILD_REJECTED);
    assert_non_null(strstr(built.evidence, "omp_get_max_threads"));
}

#define THREAD                                                                                     \
    "#include <pthread.h>\nstatic void *work(void *at) { *(float *)at = 5; return at; }\n"

/* As many as the task allows, one more is refused as by a system that has no more. */
static void session_run__more_pthreads_than_allowed__refused(void **state)
{
    struct fixture *f = *state;
    start_threads(f, NULL,
                  THREAD KERNEL("pthread_t t[3]; void *got = 0;\n"
                                "for (int i = 0; i < 3; i++)\n"
                                "    z[i] = pthread_create(&t[i], 0, work, y + i);\n"
                                "for (int i = 0; i < 2; i++)\n"
                                "    z[3 + i] = pthread_join(t[i], &got) || got != y + i;"));
    run(f, LIMIT_NS);
    assert_report(f, SESSION_OK, "", "");
    const int64_t *z = f->buffers[2].host;
    assert_int_equal(z[0] | z[1] | z[3] | z[4], 0);
    assert_int_equal(z[2], EAGAIN);
}

static void session_run__thread_is_not_joined__rejected(void **state)
{
    struct fixture *f = *state;
    start_threads(f, NULL, THREAD KERNEL("pthread_t t; pthread_create(&t, 0, work, y);"));
    run(f, LIMIT_NS);
    assert_report(f, SESSION_REJECTED, "M8-threads", "not joined");
}

/* A thread that works on after the bell, and says that it does not (it is detached). */
static void session_run__thread_works_after_the_bell__rejected(void **state)
{
    struct fixture *f = *state;
    start_threads(
        f, NULL,
        "#include <pthread.h>\n#include <stdint.h>\n"
        "static void *late(void *at)\n"
        "{ for (volatile int64_t i = 0; i < 100000000; i++) ; *(float *)at = 5; return at; "
        "}\n" KERNEL("pthread_t t; pthread_create(&t, 0, late, y); pthread_detach(t);"));
    run(f, LIMIT_NS);
    assert_int_equal(f->report.status, SESSION_REJECTED);
    assert_non_null(strstr(f->report.mechanism, "M8-"));
}

static void session_run__thread_changes_rounding__rejected(void **state)
{
    struct fixture *f = *state;
    start_threads(f, NULL,
                  "#include <stdint.h>\n#include <pthread.h>\n"
                  "__attribute__((noinline, noclone)) static int64_t hide(void)\n"
                  "{ return INT64_C(0x12345678c317ae0f); }\n"
                  "static void *change(void *at)\n{\n"
                  "    const unsigned char *p = (const unsigned char *)(uintptr_t)hide;\n"
                  "    while (p[0] != 0x0f || p[1] != 0xae) p++;\n"
                  "    static uint32_t zeros = 0x9fc0;\n"
                  "    ((void (*)(uint32_t *))(uintptr_t)p)(&zeros); return at;\n}\n" KERNEL(
                      "pthread_t t; pthread_create(&t, 0, change, y); pthread_join(t, 0);"));
    run(f, LIMIT_NS);
    assert_report(f, SESSION_REJECTED, "M13-fpenv", "floating-point environment");
}

static void flip(void *ctx)
{
    const struct fixture *f = ctx;
    ((float *)f->buffers[0].host)[0] = 7;
}

static void session_run__before_bell__is_seen_by_the_call(void **state)
{
    struct fixture *f = *state;
    const struct build_result built = build(f, KERNEL("y[0] = x[0];"), false);
    assert_int_equal(built.status, BUILD_OK);
    start_with(f, &built, 0, flip, f);
    run(f, LIMIT_NS);
    assert_report(f, SESSION_OK, "", "");
    assert_true(((const float *)f->buffers[1].host)[0] == 7);
}

/* Counts the child's threads by what the kernel says of them, and gives them their data. */
static void look_and_flip(void *ctx)
{
    struct fixture *f = ctx;
    char path[64], text[512];
    (void)snprintf(path, sizeof path, "/proc/%ld/task",
                   (long)((const struct cpu_session *)f->session)->pid);
    DIR *threads = opendir(path);
    assert_non_null(threads);
    f->stopped = f->others = 0;
    for (struct dirent *entry; (entry = readdir(threads)) != NULL;) {
        char stat[512];
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(stat, sizeof stat, "%s/%.20s/stat", path, entry->d_name);
        FILE *file = fopen(stat, "r");
        assert_non_null(file);
        const char *line = fgets(text, sizeof text, file);
        (void)fclose(file);
        const char *name = line ? strrchr(line, ')') : NULL;
        const bool is_stopped = name && name[2] == 'T';
        *(is_stopped ? &f->stopped : &f->others) += 1;
    }
    (void)closedir(threads);
    flip(ctx);
}

static void session_run__threads_are_timed__all_are_stopped_when_data_come(void **state)
{
    struct fixture *f = *state;
    const struct build_result built = build_threads(
        f, NULL,
        "#include <pthread.h>\n"
        "static void *copy(void *at) { ((float *)((void **)at)[1])[1] = ((float *)((void "
        "**)at)[0])[0]; return 0; }\n" KERNEL(
            "pthread_t t; void *at[] = {(void *)(uintptr_t)x, y}; y[0] = x[0];\n"
            "if (pthread_create(&t, 0, copy, at) == 0) pthread_join(t, 0); z[0]++;"));
    if (built.status != BUILD_OK)
        fail_msg("%s: %s", built.mechanism, built.evidence);
    f->threads = 2;
    f->is_timed = true;
    start_with(f, &built, 0, look_and_flip, f);
    f->threads = 1;
    f->is_timed = false;
    for (int round = 0; round < 3; round++) {
        float *y = f->buffers[1].host;
        y[0] = y[1] = ((float *)f->buffers[0].host)[0] = 0;
        run(f, LIMIT_NS);
        assert_report(f, SESSION_OK, "", "");
        assert_int_equal(f->stopped, 3);
        assert_int_equal(f->others, 0);
        assert_true(y[0] == 7 && y[1] == 7);
    }
}

static void session_freeze__then_thaw__runs_again(void **state)
{
    struct fixture *f = *state;
    start(f, KERNEL("z[0]++;"));
    run(f, LIMIT_NS);
    assert_true(session_freeze(f->session, &f->err));
    const int64_t frozen = ((const int64_t *)f->buffers[2].host)[0];
    assert_true(frozen >= 1);
    assert_true(session_thaw(f->session, &f->err));
    run(f, LIMIT_NS);
    assert_report(f, SESSION_OK, "", "");
    assert_true(((const int64_t *)f->buffers[2].host)[0] > frozen);
}

static void session_start__image_is_garbage__is_a_report(void **state)
{
    struct fixture *f = *state;
    static const char garbage[4096] = "this is no image";
    struct session_buffer buffer = {.bytes = BYTES};
    const struct session_opts opts = {.image = garbage,
                                      .image_bytes = sizeof garbage,
                                      .buffers = &buffer,
                                      .buffer_count = 1,
                                      .cpu = -1};
    assert_true(session_start(f->target, &opts, &f->session, &f->report, &f->err));
    assert_null(f->session);
    assert_report(f, SESSION_REJECTED, "M12-object", "not an image");
}

static void session_start__buffers_are_page_rounded_and_zero(void **state)
{
    struct fixture *f = *state;
    const struct build_result built = build(f, KERNEL(""), false);
    assert_int_equal(built.status, BUILD_OK);
    start_with(f, &built, 0, NULL, NULL);
    assert_int_equal(f->buffers[0].bytes % 4096, 0);
    assert_true(((const float *)f->buffers[0].host)[0] == 0);
}

static void target_missing_layers__this_host__is_text(void **state)
{
    struct fixture *f = *state;
    assert_non_null(target_missing_layers(f->target));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_teardown(name, after_each)
    const struct CMUnitTest tests[] = {
        CASE(session_run__good_kernel__writes_and_is_timed),
        CASE(session_run__empty_kernel__takes_no_time),
        CASE(session_run__many_calls__each_at_its_offsets),
        CASE(session_run__libm_and_malloc__work),
        CASE(session_run__endless_loop__timed_out),
        CASE(session_run__null_pointer__crashed_with_evidence),
        CASE(session_run__one_past_the_end__names_the_buffer),
        CASE(session_run__second_element_past_the_end__says_how_far),
        CASE(session_run__before_the_start__names_the_buffer),
        CASE(session_run__writes_an_input__crashed),
        CASE(session_run__division_by_zero__crashed),
        CASE(session_run__stack_overflow__crashed),
        CASE(session_run__frees_twice__crashed_not_rejected),
        CASE(session_run__huge_malloc__gives_null),
        CASE(session_run__allocates_without_bound__ends_at_the_limit),
        CASE(session_run__hidden_system_call__killed_and_rejected),
        CASE(session_run__hidden_clock__rejected),
        CASE(session_run__hidden_change_of_rounding__rejected),
        CASE(session_run__rings_before_it_works__rejected),
        CASE(session_prepare__image_comes_later__runs),
        CASE(session_start__task_with_threads__threads_work),
        CASE(session_start__cores_for_all_threads__a_core_each),
        CASE(session_run__openmp_of_gcc__every_schedule_works),
        CASE(session_run__openmp_of_clang__every_schedule_works),
        CASE(target_build__openmp_in_a_task_of_one_thread__refused),
        CASE(session_run__more_pthreads_than_allowed__refused),
        CASE(session_run__thread_is_not_joined__rejected),
        CASE(session_run__thread_works_after_the_bell__rejected),
        CASE(session_run__thread_changes_rounding__rejected),
        CASE(session_run__before_bell__is_seen_by_the_call),
        CASE(session_run__threads_are_timed__all_are_stopped_when_data_come),
        CASE(session_freeze__then_thaw__runs_again),
        CASE(session_start__image_is_garbage__is_a_report),
        CASE(session_start__buffers_are_page_rounded_and_zero),
        CASE(target_missing_layers__this_host__is_text),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
