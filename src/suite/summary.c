#include "suite/internal.h"

#include "base/str.h"
#include "os/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEAR_SHARE 0.95

/* The runs of every arm for one task and seed. */
struct pair {
    size_t task;
    int64_t seed;
    const struct suite_result **runs; /* by arm */
};

struct table {
    const struct suite_plan *plan;
    const struct suite_results *results;
    struct arena *arena;
    const char **tasks;
    const char **families;
    double *best; /* by task: log-ratio */
    size_t task_count;
    struct pair *pairs;
    size_t pair_count;
    int64_t budget;
};

static double last_of(const struct suite_result *r)
{
    return r->evaluations > 0 ? r->curve[r->evaluations - 1] : 0.0;
}

static size_t task_number(struct table *t, const struct suite_result *r)
{
    for (size_t i = 0; i < t->task_count; i++) {
        if (str_equal(t->tasks[i], r->task))
            return i;
    }
    t->tasks[t->task_count] = r->task;
    t->families[t->task_count] = r->family;
    return t->task_count++;
}

/* The best that any run has confirmed, measured anew once it had won: the highest of all that was
 * measured is mostly luck, and nothing repeats it. Where nothing was confirmed, that is all there
 * is; and a confirmation can be lucky, too: no more than what was found. */
static double *best_of_tasks(struct table *t)
{
    const size_t count = t->results->count;
    double *found = arena_array(t->arena, count + 1, sizeof *found);
    double *confirmed = arena_array(t->arena, count + 1, sizeof *confirmed);
    for (size_t i = 0; i < count; i++) {
        const struct suite_result *r = &t->results->items[i];
        const size_t task = task_number(t, r);
        found[task] = fmax(found[task], last_of(r));
        if (r->has_win)
            confirmed[task] = fmax(confirmed[task], r->log_ratio);
    }
    for (size_t task = 0; task < t->task_count; task++)
        confirmed[task] = confirmed[task] > 0.0 ? fmin(confirmed[task], found[task]) : found[task];
    return confirmed;
}

/* What is compared are pairs that every arm has. */
static void find_pairs(struct table *t)
{
    const size_t count = t->results->count;
    t->tasks = arena_array(t->arena, count + 1, sizeof *t->tasks);
    t->families = arena_array(t->arena, count + 1, sizeof *t->families);
    t->best = best_of_tasks(t);
    t->pairs = arena_array(t->arena, count + 1, sizeof *t->pairs);
    for (size_t i = 0; i < count; i++) {
        const struct suite_result *r = &t->results->items[i];
        const size_t task = task_number(t, r);
        if (!str_equal(r->arm, t->plan->arms[0].name))
            continue;
        struct pair pair = {.task = task,
                            .seed = r->seed,
                            .runs = arena_array(t->arena, t->plan->arm_count, sizeof *pair.runs)};
        bool is_whole = true;
        for (size_t a = 0; a < t->plan->arm_count; a++) {
            pair.runs[a] = results_find(t->results, t->plan->arms[a].name, r->task, r->seed);
            is_whole = is_whole && pair.runs[a];
        }
        if (!is_whole)
            continue;
        for (size_t a = 0; a < t->plan->arm_count; a++) {
            if (pair.runs[a]->evaluations > t->budget)
                t->budget = pair.runs[a]->evaluations;
        }
        t->pairs[t->pair_count++] = pair;
    }
}

static double log_evaluations(const struct table *t, const struct pair *pair, size_t arm,
                              bool *reached)
{
    const struct suite_result *r = pair->runs[arm];
    int64_t i = 0;
    const double best = t->best[pair->task];
    /* To have found nothing is not to be near to a gain, however small that is. */
    while (i < r->evaluations &&
           (r->curve[i] < best + log(NEAR_SHARE) || (best > 0.0 && r->curve[i] <= 0.0)))
        i++;
    *reached = i < r->evaluations;
    return log((double)(i + 1));
}

/* The mean of a number of each pair: first over the seeds of a task, then over the tasks. */
struct means {
    double *sums, *counts; /* by task */
};

static struct means means_begin(const struct table *t)
{
    return (struct means){arena_array(t->arena, t->task_count + 1, sizeof(double)),
                          arena_array(t->arena, t->task_count + 1, sizeof(double))};
}

static void means_add(struct means *m, size_t task, double value)
{
    m->sums[task] += value;
    m->counts[task] += 1.0;
}

static double mean_of_task(const struct means *m, size_t task)
{
    return m->counts[task] > 0.0 ? m->sums[task] / m->counts[task] : (double)NAN;
}

/* exp of the mean, with its interval over tasks. */
static struct stats_interval means_end(const struct table *t, const struct means *m)
{
    double *values = arena_array(t->arena, t->task_count + 1, sizeof *values);
    size_t count = 0;
    for (size_t i = 0; i < t->task_count; i++) {
        if (m->counts[i] > 0.0)
            values[count++] = mean_of_task(m, i);
    }
    struct stats_interval out = stats_bootstrap_mean(values, count, 0.0, 0, 1);
    out.mid = exp(out.mid);
    out.low = exp(out.low);
    out.high = exp(out.high);
    return out;
}

static const double *share_curve(const struct table *t, size_t arm)
{
    double *share = arena_array(t->arena, (size_t)t->budget + 1, sizeof *share);
    for (int64_t n = 0; n < t->budget; n++) {
        struct means m = means_begin(t);
        for (size_t i = 0; i < t->pair_count; i++) {
            const struct suite_result *r = t->pairs[i].runs[arm];
            const double value = r->evaluations == 0  ? 0.0
                                 : n < r->evaluations ? r->curve[n]
                                                      : last_of(r);
            means_add(&m, t->pairs[i].task, value - t->best[t->pairs[i].task]);
        }
        double sum = 0.0, count = 0.0;
        for (size_t i = 0; i < t->task_count; i++) {
            sum += m.counts[i] > 0.0 ? mean_of_task(&m, i) : 0.0;
            count += m.counts[i] > 0.0;
        }
        share[n] = exp(sum / fmax(1.0, count));
    }
    return share;
}

static void fill_tasks(const struct table *t, size_t arm, const struct means *evaluations,
                       const struct means *speedups, struct suite_task_result *tasks)
{
    for (size_t i = 0; i < t->task_count; i++) {
        tasks[i].evaluations[arm] = exp(mean_of_task(evaluations, i));
        tasks[i].speedups[arm] = exp(mean_of_task(speedups, i));
    }
}

static struct suite_arm_result summarise_arm(const struct table *t, size_t arm,
                                             struct suite_task_result *tasks)
{
    struct suite_arm_result out = {.name = t->plan->arms[arm].name, .runs = (int64_t)t->pair_count};
    struct means evaluations = means_begin(t), speedups = means_begin(t), fewer = means_begin(t),
                 faster = means_begin(t);
    for (size_t i = 0; i < t->pair_count; i++) {
        const struct pair *pair = &t->pairs[i];
        const struct suite_result *r = pair->runs[arm];
        bool reached = false, first_reached = false;
        const double to = log_evaluations(t, pair, arm, &reached);
        means_add(&evaluations, pair->task, to);
        means_add(&fewer, pair->task, log_evaluations(t, pair, 0, &first_reached) - to);
        means_add(&speedups, pair->task, r->log_ratio);
        means_add(&faster, pair->task, r->log_ratio - pair->runs[0]->log_ratio);
        out.reached += reached;
        out.wins += r->has_win;
        out.seconds += r->seconds;
        out.tokens += r->tokens;
    }
    out.evaluations = means_end(t, &evaluations);
    out.speedup = means_end(t, &speedups);
    out.fewer = means_end(t, &fewer);
    out.faster = means_end(t, &faster);
    out.share = share_curve(t, arm);
    fill_tasks(t, arm, &evaluations, &speedups, tasks);
    return out;
}

static int64_t count_seeds(const struct table *t)
{
    int64_t seeds = 0;
    for (size_t i = 0; i < t->pair_count; i++) {
        bool is_new = true;
        for (size_t k = 0; k < i; k++)
            is_new = is_new && t->pairs[k].seed != t->pairs[i].seed;
        seeds += is_new;
    }
    return seeds;
}

static void summarise(struct table *t, struct suite_summary *out)
{
    struct suite_task_result *tasks = arena_array(t->arena, t->task_count + 1, sizeof *tasks);
    struct suite_arm_result *arms = arena_array(t->arena, t->plan->arm_count, sizeof *arms);
    for (size_t i = 0; i < t->task_count; i++)
        tasks[i] = (struct suite_task_result){
            .name = t->tasks[i],
            .family = t->families[i],
            .best = exp(t->best[i]),
            .evaluations = arena_array(t->arena, t->plan->arm_count, sizeof(double)),
            .speedups = arena_array(t->arena, t->plan->arm_count, sizeof(double))};
    for (size_t a = 0; a < t->plan->arm_count; a++)
        arms[a] = summarise_arm(t, a, tasks);
    *out = (struct suite_summary){.arms = arms,
                                  .tasks = tasks,
                                  .arm_count = t->plan->arm_count,
                                  .task_count = t->task_count,
                                  .seeds = count_seeds(t),
                                  .budget = t->budget,
                                  .left_out = (int64_t)t->results->count -
                                              (int64_t)(t->pair_count * t->plan->arm_count)};
}

/* By seed, then task: lines stand in the order in which runs ended, which says nothing. */
static int by_seed_and_task(const void *a, const void *b)
{
    const struct suite_result *x = a, *y = b;
    if (x->seed != y->seed)
        return x->seed < y->seed ? -1 : 1;
    return strcmp(x->task, y->task);
}

bool suite_summarise(const char *results, struct arena *arena, struct suite_summary *out,
                     struct err *err)
{
    struct suite_plan plan;
    struct suite_results all;
    const char *arms = os_path_join(arena, results, "arms.yaml");
    if (!os_path_exists(arms)) {
        (void)err_set(err, ERR_NOT_FOUND, "there are no results of a suite in '%s'", results);
        return err_hint(err, "'kope suite run' makes them");
    }
    if (!suite_read_arms(arms, arena, &plan, err) || !results_read(results, arena, &all, err))
        return false;
    if (all.count > 0)
        qsort(all.items, all.count, sizeof *all.items, by_seed_and_task);
    struct table table = {.plan = &plan, .results = &all, .arena = arena};
    find_pairs(&table);
    if (table.pair_count == 0) {
        (void)err_set(err, ERR_NOT_FOUND, "no task has been run by every arm yet");
        return err_hint(err, "run 'kope suite run' again: it goes on");
    }
    summarise(&table, out);
    return true;
}
