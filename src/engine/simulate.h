/*
 * Search policies on recorded outcomes: what would another policy have found, had it searched where
 * earlier runs searched? Nothing is built or measured; no proposer is asked.
 *
 * The record of a task on a machine is a graph: states are candidates, and a decision leads from
 * one to another and has an outcome. A simulated search that asks for a child of a state gets one
 * of the decisions that were recorded there, of the size of step that it asked for where there is
 * one left, else of the other size. Where none is left the answer is unknown: the search is told
 * that the state is exhausted, and the share of asks that the record could answer is reported as
 * the coverage. A result says nothing about what was never tried.
 *
 * Under its own policy, seed and budget a run must come out as it was recorded, decision by
 * decision; simulate_exactly checks that. Under several seeds the order of a state's decisions is
 * drawn too, as another seed of the proposer might have made them, and a candidate that was
 * measured several times gives one of its outcomes.
 *
 * Used by 'kope replay'. Only reads the memory. Threads: any, one memory each.
 */
#ifndef KOPE_ENGINE_SIMULATE_H
#define KOPE_ENGINE_SIMULATE_H

#include "base/arena.h"
#include "base/err.h"
#include "stats/stats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A run under its own policy and seed. */
struct exact_replay {
    const char *run_id, *task_name, *policy;
    uint64_t seed;
    bool is_same;
    const char *difference;    /* the first; "" where the same */
    int64_t decisions;         /* that came in the recorded order */
    const char *best_decision; /* "" where the baseline stands */
    double best_log_ratio;
    int64_t evaluations;
    int64_t unanswered; /* asks that no decision was recorded for: the proposer had nothing */
};

/* `run`: id, prefix or "last". ERR_UNSUPPORTED where no search policy drove it. */
bool simulate_exactly(const char *memory_dir, const char *run, struct arena *arena,
                      struct exact_replay *out, struct err *err);

struct simulate_opts {
    const char *memory_dir;
    const char *run;             /* only this one; NULL: all runs of each task, taken together */
    const char *task;            /* name, or beginning of an id; NULL: every task */
    const char *const *policies; /* at least one */
    size_t policy_count;
    int64_t seeds;  /* 0: 20 */
    int64_t budget; /* candidates; 0: the largest of the runs */
    bool draws;     /* gains drawn from the intervals of their measurements */
};

/* A policy on the record of a task, over the seeds. Where a seed did not get that far within the
 * budget, it counts as budget + 1 evaluations. */
struct simulated_policy {
    const char *policy;
    struct stats_interval to_90,
        to_95;                      /* evaluations to 90 and 95 % of the best recorded speedup */
    int64_t reached_90, reached_95; /* seeds */
    struct stats_interval best;     /* log-ratio at the budget */
    double coverage;                /* share of asks that the record answered */
    double other_step;              /* share of answers with the other size of step */
    int64_t spent;                  /* seeds that ended before the budget: nothing was left */
};

struct simulated_task {
    const char *task_id, *task_name, *target_id;
    int64_t runs, decisions, states;
    double best_log_ratio; /* recorded */
    int64_t seeds, budget;
    const struct simulated_policy *policies; /* as many as were asked for */
};

/* One for each task and machine. ERR_NOT_FOUND where there is nothing recorded. */
bool simulate(const struct simulate_opts *opts, struct arena *arena,
              const struct simulated_task **out, size_t *out_count, struct err *err);

#endif
