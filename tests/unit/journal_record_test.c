#include "journal_fixture.h"

#include <fcntl.h>
#include <unistd.h>

static const char body_text[] = "{\"text\":\"a note\",\"about\":\"\"}";

static struct buf make_line(struct hash_id *id)
{
    struct buf line = {0};
    struct buf body = {0};
    (void)buf_append_str(&body, body_text);
    assert_true(record_write("note", (struct journal_clock){1764435000123, 7}, "0123456789abcdef",
                             &body, &line, id));
    buf_free(&body);
    return line;
}

static void record_read__what_was_written__gives_it_back(void **state)
{
    (void)state;
    struct hash_id id;
    struct buf line = make_line(&id);
    struct record record;
    char problem[RECORD_PROBLEM_BYTES];
    assert_int_equal(line.data[line.length - 1], '\n');
    assert_true(record_read(line.data, line.length - 1, &record, problem));
    assert_string_equal(record.id.text, id.text);
    assert_string_equal(record.kind, "note");
    assert_string_equal(record.writer, "0123456789abcdef");
    assert_true(record.clock.wall_ms == 1764435000123 && record.clock.counter == 7);
    buf_free(&line);
}

static void record_read__any_bit_flipped__is_refused(void **state)
{
    (void)state;
    struct hash_id id;
    struct buf line = make_line(&id);
    for (size_t bit = 0; bit < 8 * (line.length - 1); bit++) {
        struct record record;
        char problem[RECORD_PROBLEM_BYTES] = "";
        line.data[bit / 8] = (char)(line.data[bit / 8] ^ (1 << (bit % 8)));
        assert_false(record_read(line.data, line.length - 1, &record, problem));
        assert_true(strlen(problem) > 0);
        line.data[bit / 8] = (char)(line.data[bit / 8] ^ (1 << (bit % 8)));
    }
    buf_free(&line);
}

static void record_read__any_prefix__is_refused(void **state)
{
    (void)state;
    struct hash_id id;
    struct buf line = make_line(&id);
    for (size_t length = 0; length + 1 < line.length; length++) {
        struct record record;
        char problem[RECORD_PROBLEM_BYTES];
        char *copy = test_malloc(length + 1);
        memcpy(copy, line.data, length);
        assert_false(record_read(copy, length, &record, problem));
        test_free(copy);
    }
    buf_free(&line);
}

/* A line with a right length and checksum around any JSON. */
static bool is_refused(const char *json, const char *why)
{
    struct buf line = {0};
    struct record record;
    char problem[RECORD_PROBLEM_BYTES] = "";
    (void)buf_printf(&line, "%08zx %08x %s", strlen(json), hash_crc32c(0, json, strlen(json)),
                     json);
    const bool refused = !record_read(line.data, line.length, &record, problem);
    buf_free(&line);
    return refused && strstr(problem, why) != NULL;
}

static void record_read__form_is_off__is_refused_and_named(void **state)
{
    (void)state;
    static const char id[] = "{\"id\":\"00000000000000000000000000000000\",";
    static const struct {
        const char *rest, *why;
    } cases[] = {
        {"\"kind\":\"note\",\"clock\":[1,0],\"writer\":\"a\",\"v\":1,\"body\":{}}", "hash"},
        {"\"kind\":\"note\",\"clock\":[1,0],\"writer\":\"a\",\"v\":2,\"body\":{}}", "version 2"},
        {"\"kind\":\"note\",\"clock\":[1,0],\"writer\":\"a\",\"v\":1,\"body\":[]}", "no object"},
        {"\"kind\":\"note\",\"clock\":[1,0],\"writer\":\"a\",\"v\":1,\"body\":{}", "no object"},
        {"\"kind\":\"No te\",\"clock\":[1,0],\"writer\":\"a\",\"v\":1,\"body\":{}}", "known form"},
        {"\"kind\":\"note\",\"clock\":[01,0],\"writer\":\"a\",\"v\":1,\"body\":{}}", "known form"},
        {"\"kind\":\"note\",\"clock\":[-1,0],\"writer\":\"a\",\"v\":1,\"body\":{}}", "known form"},
        {"\"kind\":\"note\",\"clock\":[99999999999999999999999,0],\"writer\":\"a\",\"v\":1,"
         "\"body\":{}}",
         "known form"},
        {"\"kind\":\"note\",\"clock\":[253402300800000,0],\"writer\":\"a\",\"v\":1,\"body\":{}}",
         "known form"},
        {"\"kind\":\"\",\"clock\":[1,0],\"writer\":\"a\",\"v\":1,\"body\":{}}", "known form"},
        {"\"kind\":\"note\",\"clock\":[1,0],\"writer\":\"../x\",\"v\":1,\"body\":{}}",
         "known form"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char json[512];
        (void)snprintf(json, sizeof json, "%s%s", id, cases[i].rest);
        if (!is_refused(json, cases[i].why))
            fail_msg("not refused as '%s': %s", cases[i].why, json);
    }
    assert_true(is_refused("", "known form"));
    assert_true(is_refused("{}", "known form"));
}

static void record_write__body_over_the_cap__is_refused(void **state)
{
    (void)state;
    struct buf body = {0};
    struct buf line = {0};
    struct hash_id id;
    (void)buf_append_str(&body, "{\"text\":\"");
    while (body.length < JOURNAL_MAX_EVENT_BYTES)
        (void)buf_append_str(&body, "0123456789abcdef0123456789abcdef");
    (void)buf_append_str(&body, "\"}");
    assert_false(record_write("note", (struct journal_clock){1, 0}, "a", &body, &line, &id));
    assert_int_equal(line.length, 0);
    buf_free(&body);
    buf_free(&line);
}

static void record_resync__newline_was_lost__finds_the_second_record(void **state)
{
    (void)state;
    struct hash_id id;
    struct buf line = make_line(&id);
    const size_t one = line.length;
    struct buf second = make_line(&id);
    line.data[one - 1] = 'x';
    (void)buf_append(&line, second.data, second.length);
    assert_int_equal(record_resync(line.data, line.length - 1), one);
    assert_int_equal(record_resync(second.data, second.length - 1), 0);
    assert_int_equal(record_resync("", 0), 0);
    buf_free(&line);
    buf_free(&second);
}

static void segment_reader__lines_of_every_size__come_one_by_one(void **state)
{
    struct fixture *f = *state;
    struct buf text = {0};
    char *path = os_path_join(&f->arena, f->dir, "a.kj");
    const size_t sizes[] = {0, 1, 255, 65536, 262143, 262144, 262145, 600000};
    const size_t count = sizeof sizes / sizeof *sizes;
    for (size_t i = 0; i < count; i++) {
        for (size_t b = 0; b < sizes[i]; b++)
            (void)buf_append_char(&text, 'a');
        (void)buf_append_char(&text, '\n');
    }
    (void)buf_append_str(&text, "torn");
    write_whole(f, path, text.data, text.length);
    buf_free(&text);

    struct segment_reader reader = {0};
    struct segment_line line;
    assert_ok(f, segment_reader_open(&reader, path, 0, &f->err));
    int64_t offset = 0;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(segment_reader_next(&reader, &line), LINE_WHOLE);
        assert_int_equal(line.length, sizes[i]);
        assert_int_equal(line.offset, offset);
        offset += (int64_t)sizes[i] + 1;
    }
    assert_int_equal(segment_reader_next(&reader, &line), LINE_TORN);
    assert_int_equal(line.length, 4);
    assert_int_equal(line.offset, offset);
    segment_reader_close(&reader);
}

static void segment_reader__line_longer_than_a_record__is_skipped_whole(void **state)
{
    struct fixture *f = *state;
    struct buf text = {0};
    char *path = os_path_join(&f->arena, f->dir, "a.kj");
    const size_t long_bytes = 2 * (size_t)JOURNAL_MAX_EVENT_BYTES;
    static const char filler[4096] = {0};
    while (text.length < long_bytes)
        (void)buf_append(&text, filler, sizeof filler);
    (void)buf_append_str(&text, "\nnext\n");
    write_whole(f, path, text.data, text.length);
    buf_free(&text);

    struct segment_reader reader = {0};
    struct segment_line line;
    assert_ok(f, segment_reader_open(&reader, path, 0, &f->err));
    assert_int_equal(segment_reader_next(&reader, &line), LINE_TOO_LONG);
    assert_int_equal(line.length, long_bytes);
    assert_true(reader.capacity < long_bytes + 4 * (size_t)1024 * 1024);
    assert_int_equal(segment_reader_next(&reader, &line), LINE_WHOLE);
    assert_int_equal(line.length, 4);
    assert_int_equal(line.offset, (int64_t)long_bytes + 1);
    assert_int_equal(segment_reader_next(&reader, &line), LINE_END);
    segment_reader_close(&reader);
}

static void segment_reader__link_or_folder__is_refused(void **state)
{
    struct fixture *f = *state;
    struct segment_reader reader = {0};
    char *path = os_path_join(&f->arena, f->dir, "a.kj");
    assert_int_equal(symlink("/dev/zero", path), 0);
    assert_false(segment_reader_open(&reader, path, 0, &f->err));
    assert_false(segment_reader_open(&reader, f->dir, 0, &f->err));
    assert_int_equal(f->err.kind, ERR_CORRUPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(record_read__what_was_written__gives_it_back),
        cmocka_unit_test(record_read__any_bit_flipped__is_refused),
        cmocka_unit_test(record_read__any_prefix__is_refused),
        cmocka_unit_test(record_read__form_is_off__is_refused_and_named),
        cmocka_unit_test(record_write__body_over_the_cap__is_refused),
        cmocka_unit_test(record_resync__newline_was_lost__finds_the_second_record),
        cmocka_unit_test_setup_teardown(segment_reader__lines_of_every_size__come_one_by_one,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(segment_reader__line_longer_than_a_record__is_skipped_whole,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(segment_reader__link_or_folder__is_refused, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
