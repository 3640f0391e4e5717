/* Workers: what they report, how they are stopped, and that none is left over. */
#include "os/os.h"
#include "os/worker.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define LONG_NS INT64_C(60000000000) /* far more than anything here takes */
#define SHORT_NS INT64_C(10000000)

struct told {
    int64_t number;
    pid_t pid;
    bool was_stopped;
};

static struct os_worker start(void (*run)(void *, void *), void *context, int cpu)
{
    const struct os_work work = {
        .run = run, .context = context, .report_bytes = sizeof(struct told), .cpu = cpu};
    struct os_worker worker;
    struct err err;
    if (!os_worker_start(&work, &worker, &err))
        fail_msg("%s", err.message);
    return worker;
}

static struct told finish(struct os_worker *worker)
{
    struct told told = {0};
    struct err err;
    if (!os_worker_finish(worker, &told, sizeof told, &err))
        fail_msg("%s", err.message);
    assert_int_equal(worker->pid, 0);
    return told;
}

static void add_one(void *context, void *report)
{
    int64_t *number = context;
    *(struct told *)report = (struct told){.number = ++*number, .pid = getpid()};
}

static void os_worker__ends__reports_and_leaves_the_parent_alone(void **state)
{
    (void)state;
    int64_t number = 41;
    struct os_worker worker = start(add_one, &number, -1);
    const pid_t pid = worker.pid;
    const struct told told = finish(&worker);
    assert_int_equal(told.number, 42);
    assert_int_equal(told.pid, pid);
    assert_int_equal(number, 41);
}

static void tell_processors(void *context, void *report)
{
    struct told *told = report;
    int cpu = -1;
    (void)context;
    told->number = (int64_t)os_cpus_allowed(&cpu, 1) == 1 ? cpu : -1;
    if (os_cpus_allowed(NULL, 0) != 1)
        told->number = -1;
}

static void os_worker__processor_is_named__has_that_one_alone(void **state)
{
    (void)state;
    struct arena arena = {0};
    int cpus[64];
    const size_t count = os_cpus_by_core(cpus, 64, &arena);
    assert_int_equal(count, os_cpus_allowed((int[64]){0}, 64));
    assert_true(count > 0);
    struct os_worker worker = start(tell_processors, NULL, cpus[count - 1]);
    assert_int_equal(finish(&worker).number, cpus[count - 1]);
    arena_free(&arena);
}

static void os_worker_finish__processor_is_refused__did_not_run(void **state)
{
    (void)state;
    enum { NONE_HAS_IT = 1 << 20 };
    int64_t number = 41;
    struct os_worker worker = start(add_one, &number, NONE_HAS_IT);
    struct told told = {0};
    struct err err;
    assert_false(os_worker_finish(&worker, &told, sizeof told, &err));
    assert_int_equal(err.kind, ERR_IO);
    assert_non_null(strstr(err.message, "may not use the processor"));
    assert_int_equal(told.number, 0);
}

static void wait_until_stopped(void *context, void *report)
{
    (void)context;
    while (!os_interrupted())
        os_sleep_ns(SHORT_NS);
    ((struct told *)report)->was_stopped = true;
}

static void os_worker_stop__worker_waits__is_interrupted(void **state)
{
    (void)state;
    size_t which = 7;
    struct os_worker workers[3] = {[1] = start(wait_until_stopped, NULL, -1)};
    assert_false(os_worker_wait(workers, 3, SHORT_NS, &which));
    for (size_t i = 0; i < 3; i++)
        os_worker_stop(&workers[i]);
    while (!os_worker_wait(workers, 3, LONG_NS, &which))
        continue;
    assert_int_equal(which, 1);
    assert_true(finish(&workers[1]).was_stopped);
}

static void die(void *context, void *report)
{
    (void)report;
    (void)raise(*(const int *)context);
}

static void os_worker_finish__worker_was_killed__says_by_what(void **state)
{
    (void)state;
    int number = SIGKILL;
    struct os_worker worker = start(die, &number, -1);
    struct told told;
    struct err err;
    assert_false(os_worker_finish(&worker, &told, sizeof told, &err));
    assert_int_equal(err.kind, ERR_IO);
    assert_non_null(strstr(err.message, "was ended by signal 9"));
    assert_int_equal(worker.pid, 0);
}

/* The worker of a worker, which ends and leaves it alone. */
static void start_another(void *context, void *report)
{
    *(struct told *)report = (struct told){.pid = start(wait_until_stopped, context, -1).pid};
}

static void os_worker__parent_ends__ends_too(void **state)
{
    (void)state;
    struct os_worker worker = start(start_another, NULL, -1);
    const struct told told = finish(&worker);
    assert_true(told.pid > 0);
    /* A zombie until whoever inherits it takes it. */
    char path[64];
    char text[512] = {0};
    char state_letter = '?';
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", (long)told.pid);
    for (int64_t from = os_now_ns(); os_now_ns() - from < LONG_NS; os_sleep_ns(SHORT_NS)) {
        FILE *file = fopen(path, "r");
        if (!file)
            return;
        const size_t got = fread(text, 1, sizeof text - 1, file);
        (void)fclose(file);
        text[got] = '\0';
        const char *at = strrchr(text, ')');
        state_letter = at && at[1] == ' ' ? at[2] : '?';
        if (state_letter == 'Z' || state_letter == 'X')
            return;
    }
    fail_msg("the worker of a worker that ended goes on (%c)", state_letter);
}

int main(void)
{
    os_interrupt_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(os_worker__ends__reports_and_leaves_the_parent_alone),
        cmocka_unit_test(os_worker__processor_is_named__has_that_one_alone),
        cmocka_unit_test(os_worker_finish__processor_is_refused__did_not_run),
        cmocka_unit_test(os_worker_stop__worker_waits__is_interrupted),
        cmocka_unit_test(os_worker_finish__worker_was_killed__says_by_what),
        cmocka_unit_test(os_worker__parent_ends__ends_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
