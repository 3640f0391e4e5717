#include "engine_session_fixture.h"

#include <math.h>

static struct engine_session *open_session(struct place *p)
{
    struct engine_session *session = NULL;
    struct err err = {0};
    if (!engine_session_open(&p->opts, NULL, &session, &err))
        fail_msg("%s (%s)", err.message, err.hint);
    return session;
}

static struct engine_judged judge(struct place *p, struct engine_session *session,
                                  const char *source, const char *parent)
{
    struct err err = {0};
    struct engine_judged judged;
    const struct engine_attempt attempt = {
        .parent = parent, .intent = "a try", .candidate = {.source = source}};
    if (!engine_session_evaluate(session, &attempt, &p->arena, &judged, &err))
        fail_msg("%s (%s)", err.message, err.hint);
    return judged;
}

/* The decisions of the run, as the graph has them. */
static struct graph_decisions decisions_of(struct place *p, const char *run)
{
    CLEANUP(memory_close) struct memory memory = {0};
    struct graph_decisions all;
    struct err err = {0};
    assert_true(memory_open(p->opts.run.memory_dir, false, &p->arena, &memory, &err));
    assert_true(graph_run_decisions(memory.graph, run, &p->arena, &all, &err));
    return all;
}

static void engine_session__faster_candidate__is_judged_confirmed_and_in_the_graph(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    struct optimize_result result;
    struct engine_session *session = open_session(p);
    const struct engine_session_info info = engine_session_info(session);
    assert_string_equal(info.best_decision, "");
    struct engine_judged slow = judge(p, session, "/* fake: time=990us */", NULL);
    struct engine_judged fast = judge(p, session, "/* fake: time=500us */", slow.decision_id);
    assert_int_equal(fast.verdict.kind, VERDICT_TIMED);
    assert_true(fast.is_new_best);
    assert_true(fabs(fast.verdict.log_ratio - log(2.0)) < 0.01);
    assert_true(engine_session_finish(session, &result, &err));
    assert_true(result.has_win);
    assert_string_equal(result.end_reason, "finished");
    assert_string_equal(result.best_source, "/* fake: time=500us */");
    const char *run = arena_strdup(&p->arena, info.run_id);
    assert_false(engine_session_finish(session, &result, &err));
    engine_session_close(&session);
    const struct graph_decisions all = decisions_of(p, run);
    assert_int_equal(all.count, 2);
    assert_string_equal(all.items[1].parent, slow.decision_id);
    assert_string_equal(all.items[1].proposer, "mcp");
    assert_true(all.items[1].is_confirmed);
}

static void engine_session__wrong_and_failed__are_outcomes(void **state)
{
    struct place *p = *state;
    struct engine_session *session = open_session(p);
    assert_int_equal(judge(p, session, "/* fake: wrong */", NULL).verdict.kind, VERDICT_WRONG);
    assert_int_equal(judge(p, session, "/* fake: build-failed */", NULL).verdict.kind,
                     VERDICT_BUILD_FAILED);
    assert_int_equal(judge(p, session, "/* fake: crash */", NULL).verdict.kind, VERDICT_CRASHED);
    assert_string_equal(engine_session_info(session).best_decision, "");
    engine_session_close(&session);
}

static void engine_session__decision_without_candidate__is_kept_and_costs_nothing(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    struct engine_judged judged;
    struct engine_session *session = open_session(p);
    const struct engine_attempt attempt = {.intent = "tile it", .failure = "n is too small"};
    assert_true(engine_session_evaluate(session, &attempt, &p->arena, &judged, &err));
    assert_int_equal(engine_session_info(session).evaluations, 0);
    const char *run = arena_strdup(&p->arena, engine_session_info(session).run_id);
    engine_session_close(&session);
    const struct graph_decisions all = decisions_of(p, run);
    assert_int_equal(all.count, 1);
    assert_string_equal(all.items[0].failure, "n is too small");
    assert_false(all.items[0].has_outcome);
}

static void engine_session__budget_is_spent__refuses(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    struct engine_judged judged;
    p->opts.run.budget = 1;
    struct engine_session *session = open_session(p);
    (void)judge(p, session, "/* fake: time=500us */", NULL);
    const struct engine_attempt more = {.candidate = {.source = "/* fake: time=400us */"}};
    assert_false(engine_session_evaluate(session, &more, &p->arena, &judged, &err));
    assert_int_equal(err.kind, ERR_BUDGET);
    engine_session_close(&session);
}

static void engine_session__unknown_parent__is_not_found(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    struct engine_judged judged;
    struct engine_session *session = open_session(p);
    const struct engine_attempt attempt = {.parent = "0123456789abcdef",
                                           .candidate = {.source = "x"}};
    assert_false(engine_session_evaluate(session, &attempt, &p->arena, &judged, &err));
    assert_int_equal(err.kind, ERR_NOT_FOUND);
    engine_session_close(&session);
}

static void engine_session__closed_and_resumed__nothing_is_judged_twice(void **state)
{
    struct place *p = *state;
    struct engine_session *session = open_session(p);
    struct engine_judged first = judge(p, session, "/* fake: time=500us */", NULL);
    p->opts.resume = arena_strdup(&p->arena, engine_session_info(session).run_id);
    engine_session_close(&session);
    session = open_session(p);
    const struct engine_session_info info = engine_session_info(session);
    assert_int_equal(info.evaluations, 1);
    assert_string_equal(info.best_decision, first.decision_id);
    (void)judge(p, session, "/* fake: time=400us */", NULL);
    engine_session_close(&session);
    const struct graph_decisions all = decisions_of(p, p->opts.resume);
    assert_int_equal(all.count, 2);
    assert_string_equal(all.items[1].parent, first.decision_id);
}

static void engine_session__interrupted__decision_waits_for_a_resume(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    struct engine_judged judged;
    struct engine_session *session = open_session(p);
    os_interrupt_set(true);
    const struct engine_attempt attempt = {.candidate = {.source = "/* fake: time=500us */"}};
    assert_false(engine_session_evaluate(session, &attempt, &p->arena, &judged, &err));
    assert_int_equal(err.kind, ERR_INTERRUPTED);
    os_interrupt_set(false);
    engine_session_close(&session);
}

static void engine_session__context__is_within_its_budget_and_journalled(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    struct context context;
    const char *id = NULL;
    p->opts.contract = "Call kope_evaluate with a whole file.";
    struct engine_session *session = open_session(p);
    (void)judge(p, session, "/* fake: time=500us */", NULL);
    assert_true(engine_session_context(session, NULL, 6000, &p->arena, &context, &id, &err));
    assert_true(context.tokens <= 6000);
    assert_non_null(strstr(context.text, "Call kope_evaluate"));
    assert_non_null(strstr(context.text, "fake: time=500us"));
    assert_int_equal(strlen(id), HASH_ID_CHARS);
    engine_session_close(&session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLACE(engine_session__faster_candidate__is_judged_confirmed_and_in_the_graph),
        PLACE(engine_session__wrong_and_failed__are_outcomes),
        PLACE(engine_session__decision_without_candidate__is_kept_and_costs_nothing),
        PLACE(engine_session__budget_is_spent__refuses),
        PLACE(engine_session__unknown_parent__is_not_found),
        PLACE(engine_session__closed_and_resumed__nothing_is_judged_twice),
        PLACE(engine_session__interrupted__decision_waits_for_a_resume),
        PLACE(engine_session__context__is_within_its_budget_and_journalled),
    };
    return cmocka_run_group_tests_name("engine_session", tests, NULL, NULL);
}
