#include "engine/internal.h"

#include "base/str.h"

#include <math.h>

enum { RELATED_STARTS = 3, RELATED_LOOKED_AT = 12 };

/* Which groups of moves set a size, and which are asked of the compiler; the others change what the
 * code does. */
static enum knowledge kind_of(const struct move *move)
{
    static const struct {
        const char *group;
        enum knowledge kind;
    } kinds[] = {
        {"strip", KNOWLEDGE_SIZES},    {"unroll", KNOWLEDGE_SIZES},   {"width", KNOWLEDGE_SIZES},
        {"compiler", KNOWLEDGE_FLAGS}, {"opt", KNOWLEDGE_FLAGS},      {"march", KNOWLEDGE_FLAGS},
        {"tune", KNOWLEDGE_FLAGS},     {"cost", KNOWLEDGE_FLAGS},     {"contract", KNOWLEDGE_FLAGS},
        {"polly", KNOWLEDGE_FLAGS},    {"graphite", KNOWLEDGE_FLAGS},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (str_equal(move->group, kinds[i].group))
            return kinds[i].kind;
    }
    return KNOWLEDGE_STRUCTURE;
}

bool remember_transfer(struct graph *graph, const struct task *task, const char *target_id,
                       const struct move *catalogue, size_t count, struct arena *arena,
                       struct transfer *out, struct err *err)
{
    const struct transfer_place here = {task->id.text, task->family, task_regime(task), target_id};
    struct transfer_move *moves = arena_array(arena, count + 1, sizeof *moves);
    for (size_t i = 0; i < count; i++)
        moves[i] = (struct transfer_move){catalogue[i].name, kind_of(&catalogue[i]),
                                          catalogue[i].prior_log_ratio};
    return transfer_learn(graph, moves, count, &here, arena, out, err);
}

bool remember_beliefs(struct run *run, struct arena *arena, const struct move_belief **out,
                      size_t *out_count, struct err *err)
{
    struct transfer transfer;
    if (!remember_transfer(run->memory.graph, run->task, run->features->id.text, run->catalogue,
                           run->catalogue_count, arena, &transfer, err))
        return false;
    struct move_belief *beliefs = arena_array(arena, run->catalogue_count + 1, sizeof *beliefs);
    for (size_t i = 0; i < transfer.belief_count; i++) {
        const struct transfer_belief *belief = &transfer.beliefs[i];
        beliefs[i] = (struct move_belief){.move = belief->move,
                                          .mean = belief->mean,
                                          .sd = belief->sd,
                                          .evidence = belief->evidence,
                                          .failure_rate = belief->failure_rate};
    }
    *out = beliefs;
    *out_count = transfer.belief_count;
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
    if (!skill_start(run, err))
        return false;
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
