/* A run where one candidate is better at small sizes and another at large ones: a third chooses
 * between them, is judged like any other, and is what a resume, a replay and a later run see. */
#include "engine_llm_fixture.h"

#include "engine/simulate.h"

static int make_two_cases(void **state)
{
    const int made = make_place(state);
    struct place *p = *state;
    if (made == 0)
        write_text(&p->arena, p->opts.task_path, "task.yaml",
                   arena_printf(&p->arena,
                                "%.*scases:\n  - {n: 16}\n  - {n: 4096}\n"
                                "held_out:\n  - {n: 9}\n  - {n: 3001}\n",
                                (int)(strstr(task_yaml, "cases:") - task_yaml), task_yaml));
    return made;
}

#define TWO_CASES(test) cmocka_unit_test_setup_teardown(test, make_two_cases, remove_place)

/* A kernel whose times are as the marker says; else a call takes 1 ms, as of the reference. */
static void propose_with(struct place *p, const char *marker, const char *flag)
{
    static const char usual[] = "\"-O3\"";
    const char *file = arena_printf(&p->arena,
                                    "#include <stdint.h>\n"
                                    "static real twice(real v) { return 2 * v; } /* %s */\n"
                                    "void scale2(const real *x, real *y, int64_t n)\n{\n"
                                    "    for (int64_t i = 0; i < n; i++)\n"
                                    "        y[i] = twice(x[i]);\n}\n/* fake: %s */\n",
                                    marker, marker);
    const char *text = proposal(p, marker, 0.5, file, NULL, NULL);
    const char *at = strstr(text, usual);
    say(p, arena_printf(&p->arena, "{\"proposals\":[%.*s\"%s\"%s]}", (int)(at - text), text, flag,
                        at + strlen(usual)));
}

static void propose(struct place *p, const char *marker)
{
    propose_with(p, marker, "-O3");
}

/* 4x and 1x, 2x and 8x: none is so slow in a case that it would not be timed in the other. */
static void propose_both(struct place *p)
{
    p->opts.budget = 3;
    propose(p, "up-to 64=250us");
    propose(p, "time=500us fake: above 64=125us");
}

static const struct graph_decision *dispatched(const struct graph_decisions *all)
{
    const struct graph_decision *found = NULL;
    for (size_t i = 0; i < all->count; i++) {
        if (!str_equal(all->items[i].step, "dispatch"))
            continue;
        assert_null(found); /* once in a run */
        found = &all->items[i];
    }
    return found;
}

static void assert_has(const char *text, const char *words)
{
    assert_non_null(text);
    if (!strstr(text, words))
        fail_msg("'%s' is not in:\n%s", words, text);
}

/* 4x and 8x; the two alone are 2x and 4x. */
static void assert_won(struct place *p)
{
    const struct graph_decisions all = decisions(p);
    const struct graph_decision *d = dispatched(&all);
    assert_non_null(d);
    assert_int_equal(all.count, 3);
    assert_int_equal(p->result.evaluations, 3);
    assert_string_equal(p->result.end_reason, "budget");
    assert_true(p->result.has_win);
    assert_string_equal(p->result.best.id, d->id);
    assert_string_equal(d->moves, "dispatch");
    assert_string_equal(d->recipe, "");
    assert_string_equal(d->parent, all.items[1].id);
    assert_string_equal(d->uses,
                        arena_printf(&p->arena, "%s %s", all.items[0].id, all.items[1].id));
    assert_string_equal(d->intent,
                        arena_printf(&p->arena,
                                     "chooses by n: up to 256 as decision %.12s, above as decision "
                                     "%.12s",
                                     all.items[0].id, all.items[1].id));
    assert_true(fabs(p->result.confirmation.log_ratio - (log(4.0) + log(8.0)) / 2) < 0.01);
    assert_true(p->result.confirmation.has_held_out);
    assert_has(p->result.dispatch, "dispatch by n at 256: 1.41x over the better one alone; "
                                   "choosing costs 0.0 % [");
}

static void optimize__each_wins_at_its_sizes__one_that_chooses_wins(void **state)
{
    struct place *p = *state;
    propose_both(p);
    optimize(p, NULL);
    assert_won(p);
    const char *source = p->result.best_source;
    assert_has(source, "static real twice(real v) { return 2 * v; }");
    assert_null(strstr(strstr(source, "real twice(") + 1, "real twice("));
    assert_has(source, "    if (n <= 256)\n        scale2_small(x, y, n);\n"
                       "    else\n        scale2_large(x, y, n);\n");
}

static void optimize__the_reference_is_the_better_at_small_sizes__is_one_of_the_two(void **state)
{
    struct place *p = *state;
    p->opts.budget = 2;
    write_text(&p->arena, p->opts.task_path, "reference.c",
               arena_printf(&p->arena, "%s/* fake: up-to 64=1ms */\n", reference));
    propose(p, "up-to 64=2ms fake: above 64=125us");
    optimize(p, NULL);
    const struct graph_decisions all = decisions(p);
    const struct graph_decision *d = dispatched(&all);
    assert_non_null(d);
    assert_has(d->intent, "chooses by n: up to 256 as the reference, above as decision ");
    assert_string_equal(p->result.best.id, d->id);
    assert_true(fabs(p->result.best.log_ratio - log(8.0) / 2) < 0.01);
    assert_string_equal(d->uses, all.items[0].id);
}

/* Those of the one that is better alone, here the second. */
static void optimize__flags_differ__built_with_those_of_the_better_one(void **state)
{
    struct place *p = *state;
    p->opts.budget = 3;
    propose_with(p, "up-to 64=250us", "-O2");
    propose(p, "time=500us fake: above 64=125us");
    optimize(p, NULL);
    assert_true(p->result.has_win);
    assert_string_equal(p->result.best.step, "dispatch");
    assert_string_equal(p->result.best.flags, "-O3");
    assert_has(p->result.best.intent, "; built with the flags of the second");
    assert_has(p->result.dispatch, "dispatch by n at 256: 1.41x over the better one alone; ");
}

static void optimize__one_is_better_everywhere__says_why_none_chooses(void **state)
{
    struct place *p = *state;
    p->opts.budget = 3;
    propose(p, "time=250us");
    propose(p, "time=500us");
    propose(p, "time=400us");
    optimize(p, NULL);
    const struct graph_decisions all = decisions(p);
    assert_null(dispatched(&all));
    assert_int_equal(p->result.evaluations, 3);
    assert_has(p->result.dispatch, "no dispatch by a size: ");
}

/* The search has ended by itself: one more is judged, and the reason stays. */
static void optimize__the_proposer_fails__one_more_that_chooses(void **state)
{
    enum { FAILURES = 5 };
    struct place *p = *state;
    propose_both(p);
    p->opts.budget = 9;
    for (int i = 0; i < 2 * FAILURES; i++) /* each is asked to repair its reply */
        say(p, "no JSON");
    optimize(p, NULL);
    const struct graph_decisions all = decisions(p);
    assert_int_equal(all.count, 2 + FAILURES + 1);
    assert_string_equal(p->result.end_reason, "the proposer failed five times in turn");
    assert_string_equal(all.items[all.count - 1].step, "dispatch");
    assert_string_equal(p->result.best.id, all.items[all.count - 1].id);
}

/* With one case there is no size to choose by, and nothing to say. */
static void optimize__one_case__is_not_asked(void **state)
{
    struct place *p = *state;
    write_text(&p->arena, p->opts.task_path, "task.yaml", task_yaml);
    p->opts.budget = 2;
    propose(p, "time=500us");
    propose(p, "time=400us");
    optimize(p, NULL);
    assert_int_equal(p->result.evaluations, 2);
    assert_null(p->result.dispatch);
}

/* The texts do not go together. */
static void optimize__a_pragma_would_be_of_both__says_so(void **state)
{
    struct place *p = *state;
    p->opts.budget = 3;
    propose(p, "up-to 64=250us */\n#pragma GCC optimize(\"O2\")\n/*");
    propose(p, "time=500us fake: above 64=125us");
    propose(p, "time=400us");
    optimize(p, NULL);
    assert_has(p->result.dispatch, "do not go into one text: a pragma outside of functions");
}

static void resume__killed_before_its_verdict__judged_once_and_wins(void **state)
{
    struct place *p = *state;
    propose_both(p);
    optimize(p, NULL);
    cut_before(p, "outcome", 3);
    resume(p, NULL);
    assert_won(p);
}

/* The sentence on it is not lost with the process that judged it. */
static void resume__killed_before_its_finding__is_noted_then(void **state)
{
    struct place *p = *state;
    propose_both(p);
    optimize(p, NULL);
    cut_at(p, "\"bottleneck\":\"dispatch\"", 1);
    resume(p, NULL);
    assert_won(p);
}

static void replay__a_run_with_one_that_chooses__is_equal(void **state)
{
    struct place *p = *state;
    struct exact_replay exact;
    propose_both(p);
    optimize(p, NULL);
    const struct optimize_result run = p->result;
    stop_peer(p);
    if (!simulate_exactly(p->opts.memory_dir, run.run_id, &p->arena, &exact, &p->err))
        fail_msg("%s", p->err.message);
    assert_string_equal(exact.difference, "");
    assert_int_equal(exact.evaluations, 3);
    struct optimize_opts opts = p->opts;
    opts.proposer = "replay:last";
    opts.base_url = NULL;
    if (!engine_optimize(&opts, NULL, &p->arena, &p->result, &p->err))
        fail_msg("%s (%s)", p->err.message, p->err.hint);
    assert_int_equal(p->result.replayed_decisions, 3);
    assert_string_equal(p->result.dispatch, run.dispatch);
    assert_won(p);
}

/* It begins with the one that chooses and with the two it is made of, and makes none again. */
static void optimize__again_after_it_won__begins_with_it_and_its_parts(void **state)
{
    struct place *p = *state;
    propose_both(p);
    for (int i = 0; i < 2; i++)
        propose(p, i == 0 ? "time=900us" : "time=901us");
    optimize(p, NULL);
    const struct graph_decisions first = decisions(p);
    p->opts.budget = 5;
    if (!engine_optimize(&p->opts, NULL, &p->arena, &p->result, &p->err))
        fail_msg("%s (%s)", p->err.message, p->err.hint);
    const struct graph_decisions all = decisions(p);
    assert_int_equal(all.count, 5);
    assert_string_equal(all.items[0].derived_from, first.items[2].id);
    assert_string_equal(all.items[0].moves, "dispatch");
    assert_string_equal(all.items[0].uses, first.items[2].uses);
    assert_string_equal(all.items[1].derived_from, first.items[0].id);
    assert_string_equal(all.items[2].derived_from, first.items[1].id);
    assert_null(dispatched(&all));
    assert_true(p->result.has_win);
    assert_string_equal(p->result.best.id, all.items[0].id);
}

/* What a model wrote has no moves to go on from: the search does not ask for any. */
static void
optimize__offline_after_it_won__begins_with_it_and_goes_on_from_the_reference(void **state)
{
    struct place *p = *state;
    propose_both(p);
    optimize(p, NULL);
    p->opts.proposer = "offline";
    p->opts.base_url = NULL;
    if (!engine_optimize(&p->opts, NULL, &p->arena, &p->result, &p->err))
        fail_msg("%s (%s)", p->err.message, p->err.hint);
    const struct graph_decisions all = decisions(p);
    assert_true(all.count >= 3);
    assert_string_equal(all.items[0].moves, "dispatch");
    for (size_t i = 1; i < all.count; i++)
        assert_string_not_equal(all.items[i].parent, all.items[0].id);
    assert_string_equal(p->result.best.id, all.items[0].id);
    struct exact_replay exact;
    if (!simulate_exactly(p->opts.memory_dir, p->result.run_id, &p->arena, &exact, &p->err))
        fail_msg("%s", p->err.message);
    assert_string_equal(exact.difference, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TWO_CASES(optimize__each_wins_at_its_sizes__one_that_chooses_wins),
        TWO_CASES(optimize__the_reference_is_the_better_at_small_sizes__is_one_of_the_two),
        TWO_CASES(optimize__flags_differ__built_with_those_of_the_better_one),
        TWO_CASES(optimize__one_is_better_everywhere__says_why_none_chooses),
        TWO_CASES(optimize__the_proposer_fails__one_more_that_chooses),
        TWO_CASES(optimize__one_case__is_not_asked),
        TWO_CASES(optimize__a_pragma_would_be_of_both__says_so),
        TWO_CASES(resume__killed_before_its_verdict__judged_once_and_wins),
        TWO_CASES(resume__killed_before_its_finding__is_noted_then),
        TWO_CASES(replay__a_run_with_one_that_chooses__is_equal),
        TWO_CASES(optimize__again_after_it_won__begins_with_it_and_its_parts),
        TWO_CASES(optimize__offline_after_it_won__begins_with_it_and_goes_on_from_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
