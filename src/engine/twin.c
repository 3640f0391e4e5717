/* A faster text of a slow reference, for the runs of the gate's oracle: what moves make of it that
 * keep the order of every sum. The gate looks whether it comes to the same bits (gate/bench.h). */
#include "engine/internal.h"

#include "base/str.h"

const char *run_twin(const struct run *run)
{
    const struct move *best = NULL;
    const struct recipe *recipe = NULL;
    const char *refusal = NULL;
    struct candidate twin;
    struct err ignored = {0};
    if (target_is_scripted(run->target))
        return NULL;
    for (size_t i = 0; i < run->catalogue_count; i++) {
        const struct move *move = &run->catalogue[i];
        if (str_equal(move->group, "nest") && move->numerics == NUMERICS_EXACT &&
            (!best || move->prior_log_ratio > best->prior_log_ratio))
            best = move;
    }
    if (!best ||
        !move_apply(&run->moves, best, recipe_plain(&run->moves, run->arena), run->arena, &recipe,
                    &refusal) ||
        !recipe_candidate(&run->moves, recipe, run->arena, &twin, &ignored))
        return NULL;
    return twin.source;
}
