/*
 * Inside search: the tree that policies look at, and the contract of a policy.
 *
 * A policy only chooses. The tree (search.c) keeps counts, dead ends and outcomes, so every policy
 * sees the same facts, and a choice depends on nothing but the tree and the seed: a run that is
 * told its outcomes again goes on exactly as it would have.
 */
#ifndef KOPE_SEARCH_INTERNAL_H
#define KOPE_SEARCH_INTERNAL_H

#include "base/rng.h"
#include "search/search.h"

struct tree_node {
    struct search_node shown;                  /* what search_node() gives */
    int first_child, last_child, next_sibling; /* SEARCH_NO_NODE where none */
    int depth;
    int pending;        /* search_next named this node and its child is not told yet */
    int small_pending;  /* of these, by small steps */
    int small_children; /* told */
    double reward_sum;  /* of all outcomes in the subtree; a failed one counts 0 */
    bool is_exhausted;  /* nothing more can be proposed from the node itself */
    bool is_closed; /* nothing can be extended in its whole subtree, and nothing is on its way */
};

struct search_policy;

struct search {
    const struct search_policy *policy;
    struct search_opts opts; /* defaults filled in */
    struct tree_node *nodes;
    size_t count, capacity;
    int best;
    int64_t told, since_best, in_flight;
    int64_t step_count[2]; /* told, by step; STEP_GIVEN is not counted */
    double step_gain[2];   /* sum of what they gained over their parents, 0 where nothing */
    int64_t beam_width;
    char end_reason[96];
};

/*
 * A policy: names an open node (tree_is_open) and the size of the step. It is asked only while the
 * root is not closed; false where every open node is behind evaluations that are on their way.
 * `rng` is fresh for each choice.
 *
 * A resumed run does not know which nodes its proposer had nothing for; it finds out by asking
 * again. So a policy must choose alike whether or not it knows an exhausted node that it would not
 * have chosen: rank all nodes, draw for all nodes, and take the first that is open.
 */
struct search_policy {
    const char *name, *summary;
    bool takes_width; /* "NAME:WIDTH" */
    bool (*choose)(const struct search *search, struct rng *rng, int *node, enum search_step *step);
};

extern const struct search_policy search_policy_random, search_policy_greedy, search_policy_beam,
    search_policy_adaptive, search_policy_mcts, search_policy_resample;

/* For policies that fall back on it. */
bool mcts_choose(const struct search *search, struct rng *rng, int *node, enum search_step *step);

/* log(weight) plus Gumbel noise: the largest of several such keys is drawn with chances in
 * proportion to the weights, and what is left out does not move the others (Gumbel-max). A weight
 * of 0 gives minus infinity, but uses up its random number all the same. */
double tree_draw_key(struct rng *rng, double weight);

/* A child can be proposed from this node: it is the root or a valid candidate, and not exhausted.
 */
bool tree_is_open(const struct search *search, int node);

/* Best log-ratio of all valid nodes; 0 at least (the baseline). */
double tree_best_log_ratio(const struct search *search);

#endif
