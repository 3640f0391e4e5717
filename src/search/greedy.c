#include "search/internal.h"

/* Steps that start over from a plain parent are large; one of eight elsewhere, against local
 * optima. */
static const double large_share = 0.125;

/* The best open node; the older of equals. A dead end gives way to the next best. */
static bool greedy_choose(const struct search *search, struct rng *rng, int *node,
                          enum search_step *step)
{
    int best = SEARCH_NO_NODE;
    double best_log_ratio = 0;
    for (size_t i = 0; i < search->count; i++) {
        if (!tree_is_open(search, (int)i))
            continue;
        const double log_ratio = search->nodes[i].shown.outcome.log_ratio;
        if (best == SEARCH_NO_NODE || log_ratio > best_log_ratio) {
            best = (int)i;
            best_log_ratio = log_ratio;
        }
    }
    if (best == SEARCH_NO_NODE)
        return false;
    *node = best;
    *step = best == SEARCH_ROOT || rng_uniform(rng) < large_share ? STEP_LARGE : STEP_SMALL;
    return true;
}

const struct search_policy search_policy_greedy = {
    .name = "greedy",
    .summary = "always from the best candidate so far",
    .choose = greedy_choose,
};
