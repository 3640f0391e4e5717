/*
 * Profile findings: why a kernel takes the time it takes, each a sentence with a number, a place in
 * the source where there is one, and the moves that answer it.
 *
 * The roofline class comes first, from measured peaks and the task's counted flops and bytes. It
 * decides which tools are worth running (profile_plan): the compiler's own record of what it did
 * not vectorize, samples of the running candidate by line, misses of simulated caches, a look at
 * the assembly of the hot loop, and llvm-mca on that loop. A tool that is not there, or has nothing
 * to read, is named with the reason; nothing is left out silently. What tools write is hostile
 * input: capped, and read by profile/read.h, which is pure.
 *
 * Used by the engine (journal, prompts, beliefs about moves), by 'kope profile' and by the MCP
 * tools. Everything returned is memory of the arena. Threads: those of the target.
 */
#ifndef KOPE_PROFILE_PROFILE_H
#define KOPE_PROFILE_PROFILE_H

#include "base/arena.h"
#include "base/err.h"
#include "target/target.h"
#include "task/task.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum roofline_class {
    ROOFLINE_UNKNOWN, /* no rates, or nothing declared */
    ROOFLINE_MEMORY,  /* the memory level that holds the data bounds it */
    ROOFLINE_COMPUTE, /* arithmetic bounds it */
    ROOFLINE_LATENCY, /* far from both: dependences, calls, branches or scalar code */
};
const char *roofline_class_name(enum roofline_class roofline);

struct roofline {
    enum roofline_class roofline;
    const char *text; /* the sentence, memory of the arena */
    double share;     /* of the bound reached, 0..1 */
    int64_t bound_ns; /* least possible time of a call */
};

/* Of `time_ns` a call in this case. */
struct roofline profile_roofline(const struct task *task, const struct task_case *c,
                                 const struct target_features *features, int64_t time_ns,
                                 struct arena *arena);

/* What a finding says. The names are the key of experience: they are in the journal, and what a
 * move gained where a kind was found is learned by them. */
enum finding_kind {
    FINDING_DEPENDENCE,     /* iterations depend on each other, or may */
    FINDING_ALIASING,       /* arguments may overlap, as far as the compiler knows */
    FINDING_SUM_ORDER,      /* a sum whose order may not change */
    FINDING_REDUCTION,      /* a value that goes on from one iteration to the next, and is no sum */
    FINDING_CALLS,          /* a function is called for each element */
    FINDING_CONTROL_FLOW,   /* a branch or an exit in the loop */
    FINDING_TRIP_COUNT,     /* nobody knows how often it runs */
    FINDING_STRIDE,         /* elements that are not neighbours: gathers, strides */
    FINDING_COST,           /* the compiler expects no gain */
    FINDING_NOT_VECTORIZED, /* for another reason, or none that it gives */
    FINDING_SCALAR,         /* the hot loop works on one element at a time */
    FINDING_NARROW,         /* on vectors shorter than the machine's */
    FINDING_SPILLS,         /* more values than registers */
    FINDING_CHAIN,          /* each iteration waits for the one before */
    FINDING_DIVIDES,        /* the divider is busy */
    FINDING_SHUFFLES,       /* moving elements about within registers */
    FINDING_LOADS,
    FINDING_STORES,
    FINDING_ARITHMETIC, /* its units are busy: few operations are to be saved */
    FINDING_FRONT_END,  /* more instructions than can be issued */
    FINDING_HOT_LINE,   /* much of the time is in one line */
    FINDING_PASSES,     /* several loops, one after the other, share the time */
    FINDING_L1_MISSES,  /* the same data are fetched again and again, past the first cache */
    FINDING_L2_MISSES,  /* past the second */
    FINDING_KINDS
};
const char *finding_kind_name(enum finding_kind kind);
/* False where no kind has this name. */
bool finding_kind_parse(const char *name, enum finding_kind *out);

/* Moves that answer a kind of finding, before any experience, the likeliest first: names, or what
 * names begin with before a '-'. Ends with NULL. */
const char *const *finding_moves(enum finding_kind kind);
/* Its place in that list from 0, or -1. */
int finding_move_rank(enum finding_kind kind, const char *move);

struct finding {
    enum finding_kind kind;
    const char *tool; /* "gcc-12", "llvm-mca-14" */
    const char *text; /* "the loop at line 12 is not vectorized, ...: control flow in loop" */
    double number;    /* the one that the text has */
    int line;         /* of the candidate's source; 0: none */
    /* Seen in one of two versions of a loop, for arguments that overlap and that do not; which of
     * them runs nobody knows. Nothing is learned from it. */
    bool may_not_run;
};

/* Which tools a class is worth. */
struct profile_plan {
    bool record, loop, throughput;
    bool samples, misses; /* the caller has the candidate run for them */
    const char *why;      /* in words */
};
struct profile_plan profile_plan(enum roofline_class roofline, double share);

/* A candidate that was looked at while it ran. */
struct profile_watch {
    const char *problem; /* why it was not; "" */
    const char *case_name;
    struct session_samples samples;
    int64_t period_ns;
    const void *image; /* built with lines */
    size_t image_bytes;
};
/* Under simulated caches. */
struct profile_misses {
    const char *problem; /* why it was not; "" */
    struct tool_output said;
    const char *shape; /* of the call */
    double bytes;      /* of its arguments */
};
/* What the plan has the caller do. */
struct profile_runs {
    struct profile_watch watch;
    struct profile_misses misses;
};

enum { PROFILE_MAX_FINDINGS = 12, PROFILE_MAX_NOTES = 6 };

/* A tool of the plan and how it went. */
struct profile_note {
    const char *tool, *said; /* "ran", or why there is nothing of it */
    bool ran;
};

struct profile {
    struct finding findings[PROFILE_MAX_FINDINGS]; /* the hot loop's first */
    size_t count;
    struct profile_note notes[PROFILE_MAX_NOTES];
    size_t note_count;
    bool timed_out; /* the compiler was not done in time: it will hardly be for another candidate */
};

/* Builds `request` once more for its records and runs the tools of the plan. `runs`: what came of
 * those that the plan has; NULL where it has none. False where the host cannot do it at all. */
bool profile_run(struct target *target, const struct build_request *request,
                 const struct profile_plan *plan, const struct profile_runs *runs,
                 struct arena *arena, struct profile *out, struct err *err);

#endif
