/* Which decisions are found by words in a memory that is large enough for words to be common. */
#include "graph_fixture.h"

#include "graph/internal.h"

enum { MANY = 300, FEW = 10, DECISIONS = MANY + FEW };

/* Within a transaction. */
static void apply_all(struct fixture *f, struct graph *graph, const struct world *w)
{
    bool is_new = false;
    for (size_t i = 0; i < w->count; i++)
        assert_ok(f, apply_event(graph, &w->events[i], &is_new, &f->err));
}

/* A word of its own for the first few, "common" for all of them, timed. */
static void fill(struct fixture *f, struct graph *graph, const char *run)
{
    assert_ok(f, graph_begin(graph, &f->err));
    for (int i = 0; i < DECISIONS; i++) {
        struct world *w = world_new(f);
        w->now = 100 + 2 * i;
        const char *intent = arena_printf(&f->arena, "common%s", i < FEW ? " telling" : "");
        const char *id = world_decision(
            w, &(struct try){.run = run, .parent = "", .intent = intent, .sequence = i + 1});
        world_outcome(
            w,
            &(struct found){
                .decision = id, .task = "t", .target = "m", .kind = VERDICT_TIMED, .evidence = ""});
        apply_all(f, graph, w);
    }
    assert_ok(f, graph_end(graph, true, &f->err));
}

static const char *begin(struct fixture *f, struct graph *graph)
{
    struct world *w = world_new(f);
    world_task(w, "t", "a_task", "family", "rows");
    const char *run = world_run(w, "t", "m");
    for (size_t k = 0; k < w->count; k++)
        assert_ok(f, graph_apply(graph, &w->events[k], &f->err));
    return run;
}

static struct graph *open_graph(struct fixture *f)
{
    struct graph *graph = NULL;
    assert_ok(f, graph_open(os_path_join(&f->arena, f->dir, "graph.sqlite"), &graph, &f->err));
    return graph;
}

static struct graph_decisions search(struct fixture *f, struct graph *graph, const char *words,
                                     bool failures)
{
    struct graph_decisions list;
    assert_ok(f, graph_search_near(graph, &(struct graph_near){words, "family", failures}, 24,
                                   &f->arena, &list, &f->err));
    return list;
}

static void graph_search_near__word_of_all__does_not_crowd_out_a_telling_one(void **state)
{
    struct fixture *f = *state;
    struct graph *graph = open_graph(f);
    fill(f, graph, begin(f, graph));
    const struct graph_decisions found = search(f, graph, "common telling", false);
    assert_int_equal(found.count, FEW);
    for (size_t i = 0; i < found.count; i++)
        assert_non_null(strstr(found.items[i].intent, "telling"));
    /* Nothing tells anything: the latest. */
    const struct graph_decisions latest = search(f, graph, "common", false);
    assert_int_equal(latest.count, 24);
    assert_int_equal(latest.items[0].sequence, DECISIONS);
    graph_close(&graph);
}

/* A later event of the same decision says that it failed after all. */
static void graph_search_near__outcome_changes__old_terms_are_gone(void **state)
{
    struct fixture *f = *state;
    struct graph *graph = open_graph(f);
    fill(f, graph, begin(f, graph));
    const struct graph_decisions before = search(f, graph, "telling", false);
    assert_int_equal(before.count, FEW);
    struct world *w = world_new(f);
    w->now = 10000;
    world_outcome(w, &(struct found){.decision = before.items[0].id,
                                     .task = "t",
                                     .target = "m",
                                     .kind = VERDICT_WRONG,
                                     .evidence = "telling"});
    assert_ok(f, graph_apply(graph, &w->events[0], &f->err));
    assert_int_equal(search(f, graph, "telling", false).count, FEW - 1);
    const struct graph_decisions failed = search(f, graph, "telling", true);
    assert_int_equal(failed.count, 1);
    assert_string_equal(failed.items[0].id, before.items[0].id);
    graph_close(&graph);
}

/* What a connection keeps of words does not outlive what it was learned from: one that was open all
 * the time finds what a new one finds. */
static void graph_search_near__open_for_long__finds_what_a_new_connection_finds(void **state)
{
    struct fixture *f = *state;
    struct graph *graph = open_graph(f);
    const char *run = begin(f, graph);
    fill(f, graph, run);
    (void)search(f, graph, "common telling", false);
    /* Sixty of them turn out to be failures: the word is rare enough now. */
    struct graph *other = open_graph(f);
    struct graph_decisions all;
    assert_ok(f, graph_run_decisions(graph, run, &f->arena, &all, &f->err));
    assert_ok(f, graph_begin(other, &f->err));
    for (size_t i = 0; i < 60; i++) {
        struct world *w = world_new(f);
        w->now = 10000 + (int64_t)i;
        world_outcome(w, &(struct found){.decision = all.items[FEW + i].id,
                                         .task = "t",
                                         .target = "m",
                                         .kind = VERDICT_WRONG,
                                         .evidence = ""});
        apply_all(f, other, w);
    }
    assert_ok(f, graph_end(other, true, &f->err));
    graph_close(&other);
    struct graph *fresh = open_graph(f);
    const struct graph_decisions a = search(f, graph, "common telling", false);
    const struct graph_decisions b = search(f, fresh, "common telling", false);
    assert_int_equal(a.count, 24);
    assert_int_equal(b.count, a.count);
    for (size_t i = 0; i < a.count; i++)
        assert_string_equal(a.items[i].id, b.items[i].id);
    graph_close(&fresh);
    graph_close(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE(graph_search_near__word_of_all__does_not_crowd_out_a_telling_one),
        FIXTURE(graph_search_near__outcome_changes__old_terms_are_gone),
        FIXTURE(graph_search_near__open_for_long__finds_what_a_new_connection_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
