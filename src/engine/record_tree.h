/* Inside engine/: the recorded decisions of a task as a graph of states that a search can be
 * simulated on (simulate.h). */
#ifndef KOPE_ENGINE_RECORD_TREE_H
#define KOPE_ENGINE_RECORD_TREE_H

#include "graph/graph.h"
#include "search/search.h"

/* A state is a candidate; RECORD_ROOT is the reference as it is. */
enum { RECORD_ROOT = 0 };

struct recorded_decision {
    const struct graph_decision *decision;
    int from, to; /* states */
    struct search_outcome outcome;
    bool is_judged;    /* else it took no evaluation: it came to nothing, or to known code */
    bool counts;       /* a win that was not refuted later: it can be the best */
    bool is_given;     /* the run began with it */
    bool is_dispatch;  /* made of two of the run; the search did not ask for it */
    int next_of_state; /* the next decision from the same state; -1 */
};

struct record_tree {
    struct recorded_decision *decisions; /* in the order of the runs, then of their decisions */
    size_t count;
    int *first_of_state; /* -1 where nothing was decided there */
    size_t state_count;
    double best_log_ratio;     /* 0 where the baseline stands */
    int64_t budget;            /* most that a run judged */
    struct search_prior prior; /* of the first run */
};

/* Decisions of the runs, oldest first, of one task on one machine. Decisions that were never judged
 * (a run that was cut) are left out. */
bool record_tree_load(struct graph *graph, const struct graph_run *const *runs, size_t run_count,
                      struct arena *arena, struct record_tree *out, struct err *err);

#endif
