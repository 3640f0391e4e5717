/*
 * Monte Carlo tree search for programs that are expensive to evaluate: each visit is one evaluated
 * candidate, there are no roll-outs.
 *   - Progressive widening (Coulom 2007; Couetoux and others 2011): a node of N visits may have
 * ceil(c N^alpha) children.
 *   - UCT (Kocsis and Szepesvari 2006) picks among the children: value + C sqrt(ln N / n). The
 * value is the mean of the subtree's log-ratios and its best, half and half (we look for the best
 * leaf, not for the best average), divided by the best log-ratio known, so that C means the same
 * for a 1.1x and a 40x kernel.
 *   - Virtual loss (Chaslot and others 2008): an evaluation on its way counts as a visit with
 * reward 0.
 *   - Asymmetric branching: what a large step made is a structure and branches wide; what a small
 * step made differs in a size and branches half as much. Steps are mostly large at the root and
 * small below.
 *   - Priors from experience: the odds of a large step follow what each kind of step is expected to
 * gain, from the graph at first and from this tree as it grows.
 *   - Closed subtrees (nothing left to try, or nothing valid) are pruned.
 */
#include "search/internal.h"

#include <math.h>

static const double large_share_root = 0.75, large_share_below = 0.25;
/* However much better one kind of step seems, the other keeps this share. */
static const double least_share = 0.1;
/* A gain in log-ratio that is always thought possible. */
static const double least_gain = 0.02;

/* Visits that a policy sees: told and on their way. */
static double visits_of(const struct tree_node *node)
{
    return (double)(node->shown.visits + node->shown.in_flight);
}

static bool may_widen(const struct search *search, int node)
{
    const struct tree_node *n = &search->nodes[node];
    const double c = n->shown.outcome.step == STEP_SMALL ? 0.5 * search->opts.widening_c
                                                         : search->opts.widening_c;
    const double allowed = ceil(c * pow(fmax(1.0, visits_of(n)), search->opts.widening_alpha));
    return (double)(n->shown.child_count + n->pending) < allowed;
}

static double value_of(const struct search *search, const struct tree_node *node)
{
    const double scale = tree_best_log_ratio(search);
    if (scale <= 0)
        return 0;
    const double mean = node->reward_sum / fmax(1.0, visits_of(node));
    const double best = node->shown.best_below / (1.0 + (double)node->shown.in_flight);
    return fmax(-1.0, 0.5 * (mean + best) / scale);
}

/* The child with the highest upper bound that is not closed; SEARCH_NO_NODE where there is none. */
static int best_child(const struct search *search, int node)
{
    const double log_visits = log(fmax(1.0, visits_of(&search->nodes[node])));
    int best = SEARCH_NO_NODE;
    double best_bound = 0;
    for (int child = search->nodes[node].first_child; child != SEARCH_NO_NODE;
         child = search->nodes[child].next_sibling) {
        const struct tree_node *c = &search->nodes[child];
        if (c->is_closed || !c->shown.outcome.is_valid)
            continue;
        const double bound = value_of(search, c) +
                             search->opts.exploration * sqrt(log_visits / fmax(1.0, visits_of(c)));
        if (best == SEARCH_NO_NODE || bound > best_bound) {
            best = child;
            best_bound = bound;
        }
    }
    return best;
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
        if (tree_is_open(search, at)) {
            last_open = at;
            if (may_widen(search, at))
                break;
        }
        at = best_child(search, at);
    }
    /* A path that ends at a node whose children are all on their way: widen the deepest node that
     * allows it. */
    if (last_open == SEARCH_NO_NODE)
        return false;
    *node = last_open;
    *step =
        rng_uniform(rng) < large_share(search, last_open == SEARCH_ROOT) ? STEP_LARGE : STEP_SMALL;
    return true;
}

const struct search_policy search_policy_mcts = {
    .name = "mcts",
    .summary = "tree search that widens with visits and weighs gain against novelty",
    .choose = mcts_choose,
};
