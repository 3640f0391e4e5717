#include "graph_fixture.h"

#include "graph/internal.h"
#include "graph/look.h"
#include "graph/prune.h"

enum { RUNS = 30 };

static void append_event(struct fixture *f, struct journal *journal, const char *kind,
                         struct buf *body, struct hash_id *out_id)
{
    assert_ok(f, journal_append(journal, kind, body, out_id, &f->err));
    buf_clear(body);
}

static void append_outcome(struct fixture *f, struct journal *journal, const char *decision,
                           double log_ratio, bool is_confirmation)
{
    struct buf body = {0};
    const enum verdict_kind kind = log_ratio > -9 ? VERDICT_TIMED : VERDICT_BUILD_FAILED;
    event_write_outcome(&(struct outcome_event){.run_id = "r",
                                                .decision_id = decision,
                                                .is_confirmation = is_confirmation,
                                                .verdict = {.kind = kind,
                                                            .mechanism = "compiler",
                                                            .log_ratio = log_ratio,
                                                            .log_low = log_ratio - 0.01,
                                                            .log_high = log_ratio + 0.01,
                                                            .is_win = log_ratio > 0.03}},
                        &body);
    append_event(f, journal, EVENT_OUTCOME, &body, NULL);
    buf_free(&body);
}

static struct hash_id append_decision(struct fixture *f, struct journal *journal, const char *run,
                                      const char *parent, const char *move)
{
    struct buf body = {0};
    struct hash_id id;
    event_write_decision(
        &(struct decision_event){
            .run_id = run, .parent = parent, .intent = move, .moves = {move}, .move_count = 1},
        &body);
    append_event(f, journal, EVENT_DECISION, &body, &id);
    buf_free(&body);
    return id;
}

/* RUNS runs that all try the same: a step that loses, from which a small win comes; a failure. One
 * run ends with a confirmed win over a step that loses. */
static struct hash_id make_memory(struct fixture *f, struct journal *journal)
{
    struct buf body = {0};
    struct hash_id best = {{0}};
    event_write_task(&(struct task_event){.task_id = "t", .name = "sum", .family = "reduction"},
                     &body);
    append_event(f, journal, EVENT_TASK, &body, NULL);
    for (int i = 0; i < RUNS; i++) {
        struct hash_id run;
        event_write_run(&(struct run_event){.task_id = "t", .target_id = "zen3", .seed = 1}, &body);
        append_event(f, journal, EVENT_RUN, &body, &run);
        const struct hash_id first = append_decision(f, journal, run.text, "", "tile");
        append_outcome(f, journal, first.text, -0.1, false);
        const struct hash_id second = append_decision(f, journal, run.text, first.text, "unroll");
        append_outcome(f, journal, second.text, i == 7 ? 0.5 : -0.2, false);
        const struct hash_id third = append_decision(f, journal, run.text, "", "pack");
        append_outcome(f, journal, third.text, -10, false);
        if (i == 7) {
            append_outcome(f, journal, second.text, 0.49, true);
            event_write_run_end(
                &(struct run_end_event){.run_id = run.text, .best_decision = second.text}, &body);
            append_event(f, journal, EVENT_RUN_END, &body, NULL);
            best = second;
        }
    }
    buf_free(&body);
    return best;
}

static struct hash_id digest_of(struct fixture *f, struct graph *graph)
{
    struct hash_id digest;
    assert_ok(f, graph_digest(graph, &digest, &f->err));
    return digest;
}

static void graph_prune__by_value__paths_of_what_counts_stay_and_a_rebuild_is_equal(void **state)
{
    struct fixture *f = *state;
    struct graph *graph = NULL;
    struct graph_pruned pruned;
    struct graph_decisions path = {0};
    struct graph_stats stats;
    int64_t applied = 0;
    struct journal *journal = open_memory(f, true, NULL);
    const struct hash_id best = make_memory(f, journal);
    journal_close(&journal);
    journal = open_memory(f, true, NULL);
    assert_ok(f, graph_open(":memory:", &graph, &f->err));
    assert_ok(f, graph_catch_up(graph, journal, &applied, &f->err));
    const struct hash_id before = digest_of(f, graph);
    assert_ok(f, graph_prune(graph, journal,
                             &(struct graph_prune_opts){.below = 0.5, .is_dry_run = true}, &pruned,
                             &f->err));
    assert_string_equal(digest_of(f, graph).text, before.text);
    assert_int_equal(pruned.decisions, 3 * RUNS);
    assert_int_equal(pruned.pinned, 2);
    assert_int_equal(pruned.pruned_decisions, 3 * RUNS - 2);
    assert_int_equal(pruned.pruned_events, 2 * pruned.pruned_decisions);
    assert_ok(
        f, graph_prune(graph, journal, &(struct graph_prune_opts){.below = 0.5}, &pruned, &f->err));
    assert_int_equal(pruned.pruned_decisions, 3 * RUNS - 2);
    assert_true(pruned.compacted.bytes_after < pruned.compacted.bytes_before);
    assert_ok(f, graph_get_stats(graph, &stats, &f->err));
    assert_int_equal(stats.decisions, 2);
    assert_int_equal(stats.runs, RUNS);
    assert_int_equal(stats.confirmed, 1);
    assert_ok(f, graph_path(graph, best.text, &f->arena, &path, &f->err));
    assert_int_equal(path.count, 2);
    const struct hash_id after = digest_of(f, graph);
    assert_ok(f, graph_rebuild(graph, journal, &applied, &f->err));
    assert_string_equal(digest_of(f, graph).text, after.text);
    graph_close(&graph);
    journal_close(&journal);
}

static void graph_prune__by_size__least_worth_first_and_pinned_kept(void **state)
{
    struct fixture *f = *state;
    struct graph *graph = NULL;
    struct graph_pruned pruned;
    int64_t applied = 0;
    struct journal *journal = open_memory(f, true, NULL);
    (void)make_memory(f, journal);
    assert_ok(f, graph_open(":memory:", &graph, &f->err));
    assert_ok(f, graph_catch_up(graph, journal, &applied, &f->err));
    assert_ok(
        f, graph_prune(graph, journal,
                       &(struct graph_prune_opts){.keep_bytes = INT64_MAX / 2, .is_dry_run = true},
                       &pruned, &f->err));
    assert_int_equal(pruned.pruned_decisions, 0);
    const int64_t all = pruned.bytes;
    assert_ok(f, graph_prune(graph, journal,
                             &(struct graph_prune_opts){.keep_bytes = all / 2, .is_dry_run = true},
                             &pruned, &f->err));
    assert_in_range(pruned.pruned_decisions, 1, 3 * RUNS - 2);
    assert_ok(f, graph_prune(graph, journal,
                             &(struct graph_prune_opts){.keep_bytes = 1, .is_dry_run = true},
                             &pruned, &f->err));
    assert_int_equal(pruned.pruned_decisions, 3 * RUNS - 2);
    assert_false(graph_prune(graph, journal, &(struct graph_prune_opts){0}, &pruned, &f->err));
    assert_int_equal(f->err.kind, ERR_USAGE);
    graph_close(&graph);
    journal_close(&journal);
}

static int64_t count_edges(struct fixture *f, struct graph *graph, const char *kind,
                           const char *source, const char *target)
{
    CLEANUP(query_end) struct query query = {0};
    bool has_row = false;
    assert_ok(f,
              query_begin(graph,
                          "SELECT count(*) FROM edge WHERE kind = ?1 AND (?2 = '' OR source = ?2)"
                          " AND (?3 = '' OR target = ?3)",
                          &query, &f->err));
    give_text(&query, kind);
    give_text(&query, source);
    give_text(&query, target);
    assert_ok(f, query_step(&query, &has_row, &f->err));
    return take_int(&query);
}

static const char *try_pack(struct world *w, const char *task, double log_ratio)
{
    const char *run = world_run(w, task, "zen3");
    const char *d = world_decision(w, &(struct try){run, "", "pack", 1, {"pack"}, "pack(a)"});
    world_outcome(w, &(struct found){d, task, "zen3", VERDICT_TIMED, log_ratio, log_ratio > 0.02,
                                     false, "", NULL});
    return d;
}

static void edge__same_moves_again__supports_or_contradicts(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    const char *gains = try_pack(w, "t-a", 0.3);
    const char *unclear = try_pack(w, "t-a", 0.005);
    const char *loses = try_pack(w, "t-a", -0.3);
    const char *again = try_pack(w, "t-a", 0.2);
    (void)try_pack(w, "t-b", 0.2);
    struct graph *graph = world_graph(w);
    assert_int_equal(count_edges(f, graph, "contradicts", loses, gains), 1);
    assert_int_equal(count_edges(f, graph, "contradicts", again, loses), 1);
    assert_int_equal(count_edges(f, graph, "supports", again, gains), 1);
    assert_int_equal(count_edges(f, graph, "contradicts", "", ""), 2);
    assert_int_equal(count_edges(f, graph, "supports", "", ""), 1);
    assert_int_equal(count_edges(f, graph, "contradicts", unclear, ""), 0);
    graph_close(&graph);
}

static void edge__confirmations_and_starts_elsewhere__as_documented(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    struct buf body = {0};
    const struct small_world s = world_fill(w);
    event_write_run(
        &(struct run_event){
            .task_id = "t-sum", .target_id = "zen3", .seed = 1, .start_decision = s.tile},
        &body);
    const char *run = world_add(w, EVENT_RUN, &body);
    struct graph *graph = world_graph(w);
    assert_int_equal(count_edges(f, graph, "transferred-to", s.tile, run), 1);
    assert_int_equal(count_edges(f, graph, "transferred-to", "", ""), 1);
    assert_int_equal(count_edges(f, graph, "supports", "", s.vector), 1);
    assert_int_equal(count_edges(f, graph, "contradicts", "", s.both), 1);
    graph_close(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE(graph_prune__by_value__paths_of_what_counts_stay_and_a_rebuild_is_equal),
        FIXTURE(graph_prune__by_size__least_worth_first_and_pinned_kept),
        FIXTURE(edge__same_moves_again__supports_or_contradicts),
        FIXTURE(edge__confirmations_and_starts_elsewhere__as_documented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
