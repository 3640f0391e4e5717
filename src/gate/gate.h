/*
 * The gate: the one place where a candidate earns a verdict.
 *
 * screen -> build -> check -> time -> (recheck). The gate owns the random numbers, the oracle, the
 * comparison, the flags of the link and the clock; the candidate runs boxed in a session of the
 * target. It is opened for one task on one target and keeps the baseline, the oracle and warm
 * children between candidates. Mechanisms M1..M17 are described in docs/how-we-measure.md. Threads:
 * one gate, one thread.
 */
#ifndef KOPE_GATE_GATE_H
#define KOPE_GATE_GATE_H

#include "base/arena.h"
#include "base/err.h"
#include "target/target.h"
#include "task/candidate.h"
#include "task/task.h"
#include "task/verdict.h"

#include <stdbool.h>
#include <stdint.h>

struct gate; /* opaque */

/* Zero means the default. */
struct gate_opts {
    int64_t call_limit_ns;  /* hard wall clock for one call: 2 s, at least 20 x the baseline's */
    int64_t time_budget_ns; /* most time for the paired timing of one case: 1.5 s in search, 10 s in
                               recheck */
    int64_t confirm_budget_ns; /* the same in the recheck alone; 0: time_budget_ns or its default */
    int64_t max_pairs;         /* per case: 120 in search, 400 in recheck */
    double half_width; /* stop when the 95 % interval is within this: 0.02 in search, 0.005 in
                          recheck */
    size_t memory_limit_bytes; /* of the child beyond buffers: 1 GiB */
    bool check_only;           /* no timing: `timed` without cases means right */
    const char *twin; /* another text of the reference, faster, which comes to the same bits; NULL:
                         none. Where the reference is slow it makes most of the runs of the oracle
                         and none that are timed. It is not believed: see bench.h. Must outlive
                         gate_open. */
    int64_t twin_from_ns; /* a call of the reference that is slow: 50 ms */
};

/* `opts` NULL: all defaults. Loads reference and null battery: a task that an empty, zero,
 * constant, copying or reversing kernel passes is refused (ERR_BAD_INPUT, naming the case). Also
 * refused: a reference that does not build, or crashes, or is not finite. */
bool gate_open(struct target *target, const struct task *task, const struct gate_opts *opts,
               struct gate **out, struct err *err);
void gate_close(struct gate **gate);

/* The gate_id of the gate that gate_open would open, by building the reference alone: enough to
 * look for verdicts that are recorded. */
bool gate_identify(struct target *target, const struct task *task, struct hash_id *out,
                   struct err *err);

/* Judges on the cases that are not held out. `race_log_ratio`: the best so far; a candidate whose
 * whole interval is below it stops early (its interval is then wide); pass -INFINITY for none. */
bool gate_judge(struct gate *gate, const struct candidate *candidate, double race_log_ratio,
                struct arena *arena, struct verdict *out, struct err *err);

/* Builds several candidates at once and keeps what came of it, so that gate_judge of each finds its
 * build done. No measurement must be going on. */
bool gate_build_ahead(struct gate *gate, const struct candidate *const *candidates, size_t count,
                      struct err *err);

/* Judges a winner again: new seed, clean build, every case and the held-out shapes, tighter
 * intervals. */
bool gate_confirm(struct gate *gate, const struct candidate *candidate, struct arena *arena,
                  struct verdict *out, struct err *err);

/*
 * Two candidates against each other, timed as a candidate is against the baseline. Opening builds
 * and checks both; the contest may then be timed many times, each time with new data and new
 * processes. Ratios are a's time / b's time: positive logarithms mean that b is faster; baseline_ns
 * of a case is a's time. The arena given to open must outlive the contest.
 */
struct gate_contest; /* opaque */

struct contest_opts {
    int64_t time_budget_ns; /* of one case: 3 s, in a confirmation 10 s; two thirds more where the
                               interval is still wider than 1.2 % either way */
    int64_t max_pairs;      /* per case: 1000, in a confirmation 400 */
    double half_width;      /* that is enough: 0.01, in a confirmation 0.005 */
    bool confirm;           /* clean builds, every distribution, the held-out cases too */
    const char *only_case;  /* its name; NULL: all */
    bool has_cold;          /* times with cold caches too, as a confirmation does */
};

/* `verdicts` are those of the checks, of a and b: `timed` without cases where right. `*out` is NULL
 * where one is not; ERR_NOT_FOUND for an unknown case. */
bool gate_contest_open(struct gate *gate, const struct candidate *a, const struct candidate *b,
                       const struct contest_opts *opts, struct arena *arena,
                       struct verdict verdicts[2], struct gate_contest **out, struct err *err);
/* `*about_a`: a verdict that is not `timed` concerns a, not b. */
bool gate_contest_time(struct gate_contest *contest, struct arena *arena, struct verdict *out,
                       bool *about_a, struct err *err);
void gate_contest_close(struct gate_contest **contest);

/* Loads a verdict of an earlier run, so that the same machine code is not measured again (the
 * verdict then says from_record). False where it is not of this gate_id, or is nothing that lasts.
 */
bool gate_recall(struct gate *gate, const struct verdict *earlier);

/* Where a candidate that passed spends its time, in a case (NULL, or one that is held out: the one
 * in which the baseline is slowest) in which a call takes about `call_ns` (0: as the baseline). It
 * is built once more, with lines, and runs boxed and warm on new data as it does when it is timed.
 */
struct gate_watch {
    const char *problem; /* why nothing is known; "" */
    const char *case_name;
    struct session_samples samples;
    int64_t period_ns; /* of CPU time between two of them */
    const void *image; /* that they are of; memory of the arena */
    size_t image_bytes;
};
bool gate_watch(struct gate *gate, const struct candidate *candidate, const char *case_name,
                int64_t call_ns, struct arena *arena, struct gate_watch *out, struct err *err);

/* Misses of simulated caches in one call of a candidate that passed, at a case (as for gate_watch)
 * made smaller: its longest axis halved until the baseline would take 20 ms. */
struct gate_misses {
    const char *problem; /* why nothing is known; "" */
    struct tool_output said;
    const char *shape; /* "m=128 n=128 k=128" */
    double bytes;      /* of all arguments */
};
bool gate_misses(struct gate *gate, const struct candidate *candidate, const char *case_name,
                 struct arena *arena, struct gate_misses *out, struct err *err);

/* What a verdict depends on: gate version, tolerances, task id, target id. */
struct hash_id gate_id(const struct gate *gate);

/* About what gate_confirm will take on this machine as it is now; wrong by a factor of two where
 * the load changes. */
int64_t gate_forecast_confirm_ns(const struct gate *gate);

/* Median time of one baseline call in a case, 0 before it was measured. */
int64_t gate_baseline_ns(const struct gate *gate, size_t case_index);

#endif
