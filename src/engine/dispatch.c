#include "engine/dispatch.h"

#include "engine/replay.h"

#include "base/str.h"
#include "graph/look.h"
#include "moves/dispatch.h"
#include "os/os.h"
#include "search/regime.h"

#include <math.h>

/* Time that the last candidate is given, in candidates as they took on average: it is timed in all
 * cases, where most end early. */
#define LAST_CANDIDATES 3.0
/* Where one of the two is no decision. */
#define REFERENCE "the reference"

bool dispatch_is_one(const char *moves)
{
    return moves && str_equal(moves, DISPATCH_MOVE);
}

/* --- when ------------------------------------------------------------------------------------- */

static bool was_made(const struct run *run)
{
    for (size_t i = 1; i < run->node_count; i++) {
        if (run->nodes[i].step && str_equal(run->nodes[i].step, DISPATCH_STEP))
            return true;
    }
    return false;
}

static bool is_room_for_one(const struct run *run)
{
    const int64_t left_ns = run_left_ns(run);
    const int64_t spent_ns = os_now_ns() - run->started_ns + run->earlier_ns - run->opening_ns;
    if (run->opts.budget - run->evaluations == 1)
        return true;
    return run->evaluations > 0 &&
           (double)left_ns < LAST_CANDIDATES * (double)spent_ns / (double)run->evaluations;
}

static size_t searched_cases(const struct task *task)
{
    size_t count = 0;
    for (size_t i = 0; i < task->case_count; i++)
        count += !task->cases[i].held_out;
    return count;
}

/* Candidates that were paid for and wait come first. */
static bool is_due(struct run *run, bool is_over)
{
    if (run->is_driven || searched_cases(run->task) < 2 || run->queue.count != 0 ||
        os_interrupted())
        return false;
    if (run->replay)
        return replay_next_step_is(run->replay, DISPATCH_STEP);
    if (was_made(run) || (!is_over && !is_room_for_one(run)))
        return false;
    return true;
}

/* --- which two -------------------------------------------------------------------------------- */

/* Texts with a number each. */
struct numbered {
    const char **texts;
    size_t count;
};

struct choice {
    struct regime_candidate *candidates;
    size_t *nodes; /* of the candidates */
    size_t count;
    struct numbered compilers, flags;
};

static size_t number_of(struct numbered *known, const char *text)
{
    size_t i = 0;
    while (i < known->count && !str_equal(known->texts[i], text))
        i++;
    if (i == known->count)
        known->texts[known->count++] = text;
    return i;
}

static void add_candidate(struct choice *c, const struct run *run, size_t node,
                          struct regime_candidate candidate, struct arena *arena)
{
    const struct candidate *built = &run->nodes[node].candidate;
    candidate.compiler = number_of(&c->compilers, built->compiler ? built->compiler : "");
    candidate.flags = number_of(&c->flags, candidate_flags_text(built, arena));
    c->nodes[c->count] = node;
    c->candidates[c->count++] = candidate;
}

/* The reference is what all times are over. */
static void add_reference(struct run *run, struct choice *c, struct arena *arena)
{
    struct case_result *cases = arena_array(arena, run->task->case_count, sizeof *cases);
    for (size_t i = 0; i < run->task->case_count; i++)
        cases[i] = (struct case_result){.name = run->task->cases[i].name,
                                        .held_out = run->task->cases[i].held_out};
    add_candidate(c, run, SEARCH_ROOT,
                  (struct regime_candidate){.cases = cases, .case_count = run->task->case_count},
                  arena);
}

/* Machine code that did not hold what it promised, under whatever flags. */
static bool is_refuted(const struct run *run, const struct run_node *node)
{
    for (size_t i = 1; i < run->node_count; i++) {
        const struct run_node *other = &run->nodes[i];
        if (other->confirm_failed &&
            (other == node || (node->code_id[0] && str_equal(other->code_id, node->code_id))))
            return true;
    }
    return false;
}

/* One that came to known machine code is welcome: it says that its source comes to that with its
 * flags, too. */
static bool can_be_part(const struct run *run, const struct run_node *node)
{
    return node->is_timed && node->is_whole && !dispatch_is_one(node->moves) &&
           !is_refuted(run, node);
}

static bool list_candidates(struct run *run, struct arena *arena, struct choice *c, struct err *err)
{
    c->candidates = arena_array(arena, run->node_count, sizeof *c->candidates);
    c->nodes = arena_array(arena, run->node_count, sizeof *c->nodes);
    c->compilers.texts = arena_array(arena, run->node_count, sizeof *c->compilers.texts);
    c->flags.texts = arena_array(arena, run->node_count, sizeof *c->flags.texts);
    add_reference(run, c, arena);
    for (size_t i = 1; i < run->node_count; i++) {
        struct regime_candidate next = {0};
        if (!can_be_part(run, &run->nodes[i]))
            continue;
        if (!graph_outcome_cases(run->memory.graph, run->nodes[i].decision_id, false, arena,
                                 &next.cases, &next.case_count, err))
            return false;
        add_candidate(c, run, i, next, arena);
    }
    return true;
}

/* --- the candidate ---------------------------------------------------------------------------- */

/* How it was made, for the comment on it. */
static const char *words_of(const struct run *run, size_t node)
{
    const char *recipe = run->nodes[node].candidate.recipe;
    if (node == SEARCH_ROOT)
        return REFERENCE;
    return recipe && recipe[0] ? recipe : "";
}

static const char *name_of(const struct run *run, size_t node, struct arena *arena)
{
    return node == SEARCH_ROOT
               ? REFERENCE
               : arena_printf(arena, "decision %.12s", run->nodes[node].decision_id);
}

static bool are_flags_equal(const struct run *run, size_t a, size_t b)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    return str_equal(candidate_flags_text(&run->nodes[a].candidate, &scratch),
                     candidate_flags_text(&run->nodes[b].candidate, &scratch));
}

/* What dispatch_note reads. */
static const char *intent_of(const struct run *run, const struct regime_split *split, size_t low,
                             size_t high, size_t flags_of)
{
    const char *intent =
        arena_printf(run->arena, "chooses by %s: up to %lld as %s, above as %s",
                     regime_size_text(run->task, split, run->arena), (long long)split->most,
                     name_of(run, low, run->arena), name_of(run, high, run->arena));
    return are_flags_equal(run, low, high)
               ? intent
               : arena_printf(run->arena, "%s; built with the flags of the %s", intent,
                              flags_of == low ? "first" : "second");
}

static bool has_flag(const struct candidate *candidate, const char *flag)
{
    for (size_t i = 0; i < candidate->flag_count; i++) {
        if (str_equal(candidate->flags[i], flag))
            return true;
    }
    return false;
}

/* Built like the one that is better alone, and so that the pragmas of the other are read. */
static struct candidate build_like(const struct run *run, size_t flags_of, size_t other)
{
    static const char pragmas[] = "-fopenmp-simd";
    struct candidate candidate = run->nodes[flags_of].candidate;
    if (has_flag(&run->nodes[other].candidate, pragmas) && !has_flag(&candidate, pragmas) &&
        candidate.flag_count < CANDIDATE_MAX_FLAGS)
        candidate.flags[candidate.flag_count++] = pragmas;
    candidate.recipe = NULL;
    return candidate;
}

/* The decisions that it is made of. */
static const char *uses_of(const struct run *run, size_t low, size_t high)
{
    const char *a = run->nodes[low].decision_id;
    const char *b = run->nodes[high].decision_id;
    return arena_printf(run->arena, "%s%s%s", a, a[0] && b[0] ? " " : "", b);
}

static bool make_source(struct run *run, const struct regime_split *split, size_t low, size_t high,
                        const char **out, const char **why)
{
    const struct dispatch_parts parts = {
        .task = run->task,
        .condition = regime_condition(run->task, split, run->arena),
        .small = {run->nodes[low].candidate.source, words_of(run, low)},
        .large = {run->nodes[high].candidate.source, words_of(run, high)},
    };
    return dispatch_source(&parts, run->arena, out, why);
}

static bool judge(struct run *run, const struct regime_split *split, size_t low, size_t high,
                  const char *source, bool *made, struct err *err)
{
    const char *const uses[] = {uses_of(run, low, high)};
    const size_t flags_of = run->nodes[low].log_ratio > run->nodes[high].log_ratio ? low : high;
    struct proposal proposal = {
        .intent = intent_of(run, split, low, high, flags_of),
        .hypothesis = arena_printf(run->arena,
                                   "each at its sizes would be %.2fx faster in all, %.2fx over the "
                                   "best alone, if choosing cost nothing",
                                   exp(split->log_ratio), exp(split->gain)),
        .predicted_log_ratio = split->gain,
        .moves = {DISPATCH_MOVE},
        .move_count = 1,
        .candidate = build_like(run, flags_of, flags_of == low ? high : low),
    };
    proposal.candidate.source = source;
    if (step_was_tried(run, candidate_id(&proposal.candidate).text)) {
        run->no_dispatch = "the one that promises most was judged already";
        return true;
    }
    const struct step_input input = {.parent = run->best,
                                     .step = DISPATCH_STEP,
                                     .derived_from = "",
                                     .context_id = "",
                                     .uses = uses,
                                     .proposal = &proposal};
    *made = true;
    return step_judge(run, &input, err);
}

bool dispatch_try(struct run *run, bool is_over, bool *made, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0};
    struct choice choice = {0};
    struct regime_split split;
    const char *source = NULL;
    const char *why = NULL;
    *made = false;
    if (!is_due(run, is_over))
        return true;
    const double best = run->best > 0 ? run->nodes[run->best].log_ratio : 0.0;
    if (!list_candidates(run, &scratch, &choice, err))
        return false;
    if (!regime_find(run->task, choice.candidates, choice.count, best, &scratch, &split, &why)) {
        run->no_dispatch = arena_strdup(run->arena, why);
        return true;
    }
    const size_t low = choice.nodes[split.low];
    const size_t high = choice.nodes[split.high];
    if (!make_source(run, &split, low, high, &source, &why)) {
        run->no_dispatch =
            arena_printf(run->arena, "%s and %s do not go into one text: %s",
                         name_of(run, low, &scratch), name_of(run, high, &scratch), why);
        return true;
    }
    run->no_dispatch = NULL;
    return judge(run, &split, low, high, source, made, err);
}

/* --- in a later run --------------------------------------------------------------------------- */

/* Of this task, and measured: what else a memory names here is not begun with. */
static bool find_part(struct run *run, const char *id, size_t length, struct graph_decision *out)
{
    struct graph_decisions path = {0};
    struct err gone = {0};
    if (!graph_path(run->memory.graph, arena_strndup(run->arena, id, length), run->arena, &path,
                    &gone) ||
        path.count == 0)
        return false;
    *out = path.items[path.count - 1];
    return out->has_outcome && out->kind == VERDICT_TIMED &&
           str_equal(out->task_id, run->task->id.text);
}

bool dispatch_begin_with_parts(struct run *run, const struct graph_decision *known,
                               bool (*begin)(struct run *run, const struct graph_decision *part,
                                             struct err *err),
                               struct err *err)
{
    const char *at = known->uses;
    for (int part = 0; dispatch_is_one(known->moves) && *at && part < 2; part++) {
        const size_t length = strcspn(at, " ");
        struct graph_decision found;
        if (run->evaluations < run->opts.budget && find_part(run, at, length, &found) &&
            !begin(run, &found, err))
            return false;
        at += length;
        at += strspn(at, " ");
    }
    return true;
}
