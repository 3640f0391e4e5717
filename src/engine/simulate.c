#include "engine/simulate.h"

#include "engine/internal.h"
#include "engine/record_tree.h"

#include "base/rng.h"
#include "base/str.h"
#include "base/vec.h"

#include <math.h>
#include <stdlib.h>

enum { DEFAULT_SEEDS = 20, MOST_RUNS = 100000 };
/* A 95 % interval is so many standard deviations wide. */
#define INTERVAL_SDS 3.92

/* One search on a record. */
struct simulation {
    const struct record_tree *tree;
    struct search *search;
    int64_t budget;
    bool is_exact; /* in the recorded order, each decision once; else in an order of the seed */
    bool draws;
    struct rng rng;
    double *keys;  /* of decisions: the order in which a state gives them */
    bool *is_used; /* decisions */
    bool *is_seen; /* states: what was tried is not proposed again */
    int *states;   /* of nodes */
    size_t node_count, node_capacity;
    int64_t asks, answers, other_steps, evaluations;
    double best;       /* log-ratio */
    int best_decision; /* -1 while the baseline stands */
    double *curve;     /* best log-ratio after so many evaluations, 0 .. budget; NULL: not kept */
    size_t told;       /* exact: so many came in the recorded order */
    int different;     /* exact: the decision that came in place of number `told`; -1 */
};

static void add_node(struct simulation *s, int state)
{
    s->states = vec_reserve_one(s->states, s->node_count, &s->node_capacity, sizeof *s->states);
    s->states[s->node_count++] = state;
}

static bool begin(struct simulation *s, const struct search_opts *opts, struct err *err)
{
    const size_t count = s->tree->count + 1;
    s->keys = calloc(count, sizeof *s->keys);
    s->is_used = calloc(count, sizeof *s->is_used);
    s->is_seen = calloc(s->tree->state_count, sizeof *s->is_seen);
    if (!s->keys || !s->is_used || !s->is_seen)
        BUG("engine: out of memory");
    s->rng = rng_seeded(opts->seed);
    for (size_t i = 0; i < s->tree->count; i++)
        s->keys[i] = s->is_exact ? (double)i : rng_uniform(&s->rng);
    s->best_decision = s->different = -1;
    add_node(s, RECORD_ROOT);
    return search_open(opts, &s->search, err);
}

static void end(struct simulation *s)
{
    search_close(&s->search);
    free(s->keys);
    free(s->is_used);
    free(s->is_seen);
    free(s->states);
}

/* A decision from `state` that is left, of that size of step or of the other; -1. */
static int find_decision(const struct simulation *s, int state, bool is_small)
{
    const struct record_tree *tree = s->tree;
    int found = -1;
    for (int i = tree->first_of_state[state]; i >= 0; i = tree->decisions[i].next_of_state) {
        const struct recorded_decision *d = &tree->decisions[i];
        if (s->is_used[i] || d->is_dispatch || (d->outcome.step == STEP_SMALL) != is_small)
            continue;
        if (!s->is_exact && d->is_judged && s->is_seen[d->to])
            continue;
        if (found < 0 || s->keys[i] < s->keys[found])
            found = i;
    }
    return found;
}

static void tell(struct simulation *s, int node, int decision)
{
    const struct recorded_decision *d = &s->tree->decisions[decision];
    struct search_outcome outcome = d->outcome;
    if (s->draws && isfinite(outcome.high - outcome.low))
        outcome.log_ratio += rng_normal(&s->rng) * (outcome.high - outcome.low) / INTERVAL_SDS;
    (void)search_tell(s->search, node, &outcome);
    add_node(s, d->to);
    s->is_used[decision] = true;
    s->is_seen[d->to] = true;
    s->evaluations += d->is_judged;
    if (d->counts && outcome.log_ratio > s->best) {
        s->best = outcome.log_ratio;
        s->best_decision = decision;
    }
    if (s->curve && d->is_judged)
        s->curve[s->evaluations] = s->best;
    if (s->different < 0 && s->told != (size_t)decision)
        s->different = decision;
    s->told += s->different < 0;
}

/* A run as it was goes on to its last decision: one that a rule refused costs no evaluation. */
static bool goes_on(const struct simulation *s)
{
    return s->is_exact ? s->told < s->tree->count : s->evaluations < s->budget;
}

/* What a run was given comes before it searches. */
static void tell_given(struct simulation *s)
{
    for (size_t i = 0; i < s->tree->count && goes_on(s); i++) {
        if (s->tree->decisions[i].is_given)
            tell(s, SEARCH_ROOT, (int)i);
    }
}

/* The other proposals of the same exchange are judged before the search is asked again. */
static void tell_siblings(struct simulation *s, int node, int first)
{
    const struct record_tree *tree = s->tree;
    const char *exchange = tree->decisions[first].decision->exchange_id;
    if (exchange[0] == '\0')
        return;
    for (int i = tree->decisions[first].next_of_state; i >= 0 && goes_on(s);
         i = tree->decisions[i].next_of_state) {
        if (!s->is_used[i] && str_equal(tree->decisions[i].decision->exchange_id, exchange))
            tell(s, node, i);
    }
}

/* One that chooses between two comes where the run made it; other orders have none. */
static void tell_dispatch(struct simulation *s)
{
    while (s->is_exact && goes_on(s) && s->tree->decisions[s->told].is_dispatch) {
        const int from = s->tree->decisions[s->told].from;
        size_t node = 0;
        while (node < s->node_count && s->states[node] != from)
            node++;
        if (node == s->node_count)
            return;
        tell(s, (int)node, (int)s->told);
    }
}

static void run_simulation(struct simulation *s, bool is_one_run)
{
    int node = SEARCH_ROOT;
    enum search_step step = STEP_SMALL;
    if (is_one_run)
        tell_given(s);
    tell_dispatch(s);
    while (goes_on(s) && !(s->is_exact && s->different >= 0) &&
           search_next(s->search, &node, &step)) {
        const int same = find_decision(s, s->states[node], step == STEP_SMALL);
        const int decision =
            same >= 0 || s->is_exact ? same : find_decision(s, s->states[node], step != STEP_SMALL);
        s->asks++;
        if (decision < 0) {
            search_tell_exhausted(s->search, node);
            continue;
        }
        s->answers++;
        s->other_steps += same < 0;
        tell(s, node, decision);
        tell_siblings(s, node, decision);
        tell_dispatch(s);
    }
}

/* --- many seeds ------------------------------------------------------------------------------- */

/* Evaluations until that share of the best recorded speedup; budget + 1 where never. */
static double evaluations_to(const double *curve, int64_t budget, double best, double share)
{
    for (int64_t i = 1; i <= budget; i++) {
        if (curve[i] >= best + log(share))
            return (double)i;
    }
    return (double)(budget + 1);
}

struct samples {
    double *to_90, *to_95, *best;
};

static bool simulate_seed(const struct record_tree *tree, const struct simulate_opts *opts,
                          const char *policy, int64_t seed, int64_t budget, double *curve,
                          struct simulation *s, struct err *err)
{
    *s = (struct simulation){.tree = tree, .budget = budget, .draws = opts->draws, .curve = curve};
    const struct search_opts search = {
        .policy = policy, .seed = (uint64_t)seed + 1, .prior = tree->prior};
    for (int64_t i = 0; i <= budget; i++)
        curve[i] = -(double)INFINITY;
    curve[0] = 0.0;
    const bool ok = begin(s, &search, err);
    if (ok)
        run_simulation(s, opts->run != NULL);
    for (int64_t i = 1; i <= budget; i++)
        curve[i] = fmax(curve[i], curve[i - 1]);
    end(s);
    return ok;
}

static bool simulate_policy(const struct record_tree *tree, const struct simulate_opts *opts,
                            const char *policy, int64_t seeds, int64_t budget, struct arena *arena,
                            struct simulated_policy *out, struct err *err)
{
    const size_t count = (size_t)seeds;
    struct samples samples = {arena_array(arena, count, sizeof(double)),
                              arena_array(arena, count, sizeof(double)),
                              arena_array(arena, count, sizeof(double))};
    double *curve = arena_array(arena, (size_t)budget + 1, sizeof *curve);
    struct simulated_policy result = {.policy = arena_strdup(arena, policy)};
    double asks = 0.0, answers = 0.0, other_steps = 0.0;
    for (size_t i = 0; i < count; i++) {
        struct simulation s;
        if (!simulate_seed(tree, opts, policy, (int64_t)i, budget, curve, &s, err))
            return false;
        samples.to_90[i] = evaluations_to(curve, budget, tree->best_log_ratio, 0.90);
        samples.to_95[i] = evaluations_to(curve, budget, tree->best_log_ratio, 0.95);
        samples.best[i] = curve[budget];
        result.reached_90 += samples.to_90[i] <= (double)budget;
        result.reached_95 += samples.to_95[i] <= (double)budget;
        result.spent += s.evaluations < budget;
        asks += (double)s.asks;
        answers += (double)s.answers;
        other_steps += (double)s.other_steps;
    }
    result.coverage = asks > 0.0 ? answers / asks : 1.0;
    result.other_step = answers > 0.0 ? other_steps / answers : 0.0;
    result.to_90 = stats_bootstrap_median(samples.to_90, NULL, count, 0.0, 0, 1);
    result.to_95 = stats_bootstrap_median(samples.to_95, NULL, count, 0.0, 0, 1);
    result.best = stats_bootstrap_median(samples.best, NULL, count, 0.0, 0, 1);
    *out = result;
    return true;
}

static bool simulate_task(struct graph *graph, const struct simulate_opts *opts,
                          const struct graph_run *const *runs, size_t run_count,
                          struct arena *arena, struct simulated_task *out, struct err *err)
{
    struct record_tree tree;
    if (!record_tree_load(graph, runs, run_count, arena, &tree, err))
        return false;
    *out = (struct simulated_task){
        .task_id = runs[0]->task_id,
        .task_name = runs[0]->task_name,
        .target_id = runs[0]->target_id,
        .runs = (int64_t)run_count,
        .decisions = (int64_t)tree.count,
        .states = (int64_t)tree.state_count,
        .best_log_ratio = tree.best_log_ratio,
        .seeds = opts->seeds > 0 ? opts->seeds : DEFAULT_SEEDS,
        .budget = opts->budget > 0 ? opts->budget : tree.budget,
    };
    struct simulated_policy *policies = arena_array(arena, opts->policy_count, sizeof *policies);
    for (size_t i = 0; i < opts->policy_count; i++) {
        if (!simulate_policy(&tree, opts, opts->policies[i], out->seeds, out->budget, arena,
                             &policies[i], err))
            return false;
    }
    out->policies = policies;
    return true;
}

static bool is_wanted(const struct graph_run *run, const char *task)
{
    struct err ignored;
    return search_check_policy(run->policy, &ignored) &&
           (!task || str_equal(run->task_name, task) || str_starts_with(run->task_id, task));
}

/* The runs of the task and machine of `runs[first]`, oldest first, that were not taken before. */
static size_t take_group(const struct graph_run *runs, size_t count, size_t first, const char *task,
                         bool *is_taken, const struct graph_run **out)
{
    size_t found = 0;
    for (size_t i = count; i-- > 0;) {
        if (is_taken[i] || !is_wanted(&runs[i], task) ||
            !str_equal(runs[i].task_id, runs[first].task_id) ||
            !str_equal(runs[i].target_id, runs[first].target_id))
            continue;
        is_taken[i] = true;
        out[found++] = &runs[i];
    }
    return found;
}

static bool simulate_all(struct graph *graph, const struct simulate_opts *opts, struct arena *arena,
                         struct simulated_task **tasks, size_t *task_count, struct err *err)
{
    const struct graph_run *runs = NULL;
    size_t count = 0;
    if (!graph_runs(graph, MOST_RUNS, arena, &runs, &count, err))
        return false;
    bool *is_taken = arena_array(arena, count + 1, sizeof *is_taken);
    const struct graph_run **group = arena_array(arena, count + 1, sizeof *group);
    *tasks = arena_array(arena, count + 1, sizeof **tasks);
    for (size_t i = 0; i < count; i++) {
        if (is_taken[i] || !is_wanted(&runs[i], opts->task))
            continue;
        const size_t size = take_group(runs, count, i, opts->task, is_taken, group);
        if (!simulate_task(graph, opts, group, size, arena, &(*tasks)[(*task_count)++], err))
            return false;
    }
    if (*task_count > 0)
        return true;
    (void)err_set(err, ERR_NOT_FOUND, "no run that a search policy drove is recorded%s%s%s",
                  opts->task ? " of task '" : "", opts->task ? opts->task : "",
                  opts->task ? "'" : "");
    return err_hint(err, "'kope runs' lists what there is");
}

static bool simulate_run(struct graph *graph, const struct simulate_opts *opts, struct arena *arena,
                         struct simulated_task **tasks, size_t *task_count, struct err *err)
{
    struct graph_run *run = arena_alloc(arena, sizeof *run);
    const struct graph_run *runs[1] = {run};
    if (!graph_find_run(graph, opts->run, arena, run, err))
        return false;
    *tasks = arena_alloc(arena, sizeof **tasks);
    *task_count = 1;
    return simulate_task(graph, opts, runs, 1, arena, *tasks, err);
}

bool simulate(const struct simulate_opts *opts, struct arena *arena,
              const struct simulated_task **out, size_t *out_count, struct err *err)
{
    CLEANUP(memory_close) struct memory memory = {0};
    struct simulated_task *tasks = NULL;
    size_t count = 0;
    for (size_t i = 0; i < opts->policy_count; i++) {
        if (!search_check_policy(opts->policies[i], err))
            return false;
    }
    if (!memory_open(opts->memory_dir, false, arena, &memory, err))
        return false;
    const bool ok = opts->run ? simulate_run(memory.graph, opts, arena, &tasks, &count, err)
                              : simulate_all(memory.graph, opts, arena, &tasks, &count, err);
    if (!ok)
        return false;
    *out = tasks;
    *out_count = count;
    return true;
}

/* --- as it was -------------------------------------------------------------------------------- */

/* What is not as it was recorded; "" where nothing. */
static const char *difference_of(const struct simulation *s, const struct graph_run *run,
                                 const char *best, struct arena *arena)
{
    const struct record_tree *tree = s->tree;
    if (s->different >= 0)
        return arena_printf(
            arena, "after %zu decisions the search asked for number %lld, not for number %lld",
            s->told, (long long)tree->decisions[s->different].decision->sequence,
            (long long)tree->decisions[s->told].decision->sequence);
    if (s->told < tree->count)
        return arena_printf(arena, "the search asked for none of what follows decision %zu of %zu",
                            s->told, tree->count);
    if (run->best_decision[0] != '\0' && !str_equal(run->best_decision, best))
        return arena_printf(arena, "the best is decision %.12s, it was %.12s", best,
                            run->best_decision);
    if (s->evaluations != run->evaluations)
        return arena_printf(arena, "%lld candidates were judged, %lld in the record",
                            (long long)s->evaluations, (long long)run->evaluations);
    return "";
}

static bool simulate_recorded(const struct record_tree *tree, const struct graph_run *run,
                              struct arena *arena, struct exact_replay *out, struct err *err)
{
    struct simulation s = {.tree = tree, .budget = tree->budget, .is_exact = true};
    const struct search_opts search = {
        .policy = run->policy, .seed = run->seed, .prior = tree->prior};
    if (!begin(&s, &search, err)) {
        end(&s);
        return false;
    }
    run_simulation(&s, true);
    const char *best = s.best_decision >= 0 ? tree->decisions[s.best_decision].decision->id : "";
    const char *difference = difference_of(&s, run, best, arena);
    *out = (struct exact_replay){.run_id = run->id,
                                 .task_name = run->task_name,
                                 .policy = run->policy,
                                 .seed = run->seed,
                                 .is_same = difference[0] == '\0',
                                 .difference = difference,
                                 .decisions = (int64_t)s.told,
                                 .unanswered = s.asks - s.answers,
                                 .best_decision = best,
                                 .best_log_ratio = s.best,
                                 .evaluations = s.evaluations};
    end(&s);
    return true;
}

bool simulate_exactly(const char *memory_dir, const char *which, struct arena *arena,
                      struct exact_replay *out, struct err *err)
{
    CLEANUP(memory_close) struct memory memory = {0};
    struct graph_run run;
    struct record_tree tree;
    struct err ignored;
    const struct graph_run *runs[1] = {&run};
    if (!memory_open(memory_dir, false, arena, &memory, err) ||
        !graph_find_run(memory.graph, which, arena, &run, err))
        return false;
    if (!search_check_policy(run.policy, &ignored))
        return err_set(err, ERR_UNSUPPORTED, "run %.12s was not driven by a search policy (%s)",
                       run.id, run.policy);
    return record_tree_load(memory.graph, runs, 1, arena, &tree, err) &&
           simulate_recorded(&tree, &run, arena, out, err);
}
