/*
 * The children that make a probe: the baseline, the oracle (the reference in double), and for tasks
 * in float64 the baseline in float32, each loaded for one case. What they are given is data of the
 * gate's; what they do wrong is the reference's fault, and refused with words for its author.
 *
 * A slow reference may have a twin: another text of it, faster, that is said to come to the same
 * bits. Whoever says so is not believed. On the first inputs of a bench the twin runs beside the
 * reference, in both types, and every bit has to agree. On those that follow the reference itself
 * runs once, in the task's type, and where the twin gives all of its bits, it stands in for the
 * oracle and for the runs on inputs that are moved by an ulp.
 *
 * Threads: one caller at a time. Baseline and oracle run side by side where a crew is free: of a
 * slow reference these runs are most of what opening a gate and confirming a winner take.
 */
#ifndef KOPE_GATE_BENCH_H
#define KOPE_GATE_BENCH_H

#include "gate/internal.h"

enum { BENCH_MOST_TRIALS = 15 };

struct bench {
    struct gate *gate;
    size_t case_index;
    const struct task_case *problem;
    const size_t *rooms; /* NULL: of the case */
    bool has_oracle;
    struct rig baseline, oracle, shadow;
    struct rig twin, twin_oracle; /* no session until it is known that the reference is slow */
    enum { TWIN_UNTRIED, TWIN_HOLDS, TWIN_NONE } twin_state;
    bool uses_twin;            /* on the inputs at hand */
    int64_t slowest_ns;        /* call of the reference seen so far */
    unsigned trials;           /* runs on other inputs, for units and errors */
    bool draws_anew;           /* every second of them on newly drawn inputs */
    unsigned doubts;           /* times that a child was started again */
    size_t situation;          /* of DISTRIBUTION_SITUATION */
    void *wide[TASK_MAX_ARGS]; /* inputs as the oracle takes them; used again by each run */
};

/* `rooms` NULL: each argument with a margin. False: nothing is left open. */
bool bench_open(struct gate *gate, size_t case_index, const struct task_case *problem,
                const size_t *rooms, struct bench *bench, struct err *err);
void bench_close(struct bench *bench);
/* To another shape, with the same rooms. */
void bench_move(struct bench *bench, const struct task_case *problem);

/* Baseline and oracle on the probe's own inputs, as bench_run; decides whether the twin stands in
 * for them in those runs of bench_run that follow. */
bool bench_run_first(struct bench *bench, const struct probe *probe, void *const *base,
                     double *const *want, struct err *err);
/* Baseline and oracle on `inputs`, in the task's dtypes. `base[arg]` gets all outputs of the
 * baseline, `want[arg]` those of the oracle that are compared, as doubles; NULL: that one does not
 * run. `moved`: inputs too coarse for the task's arithmetic are moved by a place of it for the
 * oracle. */
bool bench_run(struct bench *bench, const struct probe *probe, void *const *inputs, bool moved,
               void *const *base, double *const *want, struct err *err);
/* The baseline in float32, on inputs in that; results stay in its rig, at `call`. */
bool bench_run_shadow(struct bench *bench, const struct probe *probe, void *const *inputs,
                      struct session_call *call, struct err *err);

/* Is what the task stores coarser than what it computes in? */
bool bench_is_coarse(const struct task *task);
/* False, with words: the reference `what`: `why`. */
bool bench_refuse(const struct bench *bench, struct err *err, const char *what, const char *why);

/* Zeroed. */
void *bench_get(size_t count, size_t bytes);
/* Frees the arrays of a list of arguments. */
void bench_free_args(void **arrays);

#endif
