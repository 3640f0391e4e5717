#include "engine/dispatch.h"
#include "engine/opening.h"

#include "base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RELATED_STARTS = 3, RELATED_LOOKED_AT = 10 };

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

static bool is_on_nest(const struct move *move)
{
    return str_equal(move->group, "nest");
}

static bool has_nest_moves(const struct move *catalogue, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (is_on_nest(&catalogue[i]))
            return true;
    }
    return false;
}

/* Sequences for the nest are weighed against each other by what is read off the loops: one that
 * others know would outweigh all that only this nest has. And what lets loops run on vectors
 * without one was mostly tried elsewhere on top of a nest that was in vectors already, where it
 * gains nothing; where no sequence for the nest exists, it is all there is (decision 39). */
static bool is_of_own_family(const struct move *move, bool has_nest)
{
    return is_on_nest(move) || (!has_nest && kind_of(move) == KNOWLEDGE_STRUCTURE);
}

bool remember_transfer(struct graph *graph, const struct task *task, const char *target_id,
                       const struct move *catalogue, size_t count, struct arena *arena,
                       struct transfer *out, struct err *err)
{
    const struct transfer_place here = {task->id.text, task->family, task_regime(task), target_id};
    struct transfer_move *moves = arena_array(arena, count + 1, sizeof *moves);
    const bool has_nest = has_nest_moves(catalogue, count);
    for (size_t i = 0; i < count; i++)
        moves[i] = (struct transfer_move){catalogue[i].name, kind_of(&catalogue[i]),
                                          catalogue[i].prior_log_ratio,
                                          is_of_own_family(&catalogue[i], has_nest)};
    return transfer_learn(graph, moves, count, &here, arena, out, err);
}

bool remember_beliefs(struct run *run, struct arena *arena, struct move_belief **out,
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

bool remembered_candidate(struct run *run, const struct graph_decision *known,
                          struct candidate *out)
{
    struct err ignored = {0};
    const struct recipe *recipe = NULL;
    if (known->recipe[0] != '\0')
        return recipe_parse(&run->moves, known->recipe, run->arena, &recipe, &ignored) &&
               recipe_candidate(&run->moves, recipe, run->arena, out, &ignored);
    *out = (struct candidate){.compiler = known->compiler[0] != '\0' ? known->compiler : NULL};
    return candidate_parse_flags(known->flags, run->arena, out) &&
           memory_get_text(&run->memory, known->source_body, run->arena, &out->source, &ignored);
}

static bool was_tried(const struct run *run, const struct candidate *candidate)
{
    return candidate->recipe && step_was_tried(run, candidate->recipe);
}

/* Judges what is remembered of `known`; the first says where the run started. */
static bool begin_with(struct run *run, const struct graph_decision *known, const char *what,
                       struct proposal *proposal, struct err *err)
{
    const bool is_here = str_equal(known->target_id, run->features->id.text);
    proposal->hypothesis =
        arena_printf(run->arena, "it gave %.2fx [%.2f, %.2f] on %s%s", exp(known->log_ratio),
                     exp(known->log_low), exp(known->log_high), known->task_name,
                     is_here ? "" : ", on another machine");
    run->started_from_memory = true;
    if (run->start_text[0] == '\0') {
        run->start_decision = known->id;
        run->start_text = arena_printf(run->arena, "%s: %s (decision %.12s, run %.12s)", what,
                                       proposal->hypothesis, known->id, known->run_id);
        run_notify(run, PROGRESS_REMEMBERED, &(struct progress){.text = run->start_text});
    }
    const char *const uses[] = {known->uses};
    const bool is_dispatch = dispatch_is_one(known->moves);
    if (is_dispatch) /* it stays one, and is known by it */
        proposal->moves[proposal->move_count++] = known->moves;
    const struct step_input input = {.parent = SEARCH_ROOT,
                                     .step = "remembered",
                                     .derived_from = known->id,
                                     .context_id = "",
                                     .uses = is_dispatch ? uses : NULL,
                                     .proposal = proposal};
    return step_judge(run, &input, err);
}

/* What the best known chooses between. */
static bool begin_with_part(struct run *run, const struct graph_decision *part, struct err *err)
{
    struct proposal proposal = {.predicted_log_ratio = part->log_ratio};
    const bool is_offline = str_equal(run_proposer_kind(run), "offline");
    if ((is_offline && part->recipe[0] == '\0') ||
        !remembered_candidate(run, part, &proposal.candidate) ||
        was_tried(run, &proposal.candidate))
        return true;
    proposal.intent =
        arena_printf(run->arena, "one of the two that the best known is made of: %s", part->intent);
    return begin_with(run, part, "part of the best known", &proposal, err);
}

static bool begin_with_best(struct run *run, const struct graph_decision *best, bool *used,
                            struct err *err)
{
    struct proposal proposal = {.predicted_log_ratio = best->log_ratio};
    *used = remembered_candidate(run, best, &proposal.candidate) &&
            !was_tried(run, &proposal.candidate);
    if (!*used)
        return true;
    proposal.intent = arena_printf(run->arena, "start at the best known: %s", best->intent);
    return begin_with(run, best, "best known candidate of this task", &proposal, err) &&
           dispatch_begin_with_parts(run, best, begin_with_part, err);
}

struct elsewhere {
    struct graph_decision best;
    double distance;
};

static int by_distance(const void *a, const void *b)
{
    const struct elsewhere *x = a;
    const struct elsewhere *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return strcmp(x->best.target_id, y->best.target_id);
}

bool remember_elsewhere(struct run *run, struct arena *arena, struct graph_decisions *out,
                        struct err *err)
{
    struct transfer transfer;
    size_t count = 0;
    /* The distances alone: of no move is anything to be learned here. */
    if (!remember_transfer(run->memory.graph, run->task, run->features->id.text, NULL, 0, arena,
                           &transfer, err))
        return false;
    struct elsewhere *all = arena_array(arena, transfer.target_count + 1, sizeof *all);
    for (size_t i = 0; i < transfer.target_count; i++) {
        const char *target_id = transfer.targets[i].id;
        bool found = false;
        if (str_equal(target_id, run->features->id.text))
            continue;
        if (!graph_best(run->memory.graph, run->task->id.text, target_id, arena, &found,
                        &all[count].best, err))
            return false;
        all[count].distance = transfer_distance(&transfer, target_id);
        count += found;
    }
    qsort(all, count, sizeof *all, by_distance);
    struct graph_decision *items = arena_array(arena, count + 1, sizeof *items);
    for (size_t i = 0; i < count; i++)
        items[i] = all[i].best;
    *out = (struct graph_decisions){.items = items, .count = count};
    return true;
}

static const char *opening_words(const struct opening *opening, struct arena *arena)
{
    const char *words = opening->move_count == 0 ? opening->text : "";
    for (size_t i = 0; i < opening->move_count; i++)
        words = arena_printf(arena, "%s%s%s", words, i == 0 ? "" : ", ", opening->moves[i]);
    const size_t others = opening->votes - 1;
    return others == 0 ? words
                       : arena_printf(arena, "%s, as on %zu other task%s", words, others,
                                      others == 1 ? "" : "s");
}

static bool begin_with_opening(struct run *run, const struct opening *opening, bool *used,
                               struct err *err)
{
    struct proposal proposal = {.predicted_log_ratio = opening->expected};
    struct err ignored = {0};
    *used =
        recipe_candidate(&run->moves, opening->recipe, run->arena, &proposal.candidate, &ignored) &&
        !was_tried(run, &proposal.candidate);
    if (!*used)
        return true;
    proposal.candidate.recipe = opening->text;
    for (size_t i = 0; i < opening->move_count; i++)
        proposal.moves[proposal.move_count++] = opening->moves[i];
    proposal.intent = arena_printf(run->arena, "what won on %s: %s", opening->from->task_name,
                                   opening_words(opening, run->arena));
    return begin_with(run, opening->from, "experience with related tasks", &proposal, err);
}

/* Those that promise most, so many at most; `*started` says how many it were. */
static bool begin_with_openings(struct run *run, const struct graph_decisions *from, size_t most,
                                size_t *started, struct err *err)
{
    const struct opening *openings = NULL;
    size_t count = 0;
    *started = 0;
    if (!openings_find(run, from, run->arena, &openings, &count, err))
        return false;
    for (size_t i = 0; i < count && *started < most; i++) {
        bool used = false;
        if (run->evaluations >= run->opts.budget)
            break;
        if (!begin_with_opening(run, &openings[i], &used, err))
            return false;
        *started += used;
    }
    return true;
}

static bool begin_with_related(struct run *run, struct err *err)
{
    struct graph_decisions related;
    size_t started = 0;
    return graph_related(run->memory.graph, run->task->id.text, run->features->id.text,
                         RELATED_LOOKED_AT, run->arena, &related, err) &&
           begin_with_openings(run, &related, RELATED_STARTS, &started, err);
}

/* As it stands where its recipe reads here; else its moves, played again with what is here. */
static bool begin_with_elsewhere(struct run *run, bool *used, struct err *err)
{
    struct graph_decisions elsewhere;
    size_t started = 0;
    *used = false;
    if (!remember_elsewhere(run, run->arena, &elsewhere, err))
        return false;
    if (elsewhere.count == 0)
        return true;
    elsewhere.count = 1; /* the nearest */
    if (!begin_with_best(run, &elsewhere.items[0], used, err))
        return false;
    if (*used)
        return true;
    if (!begin_with_openings(run, &elsewhere, 1, &started, err))
        return false;
    *used = started > 0;
    return true;
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
    if (found && !begin_with_best(run, &best, &used, err))
        return false;
    if (!used && !begin_with_elsewhere(run, &used, err))
        return false;
    return used || (skill_start(run, err) && begin_with_related(run, err));
}
