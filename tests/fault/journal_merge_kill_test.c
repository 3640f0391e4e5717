/*
 * kill -9 in the midst of a merge: a child merges slowly, in small pieces, and is killed at a
 * random moment; a merge that then runs to its end gives what an undisturbed one gives, whatever
 * the killed one left, and nothing is damaged.
 */
#include "journal_fixture.h"

#include "base/rng.h"
#include "os/os.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 25, EVENTS = 40, PIECE_BYTES = 512, PIECE_NS = 20000 };

static ssize_t write_piece(void *context, int fd, const void *data, size_t length)
{
    os_sleep_ns(PIECE_NS);
    return journal_io_system.write(context, fd, data, length < PIECE_BYTES ? length : PIECE_BYTES);
}

/* Events with bodies, so that it may die between the two. */
static void fill(struct fixture *f, const char *dir)
{
    struct journal *journal = NULL;
    assert_ok(f, journal_open(dir, true, &journal, NULL, &f->err));
    for (int i = 0; i < EVENTS; i++) {
        struct buf body = {0};
        struct hash_id id;
        const char *text = arena_printf(&f->arena, "warning %d: unused variable", i % 8);
        assert_ok(f, journal_store_put(journal, text, strlen(text), &id, &f->err));
        event_write_outcome(&(struct outcome_event){.run_id = "r",
                                                    .decision_id = "d",
                                                    .verdict.evidence = text,
                                                    .diagnostics_body = id.text},
                            &body);
        assert_ok(f, journal_append(journal, EVENT_OUTCOME, &body, NULL, &f->err));
        buf_free(&body);
    }
    journal_close(&journal);
}

static _Noreturn void merge_slowly(const char *into, const char *from)
{
    struct journal_io io = journal_io_system;
    struct journal *journal = NULL;
    struct journal_merged merged;
    struct err err;
    io.write = write_piece;
    _exit(journal_open_with_io(into, true, &io, &journal, NULL, &err) &&
                  journal_merge(journal, from, &merged, &err)
              ? 0
              : 1);
}

/* Was it killed before its end? */
static bool kill_one(const char *into, const char *from, struct rng *rng)
{
    int status = 0;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        merge_slowly(into, from);
    os_sleep_ns((int64_t)rng_below(rng, 20 * 1000 * 1000));
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status);
}

static void finish_and_check(struct fixture *f, const char *into, const char *from)
{
    struct journal *journal = NULL;
    struct journal_recovery recovery;
    struct journal_merged merged;
    int64_t missing = 0;
    assert_ok(f, journal_open(into, true, &journal, NULL, &f->err));
    assert_ok(f, journal_merge(journal, from, &merged, &f->err));
    assert_int_equal(merged.added + merged.known, EVENTS);
    journal_close(&journal);
    assert_ok(f, journal_verify(into, &recovery, &missing, &f->err));
    assert_int_equal(recovery.events, EVENTS);
    assert_int_equal(recovery.corrupt_events, 0);
    assert_int_equal(recovery.torn_bytes, 0);
    assert_int_equal(missing, 0);
}

static void journal_merge__killed_and_run_again__whole(void **state)
{
    struct fixture *f = *state;
    struct rng rng = rng_seeded(20261130);
    int killed = 0;
    const char *from = os_path_join(&f->arena, f->dir, "from");
    fill(f, from);
    for (int round = 0; round < ROUNDS; round++) {
        const char *into = arena_printf(&f->arena, "%s/into%d", f->dir, round);
        assert_ok(f, os_make_dirs(into, &f->err));
        killed += kill_one(into, from, &rng);
        finish_and_check(f, into, from);
    }
    print_message("%d of %d merges were killed before their end\n", killed, (int)ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(journal_merge__killed_and_run_again__whole, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
