#include "engine/internal.h"

#include "base/str.h"
#include "stats/stats.h"

#include <math.h>

enum { RELATED_STARTS = 3, RELATED_LOOKED_AT = 12 };

/* A prior counts as this many observations until experience says more; a move that promises much
 * may also miss by much. */
#define PRIOR_COUNT 2.0

static double prior_sd(double prior_log_ratio)
{
    return 0.15 + 0.4 * fabs(prior_log_ratio);
}

static struct stats_posterior widen(const struct graph_move_evidence *evidence, size_t count,
                                    const char *move, struct stats_posterior prior,
                                    double *failures, double *trials)
{
    for (size_t i = 0; i < count; i++) {
        const struct graph_move_evidence *e = &evidence[i];
        if (!str_equal(e->move, move))
            continue;
        *failures = e->failures;
        *trials = e->count + e->failures;
        return stats_shrink(e->sum, e->sum_squares, e->count, prior.mean, PRIOR_COUNT,
                            fmax(prior.sd, 0.05));
    }
    return prior;
}

bool remember_beliefs(struct run *run, struct arena *arena, const struct move_belief **out,
                      size_t *out_count, struct err *err)
{
    /* From the widest scope to the narrowest: each posterior is the prior of the next. */
    static const enum graph_scope scopes[] = {SCOPE_ALL, SCOPE_FAMILY, SCOPE_FAMILY_TARGET,
                                              SCOPE_TASK};
    enum { SCOPES = sizeof scopes / sizeof *scopes };
    const struct graph_move_evidence *evidence[SCOPES];
    size_t counts[SCOPES];
    for (size_t s = 0; s < SCOPES; s++) {
        if (!graph_move_evidence(run->memory.graph, scopes[s], run->task->id.text,
                                 run->task->family, run->features->id.text, arena, &evidence[s],
                                 &counts[s], err))
            return false;
    }
    struct move_belief *beliefs = arena_array(arena, run->catalogue_count, sizeof *beliefs);
    for (size_t i = 0; i < run->catalogue_count; i++) {
        const struct move *move = &run->catalogue[i];
        struct stats_posterior belief = {.mean = move->prior_log_ratio,
                                         .sd = prior_sd(move->prior_log_ratio)};
        double failures = 0.0;
        double trials = 0.0;
        for (size_t s = 0; s < SCOPES; s++)
            belief = widen(evidence[s], counts[s], move->name, belief, &failures, &trials);
        beliefs[i] = (struct move_belief){
            .move = move->name,
            .mean = belief.mean,
            .sd = belief.sd,
            .evidence = trials,
            .failure_rate = trials > 0.0 ? failures / (trials + PRIOR_COUNT) : 0.0};
    }
    *out = beliefs;
    *out_count = run->catalogue_count;
    return true;
}

/* The candidate that a remembered decision stands for here: its recipe on this task's reference,
 * or, on the same task, its very source. False where it cannot be had (a compiler that is missing):
 * then it is not used. */
static bool remembered_candidate(struct run *run, const struct graph_decision *known,
                                 struct candidate *out)
{
    struct err ignored = {0};
    const struct recipe *recipe = NULL;
    if (known->recipe[0] != '\0')
        return recipe_parse(&run->moves, known->recipe, run->arena, &recipe, &ignored) &&
               recipe_candidate(&run->moves, recipe, run->arena, out, &ignored);
    if (!str_equal(known->task_id, run->task->id.text))
        return false;
    *out = (struct candidate){.compiler = known->compiler[0] != '\0' ? known->compiler : NULL};
    return candidate_parse_flags(known->flags, run->arena, out) &&
           memory_get_text(&run->memory, known->source_body, run->arena, &out->source, &ignored);
}

static bool was_tried(const struct run *run, const struct candidate *candidate)
{
    for (size_t i = 0; candidate->recipe && i < run->tried_count; i++) {
        if (str_equal(run->tried[i], candidate->recipe))
            return true;
    }
    return false;
}

static bool judge_remembered(struct run *run, const struct graph_decision *known, bool *used,
                             struct err *err)
{
    struct proposal proposal = {0};
    *used = false;
    if (!remembered_candidate(run, known, &proposal.candidate) ||
        was_tried(run, &proposal.candidate))
        return true;
    const bool same_task = str_equal(known->task_id, run->task->id.text);
    proposal.intent =
        same_task ? arena_printf(run->arena, "start at the best known: %s", known->intent)
                  : arena_printf(run->arena, "what won on %s: %s", known->task_name, known->recipe);
    proposal.hypothesis = arena_printf(
        run->arena, "it gave %.2fx [%.2f, %.2f] on %s%s", exp(known->log_ratio),
        exp(known->log_low), exp(known->log_high), known->task_name,
        str_equal(known->target_id, run->features->id.text) ? "" : ", on another machine");
    proposal.predicted_log_ratio = known->log_ratio;
    *used = true;
    run->started_from_memory = true;
    if (run->start_text[0] == '\0') {
        run->start_decision = known->id;
        run->start_text = arena_printf(run->arena, "%s: %s (decision %.12s, run %.12s)",
                                       same_task ? "best known candidate of this task"
                                                 : "experience with related tasks",
                                       proposal.hypothesis, known->id, known->run_id);
        run_notify(run, PROGRESS_REMEMBERED, &(struct progress){.text = run->start_text});
    }
    const struct step_input input = {.parent = SEARCH_ROOT,
                                     .step = "remembered",
                                     .derived_from = known->id,
                                     .context_id = "",
                                     .proposal = &proposal};
    return step_judge(run, &input, err);
}

bool remember_start(struct run *run, struct err *err)
{
    struct graph_decision best;
    bool found = false;
    bool used = false;
    if (run->opts.fresh)
        return true;
    if (!graph_best(run->memory.graph, run->task->id.text, run->features->id.text, run->arena,
                    &found, &best, err))
        return false;
    if (found && !judge_remembered(run, &best, &used, err))
        return false;
    if (used)
        return true;
    struct graph_decisions related;
    if (!graph_related(run->memory.graph, run->task->id.text, run->features->id.text,
                       RELATED_LOOKED_AT, run->arena, &related, err))
        return false;
    int starts = 0;
    for (size_t i = 0; i < related.count && starts < RELATED_STARTS; i++) {
        if (run->evaluations >= run->opts.budget)
            break;
        if (related.items[i].log_low <= 0.0)
            continue;
        if (!judge_remembered(run, &related.items[i], &used, err))
            return false;
        starts += used;
    }
    return true;
}
