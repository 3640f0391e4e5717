/* Findings by candidate, and what moves gained where a kind was found. */
#include "graph_fixture.h"

#include "graph/findings.h"

#include <math.h>

static bool near_to(double a, double b)
{
    return fabs(a - b) < 1e-8;
}

static void add_finding(struct world *w, const char *run, const char *decision, const char *kind,
                        const char *tool)
{
    struct buf body = {0};
    event_write_finding(&(struct finding_event){.run_id = run,
                                                .decision_id = decision,
                                                .bottleneck = kind,
                                                .text = "a sentence",
                                                .number = 2.5,
                                                .line = 7,
                                                .tool = tool,
                                                .moves = tool[0] ? "tile, unroll" : ""},
                        &body);
    (void)world_add(w, EVENT_FINDING, &body);
}

static void graph_findings_of__decision_or_reference__their_own_without_notes(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    const struct small_world s = world_fill(w);
    add_finding(w, s.run1, "", "scalar", "gcc-12");
    add_finding(w, s.run2, "", "calls", "gcc-12");
    add_finding(w, s.run1, s.tile, "chain", "llvm-mca-14");
    add_finding(w, s.run1, s.tile, "ablation", "");
    add_finding(w, s.run1, s.tile, "tools", "");
    struct graph *graph = world_graph(w);
    const struct graph_finding *findings = NULL;
    const char *kinds = NULL;
    size_t count = 0;
    assert_ok(f, graph_findings_of(graph, s.run1, "", &f->arena, &findings, &count, &f->err));
    assert_int_equal(count, 1);
    assert_string_equal(findings[0].bottleneck, "scalar");
    assert_string_equal(findings[0].tool, "gcc-12");
    assert_string_equal(findings[0].moves, "tile, unroll");
    assert_int_equal(findings[0].line, 7);
    assert_ok(f, graph_findings_of(graph, s.run1, s.tile, &f->arena, &findings, &count, &f->err));
    assert_int_equal(count, 2);
    assert_string_equal(findings[0].bottleneck, "memory");
    assert_ok(f, graph_finding_kinds(graph, s.run1, s.tile, &f->arena, &kinds, &f->err));
    assert_string_equal(kinds, "chain memory");
    assert_ok(f, graph_finding_kinds(graph, s.run2, "", &f->arena, &kinds, &f->err));
    assert_string_equal(kinds, "calls");
    assert_ok(f, graph_finding_kinds(graph, s.run3, "", &f->arena, &kinds, &f->err));
    assert_string_equal(kinds, "");
    graph_close(&graph);
}

static void graph_gains_of_kind__steps_from_there__by_move(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    const struct small_world s = world_fill(w);
    add_finding(w, s.run1, "", "scalar", "gcc-12");
    add_finding(w, s.run1, "", "scalar", "gcc-12"); /* at another line: counted once */
    add_finding(w, s.run2, "", "scalar", "gcc-12");
    struct graph *graph = world_graph(w);
    const struct graph_kind_gain *gains = NULL;
    size_t count = 0;
    /* First steps from the references of both runs: tile gained 0.2 and 0.4. */
    assert_ok(f, graph_gains_of_kind(graph, "scalar", &f->arena, &gains, &count, &f->err));
    assert_int_equal(count, 1);
    assert_string_equal(gains[0].move, "tile");
    assert_true(near_to(gains[0].count, 2.0) && near_to(gains[0].sum, 0.6) &&
                near_to(gains[0].squares, 0.2));
    assert_int_equal(gains[0].failures, 0);
    /* From the tiled candidate: vectorize gained 0.5 once and was wrong once; a noisy step is
     * neither. */
    assert_ok(f, graph_gains_of_kind(graph, "memory", &f->arena, &gains, &count, &f->err));
    assert_int_equal(count, 2);
    assert_string_equal(gains[1].move, "vectorize");
    assert_true(near_to(gains[1].count, 1.0) && near_to(gains[1].sum, 0.5));
    assert_int_equal(gains[1].failures, 1);
    assert_true(near_to(gains[0].count, 0.0));
    assert_int_equal(gains[0].failures, 0);
    assert_ok(f, graph_gains_of_kind(graph, "spills", &f->arena, &gains, &count, &f->err));
    assert_int_equal(count, 0);
    graph_close(&graph);
}

static void graph_gains_of_kind__events_in_any_order__same_sums(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    const struct small_world s = world_fill(w);
    add_finding(w, s.run1, s.tile, "chain", "llvm-mca-14");
    struct graph *graph = world_graph(w);
    struct graph *other = NULL;
    const struct graph_kind_gain *a = NULL, *b = NULL;
    size_t count = 0, other_count = 0;
    assert_ok(f, graph_open(":memory:", &other, &f->err));
    for (size_t i = w->count; i-- > 0;)
        assert_ok(f, graph_apply(other, &w->events[i], &f->err));
    assert_ok(f, graph_gains_of_kind(graph, "chain", &f->arena, &a, &count, &f->err));
    assert_ok(f, graph_gains_of_kind(other, "chain", &f->arena, &b, &other_count, &f->err));
    assert_int_equal(count, other_count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(a[i].move, b[i].move);
        assert_memory_equal(&a[i].sum, &b[i].sum, sizeof a[i].sum);
        assert_memory_equal(&a[i].squares, &b[i].squares, sizeof a[i].squares);
    }
    graph_close(&graph);
    graph_close(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE(graph_findings_of__decision_or_reference__their_own_without_notes),
        FIXTURE(graph_gains_of_kind__steps_from_there__by_move),
        FIXTURE(graph_gains_of_kind__events_in_any_order__same_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
