/*
 * The timed pairs of one case, over several processes: timing.c says when there are enough, and
 * process.c makes those of one.
 */
#ifndef KOPE_GATE_SERIES_H
#define KOPE_GATE_SERIES_H

#include "gate/estimate.h"
#include "gate/internal.h"

struct series {
    struct judgement *j;
    size_t case_index;
    struct race race;
    bool is_cold;
    int processor;
    double empty_ns;                         /* of one call, subtracted */
    int64_t budget_ns, deadline_ns, last_ns; /* when to be content; when to stop trying */
    struct timed_pairs pairs;                /* of one call */
    bool baseline_first;                     /* in the next pair */
    bool in_double, half_first; /* it is the second of two; who was first in the other */
    int64_t processes;          /* that gave a pair */
    int64_t attempts, dropped;
    int64_t baseline_noisy, candidate_noisy; /* whose sample it was */
    int64_t examining_ns;                    /* in processes that count, beside what counts */
    int exam_losses;                         /* processes of the last exam that it lost */
    char noise[128];                         /* why the last pair was dropped */
    struct stats_interval interval;
};

/* Pairs of one more pair of children, recorded in the series; of an exam none is, and it goes on
 * until every probe was in a sample. `process` counts them. May decide the judgement. */
bool series_process(struct series *s, int process, bool is_exam, struct err *err);

#endif
