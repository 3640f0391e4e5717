/* Candidates that come to machine code of the same run: they take nothing from the budget, a
 * bounded number in turn, and a run that was interrupted goes on as if it had not been. No flag
 * changes the code here. */
#include "engine_place.h"

#include "engine/engine.h"
#include "engine/internal.h"
#include "engine/simulate.h"
#include "graph/graph.h"

struct place {
    struct arena arena;
    char *dir;
    const char *task;
    struct err err;
};

enum { BUDGET = 9 };

static const char of_sources[] = "#include <stdint.h>\n"
                                 "void scale2(const real *x, real *y, int64_t n)\n"
                                 "{\n"
                                 "    for (int64_t i = 0; i < n; i++)\n"
                                 "        y[i] = 2 * x[i];\n"
                                 "}\n"
                                 "/* fake: time=100us fake: sources */\n";

/* Nothing that moves on loops understand: few sources come of it, and most draws are of flags. */
static const char of_few_sources[] = "#include <stdint.h>\n"
                                     "void scale2(const real *x, real *y, int64_t n)\n"
                                     "{\n"
                                     "    int64_t i = 0;\n"
                                     "    while (i < n) {\n"
                                     "        y[i] = 2 * x[i];\n"
                                     "        i++;\n"
                                     "    }\n"
                                     "}\n"
                                     "/* fake: time=100us fake: sources */\n";

static int set_up(void **state)
{
    static struct place place;
    place = (struct place){0};
    *state = &place;
    if (!os_make_temp_dir("kope-repeat", &place.arena, &place.dir, &place.err))
        return -1;
    place.task = write_task(&place.arena, place.dir);
    write_text(&place.arena, place.task, "reference.c", of_sources);
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;
    const bool ok = os_remove_tree(p->dir, &p->err);
    os_interrupt_set(false);
    arena_free(&p->arena);
    return ok ? 0 : -1;
}

static struct optimize_opts opts_of(struct place *p, const char *memory)
{
    return (struct optimize_opts){.task_path = p->task,
                                  .memory_dir = os_path_join(&p->arena, p->dir, memory),
                                  .target = "fake",
                                  .policy = "mcts",
                                  .proposer = "offline",
                                  .budget = BUDGET,
                                  .seed = 5,
                                  .has_seed = true};
}

static struct optimize_result optimize(struct place *p, const char *memory,
                                       const struct observer *observer)
{
    const struct optimize_opts opts = opts_of(p, memory);
    struct optimize_result result;
    if (!engine_optimize(&opts, observer, &p->arena, &result, &p->err))
        fail_msg("%s (%s)", p->err.message, p->err.hint);
    return result;
}

static struct graph_decisions decisions(struct place *p, const char *memory)
{
    CLEANUP(memory_close) struct memory m = {0};
    struct graph_run run;
    struct graph_decisions all = {0};
    if (!memory_open(opts_of(p, memory).memory_dir, false, &p->arena, &m, &p->err) ||
        !graph_find_run(m.graph, "last", &p->arena, &run, &p->err) ||
        !graph_run_decisions(m.graph, run.id, &p->arena, &all, &p->err))
        fail_msg("%s", p->err.message);
    return all;
}

static bool is_repeat(const struct graph_decision *d)
{
    return str_equal(d->mechanism, VERDICT_BY_REPEAT);
}

static bool has_code_before(const struct graph_decisions *all, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (str_equal(all->items[i].code_id, all->items[at].code_id))
            return true;
    }
    return false;
}

static void optimize__flags_change_no_code__repeats_are_free_in_turn_at_most_eight(void **state)
{
    enum { MOST_IN_TURN = 8 };
    struct place *p = *state;
    write_text(&p->arena, p->task, "reference.c", of_few_sources);
    const struct optimize_result result = optimize(p, "memory", NULL);
    const struct graph_decisions all = decisions(p, "memory");
    int64_t repeats = 0;
    int64_t paid_repeats = 0;
    int in_turn = 0;
    for (size_t i = 0; i < all.count; i++) {
        assert_true(all.items[i].has_outcome);
        if (!is_repeat(&all.items[i])) {
            /* Known code is paid for only where eight before it were not. */
            assert_true(!has_code_before(&all, i) || in_turn == MOST_IN_TURN);
            paid_repeats += has_code_before(&all, i);
            in_turn = 0;
            continue;
        }
        assert_true(has_code_before(&all, i));
        assert_non_null(strstr(all.items[i].evidence, "the same machine code as decision "));
        assert_true(++in_turn <= MOST_IN_TURN);
        repeats++;
    }
    assert_string_equal(result.end_reason, "budget");
    assert_int_equal(result.evaluations, BUDGET);
    assert_int_equal(result.repeats, repeats);
    assert_int_equal(repeats + result.evaluations, all.count);
    assert_true(repeats > 0);
    assert_true(paid_repeats > 0);
}

struct seen {
    int repeats, lost_races;
};

static void look(void *context, const struct progress *progress)
{
    struct seen *seen = context;
    if (progress->kind != PROGRESS_JUDGED ||
        !str_equal(progress->verdict->mechanism, VERDICT_BY_REPEAT))
        return;
    assert_true(progress->verdict->from_record);
    seen->repeats++;
    seen->lost_races += strstr(progress->verdict->evidence, "clearly slower") != NULL;
}

static void take_two_cases(struct place *p)
{
    write_text(&p->arena, p->task, "task.yaml",
               arena_printf(&p->arena,
                            "%scases:\n  - {n: 4096}\n  - {n: 512}\nheld_out:\n  - {n: 77}\n",
                            arena_strndup(&p->arena, task_yaml,
                                          (size_t)(strstr(task_yaml, "cases:") - task_yaml))));
}

static void optimize__code_lost_a_race_of_two_cases__not_measured_again(void **state)
{
    struct place *p = *state;
    struct seen seen = {0};
    const struct observer observer = {look, &seen};
    take_two_cases(p);
    const struct optimize_result result = optimize(p, "memory", &observer);
    assert_int_equal(result.repeats, seen.repeats);
    assert_true(seen.lost_races > 0);
}

static void optimize__repeats__replayed_as_recorded(void **state)
{
    struct place *p = *state;
    const struct optimize_result result = optimize(p, "memory", NULL);
    struct exact_replay exact;
    if (!simulate_exactly(opts_of(p, "memory").memory_dir, result.run_id, &p->arena, &exact,
                          &p->err))
        fail_msg("%s", p->err.message);
    assert_string_equal(exact.difference, "");
    assert_int_equal(exact.evaluations, result.evaluations);
}

/* Interrupts when so many were judged, of which the last is a repeat in the middle of several. */
static void stop_after(void *context, const struct progress *progress)
{
    int *left = context;
    if (progress->kind == PROGRESS_JUDGED && --*left == 0)
        os_interrupt_set(true);
}

static void check_resume_among_repeats(struct place *p)
{
    const struct optimize_result whole = optimize(p, "memory", NULL);
    const struct graph_decisions wanted = decisions(p, "memory");
    int left = 0;
    while ((size_t)left + 2 < wanted.count &&
           !(is_repeat(&wanted.items[left]) && is_repeat(&wanted.items[left + 1])))
        left++;
    assert_true(is_repeat(&wanted.items[left]));
    left++;
    const struct observer observer = {stop_after, &left};
    assert_string_equal(optimize(p, "other", &observer).end_reason, "interrupted");
    os_interrupt_set(false);
    const struct optimize_opts opts = opts_of(p, "other");
    struct optimize_result resumed;
    if (!engine_resume("last", &opts, NULL, &p->arena, &resumed, &p->err))
        fail_msg("%s", p->err.message);
    const struct graph_decisions got = decisions(p, "other");
    assert_int_equal(resumed.evaluations, whole.evaluations);
    assert_int_equal(resumed.repeats, whole.repeats);
    assert_int_equal(got.count, wanted.count);
    for (size_t i = 0; i < got.count; i++) {
        assert_string_equal(got.items[i].recipe, wanted.items[i].recipe);
        assert_string_equal(got.items[i].mechanism, wanted.items[i].mechanism);
    }
}

static void resume__interrupted_among_repeats__the_same_decisions(void **state)
{
    check_resume_among_repeats(*state);
}

/* What lost a race is measured again there, and loses again: it is a repeat as before. */
static void resume__interrupted_among_lost_races__the_same_decisions(void **state)
{
    take_two_cases(*state);
    check_resume_among_repeats(*state);
}

enum { CASES = 3 };

/* What repeat_mark says of a verdict on code "c" with so many cases, after one with others. */
static bool is_marked(bool was_whole, size_t cases, bool from_record)
{
    static const struct task task = {.case_count = CASES + 1, .cases[CASES] = {.held_out = true}};
    struct run_node nodes[] = {
        {.code_id = ""},
        {.code_id = "c", .decision_id = "a race", .is_timed = true},
        {.code_id = "c", .decision_id = "the later", .is_timed = true, .is_whole = was_whole}};
    CLEANUP(arena_free) struct arena arena = {0};
    const struct run run = {.opts = {.proposer = "offline"},
                            .task = &task,
                            .nodes = nodes,
                            .node_count = sizeof nodes / sizeof *nodes};
    struct verdict verdict = {.kind = VERDICT_TIMED,
                              .mechanism = "",
                              .evidence = "",
                              .code_id = {"c"},
                              .case_count = cases,
                              .from_record = from_record,
                              .is_win = cases == CASES};
    repeat_mark(&run, &arena, &verdict);
    const bool marked = str_equal(verdict.mechanism, VERDICT_BY_REPEAT);
    if (marked)
        assert_non_null(strstr(verdict.evidence, was_whole ? "the later" : "a race"));
    return marked;
}

/* It lost to what then was not confirmed: measured anew it may win. */
static void repeat_mark__lost_a_race_and_is_measured_anew__is_no_repeat(void **state)
{
    (void)state;
    assert_false(is_marked(false, CASES, false));
    assert_true(is_marked(false, 1, false)); /* one more race lost, in a process that forgot it */
    assert_true(is_marked(false, 1, true));
    assert_true(is_marked(true, CASES, false)); /* a confirmation that failed is not tried again */
    assert_true(is_marked(true, CASES, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeat_mark__lost_a_race_and_is_measured_anew__is_no_repeat),
        cmocka_unit_test_setup_teardown(
            optimize__flags_change_no_code__repeats_are_free_in_turn_at_most_eight, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(optimize__code_lost_a_race_of_two_cases__not_measured_again,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(optimize__repeats__replayed_as_recorded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(resume__interrupted_among_repeats__the_same_decisions,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(resume__interrupted_among_lost_races__the_same_decisions,
                                        set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
