/*
 * What the timed pairs of a case say: a ratio with its interval, and the noise of the run.
 *
 * Whoever runs first in a pair finds other caches than whoever comes second (10 % were seen for
 * arrays of 3 MB), so orders are balanced (timing.c), and what the order does is subtracted before
 * the median is taken. The mean of two pairs in opposite order would be free of it too, but on a
 * shared host most samples are right and some are slow: in a median of single pairs the slow ones
 * weigh little, in means of two they spoil twice as many.
 *
 * Pure: nothing here measures or draws. Used by timing.c alone.
 */
#ifndef KOPE_GATE_ESTIMATE_H
#define KOPE_GATE_ESTIMATE_H

#include "stats/stats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_PAIRS = 2048, LOOKS = 5 };

struct timed_pair {
    double baseline_ns, candidate_ns; /* of one call, both positive */
    int process;
    bool baseline_first;
};

/* In the order in which they were taken; those of a process stand together. */
struct timed_pairs {
    struct timed_pair pair[MOST_PAIRS];
    size_t count;
};

/*
 * The looks at growing data share the error of 5 % among them, the later the more, so that all
 * intervals together hold the truth with 95 % wherever one stops. Confidence of look `look` (from
 * 0); `is_last`: no other follows whatever this one shows, for time or pairs are up: then it has
 * what is left. (Errors of dependent looks add up at most: Bonferroni. That the last has what is
 * left: Lan and DeMets, 1983.)
 */
double look_confidence(size_t look, bool is_last);

/* The median of log(baseline / candidate), freed of the order, with its interval by process. */
struct stats_interval pairs_interval(const struct timed_pairs *all, double confidence,
                                     uint64_t seed);

/* Of logarithms: so wide that it says nothing but that the host is busy, and wide beside what it
 * tells of too. */
bool interval_says_nothing(const struct stats_interval *interval);

/*
 * What an A/A experiment of this many pairs would show by chance: samples of the baseline that
 * follow each other directly are pairs of identical code, as near in time as those of a pair. Two
 * estimates of the error of their median, and the larger counts: from the spread of single ones
 * (robust, by the median deviation; times 1.2533 because it is a median), and by process as for the
 * interval.
 */
double pairs_noise(const struct timed_pairs *all, uint64_t seed);

/* Medians, to 1 ns; 0 of none. */
int64_t pairs_baseline_ns(const struct timed_pairs *all);
int64_t pairs_candidate_ns(const struct timed_pairs *all);

#endif
