/* Filling a graph the way that large journals are taken in; graphs of the schema before; one state
 * for several questions. */
#include "graph_fixture.h"

#include "graph/internal.h"

static int64_t count(struct fixture *f, struct graph *graph, const char *sql)
{
    CLEANUP(query_end) struct query query = {0};
    bool has_row = false;
    assert_ok(f, query_begin(graph, sql, &query, &f->err));
    assert_ok(f, query_step(&query, &has_row, &f->err));
    assert_true(has_row);
    return take_int(&query);
}

static const char count_indices[] = "SELECT count(*) FROM sqlite_schema WHERE type = 'index'";

static struct graph *open_graph(struct fixture *f, const char *name)
{
    struct graph *graph = NULL;
    assert_ok(f, graph_open(os_path_join(&f->arena, f->dir, name), &graph, &f->err));
    return graph;
}

/* Takes all in as a large load, up to the end of its transaction. */
static void load(struct fixture *f, struct graph *graph, const struct world *w, struct bulk *bulk)
{
    bulk->is_large = true;
    bulk_prepare(graph);
    assert_ok(f, graph_begin(graph, &f->err));
    assert_ok(f, bulk_begin(graph, bulk, &f->err));
    for (size_t i = 0; i < w->count; i++) {
        bool is_new = false;
        assert_ok(f, apply_event(graph, &w->events[i], &is_new, &f->err));
        assert_true(is_new);
    }
}

static void bulk_end__large__equals_event_by_event(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    (void)world_fill(w);
    struct graph *slow = world_graph(w);
    struct graph *fast = open_graph(f, "graph.sqlite");
    const int64_t indices = count(f, fast, count_indices);
    struct bulk bulk = {0};
    load(f, fast, w, &bulk);
    assert_true(count(f, fast, count_indices) < indices);
    assert_ok(f, bulk_end(fast, &bulk, &f->err));
    assert_ok(f, graph_end(fast, true, &f->err));
    bulk_leave(fast);
    arena_free(&bulk.arena);
    assert_int_equal(count(f, fast, count_indices), indices);
    assert_string_equal(digest(f, fast).text, digest(f, slow).text);
    /* What words find does not stand in the digest. */
    static const char *const words[] = {"tile rows", "polynomial", "prefetch"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct graph_decisions a;
        struct graph_decisions b;
        const struct graph_near near = {words[i], "", i == 1};
        assert_ok(f, graph_search_near(slow, &near, 9, &f->arena, &a, &f->err));
        assert_ok(f, graph_search_near(fast, &near, 9, &f->arena, &b, &f->err));
        assert_true(a.count != 0 && a.count == b.count);
        for (size_t k = 0; k < a.count; k++)
            assert_string_equal(a.items[k].id, b.items[k].id);
    }
    graph_close(&fast);
    graph_close(&slow);
}

static void bulk_begin__rolled_back__indices_are_there(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    (void)world_fill(w);
    struct graph *graph = open_graph(f, "graph.sqlite");
    const int64_t indices = count(f, graph, count_indices);
    struct bulk bulk = {0};
    load(f, graph, w, &bulk);
    assert_false(graph_end(graph, false, &f->err));
    bulk_leave(graph);
    graph->is_bulk = false;
    arena_free(&bulk.arena);
    assert_int_equal(count(f, graph, count_indices), indices);
    assert_int_equal(count(f, graph, "SELECT count(*) FROM event"), 0);
    graph_close(&graph);
}

/* The table of outcomes as it was before version 11, and that of findings before 14. */
static const char undo_11[] =
    "DROP INDEX finding_by_kind; ALTER TABLE finding DROP COLUMN tool;"
    "ALTER TABLE finding DROP COLUMN moves;"
    "CREATE TABLE kept AS SELECT * FROM outcome; ALTER TABLE kept DROP COLUMN row;"
    "DROP TABLE outcome;"
    "CREATE TABLE outcome(decision_id TEXT NOT NULL, is_confirmation INTEGER NOT NULL,"
    " stamp TEXT NOT NULL, run_id TEXT NOT NULL, target_id TEXT NOT NULL, task_id TEXT NOT NULL,"
    " kind TEXT NOT NULL, mechanism TEXT NOT NULL, evidence TEXT NOT NULL,"
    " diagnostics TEXT NOT NULL, diagnostics_body TEXT NOT NULL, log_ratio REAL NOT NULL,"
    " log_low REAL NOT NULL, log_high REAL NOT NULL, held_out_log_ratio REAL NOT NULL,"
    " held_out_low REAL NOT NULL, held_out_high REAL NOT NULL, has_held_out INTEGER NOT NULL,"
    " confirmed INTEGER NOT NULL, is_win INTEGER NOT NULL, from_record INTEGER NOT NULL,"
    " code_id TEXT NOT NULL, gate_id TEXT NOT NULL, missing_layers TEXT NOT NULL,"
    " screen_ns INTEGER NOT NULL, build_ns INTEGER NOT NULL, start_ns INTEGER NOT NULL,"
    " check_ns INTEGER NOT NULL, time_ns INTEGER NOT NULL, total_ns INTEGER NOT NULL,"
    " case_count INTEGER NOT NULL, PRIMARY KEY(decision_id, is_confirmation)) STRICT,"
    " WITHOUT ROWID;"
    "INSERT INTO outcome SELECT * FROM kept; DROP TABLE kept; PRAGMA user_version = 10;";

static void graph_open__schema_10__outcomes_move(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    (void)world_fill(w);
    struct graph *graph = open_graph(f, "graph.sqlite");
    for (size_t i = 0; i < w->count; i++)
        assert_ok(f, graph_apply(graph, &w->events[i], &f->err));
    const struct hash_id before = digest(f, graph);
    const int64_t indices = count(f, graph, count_indices);
    assert_ok(f, graph_exec(graph, undo_11, &f->err));
    graph_close(&graph);
    graph = open_graph(f, "graph.sqlite");
    assert_string_equal(digest(f, graph).text, before.text);
    assert_int_equal(count(f, graph, count_indices), indices);
    assert_int_equal(count(f, graph, "SELECT max(row) FROM outcome"),
                     count(f, graph, "SELECT count(*) FROM outcome"));
    graph_close(&graph);
}

static void graph_snapshot_begin__another_writes__is_seen_after_the_end(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    (void)world_fill(w);
    struct graph *reader = open_graph(f, "graph.sqlite");
    struct graph *writer = open_graph(f, "graph.sqlite");
    struct graph_stats stats;
    assert_ok(f, graph_snapshot_begin(reader, &f->err));
    assert_ok(f, graph_get_stats(reader, &stats, &f->err));
    assert_int_equal(stats.events, 0);
    for (size_t i = 0; i < w->count; i++)
        assert_ok(f, graph_apply(writer, &w->events[i], &f->err));
    assert_ok(f, graph_get_stats(reader, &stats, &f->err));
    assert_int_equal(stats.events, 0);
    graph_snapshot_end(reader);
    assert_ok(f, graph_get_stats(reader, &stats, &f->err));
    assert_int_equal(stats.events, w->count);
    graph_close(&writer);
    graph_close(&reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE(bulk_end__large__equals_event_by_event),
        FIXTURE(bulk_begin__rolled_back__indices_are_there),
        FIXTURE(graph_open__schema_10__outcomes_move),
        FIXTURE(graph_snapshot_begin__another_writes__is_seen_after_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
