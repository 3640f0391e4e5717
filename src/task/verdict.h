/*
 * A verdict: what the gate found about a candidate, with its evidence. An outcome, never an error.
 * A value; its strings are the arena's that was given to the gate.
 */
#ifndef KOPE_TASK_VERDICT_H
#define KOPE_TASK_VERDICT_H

#include "base/arena.h"
#include "base/hash.h"
#include "task/task.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum verdict_kind {
    VERDICT_BUILD_FAILED, /* does not compile or link under the gate's rules */
    VERDICT_REJECTED,     /* cheats or breaks a rule: the mechanism is named */
    VERDICT_WRONG,        /* a result out of the precision class, or not written */
    VERDICT_CRASHED,      /* a signal, a fault, memory over the limit */
    VERDICT_TIMED_OUT,    /* killed at the wall-clock limit */
    VERDICT_TOO_NOISY,    /* the host does not allow a measurement; never a lesson */
    VERDICT_TIMED,        /* right, and measured */
    VERDICT_COUNT
};

const char *verdict_kind_name(enum verdict_kind kind); /* "build-failed" */
bool verdict_kind_from_name(const char *name, enum verdict_kind *out);
/* Exit code of `kope check`: 0 for timed, 20 + kind for the others. */
int verdict_kind_exit_code(enum verdict_kind kind);

/* Mechanisms that take no measurement, and so no evaluation of a budget: a rule refused to build,
 * or the machine code was judged before in the same run. */
#define VERDICT_BY_RULE "rule"
#define VERDICT_BY_REPEAT "repeat"
bool verdict_is_evaluation(const char *mechanism);

/* One pair of a case, of one call each. */
struct timed_sample {
    int64_t process; /* pairs of one process share its layout */
    double baseline_ns, candidate_ns;
};

/* The same case with the data of every call in memory, in no cache. */
struct cold_result {
    int64_t pairs; /* 0: not measured */
    double log_ratio, log_low, log_high;
    int64_t baseline_ns, candidate_ns; /* median time of one call */
};

/* One case, measured. Ratios are baseline / candidate: above 1 is faster. */
struct case_result {
    const char *name;
    double weight;
    bool held_out;
    double log_ratio;         /* median paired log-ratio (natural), positive is faster */
    double log_low, log_high; /* its 95 % interval, wherever sampling stopped */
    double noise;             /* error of a median of as many of this run's A/A pairs */
    int64_t pairs;
    int64_t baseline_ns; /* median time of one call */
    int64_t candidate_ns;
    double roofline;   /* share of the roofline reached, 0..1; 0 where unknown */
    double error;      /* worst error in units of the baseline's own error; 0 where exact */
    int64_t processes; /* fresh ones that the pairs are from */
    int64_t dropped;   /* pairs that the host disturbed */
    bool by_account;   /* times are the child's CPU time; false: the parent's clock (threads) */
    double empty_ns;   /* of a call that does nothing: subtracted from all times here */
    int64_t processor; /* that both were pinned to; -1: not pinned */
    struct cold_result cold; /* of confirmations and comparisons; all else here is warm */
    const struct timed_sample *samples; /* every pair; NULL in a verdict that was read back */
    size_t sample_count;
};

/* Where the gate's time went. 0 where a stage was not reached, or in a record of before it was
 * measured. */
struct gate_timings {
    int64_t build_ns;      /* the whole build; 0 where it was taken from the store. Of it: */
    int64_t screen_ns;     /* rules on flags and source */
    int64_t compile_ns;    /* the compiler */
    int64_t inspect_ns;    /* disassembler and rules on the object, beside: */
    int64_t link_ns;       /* stub, linker, rules on the image */
    int64_t draw_ns;       /* new inputs with oracle and baseline, beyond those drawn meanwhile */
    int64_t check_ns;      /* the whole check; of it: */
    int64_t start_ns;      /* boxed children, until the candidate is loaded */
    int64_t load_ns;       /* inputs and poison into the buffers */
    int64_t call_ns;       /* the candidate's own calls */
    int64_t ring_ns;       /* what the doorbell costs around them */
    int64_t compare_ns;    /* outputs against their yardsticks */
    int64_t guard_ns;      /* poison around the arguments */
    int64_t time_ns;       /* the timing, children and verification included; of it: */
    int64_t timed_call_ns; /* the timed calls of candidate and baseline */
    int64_t total_ns;
};

/* The gate's own time: all but the build's programs and the timing. */
int64_t gate_timings_own_ns(const struct gate_timings *timings);

struct verdict {
    enum verdict_kind kind;
    const char *mechanism; /* short name of what decided: "M5-poison", "seccomp", "compiler"; "" for
                              timed */
    const char *evidence;  /* one or a few sentences: what happened, where, with numbers */
    const char *diagnostics; /* compiler output, capped; "" where none */
    struct case_result *cases;
    size_t case_count;
    double log_ratio, log_low, log_high; /* weighted mean over the cases that are not held out */
    double held_out_log_ratio, held_out_low, held_out_high;
    bool has_held_out;
    bool confirmed; /* re-timed with a new seed, a clean build and the held-out shapes */
    bool is_win;    /* the interval's pessimistic end beats the threshold max(2 %, 3 x noise) */
    struct hash_id code_id; /* of the normalised machine code; "" where nothing was built */
    struct hash_id
        gate_id; /* of gate version, tolerances, task and target: what the verdict depends on */
    bool from_record;             /* taken from an earlier measurement of the same code */
    const char *missing_layers;   /* sandbox layers that this host lacks; "" where complete */
    const char *compiler, *flags; /* that it was built with, defaults resolved */
    const char *seed; /* 64 hexadecimal digits: of every draw after the build; "" where none */
    double load;      /* of the machine, averaged over the minute before the verdict; -1: unknown */
    struct gate_timings timings;
};

/* In one line: "timed: 1.87x faster [1.84, 1.90]" for a win, "timed: 0.85x, slower [0.84, 0.86]",
 * else "no difference 1.00x [0.99, 1.01]"; "right, not timed" without cases; "wrong: <evidence>"
 * for the others. */
char *verdict_summary(const struct verdict *verdict, struct arena *arena);

/* What a measured ratio says. A difference is claimed where the whole interval is beyond
 * max(2 %, 3 x noise); else `unseen_log` is the smallest difference (a log-ratio) that would have
 * been claimed nine times in ten with such an interval. */
struct difference {
    int sign; /* 1: faster, -1: slower, 0: no difference */
    double unseen_log;
};
struct difference verdict_difference(double log_low, double log_high, double noise);
/* Noise of the weighted mean over the cases that are held out, or those that are not. */
double verdict_noise(const struct verdict *verdict, bool held_out);

/* Deep copy into another arena. */
struct verdict verdict_copy(const struct verdict *verdict, struct arena *arena);

#endif
