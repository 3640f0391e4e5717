/*
 * kill -9 in the midst of pruning and compaction: a child prunes half of the events of four
 * writers, slowly, and is killed at a random moment; what is left is sound, holds every event that
 * was to stay, with its body, and pruning again ends where an undisturbed one ends.
 */
#include "journal_fixture.h"

#include "base/rng.h"
#include "os/os.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 25, WRITERS = 3, EVENTS = 12, CALL_NS = 300000, PIECE_BYTES = 512 };

static ssize_t write_slowly(void *context, int fd, const void *data, size_t length)
{
    os_sleep_ns(CALL_NS);
    return journal_io_system.write(context, fd, data, length < PIECE_BYTES ? length : PIECE_BYTES);
}

static int rename_slowly(void *context, const char *from, const char *to)
{
    os_sleep_ns(CALL_NS);
    return journal_io_system.rename(context, from, to);
}

static int unlink_slowly(void *context, const char *path)
{
    os_sleep_ns(CALL_NS);
    return journal_io_system.unlink(context, path);
}

static void fill(struct fixture *f, const char *dir)
{
    for (int i = 0; i < EVENTS; i++) {
        static struct journal *journal;
        struct buf body = {0};
        struct hash_id id;
        const char *text = arena_printf(&f->arena, "%d", i);
        if (i % (EVENTS / WRITERS) == 0) {
            journal_close(&journal);
            assert_ok(f, journal_open(dir, true, &journal, NULL, &f->err));
        }
        assert_ok(f, journal_store_put(journal, text, strlen(text), &id, &f->err));
        event_write_outcome(&(struct outcome_event){.run_id = "r",
                                                    .decision_id = text,
                                                    .diagnostics_body = id.text},
                            &body);
        assert_ok(f, journal_append(journal, EVENT_OUTCOME, &body, NULL, &f->err));
        buf_free(&body);
        if (i == EVENTS - 1)
            journal_close(&journal);
    }
}

static bool is_odd(void *context, const struct event *event)
{
    (void)context;
    return strtol(json_string(json_get(event->body, "decision_id"), "0"), NULL, 10) % 2 == 1;
}

static bool prune(const char *dir, const struct journal_io *io)
{
    CLEANUP(journal_close) struct journal *journal = NULL;
    struct journal_compacted done;
    struct err err;
    int64_t count = 0;
    return journal_open_with_io(dir, true, io, &journal, NULL, &err) &&
           journal_prune(journal, "odd ones", is_odd, NULL, &count, &done, &err) &&
           journal_compact(journal, &done, &err);
}

static bool kill_one(const char *dir, struct rng *rng)
{
    int status = 0;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct journal_io io = journal_io_system;
        io.write = write_slowly;
        io.rename = rename_slowly;
        io.unlink = unlink_slowly;
        _exit(prune(dir, &io) ? 0 : 1);
    }
    os_sleep_ns((int64_t)rng_below(rng, 25 * 1000 * 1000));
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status);
}

/* Outcomes of even number, and how many of odd number. */
struct counted {
    int even, odd;
};

static bool count(void *context, const struct event *event, struct err *err)
{
    struct counted *counted = context;
    (void)err;
    if (strcmp(event->kind, EVENT_OUTCOME) == 0 && is_odd(NULL, event))
        counted->odd++;
    else if (strcmp(event->kind, EVENT_OUTCOME) == 0)
        counted->even++;
    return true;
}

static struct counted check(struct fixture *f, const char *dir)
{
    struct counted counted = {0};
    struct journal *journal = NULL;
    struct journal_recovery recovery;
    int64_t missing = 0;
    assert_ok(f, journal_open(dir, true, &journal, NULL, &f->err));
    assert_ok(f, journal_scan(journal, count, &counted, &f->err));
    journal_close(&journal);
    assert_ok(f, journal_verify(dir, &recovery, &missing, &f->err));
    assert_int_equal(recovery.corrupt_events, 0);
    assert_int_equal(missing, 0);
    assert_int_equal(counted.even, EVENTS / 2);
    return counted;
}

static void journal_prune__killed_at_any_moment__what_was_to_stay_stays(void **state)
{
    struct fixture *f = *state;
    struct rng rng = rng_seeded(20261201);
    int killed = 0;
    int half_way = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const char *dir = arena_printf(&f->arena, "%s/%d", f->dir, round);
        assert_ok(f, os_make_dirs(dir, &f->err));
        fill(f, dir);
        killed += kill_one(dir, &rng);
        const struct counted left = check(f, dir);
        /* One event names them all: they are gone together. */
        assert_true(left.odd == 0 || left.odd == EVENTS / 2);
        half_way += left.odd == 0;
        assert_true(prune(dir, &journal_io_system));
        assert_int_equal(check(f, dir).odd, 0);
    }
    print_message("%d of %d were killed before their end, %d after the tombstones\n", killed,
                  (int)ROUNDS, half_way);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(journal_prune__killed_at_any_moment__what_was_to_stay_stays,
                                        fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
