#include "graph_fixture.h"

#include "graph/rules.h"

static void define(struct world *w, const char *id, const char *cause, int64_t occurrences)
{
    struct buf body = {0};
    event_write_rule(&(struct rule_event){.rule_id = id,
                                          .action = RULE_DEFINE,
                                          .cause = cause,
                                          .words = "a semicolon is missing",
                                          .predicate = "missing-semicolon",
                                          .reproducer_body = "aa",
                                          .flags = "-O3",
                                          .dtype = "float32",
                                          .evidence = "d1 d2 d3",
                                          .occurrences = occurrences,
                                          .candidates = 2},
                     &body);
    (void)world_add(w, EVENT_RULE, &body);
}

static void check(struct world *w, const char *id, const char *result, const char *decision)
{
    struct buf body = {0};
    event_write_rule(&(struct rule_event){.rule_id = id,
                                          .action = RULE_CHECK,
                                          .result = result,
                                          .compiler = "gcc-12",
                                          .compiler_family = "gcc",
                                          .compiler_version = "12.2.0",
                                          .target_id = "zen3",
                                          .decision_id = decision,
                                          .reason = "because"},
                     &body);
    (void)world_add(w, EVENT_RULE, &body);
}

static void fill(struct world *w)
{
    define(w, "r1", "missing-semicolon", 3);
    define(w, "r2", "open-bracket", 5);
    check(w, "r1", RULE_HOLDS, "");
    check(w, "r2", RULE_HOLDS, "");
    check(w, "r2", RULE_UPHELD, "d7");
    check(w, "r1", RULE_CONTRADICTED, "d8");
    check(w, "r1", RULE_HOLDS, ""); /* another memory had not heard of it */
    define(w, "r1", "missing-semicolon", 9);
}

static void graph_rules__contradicted_once__for_ever(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    const struct graph_rule *rules = NULL;
    const struct graph_rule_check *checks = NULL;
    size_t count = 0;
    fill(w);
    struct graph *graph = world_graph(w);
    assert_ok(f, graph_rules(graph, &f->arena, &rules, &count, &f->err));
    assert_int_equal(count, 2);
    assert_string_equal(rules[0].cause, "missing-semicolon");
    assert_int_equal(rules[0].occurrences, 9); /* of the definition that holds */
    assert_true(rules[0].is_contradicted);
    assert_false(rules[1].is_contradicted);
    assert_int_equal(rules[1].upheld, 1);
    assert_ok(f, graph_rule_checks(graph, "r1", &f->arena, &checks, &count, &f->err));
    assert_int_equal(count, 3);
    assert_string_equal(checks[1].result, RULE_CONTRADICTED);
    assert_string_equal(checks[1].decision_id, "d8");
    assert_string_equal(checks[2].compiler_version, "12.2.0");
    graph_close(&graph);
}

static void graph_apply__rules_in_any_order__same_digest(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    fill(w);
    const struct hash_id all = world_digest(w);
    assert_any_order(w, 5, 40);
    w->count--;
    assert_string_not_equal(world_digest(w).text, all.text);
}

static void add_decision(struct world *w, const char *run, const char *candidate,
                         enum verdict_kind kind, const char *mechanism, const char *evidence)
{
    struct buf body = {0};
    struct outcome_event outcome = {.run_id = run, .task_id = "t-sum", .target_id = "zen3"};
    event_write_decision(&(struct decision_event){.run_id = run,
                                                  .parent = "",
                                                  .sequence = (int64_t)w->count,
                                                  .step = "small",
                                                  .proposer = "llm",
                                                  .candidate_id = candidate,
                                                  .compiler = "gcc-12",
                                                  .source_body = "src"},
                         &body);
    outcome.decision_id = world_add(w, EVENT_DECISION, &body);
    outcome.verdict = (struct verdict){.kind = kind, .mechanism = mechanism, .evidence = evidence};
    event_write_outcome(&outcome, &body);
    (void)world_add(w, EVENT_OUTCOME, &body);
}

static void graph_failures__same_candidate_elsewhere__comes_along(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    const struct graph_failure *failures = NULL;
    const struct graph_rule *rules = NULL;
    size_t count = 0;
    world_task(w, "t-sum", "sum", "reduction", "sum rows");
    define(w, "r1", "missing-semicolon", 3);
    const char *run = world_run(w, "t-sum", "zen3");
    add_decision(w, run, "a", VERDICT_TIMED, "", "");
    add_decision(w, run, "a", VERDICT_BUILD_FAILED, "compiler", "oh");
    add_decision(w, run, "b", VERDICT_TIMED, "", "");
    add_decision(w, run, "c", VERDICT_REJECTED, "M12-object", "no");
    add_decision(w, run, "d", VERDICT_REJECTED, "rule", "rule r1: no");
    struct graph *graph = world_graph(w);
    assert_ok(f, graph_failures(graph, 100, &f->arena, &failures, &count, &f->err));
    assert_int_equal(count, 3); /* a twice and c: b did not fail, d was not tried */
    assert_string_equal(failures[0].candidate_id, "a");
    assert_int_equal(failures[0].kind, VERDICT_TIMED);
    assert_string_equal(failures[1].evidence, "oh");
    assert_string_equal(failures[1].dtype, "float32");
    assert_string_equal(failures[2].mechanism, "M12-object");
    assert_ok(f, graph_failures(graph, 1, &f->arena, &failures, &count, &f->err));
    assert_int_equal(count, 1);
    assert_string_equal(failures[0].candidate_id, "c");
    assert_ok(f, graph_successes(graph, 100, &f->arena, &failures, &count, &f->err));
    assert_int_equal(count, 2);
    assert_ok(f, graph_rules(graph, &f->arena, &rules, &count, &f->err));
    assert_int_equal(rules[0].hits, 1);
    graph_close(&graph);
}

static void event_read_rule__hostile_bodies__are_refused(void **state)
{
    struct fixture *f = *state;
    static const char *const bodies[] = {
        "[]",
        "{\"rule_id\":\"r\"}",
        "{\"rule_id\":\"r\",\"action\":\"dance\"}",
        "{\"rule_id\":\"r\",\"action\":\"define\",\"cause\":\"c\"}",
        "{\"rule_id\":\"\",\"action\":\"check\",\"result\":\"holds\",\"compiler\":\"g\","
        "\"compiler_family\":\"g\",\"compiler_version\":\"1\",\"target_id\":\"t\"}",
        "{\"rule_id\":\"r\",\"action\":\"check\",\"result\":3,\"compiler\":\"g\","
        "\"compiler_family\":\"g\",\"compiler_version\":\"1\",\"target_id\":\"t\"}",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        const struct json *body = NULL;
        struct rule_event out;
        assert_ok(f, json_parse(bodies[i], strlen(bodies[i]), "body", &f->arena, &body, &f->err));
        if (event_read_rule(body, &f->arena, &out, &f->err))
            fail_msg("not refused: %s", bodies[i]);
        assert_int_equal(f->err.kind, ERR_CORRUPT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE(graph_rules__contradicted_once__for_ever),
        FIXTURE(graph_apply__rules_in_any_order__same_digest),
        FIXTURE(graph_failures__same_candidate_elsewhere__comes_along),
        FIXTURE(event_read_rule__hostile_bodies__are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
