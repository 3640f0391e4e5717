/*
 * The last step of a walk: the expert told as moves by name. What was taken out of its text goes
 * back into that text; most of it is an example and no more. Recipes name loops, and mean nothing
 * for another task either; but the moves of the catalogue are built for each task anew. So a few
 * orders of moves are played on the plain reference, and where the fastest comes to what the
 * expert did it is a skill for tasks with loops of that kind.
 */
#include "engine/lineage.h"

#include "base/str.h"
#include "os/os.h"
#include "skill/mechanism.h"

#include <math.h>

/* By so much, in log-ratio, must one more move be faster to be kept. */
#define WORTH_A_MOVE 0.02

enum { MOST_NESTS = 4 };

/* What loops are run on vectors with, in every telling that allows it. */
static const char bundle[] = "vectorize";
/* Tried on top of the best, one after the other, after the newest compiler of another family. */
static const char *const further[] = {"step-unroll", "width-512", "unroll"};

struct telling {
    const char *names; /* of moves, with commas between; NULL: there is none */
    struct candidate candidate;
    double log_ratio; /* against the baseline */
};

struct retelling {
    struct walk *w;
    struct telling best;
    size_t judged;
};

static bool play(struct walk *w, const char *names, struct candidate *out, struct err *err)
{
    struct arena *arena = w->run.arena;
    const struct move move = {.name = "structure", .changes = arena_printf(arena, "do=%s", names)};
    const struct recipe *recipe = NULL;
    const char *why = NULL;
    return move_apply(&w->run.moves, &move, recipe_plain(&w->run.moves, arena), arena, &recipe,
                      &why) &&
           recipe_candidate(&w->run.moves, recipe, arena, out, err);
}

/* Moves that do not apply together are no telling. `least`: of the gain over the best so far. */
static bool tell(struct retelling *r, const char *names, double least, struct err *err)
{
    struct walk *w = r->w;
    struct candidate candidate;
    struct verdict verdict;
    struct err ignored;
    const double race = r->best.names ? r->best.log_ratio : -(double)INFINITY;
    if (os_interrupted() || !play(w, names, &candidate, &ignored))
        return true;
    run_stage(&w->run, arena_printf(w->run.arena, "judging the reference with %s", names));
    if (!gate_judge(w->run.gate, &candidate, race, w->run.arena, &verdict, err))
        return false;
    r->judged++;
    if (verdict.kind == VERDICT_TIMED && (!r->best.names || verdict.log_ratio > race + least))
        r->best = (struct telling){names, candidate, verdict.log_ratio};
    return true;
}

/* The moves on the nest that promise most. */
static size_t best_nests(const struct run *run, const struct move *out[MOST_NESTS])
{
    size_t count = 0;
    for (size_t i = 0; i < run->catalogue_count; i++) {
        const struct move *move = &run->catalogue[i];
        if (!str_equal(move->group, "nest"))
            continue;
        size_t at = count < MOST_NESTS ? count++ : MOST_NESTS;
        for (; at > 0 && out[at - 1]->prior_log_ratio < move->prior_log_ratio; at--) {
            if (at < MOST_NESTS)
                out[at] = out[at - 1];
        }
        if (at < MOST_NESTS)
            out[at] = move;
    }
    return count;
}

static bool tell_nests(struct retelling *r, struct err *err)
{
    struct walk *w = r->w;
    const struct move *nests[MOST_NESTS];
    struct candidate with_bundle;
    struct err ignored;
    const size_t count = best_nests(&w->run, nests);
    const bool bundled = play(w, bundle, &with_bundle, &ignored);
    for (size_t i = 0; i < count; i++) {
        const char *names =
            bundled ? arena_printf(w->run.arena, "%s,%s", bundle, nests[i]->name) : nests[i]->name;
        if (!tell(r, names, 0.0, err))
            return false;
    }
    return !bundled || tell(r, bundle, WORTH_A_MOVE, err);
}

/* The first of the group is the newest of the family that vectorizes best (catalogue.c). */
static const char *other_compiler(const struct run *run)
{
    for (size_t i = 0; i < run->catalogue_count; i++) {
        if (str_equal(run->catalogue[i].group, "compiler"))
            return run->catalogue[i].name;
    }
    return NULL;
}

static bool tell_more(struct retelling *r, const char *name, struct err *err)
{
    return !name || !r->best.names ||
           tell(r, arena_printf(r->w->run.arena, "%s,%s", r->best.names, name), WORTH_A_MOVE, err);
}

static bool tell_all(struct retelling *r, struct err *err)
{
    if (!tell_nests(r, err) || !tell_more(r, other_compiler(&r->w->run), err))
        return false;
    for (size_t i = 0; i < sizeof further / sizeof *further; i++) {
        if (!tell_more(r, further[i], err))
            return false;
    }
    return true;
}

/* The reference against its telling: the gain that the skill is known by. */
static bool keep_telling(struct walk *w, const struct telling *best, struct err *err)
{
    CLEANUP(duel_close) struct duel duel = {0};
    const struct candidate plain = skill_plain_build(&w->run, w->run.task->reference);
    const struct inverse_edit edit = {MECHANISM_STRUCTURE, best->names, plain.source};
    struct graph_skill skill;
    if (!duel_open(w, &plain, &best->candidate, &duel, err))
        return false;
    if (!duel.contest) {
        const struct verdict *bad = &duel.checks[duel.checks[0].kind == VERDICT_TIMED];
        return walk_refuse(w, &edit, bad, verdict_summary(bad, w->run.arena), err);
    }
    if (!duel_time(w, &duel, err))
        return false;
    if (duel.timed.kind != VERDICT_TIMED || duel.sign <= 0)
        return walk_refuse(w, &edit, &duel.timed,
                           arena_printf(w->run.arena, "no gain from it: %s",
                                        verdict_summary(&duel.timed, w->run.arena)),
                           err);
    skill_of_structure(best->names, &w->facts, w->run.task->name, w->run.arena, &skill);
    /* It is no step of the walk: what is left of the expert stays as it is. */
    const struct candidate left = w->current;
    const double left_log_ratio = w->out->start_log_ratio;
    w->current = best->candidate;
    const bool ok = walk_keep(w, &edit, &duel, &plain, &skill, err);
    w->current = left;
    w->out->start_log_ratio = left_log_ratio;
    return ok;
}

bool walk_retell(struct walk *w, struct err *err)
{
    struct retelling r = {.w = w};
    bool regained = false;
    if (os_interrupted() || (w->opts->steps > 0 && (int64_t)w->out->accepted >= w->opts->steps))
        return true;
    if (!tell_all(&r, err))
        return false;
    if (!r.best.names || os_interrupted())
        return true;
    if (!walk_regains(w, &w->expert, &r.best.candidate, &regained, err))
        return false;
    if (regained)
        return keep_telling(w, &r.best, err);
    const struct inverse_edit edit = {MECHANISM_STRUCTURE, r.best.names, ""};
    return walk_refuse(w, &edit, &(struct verdict){.kind = VERDICT_TOO_NOISY},
                       arena_printf(w->run.arena,
                                    "the fastest of %zu orders of moves does not come to the "
                                    "expert in every trial",
                                    r.judged),
                       err);
}
