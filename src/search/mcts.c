/*
 * Monte Carlo tree search for programs that are expensive to evaluate: each visit is one evaluated
 * candidate, there are no roll-outs, and a run has tens of them.
 *   - On the way down each node is an arm among its children: to extend it once more is worth its
 * own log-ratio, to go on below a child the best of that subtree (we look for the best leaf, not
 * for the best average). UCT (Kocsis and Szepesvari 2006) decides: value + C sqrt(ln N / n), n
 * being how often the node was extended, or the visits of the child. So a node gets more children
 * only as long as none of them is clearly better than itself, where progressive widening would
 * spend a share of every node's visits on it.
 *   - Values are divided by the best log-ratio known, so that C means the same for a 1.1x and a 40x
 * kernel; before there is a gain, by a small one.
 *   - Virtual loss (Chaslot and others 2008): an evaluation on its way counts as a visit.
 *   - Steps are mostly large at the root and small below; the odds follow what each kind of step is
 * expected to gain, from the graph at first and from this tree as it grows.
 *   - Closed subtrees (nothing left to try, or nothing valid) are pruned.
 * docs/decisions/0033 has what this was compared with.
 */
#include "search/internal.h"

#include <math.h>

static const double large_share_root = 0.9, large_share_below = 0.125;
/* However much better one kind of step seems, the other keeps this share. */
static const double least_share = 0.05;
/* What values are divided by at least. */
static const double least_scale = 0.1;
/* A gain in log-ratio that is always thought possible. */
static const double least_gain = 0.02;

/* Visits that a policy sees: told and on their way. */
static double visits_of(const struct tree_node *node)
{
    return (double)(node->shown.visits + node->shown.in_flight);
}

/* Of an arm of a node, tried `visits` times, whose own visits have this logarithm. */
static double bound_of(const struct search *search, double log_ratio, double visits,
                       double log_visits)
{
    const double scale = fmax(least_scale, tree_best_log_ratio(search));
    return fmax(-1.0, log_ratio / scale) +
           search->opts.exploration * sqrt(log_visits / fmax(1.0, visits));
}

/* The child with the highest bound that is not closed; SEARCH_NO_NODE where there is none. */
static int best_child(const struct search *search, int node, double log_visits, double *best_bound)
{
    int best = SEARCH_NO_NODE;
    for (int child = search->nodes[node].first_child; child != SEARCH_NO_NODE;
         child = search->nodes[child].next_sibling) {
        const struct tree_node *c = &search->nodes[child];
        if (c->is_closed || !c->shown.outcome.is_valid)
            continue;
        const double bound = bound_of(search, c->shown.best_below, visits_of(c), log_visits);
        if (best == SEARCH_NO_NODE || bound > *best_bound) {
            best = child;
            *best_bound = bound;
        }
    }
    return best;
}

/* Is one more child of the node worth more than to go on below the best it has? */
static bool should_extend(const struct search *search, int node, double log_visits,
                          double child_bound)
{
    const struct tree_node *n = &search->nodes[node];
    const double tries = 1.0 + (double)(n->shown.child_count + n->pending);
    return bound_of(search, n->shown.outcome.log_ratio, tries, log_visits) >= child_bound;
}

/* What one more step of a kind should gain: experience and this tree, weighed by how much there is
 * of either. */
static double expected_gain(const struct search *search, enum search_step step, double prior)
{
    const double weight = search->opts.prior.weight;
    const double count = (double)search->step_count[step];
    if (weight + count <= 0)
        return 0;
    return (weight * fmax(0.0, prior) + search->step_gain[step]) / (weight + count);
}

static double large_share(const struct search *search, bool at_root)
{
    const double share = at_root ? large_share_root : large_share_below;
    const double large = expected_gain(search, STEP_LARGE, search->opts.prior.large_gain);
    const double small = expected_gain(search, STEP_SMALL, search->opts.prior.small_gain);
    const double odds = share / (1 - share) * (large + least_gain) / (small + least_gain);
    return fmin(1 - least_share, fmax(least_share, odds / (1 + odds)));
}

bool mcts_choose(const struct search *search, struct rng *rng, int *node, enum search_step *step)
{
    int at = SEARCH_ROOT, last_open = SEARCH_NO_NODE;
    while (at != SEARCH_NO_NODE) {
        const double log_visits = log(fmax(1.0, visits_of(&search->nodes[at])));
        double child_bound = 0;
        const int child = best_child(search, at, log_visits, &child_bound);
        if (tree_is_open(search, at)) {
            last_open = at;
            if (child == SEARCH_NO_NODE || should_extend(search, at, log_visits, child_bound))
                break;
        }
        at = child;
    }
    /* A path may end where all is on its way: then the deepest node that is open. */
    if (last_open == SEARCH_NO_NODE)
        return false;
    *node = last_open;
    *step =
        rng_uniform(rng) < large_share(search, last_open == SEARCH_ROOT) ? STEP_LARGE : STEP_SMALL;
    return true;
}

const struct search_policy search_policy_mcts = {
    .name = "mcts",
    .summary = "tree search that extends a candidate until what came of it is better",
    .choose = mcts_choose,
};
