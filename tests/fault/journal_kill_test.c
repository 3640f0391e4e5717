/*
 * kill -9 during appends, 200 times: a child appends and reports each acknowledged id through a
 * pipe; the parent kills it at a random moment; then every reported event must be there. Every
 * second child writes slowly, in small pieces, so that many die in the middle of a record.
 */
#include "journal_fixture.h"

#include "base/rng.h"
#include "os/os.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    ROUNDS = 200,
    PIECE_BYTES = 64,
    PIECE_NS = 50000,
    MAX_ACKNOWLEDGED = 200000,
    CHECK_EVERY = 20
};

static ssize_t write_piece(void *context, int fd, const void *data, size_t length)
{
    os_sleep_ns(PIECE_NS);
    return journal_io_system.write(context, fd, data, length < PIECE_BYTES ? length : PIECE_BYTES);
}

/* Appends until killed. */
static void append_for_ever(const char *dir, int pipe_fd, bool in_pieces)
{
    struct journal_io io = journal_io_system;
    struct journal *journal = NULL;
    struct err err;
    if (in_pieces)
        io.write = write_piece;
    if (!journal_open_with_io(dir, true, &io, &journal, NULL, &err))
        _exit(1);
    static char text[3000];
    for (size_t i = 0;; i++) {
        struct buf body = {0};
        struct hash_id id;
        memset(text, 'a', sizeof text - 1);
        text[(i * 37) % (sizeof text - 1) + 1] = '\0';
        event_write_note(&(struct note_event){.text = text, .about = ""}, &body);
        if (!journal_append(journal, EVENT_NOTE, &body, &id, &err))
            _exit(2);
        buf_free(&body);
        if (write(pipe_fd, id.text, HASH_ID_CHARS) != HASH_ID_CHARS)
            _exit(3);
    }
}

struct acknowledged {
    size_t count;
    struct hash_id ids[MAX_ACKNOWLEDGED];
};

/* Ids are shorter than PIPE_BUF, so each comes whole or not at all. */
static bool read_acknowledged(int pipe_fd, struct acknowledged *out)
{
    char id[HASH_ID_CHARS];
    if (out->count == MAX_ACKNOWLEDGED || read(pipe_fd, id, sizeof id) != (ssize_t)sizeof id)
        return false;
    memcpy(out->ids[out->count].text, id, sizeof id);
    out->ids[out->count++].text[HASH_ID_CHARS] = '\0';
    return true;
}

static void kill_one(struct fixture *f, int round, struct rng *rng, struct acknowledged *out)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)close(ends[0]);
        append_for_ever(f->dir, ends[1], round % 2 == 1);
    }
    (void)close(ends[1]);
    /* Mostly in the midst of appending; at times before the first is acknowledged. */
    if (round % 8 >= 2)
        assert_true(read_acknowledged(ends[0], out));
    os_sleep_ns((int64_t)rng_below(rng, 12 * 1000 * 1000));
    assert_int_equal(kill(child, SIGKILL), 0);
    while (read_acknowledged(ends[0], out))
        ;
    (void)close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSIGNALED(status))
        fail_msg("the child ended by itself with %d", WEXITSTATUS(status));
}

static int compare_ids(const void *a, const void *b)
{
    return strcmp(((const struct hash_id *)a)->text, ((const struct hash_id *)b)->text);
}

struct found {
    struct hash_id *ids;
    size_t count;
};

static bool collect(void *context, const struct event *event, struct err *err)
{
    struct found *found = context;
    if (found->count == 2 * (size_t)MAX_ACKNOWLEDGED)
        return err_set(err, ERR_LIMIT, "more events than the test has room for");
    found->ids[found->count++] = event->id;
    return true;
}

static void check_all(struct fixture *f, const struct acknowledged *acknowledged, int64_t *torn)
{
    struct journal_recovery recovery;
    struct found found = {.ids = malloc(2 * sizeof acknowledged->ids)};
    assert_non_null(found.ids);
    struct journal *journal = open_memory(f, true, &recovery);
    assert_int_equal(recovery.corrupt_events, 0);
    *torn += recovery.torn_bytes > 0;
    assert_ok(f, journal_scan(journal, collect, &found, &f->err));
    qsort(found.ids, found.count, sizeof *found.ids, compare_ids);
    for (size_t i = 0; i < acknowledged->count; i++) {
        if (!bsearch(&acknowledged->ids[i], found.ids, found.count, sizeof *found.ids, compare_ids))
            fail_msg("event %s was acknowledged and is lost", acknowledged->ids[i].text);
    }
    journal_close(&journal);
    free(found.ids);
}

static void journal_append__killed_200_times__no_acknowledged_event_is_lost(void **state)
{
    struct fixture *f = *state;
    struct acknowledged *acknowledged = calloc(1, sizeof *acknowledged);
    struct rng rng = rng_seeded(20261129);
    int64_t torn = 0;
    assert_non_null(acknowledged);
    for (int round = 0; round < ROUNDS; round++) {
        struct journal_recovery recovery;
        kill_one(f, round, &rng, acknowledged);
        /* Cuts the torn end that this child may have left. */
        struct journal *journal = open_memory(f, true, &recovery);
        assert_int_equal(recovery.corrupt_events, 0);
        torn += recovery.torn_bytes > 0;
        journal_close(&journal);
        if (round % CHECK_EVERY == CHECK_EVERY - 1)
            check_all(f, acknowledged, &torn);
    }
    check_all(f, acknowledged, &torn);
    assert_true(acknowledged->count > 0 && torn > 0);
    print_message("%d kills, %zu events acknowledged, %lld torn ends cut\n", (int)ROUNDS,
                  acknowledged->count, (long long)torn);
    free(acknowledged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            journal_append__killed_200_times__no_acknowledged_event_is_lost, fixture_setup,
            fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
