/*
 * Retention by value: what a memory can do without.
 *
 * The value of a decision says what is lost with it, never how old it is:
 *   4 a confirmed win, 2 another win;
 *   1 / n for each of its moves, shared among them, where n decisions with that move were judged on
 *     the task and target: the first tells much, the thousandth nothing;
 *   1 / n for a failure, where n failed in the same way (kind, mechanism) in the family on the
 *     target;
 *   1/4 for each context that showed it.
 * A decision is worth at least what any decision that came of it is worth: a path stays whole.
 * Pinned, whatever the value: the best of a run, what a run began from, what others are derived
 * from, the best known of a task on a target, evidence of a skill. Too noisy or never judged: 0.
 *
 * With a decision go its outcomes and findings, and the contexts and exchanges that only pruned
 * decisions name. Runs, tasks, targets, skills and notes stay.
 */
#ifndef KOPE_GRAPH_PRUNE_H
#define KOPE_GRAPH_PRUNE_H

#include "graph/graph.h"

struct graph_prune_opts {
    double below;       /* prune what is worth less; 0: by size alone */
    int64_t keep_bytes; /* prune the least worth until events and bodies fit; 0: by value alone */
    bool is_dry_run;    /* only say what would be pruned */
};

struct graph_pruned {
    int64_t decisions, pinned; /* in the memory; kept whatever they are worth */
    int64_t pruned_decisions, pruned_events, pruned_bytes; /* bytes of their records and bodies */
    int64_t bytes;                      /* of all records and the bodies that they name, before */
    double highest;                     /* value of the most valuable that is pruned */
    struct journal_compacted compacted; /* zeros for a dry run */
};

/* The graph must have caught up; after it, it is rebuilt where anything was pruned. ERR_USAGE where
 * neither bound is given. */
bool graph_prune(struct graph *graph, struct journal *journal, const struct graph_prune_opts *opts,
                 struct graph_pruned *out, struct err *err);

#endif
