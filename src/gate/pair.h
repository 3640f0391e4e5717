/*
 * One timed pair while it is made: sample.c fills and runs it, verify.c looks at what came of it.
 */
#ifndef KOPE_GATE_PAIR_H
#define KOPE_GATE_PAIR_H

#include "gate/internal.h"

struct place {
    size_t arg, set, index;
};

struct pair {
    struct judgement *j;
    size_t case_index;
    const struct task *task;
    struct rig *baseline, *candidate;
    struct rig *reference;        /* a child of the baseline that has the same data; NULL: none */
    const struct rig *got, *want; /* whose outputs are being verified by whose */
    const struct ring *ring;
    size_t poison[TASK_MAX_ARGS];
    struct place early[MOST_BELL_READS]; /* elements read at the bell and again when all is still */
    const struct probe *known[SESSION_MAX_CALLS]; /* whose inputs a set has; NULL: new ones */
    bool freezes;  /* stop the candidate while its outputs are read */
    bool is_storm; /* many late changes */
    bool is_done;  /* the candidate was, though its time is lost */
};

static inline void *pair_argument(const struct rig *rig, const struct ring *ring, size_t set,
                                  size_t arg)
{
    return rig_arg(rig, &ring->calls[set], arg);
}

static inline enum distribution pair_distribution(const struct pair *pair, size_t set)
{
    return pair->known[set] ? pair->known[set]->distribution : DISTRIBUTION_DECLARED;
}

/* What the next run of the candidate reads at its end, by lot. */
void verify_choose(struct pair *pair);

/* What was read at the end is still there. These decide where it is not so. */
bool verify_still(struct pair *pair);

/* Sets of declared inputs of `got` against those of `want`, whole or in places by lot. */
void verify_outputs(struct pair *pair, const struct rig *got, const struct rig *want);

/* Sets with the inputs of a probe, held to the class; notes that the probe was seen. */
void verify_known(struct pair *pair);

#endif
