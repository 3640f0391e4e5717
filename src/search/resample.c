/*
 * Tree search that goes back to the decisions that mattered (dynamic action re-sampling, DARS): on
 * the way to the best candidate, a few decisions made most of the gain. What else could have been
 * decided there is more likely to matter too than one more refinement at the end. With probability
 * 0.25 such a decision is drawn, by its share of the gain, and its parent is extended again by a
 * step of the same size; else mcts chooses.
 */
#include "search/internal.h"

#include <math.h>
#include <stdlib.h>

static const double resample_share = 0.25;

static bool draw_decision(const struct search *search, struct rng *rng, int *node,
                          enum search_step *step)
{
    int chosen = SEARCH_NO_NODE;
    double highest = 0;
    for (int at = search->best; at != SEARCH_ROOT; at = search->nodes[at].shown.parent) {
        const int parent = search->nodes[at].shown.parent;
        const struct search_outcome *outcome = &search->nodes[at].shown.outcome;
        const double jump = outcome->log_ratio - search->nodes[parent].shown.outcome.log_ratio;
        const double key = tree_draw_key(rng, fmax(0.0, jump));
        if (!isfinite(key) || !tree_is_open(search, parent) ||
            (chosen != SEARCH_NO_NODE && key <= highest))
            continue;
        chosen = parent;
        highest = key;
        *step = outcome->step == STEP_SMALL ? STEP_SMALL : STEP_LARGE;
    }
    *node = chosen;
    return chosen != SEARCH_NO_NODE;
}

static bool resample_choose(const struct search *search, struct rng *rng, int *node,
                            enum search_step *step)
{
    const bool wants = rng_uniform(rng) < resample_share;
    const bool found = draw_decision(search, rng, node, step);
    return (wants && found) || mcts_choose(search, rng, node, step);
}

const struct search_policy search_policy_resample = {
    .name = "resample",
    .summary = "mcts that now and then decides again where a decision gained most",
    .choose = resample_choose,
};
