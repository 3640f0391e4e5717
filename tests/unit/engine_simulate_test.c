/* Policies on recorded runs: a run comes out as it was under its own policy, seed and budget, and
 * what the record does not hold is said. Runs are of the fake target: scripted times, no noise. */
#include "base/str.h"
#include "engine/engine.h"
#include "engine/simulate.h"
#include "journal/event.h"
#include "os/file.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define LANDSCAPE KOPE_SOURCE_DIR "/tests/cli/data/landscape"

struct place {
    struct arena arena;
    char *dir;
    struct err err;
};

static int set_up(void **state)
{
    static struct place place;
    place = (struct place){0};
    *state = &place;
    return os_make_temp_dir("kope-simulate", &place.arena, &place.dir, &place.err) ? 0 : -1;
}

static int tear_down(void **state)
{
    struct place *p = *state;
    const bool ok = os_remove_tree(p->dir, &p->err);
    arena_free(&p->arena);
    return ok ? 0 : -1;
}

static struct optimize_result run(struct place *p, const char *policy, uint64_t seed,
                                  int64_t budget, bool fresh)
{
    struct optimize_result result;
    const struct optimize_opts opts = {.task_path = LANDSCAPE,
                                       .memory_dir = p->dir,
                                       .target = "fake",
                                       .policy = policy,
                                       .budget = budget,
                                       .seed = seed,
                                       .has_seed = true,
                                       .fresh = fresh};
    if (!engine_optimize(&opts, NULL, &p->arena, &result, &p->err))
        fail_msg("%s", p->err.message);
    return result;
}

static struct exact_replay replay(struct place *p, const char *id)
{
    struct exact_replay out;
    if (!simulate_exactly(p->dir, id, &p->arena, &out, &p->err))
        fail_msg("%s", p->err.message);
    return out;
}

static void simulate_exactly__each_policy__as_recorded(void **state)
{
    struct place *p = *state;
    static const char *const policies[] = {"mcts",   "resample", "adaptive", "beam",
                                           "beam:2", "greedy",   "random"};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        /* The later ones begin with what the earlier ones left, and with what these taught. */
        const struct optimize_result result = run(p, policies[i], 3 + i, 9, i < 2);
        const struct exact_replay exact = replay(p, result.run_id);
        assert_string_equal(exact.difference, "");
        assert_true(exact.is_same);
        assert_int_equal(exact.unanswered, 0);
        assert_string_equal(exact.policy, policies[i]);
        assert_int_equal(exact.evaluations, result.evaluations);
        assert_true(result.has_win);
        assert_string_equal(exact.best_decision, result.best.id);
        assert_true(fabs(exact.best_log_ratio - result.best.log_ratio) < 1e-12);
    }
}

/* --- records by hand -------------------------------------------------------------------------- */

static const char *append(struct place *p, struct journal *journal, const char *kind,
                          struct buf *body)
{
    struct hash_id id;
    assert_true(journal_append(journal, kind, body, &id, &p->err));
    buf_free(body);
    return arena_strdup(&p->arena, id.text);
}

static const char *append_run(struct place *p, struct journal *journal, const char *policy)
{
    struct buf body = {0};
    event_write_run(&(struct run_event){.task_id = "t",
                                        .target_id = "m",
                                        .policy = policy,
                                        .proposer = "offline",
                                        .seed = 4,
                                        .budget = 3},
                    &body);
    return append(p, journal, EVENT_RUN, &body);
}

static const char *append_decision(struct place *p, struct journal *journal, const char *run_id,
                                   const char *parent, int64_t sequence, const char *step,
                                   const char *candidate, double log_ratio)
{
    struct buf body = {0};
    event_write_decision(&(struct decision_event){.run_id = run_id,
                                                  .parent = parent,
                                                  .sequence = sequence,
                                                  .step = step,
                                                  .proposer = "offline",
                                                  .candidate_id = candidate},
                         &body);
    const char *id = append(p, journal, EVENT_DECISION, &body);
    struct case_result cases[] = {{.name = "n=1", .weight = 1.0, .log_ratio = log_ratio}};
    event_write_outcome(&(struct outcome_event){.run_id = run_id,
                                                .decision_id = id,
                                                .target_id = "m",
                                                .task_id = "t",
                                                .verdict = {.kind = VERDICT_TIMED,
                                                            .mechanism = "",
                                                            .evidence = "",
                                                            .log_ratio = log_ratio,
                                                            .log_low = log_ratio - 0.02,
                                                            .log_high = log_ratio + 0.02,
                                                            .is_win = log_ratio > 0,
                                                            .cases = cases,
                                                            .case_count = 1}},
                        &body);
    (void)append(p, journal, EVENT_OUTCOME, &body);
    return id;
}

static struct journal *open_journal(struct place *p)
{
    struct journal *journal = NULL;
    struct journal_recovery recovery;
    assert_true(journal_open(p->dir, true, &journal, &recovery, &p->err));
    return journal;
}

/* Of all ways that a second decision could have come about, the search chose one. */
static void simulate_exactly__another_order__named(void **state)
{
    struct place *p = *state;
    struct journal *journal = open_journal(p);
    const char *runs[4];
    for (int i = 0; i < 4; i++) {
        runs[i] = append_run(p, journal, "mcts");
        const char *a = append_decision(p, journal, runs[i], "", 1, "large", "a", 0.1);
        (void)append_decision(p, journal, runs[i], i / 2 == 0 ? "" : a, 2,
                              i % 2 == 0 ? "large" : "small", "b", 0.2);
    }
    journal_close(&journal);
    int same = 0, at_once = 0;
    for (int i = 0; i < 4; i++) {
        const struct exact_replay exact = replay(p, runs[i]);
        same += exact.is_same;
        at_once += exact.is_same && exact.unanswered == 0;
        assert_int_equal(exact.is_same, exact.difference[0] == '\0');
    }
    assert_true(same <= 2);       /* of the size of step that it asked for */
    assert_int_equal(at_once, 1); /* elsewhere only after asks that came to nothing */
}

static const struct simulated_task *simulate_one(struct place *p, const struct simulate_opts *more,
                                                 const char *policy)
{
    const struct simulated_task *tasks = NULL;
    size_t count = 0;
    struct simulate_opts opts = *more;
    opts.memory_dir = p->dir;
    opts.policies = &policy;
    opts.policy_count = 1;
    if (!simulate(&opts, &p->arena, &tasks, &count, &p->err))
        fail_msg("%s", p->err.message);
    assert_int_equal(count, 1);
    return tasks;
}

/* Two runs found the same candidate 'b', and measured it differently; only the second went on. */
static void simulate__two_runs__one_record_of_both(void **state)
{
    struct place *p = *state;
    struct journal *journal = open_journal(p);
    const char *first = append_run(p, journal, "mcts"), *second = append_run(p, journal, "random");
    (void)append_decision(p, journal, first, "", 1, "large", "a", 0.1);
    (void)append_decision(p, journal, first, "", 2, "large", "b", 0.3);
    const char *b = append_decision(p, journal, second, "", 1, "large", "b", 0.4);
    const char *c = append_decision(p, journal, second, b, 2, "small", "c", 0.9);
    (void)append_decision(p, journal, second, c, 3, "small", "d", -0.5);
    (void)append_run(p, journal, "driven"); /* by a client: nobody's policy */
    journal_close(&journal);
    const struct simulated_task *task =
        simulate_one(p, &(struct simulate_opts){.seeds = 40, .budget = 10}, "greedy");
    assert_int_equal(task->runs, 2);
    assert_int_equal(task->decisions, 5);
    assert_int_equal(task->states, 5); /* a, b, c, d and the reference */
    assert_true(fabs(task->best_log_ratio - 0.9) < 1e-12);
    const struct simulated_policy *greedy = &task->policies[0];
    assert_int_equal(greedy->reached_95, 40);
    assert_int_equal(greedy->spent, 40); /* four candidates are all there is */
    assert_true(greedy->to_95.low >= 2.0 && greedy->to_95.high <= 4.0);
    assert_true(fabs(greedy->best.mid - 0.9) < 1e-12);
    assert_true(greedy->coverage < 1.0);
    /* What never gets that far says so. */
    task = simulate_one(p, &(struct simulate_opts){.seeds = 40, .budget = 1}, "greedy");
    assert_int_equal(task->policies[0].reached_90, 0);
    assert_true(task->policies[0].to_90.mid > 1.0);
    /* One run alone knows nothing of the other. */
    task = simulate_one(p, &(struct simulate_opts){.run = first, .seeds = 5}, "greedy");
    assert_int_equal(task->decisions, 2);
    assert_true(fabs(task->best_log_ratio - 0.3) < 1e-12);
}

static void simulate__draws__spread_the_gains(void **state)
{
    struct place *p = *state;
    struct journal *journal = open_journal(p);
    const char *id = append_run(p, journal, "mcts");
    (void)append_decision(p, journal, id, "", 1, "large", "a", 0.5);
    journal_close(&journal);
    const struct simulated_task *task =
        simulate_one(p, &(struct simulate_opts){.seeds = 30}, "mcts");
    assert_true(task->policies[0].best.high - task->policies[0].best.low < 1e-12);
    task = simulate_one(p, &(struct simulate_opts){.seeds = 30, .draws = true}, "mcts");
    const struct stats_interval best = task->policies[0].best;
    assert_true(best.high - best.low > 1e-4 && best.low > 0.45 && best.high < 0.55);
}

static void simulate__nothing_to_replay__says_so(void **state)
{
    struct place *p = *state;
    const struct simulated_task *tasks = NULL;
    size_t count = 0;
    const char *policy = "mcts";
    struct exact_replay exact;
    struct journal *journal = open_journal(p);
    const char *driven = append_run(p, journal, "driven");
    journal_close(&journal);
    struct simulate_opts opts = {.memory_dir = p->dir, .policies = &policy, .policy_count = 1};
    assert_false(simulate(&opts, &p->arena, &tasks, &count, &p->err));
    assert_int_equal(p->err.kind, ERR_NOT_FOUND);
    assert_false(simulate_exactly(p->dir, driven, &p->arena, &exact, &p->err));
    assert_int_equal(p->err.kind, ERR_UNSUPPORTED);
    policy = "best";
    assert_false(simulate(&opts, &p->arena, &tasks, &count, &p->err));
    assert_int_equal(p->err.kind, ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(simulate_exactly__each_policy__as_recorded, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(simulate_exactly__another_order__named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(simulate__two_runs__one_record_of_both, set_up, tear_down),
        cmocka_unit_test_setup_teardown(simulate__draws__spread_the_gains, set_up, tear_down),
        cmocka_unit_test_setup_teardown(simulate__nothing_to_replay__says_so, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
