#include "journal_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EVENTS = 40, NOTE_BYTES = 60000 };

static void set_age(const char *path, int64_t seconds)
{
    struct timespec times[2] = {{.tv_sec = 1700000000 - (time_t)seconds}, {0}};
    times[1] = times[0];
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* A memory of one large segment, written long ago, opened once since. */
static char *make_memory(struct fixture *f)
{
    struct journal *journal = open_memory(f, true, NULL);
    char *text = arena_alloc(&f->arena, NOTE_BYTES + 1);
    memset(text, 'a', NOTE_BYTES);
    for (int i = 0; i < EVENTS; i++)
        (void)append_note(f, journal, text);
    journal_close(&journal);
    char *path = only_segment(f);
    set_age(path, 0);
    journal = open_memory(f, true, NULL);
    journal_close(&journal);
    return path;
}

static struct journal_recovery reopen(struct fixture *f)
{
    struct journal_recovery recovery;
    struct journal *journal = open_memory(f, true, &recovery);
    journal_close(&journal);
    return recovery;
}

static char *checkpoint_path(struct fixture *f)
{
    return os_path_join(&f->arena, f->dir, "journal/checkpoint");
}

/* Changes a byte in the first record and keeps the length. */
static void damage(struct fixture *f, const char *path)
{
    size_t length = 0;
    char *data = read_whole(f, path, &length);
    int fd = open(path, O_WRONLY);
    data[NOTE_BYTES / 2] ^= 1;
    assert_true(fd >= 0 && pwrite(fd, data, length, 0) == (ssize_t)length);
    os_close(&fd);
}

static void journal_open__segment_as_it_was__counts_without_reading(void **state)
{
    struct fixture *f = *state;
    char *path = make_memory(f);
    assert_true(os_path_exists(checkpoint_path(f)));
    assert_int_equal(reopen(f).events, EVENTS);
    /* With the old time of change nothing tells that a byte is another: it was not read. */
    damage(f, path);
    set_age(path, 0);
    assert_int_equal(reopen(f).corrupt_events, 0);
    /* Whoever asks is told. */
    struct journal_recovery recovery;
    int64_t missing = 0;
    assert_ok(f, journal_verify(f->dir, &recovery, &missing, &f->err));
    assert_int_equal(recovery.corrupt_events, 1);
}

static void journal_open__segment_changed_since__read_again(void **state)
{
    struct fixture *f = *state;
    char *path = make_memory(f);
    damage(f, path);
    const struct journal_recovery recovery = reopen(f);
    assert_int_equal(recovery.events, EVENTS - 1);
    assert_int_equal(recovery.corrupt_events, 1);
    /* And each time, though much was read in between. */
    set_age(path, 5);
    assert_int_equal(reopen(f).corrupt_events, 1);
    assert_int_equal(reopen(f).corrupt_events, 1);
}

static void journal_open__segment_grown_or_another_added__new_events_counted(void **state)
{
    struct fixture *f = *state;
    char *path = make_memory(f);
    size_t length = 0;
    char *data = read_whole(f, path, &length);
    struct journal *journal = open_memory(f, true, NULL);
    (void)append_note(f, journal, "later");
    journal_close(&journal);
    assert_int_equal(reopen(f).events, EVENTS + 1);
    /* A torn record at the end of the old one. */
    int fd = open(path, O_WRONLY | O_APPEND);
    assert_true(fd >= 0 && write(fd, data, 50) == 50);
    os_close(&fd);
    const struct journal_recovery recovery = reopen(f);
    assert_int_equal(recovery.events, EVENTS + 1);
    assert_int_equal(recovery.torn_bytes, 50);
    assert_int_equal(os_file_size(path), length);
}

static void journal_open__segment_shorter_or_gone__what_is_there_counts(void **state)
{
    struct fixture *f = *state;
    char *path = make_memory(f);
    size_t length = 0;
    char *data = read_whole(f, path, &length);
    write_whole(f, path, data, length / EVENTS * 3 + 100);
    assert_int_equal(reopen(f).events, 3);
    assert_ok(f, os_remove_tree(path, &f->err));
    assert_int_equal(reopen(f).events, 0);
}

/* The clock goes on past what was not read. */
static void journal_append__after_opening_by_checkpoint__is_later(void **state)
{
    struct fixture *f = *state;
    (void)make_memory(f);
    struct journal *journal = open_memory(f, true, NULL);
    const struct hash_id id = append_note(f, journal, "later");
    const struct seen *seen = scan_memory(f, journal);
    assert_int_equal(seen->count, EVENTS + 1);
    assert_string_equal(seen->ids[EVENTS].text, id.text);
    journal_close(&journal);
}

static void journal_open__checkpoint_of_nonsense__as_without(void **state)
{
    static const char *const texts[] = {
        "",
        "{",
        "[]",
        "{\"version\":1,\"segments\":7}",
        "{\"version\":9,\"segments\":[]}",
        "{\"version\":1,\"segments\":[{\"name\":\"../../etc/passwd\",\"bytes\":1},{},3]}",
        "{\"version\":1,\"segments\":[{\"name\":\"a.kj\",\"bytes\":-5,\"inode\":1}]}"};
    struct fixture *f = *state;
    (void)make_memory(f);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_whole(f, checkpoint_path(f), texts[i], strlen(texts[i]));
        assert_int_equal(reopen(f).events, EVENTS);
    }
}

#define FIXTURE(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE(journal_open__segment_as_it_was__counts_without_reading),
        FIXTURE(journal_open__segment_changed_since__read_again),
        FIXTURE(journal_open__segment_grown_or_another_added__new_events_counted),
        FIXTURE(journal_open__segment_shorter_or_gone__what_is_there_counts),
        FIXTURE(journal_append__after_opening_by_checkpoint__is_later),
        FIXTURE(journal_open__checkpoint_of_nonsense__as_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
