/*
 * What experience is worth here: the posterior of each move's gain on this task and machine, and
 * how much what was measured elsewhere may differ from what would be measured here.
 *
 * Gains (log-ratios) of a move hang in a tree: all, family, family and shape regime, task
 * (stats/hierarchy.h); what was measured on another machine is less exact by the distance between
 * the machines. How far families, regimes, tasks and machines differ is learned from the moves
 * tried in several of them, for each kind of knowledge: structure carries over, sizes do not, and
 * how much that is so is what memory says. Without experience the priors in transfer.c hold.
 *
 * For the beliefs of the offline proposer and the scores of retrieved evidence. Pure but for the
 * graph's queries; what it gives is the arena's.
 */
#ifndef KOPE_CONTEXT_TRANSFER_H
#define KOPE_CONTEXT_TRANSFER_H

#include "base/arena.h"
#include "base/err.h"
#include "graph/graph.h"

#include <stdbool.h>
#include <stddef.h>

enum knowledge { KNOWLEDGE_STRUCTURE, KNOWLEDGE_SIZES, KNOWLEDGE_FLAGS, KNOWLEDGE_COUNT };
const char *knowledge_name(enum knowledge kind); /* "structure" */

struct transfer_move {
    const char *name;
    enum knowledge kind;
    double prior_log_ratio;
    bool own_family; /* what it gained in other families says nothing here */
};

struct transfer_place {
    const char *task_id, *family, *regime, *target_id;
};

struct transfer_belief {
    const char *move;
    enum knowledge kind;
    double mean, sd;     /* of the gain here, in log-ratio */
    double evidence;     /* decisions in the narrowest scope that has any */
    double failure_rate; /* of them, drawn towards that of the wider scopes */
    /* Where it did best and worst, of cells that exclude no effect; NULL: there is none. */
    const struct graph_move_cell *best, *worst;
};

/* By how much what was measured elsewhere varies around what would be measured here. */
struct transfer_discount {
    double family, regime, task;               /* variances of a step of that kind */
    double machine;                            /* variance at a distance of 1 */
    size_t families, regimes, tasks, machines; /* comparisons that they were learned from */
};

struct transfer {
    struct transfer_place here;
    const struct transfer_belief *beliefs; /* in the order of the moves that were given */
    size_t belief_count;
    struct transfer_discount discounts[KNOWLEDGE_COUNT];
    const struct graph_target *targets; /* by id */
    size_t target_count;
};

bool transfer_learn(struct graph *graph, const struct transfer_move *moves, size_t count,
                    const struct transfer_place *here, struct arena *arena, struct transfer *out,
                    struct err *err);

/* Between machines, by what was measured of them: the root of the sum of squared log-ratios of
 * peak, bandwidth and vector length, and 1 more for another architecture. 0 for the same id; 1
 * where one is unknown. */
double transfer_distance(const struct transfer *transfer, const char *target_id);

/* Variance of a gain measured there around the same gain here. */
double transfer_variance(const struct transfer *transfer, enum knowledge kind,
                         const struct transfer_place *there);

/* NULL where the move is not among those given. */
const struct transfer_belief *transfer_find(const struct transfer *transfer, const char *move);

#endif
