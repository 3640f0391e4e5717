/* Several writers at once: threads that share a journal, processes that share a memory. */
#include "journal_fixture.h"

#include "os/os.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8, PER_THREAD = 25 };

struct appender {
    struct journal *journal;
    int number;
    bool ok;
    struct hash_id ids[PER_THREAD];
};

static void *append_many(void *argument)
{
    struct appender *appender = argument;
    appender->ok = true;
    for (int i = 0; i < PER_THREAD; i++) {
        struct buf body = {0};
        struct err err;
        char text[64];
        (void)snprintf(text, sizeof text, "thread %d note %d", appender->number, i);
        event_write_note(&(struct note_event){.text = text, .about = ""}, &body);
        appender->ok =
            journal_append(appender->journal, EVENT_NOTE, &body, &appender->ids[i], &err) &&
            appender->ok;
        buf_free(&body);
    }
    return NULL;
}

/* A disk that takes 2 ms to sync. */
static int slow_sync(void *context, int fd)
{
    os_sleep_ns(2000000);
    return journal_io_system.sync(context, fd);
}

static void journal_append__eight_threads__one_sync_serves_many(void **state)
{
    struct fixture *f = *state;
    struct journal *journal = NULL;
    struct journal_io io = journal_io_system;
    io.sync = slow_sync;
    assert_ok(f, journal_open_with_io(f->dir, true, &io, &journal, NULL, &f->err));
    pthread_t threads[THREADS];
    struct appender *appenders = arena_array(&f->arena, THREADS, sizeof *appenders);
    for (int i = 0; i < THREADS; i++) {
        appenders[i] = (struct appender){.journal = journal, .number = i};
        assert_int_equal(pthread_create(&threads[i], NULL, append_many, &appenders[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_true(journal->sync_count > 0);
    assert_true(journal->sync_count < THREADS * PER_THREAD / 2);
    struct seen *seen = scan_memory(f, journal);
    assert_int_equal(seen->count, THREADS * PER_THREAD);
    for (int i = 0; i < THREADS; i++) {
        assert_true(appenders[i].ok);
        for (int n = 0; n < PER_THREAD; n++)
            assert_true(is_seen(seen, appenders[i].ids[n].text));
    }
    for (size_t i = 1; i < seen->count; i++)
        assert_true(record_compare_clock(seen->clocks[i - 1], seen->clocks[i]) < 0);
    journal_close(&journal);
}

static void journal_scan__while_threads_append__is_whole_each_time(void **state)
{
    struct fixture *f = *state;
    struct journal *journal = open_memory(f, true, NULL);
    pthread_t threads[2];
    struct appender *appenders = arena_array(&f->arena, 2, sizeof *appenders);
    for (int i = 0; i < 2; i++) {
        appenders[i] = (struct appender){.journal = journal, .number = i};
        assert_int_equal(pthread_create(&threads[i], NULL, append_many, &appenders[i]), 0);
    }
    for (size_t before = 0; before < 10; before++)
        assert_true(scan_memory(f, journal)->count <= 2 * PER_THREAD);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(scan_memory(f, journal)->count, 2 * PER_THREAD);
    journal_close(&journal);
}

static int append_in_child(const char *dir, int number)
{
    struct journal *journal = NULL;
    struct err err;
    struct appender *appender = calloc(1, sizeof *appender);
    if (!appender || !journal_open(dir, true, &journal, NULL, &err))
        return 1;
    appender->journal = journal;
    appender->number = number;
    (void)append_many(appender);
    const int code = appender->ok ? 0 : 1;
    free(appender);
    journal_close(&journal);
    return code;
}

static void journal_append__four_processes__nothing_is_lost(void **state)
{
    struct fixture *f = *state;
    enum { PROCESSES = 4 };
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0)
            _exit(append_in_child(f->dir, i));
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 0;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    struct journal_recovery recovery;
    struct journal *journal = open_memory(f, false, &recovery);
    assert_int_equal(recovery.segments, PROCESSES);
    assert_int_equal(recovery.events, PROCESSES * PER_THREAD);
    assert_int_equal(recovery.torn_bytes, 0);
    assert_int_equal(recovery.corrupt_events, 0);
    journal_close(&journal);
}

#define FIXTURE(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE(journal_append__eight_threads__one_sync_serves_many),
        FIXTURE(journal_scan__while_threads_append__is_whole_each_time),
        FIXTURE(journal_append__four_processes__nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
