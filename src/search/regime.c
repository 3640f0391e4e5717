#include "search/regime.h"

#include "base/str.h"

#include <math.h>

#define LEAST_GAIN 0.0295588022415444  /* log of 1.03 */
#define OTHER_FLAGS 0.0657513775626804 /* log of 1.10 / 1.03: so much less is the promise */

/* A product of axes with its value in each case that counts. */
struct measure {
    size_t factors[REGIME_MAX_FACTORS];
    size_t factor_count;
    double values[TASK_MAX_CASES];
};

struct question {
    const struct task *task;
    const struct task_case *cases[TASK_MAX_CASES]; /* that are not held out */
    size_t case_count;
    double weight; /* of all of them */
    struct measure *measures;
    size_t measure_count;
    const struct case_result *(*results)[TASK_MAX_CASES]; /* by candidate and case */
    double best_log_ratio;
};

/* How far a pair came; the farthest says why there is no split. */
enum stage { NONE_TIMED, NONE_BETTER, TOO_LITTLE, OTHER_COMPILER, NOT_SEPARATED };

struct progress_of_pairs {
    enum stage stage;
    double gain; /* the largest that was too little */
};

/* --- sizes ------------------------------------------------------------------------------------ */

/* Does the axis only say how far rows lie apart? */
static bool is_pitch(const struct task *task, size_t axis)
{
    for (size_t i = 0; i < task->arg_count; i++) {
        if (task->args[i].has_ld && task->args[i].ld == axis)
            return true;
    }
    return false;
}

static bool varies(const struct question *q, size_t axis)
{
    for (size_t i = 1; i < q->case_count; i++) {
        if (q->cases[i]->axes[axis] != q->cases[0]->axes[axis])
            return true;
    }
    return false;
}

static void add_measure(struct question *q, const size_t *factors, size_t count)
{
    struct measure *m = &q->measures[q->measure_count++];
    m->factor_count = count;
    for (size_t f = 0; f < count; f++)
        m->factors[f] = factors[f];
    for (size_t c = 0; c < q->case_count; c++) {
        m->values[c] = 1.0;
        for (size_t f = 0; f < count; f++)
            m->values[c] *= (double)q->cases[c]->axes[factors[f]];
    }
}

/* Single axes first, then products of two, then of three. */
static void list_measures(struct question *q, struct arena *arena)
{
    size_t axes[TASK_MAX_AXES];
    size_t n = 0;
    for (size_t axis = 0; axis < q->task->axis_count; axis++) {
        if (varies(q, axis) && !is_pitch(q->task, axis))
            axes[n++] = axis;
    }
    q->measures = arena_array(arena, n + n * n + n * n * n + 1, sizeof *q->measures);
    for (size_t i = 0; i < n; i++)
        add_measure(q, (size_t[]){axes[i]}, 1);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++)
            add_measure(q, (size_t[]){axes[i], axes[j]}, 2);
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++) {
            for (size_t k = j + 1; k < n; k++)
                add_measure(q, (size_t[]){axes[i], axes[j], axes[k]}, 3);
        }
    }
}

/* --- pairs ------------------------------------------------------------------------------------ */

static const struct case_result *result_of(const struct regime_candidate *candidate,
                                           const char *name)
{
    for (size_t i = 0; i < candidate->case_count; i++) {
        if (!candidate->cases[i].held_out && str_equal(candidate->cases[i].name, name))
            return &candidate->cases[i];
    }
    return NULL;
}

/* 1: the first is clearly better in that case, -1: the second, 0: it is not clear. */
static int preference(const struct question *q, size_t a, size_t b, size_t c)
{
    const struct case_result *x = q->results[a][c];
    const struct case_result *y = q->results[b][c];
    return x->log_low > y->log_high ? 1 : y->log_low > x->log_high ? -1 : 0;
}

/* Is either of them clearly better somewhere? Then what the better of both would reach. */
static bool reach_of(const struct question *q, size_t a, size_t b, double *out)
{
    bool is_better[2] = {false, false};
    double sum = 0.0;
    for (size_t c = 0; c < q->case_count; c++) {
        const int sign = preference(q, a, b, c);
        is_better[0] = is_better[0] || sign > 0;
        is_better[1] = is_better[1] || sign < 0;
        sum += q->cases[c]->weight * fmax(q->results[a][c]->log_ratio, q->results[b][c]->log_ratio);
    }
    *out = sum / q->weight;
    return is_better[0] && is_better[1];
}

/* The largest value of a case that asks for `low` and the smallest of one that asks for `high`. */
static void gap_of(const struct question *q, const struct measure *m, size_t low, size_t high,
                   double *from, double *to)
{
    *from = -(double)INFINITY;
    *to = (double)INFINITY;
    for (size_t c = 0; c < q->case_count; c++) {
        const int sign = preference(q, low, high, c);
        if (sign > 0)
            *from = fmax(*from, m->values[c]);
        else if (sign < 0)
            *to = fmin(*to, m->values[c]);
    }
}

static double mean_of(const struct question *q, const struct measure *m, size_t low, size_t high,
                      double most)
{
    double sum = 0.0;
    for (size_t c = 0; c < q->case_count; c++)
        sum += q->cases[c]->weight * q->results[m->values[c] <= most ? low : high][c]->log_ratio;
    return sum / q->weight;
}

/* The simplest size that separates them with `low` on the smaller side; false where none does. */
static bool separate(const struct question *q, size_t low, size_t high, struct regime_split *out)
{
    double widest = 0.0;
    bool found = false;
    for (size_t i = 0; i < q->measure_count; i++) {
        const struct measure *m = &q->measures[i];
        double from = 0.0;
        double to = 0.0;
        gap_of(q, m, low, high, &from, &to);
        const double width = (to + 1.0) / (from + 1.0);
        const double most = floor(sqrt(from * to));
        const bool is_longer = found && m->factor_count > out->factor_count;
        if (!(from < to) || !(most < 0x1p62) || is_longer || !(width > widest))
            continue;
        found = true;
        widest = width;
        *out = (struct regime_split){.low = low,
                                     .high = high,
                                     .factor_count = m->factor_count,
                                     .most = (int64_t)most,
                                     .log_ratio = mean_of(q, m, low, high, most)};
        for (size_t f = 0; f < m->factor_count; f++)
            out->factors[f] = m->factors[f];
        out->gain = out->log_ratio - q->best_log_ratio;
    }
    return found;
}

static void came_to(struct progress_of_pairs *progress, enum stage stage, double gain)
{
    if (stage > progress->stage) {
        progress->stage = stage;
        progress->gain = gain;
    } else if (stage == progress->stage) {
        progress->gain = fmax(progress->gain, gain);
    }
}

/* What is taken from the gain of a pair, to be held against that of others. */
static double discount(const struct regime_candidate *candidates, size_t a, size_t b)
{
    return candidates[a].flags == candidates[b].flags ? 0.0 : OTHER_FLAGS;
}

/* A pair; true where it promises more than what `best` holds. */
static bool try_pair(const struct question *q, const struct regime_candidate *candidates, size_t a,
                     size_t b, struct progress_of_pairs *progress, struct regime_split *best)
{
    struct regime_split split = {0};
    double reach = 0.0;
    const double less = discount(candidates, a, b);
    const double least =
        fmax(LEAST_GAIN, best->gain - discount(candidates, best->low, best->high)) + less;
    if (!reach_of(q, a, b, &reach)) {
        came_to(progress, NONE_BETTER, 0.0);
        return false;
    }
    const double gain = reach - q->best_log_ratio;
    if (!(gain > least)) {
        came_to(progress, TOO_LITTLE, gain);
        return false;
    }
    if (candidates[a].compiler != candidates[b].compiler) {
        came_to(progress, OTHER_COMPILER, gain);
        return false;
    }
    if (!separate(q, a, b, &split) && !separate(q, b, a, &split)) {
        came_to(progress, NOT_SEPARATED, gain);
        return false;
    }
    if (!(split.gain > least)) {
        came_to(progress, TOO_LITTLE, split.gain);
        return false;
    }
    *best = split;
    return true;
}

static const char *reason_of(const struct progress_of_pairs *progress, struct arena *arena)
{
    switch (progress->stage) {
    case NONE_TIMED:
        return "there are no two candidates that were timed in every case";
    case NONE_BETTER:
        return "of no two candidates is each clearly better in a case";
    case TOO_LITTLE:
        return arena_printf(arena,
                            "the better of two candidates in each case is %.1f %% faster than the "
                            "best alone; 3 %% are asked for, 10 %% where their flags differ",
                            100.0 * (exp(fmax(progress->gain, 0.0)) - 1.0));
    case OTHER_COMPILER:
        return "candidates that are better in different cases were built by different compilers";
    case NOT_SEPARATED:
        break;
    }
    return "no size is smaller in all cases that ask for the one candidate than in all that ask "
           "for the other";
}

static bool open_question(const struct task *task, const struct regime_candidate *candidates,
                          size_t count, struct arena *arena, struct question *q)
{
    for (size_t i = 0; i < task->case_count; i++) {
        if (task->cases[i].held_out)
            continue;
        q->cases[q->case_count++] = &task->cases[i];
        q->weight += task->cases[i].weight;
    }
    if (q->case_count < 2 || !(q->weight > 0.0))
        return false;
    list_measures(q, arena);
    q->results = arena_array(arena, count + 1, sizeof *q->results);
    for (size_t i = 0; i < count; i++) {
        for (size_t c = 0; c < q->case_count; c++)
            q->results[i][c] = result_of(&candidates[i], q->cases[c]->name);
    }
    return true;
}

static bool is_whole(const struct question *q, size_t candidate)
{
    for (size_t c = 0; c < q->case_count; c++) {
        if (!q->results[candidate][c])
            return false;
    }
    return true;
}

bool regime_find(const struct task *task, const struct regime_candidate *candidates, size_t count,
                 double best_log_ratio, struct arena *arena, struct regime_split *out,
                 const char **why)
{
    struct question q = {.task = task, .best_log_ratio = best_log_ratio};
    struct regime_split best = {0};
    struct progress_of_pairs progress = {.stage = NONE_TIMED};
    bool found = false;
    if (!open_question(task, candidates, count, arena, &q)) {
        *why = "the search sees one case only";
        return false;
    }
    for (size_t a = 0; a < count; a++) {
        for (size_t b = a + 1; b < count; b++) {
            if (is_whole(&q, a) && is_whole(&q, b) &&
                try_pair(&q, candidates, a, b, &progress, &best))
                found = true;
        }
    }
    if (found)
        *out = best;
    else
        *why = reason_of(&progress, arena);
    return found;
}

/* --- in words --------------------------------------------------------------------------------- */

static char *product(const struct task *task, const struct regime_split *split, const char *cast,
                     const char *times, struct arena *arena)
{
    char *text = arena_strdup(arena, "");
    for (size_t i = 0; i < split->factor_count; i++)
        text = arena_printf(arena, "%s%s%s%s", text, i == 0 ? "" : times, cast,
                            task->axes[split->factors[i]].name);
    return text;
}

char *regime_size_text(const struct task *task, const struct regime_split *split,
                       struct arena *arena)
{
    return product(task, split, "", "*", arena);
}

/* Has an argument all of these axes as dimensions? Then no call has a larger product than its
 * memory has elements. */
static bool is_of_argument(const struct task *task, const struct regime_split *split)
{
    for (size_t a = 0; a < task->arg_count; a++) {
        size_t found = 0;
        for (size_t i = 0; i < split->factor_count; i++) {
            for (size_t d = 0; d < task->args[a].rank; d++) {
                if (!str_equal(task->args[a].shape_text[d], task->axes[split->factors[i]].name))
                    continue;
                found++;
                break;
            }
        }
        if (found == split->factor_count)
            return true;
    }
    return false;
}

char *regime_condition(const struct task *task, const struct regime_split *split,
                       struct arena *arena)
{
    int64_t largest = 1;
    bool fits = true;
    for (size_t i = 0; i < split->factor_count; i++)
        fits = fits &&
               !__builtin_mul_overflow(largest, task->axes[split->factors[i]].maximum, &largest);
    fits = fits || is_of_argument(task, split);
    return arena_printf(arena, fits ? "%s <= %lld" : "%s <= %lld.0",
                        product(task, split, fits ? "" : "(double)", " * ", arena),
                        (long long)split->most);
}
