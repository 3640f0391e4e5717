#include "graph_fixture.h"

#include "graph/findings.h"

#include <math.h>

static bool near_to(double a, double b)
{
    return fabs(a - b) < 1e-12;
}

static void graph_run_decisions__gives_outcomes_and_gains(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    const struct small_world s = world_fill(w);
    struct graph *graph = world_graph(w);
    struct graph_decisions list;
    assert_ok(f, graph_run_decisions(graph, s.run1, &f->arena, &list, &f->err));
    assert_int_equal(list.count, 5);
    const struct graph_decision *d = list.items;
    assert_string_equal(d[0].id, s.tile);
    assert_string_equal(d[0].task_name, "softmax");
    assert_string_equal(d[0].family, "normalization");
    assert_string_equal(d[0].target_id, "zen3");
    assert_true(near_to(d[0].gain, 0.2) && d[0].is_win && !d[0].is_confirmed);
    assert_string_equal(d[1].parent, s.tile);
    assert_true(near_to(d[1].gain, 0.5) && d[1].is_confirmed && !d[1].confirm_failed);
    assert_true(near_to(d[1].confirmed_log_ratio, 0.69));
    assert_string_equal(d[2].moves, "unroll prefetch unroll");
    assert_true(near_to(d[2].gain, 0.2) && d[2].confirm_failed && !d[2].is_confirmed);
    assert_int_equal(d[3].kind, VERDICT_WRONG);
    assert_true(d[3].has_outcome && d[3].gain == 0.0 && !d[3].is_win);
    assert_non_null(strstr(d[3].evidence, "NaN"));
    assert_int_equal(d[4].kind, VERDICT_TOO_NOISY);
    assert_ok(f, graph_run_decisions(graph, "no such run", &f->arena, &list, &f->err));
    assert_int_equal(list.count, 0);
    graph_close(&graph);
}

static void graph_run_decisions__not_judged_yet__has_no_outcome(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    const char *run = world_run(w, "t", "x");
    (void)world_decision(w, &(struct try){run, "", "first", 1, {NULL}, ""});
    struct graph *graph = world_graph(w);
    struct graph_decisions list;
    assert_ok(f, graph_run_decisions(graph, run, &f->arena, &list, &f->err));
    assert_int_equal(list.count, 1);
    assert_false(list.items[0].has_outcome);
    assert_string_equal(list.items[0].evidence, "");
    assert_string_equal(list.items[0].task_id, "t"); /* though the task is not known */
    assert_string_equal(list.items[0].task_name, "");
    graph_close(&graph);
}

static void graph_best__confirmed_comes_first_and_refuted_never(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    const struct small_world s = world_fill(w);
    struct graph *graph = world_graph(w);
    struct graph_decision best;
    bool found = false;
    assert_ok(f, graph_best(graph, "t-softmax", "zen3", &f->arena, &found, &best, &f->err));
    assert_true(found);
    assert_string_equal(best.id, s.vector);
    assert_ok(f, graph_best(graph, "t-softmax", "spr", &f->arena, &found, &best, &f->err));
    assert_false(found);
    assert_ok(f, graph_best(graph, "t-conv", "zen3", &f->arena, &found, &best, &f->err));
    assert_true(found);
    graph_close(&graph);
    world_outcome(w, &(struct found){s.refuted, "t-conv", "zen3", VERDICT_WRONG, 0, false, true,
                                     "held-out shape", ""});
    graph = world_graph(w);
    assert_ok(f, graph_best(graph, "t-conv", "zen3", &f->arena, &found, &best, &f->err));
    assert_false(found);
    graph_close(&graph);
}

static void graph_related__family_then_words_then_others(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    const struct small_world s = world_fill(w);
    struct graph *graph = world_graph(w);
    struct graph_decisions list;
    assert_ok(f, graph_related(graph, "t-softmax", "zen3", 10, &f->arena, &list, &f->err));
    assert_int_equal(list.count, 3);
    assert_string_equal(list.items[0].id, s.other);   /* same family */
    assert_string_equal(list.items[1].id, s.far);     /* 'sum' and 'rows' in common */
    assert_string_equal(list.items[2].id, s.refuted); /* neither */
    assert_ok(f, graph_related(graph, "t-softmax", "zen3", 1, &f->arena, &list, &f->err));
    assert_int_equal(list.count, 1);
    assert_ok(f, graph_related(graph, "t-layer", "zen3", 10, &f->arena, &list, &f->err));
    assert_string_equal(list.items[0].id, s.vector); /* the confirmed one stands for its task */
    assert_ok(f, graph_related(graph, "unknown", "spr", 10, &f->arena, &list, &f->err));
    assert_int_equal(list.count, 4);
    assert_string_equal(list.items[0].id, s.far); /* this target first */
    graph_close(&graph);
}

/* All zero where there is none. */
static struct graph_move_cell cell_of(struct fixture *f, struct graph *graph, const char *task,
                                      const char *move)
{
    const struct graph_move_cell *items = NULL;
    size_t count = 0;
    assert_ok(f, graph_move_cells(graph, &items, &count, &f->err));
    for (size_t i = 0; i < count; i++) {
        if (strcmp(items[i].move, move) == 0 && strcmp(items[i].task_id, task) == 0)
            return items[i];
    }
    return (struct graph_move_cell){.move = NULL};
}

static void graph_move_cells__a_row_for_move_task_and_target__gains_shared(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    (void)world_fill(w);
    struct graph *graph = world_graph(w);
    struct graph_move_cell e = cell_of(f, graph, "t-softmax", "tile");
    assert_true(e.count == 1.0 && near_to(e.sum, 0.2) && e.failures == 0.0);
    assert_string_equal(e.family, "normalization");
    assert_string_equal(e.target_id, "zen3");
    e = cell_of(f, graph, "t-layer", "tile");
    assert_true(e.count == 1.0 && near_to(e.sum, 0.4) && near_to(e.sum_squares, 0.16));
    e = cell_of(f, graph, "t-sum", "tile");
    assert_true(e.count == 1.0 && near_to(e.sum, 1.5));
    e = cell_of(f, graph, "t-softmax", "vectorize");
    assert_true(e.count == 1.0 && near_to(e.sum, 0.5) && e.failures == 1.0);
    e = cell_of(f, graph, "t-softmax", "unroll"); /* 0.2 for two different moves */
    assert_true(e.count == 1.0 && near_to(e.sum, 0.1));
    e = cell_of(f, graph, "t-softmax", "prefetch");
    assert_true(e.count == 1.0 && near_to(e.sum, 0.1) && near_to(e.sum_squares, 0.01));
    assert_null(cell_of(f, graph, "t-softmax", "pack").move);
    assert_non_null(cell_of(f, graph, "t-conv", "pack").move);
    graph_close(&graph);
}

/* A later outcome of a parent changes what its children gained. */
static void graph_move_cells__an_outcome_is_replaced__children_follow(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    const struct small_world s = world_fill(w);
    world_outcome(w, &(struct found){s.tile, "t-softmax", "zen3", VERDICT_TIMED, 0.3, true, false,
                                     "", "code-tile"});
    struct graph *graph = world_graph(w);
    assert_true(near_to(cell_of(f, graph, "t-softmax", "tile").sum, 0.3));
    assert_true(near_to(cell_of(f, graph, "t-softmax", "vectorize").sum, 0.4));
    graph_close(&graph);
    world_outcome(w, &(struct found){s.tile, "t-softmax", "zen3", VERDICT_TOO_NOISY, 0.0, false,
                                     false, "", "code-tile"});
    graph = world_graph(w);
    assert_null(cell_of(f, graph, "t-softmax", "tile").move);
    assert_true(cell_of(f, graph, "t-softmax", "vectorize").count == 0.0);
    graph_close(&graph);
}

static void graph_recall__gives_the_verdict_of_the_same_code(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    (void)world_fill(w);
    struct graph *graph = world_graph(w);
    struct verdict verdict;
    bool found = false;
    const struct hash_id gate = hash_content("gate", 4);
    const struct hash_id code = hash_content("code-tile", 9);
    assert_ok(f, graph_recall_code(graph, code.text, "t-softmax", gate.text, &f->arena, &found,
                                   &verdict, &f->err));
    assert_true(found && verdict.from_record);
    assert_int_equal(verdict.kind, VERDICT_TIMED);
    assert_true(near_to(verdict.log_ratio, 0.2) && verdict.case_count == 2);
    assert_string_equal(verdict.cases[0].name, "n=1");
    assert_int_equal(verdict.cases[0].baseline_ns, 1000);
    assert_string_equal(verdict.code_id.text, code.text);
    assert_ok(f, graph_recall_code(graph, code.text, "t-layer", gate.text, &f->arena, &found,
                                   &verdict, &f->err));
    assert_false(found);
    assert_ok(f, graph_recall_code(graph, code.text, "t-softmax", code.text, &f->arena, &found,
                                   &verdict, &f->err));
    assert_false(found);
    assert_ok(f, graph_recall_code(graph, "", "t-softmax", gate.text, &f->arena, &found, &verdict,
                                   &f->err));
    assert_false(found);
    const struct hash_id noisy = hash_content("code-noisy", 10);
    assert_ok(f, graph_recall_code(graph, noisy.text, "t-softmax", gate.text, &f->arena, &found,
                                   &verdict, &f->err));
    assert_false(found);
    graph_close(&graph);
}

static void graph_recall_all__gives_each_code_once(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    (void)world_fill(w);
    struct graph *graph = world_graph(w);
    const struct hash_id gate = hash_content("gate", 4);
    const struct verdict *all = NULL;
    size_t count = 0;
    assert_ok(f, graph_recall_all(graph, "t-softmax", gate.text, &f->arena, &all, &count, &f->err));
    assert_int_equal(count, 4); /* tile, vector, both, wrong */
    for (size_t i = 0; i < count; i++)
        assert_true(all[i].kind == VERDICT_WRONG || all[i].case_count == 2);
    graph_close(&graph);
}

static void graph_recall_candidates__gives_what_the_candidate_decides(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    (void)world_fill(w);
    struct graph *graph = world_graph(w);
    const struct hash_id gate = hash_content("gate", 4);
    const struct hash_id other = hash_content("other", 5);
    const struct graph_recalled *all = NULL;
    size_t count = 0;
    assert_ok(f, graph_recall_candidates(graph, "t-softmax", gate.text, &f->arena, &all, &count,
                                         &f->err));
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        const struct verdict *v = &all[i].verdict;
        assert_true(v->from_record && v->kind != VERDICT_TOO_NOISY && v->kind != VERDICT_CRASHED);
        assert_true(v->kind != VERDICT_TIMED || v->case_count == 2);
        for (size_t k = 0; k < i; k++)
            assert_true(all[k].is_confirmation != all[i].is_confirmation ||
                        strcmp(all[k].candidate_id, all[i].candidate_id) != 0);
    }
    assert_ok(f, graph_recall_candidates(graph, "t-softmax", other.text, &f->arena, &all, &count,
                                         &f->err));
    assert_int_equal(count, 0);
    graph_close(&graph);
}

static void graph_search__finds_words_of_evidence_moves_and_task(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    const struct small_world s = world_fill(w);
    struct graph *graph = world_graph(w);
    struct graph_decisions list;
    assert_ok(f, graph_search(graph, "NAN polynomial", 10, &f->arena, &list, &f->err));
    assert_int_equal(list.count, 1);
    assert_string_equal(list.items[0].id, s.wrong);
    assert_ok(f, graph_search(graph, "prefetch", 10, &f->arena, &list, &f->err));
    assert_int_equal(list.count, 1);
    assert_string_equal(list.items[0].id, s.both);
    assert_ok(f, graph_search(graph, "softmax", 10, &f->arena, &list, &f->err));
    assert_int_equal(list.count, 4); /* by the task's name, without the too-noisy one */
    assert_ok(f, graph_search(graph, "softmax", 2, &f->arena, &list, &f->err));
    assert_int_equal(list.count, 2);
    graph_close(&graph);
}

static void graph_search_near__family_and_ending__are_filters(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    const struct small_world s = world_fill(w);
    struct graph *graph = world_graph(w);
    struct graph_decisions list;
    assert_ok(f, graph_search_near(graph, &(struct graph_near){"polynomial", "normalization", true},
                                   5, &f->arena, &list, &f->err));
    assert_true(list.count == 1 && strcmp(list.items[0].id, s.wrong) == 0);
    assert_ok(f, graph_search_near(graph, &(struct graph_near){"polynomial", "contraction", true},
                                   5, &f->arena, &list, &f->err));
    assert_int_equal(list.count, 0);
    assert_ok(f, graph_search_near(graph, &(struct graph_near){"tile", "", false}, 9, &f->arena,
                                   &list, &f->err));
    assert_int_equal(list.count, 3);
    /* The rarer word decides. */
    assert_ok(f, graph_search_near(graph, &(struct graph_near){"rows prefetch", "", false}, 9,
                                   &f->arena, &list, &f->err));
    assert_true(list.count > 1 && strcmp(list.items[0].id, s.both) == 0);
    /* No word is known: the latest of the family, and nothing of any. */
    assert_ok(f, graph_search_near(graph, &(struct graph_near){"zzz", "normalization", false}, 2,
                                   &f->arena, &list, &f->err));
    assert_true(list.count == 2 && strcmp(list.items[0].id, s.other) == 0);
    assert_ok(f, graph_search_near(graph, &(struct graph_near){"\"zzz\" OR *", "", false}, 2,
                                   &f->arena, &list, &f->err));
    assert_int_equal(list.count, 0);
    graph_close(&graph);
}

static void graph_walk__equal_recipe__gives_what_followed(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    const struct small_world s = world_fill(w);
    struct graph *graph = world_graph(w);
    struct graph_decisions list;
    struct graph_follow follow;
    bool found = false;
    assert_ok(f, graph_walk(graph, "tile(i)", 5, &f->arena, &list, &f->err));
    assert_true(list.count == 1 && strcmp(list.items[0].id, s.vector) == 0);
    assert_ok(f, graph_walk(graph, "", 5, &f->arena, &list, &f->err));
    assert_int_equal(list.count, 0);
    assert_ok(f, graph_followed(graph, s.tile, 0.2, &f->arena, &found, &follow, &f->err));
    assert_true(found && near_to(follow.gain, 0.5));
    assert_string_equal(follow.decision_id, s.vector);
    assert_ok(f, graph_followed(graph, s.far, 0.0, &f->arena, &found, &follow, &f->err));
    assert_false(found);
    const char *kinds = NULL;
    assert_ok(f, graph_finding_kinds(graph, s.run1, s.tile, &f->arena, &kinds, &f->err));
    assert_string_equal(kinds, "memory");
    assert_ok(f, graph_finding_kinds(graph, s.run1, s.far, &f->arena, &kinds, &f->err));
    assert_string_equal(kinds, "");
    graph_close(&graph);
}

static void graph_search__hostile_words__are_only_words(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    const struct small_world s = world_fill(w);
    struct graph *graph = world_graph(w);
    struct graph_decisions list;
    static const char *const hostile[] = {
        "",         " ",           "\"",        "\"\"",         "'; DROP TABLE decision; --",
        "* ^ + - ", "NEAR(",       "body:",     "{body tags}:", "AND OR NOT",
        "(((((",    "a*",          "\xff\xfe",  "%s%n",         "NEAR(a b, 99999999999)",
        ")",        "tags : -xyz", "\"unended", "\xc3",         "-\"NaN",
    };
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        if (!graph_search(graph, hostile[i], 10, &f->arena, &list, &f->err))
            fail_msg("'%s': %s", hostile[i], f->err.message);
    }
    assert_ok(f, graph_search(graph, "\"NaN\" OR ( polynomial*", 10, &f->arena, &list, &f->err));
    assert_int_equal(list.count, 1);
    assert_string_equal(list.items[0].id, s.wrong);
    struct buf many = {0};
    for (int i = 0; i < 20000; i++)
        (void)buf_append_str(&many, "word ");
    assert_ok(f, graph_search(graph, many.data, 10, &f->arena, &list, &f->err));
    buf_free(&many);
    graph_close(&graph);
}

static void graph_find_run__id_prefix_last_and_ambiguous(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    const struct small_world s = world_fill(w);
    for (int i = 0; i < 20; i++) /* more runs than hexadecimal digits: some prefix is ambiguous */
        (void)world_run(w, "t-sum", "zen3");
    struct graph *graph = world_graph(w);
    struct graph_run run;
    assert_ok(f, graph_find_run(graph, s.run1, &f->arena, &run, &f->err));
    assert_string_equal(run.id, s.run1);
    assert_string_equal(run.task_name, "softmax");
    assert_true(run.has_ended && run.seed == UINT64_MAX - 1);
    assert_string_equal(run.end_reason, "budget");
    assert_string_equal(run.best_decision, s.vector);
    assert_int_equal(run.evaluations, 7);
    assert_int_equal(run.decisions, 5);
    assert_int_equal(run.run_ns, 9);
    assert_ok(f, graph_find_run(graph, arena_printf(&f->arena, "%.16s", s.run2), &f->arena, &run,
                                &f->err));
    assert_string_equal(run.id, s.run2);
    assert_false(run.has_ended);
    assert_int_equal(run.evaluations, 1); /* counted, since it did not end */
    assert_ok(f, graph_find_run(graph, "last", &f->arena, &run, &f->err));
    assert_string_equal(run.id, w->events[w->count - 1].id.text);

    int ambiguous = 0;
    for (const char *digit = "0123456789abcdef"; *digit; digit++) {
        f->err = (struct err){0};
        if (!graph_find_run(graph, arena_printf(&f->arena, "%c", *digit), &f->arena, &run, &f->err))
            ambiguous += f->err.kind == ERR_USAGE;
    }
    assert_true(ambiguous > 0);
    static const char *const wrong[] = {"", "xyz", "%", "0' OR 1=1", "Last"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(graph_find_run(graph, wrong[i], &f->arena, &run, &f->err));
        assert_int_equal(f->err.kind, ERR_NOT_FOUND);
    }
    graph_close(&graph);
}

static void graph_find_run__nothing_yet__says_so(void **state)
{
    struct fixture *f = *state;
    struct graph *graph = world_graph(world_new(f));
    struct graph_run run;
    assert_false(graph_find_run(graph, "last", &f->arena, &run, &f->err));
    assert_int_equal(f->err.kind, ERR_NOT_FOUND);
    struct graph_stats stats;
    assert_ok(f, graph_get_stats(graph, &stats, &f->err));
    assert_int_equal(stats.events, 0);
    assert_true(stats.best_log_ratio_mean == 0.0);
    graph_close(&graph);
}

static void graph_runs_cases_findings_stats__match_the_world(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    const struct small_world s = world_fill(w);
    struct graph *graph = world_graph(w);
    const struct graph_run *runs = NULL;
    size_t count = 0;
    assert_ok(f, graph_runs(graph, 2, &f->arena, &runs, &count, &f->err));
    assert_int_equal(count, 2);
    assert_string_equal(runs[0].id, s.run4);
    assert_string_equal(runs[1].id, s.run3);

    const struct case_result *cases = NULL;
    assert_ok(f, graph_outcome_cases(graph, s.vector, true, &f->arena, &cases, &count, &f->err));
    assert_int_equal(count, 2);
    assert_true(near_to(cases[0].log_ratio, 0.69) && cases[1].error == 3.5);
    assert_int_equal(cases[0].cold.pairs, 6);
    assert_true(near_to(cases[0].cold.log_ratio, 0.345) && cases[0].cold.log_high == 0.5);
    assert_int_equal(cases[0].cold.candidate_ns, 2000);
    assert_int_equal(cases[1].cold.pairs, 0);
    assert_ok(f, graph_outcome_cases(graph, s.wrong, false, &f->arena, &cases, &count, &f->err));
    assert_int_equal(count, 0);

    const struct graph_finding *findings = NULL;
    assert_ok(f, graph_findings(graph, s.run1, &f->arena, &findings, &count, &f->err));
    assert_int_equal(count, 1);
    assert_string_equal(findings[0].decision_id, s.tile);
    assert_string_equal(findings[0].text, "waits for loads");
    assert_int_equal(findings[0].line, 3);

    const struct graph_exchange *exchanges = NULL;
    assert_ok(f, graph_exchanges(graph, s.run1, &f->arena, &exchanges, &count, &f->err));
    assert_int_equal(count, 2);
    assert_string_equal(exchanges[0].role, "propose");
    assert_string_equal(exchanges[1].role, "repair");
    assert_int_equal(exchanges[0].tokens_in, 120);
    assert_true(exchanges[1].cost_usd == 0.25);
    bool found = true;
    struct graph_context context;
    assert_ok(f, graph_last_context(graph, s.run2, &f->arena, &found, &context, &f->err));
    assert_false(found);

    struct graph_stats stats;
    assert_ok(f, graph_get_stats(graph, &stats, &f->err));
    assert_int_equal(stats.events, w->count);
    assert_int_equal(stats.tasks, 4);
    assert_int_equal(stats.runs, 4);
    assert_int_equal(stats.decisions, 8);
    assert_int_equal(stats.outcomes, 10);
    assert_int_equal(stats.findings, 1);
    assert_int_equal(stats.by_verdict[VERDICT_TIMED], 6);
    assert_int_equal(stats.by_verdict[VERDICT_WRONG], 1);
    assert_int_equal(stats.wins, 6);
    assert_int_equal(stats.confirmed, 1);
    assert_true(near_to(stats.best_log_ratio_mean, 0.69));
    graph_close(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE(graph_run_decisions__gives_outcomes_and_gains),
        FIXTURE(graph_run_decisions__not_judged_yet__has_no_outcome),
        FIXTURE(graph_best__confirmed_comes_first_and_refuted_never),
        FIXTURE(graph_related__family_then_words_then_others),
        FIXTURE(graph_move_cells__a_row_for_move_task_and_target__gains_shared),
        FIXTURE(graph_move_cells__an_outcome_is_replaced__children_follow),
        FIXTURE(graph_recall__gives_the_verdict_of_the_same_code),
        FIXTURE(graph_recall_all__gives_each_code_once),
        FIXTURE(graph_recall_candidates__gives_what_the_candidate_decides),
        FIXTURE(graph_search__finds_words_of_evidence_moves_and_task),
        FIXTURE(graph_search_near__family_and_ending__are_filters),
        FIXTURE(graph_walk__equal_recipe__gives_what_followed),
        FIXTURE(graph_search__hostile_words__are_only_words),
        FIXTURE(graph_find_run__id_prefix_last_and_ambiguous),
        FIXTURE(graph_find_run__nothing_yet__says_so),
        FIXTURE(graph_runs_cases_findings_stats__match_the_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
