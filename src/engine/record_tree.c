#include "engine/record_tree.h"

#include "engine/dispatch.h"
#include "engine/internal.h"

#include "base/str.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

/* What the states and the parents are found by: sorted texts with a number each. */
struct named {
    const char *name;
    int number;
};

static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->number > y->number) - (x->number < y->number);
}

/* The number of that name; `otherwise` where there is none. */
static int number_of(const struct named *sorted, size_t count, const char *name, int otherwise)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strcmp(sorted[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && str_equal(sorted[low].name, name) ? sorted[low].number : otherwise;
}

static enum search_step step_of(const struct graph_decision *d)
{
    return str_equal(d->step, "small")   ? STEP_SMALL
           : str_equal(d->step, "large") ? STEP_LARGE
                                         : STEP_GIVEN;
}

static struct recorded_decision recorded(const struct graph_decision *d)
{
    const bool is_timed = d->has_outcome && d->kind == VERDICT_TIMED;
    const bool is_dispatch = str_equal(d->step, DISPATCH_STEP);
    const bool is_repeat = d->has_outcome && str_equal(d->mechanism, VERDICT_BY_REPEAT);
    return (struct recorded_decision){
        .decision = d,
        .outcome = {.is_valid = is_timed,
                    .log_ratio = d->log_ratio,
                    .low = d->log_low,
                    .high = d->log_high,
                    .step = step_of(d),
                    .is_dead_end = is_repeat || dispatch_is_one(d->moves)},
        .is_judged = d->has_outcome && verdict_is_evaluation(d->mechanism),
        .counts = is_timed && d->is_win && !d->confirm_failed && !is_repeat,
        .is_given = step_of(d) == STEP_GIVEN && !is_dispatch,
        .is_dispatch = is_dispatch,
        .next_of_state = -1,
    };
}

/* A state for each candidate: the same one has the same number, whoever proposed it. */
static void number_states(struct record_tree *tree, struct arena *arena)
{
    struct named *candidates = arena_array(arena, tree->count + 1, sizeof *candidates);
    struct named *parents = arena_array(arena, tree->count + 1, sizeof *parents);
    int states = RECORD_ROOT + 1;
    for (size_t i = 0; i < tree->count; i++)
        candidates[i] = (struct named){tree->decisions[i].decision->candidate_id, (int)i};
    qsort(candidates, tree->count, sizeof *candidates, by_name);
    for (size_t i = 0; i < tree->count; i++) {
        const bool is_new = i == 0 || !str_equal(candidates[i].name, candidates[i - 1].name);
        struct recorded_decision *d = &tree->decisions[candidates[i].number];
        d->to = is_new ? states++ : states - 1;
        parents[i] = (struct named){d->decision->id, d->to};
    }
    tree->state_count = (size_t)states;
    qsort(parents, tree->count, sizeof *parents, by_name);
    for (size_t i = 0; i < tree->count; i++)
        tree->decisions[i].from =
            number_of(parents, tree->count, tree->decisions[i].decision->parent, RECORD_ROOT);
}

static void link_children(struct record_tree *tree, struct arena *arena)
{
    tree->first_of_state = arena_array(arena, tree->state_count, sizeof *tree->first_of_state);
    for (size_t s = 0; s < tree->state_count; s++)
        tree->first_of_state[s] = -1;
    for (size_t i = tree->count; i-- > 0;) {
        struct recorded_decision *d = &tree->decisions[i];
        d->next_of_state = tree->first_of_state[d->from];
        tree->first_of_state[d->from] = (int)i;
    }
}

static bool read_prior(const struct graph_run *run, struct arena *arena, struct search_prior *out,
                       struct err *err)
{
    const struct json *settings = NULL;
    if (!models_parse_settings(run->settings, arena, &settings, err))
        return false;
    if (settings)
        *out = prior_read(settings);
    return true;
}

/* While it grows, `tree->decisions` is a block of malloc. */
static bool take_run(struct graph *graph, const struct graph_run *run, struct arena *arena,
                     size_t *capacity, struct record_tree *tree, struct err *err)
{
    struct graph_decisions all;
    int64_t judged = 0;
    if (!graph_run_decisions(graph, run->id, arena, &all, err))
        return false;
    for (size_t i = 0; i < all.count; i++) {
        const struct graph_decision *d = &all.items[i];
        if (!d->has_outcome && d->failure[0] == '\0')
            continue;
        tree->decisions =
            vec_reserve_one(tree->decisions, tree->count, capacity, sizeof *tree->decisions);
        const struct recorded_decision r = recorded(d);
        tree->decisions[tree->count++] = r;
        judged += r.is_judged;
        if (r.counts && r.outcome.log_ratio > tree->best_log_ratio)
            tree->best_log_ratio = r.outcome.log_ratio;
    }
    if (judged > tree->budget)
        tree->budget = judged;
    return true;
}

bool record_tree_load(struct graph *graph, const struct graph_run *const *runs, size_t run_count,
                      struct arena *arena, struct record_tree *out, struct err *err)
{
    struct record_tree tree = {0};
    size_t capacity = 0;
    bool ok = run_count == 0 || read_prior(runs[0], arena, &tree.prior, err);
    for (size_t i = 0; ok && i < run_count; i++)
        ok = take_run(graph, runs[i], arena, &capacity, &tree, err);
    struct recorded_decision *growing = tree.decisions;
    if (ok) {
        tree.decisions = arena_memdup(arena, growing, tree.count * sizeof *growing);
        number_states(&tree, arena);
        link_children(&tree, arena);
        *out = tree;
    }
    free(growing);
    return ok;
}
