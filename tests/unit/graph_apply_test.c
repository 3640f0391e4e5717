/* What is taken in: the same content whatever the order, how often, and from where. */
#include "graph_fixture.h"

#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

static void add_rivals(struct world *w, const struct small_world *s)
{
    /* The same task, decision and run spoken of twice: the latest stands. */
    world_task(w, "t-sum", "sum_renamed", "reduction", "sum rows fused");
    world_outcome(w, &(struct found){s->far, "t-sum", "spr", VERDICT_CRASHED, 0, false, false,
                                     "signal 11", ""});
    world_run_end(w, s->run1, "resumed", s->tile);
    struct buf body = {0};
    const struct context_item item = {"warm", "decision", s->tile, 10, 4, 0.5, 1.0, false};
    event_write_context(&(struct context_event){.run_id = s->run1, .items = &item, .item_count = 1},
                        &body);
    (void)world_add(w, EVENT_CONTEXT, &body);
    event_write_note(&(struct note_event){.text = "a note", .about = s->run1}, &body);
    (void)world_add(w, EVENT_NOTE, &body);
    event_write_target(&(struct target_event){.target_id = "zen3", .name = "cpu"}, &body);
    (void)world_add(w, EVENT_TARGET, &body);
    (void)buf_append_str(&body, "{\"anything\":1}");
    (void)world_add(w, "gossip", &body); /* of a later version */
    (void)buf_append_str(&body, "{\"run_id\":5}");
    (void)world_add(w, EVENT_DECISION, &body); /* refused by its decoder */
}

static void graph_apply__any_order__same_digest(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    const struct small_world s = world_fill(w);
    add_rivals(w, &s);
    assert_any_order(w, 7, 60);
}

static void graph_apply__each_event_twice__changes_nothing(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    const struct small_world s = world_fill(w);
    add_rivals(w, &s);
    struct graph *graph = world_graph(w);
    const struct hash_id want = digest(f, graph);
    struct graph_stats before, after;
    assert_ok(f, graph_get_stats(graph, &before, &f->err));
    for (size_t i = 0; i < w->count; i++)
        assert_ok(f, graph_apply(graph, &w->events[i], &f->err));
    assert_ok(f, graph_get_stats(graph, &after, &f->err));
    assert_string_equal(digest(f, graph).text, want.text);
    assert_memory_equal(&before, &after, sizeof before);
    graph_close(&graph);
}

static void graph_digest__one_event_less__differs(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    (void)world_fill(w);
    struct graph *graph = world_graph(w);
    const struct hash_id all = digest(f, graph);
    graph_close(&graph);
    w->count--;
    graph = world_graph(w);
    assert_string_not_equal(digest(f, graph).text, all.text);
    graph_close(&graph);
}

/* Writes the events of a world into a journal; ids differ from the world's. */
static void write_events(struct fixture *f, struct journal *journal, const struct world *w)
{
    for (size_t i = 0; i < w->count; i++) {
        struct buf body = {0};
        (void)buf_append_str(&body, w->events[i].text);
        assert_ok(f, journal_append(journal, w->events[i].kind, &body, NULL, &f->err));
        buf_free(&body);
    }
}

static struct graph *open_graph(struct fixture *f)
{
    struct graph *graph = NULL;
    assert_ok(f, graph_open(os_path_join(&f->arena, f->dir, "graph.sqlite"), &graph, &f->err));
    return graph;
}

static int64_t catch_up(struct fixture *f, struct graph *graph, struct journal *journal)
{
    int64_t applied = -1;
    assert_ok(f, graph_catch_up(graph, journal, &applied, &f->err));
    return applied;
}

static void graph_catch_up__step_by_step__equals_a_rebuild(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    (void)world_fill(w);
    struct journal *first = open_memory(f, true, NULL);
    struct journal *second = open_memory(f, true, NULL);
    struct graph *graph = open_graph(f);
    assert_int_equal(catch_up(f, graph, first), 0);
    write_events(f, first, w);
    assert_int_equal(catch_up(f, graph, first), w->count);
    assert_int_equal(catch_up(f, graph, first), 0);
    write_events(f, second, w);
    (void)append_note(f, first, "late");
    assert_int_equal(catch_up(f, graph, second), w->count + 1);
    const struct hash_id want = digest(f, graph);

    int64_t applied = 0;
    assert_ok(f, graph_rebuild(graph, first, &applied, &f->err));
    assert_int_equal(applied, 2 * w->count + 1);
    assert_string_equal(digest(f, graph).text, want.text);
    assert_int_equal(catch_up(f, graph, first), 0);
    graph_close(&graph);

    graph = open_graph(f); /* and it is all in the file */
    assert_string_equal(digest(f, graph).text, want.text);
    graph_close(&graph);
    journal_close(&first);
    journal_close(&second);
}

static void graph_catch_up__segment_is_gone__is_built_again(void **state)
{
    struct fixture *f = *state;
    struct journal *journal = open_memory(f, true, NULL);
    struct graph *graph = open_graph(f);
    (void)append_note(f, journal, "lost");
    journal_close(&journal);
    char *path = only_segment(f);
    journal = open_memory(f, true, NULL);
    (void)append_note(f, journal, "kept");
    assert_int_equal(catch_up(f, graph, journal), 2);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(catch_up(f, graph, journal), 1);
    struct graph_stats stats;
    assert_ok(f, graph_get_stats(graph, &stats, &f->err));
    assert_int_equal(stats.events, 1);
    graph_close(&graph);
    journal_close(&journal);
}

static void graph_catch_up__applied_by_hand_before__counts_none_twice(void **state)
{
    struct fixture *f = *state;
    struct journal *journal = open_memory(f, true, NULL);
    struct graph *graph = open_graph(f);
    struct event event = {.kind = EVENT_NOTE, .wall_ms = 1, .writer = "a"};
    event.id = append_note(f, journal, "x");
    const char *text = "{\"text\":\"x\",\"about\":\"\"}";
    assert_ok(f, json_parse(text, strlen(text), "x", &f->arena, &event.body, &f->err));
    assert_ok(f, graph_apply(graph, &event, &f->err));
    assert_int_equal(catch_up(f, graph, journal), 0);
    graph_close(&graph);
    journal_close(&journal);
}

static void graph_open__newer_schema_or_no_database__says_what_to_do(void **state)
{
    struct fixture *f = *state;
    struct graph *graph = open_graph(f);
    graph_close(&graph);
    char *path = os_path_join(&f->arena, f->dir, "graph.sqlite");
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 999", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_false(graph_open(path, &graph, &f->err));
    assert_int_equal(f->err.kind, ERR_UNSUPPORTED);
    assert_true(strlen(f->err.hint) > 0);

    char *text = arena_alloc(&f->arena, 8192);
    memset(text, 'x', 8192);
    path = os_path_join(&f->arena, f->dir, "other.sqlite");
    write_whole(f, path, text, 8192);
    assert_false(graph_open(path, &graph, &f->err));
    assert_int_equal(f->err.kind, ERR_CORRUPT);
    assert_true(strlen(f->err.hint) > 0);
    assert_null(graph);
}

/* Appends notes, and catches the graph up after each. */
static int work_in_child(const char *dir)
{
    struct journal *journal = NULL;
    struct graph *graph = NULL;
    struct err err;
    struct arena arena = {0};
    bool ok = journal_open(dir, true, &journal, NULL, &err) &&
              graph_open(os_path_join(&arena, dir, "graph.sqlite"), &graph, &err);
    for (int i = 0; ok && i < 20; i++) {
        struct buf body = {0};
        event_write_note(&(struct note_event){.text = "x", .about = ""}, &body);
        ok = journal_append(journal, EVENT_NOTE, &body, NULL, &err) &&
             graph_catch_up(graph, journal, NULL, &err);
        buf_free(&body);
    }
    if (!ok)
        (void)fprintf(stderr, "%s\n", err.message);
    graph_close(&graph);
    journal_close(&journal);
    arena_free(&arena);
    return ok ? 0 : 1;
}

static void graph_catch_up__four_processes__all_is_in(void **state)
{
    struct fixture *f = *state;
    enum { PROCESSES = 4 };
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0)
            _exit(work_in_child(f->dir));
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 0;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    struct journal *journal = open_memory(f, false, NULL);
    struct graph *graph = open_graph(f);
    struct graph_stats stats;
    (void)catch_up(f, graph, journal);
    assert_ok(f, graph_get_stats(graph, &stats, &f->err));
    assert_int_equal(stats.events, PROCESSES * 20);
    const struct hash_id want = digest(f, graph);
    assert_ok(f, graph_rebuild(graph, journal, NULL, &f->err));
    assert_string_equal(digest(f, graph).text, want.text);
    graph_close(&graph);
    journal_close(&journal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE(graph_apply__any_order__same_digest),
        FIXTURE(graph_apply__each_event_twice__changes_nothing),
        FIXTURE(graph_digest__one_event_less__differs),
        FIXTURE(graph_catch_up__step_by_step__equals_a_rebuild),
        FIXTURE(graph_catch_up__segment_is_gone__is_built_again),
        FIXTURE(graph_catch_up__applied_by_hand_before__counts_none_twice),
        FIXTURE(graph_open__newer_schema_or_no_database__says_what_to_do),
        FIXTURE(graph_catch_up__four_processes__all_is_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
