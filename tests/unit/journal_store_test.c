#include "journal_fixture.h"

#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

static char *stored_path(struct fixture *f, const char *id)
{
    return arena_printf(&f->arena, "%s/store/%.2s/%s.zst", f->dir, id, id + 2);
}

static void store__bodies_of_many_sizes__come_back(void **state)
{
    struct fixture *f = *state;
    struct journal *journal = open_memory(f, true, NULL);
    const size_t sizes[] = {0, 1, 1000, 65536, 65537, 3000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *data = arena_alloc(&f->arena, sizes[i] + 1);
        for (size_t b = 0; b < sizes[i]; b++)
            data[b] = (char)(b * b >> 3);
        struct hash_id id;
        char *out = NULL;
        size_t length = 0;
        assert_ok(f, journal_store_put(journal, data, sizes[i], &id, &f->err));
        assert_string_equal(id.text, hash_content(data, sizes[i]).text);
        assert_ok(f, journal_store_get(journal, id.text, &f->arena, &out, &length, &f->err));
        assert_int_equal(length, sizes[i]);
        assert_memory_equal(out, data, length);
        assert_int_equal(out[length], '\0');
    }
    journal_close(&journal);
}

static void store_put__twice__is_stored_once(void **state)
{
    struct fixture *f = *state;
    struct journal *journal = open_memory(f, true, NULL);
    struct hash_id a, b;
    char **names = NULL;
    size_t count = 0;
    assert_ok(f, journal_store_put(journal, "same", 4, &a, &f->err));
    assert_ok(f, journal_store_put(journal, "same", 4, &b, &f->err));
    assert_string_equal(a.text, b.text);
    assert_ok(f, os_list_dir(os_path_dir(&f->arena, stored_path(f, a.text)), &f->arena, &names,
                             &count, &f->err));
    assert_int_equal(count, 1);
    journal_close(&journal);
}

static void store_get__absent_or_no_id__says_so(void **state)
{
    struct fixture *f = *state;
    struct journal *journal = open_memory(f, false, NULL);
    struct hash_id id;
    char *out = NULL;
    assert_false(journal_store_get(journal, "00000000000000000000000000000000", &f->arena, &out,
                                   NULL, &f->err));
    assert_int_equal(f->err.kind, ERR_NOT_FOUND);
    static const char *const wrong[] = {"", "ab", "../../../../../../etc/passwd",
                                        "0000000000000000000000000000000G",
                                        "../000000000000000000000000000000"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(journal_store_get(journal, wrong[i], &f->arena, &out, NULL, &f->err));
        assert_int_equal(f->err.kind, ERR_BAD_INPUT);
    }
    assert_false(journal_store_put(journal, "x", 1, &id, &f->err));
    assert_null(out);
    journal_close(&journal);
}

static void store_get__any_byte_damaged__is_corrupt_and_put_mends_it(void **state)
{
    struct fixture *f = *state;
    static const char text[] = "for (int64_t i = 0; i < n; i++) y[i] = x[i];";
    struct journal *journal = open_memory(f, true, NULL);
    struct hash_id id;
    size_t length = 0;
    char *out = NULL;
    assert_ok(f, journal_store_put(journal, text, strlen(text), &id, &f->err));
    char *path = stored_path(f, id.text);
    char *data = read_whole(f, path, &length);
    for (size_t at = 0; at < length; at++) {
        data[at] = (char)(data[at] ^ 0x10);
        write_whole(f, path, data, length);
        /* A bit that the format does not use may change; what comes out is right or nothing. */
        if (journal_store_get(journal, id.text, &f->arena, &out, NULL, &f->err))
            assert_string_equal(out, text);
        else
            assert_int_equal(f->err.kind, ERR_CORRUPT);
        data[at] = (char)(data[at] ^ 0x10);
    }
    for (size_t cut = 0; cut < length; cut++) {
        write_whole(f, path, data, cut);
        assert_false(journal_store_get(journal, id.text, &f->arena, &out, NULL, &f->err));
        assert_int_equal(f->err.kind, ERR_CORRUPT);
    }
    assert_ok(f, journal_store_put(journal, text, strlen(text), &id, &f->err));
    assert_ok(f, journal_store_get(journal, id.text, &f->arena, &out, NULL, &f->err));
    assert_string_equal(out, text);
    journal_close(&journal);
}

static void store_get__bomb__stops_at_the_cap(void **state)
{
    struct fixture *f = *state;
    struct journal *journal = open_memory(f, true, NULL);
    const size_t length = (size_t)STORE_MAX_BODY_BYTES + 1;
    char *zeros = calloc(1, length);
    assert_non_null(zeros);
    const struct hash_id id = hash_content(zeros, length);
    struct hash_id ignored;
    assert_false(journal_store_put(journal, zeros, length, &ignored, &f->err));
    assert_int_equal(f->err.kind, ERR_LIMIT);
    char *packed = arena_alloc(&f->arena, ZSTD_compressBound(length));
    const size_t size = ZSTD_compress(packed, ZSTD_compressBound(length), zeros, length, 1);
    free(zeros);
    char *path = stored_path(f, id.text);
    assert_ok(f, os_make_dirs(os_path_dir(&f->arena, path), &f->err));
    write_whole(f, path, packed, size);
    char *out = NULL;
    assert_false(journal_store_get(journal, id.text, &f->arena, &out, NULL, &f->err));
    assert_int_equal(f->err.kind, ERR_CORRUPT);
    journal_close(&journal);
}

static void append_decision(struct fixture *f, struct journal *journal, const char *source_body)
{
    struct buf body = {0};
    event_write_decision(&(struct decision_event){.run_id = "r", .source_body = source_body},
                         &body);
    assert_ok(f, journal_append(journal, EVENT_DECISION, &body, NULL, &f->err));
    buf_free(&body);
}

static void journal_verify__bodies_missing_or_damaged__are_counted(void **state)
{
    struct fixture *f = *state;
    struct journal *journal = open_memory(f, true, NULL);
    struct hash_id sound, damaged;
    assert_ok(f, journal_store_put(journal, "sound", 5, &sound, &f->err));
    assert_ok(f, journal_store_put(journal, "damaged", 7, &damaged, &f->err));
    append_decision(f, journal, sound.text);
    append_decision(f, journal, "");
    append_decision(f, journal, damaged.text);
    append_decision(f, journal, damaged.text);
    append_decision(f, journal, "00000000000000000000000000000000");
    append_decision(f, journal, "no id");
    journal_close(&journal);
    write_whole(f, stored_path(f, damaged.text), "x", 1);
    struct journal_recovery recovery;
    int64_t missing = 0;
    assert_ok(f, journal_verify(f->dir, &recovery, &missing, &f->err));
    assert_int_equal(missing, 3);
    assert_int_equal(recovery.events, 6);
    assert_int_equal(recovery.corrupt_events, 0);
}

#define FIXTURE(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE(store__bodies_of_many_sizes__come_back),
        FIXTURE(store_put__twice__is_stored_once),
        FIXTURE(store_get__absent_or_no_id__says_so),
        FIXTURE(store_get__any_byte_damaged__is_corrupt_and_put_mends_it),
        FIXTURE(store_get__bomb__stops_at_the_cap),
        FIXTURE(journal_verify__bodies_missing_or_damaged__are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
