/* Rules in runs: learned from what failed, asked before a build, tested, retired. The fake target
 * refuses flags that it does not know, unless the source is a landscape. */
#include "engine_session_fixture.h"

#include "engine/rulebook.h"
#include "journal/event.h"

static struct engine_session *open_session(struct place *p)
{
    struct engine_session *session = NULL;
    struct err err = {0};
    p->opts.run.fresh = true;
    if (!engine_session_open(&p->opts, NULL, &session, &err))
        fail_msg("%s (%s)", err.message, err.hint);
    return session;
}

static struct engine_judged judge(struct place *p, struct engine_session *session,
                                  const char *source, const char *flag)
{
    struct err err = {0};
    struct engine_judged judged;
    struct engine_attempt attempt = {.parent = "", .candidate = {.source = source}};
    attempt.candidate.flags[0] = flag;
    attempt.candidate.flag_count = 1;
    if (!engine_session_evaluate(session, &attempt, &p->arena, &judged, &err))
        fail_msg("%s (%s)", err.message, err.hint);
    return judged;
}

static struct optimize_result finish(struct place *p, struct engine_session **session)
{
    struct optimize_result result;
    struct err err = {0};
    (void)p;
    if (!engine_session_finish(*session, &result, &err))
        fail_msg("%s", err.message);
    engine_session_close(session);
    return result;
}

static char *numbered(struct place *p, const char *text, int number)
{
    return arena_printf(&p->arena, "/* %s */ int tried_%d;", text, number);
}

/* Three different candidates fail of one flag. */
static void teach(struct place *p)
{
    struct engine_session *session = open_session(p);
    for (int i = 0; i < 3; i++) {
        const struct engine_judged judged =
            judge(p, session, numbered(p, "fake: time=900us", i), "-mfoo");
        assert_int_equal(judged.verdict.kind, VERDICT_REJECTED);
        assert_string_equal(judged.verdict.mechanism, "flags");
    }
    const struct optimize_result result = finish(p, &session);
    assert_null(result.rules_problem);
    assert_int_equal(result.rules_learned, 1);
}

static const struct graph_rule *read_rules(struct place *p, size_t *count)
{
    CLEANUP(memory_close) struct memory memory = {0};
    const struct graph_rule *rules = NULL;
    struct err err = {0};
    assert_true(memory_open(p->opts.run.memory_dir, false, &p->arena, &memory, &err));
    assert_true(graph_rules(memory.graph, &p->arena, &rules, count, &err));
    return rules;
}

static void rulebook__failures_of_one_cause__the_next_run_saves_builds(void **state)
{
    struct place *p = *state;
    size_t count = 0;
    int64_t refused = 0, built = 0;
    teach(p);
    const struct graph_rule *rules = read_rules(p, &count);
    assert_int_equal(count, 1);
    assert_string_equal(rules[0].cause, "refused-flag -mfoo");
    assert_string_equal(rules[0].predicate, "flag -mfoo");
    assert_int_equal(rules[0].occurrences, 3);
    struct engine_session *session = open_session(p);
    for (int i = 10; i < 30; i++) {
        const struct engine_judged judged =
            judge(p, session, numbered(p, "fake: time=900us", i), "-mfoo");
        assert_int_equal(judged.verdict.kind, VERDICT_REJECTED);
        if (str_equal(judged.verdict.mechanism, "rule")) {
            assert_true(str_starts_with(judged.verdict.evidence, "rule "));
            assert_int_equal(judged.verdict.code_id.text[0], '\0');
            refused++;
        } else if (++built == 4) {
            break; /* the lot was unkind: the budget of this run is spent */
        }
    }
    assert_true(refused > 0);
    const struct optimize_result result = finish(p, &session);
    assert_int_equal(result.builds_saved, refused);
    assert_int_equal(result.evaluations, built);
    rules = read_rules(p, &count);
    assert_int_equal(rules[0].hits, refused);
    assert_int_equal(rules[0].upheld, built);
    assert_false(rules[0].is_contradicted);
}

static void rulebook__what_it_refuses_is_built_after_all__retired_for_ever(void **state)
{
    struct place *p = *state;
    enum { MOST_TRIES = 600 };
    size_t count = 0;
    bool is_built = false;
    teach(p);
    struct engine_session *session = open_session(p);
    for (int i = 0; i < MOST_TRIES && !is_built; i++)
        is_built = judge(p, session, numbered(p, "fake: landscape", i), "-mfoo").verdict.kind ==
                   VERDICT_TIMED;
    assert_true(is_built); /* one in twenty is let through */
    assert_true(read_rules(p, &count)[0].is_contradicted);
    /* From now on it says nothing, in this run and in others. */
    assert_int_equal(judge(p, session, numbered(p, "fake: landscape", -1), "-mfoo").verdict.kind,
                     VERDICT_TIMED);
    (void)finish(p, &session);
    session = open_session(p);
    assert_string_equal(
        judge(p, session, numbered(p, "fake: time=900us", -2), "-mfoo").verdict.mechanism, "flags");
    (void)finish(p, &session);
    (void)read_rules(p, &count);
    assert_int_equal(count, 1); /* and is not made again */
}

static void rulebook__rebuilt_graph__same_rules(void **state)
{
    struct place *p = *state;
    CLEANUP(memory_close) struct memory memory = {0};
    struct hash_id before, after;
    struct err err = {0};
    teach(p);
    assert_true(memory_open(p->opts.run.memory_dir, true, &p->arena, &memory, &err));
    assert_true(graph_digest(memory.graph, &before, &err));
    assert_true(graph_rebuild(memory.graph, memory.journal, NULL, &err));
    assert_true(graph_digest(memory.graph, &after, &err));
    assert_string_equal(before.text, after.text);
}

static void rulebook_verify__reproducer_fails_no_more__stale_and_silent(void **state)
{
    struct place *p = *state;
    CLEANUP(memory_close) struct memory memory = {0};
    CLEANUP(target_close) struct target *target = NULL;
    CLEANUP(buf_free) struct buf body = {0};
    struct rulebook book;
    struct rule_checked *checked = NULL;
    struct rule_hit hit;
    struct err err = {0};
    struct hash_id source;
    size_t count = 0;
    /* A rule of another memory, whose reproducer is sound here. */
    assert_true(memory_open(p->opts.run.memory_dir, true, &p->arena, &memory, &err));
    assert_true(journal_store_put(memory.journal, "int sound;", 10, &source, &err));
    event_write_rule(&(struct rule_event){.rule_id = "r1",
                                          .action = RULE_DEFINE,
                                          .cause = "refused-flag -fbar",
                                          .words = "a flag",
                                          .predicate = "flag -fbar",
                                          .reproducer_body = source.text,
                                          .flags = "-fbar",
                                          .evidence = "d1"},
                     &body);
    assert_true(journal_append(memory.journal, EVENT_RULE, &body, NULL, &err));
    assert_true(graph_catch_up(memory.graph, memory.journal, NULL, &err));
    assert_true(target_open("fake", NULL, &target, &err));
    assert_true(rulebook_open(&memory, target, NULL, &p->arena, &book, &err));
    /* Not believed before it was tried here: asked, it is tried, and says nothing. */
    struct candidate candidate = {.source = "int x;", .flags = {"-fbar"}, .flag_count = 1};
    assert_int_equal(book.rules[0].standing[0], STANDING_UNKNOWN);
    assert_true(rulebook_ask(&book, &candidate, "d2", &hit, &err));
    assert_null(hit.rule);
    assert_int_equal(book.rules[0].standing[0], STANDING_STALE);
    assert_true(rulebook_verify(&book, SIZE_MAX, &p->arena, &checked, &count, &err));
    assert_int_equal(count, 1);
    assert_int_equal(checked[0].standing, STANDING_STALE);
    assert_non_null(strstr(checked[0].reason, "built"));
    rulebook_close(&book);
}

static void rulebook_open__hostile_predicate__is_not_asked(void **state)
{
    struct place *p = *state;
    CLEANUP(memory_close) struct memory memory = {0};
    CLEANUP(target_close) struct target *target = NULL;
    CLEANUP(buf_free) struct buf body = {0};
    struct rulebook book;
    struct rule_hit hit;
    struct err err = {0};
    assert_true(memory_open(p->opts.run.memory_dir, true, &p->arena, &memory, &err));
    event_write_rule(&(struct rule_event){.rule_id = "r1",
                                          .action = RULE_DEFINE,
                                          .cause = "x",
                                          .words = "x",
                                          .predicate = "always",
                                          .reproducer_body = "0123",
                                          .evidence = "d1"},
                     &body);
    assert_true(journal_append(memory.journal, EVENT_RULE, &body, NULL, &err));
    assert_true(graph_catch_up(memory.graph, memory.journal, NULL, &err));
    assert_true(target_open("fake", NULL, &target, &err));
    assert_true(rulebook_open(&memory, target, NULL, &p->arena, &book, &err));
    assert_int_equal(book.count, 1);
    assert_false(book.rules[0].is_readable);
    assert_true(rulebook_ask(&book, &(struct candidate){.source = "int x;"}, "d", &hit, &err));
    assert_null(hit.rule);
    assert_null(rulebook_advice(&book, &book.rules[0], &p->arena));
    rulebook_close(&book);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLACE(rulebook__failures_of_one_cause__the_next_run_saves_builds),
        PLACE(rulebook__what_it_refuses_is_built_after_all__retired_for_ever),
        PLACE(rulebook__rebuilt_graph__same_rules),
        PLACE(rulebook_verify__reproducer_fails_no_more__stale_and_silent),
        PLACE(rulebook_open__hostile_predicate__is_not_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
