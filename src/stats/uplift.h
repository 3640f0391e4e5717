/*
 * The effect of showing something that was withheld at random, from trials with a known
 * probability of being shown.
 *
 * A trial is one chance: something was shown with probability `propensity` or withheld, and an
 * outcome followed. The effect is the difference of the means of both arms, each trial weighted by
 * the inverse of the probability of its arm (Horvitz and Thompson, 1952, with the weights made to
 * add up to 1, Hajek, 1971): whatever decided what might be shown does not bias it. Trials of one
 * cluster (a run) are not independent, so the error is that of a bootstrap of whole clusters, freed
 * of its bias by sqrt(k / (k - 1)), and the interval is that of Student with one degree of freedom
 * less than clusters with something withheld, which are the scarce ones. Pure; threads: any.
 */
#ifndef KOPE_STATS_UPLIFT_H
#define KOPE_STATS_UPLIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stats_trial {
    size_t cluster;    /* 0, 1, ...: trials of a cluster need not stand together */
    double outcome;    /* larger is better */
    double propensity; /* of being shown, within (0, 1) */
    bool shown;
};

struct stats_uplift {
    size_t shown, withheld;                   /* trials of each arm */
    size_t clusters_shown, clusters_withheld; /* clusters with such trials */
    double effect;                            /* NaN where an arm is empty */
    double error;                             /* standard error; infinite where an arm has one
                                                 cluster or none */
    double low, high;                         /* at 95 % */
};

/* `cluster_count` is more than any trial's cluster. `rounds` 0 means 400. Trials whose propensity
 * is not within (0, 1) or whose outcome is not finite are left out. Memory for cluster_count
 * values. */
struct stats_uplift stats_uplift_estimate(const struct stats_trial *trials, size_t count,
                                          size_t cluster_count, unsigned rounds, uint64_t seed);

#endif
