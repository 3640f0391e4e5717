#include "search/internal.h"

/*
 * Uniform over the open nodes; half of the steps are large. The control arm of every comparison.
 * Each node draws a number and the highest open one is taken: a node that turns out to be exhausted
 * then makes room for the very node that would have been taken had it been known, which a resumed
 * run relies on.
 */
static bool random_choose(const struct search *search, struct rng *rng, int *node,
                          enum search_step *step)
{
    uint64_t highest = 0;
    int chosen = SEARCH_NO_NODE;
    const bool is_large = rng_uniform(rng) < 0.5;
    for (size_t i = 0; i < search->count; i++) {
        const uint64_t draw = rng_next(rng);
        if (!tree_is_open(search, (int)i) || (chosen != SEARCH_NO_NODE && draw <= highest))
            continue;
        chosen = (int)i;
        highest = draw;
    }
    if (chosen == SEARCH_NO_NODE)
        return false;
    *node = chosen;
    *step = is_large ? STEP_LARGE : STEP_SMALL;
    return true;
}

const struct search_policy search_policy_random = {
    .name = "random",
    .summary = "any valid candidate with equal chance",
    .choose = random_choose,
};
