/* Inside suite/: results as they lie on the disk, and the runs that make them. */
#ifndef KOPE_SUITE_INTERNAL_H
#define KOPE_SUITE_INTERNAL_H

#include "suite/suite.h"

/* A run that has ended. */
struct suite_result {
    const char *arm, *task, *family;
    int64_t seed;
    const char *run_id, *end_reason;
    int64_t evaluations, tokens;
    double seconds;
    bool has_win;
    double log_ratio;    /* confirmed; 0 where there is no win */
    const double *curve; /* best log-ratio after 1 .. evaluations, 0 while the baseline stands */
};

struct suite_results {
    struct suite_result *items; /* in the arena; there is always room for one more */
    size_t count, capacity;
};

/* results.jsonl. A line that a kill cut short is dropped; any other that is no result is
 * ERR_CORRUPT with its number. A missing file is empty. */
bool results_read(const char *dir, struct arena *arena, struct suite_results *out, struct err *err);
/* Adds one and writes all anew, atomically and durably. */
bool results_add(const char *dir, struct suite_results *results, const struct suite_result *result,
                 struct arena *arena, struct err *err);
const struct suite_result *results_find(const struct suite_results *results, const char *arm,
                                        const char *task, int64_t seed);

struct suite_task {
    const char *name, *dir, *family, *id;
    int64_t threads;
};

struct suite {
    const struct suite_opts *opts;
    const struct observer *observer;
    struct arena *arena;
    struct suite_plan plan;
    struct suite_task tasks[SUITE_MAX_TASKS];
    size_t task_count;
    int64_t first_seed, seeds, start_ns;
    struct suite_results results;
    struct suite_progress progress;
    /* Of the runs of this process, for the time that is left. */
    double arm_seconds[SUITE_MAX_ARMS];
    int64_t arm_runs[SUITE_MAX_ARMS];
};

/* A run: of an arm, on a task, with a seed. */
struct suite_job {
    size_t arm, task;
    int64_t seed;
};

/* Does a run of an arm with leave_out know the runs of the other task? */
bool suite_remembers(const struct suite *suite, const struct suite_arm *arm, size_t task,
                     size_t other);

/* What is measured of the machine, for all memories of the suite. */
const char *suite_targets_dir(const struct suite *suite);

/* What is known of a run when it is over for now. */
struct suite_outcome {
    bool ended;   /* false: it was interrupted */
    bool resumed; /* it had been begun before */
};

/* Runs it, or goes on with it where it was begun. Writes to its own memory and to 'targets'. */
bool suite_run_job(struct suite *suite, const struct suite_job *job, struct suite_outcome *out,
                   struct err *err);
/* Takes what a run that has ended came to into the results. */
bool suite_keep_job(struct suite *suite, const struct suite_job *job, struct err *err);

/* Runs what is not done yet, in order, several at a time where that is asked for. */
bool suite_run_all(struct suite *suite, struct err *err);

#endif
