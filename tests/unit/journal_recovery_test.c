#include "journal_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EVENTS = 5 };

/* A memory with one segment of EVENTS notes, closed. */
static char *make_memory(struct fixture *f)
{
    struct journal *journal = open_memory(f, true, NULL);
    for (int i = 0; i < EVENTS; i++)
        (void)append_note(f, journal, arena_printf(&f->arena, "note %d", i));
    journal_close(&journal);
    return only_segment(f);
}

static void journal_scan__after_appends__gives_them_in_order(void **state)
{
    struct fixture *f = *state;
    (void)make_memory(f);
    struct journal_recovery recovery;
    struct journal *journal = open_memory(f, false, &recovery);
    struct seen *seen = scan_memory(f, journal);
    assert_int_equal(recovery.segments, 1);
    assert_int_equal(recovery.events, EVENTS);
    assert_int_equal(recovery.torn_bytes, 0);
    assert_int_equal(recovery.corrupt_events, 0);
    assert_int_equal(seen->count, EVENTS);
    for (int i = 0; i < EVENTS; i++) {
        assert_string_equal(seen->kinds[i], EVENT_NOTE);
        assert_string_equal(seen->texts[i], arena_printf(&f->arena, "note %d", i));
    }
    journal_close(&journal);
}

static void journal_open__torn_at_any_byte__keeps_all_but_the_last(void **state)
{
    struct fixture *f = *state;
    char *path = make_memory(f);
    size_t length = 0;
    char *data = read_whole(f, path, &length);
    size_t last = length - 1;
    while (data[last - 1] != '\n')
        last--;
    for (size_t cut = last; cut < length; cut++) {
        struct journal_recovery recovery;
        write_whole(f, path, data, cut);
        struct journal *reader = open_memory(f, false, &recovery);
        assert_int_equal(recovery.events, EVENTS - 1);
        assert_int_equal(recovery.torn_bytes, cut - last);
        assert_int_equal(recovery.corrupt_events, 0);
        assert_int_equal(scan_memory(f, reader)->count, EVENTS - 1);
        assert_int_equal(os_file_size(path), cut); /* reading changes nothing */
        journal_close(&reader);

        struct journal *writer = open_memory(f, true, &recovery);
        assert_int_equal(recovery.torn_bytes, cut - last);
        assert_int_equal(os_file_size(path), last);
        journal_close(&writer);
    }
}

static void journal_open__bit_flipped_anywhere__loses_one_event_at_most(void **state)
{
    struct fixture *f = *state;
    char *path = make_memory(f);
    size_t length = 0;
    char *data = read_whole(f, path, &length);
    for (size_t at = 0; at < length; at++) {
        struct journal_recovery recovery;
        const char old = data[at];
        data[at] = (char)(old ^ (1 << (at % 8)));
        const int fd = open(path, O_WRONLY | O_TRUNC);
        assert_true(fd >= 0 && write(fd, data, length) == (ssize_t)length && close(fd) == 0);
        struct journal *journal = open_memory(f, false, &recovery);
        assert_int_equal(recovery.events, EVENTS - 1);
        assert_true(recovery.corrupt_events > 0 || recovery.torn_bytes > 0);
        if (recovery.corrupt_events > 0)
            assert_non_null(strstr(recovery.first_corrupt, "offset"));
        journal_close(&journal);
        data[at] = old;
    }
}

static void journal_open__writer_is_alive__its_unfinished_record_stays(void **state)
{
    struct fixture *f = *state;
    struct journal *alive = open_memory(f, true, NULL);
    (void)append_note(f, alive, "one");
    char *path = only_segment(f);
    const int fd = open(path, O_WRONLY | O_APPEND);
    assert_int_equal(write(fd, "0000", 4), 4);
    (void)close(fd);
    const int64_t size = os_file_size(path);

    struct journal_recovery recovery;
    struct journal *other = open_memory(f, true, &recovery);
    assert_int_equal(recovery.torn_bytes, 0);
    assert_int_equal(os_file_size(path), size);
    journal_close(&other);
    journal_close(&alive);
    other = open_memory(f, true, &recovery);
    assert_int_equal(recovery.torn_bytes, 4);
    assert_int_equal(os_file_size(path), size - 4);
    journal_close(&other);
}

static void copy_file(struct fixture *f, const char *from, const char *to)
{
    size_t length = 0;
    char *data = read_whole(f, from, &length);
    write_whole(f, to, data, length);
}

static void journal_scan__segment_copied__each_event_comes_once(void **state)
{
    struct fixture *f = *state;
    char *path = make_memory(f);
    copy_file(f, path, os_path_join(&f->arena, os_path_dir(&f->arena, path), "copy.kj"));
    struct journal_recovery recovery;
    struct journal *journal = open_memory(f, false, &recovery);
    assert_int_equal(recovery.segments, 2);
    assert_int_equal(recovery.events, EVENTS);
    assert_int_equal(scan_memory(f, journal)->count, EVENTS);
    journal_close(&journal);
}

static void journal_scan__two_memories_merged__is_their_union_in_clock_order(void **state)
{
    struct fixture *f = *state;
    char *ours = f->dir;
    (void)make_memory(f);
    f->dir = os_path_join(&f->arena, ours, "other");
    char *theirs = make_memory(f);
    f->dir = ours;
    copy_file(f, theirs, arena_printf(&f->arena, "%s/journal/%s", ours, os_path_base(theirs)));
    struct journal *journal = open_memory(f, true, NULL);
    const struct hash_id id = append_note(f, journal, "after the merge");
    struct seen *seen = scan_memory(f, journal);
    assert_int_equal(seen->count, 2 * EVENTS + 1);
    for (size_t i = 1; i < seen->count; i++)
        assert_true(record_compare_clock(seen->clocks[i - 1], seen->clocks[i]) <= 0);
    assert_string_equal(seen->ids[seen->count - 1].text, id.text);
    journal_close(&journal);
}

/* A segment whose only event is of the year 2200. */
static void write_future_segment(struct fixture *f)
{
    struct buf line = {0};
    struct buf body = {0};
    struct hash_id id;
    (void)buf_append_str(&body, "{\"text\":\"future\"}");
    assert_true(record_write("note", (struct journal_clock){INT64_C(7258118400000), 5}, "future",
                             &body, &line, &id));
    assert_ok(f, os_make_dirs(os_path_join(&f->arena, f->dir, "journal"), &f->err));
    write_whole(f, arena_printf(&f->arena, "%s/journal/future.kj", f->dir), line.data, line.length);
    buf_free(&line);
    buf_free(&body);
}

static void journal_append__after_an_event_of_the_future__is_later_still(void **state)
{
    struct fixture *f = *state;
    write_future_segment(f);
    struct journal *journal = open_memory(f, true, NULL);
    (void)append_note(f, journal, "now");
    (void)append_note(f, journal, "then");
    struct seen *seen = scan_memory(f, journal);
    assert_int_equal(seen->count, 3);
    assert_string_equal(seen->texts[0], "future");
    assert_string_equal(seen->texts[1], "now");
    assert_string_equal(seen->texts[2], "then");
    journal_close(&journal);
}

static void journal_scan_since__nothing_new__delivers_nothing(void **state)
{
    struct fixture *f = *state;
    struct seen *seen = arena_alloc(&f->arena, sizeof *seen);
    struct journal_position *reached = NULL;
    size_t count = 0;
    char *path = make_memory(f);
    struct journal *journal = open_memory(f, true, NULL);
    seen->arena = &f->arena;
    assert_ok(
        f, journal_scan_since(journal, NULL, 0, see, seen, &f->arena, &reached, &count, &f->err));
    assert_int_equal(seen->count, EVENTS);
    assert_int_equal(count, 1);
    seen->count = 0;
    assert_ok(f, journal_scan_since(journal, reached, count, see, seen, &f->arena, &reached, &count,
                                    &f->err));
    assert_int_equal(seen->count, 0);
    (void)append_note(f, journal, "one more");
    assert_ok(f, journal_scan_since(journal, reached, count, see, seen, &f->arena, &reached, &count,
                                    &f->err));
    assert_int_equal(seen->count, 1);
    assert_int_equal(count, 2);

    assert_int_equal(unlink(path), 0);
    assert_false(journal_scan_since(journal, reached, count, see, seen, &f->arena, &reached, &count,
                                    &f->err));
    assert_int_equal(f->err.kind, ERR_CORRUPT);
    journal_close(&journal);
}

static bool stop_at_second(void *context, const struct event *event, struct err *err)
{
    int *count = context;
    return ++*count < 2 || err_set(err, ERR_INTERRUPTED, "stopped at '%s'", event->id.text);
}

static void journal_scan__callback_stops__its_error_is_passed_on(void **state)
{
    struct fixture *f = *state;
    int count = 0;
    (void)make_memory(f);
    struct journal *journal = open_memory(f, false, NULL);
    assert_false(journal_scan(journal, stop_at_second, &count, &f->err));
    assert_int_equal(f->err.kind, ERR_INTERRUPTED);
    assert_int_equal(count, 2);
    journal_close(&journal);
}

static bool append_text(struct fixture *f, struct journal *journal, const char *kind,
                        const char *text)
{
    struct buf body = {0};
    (void)buf_append_str(&body, text);
    const bool ok = journal_append(journal, kind, &body, NULL, &f->err);
    buf_free(&body);
    return ok;
}

static void journal_append__what_cannot_be_read_back__is_refused(void **state)
{
    struct fixture *f = *state;
    struct journal *journal = open_memory(f, true, NULL);
    assert_false(append_text(f, journal, "note", ""));
    assert_false(append_text(f, journal, "note", "[]"));
    assert_false(append_text(f, journal, "note", "{\"a\":"));
    assert_false(append_text(f, journal, "note", "{\n}"));
    assert_false(append_text(f, journal, "note", "{} "));
    assert_false(append_text(f, journal, "note", "{\"a\":\"\xff\"}"));
    assert_false(append_text(f, journal, "note", "{},{}"));
    assert_false(append_text(f, journal, "no\"te", "{}"));
    assert_false(append_text(f, journal, "", "{}"));
    assert_true(append_text(f, journal, "unknown-kind", "{}"));
    struct buf with_nul = {0};
    (void)buf_append(&with_nul, "{\0}", 3);
    assert_false(journal_append(journal, "note", &with_nul, NULL, &f->err));
    buf_free(&with_nul);
    struct seen *seen = scan_memory(f, journal);
    assert_int_equal(seen->count, 1);
    assert_string_equal(seen->kinds[0], "unknown-kind");
    journal_close(&journal);

    journal = open_memory(f, false, NULL);
    assert_false(append_text(f, journal, "note", "{}"));
    assert_int_equal(f->err.kind, ERR_UNSUPPORTED);
    journal_close(&journal);
}

/* A body of `depth` arrays and objects in one another. */
static bool append_nested(struct fixture *f, struct journal *journal, int depth)
{
    struct buf text = {0};
    (void)buf_append_str(&text, "{\"text\":\"deep\",\"a\":");
    for (int i = 1; i < depth; i++)
        (void)buf_append_char(&text, '[');
    for (int i = 1; i < depth; i++)
        (void)buf_append_char(&text, ']');
    (void)buf_append_char(&text, '}');
    const bool ok = append_text(f, journal, "note", text.data);
    buf_free(&text);
    return ok;
}

static void journal_append__body_as_deep_as_allowed__is_read_back(void **state)
{
    struct fixture *f = *state;
    struct journal *journal = open_memory(f, true, NULL);
    size_t kept = 0;
    for (int depth = JSON_MAX_DEPTH - 4; depth < JSON_MAX_DEPTH + 4; depth++)
        kept += append_nested(f, journal, depth);
    assert_in_range(kept, 1, 7);
    struct seen *seen = scan_memory(f, journal);
    assert_int_equal(seen->count, kept);
    for (size_t i = 0; i < kept; i++)
        assert_string_equal(seen->texts[i], "deep");
    journal_close(&journal);
}

static void journal_append__largest_event__is_kept(void **state)
{
    struct fixture *f = *state;
    struct buf body = {0};
    struct journal *journal = open_memory(f, true, NULL);
    (void)buf_append_str(&body, "{\"text\":\"");
    while (body.length < JOURNAL_MAX_EVENT_BYTES - 1024)
        (void)buf_append_str(&body, "0123456789abcdef");
    (void)buf_append_str(&body, "\"}");
    assert_ok(f, journal_append(journal, "note", &body, NULL, &f->err));
    while (body.length < JOURNAL_MAX_EVENT_BYTES)
        (void)buf_append_char(&body, ' ');
    assert_false(journal_append(journal, "note", &body, NULL, &f->err));
    assert_int_equal(scan_memory(f, journal)->count, 1);
    buf_free(&body);
    journal_close(&journal);
}

#define FIXTURE(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE(journal_scan__after_appends__gives_them_in_order),
        FIXTURE(journal_open__torn_at_any_byte__keeps_all_but_the_last),
        FIXTURE(journal_open__bit_flipped_anywhere__loses_one_event_at_most),
        FIXTURE(journal_open__writer_is_alive__its_unfinished_record_stays),
        FIXTURE(journal_scan__segment_copied__each_event_comes_once),
        FIXTURE(journal_scan__two_memories_merged__is_their_union_in_clock_order),
        FIXTURE(journal_append__after_an_event_of_the_future__is_later_still),
        FIXTURE(journal_scan_since__nothing_new__delivers_nothing),
        FIXTURE(journal_scan__callback_stops__its_error_is_passed_on),
        FIXTURE(journal_append__what_cannot_be_read_back__is_refused),
        FIXTURE(journal_append__body_as_deep_as_allowed__is_read_back),
        FIXTURE(journal_append__largest_event__is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
