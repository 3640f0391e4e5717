#include "journal_fixture.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

enum { EVENTS = 12 };

/* Notes "0", "1", ... of two writers, each with a body that its diagnostics name; "shared" is named
 * by two. */
static void make_memory(struct fixture *f, const char *dir)
{
    for (int writer = 0; writer < 2; writer++) {
        struct journal *journal = NULL;
        assert_ok(f, journal_open(dir, true, &journal, NULL, &f->err));
        for (int i = writer; i < EVENTS; i += 2) {
            struct buf body = {0};
            struct hash_id id;
            const char *text = arena_printf(&f->arena, "%d", i);
            const char *stored = i < 2 ? "shared" : text;
            assert_ok(f, journal_store_put(journal, stored, strlen(stored), &id, &f->err));
            event_write_outcome(&(struct outcome_event){.run_id = "r",
                                                        .decision_id = text,
                                                        .diagnostics_body = id.text},
                                &body);
            assert_ok(f, journal_append(journal, EVENT_OUTCOME, &body, NULL, &f->err));
            buf_free(&body);
        }
        journal_close(&journal);
    }
}

/* Every third. */
static bool is_third(void *context, const struct event *event)
{
    int64_t number = 0;
    const char *text = json_string(json_get(event->body, "decision_id"), "x");
    (void)context;
    return sscanf(text, "%ld", &number) == 1 && number % 3 == 0;
}

static struct journal_compacted prune(struct fixture *f, const char *dir, int64_t *count)
{
    struct journal *journal = NULL;
    struct journal_compacted done;
    assert_ok(f, journal_open(dir, true, &journal, NULL, &f->err));
    assert_ok(f, journal_prune(journal, "a test", is_third, NULL, count, &done, &f->err));
    journal_close(&journal);
    return done;
}

static struct seen *events_of(struct fixture *f, const char *dir)
{
    struct journal *journal = NULL;
    assert_ok(f, journal_open(dir, false, &journal, NULL, &f->err));
    struct seen *seen = scan_memory(f, journal);
    journal_close(&journal);
    return seen;
}

static void assert_sound(struct fixture *f, const char *dir, int64_t events)
{
    struct journal_recovery recovery;
    int64_t missing = 0;
    assert_ok(f, journal_verify(dir, &recovery, &missing, &f->err));
    assert_int_equal(recovery.corrupt_events, 0);
    assert_int_equal(recovery.events, events);
    assert_int_equal(missing, 0);
}

static size_t count_files(struct fixture *f, const char *dir, const char *suffix)
{
    char **names = NULL;
    size_t count = 0;
    size_t found = 0;
    assert_ok(f, os_list_dir(os_path_join(&f->arena, dir, "journal"), &f->arena, &names, &count,
                             &f->err));
    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(names[i]);
        const size_t end = strlen(suffix);
        found += length > end && strcmp(names[i] + length - end, suffix) == 0;
    }
    return found;
}

static void journal_prune__some_events__gone_with_their_bodies_for_good(void **state)
{
    struct fixture *f = *state;
    int64_t count = 0;
    make_memory(f, f->dir);
    const struct journal_compacted done = prune(f, f->dir, &count);
    assert_int_equal(count, 4);
    assert_int_equal(done.segments_removed, 2);
    assert_int_equal(done.bodies_removed, 3); /* 3, 6, 9; 0's is 1's as well */
    assert_true(done.bytes_after < done.bytes_before);
    assert_int_equal(events_of(f, f->dir)->count, EVENTS - 4 + 1);
    assert_sound(f, f->dir, EVENTS - 4 + 1);
    /* The one that was made and the pruner's own. */
    assert_int_equal(count_files(f, f->dir, ".kj"), 2);
    assert_int_equal(count_files(f, f->dir, ".tmp"), 0);
    (void)prune(f, f->dir, &count);
    assert_int_equal(count, 0);
    assert_sound(f, f->dir, EVENTS - 4 + 1);
}

static void journal_merge__pruned_here_or_there__stays_pruned(void **state)
{
    struct fixture *f = *state;
    struct journal *journal = NULL;
    struct journal_merged merged;
    int64_t count = 0;
    const char *a = os_path_join(&f->arena, f->dir, "a");
    const char *b = os_path_join(&f->arena, f->dir, "b");
    assert_ok(f, os_make_dirs(a, &f->err));
    assert_ok(f, os_make_dirs(b, &f->err));
    make_memory(f, a);
    assert_ok(f, journal_open(b, true, &journal, NULL, &f->err));
    assert_ok(f, journal_merge(journal, a, &merged, &f->err));
    journal_close(&journal);
    (void)prune(f, a, &count);
    /* Into the pruned one: left out. */
    assert_ok(f, journal_open(a, true, &journal, NULL, &f->err));
    assert_ok(f, journal_merge(journal, b, &merged, &f->err));
    assert_int_equal(merged.pruned, 4);
    assert_int_equal(merged.added, 0);
    assert_int_equal(merged.bodies, 0);
    journal_close(&journal);
    /* From it: hidden there too, and the same events in both. */
    assert_ok(f, journal_open(b, true, &journal, NULL, &f->err));
    assert_ok(f, journal_merge(journal, a, &merged, &f->err));
    assert_int_equal(merged.hidden, 4);
    assert_int_equal(merged.added, 1);
    journal_close(&journal);
    const struct seen *x = events_of(f, a);
    const struct seen *y = events_of(f, b);
    assert_int_equal(x->count, y->count);
    for (size_t i = 0; i < x->count; i++)
        assert_string_equal(x->ids[i].text, y->ids[i].text);
}

static void journal_compact__crash_before_the_old_are_removed__counts_once(void **state)
{
    struct fixture *f = *state;
    struct journal_compacted done;
    struct journal *journal = NULL;
    int64_t count = 0;
    size_t length = 0;
    char **names = NULL;
    size_t segments = 0;
    char *dir = os_path_join(&f->arena, f->dir, "journal");
    make_memory(f, f->dir);
    assert_ok(f, segment_list(dir, &f->arena, &names, &segments, &f->err));
    char *old = os_path_join(&f->arena, dir, names[0]);
    char *copy = read_whole(f, old, &length);
    (void)prune(f, f->dir, &count);
    write_whole(f, old, copy, length); /* as if it had not come to that */
    assert_int_equal(events_of(f, f->dir)->count, EVENTS - 4 + 1);
    assert_ok(f, journal_open(f->dir, true, &journal, NULL, &f->err));
    assert_ok(f, journal_compact(journal, &done, &f->err));
    journal_close(&journal);
    assert_false(os_path_exists(old));
    assert_sound(f, f->dir, EVENTS - 4 + 1);
}

static void journal_compact__another_writes_or_reads_only__refused(void **state)
{
    struct fixture *f = *state;
    struct journal *journal = NULL;
    struct journal_compacted done;
    make_memory(f, f->dir);
    char **names = NULL;
    size_t count = 0;
    char *dir = os_path_join(&f->arena, f->dir, "journal");
    assert_ok(f, segment_list(dir, &f->arena, &names, &count, &f->err));
    int fd = open(os_path_join(&f->arena, dir, names[0]), O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && flock(fd, LOCK_EX) == 0);
    assert_ok(f, journal_open(f->dir, true, &journal, NULL, &f->err));
    assert_false(journal_compact(journal, &done, &f->err));
    assert_int_equal(f->err.kind, ERR_BUSY);
    journal_close(&journal);
    os_close(&fd);
    assert_ok(f, journal_open(f->dir, false, &journal, NULL, &f->err));
    assert_false(journal_compact(journal, &done, &f->err));
    assert_int_equal(f->err.kind, ERR_UNSUPPORTED);
    journal_close(&journal);
    assert_sound(f, f->dir, EVENTS);
}

/* A memory from elsewhere may hold anything; a prune event itself cannot be taken away. */
static void journal_scan__prune_events_of_nonsense__hide_nothing_else(void **state)
{
    static const char *const bodies[] = {"{\"reason\":\"r\",\"ids\":7}",
                                         "{\"reason\":\"r\",\"ids\":[\"short\",3]}", "{\"ids\":[]}",
                                         "{\"reason\":\"r\"}"};
    struct fixture *f = *state;
    struct journal *journal = open_memory(f, true, NULL);
    struct buf body = {0};
    struct hash_id first;
    const struct hash_id note = append_note(f, journal, "a note");
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        (void)buf_append_str(&body, bodies[i]);
        assert_ok(f, journal_append(journal, EVENT_PRUNE, &body, NULL, &f->err));
        buf_clear(&body);
    }
    event_write_prune(&(struct prune_event){"r", &note, 1}, &body);
    assert_ok(f, journal_append(journal, EVENT_PRUNE, &body, &first, &f->err));
    buf_clear(&body);
    event_write_prune(&(struct prune_event){"r", &first, 1}, &body);
    assert_ok(f, journal_append(journal, EVENT_PRUNE, &body, NULL, &f->err));
    buf_free(&body);
    const struct seen *seen = scan_memory(f, journal);
    assert_int_equal(seen->count, 6);
    assert_false(is_seen(seen, note.text));
    assert_true(is_seen(seen, first.text));
    journal_close(&journal);
}

#define FIXTURE(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE(journal_prune__some_events__gone_with_their_bodies_for_good),
        FIXTURE(journal_merge__pruned_here_or_there__stays_pruned),
        FIXTURE(journal_compact__crash_before_the_old_are_removed__counts_once),
        FIXTURE(journal_compact__another_writes_or_reads_only__refused),
        FIXTURE(journal_scan__prune_events_of_nonsense__hide_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
