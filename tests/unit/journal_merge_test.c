#include "journal_fixture.h"

/* A memory beside the fixture's own, in a folder of that name. */
static struct fixture beside(struct fixture *f, const char *name)
{
    struct fixture other = *f;
    other.arena = (struct arena){0};
    other.dir = arena_printf(&f->arena, "%s/%s", f->dir, name);
    assert_ok(f, os_make_dirs(other.dir, &f->err));
    return other;
}

static void add_notes(struct fixture *memory, const char *const *texts, size_t count)
{
    struct journal *journal = open_memory(memory, true, NULL);
    for (size_t i = 0; i < count; i++)
        (void)append_note(memory, journal, texts[i]);
    journal_close(&journal);
}

/* An outcome whose diagnostics lie in the store; returns the body's id. */
static struct hash_id add_body(struct fixture *memory, const char *text)
{
    struct buf body = {0};
    struct hash_id id = {{0}};
    struct journal *journal = open_memory(memory, true, NULL);
    assert_ok(memory, journal_store_put(journal, text, strlen(text), &id, &memory->err));
    event_write_outcome(
        &(struct outcome_event){.run_id = "r", .decision_id = "d", .diagnostics_body = id.text},
        &body);
    assert_ok(memory, journal_append(journal, EVENT_OUTCOME, &body, NULL, &memory->err));
    buf_free(&body);
    journal_close(&journal);
    return id;
}

static struct journal_merged merge(struct fixture *into, struct fixture *from)
{
    struct journal_merged merged;
    struct journal *journal = open_memory(into, true, NULL);
    assert_ok(into, journal_merge(journal, from->dir, &merged, &into->err));
    journal_close(&journal);
    return merged;
}

static struct seen *events_of(struct fixture *memory)
{
    struct journal *journal = open_memory(memory, false, NULL);
    struct seen *seen = scan_memory(memory, journal);
    journal_close(&journal);
    return seen;
}

static void assert_same_events(struct fixture *a, struct fixture *b, size_t count)
{
    const struct seen *x = events_of(a);
    const struct seen *y = events_of(b);
    assert_int_equal(x->count, count);
    assert_int_equal(y->count, count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(x->ids[i].text, y->ids[i].text);
}

static void journal_merge__either_order_and_thrice__same_events(void **state)
{
    struct fixture *f = *state;
    struct fixture a = beside(f, "a");
    struct fixture b = beside(f, "b");
    struct fixture first = beside(f, "first");
    struct fixture second = beside(f, "second");
    add_notes(&a, (const char *[]){"a1", "a2", "a3"}, 3);
    add_notes(&b, (const char *[]){"b1", "b2"}, 2);
    for (int i = 0; i < 3; i++) {
        const struct journal_merged from_a = merge(&first, &a);
        const struct journal_merged from_b = merge(&first, &b);
        assert_int_equal(from_a.added, i == 0 ? 3 : 0);
        assert_int_equal(from_b.known, i == 0 ? 0 : 2);
        (void)merge(&second, &b);
        (void)merge(&second, &a);
    }
    assert_same_events(&first, &second, 5);
    /* And back: what came from elsewhere comes to a no second time. */
    assert_int_equal(merge(&a, &first).added, 2);
    assert_same_events(&a, &first, 5);
    arena_free(&a.arena);
    arena_free(&b.arena);
    arena_free(&first.arena);
    arena_free(&second.arena);
}

static void journal_merge__bodies__come_with_their_events_and_mend(void **state)
{
    struct fixture *f = *state;
    struct fixture a = beside(f, "a");
    struct fixture b = beside(f, "b");
    const struct hash_id id = add_body(&b, "error: stray '@' in program");
    const struct journal_merged merged = merge(&a, &b);
    char *path = arena_printf(&f->arena, "%s/store/%.2s/%s.zst", a.dir, id.text, id.text + 2);
    assert_int_equal(merged.bodies, 1);
    assert_true(os_path_exists(path));
    assert_ok(f, os_remove_tree(path, &f->err));
    assert_int_equal(merge(&a, &b).bodies, 1);
    assert_true(os_path_exists(path));
    arena_free(&a.arena);
    arena_free(&b.arena);
}

static void journal_merge__other_is_damaged__named_and_the_rest_taken(void **state)
{
    struct fixture *f = *state;
    struct fixture a = beside(f, "a");
    struct fixture b = beside(f, "b");
    const char *notes[] = {"one", "two", "three"};
    size_t length = 0;
    add_notes(&b, notes, 3);
    char *path = only_segment(&b);
    char *text = read_whole(&b, path, &length);
    text[length / 2] ^= 1;
    write_whole(&b, path, text, length);
    const struct hash_id id = add_body(&b, "body");
    write_whole(f, arena_printf(&f->arena, "%s/store/%.2s/%s.zst", b.dir, id.text, id.text + 2),
                "x", 1);
    const struct journal_merged merged = merge(&a, &b);
    assert_int_equal(merged.added, 3);
    assert_int_equal(merged.corrupt_events, 1);
    assert_non_null(strstr(merged.first_corrupt, "checksum"));
    assert_int_equal(merged.missing_bodies, 1);
    assert_non_null(strstr(merged.first_missing, id.text));
    arena_free(&a.arena);
    arena_free(&b.arena);
}

static void journal_merge__no_memory_or_itself__refused(void **state)
{
    struct fixture *f = *state;
    struct journal_merged merged;
    struct journal *journal = open_memory(f, true, NULL);
    const char *missing = arena_printf(&f->arena, "%s/nowhere", f->dir);
    assert_false(journal_merge(journal, missing, &merged, &f->err));
    assert_int_equal(f->err.kind, ERR_NOT_FOUND);
    assert_false(os_path_exists(missing));
    assert_false(journal_merge(journal, arena_printf(&f->arena, "%s/.", f->dir), &merged, &f->err));
    assert_int_equal(f->err.kind, ERR_USAGE);
    journal_close(&journal);
}

static void journal_merge__read_only__refused(void **state)
{
    struct fixture *f = *state;
    struct journal_merged merged;
    struct fixture b = beside(f, "b");
    add_notes(&b, (const char *[]){"b"}, 1);
    struct journal *journal = open_memory(f, false, NULL);
    assert_false(journal_merge(journal, b.dir, &merged, &f->err));
    assert_int_equal(f->err.kind, ERR_UNSUPPORTED);
    journal_close(&journal);
    arena_free(&b.arena);
}

/* Later events of this memory are later than all that it was given. */
static void journal_merge__clock_of_the_other_is_ahead__followed(void **state)
{
    struct fixture *f = *state;
    struct fixture a = beside(f, "a");
    struct fixture b = beside(f, "b");
    struct buf line = {0};
    struct buf body = {0};
    struct hash_id id;
    struct journal_merged merged;
    event_write_note(&(struct note_event){.text = "from tomorrow", .about = ""}, &body);
    assert_true(record_write(EVENT_NOTE, (struct journal_clock){INT64_C(99999999999999), 7}, "b",
                             &body, &line, &id));
    assert_ok(f, os_make_dirs(os_path_join(&f->arena, b.dir, "journal"), &f->err));
    write_whole(f, os_path_join(&f->arena, b.dir, "journal/b.kj"), line.data, line.length);
    struct journal *journal = open_memory(&a, true, NULL);
    assert_ok(f, journal_merge(journal, b.dir, &merged, &f->err));
    const struct hash_id later = append_note(&a, journal, "from today");
    const struct seen *seen = scan_memory(&a, journal);
    assert_int_equal(seen->count, 2);
    assert_string_equal(seen->ids[0].text, id.text);
    assert_string_equal(seen->ids[1].text, later.text);
    journal_close(&journal);
    buf_free(&line);
    buf_free(&body);
    arena_free(&a.arena);
    arena_free(&b.arena);
}

#define FIXTURE(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE(journal_merge__either_order_and_thrice__same_events),
        FIXTURE(journal_merge__bodies__come_with_their_events_and_mend),
        FIXTURE(journal_merge__other_is_damaged__named_and_the_rest_taken),
        FIXTURE(journal_merge__no_memory_or_itself__refused),
        FIXTURE(journal_merge__read_only__refused),
        FIXTURE(journal_merge__clock_of_the_other_is_ahead__followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
