/*
 * Suites: many tasks, several arms, the same compute in each, and what that says.
 *
 * An arm is a way of working (with memory or without, which policy, which proposer). Each (seed,
 * task, arm) is a run of 'kope optimize' in a memory of its own below the folder of results, which
 * is filled with what the arm may know before the run begins:
 *   off      nothing
 *   frozen   a memory that is given, as it is
 *   on       what the arm's own runs of the earlier tasks left, in the order of the tasks; or, with
 *            leave_out, what the runs of an arm without memory left, with the same seed, on all
 *            other tasks (leave_out: task) or on the tasks of other families (leave_out: family)
 *
 *   RESULTS/arms.yaml, RESULTS/tasks        the arms, and id and name of each task, as they were
 *                                           when the suite began; others need another folder
 *   RESULTS/results.jsonl                   a line for each run that has ended
 *   RESULTS/memory/ARM/SEED/TASK/           its memory
 *
 * A suite that was stopped goes on where it was when it is run again: runs that have ended are not
 * run again, one that was cut is resumed. Unless the budget has a limit of seconds, machine code
 * that an earlier run of the suite measured for the same task is not measured again, and a
 * candidate that one judged or confirmed is not even built: that costs an arm nothing and gives it
 * nothing, since candidates are counted all the same. Who uses it: command.
 *
 * With several jobs, runs that do not need each other go on at the same time, each in a worker (a
 * copy of this process, os/worker.h) that is pinned to a processor of its own. A run waits for
 * those whose memory or record it takes, which are the ones it would have found had all gone one
 * after the other: what comes out is the same (decision 35). Workers write to the memories of their
 * own runs; the folder of results is the parent's.
 *
 * Threads: one suite, one thread, and with several jobs no other in the process; two processes on
 * one folder exclude each other.
 */
#ifndef KOPE_SUITE_SUITE_H
#define KOPE_SUITE_SUITE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "engine/engine.h"
#include "stats/stats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SUITE_MAX_ARMS = 16, SUITE_MAX_TASKS = 1000, SUITE_MAX_SEEDS = 1000 };

enum suite_memory { SUITE_OFF, SUITE_ON, SUITE_FROZEN };
enum suite_leave_out { SUITE_NOTHING, SUITE_TASK, SUITE_FAMILY };

struct suite_arm {
    const char *name; /* of letters, digits, '-' and '_' */
    enum suite_memory memory;
    enum suite_leave_out leave_out; /* on */
    const char *from;               /* on, leave_out: an arm that stands before; frozen: a folder */
    const char *place;              /* of `from`: "file:line:column" */
    const char *policy, *proposer, *model; /* NULL: the default */
    bool passive;                          /* context */
    bool use_findings;                     /* findings: offline */
};

/* What a file of arms says. */
struct suite_plan {
    const struct suite_arm *arms; /* the first is what the others are compared with */
    size_t arm_count;
    int64_t candidates, seconds, tokens; /* of each run; 0: no limit of that kind */
    int64_t case_ms, confirm_ms;         /* most time for timing a case; 0: as in any run */
    double half_width; /* of an interval in log-ratio that is enough; 0: likewise */
    bool is_reused;    /* measurements */
    const char *text;  /* the file */
};

/* ERR_BAD_INPUT with file:line:column. A folder in `from` is relative to the file. */
bool suite_read_arms(const char *path, struct arena *arena, struct suite_plan *out,
                     struct err *err);

struct suite_opts {
    const char *dir;     /* with a folder for each task */
    const char *arms;    /* file */
    const char *results; /* folder */
    const char *tasks;   /* names with commas between; NULL: all */
    int64_t seeds;       /* 0: 1 */
    int64_t first_seed;  /* 0: 1 */
    int64_t minutes;     /* no run is begun after so many; 0: no limit */
    int64_t jobs;        /* runs at the same time, each with a processor of its own; 0: 1 */
    const char *target;  /* NULL: "cpu" */
    const struct config *config;
};

struct suite_progress {
    int64_t runs, done, done_before, resumed;
    bool is_interrupted;
};

/* Each run that ends is told to `observer` as a PROGRESS_STAGE line, with the time that is left. */
bool suite_run(const struct suite_opts *opts, const struct observer *observer, struct arena *arena,
               struct suite_progress *out, struct err *err);

/* An arm over all tasks and seeds that every arm has done. Intervals are 95 %, by bootstrap over
 * the tasks. Evaluations: those until 95 % of the best speedup that any run of the suite confirmed
 * for the task (found, where none is confirmed); a run that never got there counts as one more than
 * it judged. */
struct suite_arm_result {
    const char *name;
    int64_t runs, reached, wins;
    struct stats_interval speedup;     /* geometric mean of confirmed speedups; no win counts 1 */
    struct stats_interval evaluations; /* geometric mean */
    /* Of the first arm over this one, paired by task and seed: above 1, this arm needs fewer. */
    struct stats_interval fewer;
    struct stats_interval faster; /* this arm's speedup over the first one's */
    double seconds;               /* all runs */
    int64_t tokens;
    const double *share; /* of that best speedup, geometric mean, after 1 .. budget evaluations */
};

struct suite_task_result {
    const char *name, *family;
    double best;         /* speedup */
    double *evaluations; /* by arm: geometric mean over the seeds; NaN where an arm lacks it */
    double *speedups;    /* by arm */
};

struct suite_summary {
    const struct suite_arm_result *arms;
    const struct suite_task_result *tasks;
    size_t arm_count, task_count;
    int64_t seeds, budget;
    int64_t left_out; /* runs without a partner in every arm */
};

bool suite_summarise(const char *results, struct arena *arena, struct suite_summary *out,
                     struct err *err);
void suite_write_text(const struct suite_summary *summary, struct arena *arena, struct buf *out);
void suite_write_json(const struct suite_summary *summary, struct buf *out);
/* How near to the best, after so many evaluations, by arm. */
void suite_write_svg(const struct suite_summary *summary, struct arena *arena, struct buf *out);

#endif
