#include "graph_fixture.h"

#include "graph/look.h"

static void graph_find__a_beginning__all_kinds_with_labels(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    const struct small_world s = world_fill(w);
    struct graph *graph = world_graph(w);
    const struct graph_node *nodes = NULL;
    size_t count = 0;
    assert_ok(f, graph_find(graph, s.tile, 8, &f->arena, &nodes, &count, &f->err));
    assert_int_equal(count, 1);
    assert_string_equal(nodes[0].kind, "decision");
    assert_string_equal(nodes[0].label, "tile the rows");
    assert_ok(f, graph_find(graph, "t-s", 8, &f->arena, &nodes, &count, &f->err));
    assert_int_equal(count, 2);
    assert_string_equal(nodes[0].id, "t-softmax");
    assert_string_equal(nodes[1].id, "t-sum");
    assert_ok(f, graph_find(graph, "t-s", 1, &f->arena, &nodes, &count, &f->err));
    assert_int_equal(count, 1);
    assert_ok(f, graph_find(graph, "", 8, &f->arena, &nodes, &count, &f->err));
    assert_int_equal(count, 0);
    graph_close(&graph);
}

/* Every event is found under one kind, its own or "event". */
static void graph_find__each_event__once(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    (void)world_fill(w);
    struct graph *graph = world_graph(w);
    for (size_t i = 0; i < w->count; i++) {
        const struct graph_node *nodes = NULL;
        const struct graph_field *fields = NULL;
        size_t count = 0;
        const char *id = w->events[i].id.text;
        assert_ok(f, graph_find(graph, id, 8, &f->arena, &nodes, &count, &f->err));
        assert_int_equal(count, 1);
        assert_ok(f,
                  graph_node_fields(graph, nodes[0].kind, id, &f->arena, &fields, &count, &f->err));
        assert_string_equal(fields[0].text, id);
    }
    graph_close(&graph);
}

static void graph_path__a_decision__from_the_baseline_on(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    const struct small_world s = world_fill(w);
    struct graph *graph = world_graph(w);
    struct graph_decisions path = {0};
    assert_ok(f, graph_path(graph, s.both, &f->arena, &path, &f->err));
    assert_int_equal(path.count, 3);
    assert_string_equal(path.items[0].id, s.tile);
    assert_string_equal(path.items[1].id, s.vector);
    assert_string_equal(path.items[2].id, s.both);
    assert_true(path.items[2].confirm_failed);
    assert_false(graph_path(graph, "nothing", &f->arena, &path, &f->err));
    assert_int_equal(f->err.kind, ERR_NOT_FOUND);
    graph_close(&graph);
}

/* A journal may say anything. */
static void graph_path__parent_missing_or_in_a_ring__ends(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    struct graph_decisions path = {0};
    const char *run = world_run(w, "t", "zen3");
    const char *orphan = world_decision(w, &(struct try){run, "gone", "orphan", 1, {"tile"}, ""});
    struct graph *graph = world_graph(w);
    assert_ok(f, graph_path(graph, orphan, &f->arena, &path, &f->err));
    assert_int_equal(path.count, 1);
    assert_string_equal(path.items[0].parent, "gone");
    struct buf body = {0};
    struct event ring = w->events[w->count - 1];
    event_write_decision(&(struct decision_event){.run_id = run, .parent = "aa"}, &body);
    assert_ok(f, json_parse(body.data, body.length, "ring", &f->arena, &ring.body, &f->err));
    ring.id = (struct hash_id){"aa"};
    assert_ok(f, graph_apply(graph, &ring, &f->err));
    assert_ok(f, graph_path(graph, "aa", &f->arena, &path, &f->err));
    assert_int_equal(path.count, 1);
    buf_free(&body);
    graph_close(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE(graph_find__a_beginning__all_kinds_with_labels),
        FIXTURE(graph_find__each_event__once),
        FIXTURE(graph_path__a_decision__from_the_baseline_on),
        FIXTURE(graph_path__parent_missing_or_in_a_ring__ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
