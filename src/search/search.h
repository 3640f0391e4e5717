/*
 * Search policies: which known candidate to go on from, and with how large a step. Pure and
 * deterministic for a seed: no clock, no I/O, no knowledge of kernels. Used by the engine, which
 * evaluates, and by the replay of recorded runs, which only looks up.
 *
 * Ask and tell: `search_next` names a node to extend, the caller proposes and evaluates a child,
 * `search_tell` records the outcome. Several children may be in flight (virtual loss). A run that
 * is resumed tells its recorded outcomes again, in order, and goes on. `search_run` is the simple
 * loop over an evaluator function for tests and replay. Policies: constants of `struct
 * search_policy` in a visible array: mcts, resample, adaptive, beam, greedy, random.
 */
#ifndef KOPE_SEARCH_SEARCH_H
#define KOPE_SEARCH_SEARCH_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SEARCH_ROOT = 0, SEARCH_NO_NODE = -1 };

/* A small step keeps the structure (one move, a size), a large one may change it. STEP_GIVEN is
 * never asked for: a candidate that came from elsewhere, as a remembered one. */
enum search_step { STEP_SMALL, STEP_LARGE, STEP_GIVEN };

struct search; /* opaque */

/* What experience expects of one step: the gain in log-ratio where there is one (a step that fails
 * or is slower counts 0), and how many steps that knowledge is worth. Weight 0: nothing is known.
 */
struct search_prior {
    double small_gain, large_gain;
    double weight;
};

struct search_opts {
    const char *policy; /* "mcts" where NULL; "beam:8" is a beam of that width */
    uint64_t seed;
    struct search_prior prior; /* mcts, resample: how they share out small and large steps */
    double exploration;        /* mcts: UCT constant on log-ratios scaled by the best; 0: 0.03 */
    int64_t stagnation;        /* stop after this many evaluations without a better one; 0: never */
};

/* What came of a child. */
struct search_outcome {
    bool is_valid;         /* timed */
    double log_ratio;      /* reward; ignored where not valid */
    double low, high;      /* its interval */
    enum search_step step; /* that made it */
    bool
        is_dead_end; /* nothing more can come from this node (all its moves are tried or refused) */
};

struct search_node {
    int parent; /* SEARCH_NO_NODE for the root */
    struct search_outcome outcome;
    int64_t visits; /* outcomes told in its subtree, its own included */
    int child_count;
    int in_flight;     /* evaluations on their way in its subtree, its own included */
    double best_below; /* best log-ratio in its subtree */
};

/* ERR_USAGE for a policy that does not exist or takes no number. */
bool search_check_policy(const char *policy, struct err *err);
bool search_open(const struct search_opts *opts, struct search **out, struct err *err);
void search_close(struct search **search);

/* The node to extend and the size of the step; false when there is nothing left to extend, or
 * stagnation. */
bool search_next(struct search *search, int *node, enum search_step *step);

/* A child of `parent` with its outcome; returns its number (1, 2, ... in the order told). */
int search_tell(struct search *search, int parent, const struct search_outcome *outcome);

/* The proposer had nothing for `node` (in answer to search_next): it is a dead end, no evaluation
 * was paid. */
void search_tell_exhausted(struct search *search, int node);

/* Best valid node so far (SEARCH_ROOT where none beats it), nodes, why the search ended ("" while
 * it goes on). */
int search_best(const struct search *search);
size_t search_node_count(const struct search *search);
const struct search_node *search_node(const struct search *search, int node);
const char *search_end_reason(const struct search *search);

size_t search_policies(const char **names, const char **summaries, size_t capacity);

/* Evaluates a child of `parent` (the step need not be filled in); false stops the loop. The child's
 * number will be the count of nodes so far. */
struct search_evaluator {
    bool (*evaluate)(void *context, int parent, enum search_step step, struct search_outcome *out);
    bool (*can_extend)(
        void *context,
        int parent); /* false: `parent` is exhausted, nothing is paid; NULL: always true */
    void *context;
};
/* Until `budget` outcomes are told in all, or the search ends; false where the evaluator stopped
 * it. */
bool search_run(struct search *search, const struct search_evaluator *evaluator, int64_t budget);

#endif
