#include "graph_fixture.h"

#include "graph/skills.h"

static void define(struct world *w, const char *id, const char *name, const char *intent)
{
    struct buf body = {0};
    event_write_skill(&(struct skill_event){.skill_id = id,
                                            .action = SKILL_DEFINE,
                                            .name = name,
                                            .intent = intent,
                                            .applies = "reductions > 0",
                                            .needs = "vector_bytes >= 32",
                                            .change = "simd=reduce?",
                                            .breaks = "last digits",
                                            .origin = "lineage",
                                            .learned_on = "t-softmax",
                                            .before_body = "aa",
                                            .after_body = "bb",
                                            .build = "gcc-12 -O3"},
                      &body);
    (void)world_add(w, EVENT_SKILL, &body);
}

static const char *measure(struct world *w, const char *id, double log_ratio, const char *decision)
{
    struct buf body = {0};
    event_write_skill(&(struct skill_event){.skill_id = id,
                                            .action = SKILL_EVIDENCE,
                                            .evidence = "trial",
                                            .decision_id = decision,
                                            .task_id = "t-sum",
                                            .task_name = "sum",
                                            .family = "reduction",
                                            .regime = "large",
                                            .target_id = "zen3",
                                            .verdict = "timed",
                                            .text = "with against without",
                                            .log_ratio = log_ratio,
                                            .log_low = log_ratio - 0.05,
                                            .log_high = log_ratio + 0.05},
                      &body);
    return world_add(w, EVENT_SKILL, &body);
}

static void set_state(struct world *w, const char *id, const char *to)
{
    struct buf body = {0};
    event_write_skill(
        &(struct skill_event){
            .skill_id = id, .action = SKILL_STATE, .state = to, .reason = "because"},
        &body);
    (void)world_add(w, EVENT_SKILL, &body);
}

static void fill(struct world *w)
{
    define(w, "s1", "split-sum", "sum in several accumulators");
    define(w, "s2", "prefetch-rows", "ask for the next row before it is needed");
    set_state(w, "s1", "verified");
    (void)measure(w, "s1", 0.5, "");
    (void)measure(w, "s1", -0.3, "d-9");
    define(w, "s1", "split-sums", "sum in several accumulators, on vectors");
    set_state(w, "s1", "contradicted");
}

static void graph_skills__latest_definition_and_state_hold(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    const struct graph_skill *skills = NULL;
    const struct graph_skill_evidence *evidence = NULL;
    size_t count = 0;
    fill(w);
    struct graph *graph = world_graph(w);
    assert_ok(f, graph_skills(graph, &f->arena, &skills, &count, &f->err));
    assert_int_equal(count, 2);
    assert_string_equal(skills[0].name, "prefetch-rows");
    assert_string_equal(skills[0].state, "candidate");
    assert_string_equal(skills[1].name, "split-sums");
    assert_string_equal(skills[1].state, "contradicted");
    assert_string_equal(skills[1].reason, "because");
    assert_string_equal(skills[1].applies, "reductions > 0");
    assert_string_equal(skills[1].needs, "vector_bytes >= 32");
    assert_string_equal(skills[1].change, "simd=reduce?");
    assert_string_equal(skills[1].after_body, "bb");
    assert_string_equal(skills[1].build, "gcc-12 -O3");
    assert_int_equal(skills[1].evidence_count, 2);
    assert_ok(f, graph_skill_evidence(graph, "s1", &f->arena, &evidence, &count, &f->err));
    assert_int_equal(count, 2);
    assert_true(evidence[0].log_ratio == 0.5 && evidence[1].log_ratio == -0.3);
    assert_string_equal(evidence[1].decision_id, "d-9");
    assert_string_equal(evidence[0].family, "reduction");
    graph_close(&graph);
}

static void graph_apply__skills_in_any_order_and_merged__same_digest(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    fill(w);
    const struct hash_id all = world_digest(w);
    assert_any_order(w, 11, 40);
    w->count--; /* one event less is another graph */
    assert_string_not_equal(world_digest(w).text, all.text);
}

static void graph_match_skills__best_match_first_and_hostile_words_are_words(void **state)
{
    struct fixture *f = *state;
    struct world *w = world_new(f);
    const struct graph_skill_match *matches = NULL;
    size_t count = 0;
    fill(w);
    struct graph *graph = world_graph(w);
    assert_ok(f, graph_match_skills(graph, "a row that is needed next", &f->arena, &matches, &count,
                                    &f->err));
    assert_true(count >= 1);
    assert_string_equal(matches[0].skill_id, "s2");
    assert_ok(f, graph_match_skills(graph, "vectors", &f->arena, &matches, &count, &f->err));
    assert_int_equal(count, 1); /* of the definition that holds */
    assert_ok(
        f, graph_match_skills(graph, "\") OR body:* NEAR(", &f->arena, &matches, &count, &f->err));
    assert_ok(f, graph_match_skills(graph, "", &f->arena, &matches, &count, &f->err));
    assert_int_equal(count, 0);
    graph_close(&graph);
}

static void event_read_skill__hostile_bodies__are_refused(void **state)
{
    struct fixture *f = *state;
    static const char *const bodies[] = {
        "[]",
        "{\"skill_id\":\"s\"}",
        "{\"skill_id\":\"s\",\"action\":\"dance\"}",
        "{\"skill_id\":\"s\",\"action\":\"define\",\"name\":\"n\",\"origin\":\"seed\"}",
        "{\"skill_id\":\"s\",\"action\":\"state\"}",
        "{\"skill_id\":\"\",\"action\":\"state\",\"state\":\"verified\"}",
        "{\"skill_id\":\"s\",\"action\":\"evidence\",\"evidence\":\"trial\"}",
        ("{\"skill_id\":\"s\",\"action\":\"evidence\",\"evidence\":\"trial\",\"verdict\":\"timed\","
         "\"log_ratio\":\"1\"}"),
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        const struct json *body = NULL;
        struct skill_event out;
        assert_ok(f, json_parse(bodies[i], strlen(bodies[i]), "body", &f->arena, &body, &f->err));
        if (event_read_skill(body, &f->arena, &out, &f->err))
            fail_msg("not refused: %s", bodies[i]);
        assert_int_equal(f->err.kind, ERR_CORRUPT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE(graph_skills__latest_definition_and_state_hold),
        FIXTURE(graph_apply__skills_in_any_order_and_merged__same_digest),
        FIXTURE(graph_match_skills__best_match_first_and_hostile_words_are_words),
        FIXTURE(event_read_skill__hostile_bodies__are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
