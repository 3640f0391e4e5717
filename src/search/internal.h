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
    int pending;       /* search_next named this node and its child is not told yet */
    double reward_sum; /* of all outcomes in the subtree; a failed one counts 0 */
    bool is_exhausted; /* nothing more can be proposed from the node itself */
    bool is_closed;    /* nothing can be extended in its whole subtree, and nothing is on its way */
};

struct search_policy;

struct search {
    const struct search_policy *policy;
    struct search_opts opts; /* defaults filled in */
    struct tree_node *nodes;
    size_t count, capacity;
    int best;
    int64_t told, since_best, in_flight;
    char end_reason[96];
};

/*
 * A policy: names an open node (tree_is_open) and the size of the step. It is asked only while the
 * root is not closed; false where every open node is behind evaluations that are on their way.
 * `rng` is fresh for each choice.
 */
struct search_policy {
    const char *name, *summary;
    bool (*choose)(const struct search *search, struct rng *rng, int *node, enum search_step *step);
};

extern const struct search_policy search_policy_random, search_policy_greedy, search_policy_mcts;

/* A child can be proposed from this node: it is the root or a valid candidate, and not exhausted.
 */
bool tree_is_open(const struct search *search, int node);

/* Best log-ratio of all valid nodes; 0 at least (the baseline). */
double tree_best_log_ratio(const struct search *search);

#endif
