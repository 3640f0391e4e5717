/*
 * Inside command/: a memory as training data, for `kope memory export`. docs/memory-export.md is
 * the schema; what is written here must be said there.
 */
#ifndef KOPE_COMMAND_TRAINING_H
#define KOPE_COMMAND_TRAINING_H

#include "engine/engine.h"
#include "graph/graph.h"
#include "json/json.h"

/* Of a candidate that failed, in units of log-speedup. */
#define TRAINING_FAILURE_REWARD (-1.0)
enum { TRAINING_PAIRS_PER_PARENT = 200 };

struct training_reward {
    bool is_known; /* false: not judged, or too noisy to tell */
    double value, low, high;
};
struct training_reward training_reward_of(const struct graph_decision *decision);

/* Decisions that are compared: sum of their rewards. */
struct training_group {
    const char *kind; /* "siblings": of one task, target and parent; "run" */
    int64_t count;
    double sum, sum_squares;
};

/* Siblings at the baseline are those of all runs of a task on a target. */
struct training_start {
    const char *task_id, *target_id;
    struct training_group group;
};
struct training_starts {
    struct training_start *items;
    size_t count, capacity;
};
/* Takes in the decisions of a run. */
void training_starts_add(struct training_starts *starts, const struct graph_decisions *run,
                         struct arena *arena);
void training_starts_free(struct training_starts *starts);

/* One line: a run with all of its steps. */
void training_write_trajectory(const struct graph_run *run, const struct graph_decisions *steps,
                               const struct training_starts *starts, struct buf *out);

/* Pairs of siblings of a run whose intervals separate, for each of which `write` is called: wide
 * apart or not, but at most TRAINING_PAIRS_PER_PARENT; `*left_out` counts those beyond. */
struct training_pair {
    const struct graph_run *run;
    const struct graph_decision *better, *worse;
    struct training_reward better_reward, worse_reward;
};
bool training_each_pair(const struct graph_run *run, const struct graph_decisions *steps,
                        bool (*write)(void *context, const struct training_pair *pair,
                                      struct err *err),
                        void *context, int64_t *left_out, struct err *err);
/* One line; a source is NULL where the store does not have it. */
void training_write_pair(const struct training_pair *pair, const char *better_source,
                         const char *worse_source, struct buf *out);

#endif
